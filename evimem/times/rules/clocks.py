"""Rules for times of day: at 4 pm, 16:30, noon, half past three, in the morning."""

from __future__ import annotations

import re

from ..context import Context
from ..lexicon import NUMBERS, one_of
from ..rule_types import Reading, rules
from ..times_of_day import Clock

Match = re.Match[str]
_HOURS = {word: number for word, number in NUMBERS.items() if number <= 12 and not word.startswith("a")}
_HOUR = rf"(?P<hour>\d\d?|{one_of(_HOURS)})"


def _hour(match: Match) -> int:
    word = match["hour"]
    hour = _HOURS[word] if word in _HOURS else int(word)
    if hour > 24:
        raise ValueError(hour)
    return hour


def _alone(clock: Clock, match: Match, ctx: Context) -> Reading:
    """A clock time beside no day is today's, unless the sentence speaks of a habit."""
    today = None if ctx.habitual(*match.span()) else clock.on(ctx.today)
    return Reading(today, "clock", clock=clock)


def half_day(match: Match, ctx: Context) -> Reading:
    """Read "4 pm", "4:30 a.m.", "seven in the evening"."""
    hour = _hour(match)
    if not 1 <= hour <= 12:
        raise ValueError(hour)
    afternoon = match["half"].startswith("p") or match["half"] in ("in the afternoon", "in the evening", "at night")
    minutes = (hour % 12 + 12 * afternoon) * 60 + int(match["minute"] or 0)
    return _alone(Clock(minutes), match, ctx)


def full_day(match: Match, ctx: Context) -> Reading:
    """Read "16:30"; hours 1 to 6 without am or pm are taken for the afternoon, when people are awake."""
    hour = _hour(match) % 24
    sure = hour > 12 or match["hour"].startswith("0") or hour == 0
    clock = Clock((hour + (12 if not sure and hour < 7 else 0)) * 60 + int(match["minute"]), sure=sure)
    return _alone(clock, match, ctx) if match["lead"] else Reading(None, "clock", clock=clock)


def spoken(match: Match, ctx: Context) -> Reading:
    """Read "half past three", "quarter to five"."""
    return _by_day(_hour(match), {"half past": 30, "quarter past": 15, "quarter to": -15}[match["shift"]], match, ctx)


def o_clock(match: Match, ctx: Context) -> Reading:
    return _by_day(_hour(match), 0, match, ctx)


def _by_day(hour: int, minutes: int, match: Match, ctx: Context) -> Reading:
    hour %= 12
    return _alone(Clock((hour + (12 if hour < 7 else 0)) * 60 + minutes, sure=False), match, ctx)


def named(match: Match, ctx: Context) -> Reading:
    clock = Clock(0 if match["name"] == "midnight" else 12 * 60)
    return _alone(clock, match, ctx) if match["lead"] else Reading(None, "clock", clock=clock)


def bare_hour(match: Match, ctx: Context) -> Reading:
    """Read "at 7", which needs a part of the day beside it to be a time."""
    return Reading(None, "clock", clock=Clock(_hour(match) % 12 * 60, sure=False))


_HALF = r"(?P<half>[ap]m\b|[ap]\.m\.?|in the morning|in the afternoon|in the evening|at night)"
_FREE = r"(?<![\w.,:/$-])"
_LEAD = r"(?:\b(?P<lead>at|by|around|until|till|from|before|after|since) )?"
_COUNTS = r"(?![:.,]\d|(?: |-)?(?:percent|%|a\.?m|p\.?m|years|months|weeks|days|miles|o'clock)\b)"

RULES = rules(
    ("clock", rf"{_FREE}{_HOUR}(?::(?P<minute>[0-5]\d))? ?{_HALF}(?!\w)", half_day),
    ("clock", rf"{_LEAD}{_FREE}(?P<hour>[01]?\d|2[0-3]):(?P<minute>[0-5]\d)(?![\w:%]|\.\d)", full_day),
    ("clock", rf"\b(?P<shift>half past|quarter past|quarter to) {_HOUR}\b", spoken),
    ("clock", rf"\b{_HOUR} ?o'clock\b", o_clock),
    ("clock", rf"{_LEAD}\b(?P<name>noon|midnight|midday)\b", named),
    ("any", rf"\bat {_HOUR}\b{_COUNTS}", bare_hour),
)
