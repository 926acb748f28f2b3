"""Rules for times of day: at 4 pm, 16:30, noon, half past three, in the morning."""

from __future__ import annotations

import re

from ...lang import ENGLISH
from ..context import Context
from ..fragments import one_of
from ..lexicon import BEFORE, DIGIT, NAMED_HOURS, NOT_BEFORE, SIMPLE_NUMBERS
from ..rule_types import Meaning, needs, rules
from ..times_of_day import Clock

Match = re.Match[str]
_HOURS = {word: number for word, number in SIMPLE_NUMBERS.items() if number <= 12}
_OFFSETS: dict[str, int] = dict(ENGLISH.table("times.hour_offsets"))
_HOUR = rf"(?P<hour>\d\d?|{one_of(_HOURS)})"


def _hour(match: Match) -> int:
    word = match["hour"]
    hour = _HOURS[word] if word in _HOURS else int(word)
    if hour > 24:
        raise ValueError(hour)
    return hour


def _alone(clock: Clock, match: Match, ctx: Context) -> Meaning:
    """Return a clock time that counts as today's when no day is next to it, unless the sentence is about a habit."""
    today = None if ctx.habitual(*match.span()) else clock.on(ctx.today)
    return Meaning(today, "clock", clock=clock)


def half_day(match: Match, ctx: Context) -> Meaning:
    """Read "4 pm", "4:30 a.m.", "seven in the evening"."""
    hour = _hour(match)
    if not 1 <= hour <= 12:
        raise ValueError(hour)
    afternoon = match["half"].startswith("p") or match["half"] in ("in the afternoon", "in the evening", "at night")
    minutes = (hour % 12 + 12 * afternoon) * 60 + int(match["minute"] or 0)
    return _alone(Clock(minutes), match, ctx)


def full_day(match: Match, ctx: Context) -> Meaning:
    """Read "16:30"; without am or pm hours 1 to 6 are read as pm, when people are awake."""
    hour = _hour(match) % 24
    sure = hour > 12 or match["hour"].startswith("0") or hour == 0
    clock = Clock((hour + (12 if not sure and hour < 7 else 0)) * 60 + int(match["minute"]), sure=sure)
    return _alone(clock, match, ctx) if match["lead"] else Meaning(None, "clock", clock=clock)


def spoken(match: Match, ctx: Context) -> Meaning:
    """Read "half past three", "quarter to five"."""
    return _daytime(_hour(match), _OFFSETS[match["offset"]], match, ctx)


def o_clock(match: Match, ctx: Context) -> Meaning:
    """Read "seven o'clock"."""
    return _daytime(_hour(match), 0, match, ctx)


def _daytime(hour: int, minutes: int, match: Match, ctx: Context) -> Meaning:
    """Return an hour and an offset in minutes, hours 1 to 6 as pm."""
    hour %= 12
    return _alone(Clock((hour + (12 if hour < 7 else 0)) * 60 + minutes, sure=False), match, ctx)


def named(match: Match, ctx: Context) -> Meaning:
    """Read "at noon"."""
    clock = Clock(NAMED_HOURS[match["name"]] * 60)
    return _alone(clock, match, ctx) if match["lead"] else Meaning(None, "clock", clock=clock)


def bare_hour(match: Match, ctx: Context) -> Meaning:
    """Read "at 7", which is a time only next to a part of the day."""
    return Meaning(None, "clock", clock=Clock(_hour(match) % 12 * 60, sure=False))


_HALF = r"(?P<half>[ap]m\b|[ap]\.m\.?|in the morning|in the afternoon|in the evening|at night)"
_NOT_INSIDE = r"(?<![\w.,:/$-])"
_LEAD = rf"(?:\b(?P<lead>{one_of(BEFORE['clock'])}) )?"
_NO_COUNT = rf"(?![:.,]\d|(?: |-)?(?:%|a\.?m|p\.?m|{one_of(NOT_BEFORE['hour'])})\b)"

RULES = rules(
    (needs("clock"), rf"{_NOT_INSIDE}{_HOUR}(?::(?P<minute>[0-5]\d))? ?{_HALF}(?!\w)", half_day),
    (
        needs("clock", [DIGIT]),
        rf"{_LEAD}{_NOT_INSIDE}(?P<hour>[01]?\d|2[0-3]):(?P<minute>[0-5]\d)(?![\w:%]|\.\d)",
        full_day,
    ),
    (needs("clock", ["past", "to"]), rf"\b(?P<offset>{one_of(_OFFSETS)}) {_HOUR}\b", spoken),
    (needs("clock", ["clock"]), rf"\b{_HOUR} ?o'clock\b", o_clock),
    (needs("clock", NAMED_HOURS), rf"{_LEAD}\b(?P<name>{one_of(NAMED_HOURS)})\b", named),
    (needs("any", ["at"]), rf"\bat {_HOUR}\b{_NO_COUNT}", bare_hour),
)
