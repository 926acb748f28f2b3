"""Parse a decider's reply into a decision; gaps beyond the listed requirements become requirements of their own."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from ..errors import ReplyError
from ..judging.decision import NOT_SEARCHED, Decided
from ..judging.evidence import Verdict, View
from ..judging.tracker import Requirement, Tracker
from ..types.values import Gap
from . import prompt_fields
from .evidence_prompt import ShownEvidence
from .json_reply import read
from .prompts import reply_form
from .read_verdict import verdict_in
from .reply_schemas import ACTIONS

MOST_REQUIREMENTS = 12  # of a question, those that the model added included
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
    return Decided(action, _extending(verdict, view.tracker), draft)


def _extending(verdict: Verdict, tracker: Tracker) -> Verdict:
    """Return the verdict with a requirement for each gap that it states and a search may close."""
    known = {requirement.gap for requirement in tracker.requirements}
    gaps = [gap for gap in verdict.gaps if gap.kind not in NOT_SEARCHED and gap not in known]
    room = max(0, MOST_REQUIREMENTS - len(tracker.requirements))
    return replace(verdict, extended=tuple(_distinct(map(_requirement, gaps)))[:room])


def _requirement(gap: Gap) -> Requirement:
    """Return the requirement of a gap; its id is that of every gap of this kind and text."""
    return Requirement(f"gap:{gap.kind}:{' '.join(gap.text.casefold().split())}", gap.kind, gap.about, gap.text)


def _distinct(requirements: Iterable[Requirement]) -> Iterable[Requirement]:
    return {requirement.id: requirement for requirement in requirements}.values()
