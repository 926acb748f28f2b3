"""Passages: the parts of a turn that are rows of the index. A short turn is one row, a long one a row for each part."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import islice, pairwise

# Chosen on user-assistant chats with replies of 2-9 kB; our own chats and LoCoMo have few turns that are longer than
# WHOLE, and do not tell these apart.
WHOLE = 480  # characters of a turn that stays one passage
WORDS = 60  # words that a passage of a longer turn is filled up to
LONGEST = 120  # words of a sentence that stays whole
MOST = 400  # passages of a turn; a longer one has longer passages
_WORD = 8  # characters that count as a word where nothing separates words

Span = tuple[int, int]

SENTENCE = re.compile(r"[^.!?\u2026\u3002\uff01\uff1f\n]+[.!?\u2026\u3002\uff01\uff1f\n]*")
_RUN = re.compile(rf"\S{{1,{WORDS * _WORD}}}\s*")


def passages(text: str) -> tuple[Span, ...]:
    """Return the half-open character ranges of a text's passages: in order, without gaps, at least one."""
    if len(text) <= WHOLE:
        return ((0, len(text)),)
    bounds = [0, *_cuts(text), len(text)]
    together = -(-(len(bounds) - 1) // MOST)
    bounds = [*bounds[:-1:together], len(text)]
    return tuple(pairwise(bounds))


def parts_of(text: str, count: int | None) -> tuple[Span, ...]:
    """Return the passages of a turn that is stored in `count` rows; None for a turn that is about to be stored.

    A turn that is stored in one row is one passage, however long: so are those of memories that knew no passages.
    """
    return ((0, len(text)),) if count == 1 else passages(text)


def passage(text: str, part: int, count: int) -> Span:
    """Return passage number `part`, from 0, of a turn that is stored in `count` rows, without the space around it."""
    if count <= MOST // 2:  # none were joined: those after it need not be found
        bounds = islice(_bounds(text, count), part, part + 2)
        return trimmed(text, next(pairwise(bounds)))
    return trimmed(text, passages(text)[part])


def _bounds(text: str, count: int) -> Iterator[int]:
    """Yield where the passages of a turn begin and, last, where the turn ends."""
    yield 0
    yield from _cuts(text) if count > 1 else ()
    yield len(text)


def trimmed(text: str, span: Span) -> Span:
    """Return a range without the space around it; an empty range where there is nothing else."""
    start, end = span
    inside = text[start:end]
    start += len(inside) - len(inside.lstrip())
    return start, max(start, end - (len(inside) - len(inside.rstrip())))


def _cuts(text: str) -> Iterator[int]:
    """Yield where one passage ends and the next begins."""
    filled = 0
    for sentence in SENTENCE.finditer(text):
        size = _size(sentence[0])
        if size > LONGEST:
            if filled:
                yield sentence.start()
            filled = 0
            at = sentence.end() - len(sentence[0].lstrip())
            for length in map(len, _RUN.findall(text, at, sentence.end())):  # runs without gaps
                here = length // _WORD or 1  # as `_size` of one word
                if filled and filled + here > WORDS:
                    yield at
                    filled = 0
                filled += here
                at += length
        else:
            if filled and filled + size > WORDS:
                yield sentence.start()
                filled = 0
            filled += size


def _size(text: str) -> int:
    """Return the number of words; more than that of a text with few spaces."""
    return max(len(text.split()), len(text) // _WORD)
