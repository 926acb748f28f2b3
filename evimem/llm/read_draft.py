"""Parse an answerer's reply into a `Draft`: steps, a short answer, citations with character ranges."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..errors import ReplyError
from ..judging.evidence import Draft
from ..types.answer import Citation
from ..types.values import Turn
from . import prompt_fields
from .evidence_prompt import ShownEvidence
from .grounding import MAX_QUOTE, find_quote
from .json_reply import read

MAX_STEPS = 12
MAX_CITATIONS = 20
MAX_LABEL = 120


def read_draft(text: str, shown: ShownEvidence) -> Draft:
    """Return the draft in a reply; an empty answer means no draft text. Raise ReplyError without an answer field."""
    reply = read(text, "answer", ("answer",))
    if not isinstance(reply["answer"], (str, int, float)) or isinstance(reply["answer"], bool):
        raise ReplyError("answer", f"its answer is a {type(reply['answer']).__name__}, not a text", text)
    answer = prompt_fields.text(reply["answer"])
    steps = prompt_fields.sentences(reply.get("steps"), MAX_STEPS)
    if not answer:
        return Draft(None, (), steps, reason="the evidence does not hold the answer")
    return Draft(answer, citations(reply, shown), steps)


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
