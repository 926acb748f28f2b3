"""Rules for times of day: at 4 pm, 16:30, noon, half past three, ten to five, 2-4 pm, in the morning.

A time of day belongs to the day beside it (`joins`). Alone it is today's or the coming one, and none after a word that
makes it a bound ("after 7 pm", "before noon"), which tells a habit.
"""

from __future__ import annotations

import re
from dataclasses import replace

from ..lang import ENGLISH
from .calendar import DAY, HALF_DAY, Clock
from .context import AHEAD, BACK, Context
from .lexicon import BEFORE, DIGIT, NAMED_HOURS, NOT_BEFORE, NTH, SIMPLE_NUMBERS, Pattern, one_of
from .rule_types import Meaning, needs, rules

Match = re.Match[str]
_HOURS = {word: number for word, number in SIMPLE_NUMBERS.items() if number <= 12}
_MINUTES: dict[str, int] = dict(ENGLISH.table("times.minutes_of_offsets"))
_ALONE = frozenset(BEFORE["clock_alone"])
_AFTERNOON = frozenset(("in the afternoon", "in the evening", "at night"))
_EVENING = Pattern(rf"\b{one_of(ENGLISH.words('times.evening_words'))}\b")
_MORNING = Pattern(rf"\b{one_of(ENGLISH.words('times.morning_words'))}\b")


def _lead(match: Match, ctx: Context) -> str | None:
    """Return the word before a time of day that makes it one: "at", "by"."""
    start = match.start("x" if "x" in match.groupdict() else 0)
    found = _LEAD.regex.search(ctx.folded, max(0, start - LONGEST_LEAD), start)
    return " ".join((found["lead"] or "at").split()) if found else None


def _number(word: str) -> int:
    number = _HOURS[word] if word in _HOURS else int(word)
    if number > 24:
        raise ValueError(number)
    return number


def _minutes(hour: int, minute: str | None, half: str) -> int:
    """Return the minutes of a clock with "am" or "pm"."""
    if not 1 <= hour <= 12:
        raise ValueError(hour)
    afternoon = half.startswith("p") or half in _AFTERNOON
    return (hour % 12 + 12 * afternoon) * 60 + int(minute or 0)


def _meaning(clock: Clock, match: Match, ctx: Context) -> Meaning:
    """Return a time of day that counts as today's, or the coming one, when no day is next to it."""
    direction, day = ctx.direction(*match.span()), ctx.today
    lead = _lead(match, ctx)
    alone = lead in _ALONE or (lead == "since" and direction <= 0) or (lead is None and ctx.complete(match.end()))
    if not alone or ctx.habitual(*match.span()):
        return Meaning(None, "clock", clock=clock)
    over = clock.minutes <= ctx.now.hour * 60 + ctx.now.minute
    if direction == BACK and not over:
        day -= DAY
    elif over and (direction == AHEAD or (direction != BACK and clock.minutes == 0)):
        day += DAY
    return Meaning(clock.on(day), "clock", clock=clock)


def half_day(match: Match, ctx: Context) -> Meaning | None:
    """Read "4 pm", "4:30 a.m.", "at seven in the evening"; without "at" too."""
    if match["hour"] in _HOURS and _lead(match, ctx) is None and " " in match["half"]:
        return None  # "take one in the morning"
    return _meaning(Clock(_minutes(_number(match["hour"]), match["minute"], match["half"]), given=True), match, ctx)


def full_day(match: Match, ctx: Context) -> Meaning:
    """Read "16:30" and "17h30"; without am or pm hours 1 to 6 are read as pm, when people are awake."""
    hour, minute = _number(match["hour"]) % 24, int(match["minute"] or 0)
    sure = hour > 12 or match["hour"].startswith("0") or hour == 0
    if not sure:
        hour = _awake(hour, match, ctx) or (hour + 12 if hour < 7 else hour)
    clock = Clock(hour * 60 + minute)
    if not _lead(match, ctx):
        return Meaning(None, "clock", clock=clock)
    alone = clock if sure or ctx.direction(*match.span()) != BACK else _most_recent(clock, ctx)
    return replace(_meaning(alone, match, ctx), clock=clock)


def _most_recent(clock: Clock, ctx: Context) -> Clock:
    """Return the one of am and pm that was last: "they rang at 3:12", said in the morning."""
    now = ctx.now.hour * 60 + ctx.now.minute
    return min(
        (clock, Clock((clock.minutes + HALF_DAY) % (2 * HALF_DAY))),
        key=lambda each: (now - each.minutes) % (2 * HALF_DAY),
    )


def spoken(match: Match, ctx: Context) -> Meaning:
    """Read "half past three", "quarter to five", "ten to six"."""
    way = match["way"] or "past"
    minutes = _MINUTES[match["offset"]] * (-1 if way in ("to", "before") else 1)
    if match["half"]:
        clock = Clock((_minutes(_number(match["hour"]), None, match["half"]) + minutes) % (2 * HALF_DAY))
    else:
        hour = _number(match["hour"]) % 12
        hour = _awake(hour, match, ctx) or (hour + 12 if hour < 7 else hour)
        clock = Clock((hour * 60 + minutes) % (2 * HALF_DAY))
    sure = _lead(match, ctx) or match["half"] or match["offset"] in ("half", "quarter")
    return _meaning(clock, match, ctx) if sure else Meaning(None, "clock", clock=clock)


def o_clock(match: Match, ctx: Context) -> Meaning:
    """Read "seven o'clock"."""
    return _meaning(_hour(match, ctx), match, ctx)


def named(match: Match, ctx: Context) -> Meaning:
    """Read "at noon"."""
    clock = Clock(NAMED_HOURS[match["name"]] * 60)
    return _meaning(clock, match, ctx) if _lead(match, ctx) else Meaning(None, "clock", clock=clock)


def bare_hour(match: Match, ctx: Context) -> Meaning:
    """Read "at 7", which is a time only next to a day or a part of one."""
    return Meaning(None, "clock", clock=_hour(match, ctx))


def range_of_hours(match: Match, ctx: Context) -> Meaning | None:
    """Read "2-4 pm", "from 9:30 to 11:00", "10 am to noon"; a time only next to a day."""
    last_word, half = match["last"], match["last_half"]
    if last_word in NAMED_HOURS:
        last = NAMED_HOURS[last_word] * 60 or 2 * HALF_DAY
    elif half:
        last = _minutes(_number(last_word), match["last_minute"], half)
    else:
        last = _number(last_word) % 24 * 60 + int(match["last_minute"] or 0)
    if match["half"]:
        first = _minutes(_number(match["hour"]), match["minute"], match["half"])
    else:
        first = _number(match["hour"]) % 24 * 60 + int(match["minute"] or 0)
        if half or last_word in NAMED_HOURS:  # "11-1 pm" begins in the morning, "2-4 pm" in the afternoon
            first = max((at for at in (first % HALF_DAY, first % HALF_DAY + HALF_DAY) if at < last), default=first)
    if not half and not match["half"] and last_word not in NAMED_HOURS and "00" not in (match["hour"], last_word):
        if first < 7 * 60 and not match["hour"].startswith("0"):
            first += HALF_DAY  # "from 2:00 to 4:30"
        if last <= first and last < HALF_DAY:
            last += HALF_DAY
    if last <= first:
        last += 2 * HALF_DAY  # "from 10 pm to 7 am"
    return Meaning(None, "clock", clock=Clock(first, until=last))


def _hour(match: Match, ctx: Context) -> Clock:
    """Return the clock of a full hour without am or pm: 1 to 6 are pm, 7 to 9 what the sentence is about."""
    hour = _number(match["hour"])
    if hour > 12:
        return Clock(hour % 24 * 60)
    awake = _awake(hour, match, ctx)
    if awake is not None:
        return Clock(awake * 60)
    hour %= 12
    return Clock((hour + 12 if hour < 7 else hour) * 60, sure=hour < 7 or hour > 9)


def _awake(hour: int, match: Match, ctx: Context) -> int | None:
    """Return the hour of the day where the sentence names a meal or the like: "dinner at 8" is at 20."""
    if not 5 <= hour <= 11:
        return None
    clause = ctx.clause(*match.span())
    if _MORNING.regex.search(ctx.folded, *clause):
        return hour
    return hour + 12 if _EVENING.regex.search(ctx.folded, *clause) else None


_HALF_NAMES = r"[ap]m\b|[ap]\.m\.?|in the morning|in the afternoon|in the evening|at night"
_HALF = rf"(?P<half>{_HALF_NAMES})"
_NOT_INSIDE = r"(?<![\w.,:/$-])"
_LEAD = Pattern(rf"(?:\b(?P<lead>{one_of(BEFORE['clock'])}) |(?<!\w)@ ?)\Z")
LONGEST_LEAD = 16  # characters
_HOUR = rf"(?P<hour>\d\d?|{one_of(_HOURS)})"
_MINUTE = r"(?P<minute>[0-5]\d)"
_NO_COUNT = rf"(?![:.,]\d|(?: |-)?(?:%|a\.?m|p\.?m|{one_of(NOT_BEFORE['hour'])})\b)"
_TO = r"(?: ?- ?| (?:to|until|till|and) )"
_NAMED = one_of(NAMED_HOURS)
_LAST = rf"(?P<last>\d\d?)(?:[:.](?P<last_minute>[0-5]\d))? ?(?P<last_half>{_HALF_NAMES})"
_NO_LAST = "(?P<last_minute>)?(?P<last_half>)?"
_FIRST = rf"{_NOT_INSIDE}(?P<hour>\d\d?)(?:[:.]{_MINUTE})? ?(?:{_HALF})?"
_CLOCK = needs("clock")
_HOUR_WORDS = [*_HOURS, DIGIT]
_MINUTE_WORDS = [*(word for words in _MINUTES for word in words.split("-") if word.isalpha()), DIGIT]
CLOCK_LEADS = [words.split()[0] for words in BEFORE["clock"]]

_LEADS = one_of(BEFORE["clock"])
CLOCK_RULES = rules(
    (_CLOCK, rf"{_NOT_INSIDE}{_HOUR}(?:[:.h]{_MINUTE})? ?{_HALF}(?!\w)", half_day),
    (
        needs("clock", [DIGIT]),
        rf"{_NOT_INSIDE}(?P<hour>[01]?\d|2[0-3])[:h]{_MINUTE}(?![\w:%]|\.\d)(?! ?[ap]\.?m)",
        full_day,
    ),
    (
        needs("clock", NTH),
        r"(?<=\d[snrt][tdh] )(?P<x>(?P<hour>0\d|1[0-8]|2[1-3])(?P<minute>[0-5]\d))(?![\w:%/-]|\.\d)",
        full_day,
    ),
    (
        needs("figures", CLOCK_LEADS),
        rf"\b{_LEADS} (?P<x>(?P<hour>[01]?\d|2[0-3])(?:\.{_MINUTE}|h))(?![\w:%/.-]|\.\d)(?! ?[ap]\.?m)",
        full_day,
    ),
    (
        needs("any", ["past", "to", "after", "before"], _MINUTE_WORDS, _HOUR_WORDS),
        rf"\b(?:a )?(?P<offset>{one_of(_MINUTES)})(?: minutes?| mins?)? (?P<way>past|to|after|before) "
        rf"{_HOUR}(?! ?[:.]\d)(?: ?{_HALF})?(?!\w)",
        spoken,
    ),
    (
        needs("any", ["half"], CLOCK_LEADS, _HOUR_WORDS),
        rf"\b{_LEADS} (?P<x>(?P<offset>half)(?P<way>)? {_HOUR}(?! ?[:.]\d)(?: ?{_HALF})?)(?!\w)",
        spoken,
    ),
    (needs("clock", ["clock"]), rf"\b{_HOUR} ?o'clock\b", o_clock),
    (needs("clock", NAMED_HOURS), rf"\b(?P<name>{_NAMED})\b", named),
    (
        needs("any", CLOCK_LEADS, _HOUR_WORDS),
        rf"\b{_LEADS} (?P<x>{_HOUR}(?:ish|-ish)?)\b{_NO_COUNT}",
        bare_hour,
    ),
    (needs("any", ["ish"]), rf"{_NOT_INSIDE}{_HOUR}(?:ish|-ish)\b", bare_hour),
    (_CLOCK, rf"{_FIRST}{_TO}{_LAST}(?!\w)", range_of_hours),
    (needs("clock", NAMED_HOURS), rf"{_FIRST}{_TO}(?P<last>{_NAMED}){_NO_LAST}(?!\w)", range_of_hours),
    (
        needs("any", ["between", "from"], _HOUR_WORDS),
        rf"\b(?:from|between) {_HOUR}(?P<minute>)?(?P<half>)? ?(?:-|to|until|till|and) ?"
        rf"(?P<last>\d\d?|{one_of(_HOURS)}){_NO_LAST}\b{_NO_COUNT}",
        range_of_hours,
    ),
    (
        needs("clock", [DIGIT]),
        rf"{_NOT_INSIDE}(?P<hour>\d\d?):{_MINUTE}(?P<half>)?{_TO}"
        r"(?P<last>\d\d?):(?P<last_minute>[0-5]\d)(?P<last_half>)?(?![\w:%])",
        range_of_hours,
    ),
)
