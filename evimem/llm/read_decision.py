"""Parse a decider's reply into a decision."""

from __future__ import annotations

from ..errors import ReplyError
from ..judging.decision import Decided
from ..judging.evidence import View
from . import prompt_fields
from .evidence_prompt import ShownEvidence
from .json_reply import read
from .prompts import reply_form
from .read_verdict import verdict_in
from .reply_schemas import ACTIONS

MOST_DRAFT = 1_000  # characters


def read_decision(text: str, view: View, shown: ShownEvidence) -> Decided:
    """Return the decision in a reply. Raise ReplyError when it has no action, tier or confidence."""
    reply = read(text, "decide", ("action", "decision", "tier"), form=reply_form("decide"))
    named = prompt_fields.choice(reply.get("action", reply.get("decision")), ACTIONS)
    action = next((known for known in ACTIONS if known == named), None)
    if action is None:
        raise ReplyError("decide", f"its action is none of {ACTIONS!r}", text)
    verdict = verdict_in(reply, "decide", text, view, shown)
    draft = prompt_fields.stated(reply.get("draft"), MOST_DRAFT)
    return Decided(action, verdict, draft)
