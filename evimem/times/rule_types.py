"""A rule of the grammar: a cue that makes it worth trying, a pattern, and a function that says what a match means."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal, ParamSpec, TypeVar

from .calendar import Interval
from .context import Context
from .lexicon import compiled
from .times_of_day import Clock

Kind = Literal["date", "weekday", "part", "clock", "vague", "later"]


@dataclass(frozen=True, slots=True)
class Reading:
    """What an expression means: an interval, or a way to one that needs what stands beside it.

    `yearly` gives the same expression in another year, where it names none itself ("August" beside "last year").
    `clock` is a time of day that waits for its day. `later` counts from the expression before it. A `weak` reading
    ("Sunday", before a noun) is a time only when something beside it joins in ("Sunday last week").
    """

    interval: Interval | None
    kind: Kind = "date"
    yearly: Callable[[int], Interval | None] | None = None
    clock: Clock | None = None
    later: Callable[[Interval], Interval | None] | None = None
    weak: bool = False


P = ParamSpec("P")
R = TypeVar("R")
VAGUE = Reading(None, "vague")
Read = Callable[[re.Match[str], Context], "Reading | Interval | None"]


@dataclass(frozen=True, slots=True)
class Rule:
    """`cue` names the group of trigger words without which the pattern cannot match.

    A group `x` in the pattern marks the expression where the match needs more around it. `most` bounds the matches
    that are read in one text.
    """

    cue: str
    pattern: re.Pattern[str]
    read: Read
    most: int | None = None


def possible(read: Callable[P, R], *args: P.args, **kwargs: P.kwargs) -> R | None:
    """Return what a reading gives, None where it leads out of the calendar: 31 June, or a day in the year 99999."""
    try:
        return read(*args, **kwargs)
    except (ValueError, OverflowError):
        return None


def rules(*table: tuple[str, str, Read]) -> tuple[Rule, ...]:
    """Return the rules of a table of cues, patterns and readings."""
    return tuple(Rule(cue, compiled(pattern), read) for cue, pattern, read in table)
