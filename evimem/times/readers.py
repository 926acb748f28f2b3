"""The readers of the forms of a language: a reader returns the meaning of a match, or None for no time.

An interval is as precise as its words: "two months ago" is a month, "ten years ago" a year, "a few days ago" a range of
days. A meaning that the words alone do not show has no interval: the text beside them may give it one.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from datetime import datetime, time, timedelta
from typing import Literal, TypeVar

from dateutil.easter import easter

from ..types.type_variables import P
from . import calendar
from .calendar import DAY, HALF_DAY, WEEK, Clock, TimeInterval, nth_part, part_of_day, third_of, units_from
from .context import (
    AHEAD,
    BACK,
    PERHAPS_BACK,
    PRESENT,
    Context,
    Yearly,
    current_season,
    nearest_occurrence,
    occurrences_around_year,
    relative_occurrence,
)  # fmt: skip
from .date_order import date_in_figures, month_and_day, year_of_two_digits
from .lexicon import FULL_WEEKDAYS, RELATIVES, Quantity, SpelledTable, number

Match = re.Match[str]
Kind = Literal["date", "range", "weekday", "part", "clock", "third", "vague", "amount", "unit", "from", "spoken"]
Then = Callable[[TimeInterval], TimeInterval | None]


@dataclass(frozen=True, slots=True)
class Amount:
    """A number of units of the calendar."""

    unit: str
    number: Quantity


@dataclass(frozen=True, slots=True)
class Meaning:
    """The meaning of an expression: an interval, or a part of one together with an adjacent expression.

    `yearly` gives the same expression in another year, where it names none itself ("August" next to "last year").
    `choices` are all days that the words may mean where they do not tell which ("the 15th", 6/7): the weekday next to
    them does. `weekday`, `part` and `number` (a day of some month) are joined with the text beside them, as is `clock`,
    a time of day, and `third`, the beginning (0), middle (1) or end (2) of the next unit. `amount` may count from the
    day beside it ("a week from Friday"); with `side` it does from the day after it: before it (-1), after it (1), or it
    is the unit that has it (0). `then` gives the time of "a week later" from the one that was spoken of.
    """

    interval: TimeInterval | None = None
    kind: Kind = "date"
    yearly: Yearly | None = None
    choices: tuple[TimeInterval, ...] = ()
    clock: Clock | None = None
    weekday: int | None = None
    part: str = ""
    number: int = 0
    amount: Amount | None = None
    side: int | None = None
    third: int | None = None
    then: Then | None = None


Reading = Meaning | TimeInterval | None
R = TypeVar("R")


@dataclass(frozen=True, slots=True)
class Expression:
    """The half-open range of characters of an expression, and its meaning."""

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
        first = ctx.today if distance or part in ("small hours", "morning") else _this_day(match, ctx, 0)
        if part == "night" and not distance and ctx.waking_day < ctx.today and direction_of(match, ctx) > 0:
            return Meaning(None, "part")  # "heute Nacht", said after midnight: this one or the next
        found = part_of_day(first + distance * DAY, part)
        if part == "night" and found and found.start > ctx.now and direction_of(match, ctx) < 0:
            found = part_of_day(first - DAY, part)  # "heute Nacht", of the one that is over
        return Meaning(found, "part")
    distances = ctx.words.days.of(words["named_day"])
    if len(distances) == 1:
        return calendar.day(ctx.today + distances[0] * DAY if distances[0] else _this_day(match, ctx, AHEAD))
    direction = direction_of(match, ctx)
    if not direction or (ctx.grammar.since_follows and ctx.grammar.since_pattern.match(ctx.folded, match.end())):
        return None  # "since yesterday" or "from tomorrow on"
    return calendar.day(ctx.today + (1 if direction > 0 else -1) * abs(distances[0]) * DAY)


# ---- Last, this and next


def unit_of(word: str, ctx: Context) -> tuple[str, int]:
    """Return the unit of the calendar that a word means, and how many of them: "fortnight" is two weeks."""
    name = ctx.words.units.of(word)
    return ("week", 2) if name == "fortnight" else (name, 1)


def phrase(match: Match, ctx: Context) -> TimeInterval:
    unit, count = ctx.words.phrases.of(match["phrase"])
    whole = shift_unit(unit, ctx.today, count)
    short = told_in(match).get("weekday")
    return whole if short is None else calendar.day(whole.start + ctx.words.weekdays.of(short) * DAY)


def shift_unit(unit: str, moment: datetime, count: int) -> TimeInterval:
    """Return the unit of the calendar so many units after the one that contains a moment."""
    return calendar.unit(unit, calendar.step(unit, moment, count))


def relative_time(match: Match, ctx: Context) -> Reading:
    """Read "last Friday", "next month", "this spring", "the week before last"."""
    words = told_in(match)
    name = ctx.words.relatives.of(words["relative"])
    # Of "that week", in Russian, its verb shows whether it is the last or the next one.
    which = RELATIVES[name] if name != "that" else min(1, max(-1, direction_of(match, ctx)))
    if "unit" in words:
        unit, _ = unit_of(words["unit"], ctx)
        # "nesse dia" is the day that was spoken of, and "el próximo día" the one after it
        return None if unit == "day" else _relative_unit(unit, which, name, match, ctx)
    if "weekday" in words:
        weekday = ctx.words.weekdays.of(words["weekday"])
        return Meaning(calendar.day(_relative_weekday(weekday, which, name, match, ctx)), "weekday")
    if "part" in words:
        part = part_of_day(ctx.today + which * DAY, ctx.words.parts.of(words["part"]))
        return Meaning(part, "part") if which <= 0 else None
    if words.get("month") in ctx.words.words_in("ambiguous_months") and not ctx.is_capital_at(match.start("month")):
        return None  # "this march" is a month with a capital letter only
    direction = direction_of(match, ctx)
    direction *= abs(direction) > PRESENT
    if which == 0 and "season" in words:
        return current_season(month_or_season(match, ctx), ctx.today, direction)
    return relative_occurrence(which, month_or_season(match, ctx), ctx.today, direction)


def _relative_unit(unit: str, which: int, name: str, match: Match, ctx: Context) -> TimeInterval | None:
    if (unit, which) == ("weekend", 0):
        return this_weekend(match, ctx)
    if unit == "weekend" and which == 1 and (name != "next" or "next_by_week" not in ctx.words.writing):
        if name == "next" and ctx.words.latin and ctx.today.weekday() < calendar.SATURDAY - 1:
            return None  # said in the week, "el finde que viene" may be this one or the one after it
        coming = calendar.weekend(ctx.today)
        return coming if coming.start > ctx.today else calendar.weekend(ctx.today + WEEK)
    if unit == "week" and which == -1 and ctx.weekday == "recent" and "rolling_week" in ctx.words.writing:
        return calendar.days_of_week(ctx.today - WEEK)
    if unit in ("minute", "hour") and abs(which) == 1:  # "pendant la dernière heure": the 60 minutes up to now
        ends = sorted((ctx.now, calendar.step(unit, ctx.now, which)))
        return TimeInterval(ends[0], ends[1], "span")
    return shift_unit(unit, ctx.today, which)


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


def this_weekend(match: Match, ctx: Context) -> TimeInterval:
    """Read "at the weekend": the one of this week, or the one that just ended when the sentence looks back at it."""
    this = calendar.weekend(ctx.today)
    over = this.start > ctx.today and direction_of(match, ctx) < 0
    return calendar.weekend(ctx.today - WEEK) if over else this


# ---- Weekdays


def weekday(match: Match, ctx: Context) -> Meaning | None:
    """Read a weekday: of a certain week only where its sentence looks back or ahead, and no noun follows it."""
    named, (start, end) = ctx.words.weekdays.of(match["weekday"]), span_of(match)
    if _is_a_word(match, ctx):
        return None
    until = ctx.has_word_right_before("until", start)
    led = match.start() < start or until
    of_sentence = ctx.direction(start, end)
    direction = ctx.clause_direction(start, end) or max(0, of_sentence)
    # "Freitagabend", or "vendredi à 20 h": with its time of day it needs no verb
    ending = next((one for one in ctx.words.words_in("weekday_endings") if match["weekday"].endswith(one)), "")
    timed = ending or ctx.is_asked_or_timed(start, end)
    single = ctx.grammar.noun_that_follows is not None or (not of_sentence and timed)
    if not direction and (led or ctx.spoken.asked or (single and len([*match.re.finditer(ctx.folded)]) == 1)):
        # Without a verb it is announced, where no other weekday shows a list.
        direction = ctx.spoken.asked or (0 if ctx.continues_a_past(start) else PRESENT)
    if direction > 0 and named == ctx.today.weekday():
        return Meaning(None, "weekday", weekday=named)  # "on Friday", said on a Friday: today, or the next one
    known = direction and ctx.may_end_expression(match.end()) and not (direction < 0 and until)
    if not known:
        return Meaning(None, "weekday", weekday=named)
    day = nearest_weekday(named, direction, ctx)
    if ending:
        return Meaning(part_of_day(day, ctx.words.parts.of(ending)), "part", weekday=named)
    return Meaning(calendar.day(day), "weekday", weekday=named)


def _is_a_word(match: Match, ctx: Context) -> bool:
    """Return whether a weekday may be another word or a name: "we sat", "in the sun", "j'ai relu Vendredi"."""
    start = match.start("weekday")
    if "small_weekdays" in ctx.words.writing and ctx.is_capital_at(start) and not ctx.opens_sentence(start):
        return True
    if match["weekday"] not in ctx.words.words_in("ambiguous_weekdays") or ctx.has_word_right_before("sure_day", start):
        return False
    return not ctx.is_capital_at(start) or ctx.opens_sentence(start)


# ---- Numbers of units


def amount_in(match: Match, ctx: Context) -> Amount:
    """Return the number of units in a match. Raise ValueError for figures that are no number of them."""
    words = told_in(match)
    if "amount_word" in words:
        unit, count = ctx.words.amounts.of(words["amount_word"])
        return Amount(unit, Quantity(count, count))
    if words["count"].startswith("0") and words["count"].isdecimal():
        raise ValueError(f"{words['count']!r} is no count but a year of two digits")
    (unit, times), many = unit_of(words["unit"], ctx), ctx.words.quantity(words["count"])
    half = 0.5 * ("half" in words or "half_after" in words)
    high = 2 if "or_two" in words else many.high + half  # "a day or two ago"
    return Amount(unit, Quantity((many.low + half) * times, high * times))


def count_units(match: Match, ctx: Context, sign: int) -> Meaning:
    """Return a number of units counted from now: forward with sign 1, back with sign -1."""
    amount = amount_in(match, ctx)
    signed = Quantity(sign * amount.number.low, sign * amount.number.high)
    found = units_from(amount.unit, amount.number, ctx.now, sign)
    return Meaning(found, amount=Amount(amount.unit, signed) if amount.number.exact else None)


def ago(match: Match, ctx: Context) -> Meaning:
    """Read "two weeks ago", "vor zwei Wochen"."""
    return count_units(match, ctx, -1)


def ahead(match: Match, ctx: Context) -> Meaning | None:
    """Read "in two weeks", unless it is a duration ("I read it in two days")."""
    start, end = span_of(match)
    direction, meaning = ctx.clause_direction(start, end), count_units(match, ctx, 1)
    if not direction and ctx.direction(start, end) == BACK:
        direction = BACK
    short = meaning.interval is not None and meaning.interval.granularity in ("minute", "hour")
    if not ctx.may_end_expression(end) or (short and direction != AHEAD):
        return None
    return replace(meaning, interval=None) if direction < 0 else meaning  # "auf Donnerstag in einer Woche verlegt"


def perhaps_ahead(match: Match, ctx: Context) -> Meaning | None:
    """Read "en dos días" where the sentence looks ahead: else it is how long something takes."""
    return count_units(match, ctx, 1) if direction_of(match, ctx) > 0 else None


def perhaps_ago(match: Match, ctx: Context) -> Meaning | None:
    """Read a word for "ago" or "earlier" unless the sentence looks ahead."""
    return None if direction_of(match, ctx) > 0 else count_units(match, ctx, -1)


def within(match: Match, ctx: Context) -> TimeInterval | None:
    """Read "within two weeks": from today on, of hours from now on; a duration where the sentence looks back."""
    amount = amount_in(match, ctx)
    if direction_of(match, ctx) < 0:
        return None
    start = ctx.now if amount.unit in ("minute", "hour") else ctx.today
    return calendar.span(start, calendar.step(amount.unit, start, int(amount.number.high)))


def offset(match: Match, ctx: Context) -> Meaning | None:
    """Read "drei Tage vor", "the week of", which count from the day that is named after them."""
    words, side = told_in(match), ctx.words.sides.of(match["side"])
    one = "count" not in words and "amount_word" not in words
    amount = Amount(unit_of(words["unit"], ctx)[0], Quantity(1, 1)) if one else amount_in(match, ctx)
    kind: Kind = "unit" if one else "from" if match["side"] in ctx.words.words_in("from") else "amount"
    return Meaning(None, kind, amount=amount, side=side) if amount.number.exact else None


def _one_or_more(match: Match, ctx: Context) -> tuple[str, int]:
    if "count" in told_in(match):
        found = amount_in(match, ctx)
        return found.unit, int(found.number.high)
    return unit_of(match["unit"], ctx)


def past(match: Match, ctx: Context) -> TimeInterval | None:
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
    begun = count_units(match, ctx, -1).interval
    return begun and calendar.span(begun.start, ctx.now)


# ---- Times counted from one that was spoken of


def spoken(match: Match, ctx: Context) -> Meaning:
    """Read "the day after", "a week later", "that Saturday", which count from the time that was spoken of before."""
    words = told_in(match)
    side = 1 if "after" in words else -1 if "before" in words else 0
    if "weekday" in words:
        named = ctx.words.weekdays.of(words["weekday"])
        return Meaning(None, "spoken", then=lambda base: _weekday_beside(named, base, side))
    if "count" in words or "amount_word" in words:
        amount = amount_in(match, ctx)
        count = side * int(amount.number.low)
        if not amount.number.exact or amount.number.low % 1 or amount.unit in ("minute", "hour"):
            return Meaning(None, "spoken")
        return Meaning(None, "spoken", then=lambda base: _step_from(base, amount.unit, count))
    # A word that is no unit is a day beside another one: "le lendemain".
    unit = ctx.words.units.get(words["unit"]) or "day" if "unit" in words else "day"
    part = ctx.words.parts.of(words["part"]) if "part" in words else ""
    return Meaning(None, "spoken", then=lambda base: _unit_beside(unit, base, side, part))


def _weekday_beside(weekday: int, base: TimeInterval, side: int) -> TimeInterval | None:
    """Return the weekday after (1) or before (-1) a time, or in it (0)."""
    if side:
        beside = calendar.weekday_after if side > 0 else calendar.weekday_before
        return calendar.day(beside(base.end - DAY if side > 0 else base.start, weekday))
    if base.end - base.start > WEEK:
        return None
    day = calendar.weekday_after(calendar.midnight(base.start) - DAY, weekday)
    return calendar.day(day) if day < base.end else None


def _step_from(base: TimeInterval, unit: str, count: int) -> TimeInterval | None:
    """Return the time so many units after another one: a day of days and weeks, else as precise as both."""
    start = calendar.step(unit, base.start, count)
    if base.end - base.start <= DAY and unit in ("day", "week", "night"):
        return calendar.day(start)
    of_base = "day" if base.end - base.start <= DAY else base.granularity
    if of_base not in calendar.UNITS:
        return None
    whole, told = calendar.unit(unit, base.start), calendar.unit(of_base, base.start)
    return None if whole.end - whole.start < told.end - told.start else calendar.unit(unit, start)


def _unit_beside(unit: str, base: TimeInterval, side: int, part: str = "") -> TimeInterval | None:
    """Return the unit after (1) or before (-1) the one that a time lies in, or that one (0)."""
    if unit in ("day", "night"):
        if base.end - base.start > DAY and (base.granularity != "span" or not side):
            return None
        day = calendar.midnight(base.end - timedelta(microseconds=1) if side > 0 else base.start) + side * DAY
        part = part or ("night" if unit == "night" else "")
        return part_of_day(day, part) if part else calendar.day(day)
    if unit == "weekend" and side:
        return calendar.weekend_beside(base.start, side) if base.end - base.start <= WEEK else None
    whole = calendar.unit(unit, base.start)
    return shift_unit(unit, base.start, side) if base.end <= whole.end else None


# ---- Dates

_NO_WORDS: SpelledTable[int] = SpelledTable({})
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
    if name == "year" and found not in range(1500, 2200):
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
    if "holiday" in words:
        start = day_of_year(ctx.words.holidays.of(words["holiday"]))
        return lambda year: calendar.day(start(year))
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


def _yearless(yearly: Yearly, match: Match, ctx: Context) -> Meaning:
    """Return a day without a year, of which the weekday beside it may show the year."""
    found, direction = occurrences_around_year(yearly, ctx.today.year), ctx.clause_direction(*span_of(match))
    if direction < 0 and ctx.has_word_right_before("until", span_of(match)[0]):
        direction = 0  # "how many days are left until 24 December?"
    word = told_in(match).get("weekday")
    if word is None:
        return Meaning(nearest_occurrence(yearly, ctx.today, direction), yearly=yearly, choices=tuple(found))
    agreeing = [each for each in found if each.start.weekday() == ctx.words.weekdays.of(word)]
    return Meaning(min(agreeing, key=lambda each: abs(each.start - ctx.today), default=None))


def date(match: Match, ctx: Context) -> Reading:
    """Read "9 June 2023", "June 9th", "the fifth of May", "9. Juni", and "2023-06-09T16:30"."""
    words, month, day = told_in(match), _month_number(match, ctx), _day_number(match["day"], ctx)
    if words.get("month") in ctx.words.words_in("ambiguous_months") and not ctx.is_capital_at(match.start("month")):
        return None  # "5 may do"
    if _names_year(match):
        return calendar.day(datetime(year_number(match), month, day))
    return _yearless(_day_of_year(month, day), match, ctx)


def dates(match: Match, ctx: Context) -> Meaning:
    """Read "3-9 June" and "the 3rd to the 9th of June"."""
    month, first, last = _month_number(match, ctx), _day_number(match["day"], ctx), _day_number(match["last"], ctx)

    def yearly(year: int) -> TimeInterval | None:
        return calendar.span(datetime(year, month, first), datetime(year, month, last) + DAY)

    return Meaning(yearly(year_number(match))) if _names_year(match) else _yearless(yearly, match, ctx)


def numeric(match: Match, ctx: Context) -> Reading:
    """Read a date in figures; one that may be either of two days has no interval."""
    words = told_in(match)
    if "figures" in words:
        found = date_in_figures(words["figures"], ctx.date_order)
        return Meaning(None if found is None else calendar.day(found))
    if "year" in words:
        return date(match, ctx)
    if _GOES_ON.match(ctx.folded, match.end()):
        return None  # a part of a longer number
    dotted = "." in ctx.folded[slice(*span_of(match))]
    first, second = int(words["day"]), int(words["number"])
    known = month_and_day(first, second, ctx.date_order, dotted=dotted, yearless=True)
    if "weekday" not in words:
        return _yearless(_day_of_year(*known), match, ctx) if known else Meaning()
    both = (possible(_yearless, _day_of_year(*each), match, ctx) for each in ((first, second), (second, first)))
    days = [each.interval for each in both if each and each.interval]  # the weekday shows the order
    return Meaning(min(days, key=lambda day: abs(day.start - ctx.today), default=None))


def _days_numbered(number: int, ctx: Context, reach: int) -> list[TimeInterval]:
    """Return the days with a number in the months around today, so many on each side, in order."""
    firsts = [calendar.first_of_month(ctx.today.year, ctx.today.month + each) for each in range(-reach, reach + 1)]
    days = [first + (number - 1) * DAY for first in firsts]
    return [calendar.day(day) for day, first in zip(days, firsts, strict=True) if day.month == first.month]


def numbered_day(match: Match, ctx: Context) -> Meaning | None:
    """Read "the 15th", a day of the month that is named beside it, or of the weekday."""
    day = _day_number(match["day"], ctx)
    if not 1 <= day <= 31 or _GOES_ON.match(ctx.folded, match.end()) or not ctx.may_end_expression(match.end()):
        return None
    return Meaning(number=day, choices=_near_days(day, ctx))


def _near_days(number: int, ctx: Context) -> tuple[TimeInterval, ...]:
    """Return the days with a number that may stand beside a weekday, the nearest first."""
    near = [day for day in _days_numbered(number, ctx, 6) if abs(day.start - ctx.today) <= NEAR]
    return tuple(sorted(near, key=lambda day: abs(day.start - ctx.today)))


def sure_number(match: Match, ctx: Context) -> Meaning | None:
    """Read "on the 15th": the next one, or where the sentence looks back the last one."""
    day, direction = _day_number(match["day"], ctx), ctx.clause_direction(*span_of(match))
    looks_back = direction == PERHAPS_BACK or (not direction and direction_of(match, ctx) < 0)
    if looks_back or _GOES_ON.match(ctx.folded, match.end()) or not ctx.may_end_expression(match.end()):
        return None
    numbered = _days_numbered(day, ctx, 2)
    # A day of the month that is told in the present may be three days ago.
    earliest = ctx.today - (0 * DAY if direction == AHEAD else timedelta(days=3))
    over = [each for each in numbered if each.start <= ctx.today]
    coming = [each for each in numbered if each.start >= earliest]
    found = over[-1:] if direction < 0 else coming[:1]
    if not found:
        return None
    return Meaning(found[0], number=day, choices=_near_days(day, ctx))


# ---- Months, seasons, years


def month_of_year(match: Match, ctx: Context) -> TimeInterval | None:
    return month_or_season(match, ctx)(year_number(match))


def bare_month(match: Match, ctx: Context) -> Meaning | None:
    """Read "in May": the nearest that the tense allows, where a word before it or after it shows that it is one."""
    start, end = span_of(match)
    word = told_in(match).get("month", "")
    a_word = word in ctx.words.words_in("ambiguous_months")
    if a_word and not ctx.is_capital_at(match.start("month")):
        return None
    yearly, led = month_or_season(match, ctx), match.span() != (start, end) or "number" in match.re.groupindex
    led = led or ctx.has_word_right_before("thirds", start)
    short = ctx.grammar.noun_that_follows is not None and word not in ctx.words.full_months
    alone = ctx.grammar.noun_that_follows is not None and ctx.may_end_expression(end)
    shown = (led or (alone and not a_word)) and (alone or not short) and (led or not short)
    if not shown or (ctx.grammar.noun_that_follows and ctx.has_word_right_before("habit_of_a_weekday", start)):
        return Meaning(yearly=yearly)
    direction = ctx.direction_of_month(start, end)
    if direction < 0 and ctx.has_word_right_before("until", start):
        direction = 0  # "has to be paid by June"
    return Meaning(nearest_occurrence(yearly, ctx.today, direction), yearly=yearly)


def bare_season(match: Match, ctx: Context) -> Meaning | None:
    """Read "in the summer": only where the sentence looks back or ahead."""
    yearly, direction = month_or_season(match, ctx), direction_of(match, ctx)
    known = direction in (BACK, AHEAD) and "x" in match.re.groupindex
    return Meaning(nearest_occurrence(yearly, ctx.today, direction) if known else None, yearly=yearly)


def year(match: Match, ctx: Context) -> TimeInterval | None:
    """Read "in 2016", "in '16", unless a noun follows that the number counts ("in 2016 steps")."""
    return calendar.year(year_number(match)) if ctx.may_end_expression(match.end()) else None


def quarter(match: Match, ctx: Context) -> Meaning:
    """Read "Q3 2022" and "Q3"."""
    number = int(match["quarter"])
    return _read_number(lambda year: calendar.quarter(year, number), match, ctx)


def week_number(match: Match, ctx: Context) -> Meaning:
    """Read "KW 7" and "KW 7 2025"."""
    number = int(match["number"])
    return _read_number(lambda year: calendar.week(datetime.fromisocalendar(year, number, 1)), match, ctx)


def _read_number(yearly: Yearly, match: Match, ctx: Context) -> Meaning:
    if _names_year(match):
        return Meaning(yearly(year_number(match)))
    return Meaning(nearest_occurrence(yearly, ctx.today, ctx.clause_direction(*match.span())), yearly=yearly)


def decade(match: Match, ctx: Context) -> TimeInterval | None:
    """Read "the 90s", "the 1990s", "the nineties"; a short form is the latest decade that has begun.

    "The 1800s" and "the 1900s" are centuries, "the 2000s" are a decade.
    """
    word = match["decade"]
    number = ctx.words.decades.get(word) or int(word)
    if number >= 100:
        return calendar.decade(number) if number % 100 or number >= 2000 else None
    century = ctx.today.year - ctx.today.year % 100
    return calendar.decade(century + number - (100 if century + number > ctx.today.year else 0))


def third(match: Match, ctx: Context) -> Meaning | None:
    """Read "Anfang", "fin" before a month, year or other unit, and "fin du mois" of this one."""
    index, words = ctx.words.thirds.of(match["third"]), told_in(match)
    if index == 2 and ctx.has_word_right_before("until", match.start()):
        return Meaning(None, "third")  # "by the end of May" is its last day, or any before
    if "unit" in words:
        return Meaning(third_of(calendar.unit(ctx.words.units.of(words["unit"]), ctx.today), index))
    return Meaning(None, "third", third=index)


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
    return Meaning(nearest_occurrence(yearly, ctx.today, ctx.direction_of_month(*match.span())), yearly=yearly)


# ---- Holidays

DayOfYear = Callable[[int], datetime]
_NEAR_HOLIDAY, _YEAR = timedelta(days=21), timedelta(days=200)


def day_of_year(rule: str) -> DayOfYear:
    """Return the function from a year to the day of a rule in `holidays.toml`, which explains the four forms."""
    words = rule.split()
    if words[0] == "easter":
        return lambda year: datetime.combine(easter(year), time()) + int(words[1]) * DAY
    if len(words) == 1:
        month, day = map(int, rule.split("-"))
        return lambda year: datetime(year, month, day)
    month, weekday, n = int(words[0]), FULL_WEEKDAYS[words[1]], int(words[2])
    days_after = int(words[3]) if len(words) > 3 else 0
    return lambda year: calendar.nth_weekday(year, month, weekday, n) + days_after * DAY


def holiday(match: Match, ctx: Context) -> Meaning | None:
    """Read "an Ostern", "Natale 2023"; without a year where it is near, or a verb shows which is meant."""
    yearly = month_or_season(match, ctx)
    if _names_year(match):
        return Meaning(yearly(year_number(match)))
    direction = ctx.clause_direction(*match.span())
    day = nearest_occurrence(yearly, ctx.today, direction) if ctx.may_end_expression(match.end()) else None
    near = day is not None and abs(day.start - ctx.today) <= (_YEAR if direction else _NEAR_HOLIDAY)
    return Meaning(day if near else None, yearly=yearly)


# ---- Times of day

_OFFSETS = {"half": 30, "quarter": 15, "quarter_to": -15, "half_to": -30}  # minutes
_DAWN, _NOON = 6, 12


def part(match: Match, ctx: Context) -> Meaning:
    return Meaning(part=ctx.words.parts.of(match["part"]))


def part_of_today(match: Match, ctx: Context) -> Meaning:
    """Read "вечером", which is of today where no other day is named and the sentence does not say otherwise."""
    name, direction = ctx.words.parts.of(match["part"]), direction_of(match, ctx)
    of_today = part_of_day(ctx.today, name)
    wrong_way = of_today is None or (of_today.start > ctx.now if direction < 0 else of_today.end <= ctx.now)
    return Meaning(None if wrong_way else of_today, part=name)


def clock(match: Match, ctx: Context) -> Meaning | None:
    """Read "4 pm", "14h30", "um halb acht", which are a time beside a day only."""
    words = told_in(match)
    if "named_hour" in words:
        return Meaning(None, "clock", clock=Clock(ctx.words.table("named_hours")[words["named_hour"]] * 60))
    if "last_hour" not in words:
        return Meaning(None, "clock", clock=_clock(words, ctx))
    first, last = (
        _clock(words, ctx),
        _clock({name[5:]: word for name, word in words.items() if name[:5] == "last_"}, ctx),
    )
    if first and last and first.minutes > last.minutes and "meridiem" not in words:
        first = replace(first, minutes=first.minutes - HALF_DAY)  # "11-2 pm"
    return Meaning(None, "clock", clock=first and last and first.until(last))


def _clock(words: Mapping[str, str], ctx: Context) -> Clock | None:
    """Return the time of day that an hour, minutes and a part of the day tell; None for one that no clock shows."""
    hour = number(words["hour"], ctx.words.numbers)
    minutes = int(words.get("minute", 0)) + sum(count for name, count in _OFFSETS.items() if name in words)
    part = ctx.words.parts.of(words["part"]) if "part" in words else ""
    if hour > 24 or ("meridiem" in words and not 1 <= hour <= 12):
        return None
    if "meridiem" in words:
        hour = hour % 12 + 12 * words["meridiem"].startswith("p")
    elif part == "night" and (hour < _DAWN or hour == _NOON):
        hour %= _NOON
    # An hour before 7 without a part of the day is in the afternoon, when people are awake.
    elif hour < _NOON and (
        part in ("afternoon", "evening", "night") or (not part and 0 < hour < 7 and "minute" not in words)
    ):
        hour += _NOON
    # From 8 on an hour of a clock of twelve is read as it stands.
    sure = bool(part) or "minute" in words or "meridiem" in words or hour >= 8 + ("half_to" in words)
    return Clock((60 * hour + minutes) % (2 * HALF_DAY), sure=sure)


def time_of_day(match: Match, ctx: Context) -> Meaning | None:
    """Read "at 4 pm", which is of today where no other day is named and the sentence does not say otherwise."""
    meaning = clock(match, ctx)
    if meaning is None or meaning.clock is None:
        return None
    today, direction = meaning.clock.on(ctx.today), direction_of(match, ctx)
    wrong_way = (direction < 0 and today.start > ctx.now) or (direction == AHEAD and today.start <= ctx.now)
    return meaning if wrong_way or not meaning.clock.sure else replace(meaning, interval=today)


Read = Callable[[Match, Context], Reading]
# Of two forms that match the same words the earlier reader wins.
READERS: Mapping[str, Read] = {
    "day": day, "phrase": phrase, "relative": relative_time, "ago": ago, "perhaps_ago": perhaps_ago, "ahead": ahead,
    "perhaps_ahead": perhaps_ahead, "within": within, "past": past, "coming": coming, "lasting": lasting,
    "weekday": weekday, "part_of_today": part_of_today, "part": part,
    "dates": dates, "date": date, "numeric": numeric, "month": month_of_year,
    "season": month_of_year, "bare_month": bare_month, "bare_season": bare_season, "third": third, "year": year,
    "quarter": quarter, "week_number": week_number, "spoken": spoken,
    "decade": decade, "holiday": holiday, "nth": nth, "offset": offset, "sure_number": sure_number,
    "number": numbered_day, "bare_weekend": this_weekend, "time_of_day": time_of_day, "clock": clock,
    "vague": lambda _, __: Meaning(None, "vague"), "none": lambda _, __: Meaning(),
}  # fmt: skip
