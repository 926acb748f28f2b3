"""What each form of a language means: a reader takes the match of a form and returns its meaning, or None for no time.

An interval is as precise as its words: "two months ago" is a month, "ten years ago" a year, "a few days ago" a range of
days. What may be a name, a verb or a count is weak: it is a time only where what stands beside it shows it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Literal, ParamSpec, TypeVar

from ..lang import ENGLISH
from . import calendar
from .calendar import DAY, HALF_DAY, WEEK, Clock, TimeInterval, nth_part, part_of_day, third_of, units_from
from .context import (
    AHEAD,
    BACK,
    PRESENT,
    Context,
    Yearly,
    last,
    nearest,
    nearest_of,
    occurrences,
    relative,
)  # fmt: skip
from .date_order import date_in_figures, month_and_day, year_of_two_digits
from .lexicon import FULL_MONTHS, FULL_WEEKDAYS, RELATIVES, Quantity, SpelledTable, number

Match = re.Match[str]
Kind = Literal["date", "weekday", "part", "clock", "vague", "later", "amount"]


@dataclass(frozen=True, slots=True)
class Amount:
    """A number of units of the calendar; `more` is one of larger units before it, as in "3 weeks and 4 days"."""

    unit: str
    number: Quantity
    more: Amount | None = None


@dataclass(frozen=True, slots=True)
class Meaning:
    """What an expression means: an interval, or what gives one together with an adjacent expression.

    `yearly` gives the same expression in another year, where it names none itself ("August" next to "last year").
    `choices` are all days that the words may mean where they do not tell which ("the 15th", 6/7): the weekday next to
    them does. `later` counts from the expression before it. A `weak` meaning ("Sunday" before a noun) is dropped unless
    an adjacent expression joins it ("Sunday last week"). `weekday`, `part` and `number` (a day of some month) are told
    by what stands beside them, as `clock` is, a time of day. `amount` may count from the day beside it ("a week from
    Friday"); with `side` it does from the day after it ("drei Tage vor").
    """

    interval: TimeInterval | None = None
    kind: Kind = "date"
    yearly: Yearly | None = None
    choices: tuple[TimeInterval, ...] = ()
    clock: Clock | None = None
    later: Callable[[TimeInterval], TimeInterval | None] | None = None
    weak: bool = False
    weekday: int | None = None
    part: str = ""
    number: int = 0
    amount: Amount | None = None
    side: int = 0


Reading = Meaning | TimeInterval | None
P = ParamSpec("P")
R = TypeVar("R")
VAGUE = Meaning(None, "vague")


@dataclass(frozen=True, slots=True)
class Expression:
    """The half-open range of characters of an expression, and what it means."""

    start: int
    end: int
    meaning: Meaning

    @property
    def interval(self) -> TimeInterval | None:
        return self.meaning.interval

    @property
    def day(self) -> datetime | None:
        """The day that the expression is, or none."""
        return self.meaning.interval.start if self.meaning.interval and self.is_a("day") else None

    @property
    def is_unread(self) -> bool:
        """Whether the expression is a date that may be any of several days."""
        return self.meaning.kind == "date" and self.interval is None and self.meaning.later is None

    @property
    def is_yearless(self) -> bool:
        """Whether the words name no year."""
        return self.meaning.yearly is not None or bool(self.meaning.choices) or bool(self.meaning.number)

    def is_a(self, *granularities: str) -> bool:
        """Return whether the expression has an interval of one of the granularities."""
        return self.interval is not None and self.interval.granularity in granularities


def possible(read: Callable[P, R], *args: P.args, **kwargs: P.kwargs) -> R | None:
    """Call a function; return None where the result is outside of the calendar: 31 June, or a day of year 99999."""
    try:
        return read(*args, **kwargs)
    except (ValueError, OverflowError):
        return None


def span_of(match: Match) -> tuple[int, int]:
    """Return the range of the expression in a match, without the words around it."""
    return match.span("x") if "x" in match.re.groupindex else match.span()


def told_in(match: Match) -> dict[str, str]:
    """Return the words in the slots of a match, by slot, of those that are filled."""
    return {name: word for name, word in match.groupdict().items() if word is not None}


def direction_of(match: Match, ctx: Context) -> int:
    """Return how its sentence looks at the expression in a match."""
    return ctx.direction(*span_of(match))


# ---- Days


def _this_day(match: Match, ctx: Context, ahead: int) -> datetime:
    """Return the day of today: before 4 o'clock the one that has not ended, unless the sentence looks ahead."""
    return ctx.today if direction_of(match, ctx) >= ahead else ctx.waking_day


def day(match: Match, ctx: Context) -> Reading:
    """Read "yesterday", and "last night" with its part of the day."""
    words = told_in(match)
    if "day_part" in words:
        distance, part = ctx.words.day_parts.of(words["day_part"])
        first = ctx.today if distance or part == "morning" else _this_day(match, ctx, 0)
        return Meaning(part_of_day(first + distance * DAY, part), "part")
    distances = ctx.words.days.of(words["named_day"])
    if len(distances) == 1:
        return calendar.day(ctx.today + distances[0] * DAY if distances[0] else _this_day(match, ctx, AHEAD))
    direction = direction_of(match, ctx)
    if not direction or ctx.grammar.since_after(ctx.folded, match.end()):
        return None  # "since yesterday" or "from tomorrow on"
    return calendar.day(ctx.today + (1 if direction > 0 else -1) * abs(distances[0]) * DAY)


def so_far(match: Match, ctx: Context) -> TimeInterval | None:
    """Read "earlier this week": up to today, "later this week": from tomorrow on; "later today": from now on."""
    if match["unit"] == "today":
        edges = (ctx.today, ctx.now) if match["edge"] == "earlier" else (ctx.now, ctx.today + DAY)
        return calendar.span(*edges)
    unit = calendar.unit(match["unit"], ctx.today)
    edges = (unit.start, ctx.today) if match["edge"] == "earlier" else (ctx.today + DAY, unit.end)
    return calendar.span(*edges) or calendar.day(ctx.today)


# ---- Last, this and next


def unit_of(word: str, ctx: Context) -> tuple[str, int]:
    """Return the unit of the calendar that a word means, and how many of them: "fortnight" is two weeks."""
    name = ctx.words.units.of(word)
    return ("week", 2) if name == "fortnight" else (name, 1)


def phrase(match: Match, ctx: Context) -> TimeInterval:
    unit, count = ctx.words.phrases.of(match["phrase"])
    whole = shifted(unit, ctx.today, count)
    short = told_in(match).get("weekday")
    return whole if short is None else calendar.day(whole.start + ctx.words.weekdays.of(short) * DAY)


def shifted(unit: str, moment: datetime, count: int) -> TimeInterval:
    """Return the unit of the calendar so many units after the one that contains a moment."""
    return calendar.unit(unit, calendar.step(unit, moment, count))


def relative_time(match: Match, ctx: Context) -> Reading:
    """Read "last Friday", "next month", "this spring", "the week before last"."""
    words = told_in(match)
    name = ctx.words.relatives.of(words["relative"])
    which = RELATIVES[name]
    if "unit" in words:
        unit, _ = unit_of(words["unit"], ctx)
        # "nesse dia" is the day that was spoken of
        return None if which == 0 and unit == "day" else _relative_unit(unit, which, name, ctx)
    if "weekday" in words:
        weekday = ctx.words.weekdays.of(words["weekday"])
        return Meaning(calendar.day(_relative_weekday(weekday, which, name, match, ctx)), "weekday")
    if "part" in words:
        part = part_of_day(ctx.today + which * DAY, ctx.words.parts.of(words["part"]))
        return Meaning(part, "part") if which <= 0 else None
    if words.get("month") in ctx.words.listed("ambiguous_months.verb") and not ctx.capital(match.start("month")):
        return None  # "this march" is a month with a capital letter only
    yearly = month_or_season(match, ctx)
    found = relative(which, yearly, ctx.today, direction_of(match, ctx))
    return Meaning(found, yearly=yearly if ctx.grammar.has_patterns else None)


def _relative_unit(unit: str, which: int, name: str, ctx: Context) -> TimeInterval:
    if unit == "weekend" and which == 1 and (name != "next" or "next_by_week" not in ctx.words.writing):
        coming = calendar.weekend(ctx.today)
        return coming if coming.start > ctx.today else calendar.weekend(ctx.today + WEEK)
    if unit == "week" and which == -1 and ctx.weekday == "recent" and "rolling_week" in ctx.words.writing:
        return calendar.days_of_week(ctx.today - WEEK)
    if unit in ("minute", "hour") and abs(which) == 1:  # "pendant la dernière heure": the 60 minutes up to now
        ends = sorted((ctx.now, calendar.step(unit, ctx.now, which)))
        return TimeInterval(ends[0], ends[1], "span")
    return shifted(unit, ctx.today, which)


def _relative_weekday(weekday: int, which: int, name: str, match: Match, ctx: Context) -> datetime:
    """Return the day of "last Friday"; that of a week where the language or the caller says so."""
    english = "next_by_week" in ctx.words.writing
    in_week = calendar.week(ctx.today).start + which * WEEK + weekday * DAY
    if which == 0:
        direction = direction_of(match, ctx)
        if not english:
            return nearest_weekday(weekday, direction, ctx)
        return in_week if in_week >= ctx.today or direction < 0 else calendar.weekday_after(ctx.today, weekday)
    of_week = (name.startswith("next") and english) or "weekday_by_week" in ctx.words.writing
    of_week = of_week or (ctx.weekday == "previous_week" and which < 0 and "recent" not in name)
    if of_week:
        return in_week
    further = (abs(which) - 1) * WEEK
    if which < 0:
        return calendar.weekday_before(ctx.today, weekday) - further
    coming = calendar.weekday_after(ctx.today, weekday) + further
    if which == 1 and coming - ctx.today == DAY and not english:
        raise ValueError("the next such weekday is tomorrow, which people call tomorrow")
    return coming


def nearest_weekday(weekday: int, direction: int, ctx: Context) -> datetime:
    """Return the day of a weekday: the last one looking back, else today or the next one."""
    if direction < 0:
        return calendar.weekday_before(ctx.today, weekday)
    return ctx.today if ctx.today.weekday() == weekday else calendar.weekday_after(ctx.today, weekday)


def next_workday(match: Match, ctx: Context) -> TimeInterval:
    return calendar.day(calendar.workday(ctx.today, 1 if match["which"] in ("next", "following") else -1))


WEDNESDAY = 2  # up to which "this weekend" may be the one before


def this_weekend(match: Match, ctx: Context) -> TimeInterval:
    """Read "at the weekend": the one of this week, or the one that just ended when the sentence looks back at it."""
    this = calendar.weekend(ctx.today)
    which = told_in(match).get("which", "")
    if this.start <= ctx.today:
        return this
    direction = direction_of(match, ctx) or (-1 if which not in ("", "this", "for the") else 1)
    over = direction < 0 and (which != "this" or ctx.today.weekday() <= WEDNESDAY)
    return calendar.weekend(ctx.today - WEEK) if over else this


# ---- Weekdays

LONGEST_WORD = 16  # characters before a weekday that hold the word before it
_LETTERS = re.compile("[a-z]+")


def weekday(match: Match, ctx: Context) -> Meaning:
    """Read a weekday: of a certain week only where its clause looks back or ahead."""
    named = ctx.words.weekdays.of(match["weekday"])
    direction = ctx.clause_direction(*span_of(match))
    known = direction or direction_of(match, ctx) > 0  # of the sentence, where it does not look back
    interval = calendar.day(nearest_weekday(named, direction, ctx)) if known else None
    return Meaning(interval, "weekday", weekday=named)


def bare_weekday(match: Match, ctx: Context) -> Meaning | None:
    """Read "Friday": the most recent where the tense looks back, else the next; weak where it may be part of a name."""
    start, end = match.span("x")
    sure = match["lead"] in ctx.words.listed("before.sure_day")
    known = None if match["many"] or ctx.before("named_before", start) else _is_weekday(match, ctx, sure=sure)
    if known is None:
        return None
    named = ctx.words.weekdays.of(match["weekday"])
    told = ctx.at("told", end)  # "he said Friday was hard"
    back = ctx.direction(start, end) < 0 and (told is not None or ctx.before("said_of", start, LONGEST_WORD) is None)
    if named == ctx.today.weekday() and not _is_another(match, ctx):
        found = ctx.today
    else:
        found = calendar.weekday_before(ctx.today, named) if back else calendar.weekday_after(ctx.today, named)
    owner = match["weekday"] in FULL_WEEKDAYS and ctx.at("owned", end) is not None  # "Thursday's session"
    complete = sure or ctx.complete(end) or owner
    return Meaning(calendar.day(found), "weekday", weak=not known or not complete, weekday=named)


def _is_weekday(match: Match, ctx: Context, *, sure: bool) -> bool | None:
    """Return whether a word is a weekday: None when it is none, False when only a time next to it would show it."""
    word, start = match["weekday"], match.start("x")
    if word not in ctx.words.listed("ambiguous_weekdays"):
        return True
    before = _LETTERS.findall(ctx.folded[max(0, start - LONGEST_WORD) : start])
    joined = ctx.folded[start - 1 : start] == "-"
    if before and (
        before[-1] in ctx.words.listed("no_weekday_after") or (joined and ctx.words.weekdays.get(before[-1]) is None)
    ):
        return None
    if ctx.at("listed_weekday", match.end()):
        return True
    inside = before and ctx.folded[start - 2] not in ".!?:\n"
    return sure or bool(inside and ctx.capital(start))


def _is_another(match: Match, ctx: Context) -> bool:
    """Return whether the name of today's weekday means another one: "on Friday we met", "see you on Friday"."""
    start, end = match.span("x")
    direction, led = ctx.direction(start, end), match["lead"] is not None
    if ctx.folded[max(0, start - LONGEST_WORD) : start].split()[-1:] in (["holiday"], ["was"]):
        return True
    return (direction == AHEAD and led) or (direction < 0 and (led or ctx.at("told", end) is not None))


def ago_by_name(match: Match, ctx: Context) -> Reading:
    """Read "two Saturdays ago", "five summers ago"."""
    many = int(ctx.words.quantity(match["count"]).low)
    if "season" in match.re.groupindex:
        return last(month_or_season(match, ctx), ctx.today, many)
    first = calendar.weekday_before(ctx.today, ctx.words.weekdays.of(match["weekday"]))
    return Meaning(calendar.day(first - (many - 1) * WEEK), "weekday")


# ---- Numbers of units

SIZES = {name: size for size, name in enumerate(("minute", "hour", "day", "week", "month", "year", "decade"))}
_NUMBER_AND_UNIT = re.compile(r"(.+?)[ \n-]*([a-z]+)\Z")


def amount_in(match: Match, ctx: Context) -> Amount:
    """Return the number of units in a match. Raise ValueError for figures that are no number of them."""
    words = told_in(match)
    if "amount" in words:
        words = told_in(ctx.amounts[match.start("amount")])
    if "amount_word" in words:
        unit, count = ctx.words.amounts.of(words["amount_word"])
        return Amount(unit, Quantity(count, count))
    if words["count"].startswith("0") and words["count"].isdecimal():
        raise ValueError(f"{words['count']!r} is no count but a year of two digits")
    found = _amount(words["count"], words["unit"], ctx)
    low, high = found.number.low, found.number.high
    if "half" in words or "half_after" in words:
        low, high = low + 0.5, high + 0.5
    if "or_two" in words:  # "a day or two ago"
        high = 2
    if "more" not in words:
        return Amount(found.unit, Quantity(low, high))
    split = _NUMBER_AND_UNIT.match(words["more"])
    more = _amount(split[1], split[2], ctx) if split else found
    if SIZES.get(more.unit, 0) <= SIZES.get(found.unit, 9):
        raise ValueError(f"{words['more']!r} does not go with {words['unit']!r}")
    return Amount(found.unit, Quantity(low, high), more)


def _amount(count: str, word: str, ctx: Context) -> Amount:
    (unit, times), many = unit_of(word, ctx), ctx.words.quantity(count)
    return Amount(unit, Quantity(many.low * times, many.high * times))


def counted(match: Match, ctx: Context, sign: int) -> Meaning:
    """Return a number of units counted from now: forward with sign 1, back with sign -1."""
    amount, moment = amount_in(match, ctx), ctx.now
    if amount.more:  # "3 weeks and 4 days ago"
        moment = calendar.step(amount.more.unit, moment, sign * int(amount.more.number.low))
    signed = Quantity(sign * amount.number.low, sign * amount.number.high)
    return Meaning(
        units_from(amount.unit, amount.number, moment, sign),
        amount=Amount(amount.unit, signed) if amount.number.exact and not amount.more else None,
    )


def ago(match: Match, ctx: Context) -> Meaning | None:
    """Read "two weeks ago", "two weeks back"; "a week back home" is none."""
    if told_in(match).get("back") == "back" and not ctx.complete(match.end()):
        return None
    return counted(match, ctx, -1)


def ago_to_the_day(match: Match, ctx: Context) -> TimeInterval | None:
    """Read "a year ago today", "exactly a year ago", "a week ago Friday", "a year ago this month"."""
    words, amount = told_in(match).get("to", ""), amount_in(match, ctx)
    known = ctx.words.weekdays.get(words)
    start = ctx.today if known is None else calendar.weekday_before(ctx.today, known)
    start -= DAY if words == "yesterday" else 0 * DAY
    then = calendar.step(_day_for_night(amount.unit), start, -int(amount.number.low))
    return calendar.unit(words if words in ("week", "weekend", "month") else "day", then)


def _day_for_night(unit: str) -> str:
    return "day" if unit == "night" else unit


def from_now(match: Match, ctx: Context) -> Reading:
    """Read "two weeks from now"; "two weeks from today" is a day."""
    amount = amount_in(match, ctx)
    if match["base"] == "today" and amount.number.exact:
        return calendar.day(calendar.step(_day_for_night(amount.unit), ctx.today, int(amount.number.low)))
    return counted(match, ctx, 1)


def within(match: Match, ctx: Context) -> TimeInterval | None:
    """Read "within two weeks": from today on, of hours from now on; a duration where the sentence looks back."""
    amount = amount_in(match, ctx)
    if amount.more or direction_of(match, ctx) < 0:
        return None
    start = ctx.now if amount.unit in ("minute", "hour") else ctx.today
    return calendar.span(start, calendar.step(amount.unit, start, int(amount.number.high)))


def ahead(match: Match, ctx: Context) -> Meaning | None:
    """Read "in two weeks", unless it is a duration ("I read it in two days", "best in ten years")."""
    start, end = span_of(match)
    if ctx.before("duration", start, 40) or ctx.at("soon", start):
        return None
    return None if ctx.direction(start, end) < 0 or not ctx.complete(end) else counted(match, ctx, 1)


def perhaps_ahead(match: Match, ctx: Context) -> Meaning | None:
    """Read "en dos días" where the sentence looks ahead: else it is how long something takes."""
    return counted(match, ctx, 1) if direction_of(match, ctx) > 0 else None


def perhaps_ago(match: Match, ctx: Context) -> Meaning | None:
    """Read a word for "ago" or "earlier" unless the sentence looks ahead."""
    return None if direction_of(match, ctx) > 0 else counted(match, ctx, -1)


def offset(match: Match, ctx: Context) -> Meaning | None:
    """Read "drei Tage vor", which counts from the day that is named after it."""
    words, side = told_in(match), ctx.words.sides.of(match["side"])
    one = "count" not in words and "amount_word" not in words
    amount = Amount(ctx.words.units.of(words["unit"]), Quantity(1, 1)) if one else amount_in(match, ctx)
    return Meaning(None, "amount", amount=amount, side=side) if amount.number.exact else None


def amount(match: Match, ctx: Context) -> Meaning:
    """Read "two weeks", which is no time but counts from the one beside it."""
    return Meaning(None, "amount", amount=amount_in(match, ctx))


def edge(match: Match, ctx: Context) -> TimeInterval:
    """Read "the month" in "the end of the month": this one, or the one before when the sentence looks back."""
    ended = match["edge"].startswith("end") and direction_of(match, ctx) < 0
    return shifted(match["unit"], ctx.today, -1 if ended else 0)


def rest(match: Match, ctx: Context) -> TimeInterval | None:
    """Read "the rest of the week": from today to its end."""
    if direction_of(match, ctx) < 0:
        return None
    if match["unit"] in ctx.words.listed("unit_groups.current"):
        return calendar.span(ctx.today, calendar.unit(match["unit"], ctx.today).end)
    return calendar.span(ctx.now, ctx.today + DAY)


def end(match: Match, ctx: Context) -> Reading:
    """Read "EOD", the day, and "EOW", "EOM", "EOY", the last third of the week, month or year."""
    name = ctx.words.table("ends")[" ".join(match["end"].split())]
    whole = calendar.unit(name, ctx.today)
    return Meaning(whole, "part") if name == "day" else third_of(whole, 2)


def _one_or_more(match: Match, ctx: Context) -> tuple[str, int]:
    if {"amount", "count"} & told_in(match).keys():
        found = amount_in(match, ctx)
        return _day_for_night(found.unit), int(found.number.high)
    unit, count = unit_of(match["unit"], ctx)
    return _day_for_night(unit), count


def rolling(match: Match, ctx: Context) -> TimeInterval | None:
    """Read "the past three weeks": up to today; of a range ("a few") the larger number, to leave nothing out."""
    unit, count = _one_or_more(match, ctx)
    until = ctx.now if unit in ("minute", "hour") else ctx.today
    if (unit, count) == ("week", 1):
        return calendar.days_of_week(until - WEEK)
    return calendar.span(calendar.step(unit, until, -count), until)


def coming(match: Match, ctx: Context) -> TimeInterval | None:
    """Read "the next few days": from tomorrow on, unless the sentence looks back ("the next two days were hard")."""
    unit, count = _one_or_more(match, ctx)
    if direction_of(match, ctx) < 0:
        return None
    first = ctx.now if unit in ("minute", "hour") else ctx.today + DAY
    return calendar.span(first, calendar.step(unit, first, count))


def lasting(match: Match, ctx: Context) -> TimeInterval | None:
    """Read "I've had it for three years": from the beginning of that unit until now."""
    begun = counted(match, ctx, -1).interval
    return begun and calendar.span(begun.start, ctx.now)


def later(match: Match, ctx: Context) -> Meaning:
    """Read "three days later", which counts from the expression before it and is vague without one."""
    amount, sign = amount_in(match, ctx), 1 if match["side"].startswith(("later", "after")) else -1
    exact = match["side"].endswith("that") and amount.unit == "week" and amount.number.exact

    def from_base(base: TimeInterval) -> TimeInterval | None:
        if exact and base.granularity == "day":  # "two weeks before that" is a day
            return calendar.day(base.start + sign * int(amount.number.low) * WEEK)
        return units_from(amount.unit, amount.number, base.start, sign)

    return Meaning(None, "later", later=from_base)


def following(match: Match, ctx: Context) -> Meaning | None:
    """Read "the next day", "the week before", "the Sunday after", after an expression that they count from."""
    if not ctx.complete(match.end()):
        return None
    words, back = told_in(match), match["side"] in ("previous", "before")

    def from_base(base: TimeInterval) -> TimeInterval | None:
        if "weekday" not in words:
            return units_from(ctx.words.units.of(words["unit"]), Quantity(1, 1), base.start, -1 if back else 1)
        named = ctx.words.weekdays.of(words["weekday"])
        found = calendar.weekday_before(base.start, named) if back else calendar.weekday_after(base.end - DAY, named)
        return calendar.day(found)

    return Meaning(None, "later", later=from_base, weak=True)


def vague(match: Match, ctx: Context) -> Meaning | None:
    """Return a vague meaning, unless a number stands before the words ("4 days ago" beside what was not read)."""
    return None if ctx.before("number_before", match.start()) else VAGUE


# ---- Dates

_NO_WORDS: SpelledTable[int] = SpelledTable({})
_YEARS = range(1500, 2200)
JUST_OVER = timedelta(days=3)  # how long ago a day of the month may be that is told in the present
_MONTH = timedelta(days=31)  # how long ago it may be where the sentence looks back
NEAR = timedelta(days=45)  # a weekday with a day of the month is hardly said of a day farther away
_GOES_ON = re.compile(r"[/.-]\d")


def year_number(match: Match, name: str = "year") -> int:
    """Return the year in a match; two digits are read within 1950 to 2049."""
    words = told_in(match)
    word = words.get("short_year") or words[name]
    if word[0] in "' " or len(word) == 2:
        return year_of_two_digits(int(word.lstrip("' ")))
    found = number(word, _NO_WORDS)
    if name == "year" and found not in _YEARS:
        raise ValueError(f"{found} is no year that people speak of")
    return found


def _names_year(match: Match) -> bool:
    words = told_in(match)
    return "year" in words or "short_year" in words


def month_or_season(match: Match, ctx: Context) -> Yearly:
    words = told_in(match)
    if "season" in words:
        first = ctx.words.seasons.of(words["season"])
        return lambda year: calendar.season(year, first)
    month = _month_number(match, ctx)
    return lambda year: calendar.month(year, month)


def _month_number(match: Match, ctx: Context) -> int:
    words = told_in(match)
    if "month" in words:
        return ctx.words.months.of(words["month"])
    found = number(words["number"], ctx.words.numbers)
    if not 1 <= found <= 12:
        raise ValueError(f"{found} is no month")
    return found


def _day_number(word: str, ctx: Context) -> int:
    """Return the day of the month that a word is: "15", "15th", "fifteenth"."""
    known = ctx.words.ordinals.get(word)
    return number(word.rstrip("stndrh") or word, ctx.words.numbers) if known is None else known


def _day_of_year(month: int, day: int) -> Yearly:
    return lambda year: calendar.day(datetime(year, month, day))


def _yearless(yearly: Yearly, match: Match, ctx: Context, *others: Yearly, weak: bool = False) -> Meaning:
    """Return a day without a year; `others` are other readings of its words, which only a weekday can show."""
    found = occurrences(yearly, ctx.today.year)
    start, end = span_of(match)
    if ctx.words.language.code != "en":  # its weekday stands in the form
        word, direction = told_in(match).get("weekday"), ctx.clause_direction(start, end)
        if word is None:
            return Meaning(nearest(yearly, ctx.today, direction), yearly=yearly, choices=tuple(found))
        agreeing = [each for each in found if each.start.weekday() == ctx.words.weekdays.of(word)]
        return Meaning(min(agreeing, key=lambda each: abs(each.start - ctx.today), default=None))
    choices = tuple(day for each in (yearly, *others) for day in occurrences(each, ctx.today.year))
    # "We made the booking for 3 May": the tense is that of the making.
    direction = PRESENT if ctx.folded.endswith("for ", max(0, start - 5), start) else ctx.direction(start, end)
    return Meaning(nearest(yearly, ctx.today, direction), yearly=yearly, choices=choices, weak=weak)


def _is_month(match: Match, ctx: Context) -> bool:
    """Return whether a month's name next to a number is one: in "5 may do" and "march 3 miles" it is a verb."""
    words = told_in(match)
    if words.get("month") not in ctx.words.listed("ambiguous_months.verb"):
        return True
    if "year" in words or "of" in words or not words["day"].isdigit():
        return True
    return ctx.capital(match.start("month")) and ctx.complete(match.end())


def date(match: Match, ctx: Context) -> Reading:
    """Read "9 June 2023", "June 9th", "the fifth of May", "last June 9th", "2017 April 9", and "2023-06-09T16:30"."""
    if not _is_month(match, ctx):
        return None
    words, month, day = told_in(match), _month_number(match, ctx), _day_number(match["day"], ctx)
    if _names_year(match):
        found = datetime(year_number(match), month, day)
        if "hour" in words:
            return calendar.minute(found + timedelta(hours=int(words["hour"]), minutes=int(words["minute"])))
        return calendar.day(found)
    yearly = _day_of_year(month, day)
    if "relative" in words:
        which = RELATIVES[ctx.words.relatives.of(words["relative"])]
        return Meaning(relative(which, yearly, ctx.today, direction_of(match, ctx)), yearly=yearly)
    return _yearless(yearly, match, ctx)


def dates(match: Match, ctx: Context) -> Meaning | None:
    """Read "3-9 June" and "the 3rd and 4th of June"; "3 and 9 June" are not adjacent days and no interval."""
    month, first, last = _month_number(match, ctx), _day_number(match["day"], ctx), _day_number(match["last"], ctx)
    if not _is_month(match, ctx) or (match["and"] and last != first + 1 and not match["between"]):
        return None

    def yearly(year: int) -> TimeInterval | None:
        return calendar.span(datetime(year, month, first), datetime(year, month, last) + DAY)

    return Meaning(yearly(year_number(match))) if _names_year(match) else _yearless(yearly, match, ctx)


def numeric(match: Match, ctx: Context) -> Reading:
    """Read a date in figures; one that may be either of two days has no interval, and only a weekday shows it.

    Two numbers are weak without a word before them that makes them a date: they may be a fraction or a score.
    """
    words = told_in(match)
    if "figures" in words:
        found = date_in_figures(words["figures"], ctx.date_order) or _of_today(words["figures"], ctx)
        return Meaning(None if found is None else calendar.day(found))
    if "year" in words:
        return date(match, ctx)
    if _GOES_ON.match(ctx.folded, match.end()):
        return None  # a part of a longer number
    first, second = int(words.get("day") or words["first"]), int(words.get("number") or words["second"])
    dotted = "." in ctx.folded[slice(*span_of(match))]
    known = month_and_day(first, second, ctx.date_order, dotted=dotted, yearless=True)
    month, day = known or (first, second)
    if ctx.words.language.code != "en":
        return _yearless(_day_of_year(month, day), match, ctx) if known else Meaning()
    others = (_day_of_year(day, month),) if max(month, day) <= 12 else ()
    weak = "lead" not in words or (words["lead"] in ("of", "from") and day <= 12)
    read = _yearless(_day_of_year(month, day), match, ctx, *others, weak=weak)
    return read if known else replace(read, interval=None, yearly=None)


def _of_today(figures: str, ctx: Context) -> datetime | None:
    """Return today where figures that may be either of two days are today in one order: "notes 11/06/25"."""
    return ctx.today if ctx.today in (date_in_figures(figures, "dmy"), date_in_figures(figures, "mdy")) else None


def numeric_range(match: Match, ctx: Context) -> Meaning | None:
    """Read "30.11.-04.12.", the day first, and "6/16-6/27" where a number above 12 shows that both are dates."""
    months, days = [int(match["first"]), int(match["last"])], [int(match["first_day"]), int(match["last_day"])]
    if "/" in match[0] and max(days) <= 12:
        return None

    def yearly(year: int) -> TimeInterval | None:
        start, end = (datetime(year, month, day) for month, day in zip(months, days, strict=True))
        return calendar.span(start, (end if end >= start else end.replace(year=year + 1)) + DAY)

    return _yearless(yearly, match, ctx)


def _days_numbered(number: int, ctx: Context, reach: int) -> list[TimeInterval]:
    """Return the days with a number in the months around today, so many on each side, in order."""
    firsts = [calendar.first_of_month(ctx.today.year, ctx.today.month + each) for each in range(-reach, reach + 1)]
    days = [first + (number - 1) * DAY for first in firsts]
    return [calendar.day(day) for day, first in zip(days, firsts, strict=True) if day.month == first.month]


def number_of_month(match: Match, ctx: Context) -> TimeInterval:
    """Read "the 15th of last month", "the first of the month"."""
    months = {"last": -1, "next": 1}.get(match["which"] or "", 0)
    month = calendar.shift_months(ctx.today.replace(day=1), months)
    return calendar.day(month.replace(day=_day_number(match["day"], ctx)))


def weekday_and_number(match: Match, ctx: Context) -> Meaning | None:
    """Read "Sat 14th": the next day on which both agree, or the last one where the sentence looks back."""
    weekday = ctx.words.weekdays.of(match["weekday"])
    if match["weekday"] == "sat" and match["before"] in ctx.words.listed("no_weekday_and_day_after"):
        return None  # "we sat 3rd from the front"
    numbered = _days_numbered(_day_number(match["day"], ctx), ctx, 3)
    choices = [day for day in numbered if day.start.weekday() == weekday]
    past = [day for day in choices if day.start <= ctx.today]
    coming = [day for day in choices if day.start >= ctx.today]
    sides = [*past[-1:], *coming[:1]] if direction_of(match, ctx) == BACK else [*coming[:1], *past[-1:]]
    # The other side where it alone is near: "the fair was lovely, Sat 3rd" without a word of the past.
    near = [day for day in sides if abs(day.start - ctx.today) <= NEAR]
    return Meaning((near or sides)[0]) if sides else None


LONGEST_LIST_STEP = 32  # characters before a day of a list that hold the day before it


def listed_number(match: Match, ctx: Context) -> Meaning | None:
    """Read "11th" in "on the 9th, 11th and 14th": the first such day after the one before it in the list."""
    before = ctx.before("number_of_list", match.start(), LONGEST_LIST_STEP)
    if before is None or before["between"] or not ctx.complete(match.end()):
        return None
    previous, number = int(before["day"]), _day_number(match["day"], ctx)

    def later(base: TimeInterval) -> TimeInterval | None:
        if base.granularity != "day" or base.start.day != previous:
            return None
        month = base.start if number > previous else calendar.shift_months(base.start, 1)
        return calendar.day(month.replace(day=number))

    return Meaning(None, "later", later=later, weak=True)


def bare_number(match: Match, ctx: Context) -> Meaning | None:
    """Read "the 15th", the nearest that the tense allows; weak where it may count something else."""
    (start, end), word, lead = match.span("x"), match["day"], match["lead"]
    if not word[0].isdigit() and ctx.at("part_follows", end):
        return None  # "on the second night"
    choices = _days_numbered(_day_number(word, ctx), ctx, 3)
    led = lead is not None and (word[0].isdigit() or lead in ctx.words.listed("before.sure_day"))
    led = led or (word[0].isdigit() and ctx.rescheduled(start, end))
    weak = not led or not ctx.complete(end)
    # "My exam's the 27th and I've read nothing": what is said of a day in the present is true of it.
    direction = PRESENT if lead in ("is", "'s") else ctx.direction(start, end) or PRESENT
    coming = next((day for day in choices if day.start >= ctx.today - JUST_OVER), None)
    reading = coming if direction == PRESENT else nearest_of(choices, ctx.today, direction)
    return Meaning(reading, weak=weak, choices=tuple(choices), number=_day_number(word, ctx))


def numbered_day(match: Match, ctx: Context) -> Meaning | None:
    day = number(match["day"], ctx.words.numbers)
    if not 1 <= day <= 31 or _GOES_ON.match(ctx.folded, match.end()):
        return None
    return Meaning(number=day, choices=_near_days(day, ctx))


def _near_days(number: int, ctx: Context) -> tuple[TimeInterval, ...]:
    """Return the days with a number that may stand beside a weekday, the nearest first."""
    near = [day for day in _days_numbered(number, ctx, 6) if abs(day.start - ctx.today) <= NEAR]
    return tuple(sorted(near, key=lambda day: abs(day.start - ctx.today)))


def sure_number(match: Match, ctx: Context) -> Meaning | None:
    day = number(match["day"], ctx.words.numbers)
    earliest = ctx.today - (_MONTH if direction_of(match, ctx) < 0 else JUST_OVER)
    found = [each for each in _days_numbered(day, ctx, 6) if each.start >= earliest]
    if _GOES_ON.match(ctx.folded, match.end()) or not found:
        return None
    return Meaning(found[0], number=day, choices=_near_days(day, ctx))


# dateparser gets only what a form matched, a day, one word, a year: it is imported at the first such match.
LANGUAGES = ["fr", "de", "es", "it", "pt", "nl", "pl", "sv", "ru", "tr", "da", "nb", "fi", "cs", "ro", "uk"]
LONGEST = 64  # characters of a match that dateparser gets
PARSES = 16  # matches per text that dateparser gets


def foreign(match: Match, ctx: Context) -> TimeInterval | None:
    """Read a full date in one of LANGUAGES; a word between two numbers that is no month is no date."""
    words = ctx.words
    if any(table.get(match["month"]) is not None for table in (words.months, words.units, words.numbers)):
        return None
    import dateparser  # noqa: PLC0415  its import takes 0.2 s

    found = dateparser.parse(
        match.group()[:LONGEST],
        languages=LANGUAGES,
        settings={"RELATIVE_BASE": ctx.now, "STRICT_PARSING": True, "DATE_ORDER": "DMY", "PARSERS": ["absolute-time"]},
    )
    return None if found is None else calendar.day(datetime(found.year, found.month, found.day))


# ---- Months, seasons, years


def month_of_year(match: Match, ctx: Context) -> TimeInterval | None:
    return month_or_season(match, ctx)(year_number(match))


def month_in_tense(match: Match, ctx: Context) -> Meaning:
    yearly = month_or_season(match, ctx)
    return Meaning(nearest_month(yearly, ctx.today, direction_of(match, ctx)), yearly=yearly)


_AGAINST_TENSE = 3


def nearest_month(yearly: Yearly, today: datetime, direction: int) -> TimeInterval | None:
    """Return the occurrence that begins nearest to today; against the tense it must be three times as near."""
    found = [interval for year in (-1, 0, 1) if (interval := yearly(today.year + year)) is not None]

    def distance(interval: TimeInterval) -> tuple[float, bool]:
        days = (interval.start - today).days
        against = days * direction < 0 and not interval.start <= today < interval.end
        return abs(days) * (_AGAINST_TENSE if against else 1), against

    return min(found, key=distance)


def bare_month(match: Match, ctx: Context) -> Meaning | None:
    """Read a month by its name; weak when nothing shows that the word is a month."""
    word, lead, (start, end) = match["month"], match["lead"], match.span("x")
    listed = ctx.words.listed
    if ctx.before("named_before", start) or (word in listed("ambiguous_months.name") and ctx.at("does", end)):
        return None
    yearly = month_or_season(match, ctx)
    reading = Meaning(nearest(yearly, ctx.today, ctx.direction(start, end)), yearly=yearly)
    certain, capital = lead in listed("before.certain_month"), ctx.capital(start)
    led = certain or (lead is not None and capital)
    if word not in FULL_MONTHS:
        led = led and word not in listed("ambiguous_months.verb")
        return replace(reading, weak=not led or not ctx.complete(end))
    if word not in listed("ambiguous_months.name"):
        return replace(reading, weak=lead in ("in", "during") and ctx.habitual(start, end))
    alone = certain and (capital or word not in listed("ambiguous_months.word"))
    return replace(reading, weak=not led or not (alone or ctx.complete(end)))


def bare_season(match: Match, ctx: Context) -> Meaning | None:
    """Read "in the summer": only where the sentence looks back or ahead."""
    direction = direction_of(match, ctx)
    if ctx.habitual(*match.span()) or abs(direction) <= PRESENT:
        return None  # "in the winter I love skiing"
    yearly = month_or_season(match, ctx)
    return Meaning(nearest(yearly, ctx.today, direction), yearly=yearly, weak=not ctx.complete(match.end()))


def quarter(match: Match, ctx: Context) -> Meaning:
    """Read "Q3 2022", "Q3" and "H1 2025"."""
    months, name = (3, "quarter") if "quarter" in match.re.groupindex else (6, "half")
    first = months * int(match[name]) - months + 1

    def yearly(year: int) -> TimeInterval | None:
        return calendar.span(calendar.first_of_month(year, first), calendar.first_of_month(year, first + months))

    if _names_year(match):
        return Meaning(yearly(year_number(match)))
    return Meaning(nearest(yearly, ctx.today, direction_of(match, ctx)), yearly=yearly)


LONGEST_RANGE = 100  # years of a range


def year(match: Match, ctx: Context) -> TimeInterval | None:
    """Read "in 2016", "in '16", unless a noun follows that the number counts ("in 2016 steps")."""
    return None if ctx.at("counts", match.end("year")) else calendar.year(year_number(match))


def years(match: Match, ctx: Context) -> TimeInterval | None:
    """Read "from 2014 to 2018", both years included."""
    first, last = int(match["first"]), int(match["last"])
    if ctx.at("counts", match.end("last")) or last - first > LONGEST_RANGE:
        return None
    return calendar.span(datetime(first, 1, 1), datetime(last + 1, 1, 1))


def decade(match: Match, ctx: Context) -> TimeInterval | None:
    """Read "the 90s", "the 1990s", "the nineties"; a short form is the latest decade that has begun.

    "The 1800s" and "the 1900s" are centuries, "the 2000s" are a decade.
    """
    word = match["decade"]
    number = ctx.words.table("decades").get(word) or int(word)
    if number >= 100:
        if number % 100 or number >= 2000:
            return calendar.decade(number)
        return calendar.span(datetime(number, 1, 1), datetime(number + 100, 1, 1))
    if ctx.grammar.pattern("degrees").search(ctx.folded, *ctx.sentence(*match.span())):
        return None
    century = ctx.today.year - ctx.today.year % 100
    return calendar.decade(century + number - (100 if century + number > ctx.today.year else 0))


def third(match: Match, ctx: Context) -> Meaning | None:
    """Read "Anfang Mai", "fin 2022"."""
    index, words = ctx.words.thirds.of(match["third"]), told_in(match)
    if "unit" in words:
        whole: TimeInterval | None = calendar.unit(ctx.words.units.of(words["unit"]), ctx.today)
    elif "year" in words:
        whole = month_of_year(match, ctx)
    else:
        month = month_or_season(match, ctx)
        whole = nearest_month(month, ctx.today, ctx.direction(*match.span()))

        def yearly(year: int) -> TimeInterval | None:
            of_year = month(year)
            return third_of(of_year, index) if of_year else None

        return Meaning(third_of(whole, index) if whole else None, yearly=yearly)
    return None if whole is None else Meaning(third_of(whole, index))


def nth(match: Match, ctx: Context) -> Meaning:
    """Read "das letzte Wochenende im Juni", "la segunda mitad de octubre"."""
    words, n = told_in(match), ctx.words.ordinals.of(match["ordinal"])
    month = month_or_season(match, ctx)
    if "half_of" in words:
        name: str | int = "half"
    else:
        name = ctx.words.weekdays.of(words["weekday"]) if "weekday" in words else ctx.words.units.of(words["unit"])

    def yearly(year: int) -> TimeInterval | None:
        whole = month(year)
        return nth_part(whole, n, name) if whole else None

    if "year" in words:
        return Meaning(yearly(year_number(match)))
    return Meaning(nearest(yearly, ctx.today, ctx.direction(*match.span())), yearly=yearly)


# ---- Holidays

MONDAY = 0
DayOfYear = Callable[[int], datetime]
SOON = timedelta(days=14)  # a holiday that is so near is meant as a day even without a word that makes it one
SURELY = timedelta(days=35)  # how near a holiday is of which no verb tells which one is meant
NEAR_ONE = timedelta(days=7)  # how near one of two days of the same name is when it is the one that is meant
_NEAR_HOLIDAY, _YEAR = timedelta(days=21), timedelta(days=200)


def day_of_year(rule: str) -> DayOfYear:
    """Return the function from a year to the day of a rule in `holidays.toml`, which explains the four forms."""
    words = rule.split()
    if words[0] == "easter":
        return lambda year: calendar.easter(year) + int(words[1]) * DAY
    if len(words) == 1:
        month, day = map(int, rule.split("-"))
        return lambda year: datetime(year, month, day)
    month, weekday, n = int(words[0]), FULL_WEEKDAYS[words[1]], int(words[2])
    days_after = int(words[3]) if len(words) > 3 else 0
    return lambda year: calendar.nth_weekday(year, month, weekday, n) + days_after * DAY


ELSEWHERE = {name: rule for rule, names in ENGLISH.lists("holidays.elsewhere").items() for name in names}


def _holiday(rule: str, *, weekend: bool) -> Yearly:
    """Return the day of a holiday by year, or its weekend: the one before a Monday, else that of its ISO week."""
    start = day_of_year(rule)
    if not weekend:
        return lambda year: calendar.day(start(year))
    return lambda year: calendar.weekend(start(year) - (DAY if start(year).weekday() == MONDAY else 0 * DAY))


def holiday(match: Match, ctx: Context) -> Meaning | None:
    """Read "an Ostern", "Natale 2023"; without a year where it is near, or a verb shows which is meant."""
    yearly = _holiday(ctx.words.holidays.of(match["holiday"]), weekend=False)
    if _names_year(match):
        return Meaning(yearly(year_number(match)))
    direction = ctx.clause_direction(*match.span())
    day = nearest(yearly, ctx.today, direction)
    near = day is not None and abs(day.start - ctx.today) <= (_YEAR if direction else _NEAR_HOLIDAY)
    return Meaning(day, yearly=yearly) if near else None


def named_holiday(match: Match, ctx: Context) -> Meaning | None:
    """Read "at Christmas", "last Easter", "Thanksgiving 2022", "Labor Day weekend"."""
    name, words, (start, end) = " ".join(match["holiday"].split()), told_in(match), match.span("x")
    if name in ELSEWHERE:
        return _one_of_two(name, match, ctx)
    yearly = _holiday(ctx.words.holidays.of(name), weekend="weekend" in words)
    if "year" in words:
        return Meaning(yearly(year_number(match)))
    if words.get("lead") == "in the":
        return None  # "in the New Year" is some time after it
    direction = ctx.direction(start, end)
    weak = not ("weekend" in words or ctx.complete(match.end()) or ctx.at("is_on_day", match.end()))
    if "relative" in words:
        which = RELATIVES[ctx.words.relatives.of(words["relative"])]
        return Meaning(relative(which, yearly, ctx.today, direction), yearly=yearly, weak=weak)
    near = nearest(yearly, ctx.today, direction)
    # "I hate Christmas", "Christmas is a lot of work"
    general = "article" in words or ctx.before("opinion", start, LONGEST_WORD) or ctx.at("judged", match.end())
    soon = near is not None and ctx.today <= near.start <= ctx.today + SOON and not general
    unsure = words.get("lead") == "at" and direction in (0, PRESENT) and near and abs(near.start - ctx.today) > SURELY
    led = "lead" in words or "weekend" in words or soon
    return Meaning(near, yearly=yearly, weak=weak or bool(unsure) or not led or ctx.habitual(start, end))


def _one_of_two(name: str, match: Match, ctx: Context) -> Meaning | None:
    """Read "Mother's Day", which differs by country: the one of the two days that is near, alone or nearer."""
    if {"article", "year", "relative"} & told_in(match).keys() or ctx.habitual(*match.span("x")):
        return None
    days = [day_of_year(rule)(ctx.today.year) for rule in (ctx.words.holidays.of(name), ELSEWHERE[name])]
    near = [start for start in days if abs(start - ctx.today) <= NEAR_ONE]
    return Meaning(calendar.day(near[0]), weak=not ctx.complete(match.end())) if len(near) == 1 else None


# ---- Times of day

_AFTERNOON = ("afternoon", "evening", "night")
_OFFSETS = {"half": 30, "quarter": 15, "quarter_to": -15, "half_to": -30}  # minutes
_AWAKE_FROM = 7  # the hour before which one without a part of the day is in the afternoon, when people are awake
_SURE_FROM = 8  # the hour from which on a clock of twelve hours is read as it stands
LONGEST_LEAD = 16  # characters


def part(match: Match, ctx: Context) -> Meaning:
    return Meaning(part=ctx.words.parts.of(match["part"]))


def clock(match: Match, ctx: Context) -> Meaning | None:
    """Read "14h30", "um halb acht", which are a time beside a day only."""
    words = told_in(match)
    hour = number(words["hour"], ctx.words.numbers)
    minutes = int(words.get("minute", 0)) + sum(count for name, count in _OFFSETS.items() if name in words)
    part = ctx.words.parts.of(words["part"]) if "part" in words else ""
    if hour > 24:
        return None
    if hour < 12 and (part in _AFTERNOON or (not part and 0 < hour < _AWAKE_FROM and "minute" not in words)):
        hour += 12
    sure = bool(part) or "minute" in words or hour >= _SURE_FROM
    return Meaning(None, "clock", clock=Clock((60 * hour + minutes) % (2 * HALF_DAY), sure=sure))


def _lead(match: Match, ctx: Context) -> str | None:
    """Return the word before a time of day that makes it one: "at", "by"."""
    found = ctx.before("clock_lead", span_of(match)[0], LONGEST_LEAD)
    return " ".join((found["lead"] or "at").split()) if found else None


def _hour_number(word: str, ctx: Context) -> int:
    found = number(word, ctx.words.numbers)
    if found > 24:
        raise ValueError(found)
    return found


def _minutes(hour: int, minute: str | None, half: str) -> int:
    """Return the minutes of a clock with "am" or "pm"."""
    if not 1 <= hour <= 12:
        raise ValueError(hour)
    afternoon = half.startswith("p") or half.endswith(_AFTERNOON)
    return (hour % 12 + 12 * afternoon) * 60 + int(minute or 0)


def _time_of_day(clock: Clock, match: Match, ctx: Context) -> Meaning:
    """Return a time of day that counts as today's, or the coming one, when no day is next to it.

    It is none after a word that makes it a bound ("after 7 pm", "before noon"), which tells a habit.
    """
    direction, day = ctx.direction(*match.span()), ctx.today
    lead = _lead(match, ctx)
    alone = lead in ctx.words.listed("before.clock_alone") or (lead == "since" and direction <= 0)
    alone = alone or (lead is None and ctx.complete(match.end()))
    if not alone or ctx.habitual(*match.span()):
        return Meaning(None, "clock", clock=clock)
    over = clock.minutes <= ctx.now.hour * 60 + ctx.now.minute
    if direction == BACK and not over:
        day -= DAY
    elif over and (direction == AHEAD or (direction != BACK and clock.minutes == 0)):
        day += DAY
    return Meaning(clock.on(day), "clock", clock=clock)


def time_of_day(match: Match, ctx: Context) -> Meaning | None:
    """Read "4 pm", "16:30", "noon", "half past three", "seven o'clock", "at 7"."""
    words = told_in(match)
    half = " ".join(words.get("meridiem", "").split())
    if "named_hour" in words:
        clock = Clock(ctx.words.table("named_hours")[words["named_hour"]] * 60)
        return _time_of_day(clock, match, ctx) if _lead(match, ctx) else Meaning(None, "clock", clock=clock)
    hour = _hour_number(words["hour"], ctx)
    if "offset" in words:
        return _spoken(words, hour, half, match, ctx)
    if half:
        if not words["hour"].isdigit() and _lead(match, ctx) is None and " " in half:
            return None  # "take one in the morning"
        return _time_of_day(Clock(_minutes(hour, words.get("minute"), half), given=True), match, ctx)
    if "full" in words:
        return _in_figures(words, hour % 24, match, ctx)
    clock = _full_hour(hour, match, ctx)
    return _time_of_day(clock, match, ctx) if "o_clock" in words else Meaning(None, "clock", clock=clock)


def _in_figures(words: dict[str, str], hour: int, match: Match, ctx: Context) -> Meaning:
    """Read "16:30" and "17h30"; without am or pm hours 1 to 6 are read as pm, when people are awake."""
    minute = int(words.get("minute", 0))
    sure = hour > 12 or words["hour"].startswith("0") or hour == 0
    if not sure:
        hour = _awake(hour, match, ctx) or (hour + 12 if hour < 7 else hour)
    clock = Clock(hour * 60 + minute)
    if not _lead(match, ctx):
        return Meaning(None, "clock", clock=clock)
    alone = clock if sure or direction_of(match, ctx) != BACK else _most_recent(clock, ctx)
    return replace(_time_of_day(alone, match, ctx), clock=clock)


def _most_recent(clock: Clock, ctx: Context) -> Clock:
    """Return the one of am and pm that was last: "they rang at 3:12", said in the morning."""
    now = ctx.now.hour * 60 + ctx.now.minute
    both = (clock, Clock((clock.minutes + HALF_DAY) % (2 * HALF_DAY)))
    return min(both, key=lambda each: (now - each.minutes) % (2 * HALF_DAY))


def _spoken(words: dict[str, str], hour: int, half: str, match: Match, ctx: Context) -> Meaning:
    """Read "half past three", "quarter to five", "ten to six"."""
    sign = -1 if words.get("way") in ("to", "before") else 1
    minutes = ctx.words.table("minutes_of_offsets")[words["offset"]] * sign
    if half:
        minutes += _minutes(hour, None, half)
    else:
        hour %= 12
        minutes += 60 * (_awake(hour, match, ctx) or (hour + 12 if hour < 7 else hour))
    clock = Clock(minutes % (2 * HALF_DAY))
    sure = _lead(match, ctx) or half or words["offset"] in ("half", "quarter")
    return _time_of_day(clock, match, ctx) if sure else Meaning(None, "clock", clock=clock)


def _full_hour(hour: int, match: Match, ctx: Context) -> Clock:
    """Return the clock of a full hour without am or pm: 1 to 6 are pm, 7 to 9 what the sentence is about."""
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
    if ctx.grammar.pattern("in_the_morning").search(ctx.folded, *clause):
        return hour
    return hour + 12 if ctx.grammar.pattern("in_the_evening").search(ctx.folded, *clause) else None


def hours(match: Match, ctx: Context) -> Meaning:
    """Read "2-4 pm", "from 9:30 to 11:00", "10 am to noon"; a time only next to a day."""
    words, named = told_in(match), ctx.words.table("named_hours")
    last_word, half = words["last"], words.get("last_meridiem", "")
    bare = not half and "meridiem" not in words and last_word not in named
    if last_word in named:
        last = named[last_word] * 60 or 2 * HALF_DAY
    elif half:
        last = _minutes(_hour_number(last_word, ctx), words.get("last_minute"), half)
    else:
        last = _hour_number(last_word, ctx) % 24 * 60 + int(words.get("last_minute", 0))
    if "meridiem" in words:
        first = _minutes(_hour_number(words["hour"], ctx), words.get("minute"), words["meridiem"])
    else:
        first = _hour_number(words["hour"], ctx) % 24 * 60 + int(words.get("minute", 0))
        if not bare:  # "11-1 pm" begins in the morning, "2-4 pm" in the afternoon
            first = max((at for at in (first % HALF_DAY, first % HALF_DAY + HALF_DAY) if at < last), default=first)
    if bare and "00" not in (words["hour"], last_word):
        if first < 7 * 60 and not words["hour"].startswith("0"):
            first += HALF_DAY  # "from 2:00 to 4:30"
        if last <= first and last < HALF_DAY:
            last += HALF_DAY
    if last <= first:
        last += 2 * HALF_DAY  # "from 10 pm to 7 am"
    return Meaning(None, "clock", clock=Clock(first, until=last))


Read = Callable[[Match, Context], Reading]
# Of two forms that match the same words the earlier reader wins.
READERS: Mapping[str, Read] = {
    "day": day, "so_far": so_far, "phrase": phrase, "relative": relative_time, "next_workday": next_workday,
    "this_weekend": this_weekend, "ago": ago, "perhaps_ago": perhaps_ago, "ahead": ahead,
    "perhaps_ahead": perhaps_ahead,
    "bare_weekday": bare_weekday, "ago_by_name": ago_by_name, "within": within, "ago_to_the_day": ago_to_the_day,
    "since_then": ago, "from_now": from_now, "edge": edge, "rest": rest, "end": end, "rolling": rolling,
    "coming": coming, "lasting": lasting, "later": later, "following": following, "weekday": weekday, "part": part,
    "iso": date, "date": date, "dates": dates, "numeric": numeric, "numeric_range": numeric_range, "written": date,
    "weekday_and_number": weekday_and_number, "listed_number": listed_number, "number_of_month": number_of_month,
    "bare_number": bare_number, "month": month_of_year, "season": month_of_year, "bare_month": month_in_tense,
    "month_name": bare_month, "season_name": bare_season, "quarter": quarter, "half": quarter,
    "bare_season": lambda match, ctx: Meaning(yearly=month_or_season(match, ctx)),
    "third": third, "year": year, "years": years, "decade": decade, "holiday": holiday, "named_holiday": named_holiday,
    "nth": nth, "offset": offset, "amount": amount, "sure_number": sure_number,
    "number": numbered_day, "bare_weekend": this_weekend,
    "clock": clock, "time_of_day": time_of_day, "hours": hours, "vague": vague, "foreign": foreign,
    "none": lambda _, __: Meaning(),
}  # fmt: skip
NO_TIMES_ALONE = frozenset(("part", "clock", "number", "bare_season", "none", "offset", "amount"))
MOST = {"foreign": PARSES}  # matches of a reader that are read in one text
