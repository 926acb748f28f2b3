"""From a text to the times it mentions: cues, rules, joins, and the time zone put back on.

No clock is read: everything counts from `said_at`. Only the first LIMIT characters of a text are read, so that the
work is bounded.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime
from itertools import islice
from typing import get_args

from ..errors import InvalidQuery
from ..types.values import TimeSpan
from .calendar import Interval
from .context import Context, Weekday
from .cues import cues
from .joins import Found, joined
from .lexicon import LIMIT, fold
from .rule_types import VAGUE, Reading, Rule, possible
from .rules import RULES

CONVENTIONS: tuple[str, ...] = get_args(Weekday)


@dataclass(frozen=True, slots=True)
class Located:
    """A time and the half-open range of characters it was read from."""

    start: int
    end: int
    time: TimeSpan


def find_times(text: str, said_at: datetime, weekday: Weekday = "recent") -> list[TimeSpan]:
    """Return the times a text mentions, one for each expression, in text order.

    "last Friday" is the most recent past Friday; with weekday="previous_week", the Friday of the ISO week before.
    """
    return [located.time for located in locate_times(text, said_at, weekday)]


def locate_times(text: str, said_at: datetime, weekday: Weekday = "recent") -> list[Located]:
    """Return the times a text mentions with the characters they stand on, in text order, not overlapping."""
    if weekday not in CONVENTIONS:
        raise InvalidQuery(f"weekday is {weekday!r} but must be one of {', '.join(map(repr, CONVENTIONS))}")
    folded = fold(text[:LIMIT])
    present = cues(folded)
    if not present:
        return []
    ctx = Context(text, folded, said_at.replace(tzinfo=None), weekday)
    candidates = (candidate for rule in RULES if rule.cue in present for candidate in _candidates(rule, folded))
    found = joined(_longest(candidates, ctx), ctx)
    return [_located(each, text, said_at) for each in _anchored(found)]


@dataclass(frozen=True, slots=True)
class Candidate:
    """A match of a rule that is yet to be read, and the characters of its expression."""

    start: int
    end: int
    rule: Rule
    match: re.Match[str]


def _candidates(rule: Rule, folded: str) -> Iterator[Candidate]:
    named = "x" in rule.pattern.groupindex
    for match in islice(rule.pattern.finditer(folded), rule.most):
        yield Candidate(*match.span("x" if named else 0), rule, match)


def _longest(candidates: Iterable[Candidate], ctx: Context) -> list[Found]:
    """Read, of candidates that overlap, the longest that means something; of equals the one whose rule stands first."""
    taken, kept = bytearray(len(ctx.folded)), []
    for each in sorted(candidates, key=lambda each: each.start - each.end):
        if any(taken[each.start : each.end]):
            continue
        reading = possible(each.rule.read, each.match, ctx)
        if reading is not None:
            taken[each.start : each.end] = b"\1" * (each.end - each.start)
            kept.append(Found(each.start, each.end, reading if isinstance(reading, Reading) else Reading(reading)))
    return sorted(kept, key=lambda each: each.start)


def _anchored(found: list[Found]) -> Iterator[Found]:
    """Resolve "three days later" from the expression before it, drop what never met what it waits for."""
    base: Interval | None = None
    for each in found:
        reading = each.reading
        if reading.later is not None and (base is not None or not reading.weak):
            reading = VAGUE if base is None else Reading(possible(reading.later, base))
        if reading.weak or (reading.interval is None and reading.kind != "vague"):
            continue
        base = reading.interval or base
        yield Found(each.start, each.end, reading)


def _located(found: Found, text: str, said_at: datetime) -> Located:
    words, interval, zone = text[found.start : found.end], found.interval, said_at.tzinfo
    if interval is None:
        return Located(found.start, found.end, TimeSpan(None, None, "vague", words))
    start, end = interval.start.replace(tzinfo=zone), interval.end.replace(tzinfo=zone)
    return Located(found.start, found.end, TimeSpan(start, end, interval.granularity, words))
