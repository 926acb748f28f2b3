"""Parse an answerer's reply into a `Draft`: steps, a short answer, citations with character ranges."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..errors import ReplyError
from ..judging.evidence import Draft
from ..lang import ENGLISH
from ..types.answer import Citation
from ..types.values import Turn
from . import prompt_fields
from .evidence_prompt import MAX_LABEL, ShownEvidence
from .grounding import MAX_QUOTE, find_quote
from .json_reply import read
from .prompts import reply_form

MAX_STEPS = 12
MAX_CITATIONS = 20


NO_ANSWER = "the evidence does not hold the answer"
UNSUPPORTED = "the answer cites nothing that was shown"
_REFUSALS = frozenset(ENGLISH.words("replies.no_answer"))


def read_draft(text: str, shown: ShownEvidence, *, repaired: bool = False) -> Draft:
    """Return the draft in a reply; without a text where the model finds no answer, whatever way it says so.

    Raise ReplyError without an answer field, and where every citation names what was not shown: unless the reply is
    `repaired`, which is then marked as unsupported.
    """
    reply = read(text, "answer", ("answer",), form=reply_form("answer"))
    answer, steps = reply["answer"], prompt_fields.sentences(reply.get("steps"), MAX_STEPS)
    if prompt_fields.flag(reply.get("answerable")) is False:
        said = prompt_fields.text(answer)
        return Draft(None, (), steps, reason=NO_ANSWER if not said or _refuses(said) else said)
    if not isinstance(answer, (str, int, float)) or isinstance(answer, bool):
        raise ReplyError("answer", f"its answer is a {type(answer).__name__}, not a text", text)
    answer = prompt_fields.text(answer)
    if not answer or _refuses(answer):
        return Draft(None, (), steps, reason=NO_ANSWER)
    cited = citations(reply, shown)
    ids = {turn.id for turn in shown.turns}
    invented = bool(cited) and all(citation.turn_id not in ids for citation in cited)
    if invented and not repaired:
        raise ReplyError("answer", "its citations name none of the items shown", text)
    return Draft(answer, cited, steps, reason=UNSUPPORTED if invented else None)


def _refuses(answer: str) -> bool:
    """Return whether the whole of an answer only says that there is none."""
    return answer.strip(" .!\"'").lower().replace("\u2019", "'") in _REFUSALS


def citations(reply: Mapping[str, Any], shown: ShownEvidence) -> tuple[Citation, ...]:
    """Return the reply's citations. One of a turn that was not shown keeps its label: the loop drops and counts it."""
    entries = prompt_fields.items(reply.get("citations"))[:MAX_CITATIONS]
    return tuple(dict.fromkeys(_citation(entry, shown) for entry in entries))


def _citation(entry: Any, shown: ShownEvidence) -> Citation:
    fields = entry if isinstance(entry, dict) else {"id": entry}
    label = prompt_fields.text(fields.get("id"), MAX_LABEL)
    turn = shown.turn(label)
    if turn is None:
        return Citation(label, None, "")
    return _cited(turn, prompt_fields.text(fields.get("quote"), MAX_QUOTE))


def _cited(turn: Turn, quote: str) -> Citation:
    for text in (turn.text, turn.caption or ""):
        span = find_quote(quote, text)
        if span is not None:
            return Citation(turn.id, span, text[span[0] : span[1]])
    return Citation(turn.id, None, "")
