"""From a text to the times it mentions: cues, rules, joins, and the time zone of the caller.

The wall clock is never read: everything counts from `said_at`. Only the first LIMIT characters of a text are read, so
that the work is bounded.
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
from .calendar import TimeInterval
from .context import Context, Weekday
from .cues import cues
from .folding import LIMIT, fold
from .joins import Expression, joined
from .rule_types import VAGUE, Meaning, Rule, possible
from .rules import RULES

CONVENTIONS: tuple[str, ...] = get_args(Weekday)


@dataclass(frozen=True, slots=True)
class Located:
    """A time and the half-open range of characters it was read from: `text[start:end] == time.text`."""

    start: int
    end: int
    time: TimeSpan


def find_times(text: str, said_at: datetime, weekday: Weekday = "recent") -> list[TimeSpan]:
    """Return the times that a text mentions, one per expression, in text order.

    The conventions (what "next Friday" or "in May" mean) are listed in the docstring of `evimem.times`.

    Args:
        text: What was said, in English; full dates are read in nine other languages too. Only the first 16,384
            characters are read.
        said_at: When it was said, naive or aware; relative expressions count from it. The wall clock is never read.
        weekday: What "last Friday" and "last week" mean: "recent" is the most recent past Friday and the seven days
            before today, "previous_week" the Friday and the whole of the ISO week before.

    Returns:
        Half-open intervals of wall-clock time with the tzinfo of `said_at`. A vague phrase ("a while ago") has start
        and end None and granularity "vague". Dates that do not exist or lie outside of the years 1 to 9999 are left
        out.

    Raises:
        InvalidQuery: `weekday` is neither "recent" nor "previous_week", `text` is no string or `said_at` no datetime.
    """
    if not isinstance(text, str) or not isinstance(said_at, datetime):
        raise InvalidQuery(
            f"find_times was given {type(text).__name__}, {type(said_at).__name__}; expected str, datetime"
        )
    return [located.time for located in locate_times(text, said_at, weekday)]


def locate_times(text: str, said_at: datetime, weekday: Weekday = "recent") -> list[Located]:
    """Return the times that a text mentions with their places in it, in text order, not overlapping.

    Arguments, intervals and exceptions are those of `find_times`.
    """
    if weekday not in CONVENTIONS:
        raise InvalidQuery(f"weekday is {weekday!r} but must be one of {', '.join(map(repr, CONVENTIONS))}")
    folded = fold(text[:LIMIT])
    groups, words = cues(folded)
    if not groups:
        return []
    ctx = Context(text, folded, said_at.replace(tzinfo=None), weekday)
    candidates = (candidate for rule in RULES if rule.applies(groups, words) for candidate in _candidates(rule, folded))
    expressions = joined(_longest(candidates, ctx), ctx)
    return [_located(each, text, said_at) for each in _resolved(expressions)]


@dataclass(frozen=True, slots=True)
class Candidate:
    """A match of a rule that is not interpreted yet, and the characters of its expression."""

    start: int
    end: int
    rule: Rule
    match: re.Match[str]


def _candidates(rule: Rule, folded: str) -> Iterator[Candidate]:
    regex = rule.pattern.regex
    group = "x" if "x" in regex.groupindex else 0
    for match in islice(regex.finditer(folded), rule.most):
        yield Candidate(*match.span(group), rule, match)


def _longest(candidates: Iterable[Candidate], ctx: Context) -> list[Expression]:
    """Keep, of overlapping candidates, the longest with a meaning; of equally long ones the one of the first rule."""
    taken, kept = bytearray(len(ctx.folded)), []
    for each in sorted(candidates, key=lambda each: each.start - each.end):
        if any(taken[each.start : each.end]):
            continue
        meaning = possible(each.rule.read, each.match, ctx)
        if meaning is not None:
            taken[each.start : each.end] = b"\1" * (each.end - each.start)
            meaning = meaning if isinstance(meaning, Meaning) else Meaning(meaning)
            kept.append(Expression(each.start, each.end, meaning))
    return sorted(kept, key=lambda each: each.start)


def _resolved(expressions: list[Expression]) -> Iterator[Expression]:
    """Resolve "three days later" from the expression before it; drop weak and incomplete expressions."""
    base: TimeInterval | None = None
    for each in expressions:
        meaning = each.meaning
        if meaning.later is not None and (base is not None or not meaning.weak):
            meaning = VAGUE if base is None else Meaning(possible(meaning.later, base))
        if meaning.weak or (meaning.interval is None and meaning.kind != "vague"):
            continue
        base = meaning.interval or base
        yield Expression(each.start, each.end, meaning)


def _located(expression: Expression, text: str, said_at: datetime) -> Located:
    start, end, interval = expression.start, expression.end, expression.interval
    words, zone = text[start:end], said_at.tzinfo
    if interval is None:
        return Located(start, end, TimeSpan(None, None, "vague", words))
    first, last = interval.start.replace(tzinfo=zone), interval.end.replace(tzinfo=zone)
    return Located(start, end, TimeSpan(first, last, interval.granularity, words))
