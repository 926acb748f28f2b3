"""Which part of a very long turn is read: its beginning, or what stands around the passage that was found."""

from __future__ import annotations

from ..judging.evidence import View
from ..text.sentences import sentences
from ..types.values import Turn

Place = tuple[int, int]  # half-open, characters


def passages(view: View) -> dict[str, Place | None]:
    """Return the characters of each shown turn that a search found, by id; None where it found the whole turn."""
    return view.kept_at_check("passages", lambda: {item.turn.id: item.span for item in view.shown})


def sentences_read(turn: Turn, passage: Place | None, most: int) -> list[Place]:
    """Return the sentences of a turn among at most so many characters, with the passage among them, if there is one."""
    start = 0 if passage is None or passage[1] <= most else passage[0] - most // 2
    found = [(start + begins, start + ends) for begins, ends in sentences(turn.text[start : start + most])]
    return found[1:] if start else found  # the first may lack its beginning
