"""Texts with marked characters, as pieces and as HTML: for the explorer and for a notebook's view of a result."""

from __future__ import annotations

from collections.abc import Iterable
from html import escape
from itertools import pairwise
from typing import NamedTuple


class Piece(NamedTuple):
    """A part of a text; `number` tells which span marks it, 0 for none."""

    text: str
    number: int = 0


def mark_pieces(text: str, spans: Iterable[tuple[int, int]]) -> list[Piece]:
    """Return a text as pieces, in order, marked with the number of the first span, from 1, that covers them.

    A span whose characters an earlier one has already marked loses these.
    """
    kept = [(number, max(start, 0), min(end, len(text))) for number, (start, end) in enumerate(spans, 1)]
    cuts = sorted({0, len(text), *(place for _, start, end in kept if start < end for place in (start, end))})
    pieces: list[Piece] = []
    for begin, stop in pairwise(cuts):
        number = next((number for number, start, end in kept if start <= begin and stop <= end), 0)
        if pieces and pieces[-1].number == number:
            pieces[-1] = Piece(pieces[-1].text + text[begin:stop], number)
        else:
            pieces.append(Piece(text[begin:stop], number))
    return pieces


def cut_pieces(pieces: Iterable[Piece], most: int) -> list[Piece]:
    """Return pieces of which each unmarked one keeps about `most` characters beside its marked neighbours."""
    held = list(pieces)
    return [piece if piece.number else _cut(piece, most, place, len(held)) for place, piece in enumerate(held)]


def _cut(piece: Piece, most: int, place: int, of: int) -> Piece:
    """Cut a piece in its middle; the first of several at its beginning, the last at its end."""
    if len(piece.text) <= most:
        return piece
    if of > 1 and place == 0:
        return Piece(f"… {piece.text[-most:]}")
    if place == of - 1:
        return Piece(f"{piece.text[:most]} …")
    return Piece(f"{piece.text[: most // 2]} … {piece.text[-most // 2 :]}")


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


def render_marked(text: str, spans: Iterable[tuple[int, int]]) -> str:
    """Return a text as HTML, escaped, with its spans marked."""
    return "".join(
        f"<mark>{escape(one.text)}</mark>" if one.number else escape(one.text) for one in mark_pieces(text, spans)
    )


def render_answer(
    kind: str,
    text: str | None,
    judged: str,
    places: Iterable[tuple[str, str]],
    missing: Iterable[str],
    reason: str | None,
) -> str:
    """Return an answer as HTML.

    Args:
        kind: The kind of the answer.
        text: Its text; None where it has none.
        judged: Its tier and probability.
        places: The id of each cited turn with the quote.
        missing: The gaps, a phrase each.
        reason: Why there is no answer, or why it is limited.
    """
    said = (
        "<p><i>The memory does not say.</i></p>"
        if text is None
        else f"<p><b>{'<br>'.join(map(escape, text.splitlines()))}</b></p>"
    )
    parts = [f"<div><small>{escape(kind)}, {escape(judged)}</small>{said}"]
    parts += [f"<p>{escape(reason)}</p>"] if reason else []
    parts += [
        f"<blockquote><small>{escape(name)}</small> <mark>{escape(quote)}</mark></blockquote>" for name, quote in places
    ]
    parts += [f"<p><small>missing: {escape(one)}</small></p>" for one in missing]
    return "".join([*parts, "</div>"])


def render_hit(head: str, text: str, span: tuple[int, int] | None, parts: str) -> str:
    """Return a hit as HTML: who said it and when, its text around the passage found, the parts of its score."""
    # A notebook shows at most 600 characters of a turn.
    short, moved = shorten(text, 600, span)
    whole = moved is None or moved == (0, len(short))
    marked = render_marked(short, () if whole or moved is None else (moved,))
    return f"<div><small>{escape(head)}</small><blockquote>{marked}</blockquote><small>{escape(parts)}</small></div>"
