"""The requests of a reading in rounds (MGRetrieval) and their replies: which keywords, and what a round comes to."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from ..errors import ReplyError
from ..judging.evidence import View
from ..judging.reading import Considered, Round
from ..types.model import Complete
from ..types.stored import Keyword
from . import prompt_fields, reply_schemas
from .evidence_prompt import ShownEvidence, evidence_request
from .json_reply import read
from .prompts import prompt_request, reply_form
from .quoting import bullets, escape_attribute, marked
from .read_verdict import verdict_in

MOST_ANSWER = 1_000  # characters
MOST_CANDIDATES = 40  # keywords that a request lists: those that a question matches, never a vocabulary


def choose_request(question: str, candidates: Sequence[Keyword], most: int) -> Complete:
    """Return the request to choose among the keywords that a question matches."""
    rows = [
        f'{label}: "{escape_attribute(one.term)}" for "{escape_attribute(one.word)}", in {one.turns}'
        for label, one in _labels(candidates).items()
    ]
    return prompt_request(
        "decide", "keywords", reply_schemas.KEYWORDS, question=marked(question), candidates="\n".join(rows), most=most
    )


def read_choice(text: str, candidates: Sequence[Keyword], most: int) -> tuple[Keyword, ...]:
    """Return the keywords in a reply. Raise ReplyError where it has none of those that were listed."""
    reply = read(text, "decide", ("keywords",), form=reply_form("keywords"))
    known = _labels(candidates)
    named_ids = [prompt_fields.text(item, 40).lower().strip("[]() ") for item in prompt_fields.items(reply["keywords"])]
    chosen = dict.fromkeys(known[label] for label in named_ids if label in known)
    if not chosen:
        raise ReplyError("decide", "its keywords are none of those listed", text)
    return tuple(chosen)[:most]


def consider_request(view: View, reading: Round, shown: ShownEvidence) -> Complete:
    """Return the request for a round."""
    kept = [label for label, turn in shown.items.items() if turn.id in reading.critical]
    return evidence_request(
        "decide",
        "consider",
        reply_schemas.CONSIDER,
        view,
        shown,
        number=reading.number,
        most=reading.most,
        critical=", ".join(kept) or "none",
        answer=bullets([reading.answer] if reading.answer else []),
    )


def read_considered(text: str, view: View, shown: ShownEvidence) -> Considered:
    """Return what a round came to. Raise ReplyError when the reply has no tier, confidence or word on acceptance."""
    reply = read(text, "decide", ("critical", "accepted", "tier"), form=reply_form("consider"))
    verdict = replace(verdict_in(reply, "decide", text, view, shown), mapped=False)
    accepted = prompt_fields.flag(reply.get("accepted"))
    if accepted is None:
        raise ReplyError("decide", "its accepted is neither true nor false", text)
    answer = prompt_fields.stated(reply.get("answer"), MOST_ANSWER)
    read_turns = frozenset(turn.id for turn in shown.turns)
    return Considered(verdict, answer, shown.ids(reply.get("critical")), accepted and bool(answer), read_turns)


def _labels(candidates: Sequence[Keyword]) -> dict[str, Keyword]:
    return {f"k{number}": one for number, one in enumerate(candidates[:MOST_CANDIDATES], 1)}
