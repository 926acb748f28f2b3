"""Rules for days and weekdays: yesterday, this morning, last Friday, on Sunday, two Saturdays ago.

"Last Friday" is the most recent past Friday, or by the other convention the Friday of the ISO week before. "Next
Friday" is the Friday of the next ISO week: that is the difference to "this Friday" and plain "Friday".
"""

from __future__ import annotations

import re
from dataclasses import replace
from datetime import datetime

from ..lang import ENGLISH
from . import calendar
from .calendar import DAY, PARTS, WEEK, TimeInterval, part_of_day
from .context import AHEAD, Context, follows_naming
from .lexicon import (
    BEFORE,
    DAYS_FROM_TODAY,
    DIGIT,
    FULL_WEEKDAYS,
    NOT_BEFORE,
    POSITIONS,
    PREVIOUS,
    PREVIOUS_WORDS,
    TONIGHT,
    UNIT,
    UPCOMING,
    UPCOMING_WORDS,
    WEEKDAY,
    WEEKDAYS,
    Pattern,
    one_of,
)
from .rule_types import AnyRule, Counted, Meaning, count_rule, needs, rules

Match = re.Match[str]


def named_day(match: Match, ctx: Context) -> TimeInterval:
    distance = DAYS_FROM_TODAY[match.group()]
    return calendar.day(ctx.today + distance * DAY if distance else _this_day(match, ctx, AHEAD))


def _this_day(match: Match, ctx: Context, ahead: int) -> datetime:
    """Return the day of today: before 4 o'clock the one that has not ended, unless the sentence looks ahead."""
    return ctx.today if ctx.direction(*match.span()) >= ahead else ctx.waking_day


def day_but_one(match: Match, ctx: Context) -> TimeInterval:
    return calendar.day(ctx.today + (-2 if match["before"] else 2) * DAY)


def part_of_today(match: Match, ctx: Context) -> Meaning:
    day = ctx.today if match["part"] == "morning" else _this_day(match, ctx, 0)
    return Meaning(part_of_day(day, match["part"]), "part")


def tonight(match: Match, ctx: Context) -> Meaning:
    return Meaning(part_of_day(_this_day(match, ctx, 0), "night"), "part")


def last_night(_: Match, ctx: Context) -> Meaning:
    return Meaning(part_of_day(ctx.today - DAY, "night"), "part")


def night_before_last(_: Match, ctx: Context) -> Meaning:
    return Meaning(part_of_day(ctx.today - 2 * DAY, "night"), "part")


def rest_of_today(match: Match, ctx: Context) -> TimeInterval | None:
    return calendar.span(ctx.now, ctx.today + DAY) if match["part"] == "later" else calendar.span(ctx.today, ctx.now)


# "Today's world" is an era, and "tomorrow never comes" a saying.
_NO_ERA = rf"(?! never\b|'s {one_of(NOT_BEFORE['today'])}\b)"

DAY_RULES = rules(
    (needs("day", [*DAYS_FROM_TODAY, DIGIT]), rf"\b{one_of(DAYS_FROM_TODAY)}\b{_NO_ERA}", named_day),
    (
        needs("day", DAYS_FROM_TODAY),
        r"\b(?:the )?day (?:(?P<before>before yesterday)|after tomorrow)\b",
        day_but_one,
    ),
    (needs("day", ["this"]), rf"\bthis (?P<part>{one_of(part for part in PARTS if part != 'night')})\b", part_of_today),
    (needs("day", [*TONIGHT, DIGIT]), rf"\b{one_of(TONIGHT)}\b", tonight),
    (needs("day", ["today"]), r"\b(?P<part>earlier|later) (?:on )?today\b", rest_of_today),
    (needs("unit", ["last"], ["night", "evening"]), r"\blast (?:night|evening)\b", last_night),
    (needs("unit", ["last"]), r"\bthe night before last\b", night_before_last),
)


def _weekday(start: datetime) -> Meaning:
    return Meaning(calendar.day(start), "weekday")


def _in_week(moment: datetime, match: Match) -> datetime:
    return calendar.week(moment).start + WEEKDAYS[match["weekday"]] * DAY


def most_recent(match: Match, ctx: Context) -> Meaning:
    return _weekday(calendar.weekday_before(ctx.today, WEEKDAYS[match["weekday"]]))


def upcoming(match: Match, ctx: Context) -> Meaning:
    return _weekday(calendar.weekday_after(ctx.today, WEEKDAYS[match["weekday"]]))


def last(match: Match, ctx: Context) -> Meaning:
    """Read "last Friday" by the convention of the caller."""
    if ctx.weekday == "previous_week":
        return _weekday(_in_week(ctx.today - WEEK, match))
    return most_recent(match, ctx)


def last_but_one(match: Match, ctx: Context) -> Meaning:
    """Read "the Friday before last"."""
    recent = last(match, ctx).interval
    return _weekday((recent.start if recent else ctx.today) - WEEK)


def next_one(match: Match, ctx: Context) -> Meaning:
    """Read "next Friday"."""
    return _weekday(_in_week(ctx.today + WEEK, match))


def next_but_one(match: Match, ctx: Context) -> Meaning:
    """Read "the Friday after next"."""
    return _weekday(_in_week(ctx.today + 2 * WEEK, match))


def this_one(match: Match, ctx: Context) -> Meaning:
    """Read "this Friday": that of this ISO week, or the next one when it is over and the tense does not look back."""
    start = _in_week(ctx.today, match)
    if start < ctx.today and ctx.direction(*match.span()) >= 0:
        return upcoming(match, ctx)
    return _weekday(start)


def bare(match: Match, ctx: Context) -> Meaning | None:
    """Read "Friday": the most recent where the tense looks back, else the next; weak where it may be part of a name."""
    called = follows_naming(match.start("x"), ctx)
    known = None if match["one_of_many"] or called else _is_named(match, ctx)
    if known is None:
        return None
    day = WEEKDAYS[match["weekday"]]
    start, end = match.span("x")
    said = _SAID.regex.search(ctx.folded, max(0, start - LONGEST_WORD), start)  # "I said Friday": for Friday
    told = _TOLD.regex.match(ctx.folded, end)  # "he said Friday was hard"
    back = ctx.direction(start, end) < 0 and (told is not None or said is None)
    if day == ctx.today.weekday() and not _is_another(match, ctx):
        reading = _weekday(ctx.today)
    else:
        reading = most_recent(match, ctx) if back else upcoming(match, ctx)
    complete = match["lead"] in _SURE_LEADS or ctx.complete(end) or _is_owner(match, ctx)
    return replace(reading, weak=not known or not complete)


def _is_named(match: Match, ctx: Context) -> bool | None:
    """Return whether a word is a weekday: None when it is none, False when only a time next to it would show it."""
    word, start = match["weekday"], match.start("x")
    if word in FULL_WEEKDAYS:
        return True
    if word not in _WORDS:
        return True
    before = _LETTERS.findall(ctx.folded[max(0, start - LONGEST_WORD) : start])
    if before and (before[-1] in _NO_WEEKDAY_AFTER or (ctx.folded[start - 1] == "-" and before[-1] not in WEEKDAYS)):
        return None
    if _LISTED.regex.match(ctx.folded, match.end()):
        return True
    inside = before and ctx.folded[start - 2] not in ".!?:\n"
    return match["lead"] in _SURE_LEADS or bool(inside and ctx.capital(start))


def _is_owner(match: Match, ctx: Context) -> bool:
    """Return whether a full name owns what follows: "Thursday's session"."""
    return match["weekday"] in FULL_WEEKDAYS and _OWNED.regex.match(ctx.folded, match.end()) is not None


def _is_another(match: Match, ctx: Context) -> bool:
    """Return whether the name of today's weekday means another one: "on Friday we met", "see you on Friday"."""
    direction = ctx.direction(*match.span("x"))
    led = match["lead"] is not None
    before = ctx.folded[max(0, match.start("x") - LONGEST_WORD) : match.start("x")].split()[-1:]
    if before in (["holiday"], ["was"]):
        return True
    return (direction == AHEAD and led) or (
        direction < 0 and (led or _TOLD.regex.match(ctx.folded, match.end()) is not None)
    )


def some_ago(counted: Counted, ctx: Context) -> Meaning:
    """Read "two Saturdays ago"."""
    weeks = int(counted.number.low) - 1
    return _weekday(calendar.weekday_before(ctx.today, WEEKDAYS[counted.unit]) - weeks * WEEK)


_DAY = rf"(?P<weekday>{WEEKDAY})\b"
_PARTS = one_of(PARTS)
_LISTED = Pattern(rf" ?(?:or|and|n|&|/|,) ?{WEEKDAY}\b")  # "mon or tues"
_LETTERS = re.compile("[a-z]+")
LONGEST_WORD = 16  # characters before a weekday that hold the word before it
_WORDS = frozenset(ENGLISH.words("times.ambiguous_weekdays"))
_NO_WEEKDAY_AFTER = frozenset(ENGLISH.words("times.no_weekday_after"))
_SURE_LEADS = frozenset(BEFORE["sure_day"])
_SAID = Pattern(rf"\b{one_of(ENGLISH.words('times.saying'))} \Z")
_OWNED = Pattern(r"'s (?!not\b|been\b|got\b)[a-z]")
_TOLD = Pattern(r" (?:was|were)\b")
_LEAD = rf"(?:(?P<lead>{one_of(BEFORE['weekday'])}) )?"
_MANY = rf"(?P<one_of_many>{one_of((*BEFORE['one_of_many'], *(f'the {nth}' for nth in POSITIONS)))} )?"

WEEKDAY_RULES: tuple[AnyRule, ...] = (
    *rules(
        (needs("weekday", PREVIOUS_WORDS), rf"\b{PREVIOUS} {_DAY}", last),
        (
            needs("weekday", PREVIOUS_WORDS),
            rf"\b(?:(?:this|the) (?:past|last)|this previous) {_DAY}",
            most_recent,
        ),
        (needs("weekday", ["last", "gone"]), rf"\b{_DAY} (?:last|(?:just )?gone)\b(?! {UNIT}\b)", last),
        (needs("weekday", ["before"]), rf"\b(?:the |last )?{_DAY} before last\b", last_but_one),
        (needs("weekday", ["next"]), rf"\bnext {_DAY}", next_one),
        (needs("weekday", ["after"]), rf"\b(?:the |next )?{_DAY} after next\b", next_but_one),
        (needs("weekday", UPCOMING_WORDS), rf"\b(?:this |the )?{UPCOMING} {_DAY}", upcoming),
        (needs("weekday", ["this"]), rf"\bthis {_DAY}", this_one),
        (needs("weekday"), rf"\b{_LEAD}{_MANY}(?P<x>{_DAY})(?! {_PARTS}s\b)", bare),
    ),
    count_rule(needs("weekday", ["ago"]), "", r"(?P<x> ago)\b", some_ago, units=FULL_WEEKDAYS),
)
