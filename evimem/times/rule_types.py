"""A rule of the grammar: a cue that makes it worth trying, a pattern, and a function that interprets a match."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal, ParamSpec, TypeVar

from .calendar import TimeInterval
from .context import Context
from .fragments import Pattern
from .times_of_day import Clock

Kind = Literal["date", "weekday", "part", "clock", "vague", "later"]


@dataclass(frozen=True, slots=True)
class Meaning:
    """What an expression means: an interval, or a function that gives one together with an adjacent expression.

    `yearly` gives the same expression in another year, where it names none itself ("August" next to "last year").
    `clock` is a time of day without its day. `later` counts from the expression before it. A `weak` meaning ("Sunday"
    before a noun) is dropped unless an adjacent expression joins it ("Sunday last week").
    """

    interval: TimeInterval | None
    kind: Kind = "date"
    yearly: Callable[[int], TimeInterval | None] | None = None
    clock: Clock | None = None
    later: Callable[[TimeInterval], TimeInterval | None] | None = None
    weak: bool = False


P = ParamSpec("P")
R = TypeVar("R")
VAGUE = Meaning(None, "vague")
Read = Callable[[re.Match[str], Context], "Meaning | TimeInterval | None"]


@dataclass(frozen=True, slots=True)
class Rule:
    """A pattern, and how to read its matches; None from `read` means that the match is no time.

    `cue` names the group of trigger words (see `cues`) without which the pattern cannot match; where `words` are given,
    it cannot match without one of them either. A group `x` in the pattern marks the expression where the match includes
    words around it. `most` bounds how many matches are read in one text.
    """

    cue: str
    pattern: Pattern
    read: Read
    most: int | None = None
    words: frozenset[str] = frozenset()

    def applies(self, groups: frozenset[str], words: frozenset[str]) -> bool:
        """Return whether a text with these groups of cues and these words can match."""
        return self.cue in groups and not (self.words and self.words.isdisjoint(words))


def possible(read: Callable[P, R], *args: P.args, **kwargs: P.kwargs) -> R | None:
    """Call a function; return None where the result is outside of the calendar: 31 June, or a day of year 99999."""
    try:
        return read(*args, **kwargs)
    except (ValueError, OverflowError):
        return None


def rules(*table: tuple[str, str, Read]) -> tuple[Rule, ...]:
    """Return the rules of a table of cues, pattern sources and read functions.

    A cue is the name of a group; the words after it are the rule's `words`: "unit past last".
    """
    return tuple(
        Rule(cue.split()[0], Pattern(source), read, words=frozenset(cue.split()[1:])) for cue, source, read in table
    )
