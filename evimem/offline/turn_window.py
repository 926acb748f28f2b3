"""Which part of a very long turn is read: its beginning, or what stands around the passage that was found."""

from __future__ import annotations

from ..judging.evidence import View
from ..text.sentences import sentences
from ..types.values import Turn

Place = tuple[int, int]  # half-open, characters


def passage_of(view: View, turn: Turn) -> Place | None:
    """Return the characters of a shown turn that a search found; None where none did."""
    return next((item.span for item in view.shown if item.turn.id == turn.id), None)


def sentences_read(turn: Turn, passage: Place | None, most: int) -> list[Place]:
    """Return the sentences of a turn among at most so many characters, with the passage among them, if there is one."""
    start = 0 if passage is None or passage[1] <= most else passage[0] - most // 2
    found = [(start + begins, start + ends) for begins, ends in sentences(turn.text[start : start + most])]
    return found[1:] if start else found  # the first may lack its beginning
