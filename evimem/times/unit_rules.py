"""Rules for units counted from now, and spans of them: last week, in three days, the rest of the year, for two years.

An interval is as precise as its words: "two months ago" is a month, "ten years ago" a year, "a few days ago" a range of
days. "Last week" is the seven days before today; "two weeks ago" and "next week" are ISO weeks.
"""

from __future__ import annotations

import re
from functools import partial

from ..lang import ENGLISH
from . import calendar
from .calendar import DAY, WEEK, TimeInterval, third_of, units_from
from .context import Context
from .lexicon import (
    APPROXIMATELY,
    BEFORE,
    ENDS,
    FULL_WEEKDAYS,
    NOT_BEFORE,
    POSITIONS,
    PREVIOUS,
    PREVIOUS_WORDS,
    SIMPLE_NUMBERS,
    UNIT_GROUPS,
    UNITS,
    UPCOMING,
    UPCOMING_WORDS,
    WEEKDAY,
    WEEKDAYS,
    Pattern,
    Quantity,
    one_of,
)
from .rule_types import VAGUE, AnyRule, Counted, Meaning, count_rule, needs, rules

Match = re.Match[str]


def last(match: Match, ctx: Context) -> TimeInterval:
    """Read "last month"; "last week" by the default convention is the seven days before today."""
    name = UNITS[match["unit"]].name
    if name == "week" and ctx.weekday == "recent":
        return calendar.days_of_week(ctx.today - WEEK)
    return calendar.unit(name, calendar.step(name, ctx.today, -1))


def last_but_one(match: Match, ctx: Context) -> TimeInterval:
    """Read "the week before last"."""
    name = UNITS[match["unit"]].name
    return calendar.unit(name, calendar.step(name, ctx.today, -2))


def next_one(match: Match, ctx: Context) -> TimeInterval:
    """Read "next week"."""
    name = UNITS[match["unit"]].name
    return calendar.unit(name, calendar.step(name, ctx.today, 1))


def next_but_one(match: Match, ctx: Context) -> TimeInterval:
    """Read "the week after next"."""
    name = UNITS[match["unit"]].name
    return calendar.unit(name, calendar.step(name, ctx.today, 2))


def this_one(match: Match, ctx: Context) -> TimeInterval:
    """Read "this month"."""
    return calendar.unit(UNITS[match["unit"]].name, ctx.today)


def this_weekend(match: Match, ctx: Context) -> TimeInterval | None:
    """Return the weekend of this week, or the one that just ended when the sentence looks back at it."""
    current = calendar.weekend(ctx.today)
    if current.start <= ctx.today:
        return current
    direction = ctx.direction(*match.span()) or (1 if match["which"] in ("this", "for the") else -1)
    over = direction < 0 and (match["which"] != "this" or ctx.today.weekday() <= WEDNESDAY)
    return calendar.weekend(ctx.today - WEEK) if over else current


WEDNESDAY = 2  # up to which "this weekend" may be the one before


def upcoming_weekend(_: Match, ctx: Context) -> TimeInterval:
    """Read "the coming weekend"."""
    current = calendar.weekend(ctx.today)
    return current if current.start > ctx.today else calendar.weekend(ctx.today + WEEK)


def next_workday(match: Match, ctx: Context) -> TimeInterval:
    """Read "the next working day"."""
    return calendar.day(calendar.workday(ctx.today, -1 if match["which"] in PREVIOUS_WORDS else 1))


def away(counted: Counted, ctx: Context, sign: int) -> TimeInterval | None:
    """Return a number of units counted from now: forward with sign 1, back with sign -1."""
    moment = ctx.now
    if counted.more:  # "3 weeks and 4 days ago"
        moment = calendar.step(counted.more.unit, moment, sign * int(counted.more.number.low))
    return units_from(counted.unit, counted.number, moment, sign)


def ago(counted: Counted, ctx: Context) -> TimeInterval | None:
    """Read "two weeks ago", "two weeks back"."""
    if counted.words["back"] == "back" and not ctx.complete(counted.end):
        return None  # "a week back home"
    return away(counted, ctx, -1)


def ago_to_the_day(counted: Counted, ctx: Context) -> TimeInterval | None:
    """Read "a year ago today", "exactly a year ago", "a week ago Friday", "a year ago this month"."""
    words = counted.words.get("to") or ""
    start = calendar.weekday_before(ctx.today, WEEKDAYS[words]) if words in WEEKDAYS else ctx.today
    start -= DAY if words == "yesterday" else 0 * DAY
    then = calendar.step("day" if counted.unit == "night" else counted.unit, start, -int(counted.number.low))
    return calendar.unit(words if words in ("week", "weekend", "month") else "day", then)


def dated_since(counted: Counted, ctx: Context) -> TimeInterval | None:
    """Read "it's been two months since we met": when they met."""
    return away(counted, ctx, -1)


def from_now(counted: Counted, ctx: Context) -> TimeInterval | None:
    """Read "two weeks from now"; "two weeks from today" is a day."""
    if counted.words["base"] == "today" and counted.number.low == counted.number.high:
        unit = "day" if counted.unit == "night" else counted.unit
        return calendar.day(calendar.step(unit, ctx.today, int(counted.number.low)))
    return away(counted, ctx, 1)


def within(counted: Counted, ctx: Context) -> TimeInterval | None:
    """Read "within two weeks": from today on, of hours from now on; a duration where the sentence looks back."""
    if counted.more or ctx.direction(counted.start, counted.end) < 0:
        return None
    start = ctx.now if counted.unit in ("minute", "hour") else ctx.today
    return calendar.span(start, calendar.step(counted.unit, start, int(counted.number.high)))


def ahead(counted: Counted, ctx: Context) -> TimeInterval | None:
    """Read "in two weeks", unless it is a duration ("I read it in two days", "best in ten years")."""
    start, end = counted.start, counted.end
    duration = _DURATION.regex.search(ctx.folded, max(0, start - 40), start)
    if ctx.folded.startswith("a min", start) and counted.unit == "minute":
        return None  # "in a minute" means soon
    if duration or ctx.direction(start, end) < 0 or not ctx.complete(end):
        return None
    return away(counted, ctx, 1)


_DURATION = Pattern(rf"\b(?:{one_of(ENGLISH.words('times.duration_cues'))}|\w{{2,}}est)\b[^.,!?\n]{{0,24}} $")
_UNIT = rf"(?P<unit>{one_of(UNIT_GROUPS['relative'])})"
_CURRENT = rf"(?P<unit>{one_of(UNIT_GROUPS['current'])})"

UNIT_RULES: tuple[AnyRule, ...] = (
    *rules(
        (needs("unit", UPCOMING_WORDS), rf"\b(?:the |this )?{UPCOMING} weekend\b", upcoming_weekend),
        (
            needs("unit", PREVIOUS_WORDS),
            rf"(?<!\bthe )\b(?:this )?{PREVIOUS} (?:long )?{_UNIT}\b(?! before| and a half| of\b)",
            last,
        ),
        (
            needs("unit", PREVIOUS_WORDS),
            r"\bthe (?:past|last) (?:long )?(?P<unit>weekend|wknd)\b(?! (?:before|of|in)\b)",
            last,
        ),
        (needs("unit", ["before"]), rf"\b(?:the )?{_UNIT} before last\b", last_but_one),
        (
            needs("unit", ["next", *UPCOMING_WORDS]),
            rf"(?<!\bthe )\b(?:next|(?:this )?{UPCOMING}) (?:long )?{_UNIT}\b(?! of\b)",
            next_one,
        ),
        (needs("unit", ["after"]), rf"\b(?:the )?{_UNIT} after next\b", next_but_one),
        (needs("unit", ["this", "current"]), rf"\b(?:this|the current) {_CURRENT}\b", this_one),
        (
            needs("unit", ["next", "following", *PREVIOUS_WORDS]),
            rf"\b(?:the )?(?P<which>next|following|{PREVIOUS}) (?:working day|business day|work ?day)\b",
            next_workday,
        ),
        (needs("unit", ["on"]), r"\bon (?P<x>the next (?P<unit>week|month|year))\b", next_one),
        (
            needs("unit", ["weekend", "wknd"]),
            r"\b(?P<which>this|for the|over the|at the|on the) (?:(?:long|bank holiday) )?(?:weekend|wknd)\b(?! of\b)",
            this_weekend,
        ),
    ),
    count_rule(
        needs("unit", ["within"]), rf"(?P<x>\bwithin (?:the next |the coming )?{APPROXIMATELY})", r"(?! of\b)", within
    ),
    count_rule(needs("ago", ["ago", "back"]), "", r"(?P<x> (?P<back>ago|back))\b", ago),
    count_rule(
        needs("ago", ["ago"]),
        "",
        r"(?P<x> ago (?:on |this |last )?"
        rf"(?P<to>today|to the day|yesterday|(?<=this )(?:week|weekend|month)|{one_of(FULL_WEEKDAYS)}))\b",
        ago_to_the_day,
    ),
    count_rule(needs("ago", ["exactly"]), r"(?P<x>\bexactly )", r"(?P<x> ago)\b", ago_to_the_day),
    count_rule(
        needs("ago", ["since"]),
        rf"\b(?:it's|it is|been)(?: already| only| just)? {APPROXIMATELY}",
        r" since\b",
        dated_since,
    ),
    count_rule(needs("ago", ["now", "today", "hence"]), "", r"(?P<x> (?:from (?P<base>now|today)|hence))\b", from_now),
    count_rule(needs("unit", ["in"]), rf"\bin {APPROXIMATELY}", r"(?P<x>(?: time)?)(?! of\b)", ahead),
)


def edge_of_the(match: Match, ctx: Context) -> TimeInterval:
    """Read "the month" in "the end of the month": this one, or the one before when the sentence looks back."""
    name = match["unit"]
    ended = match["edge"].startswith("end") and ctx.direction(*match.span()) < 0
    return calendar.unit(name, calendar.step(name, ctx.today, -1 if ended else 0))


def rest_of_this(match: Match, ctx: Context) -> TimeInterval | None:
    """Read "the rest of the week": from today to its end."""
    if ctx.direction(*match.span()) < 0:
        return None
    name = match["unit"]
    if name not in UNIT_GROUPS["current"]:
        return calendar.span(ctx.now, ctx.today + DAY)
    return calendar.span(ctx.today, calendar.unit(UNITS[name].name, ctx.today).end)


def short_end(match: Match, ctx: Context) -> Meaning:
    """Read "EOD", the day, and "EOW", "EOM", "EOY", the last third of the week, month or year."""
    name = ENDS[" ".join(match.group().split())]
    whole = calendar.unit(name, ctx.today)
    return Meaning(whole, "part") if name == "day" else Meaning(third_of(whole, 2))


def part_of_this(match: Match, ctx: Context) -> TimeInterval | None:
    """Read "earlier this week": up to today; "later this week": from tomorrow on."""
    unit = calendar.unit(UNITS[match["unit"]].name, ctx.today)
    if match["part"] == "earlier":
        return calendar.span(unit.start, ctx.today) or calendar.day(ctx.today)
    return calendar.span(ctx.today + DAY, unit.end) or calendar.day(ctx.today)


_END_WORDS = [word for words in ENDS for word in words.split() if len(word) > 2 and word != "the"]
_EDGE = rf"(?P<edge>{one_of(BEFORE['edge_of_unit'])})"
_EDGED_UNIT = rf"(?P<unit>{one_of(BEFORE['unit_with_edges'])})"
_COUNTED = rf"(?:\d\d?|{one_of(SIMPLE_NUMBERS)})? ?(?:{one_of(UNIT_GROUPS['counted'])})s?"

PART_RULES = rules(
    (
        needs("unit", BEFORE["edge_of_unit"]),
        rf"\b{_EDGE} (?:of |in |on in )?(?P<x>the {_EDGED_UNIT})\b(?! (?:of|before|after)\b)",
        edge_of_the,
    ),
    (
        needs("unit", POSITIONS),
        rf"\b(?P<edge>{one_of(POSITIONS)}) {_COUNTED} (?:of|in) (?P<x>the {_EDGED_UNIT})\b(?! (?:of|before|after)\b)",
        edge_of_the,
    ),
    (
        needs("any", ["rest", "remainder"]),
        r"\b(?:the )?(?:rest|remainder) of "
        r"(?:(?:the|this) (?P<unit>day|afternoon|evening|week|month|quarter|year)|today)\b",
        rest_of_this,
    ),
    (needs("unit", _END_WORDS), rf"\b{one_of(ENDS)}\b", short_end),
    (
        needs("unit", ["earlier", "later"]),
        r"\b(?P<part>earlier|later) (?:on )?(?:in )?this (?P<unit>week|month|year)\b",
        part_of_this,
    ),
)


def _until_now(unit: str, count: int, ctx: Context) -> TimeInterval | None:
    """Return so many units up to today; of a range ("a few") the larger number, to leave nothing out."""
    end = ctx.now if unit in ("minute", "hour") else ctx.today
    if (unit, count) == ("week", 1):
        return calendar.days_of_week(end - WEEK)
    return calendar.span(calendar.step(unit, end, -count), end)


def _from_now(unit: str, count: int, start: int, end: int, ctx: Context) -> TimeInterval | None:
    if ctx.direction(start, end) < 0:
        return None
    first = ctx.now if unit in ("minute", "hour") else ctx.today + DAY
    return calendar.span(first, calendar.step(unit, first, count))


def _day_for_night(unit: str) -> str:
    return "day" if unit == "night" else unit


def rolling(counted: Counted, ctx: Context) -> TimeInterval | None:
    """Read "the past three weeks": up to today."""
    return _until_now(_day_for_night(counted.unit), int(counted.number.high), ctx)


def rolling_one(match: Match, ctx: Context) -> TimeInterval | None:
    """Read "over the last year": up to today."""
    return _until_now(_day_for_night(UNITS[match["unit"]].name), UNITS[match["unit"]].count, ctx)


def coming(counted: Counted, ctx: Context) -> TimeInterval | None:
    """Read "the next few days": from tomorrow on, unless the sentence looks back ("the next two days were hard")."""
    return _from_now(_day_for_night(counted.unit), int(counted.number.high), counted.start, counted.end, ctx)


def coming_one(match: Match, ctx: Context) -> TimeInterval | None:
    """Read "over the next year", as `coming` does."""
    return _from_now(_day_for_night(UNITS[match["unit"]].name), UNITS[match["unit"]].count, *match.span("x"), ctx)


def lasting(counted: Counted, ctx: Context) -> TimeInterval | None:
    """Read "I've had it for three years": from the beginning of that unit until now."""
    begun = away(counted, ctx, -1)
    return begun and calendar.span(begun.start, ctx.now)


def later(counted: Counted, _: Context, sign: int) -> Meaning:
    """Read "three days later", which counts from the expression before it and is vague without one."""
    return Meaning(None, "later", later=lambda base: units_from(counted.unit, counted.number, base.start, sign))


def following(match: Match, ctx: Context) -> Meaning | None:
    """Read "the next day", "the week before", after an expression that they count from."""
    if not ctx.complete(match.end()):
        return None
    if match["unit"] in WEEKDAYS:
        weekday = WEEKDAYS[match["unit"]]
        return Meaning(
            None, "later", later=lambda base: calendar.day(calendar.weekday_after(base.end - DAY, weekday)), weak=True
        )
    name = UNITS[match["unit"]].name
    sign = -1 if "previous" in match.group() or "before" in match.group() else 1
    return Meaning(None, "later", later=lambda base: units_from(name, Quantity(1, 1), base.start, sign), weak=True)


_ONE = rf"(?P<unit>{one_of(UNIT_GROUPS['rolling'])})\b(?! (?:of|before)\b)"
_PERFECT = r"\b(?:have|has|'ve|haven't|hasn't|'s been)\b[^.!?\n]{0,60}? "
_NEGATED = r"\b(?:haven't|hasn't|have not|has not|never)\b[^.!?\n]{0,60}? "
_STORY_UNIT = rf"(?P<unit>{one_of(UNIT_GROUPS['narrative'])})"
_THROUGH = one_of(BEFORE["rolling"])
_FOR = needs("unit", ["for"])

RANGE_RULES: tuple[AnyRule, ...] = (
    count_rule(needs("unit", ["past", "last"]), r"(?P<x>\b(?:the |these )?(?:past|last) )", r"(?! of\b)", rolling),
    *rules(
        (
            needs("unit", ["past", "last"]),
            rf"\b{_THROUGH} (?P<x>(?:the|this) (?:past|last) {_ONE})",
            rolling_one,
        ),
        (needs("unit", ["past"]), rf"(?P<x>\bthe past {_ONE})", rolling_one),
    ),
    count_rule(needs("unit", ["next", "coming"]), r"(?P<x>\b(?:the |these )?(?:next|coming) )", r"(?! of\b)", coming),
    *rules((needs("unit", ["next", "coming"]), rf"\b{_THROUGH} (?P<x>the (?:next|coming) {_ONE})", coming_one)),
    count_rule(
        _FOR,
        rf"{_PERFECT}(?P<x>for {APPROXIMATELY}(?:the (?:past|last) )?)",
        r"(?P<x>(?: now| already| and counting)?)\b",
        lasting,
    ),
    count_rule(needs("unit", ["in"]), rf"{_NEGATED}(?P<x>in {APPROXIMATELY})", "", lasting),
    count_rule(
        needs("unit", ["already", "counting"]),
        rf"(?P<x>(?:\bfor {APPROXIMATELY})?)",
        r"(?P<x> (?:already|and counting))\b",
        lasting,
    ),
    count_rule(_FOR, rf"(?P<x>\bfor {APPROXIMATELY})", r"(?P<x> now)\b", lasting),
    count_rule(
        needs("unit", ["since"]), rf"(?P<x>\bsince {APPROXIMATELY})", r"(?! ago| later| before| after)", lasting
    ),
    count_rule(needs("unit", ["been"]), r"\bbeen [^.!?\n]{0,40}?", r"(?P<x> (?:now|already))\b", lasting),
    count_rule(
        needs("ago", ["later", "after", "afterwards"]),
        "",
        r"(?P<x> (?:later|after that|afterwards))\b",
        partial(later, sign=1),
    ),
    count_rule(
        needs("ago", ["earlier", "before", "beforehand"]),
        "",
        r"(?P<x> (?:earlier|before that|beforehand))\b",
        partial(later, sign=-1),
    ),
    *rules(
        (
            needs("any", ["next", "following", "previous"]),
            rf"\bthe (?:next|following|previous) {_STORY_UNIT}\b",
            following,
        ),
        (needs("weekday", ["following"]), rf"\bthe following (?P<unit>{WEEKDAY})\b", following),
        (
            needs("any", ["before", "after"]),
            rf"\bthe {_STORY_UNIT} (?:before|after)\b(?! {one_of(NOT_BEFORE['story'])}\b)",
            following,
        ),
    ),
)


def vague(match: re.Match[str], ctx: Context) -> Meaning | None:
    """Return a vague meaning, unless a number stands before the words ("4 days ago" beside what was not read)."""
    return (
        None
        if any(match.start() < count.end for count in ctx.counts_between(match.start() - VAGUE_REACH, match.start()))
        else VAGUE
    )


VAGUE_REACH = 64  # characters before a phrase in which a number of its unit begins
_LONG = (
    r"(?:(?:quite )?a (?:little |long |short |good )?while|some ?time|(?:a )?(?:long|short) time"
    rf"|(?:not )?(?:(?:so|too|that|very) )?long|a moment|{one_of(UNIT_GROUPS['vague_plural'])})"
)

VAGUE_RULES = rules(
    (needs("vague", ["recently", "lately", "late"]), r"\b(?:recently|lately|as of late|of late(?= ?[.,;!?]))", vague),
    (
        needs("unit", ["several"]),
        rf"\b(?:for|over|past|last|these) several {one_of(UNIT_GROUPS['vague_plural'])}\b"
        rf"|\bseveral {one_of(UNIT_GROUPS['vague_plural'])} (?:ago|back|later|from now|now)\b",
        vague,
    ),
    (needs("vague", ["ago", "back"]), rf"\b{_LONG} (?:ago|back)\b", vague),
    (needs("vague", ["other"]), rf"\bthe other {one_of(UNIT_GROUPS['vague'])}\b", vague),
    (
        needs("vague", ["someday", "nowadays", "point", "back"]),
        r"\b(?:someday|nowadays|at some point|back in the day|back then)\b",
        vague,
    ),
    (needs("unit", ["these"]), r"\bthese days\b", vague),
    (
        needs("vague", ["soon", "future"]),
        r"(?<!\bas )\bsoon\b(?! (?:as|enough)\b)|\bin the (?:near|distant) future\b",
        vague,
    ),
)
