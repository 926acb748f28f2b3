"""Texts as pieces, some of them marked: the characters that an answer cites, a fact states or a date is read from."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from ..types.results import Citation
from ..types.values import Turn


class Piece(NamedTuple):
    """A part of a text; `number` tells which span marks it, 0 for none."""

    text: str
    number: int = 0


def mark_pieces(text: str, spans: Iterable[tuple[int, int]]) -> list[Piece]:
    """Return a text as pieces, in order, marked with the number of the first span, from 1, that covers them.

    A span whose characters an earlier one has already marked loses these.
    """
    owner = [0] * len(text)
    for number, (start, end) in enumerate(spans, 1):
        for place in range(max(start, 0), min(end, len(text))):
            owner[place] = owner[place] or number
    pieces: list[Piece] = []
    begin = 0
    for place in range(1, len(text) + 1):
        if place == len(text) or owner[place] != owner[begin]:
            pieces.append(Piece(text[begin:place], owner[begin]))
            begin = place
    return pieces


def cited_spans(turn: Turn, citations: Sequence[Citation]) -> tuple[list[tuple[int, int]], list[tuple[int, int]]]:
    """Return the spans of a turn's text, and of its caption, that citations quote."""
    of_text: list[tuple[int, int]] = []
    of_caption: list[tuple[int, int]] = []
    for one in citations:
        if one.turn_id == turn.id and one.span is not None:
            start, end = one.span
            (of_text if turn.text[start:end] == one.quote else of_caption).append(one.span)
    return of_text, of_caption


def shorten(text: str, most: int, span: tuple[int, int] | None = None) -> tuple[str, tuple[int, int] | None]:
    """Return at most about `most` characters of a text around a span, and the span within them."""
    start, end = span or (0, 0)
    if len(text) <= most:
        return text, span
    room = max(most - (end - start), most // 2) // 2
    first, last = max(0, start - room), min(len(text), max(end + room, start - room + most))
    head, tail = "… " if first else "", " …" if last < len(text) else ""
    moved = None if span is None else (start - first + len(head), min(end, last) - first + len(head))
    return f"{head}{text[first:last]}{tail}", moved
