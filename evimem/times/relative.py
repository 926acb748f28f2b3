"""Expressions counted from the day they are said on: yesterday, two weekends ago, next month, in three days."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from datetime import datetime
from functools import partial

from . import calendar as cal
from .calendar import DAY, WEEK, Interval
from .clock import part_of_day
from .context import Context
from .lexicon import ABOUT, COUNT, FULL_WEEKDAYS, UNIT, UNITS, WEEKDAY, WEEKDAYS, Quantity, compiled, one_of, quantity
from .rule import VAGUE, Reading, Rule

Match = re.Match[str]
FINER = {"year": ("month", 12), "decade": ("year", 10), "month": ("week", 4), "week": ("day", 7), "day": ("hour", 24)}
FINER |= {"hour": ("minute", 60)}


def named_day(match: Match, ctx: Context) -> Interval:
    words = match.group()
    days = 1 if words.startswith(("tomorrow", "tm")) else 0 if words.startswith("today") else -1
    return cal.day(ctx.today + days * DAY)


def day_but_one(match: Match, ctx: Context) -> Interval:
    return cal.day(ctx.today + (-2 if match["day"] == "yesterday" else 2) * DAY)


def part_of_today(match: Match, ctx: Context) -> Reading:
    return Reading(part_of_day(ctx.today, match["part"]), "part")


def tonight(_: Match, ctx: Context) -> Reading:
    return Reading(part_of_day(ctx.today, "night"), "part")


def last_night(match: Match, ctx: Context) -> Reading:
    nights = 2 if match["before"] else 1
    return Reading(part_of_day(ctx.today - nights * DAY, "night"), "part")


def last_unit(match: Match, ctx: Context) -> Interval:
    """Return the unit before the current one. "Last week" counts back from today: the seven days before it."""
    name, back = UNITS[match["unit"]].name, 2 if match["before"] else 1
    if name == "week" and back == 1 and ctx.weekday == "recent":
        return cal.days_of_week(ctx.today - WEEK)
    return cal.unit(name, cal.step(name, ctx.today, -back))


def next_unit(match: Match, ctx: Context) -> Interval:
    name = UNITS[match["unit"]].name
    return cal.unit(name, cal.step(name, ctx.today, 2 if match["after"] else 1))


def this_unit(match: Match, ctx: Context) -> Interval:
    return cal.unit(UNITS[match["unit"]].name, ctx.today)


def part_of_this_unit(match: Match, ctx: Context) -> Interval | None:
    unit = cal.unit(UNITS[match["unit"]].name, ctx.today)
    if match["part"] == "earlier":
        return cal.span(unit.start, ctx.today) or cal.day(ctx.today)
    return cal.span(ctx.today + DAY, unit.end) or cal.day(ctx.today)


def this_weekend(match: Match, ctx: Context) -> Interval | None:
    """Return the weekend of this week, or the one that just ended when the sentence looks back at it."""
    direction = ctx.direction(*match.span())
    current = cal.weekend(ctx.today)
    if current.start > ctx.today and direction < 0:
        return cal.weekend(ctx.today - WEEK)
    if direction == 0 and match["which"] != "this" and current.start > ctx.today:
        return cal.weekend(ctx.today - WEEK) if match["which"].startswith("over") else None
    return current


def last_weekday(match: Match, ctx: Context) -> Reading:
    number, back = WEEKDAYS[match["weekday"]], 1 if match["before"] else 0
    if ctx.weekday == "previous_week":
        start = cal.week(ctx.today).start + number * DAY - WEEK
    else:
        start = cal.weekday_before(ctx.today, number)
    return Reading(cal.day(start - back * WEEK), "weekday")


def past_weekday(match: Match, ctx: Context) -> Reading:
    return Reading(cal.day(cal.weekday_before(ctx.today, WEEKDAYS[match["weekday"]])), "weekday")


def next_weekday(match: Match, ctx: Context) -> Reading:
    """Return that weekday of the next ISO week, which is what "next" adds to "this" or to the bare weekday."""
    after = WEEK if match["after"] else 0 * DAY
    return Reading(cal.day(cal.week(ctx.today).start + WEEK + WEEKDAYS[match["weekday"]] * DAY + after), "weekday")


def coming_weekday(match: Match, ctx: Context) -> Reading:
    return Reading(cal.day(cal.weekday_after(ctx.today, WEEKDAYS[match["weekday"]])), "weekday")


def this_weekday(match: Match, ctx: Context) -> Reading:
    number = WEEKDAYS[match["weekday"]]
    start = cal.week(ctx.today).start + number * DAY
    if start < ctx.today and ctx.direction(*match.span()) >= 0:
        start = cal.weekday_after(ctx.today, number)
    return Reading(cal.day(start), "weekday")


def bare_weekday(match: Match, ctx: Context) -> Reading | None:
    """Return the most recent one where the sentence looks back, else the next; weak where it may be part of a name."""
    full = match["weekday"] in FULL_WEEKDAYS
    if not full and not (match["lead"] and ctx.capital(match.start("x"))):
        return None
    back = ctx.direction(*match.span("x")) < 0
    reading = past_weekday(match, ctx) if back else coming_weekday(match, ctx)
    return replace(reading, weak=match["not"] is not None or not ctx.complete(match.end()))


def _count(match: Match) -> Quantity:
    return quantity(match["count"], and_a_half=bool(match["half"] or match["half_too"]))


def counted(name: str, number: Quantity, moment: datetime, sign: int) -> Interval | None:
    """Return the unit that lies so many units away, or the honest range of them when the number is a range."""
    if name == "night":
        nights = part_of_day(cal.step("day", moment, sign * int(number.low)), "night")
        return nights if number.low == number.high else counted("day", number, moment, sign)
    if number.low == 2 and number.high == 3 and name not in ("day", "hour", "minute"):
        number = Quantity(2, 2)  # "a couple of weeks": the unit is coarse enough for the word to mean two
    if number.low % 1:
        name, parts = FINER[name]
        number = Quantity(number.low * parts, number.high * parts)
    ends = [cal.unit(name, cal.step(name, moment, sign * int(n))) for n in (number.low, number.high)]
    if ends[0] == ends[1]:
        return ends[0]
    return cal.span(min(end.start for end in ends), max(end.end for end in ends))


def _away(match: Match, ctx: Context, sign: int) -> Interval | None:
    unit = UNITS[match["unit"]]
    number = _count(match)
    return counted(unit.name, Quantity(number.low * unit.count, number.high * unit.count), ctx.now, sign)


def ago(match: Match, ctx: Context) -> Interval | Reading | None:
    if match["back"] == "back" and not ctx.complete(match.end()):
        return None  # "a week back home"
    return _away(match, ctx, -1)


def ago_to_the_day(match: Match, ctx: Context) -> Interval | None:
    """Read "a year ago today", "a week ago Friday"."""
    unit, words = UNITS[match["unit"]], match["to"]
    day = ctx.today - DAY if words == "yesterday" else ctx.today
    if words in WEEKDAYS:
        day = cal.weekday_before(ctx.today, WEEKDAYS[words])
    name = "day" if unit.name == "night" else unit.name
    return cal.day(cal.step(name, day, -int(_count(match).low) * unit.count))


def since_then(match: Match, ctx: Context) -> Interval | None:
    """Read "it's been two months since ...", which dates what follows."""
    return _away(match, ctx, -1)


def ahead(match: Match, ctx: Context) -> Interval | None:
    """Read "in two weeks", unless the sentence looks back ("I read it in two days")."""
    if match["in"] and (ctx.direction(*match.span()) < 0 or not ctx.complete(match.end())):
        return None
    return _away(match, ctx, 1)


def rolling(match: Match, ctx: Context) -> Interval | None:
    """Read "the past three weeks", "over the last year": up to the day it is said on."""
    unit = UNITS[match["unit"]]
    number = quantity(match["count"]) if match["count"] else Quantity(1, 1)
    fine = unit.name in ("minute", "hour")
    end = ctx.now if fine else ctx.today
    name = "day" if unit.name == "night" else unit.name
    count = int(number.high) * unit.count
    if name == "week" and count == 1:
        return cal.days_of_week(end - WEEK)
    return cal.span(cal.step(name, end, -count), end)


def coming(match: Match, ctx: Context) -> Interval | None:
    """Read "the next few days": from tomorrow on."""
    unit = UNITS[match["unit"]]
    number = quantity(match["count"]) if match["count"] else Quantity(1, 1)
    fine = unit.name in ("minute", "hour")
    start = ctx.now if fine else ctx.today + DAY
    return cal.span(start, cal.step("day" if unit.name == "night" else unit.name, start, int(number.high) * unit.count))


def lasting(match: Match, ctx: Context) -> Interval | None:
    """Read "I've had it for three years": begun that unit, and open until now. A bare duration is no time."""
    if not (match["perfect"] or match["now"] or match["past"]):
        return None
    begun = _away(match, ctx, -1)
    return begun and cal.span(begun.start, ctx.now)


def later(match: Match, ctx: Context, sign: int) -> Reading:
    """Read "three days later": counted from the expression before it, and vague without one."""
    unit, number = UNITS[match["unit"]], _count(match)
    total = Quantity(number.low * unit.count, number.high * unit.count)
    return Reading(None, "later", later=lambda base: counted(unit.name, total, base.start, sign))


def next_day(match: Match, ctx: Context) -> Reading:
    unit = UNITS[match["unit"]].name
    sign = 1 if match["which"] in ("next", "following") else -1
    return Reading(None, "later", later=lambda base: cal.unit(unit, cal.step(unit, base.start, sign)))


def vague(match: Match, ctx: Context) -> Reading:
    return VAGUE


_LAST = r"(?:(?:this )?(?:last|past)|(?:this )?previous)"
_NEXT = r"(?:(?:this )?(?:upcoming|coming)|next)"
_SPAN = (
    rf"(?P<count>{COUNT})(?: (?P<half>and a half))?[ -]?(?:more )?(?P<unit>{UNIT})(?:'s?)?\b(?P<half_too> and a half)?"
)
_BIG = r"(?P<unit>week|weekend|month|quarter|year|decade)"
_DAY = rf"(?P<weekday>{WEEKDAY})\b"
_NOT_OF = r"(?! (?:of|in) (?:the|my|our|his|her|their|a|school|college|summer|high)\b)"

RULES = tuple(
    Rule(cue, compiled(pattern), read)
    for cue, pattern, read in (
        (
            "day",
            r"\b(?:today|yesterday|tomorrow|tmrw|tmr|tomorow|yday)\b(?!'s (?:world|society|youth|kids))",
            named_day,
        ),
        ("day", r"\b(?:the )?day (?:before (?P<day>yesterday)|after tomorrow)\b", day_but_one),
        ("day", r"\bthis (?P<part>morning|afternoon|evening)\b", part_of_today),
        ("day", r"\b(?:tonight|tonite|this night)\b", tonight),
        ("unit", r"\b(?:last|yesterday) (?:night|evening)(?P<before> before last)?\b", last_night),
        ("unit", r"\bthe night(?P<before> before last)\b", last_night),
        ("unit", rf"(?<!the )\b{_LAST} {_BIG}\b(?! (?:before|and a half)\b){_NOT_OF}(?P<before>)", last_unit),
        ("unit", rf"\b(?:the )?{_BIG}(?P<before> before last)\b", last_unit),
        ("unit", rf"(?<!the )(?<!very )\b{_NEXT} {_BIG}\b{_NOT_OF}(?P<after>)", next_unit),
        ("unit", rf"\b(?:the )?{_BIG}(?P<after> after next)\b", next_unit),
        ("unit", r"\b(?:this|the current) (?P<unit>week|month|quarter|year|decade)\b(?!'s end)(?P<x>)?", this_unit),
        (
            "unit",
            r"\b(?P<part>earlier|later) (?:on )?(?:in )?(?:this|the) (?P<unit>week|month|year)\b",
            part_of_this_unit,
        ),
        ("day", r"\b(?P<part>earlier|later) (?:on )?(?P<unit>to)(?P<x>day)\b", part_of_this_unit),
        ("unit", r"\b(?P<which>this|over the|on the|at the|for the) weekend\b", this_weekend),
        ("weekday", rf"\b{_LAST} {_DAY}(?P<before> before last)?", last_weekday),
        ("weekday", rf"\b(?:the )?{_DAY}(?P<before> before last)\b", last_weekday),
        ("weekday", rf"\b(?:this|the) (?:past|last) {_DAY}", past_weekday),
        ("weekday", rf"\bnext {_DAY}(?P<after> after next)?", next_weekday),
        ("weekday", rf"\b(?:the )?{_DAY}(?P<after> after next)\b", next_weekday),
        ("weekday", rf"\b(?:this |the )?(?:coming|upcoming) {_DAY}", coming_weekday),
        ("weekday", rf"\bthis {_DAY}", this_weekday),
        (
            "weekday",
            rf"\b(?:(?P<lead>on|by|until|till|since|before|after|for|from) )?(?P<not>(?:a|an|the|every|each|any|one|some|most|my|your|our|another|black|good|fat|palm|taco) )?(?P<x>{_DAY})",
            bare_weekday,
        ),
        ("ago", rf"(?<!every ){_SPAN} (?P<back>ago|back|earlier today)\b", ago),
        ("ago", rf"{_SPAN} ago (?:on |this |last )?(?P<to>today|yesterday|{one_of(FULL_WEEKDAYS)})\b", ago_to_the_day),
        (
            "ago",
            rf"(?:it's|it has|it is) (?:already )?(?:been )?(?:already )?{ABOUT}(?P<x>{_SPAN}) since\b",
            since_then,
        ),
        ("unit", rf"\b(?P<in>in) {ABOUT}(?P<x>{_SPAN})(?: time)?", ahead),
        ("ago", rf"(?P<in>){_SPAN} (?:from (?:now|today)|hence)\b", ahead),
        (
            "unit",
            rf"\b(?:over|in|during|within|for|throughout|of) (?P<x>(?:the|these) (?:past|last)(?: (?P<count>{COUNT}))? (?P<unit>{UNIT}))\b",
            rolling,
        ),
        (
            "unit",
            rf"\b(?P<x>(?:over|in|during|within|for) (?:the )?(?:next|coming)(?: (?P<count>{COUNT}))? (?P<unit>{UNIT}))\b",
            coming,
        ),
        (
            "unit",
            rf"(?P<perfect>\b(?:have|has|'ve|'s|had)\b[^.!?\n]{{0,60}}?)?\b(?P<x>for {ABOUT}(?P<past>the (?:past|last) )?{_SPAN}(?P<now> now\b| already\b| and counting\b)?)",
            lasting,
        ),
        ("ago", rf"{_SPAN} (?:later|after that|afterwards)\b", partial(later, sign=1)),
        ("ago", rf"{_SPAN} (?:earlier|before that|beforehand)\b", partial(later, sign=-1)),
    )
)
