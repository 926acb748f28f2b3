"""The passages of a long text that match a question, as character ranges."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from functools import cached_property

from ..text.sentences import Range, merged, sentences_around
from ..text.terms import terms
from ..types.values import Turn

GAP = 2  # characters between two sentences: a space, a blank line
UNIT = 240  # characters of a passage's smallest part: a sentence, or a piece of a longer one
OWN = 1_600  # characters shown of what a person wrote; chosen so that twenty such turns fit the default budget
OTHERS = 800  # of an assistant's or a tool's reply, which is long and seldom what is asked for
AROUND = 200  # of a turn that stands beside a found one
WEIGHED = 24_576  # characters of a text that are looked through: more than the offline judge reads of a turn
_PIECE = re.compile(rf".{{1,{UNIT}}}(?=\s|\Z)|.{{1,{UNIT}}}", re.DOTALL)


def most_shown(turn: Turn) -> int:
    """Return how many characters of a turn are shown at most."""
    return OWN if turn.role in (None, "user") else OTHERS


def whole_around(turn: Turn) -> bool:
    """Whether all of a turn is shown where it stands beside a found one."""
    return len(turn.text) <= AROUND and not turn.caption


class Passages:
    """The parts of a text that match what is wanted, cut and ranked once for whatever sizes are asked of it.

    Args:
        text: Any text.
        wanted: Stems, as `text.terms` makes them; rare ones weigh more.
        found: The passage that a search found: around it, or else from its beginning, a longer text is looked through.
        most: How many characters are looked through.
    """

    def __init__(self, text: str, wanted: Collection[str], found: Range | None = None, most: int = WEIGHED) -> None:
        self._text = text
        self._wanted = frozenset(wanted)
        self._found = found
        self._most = most

    def within(self, most: int, *, short: int = 0) -> tuple[Range, ...]:
        """Return all of the text where it has at most `most` characters (1 or more), else what matches best.

        The ranges are half-open and in order, together at most `most` characters; words are whole, unless one is longer
        than `UNIT`. With `short`, a text of so many characters is whole, and the best part of another is, however long.
        """
        if len(self._text) <= max(most, short):
            return ((0, len(self._text)),)
        units, by_worth = self._ranked
        taken: set[int] = set()
        left = most
        for number in by_worth:
            start, end = units[number]
            if end - start + GAP <= left or (short and not taken):
                taken.add(number)
                left -= end - start + GAP
            elif left < UNIT // 4:
                break
        return tuple(merged([units[number] for number in taken], GAP))

    @cached_property
    def _ranked(self) -> tuple[list[Range], list[int]]:
        read = sentences_around(self._text, self._found, self._most)
        units = [piece for start, end in read for piece in _pieces(self._text, start, end)]
        return units, list(_by_worth(self._text, units, self._wanted))


def excerpt(text: str, ranges: Sequence[Range]) -> str:
    """Return ranges of a text as one text, with an ellipsis wherever something is left out."""
    parts = " \u2026 ".join(text[start:end] for start, end in ranges)
    before = "\u2026 " if ranges and ranges[0][0] > 0 else ""
    after = " \u2026" if not ranges or ranges[-1][1] < len(text.rstrip()) else ""
    return f"{before}{parts}{after}"


def _pieces(text: str, start: int, end: int) -> Iterator[Range]:
    """Yield a sentence as it is, or pieces of it that end between words."""
    if end - start <= UNIT:
        yield start, end
        return
    for match in _PIECE.finditer(text, start, end):
        yield match.span()


def _by_worth(text: str, units: Sequence[Range], wanted: frozenset[str]) -> Iterator[int]:
    """Yield units by what they match, then those beside a match, then the rest from the start of the text."""
    found = [wanted.intersection(terms(text[start:end])) for start, end in units]
    spread = Counter(term for one in found for term in one)
    worth = [sum(math.log(1 + len(units) / spread[term]) for term in one) for one in found]
    best = sorted((number for number, value in enumerate(worth) if value), key=lambda number: -worth[number])
    yield from best
    known = set(best)
    for number in (near for one in best for near in (one + 1, one - 1)):
        if 0 <= number < len(units) and number not in known:
            known.add(number)
            yield number
    yield from (number for number in range(len(units)) if number not in known)
