"""One question through every loop, side by side, as a table and the answers below it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from ...types.answer import Answer
from ...types.trace import Found
from ..page import BLANK, Block, Piece, field, line, table
from .wording import counted

_COUNTED = ("found", "iterations", "cites", "requests", "tokens", "ms")
_COLUMNS = ("loop", "outcome", *_COUNTED)


def comparison_page(question: str, answers: Mapping[str, Answer]) -> list[Block]:
    """Return what each loop found, cited and cost, and what it answered."""
    rows = [_row(name, answer) for name, answer in answers.items()]
    return [
        line(Piece("? ", "dim"), Piece(question, "strong")),
        table(_COLUMNS, rows, right=_COUNTED),
        BLANK,
        *(field(name, *_said(answer), width=max(map(len, answers)) + 2) for name, answer in answers.items()),
        BLANK,
        *_shared(answers),
    ]


def found_by(answer: Answer) -> tuple[str, ...]:
    """Return the ids of the turns that a loop found, in order, each once."""
    return tuple(dict.fromkeys(turn for event in _finds(answer) for turn in event.turns))


def _finds(answer: Answer) -> Iterator[Found]:
    return (event for event in answer.trace if isinstance(event, Found))


def _row(name: str, answer: Answer) -> tuple[str, ...]:
    usage = answer.usage
    iterations = {event.iteration for event in _finds(answer) if event.turns}
    cited = dict.fromkeys(citation.turn_id for citation in answer.citations)
    tokens = usage.input_tokens + usage.output_tokens
    numbers = (len(found_by(answer)), len(iterations), len(cited), usage.requests, tokens, round(usage.seconds * 1000))
    return (name, answer.kind, *(f"{number:,}" for number in numbers))


def _said(answer: Answer) -> tuple[Piece, ...]:
    if answer.kind == "answer":
        return (Piece(answer.text or "", "answer"),)
    if answer.kind == "quote":
        return (Piece("; ".join(f'"{one.quote}"' for one in answer.citations if one.quote)),)
    return (Piece(answer.reason or "", "warn"),)


def _shared(answers: Mapping[str, Answer]) -> list[Block]:
    """Return how far the loops found the same turns."""
    found = [set(found_by(answer)) for answer in answers.values()]
    every, any_of = len(set.intersection(*found)), len(set.union(*found))
    return [line(Piece(f"{counted(any_of, 'turn')} found by any loop, {every} of them by all", "dim")), BLANK]
