"""How two expressions that stand beside each other make one time: a weekday and a date, a day and a clock, a range."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace

from . import calendar
from .calendar import DAY, TimeInterval, part_of_day, third_of
from .context import Context
from .readers import Expression, Meaning

Join = Callable[[Expression, Expression], "Meaning | None"]


def weekday_of(expression: Expression) -> int | None:
    """Return the weekday that an expression names."""
    meaning = expression.meaning
    if meaning.weekday is None and meaning.kind == "weekday" and meaning.interval is not None:
        return meaning.interval.start.weekday()
    return meaning.weekday


def weekday_and_date(named: Expression, date: Expression) -> Meaning | None:
    """Join "Friday" and "9 June", or "the 9th": of the days that the date may mean the nearest on that weekday."""
    weekday, meaning = weekday_of(named), date.meaning
    if weekday is None or weekday_of(date) is not None or meaning.kind != "date":
        return None
    found = [day for day in meaning.choices if day.start.weekday() == weekday]
    if meaning.number:
        return Meaning(found[0]) if found else None
    if not (date.is_a("day") or meaning.choices):
        return None
    base = date.interval or named.interval
    nearest = min(found, key=lambda day: abs(day.start - base.start), default=None) if base else None
    if nearest is None and date.interval and not meaning.choices and date.interval.start.weekday() != weekday:
        return None  # "Christmas this Thursday", where it is on a Friday
    return Meaning(nearest or date.interval, yearly=meaning.yearly)


def weekday_in_week(named: Expression, week: Expression) -> Meaning | None:
    """Join "Tuesday" and "next week". With a weekday "last week" is the ISO week, not the seven days before today."""
    weekday = weekday_of(named)
    if weekday is None or week.interval is None or not week.is_a("week", "weekend"):
        return None
    if week.meaning.amount and (week.meaning.amount.number.low < 0 or named.start < week.start):
        return None  # "six weeks ago on Sunday", "Montag in einer Woche"
    return Meaning(calendar.day(calendar.week(week.interval.start).start + weekday * DAY), weekday=weekday)


def day_in_month(day: Expression, month: Expression) -> Meaning | None:
    """Join "next month" and "the 5th"."""
    if not day.meaning.number or month.interval is None or not month.is_a("month"):
        return None
    found = month.interval.start + (day.meaning.number - 1) * DAY
    return Meaning(calendar.day(found) if found < month.interval.end else None)


def in_that_year(dated: Expression, year: Expression) -> Meaning | None:
    """Join "August" and "last year"."""
    if dated.meaning.yearly is None or year.interval is None or not year.is_a("year"):
        return None
    return Meaning(dated.meaning.yearly(year.interval.start.year))


def part_of_a_day(day: Expression, other: Expression) -> Meaning | None:
    """Join "hier" and "soir"."""
    if day.day is None or not other.meaning.part:
        return None
    return Meaning(part_of_day(day.day, other.meaning.part), "part", weekday=day.meaning.weekday)


def day_and_clock(day: Expression, time: Expression) -> Meaning | None:
    """Join "yesterday" or "this evening" and "4 pm"; "at 7" is a time only with a part of the day."""
    clock = time.meaning.clock
    if clock is None or day.interval is None or not (day.meaning.kind == "part" or day.is_a("day")):
        return None
    if day.meaning.kind == "part":
        return Meaning(clock.within(day.interval) or day.interval)
    return replace(day.meaning, interval=clock.on(day.interval.start)) if clock.sure else day.meaning


def third_of_it(third: Expression, whole: Expression) -> Meaning | None:
    """Join "early" and "June", "Ende" and "2022"."""
    index, yearly = third.meaning.third, whole.meaning.yearly
    if index is None or whole.interval is None:
        return None

    def of_year(year: int) -> TimeInterval | None:
        found = yearly(year) if yearly else None
        return third_of(found, index) if found else None

    return Meaning(third_of(whole.interval, index), yearly=of_year if yearly else None)


def amount_from_day(day: Expression, counted: Expression) -> Meaning | None:
    """Join "heute" and "in einer Woche"."""
    amount = counted.meaning.amount
    if day.day is None or amount is None or counted.meaning.side is not None:
        return None
    if amount.unit not in ("week", "month", "year"):
        return None
    return Meaning(calendar.day(calendar.step(amount.unit, day.day, int(amount.number.low))))


def through(left: Expression, right: Expression) -> Meaning | None:
    """Join the ends of a range; an end without a year takes that of the other, and the last is after the first."""
    first, last = left.interval, right.interval
    if left.meaning.number and last is not None and right.is_a("day"):
        start = last.start.replace(day=1) + (left.meaning.number - 1) * DAY
        if start >= last.start and right.meaning.number:  # "from the 28th to the 2nd"
            start = calendar.shift_months(start, -1)
        return _through(calendar.day(start), last)
    if first is None and last is not None and left.meaning.yearly is not None:  # "June to August"
        first = left.meaning.yearly(last.start.year)
    if last is None and first is not None and right.meaning.yearly is not None:  # "between March and May"
        last = right.meaning.yearly(first.start.year)
    if first is None or last is None:
        return None
    if left.meaning.kind == "part" and right.meaning.kind == "date":  # "the night of the 19th to the 20th"
        return Meaning(first) if first.start < last.start <= first.start + 2 * DAY else None
    if right.meaning.yearly is not None and (left.meaning.yearly is None or last.start < first.start):
        found = (right.meaning.yearly(year) for year in (first.start.year, first.start.year + 1))
        last = next((each for each in found if each is not None and each.start > first.start), last)
    elif left.meaning.yearly is not None:
        found = (left.meaning.yearly(year) for year in (last.start.year, last.start.year - 1))
        first = next((each for each in found if each is not None and each.start < last.start), first)
    return _through(first, last)


def _through(first: TimeInterval, last: TimeInterval) -> Meaning | None:
    if first.start >= last.start:
        return None
    end = max(last.end, calendar.midnight(last.start) + DAY)
    return Meaning(calendar.span(calendar.midnight(first.start), end), "range")


def joined(expressions: list[Expression], ctx: Context) -> list[Expression]:
    """Return the expressions, those that belong to each other as one: first the ends of times of day."""
    for join in (_both_clocks, _both):
        found: list[Expression] = []
        for each in expressions:
            found.append(each)
            while len(found) > 1 and (both := join(found[-2], found[-1], ctx)) is not None:
                found[-2:] = [both]
        expressions = found
    return expressions


def _both_clocks(first: Expression, last: Expression, ctx: Context) -> Expression | None:
    """Return the time of day that two are the ends of: "7 am till 10 pm"."""
    start, end, gap = first.meaning.clock, last.meaning.clock, ctx.folded[first.end : last.start].strip()
    led = gap in ctx.words.listed("span_to") and ctx.right_before("span_from", first.start)
    if not start or not end or not (led or gap in ctx.grammar.range):
        return None
    clock = start.until(end) if start.length == end.length == 1 else None
    if clock is None:
        return None
    interval = clock.on(first.interval.start) if first.interval else None
    return Expression(first.start, last.end, replace(first.meaning, clock=clock, interval=interval))


# Words between a number of days and the date of the event that they count from.
_EVENT = re.compile(r"(?:,?[ \n]*[^\W\d_][\w']*){0,7}[ \n]*")
_JOINS: tuple[Join, ...] = (
    in_that_year, third_of_it, weekday_in_week, weekday_and_date, day_in_month, part_of_a_day, day_and_clock,
)  # fmt: skip


def _both(first: Expression, second: Expression, ctx: Context) -> Expression | None:
    gap, start = ctx.folded[first.end : second.start].strip(), first.start
    try:
        meaning = _range(first, second, gap, ctx)
        if meaning and gap in ctx.words.listed("span_to"):
            start = ctx.start_of("span_from", start)
        meaning = meaning or _joined(first, second, gap, ctx)
    except (ValueError, OverflowError):  # 29 February of a year that lacks it: no time, and neither is a part of it
        meaning = Meaning()
    return None if meaning is None else Expression(start, second.end, meaning)


def _range(first: Expression, second: Expression, gap: str, ctx: Context) -> Meaning | None:
    """Return the range whose ends two expressions are, but of weekdays, which may be those of a list or a habit."""
    if weekday_of(first) is not None or weekday_of(second) is not None:
        return None
    between = gap in ctx.words.listed("span_to") and ctx.right_before("span_from", first.start)
    if not between and gap not in ctx.grammar.range:
        return None
    return through(first, second)


def _joined(first: Expression, second: Expression, gap: str, ctx: Context) -> Meaning | None:
    """Return what two expressions mean together that a gap separates; None where they do not."""
    if first.meaning.side is not None:
        return _counted_from_event(first, second, ctx)
    if gap.removeprefix(",").lstrip() not in ctx.grammar.between:
        return None
    both_ways = ((first, second), (second, first))  # but "faz 7 anos no dia 18" is an age
    joins: list[tuple[Join, tuple[Expression, Expression]]]
    joins = [(amount_from_day, pair) for pair in both_ways[: 2 - bool(gap)] if "," not in gap]
    joins += [(join, pair) for pair in both_ways for join in _JOINS]
    found = (join(*pair) for join, pair in joins)
    return next((meaning for meaning in found if meaning is not None and meaning.interval is not None), None)


def _counted_from_event(offset: Expression, day: Expression, ctx: Context) -> Meaning | None:
    """Join "drei Tage vor" and "20. Mai" in "drei Tage vor meinem Geburtstag am 20. Mai", "week of" and the day."""
    between, amount, side = ctx.folded[offset.end : day.start], offset.meaning.amount, offset.meaning.side or 0
    if amount is None or day.interval is None or not day.is_a("day", "month", "year"):
        return None
    fine = day.day or amount.unit in ("month", "year")  # but "the week after the conference in June"
    if not fine or not _EVENT.fullmatch(between) or ctx.grammar.another_clause.search(between):
        return None
    if not side:
        return Meaning(calendar.unit(amount.unit, day.interval.start))
    start = calendar.step(amount.unit, day.interval.start, side * int(amount.number.low))
    if offset.meaning.kind == "unit" and amount.unit in ("week", "weekend"):  # "the week before 9 June"
        week = calendar.days_of_week(start if side < 0 else day.interval.end)
        return Meaning(week if amount.unit == "week" else calendar.weekend_beside(day.interval.start, side))
    beside = between.strip() in ctx.grammar.between
    if offset.meaning.kind == "from" and not (beside and day.day):
        return None  # "$200 a week from November"
    known = ctx.words.days.get(ctx.folded[day.start : day.end]) is not None  # "a month from today"
    exact = day.day and (amount.unit == "week" or known)
    return Meaning(calendar.day(start) if exact else calendar.unit(amount.unit, start))
