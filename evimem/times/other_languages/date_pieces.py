"""Parts of time expressions, and the text they are read from."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property

from ...types.values import DateOrder
from .. import calendar
from ..calendar import TimeInterval
from ..times_of_day import Clock
from ..yearly import Yearly
from .date_grammar import DateGrammar
from .date_words import DateWords

Match = re.Match[str]
_REACH = 160  # characters of a sentence that are read for its tense, on each side


@dataclass(frozen=True, slots=True)
class TimePiece:
    """A part of an expression with its half-open range of characters.

    `yearly` gives the same time in another year where none is named. `weekday`, `part`, `clock` and `number` (a day of
    some month) are told by the pieces beside them; the last three are no times alone.
    """

    start: int
    end: int
    interval: TimeInterval | None = None
    yearly: Yearly | None = None
    weekday: int | None = None
    part: str = ""
    clock: Clock | None = None
    number: int = 0

    @property
    def day(self) -> datetime | None:
        """The day that the piece names, or none."""
        return self.interval.start if self.interval is not None and self.interval.granularity == "day" else None


@dataclass(frozen=True)
class Said:
    """A folded text in a language, the naive wall-clock time it was said at, and the order of its dates in figures."""

    text: str
    now: datetime
    grammar: DateGrammar
    date_order: DateOrder | None

    @property
    def words(self) -> DateWords:
        """What the words of the language stand for."""
        return self.grammar.words

    @cached_property
    def today(self) -> datetime:
        return calendar.midnight(self.now)

    def direction(self, start: int, end: int) -> int:
        """Return 1 where the words nearest to a range in its sentence look ahead, -1 where back, 0 without any."""
        before, after = self.text[max(0, start - _REACH) : start], self.text[end : end + _REACH]
        first = max((found.end() for found in self.grammar.sentence_end.finditer(before)), default=0)
        stop = self.grammar.sentence_end.search(after)
        clause = after[: stop.start()] if stop else after
        cues = [(len(before) - cue.end(), cue) for cue in self.grammar.tense.finditer(before, first)]
        cues += [(cue.start(), cue) for cue in self.grammar.tense.finditer(clause)]
        if not cues:
            return 0
        nearest_cue = min(cues, key=lambda each: each[0])[1]
        return -1 if nearest_cue["back"] or nearest_cue["was"] else 1


def span_of(match: Match) -> tuple[int, int]:
    """Return the range of the expression in a match, without the words around it."""
    return match.span("x") if "x" in match.re.groupindex else match.span()
