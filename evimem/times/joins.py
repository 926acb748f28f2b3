"""How expressions combine with each other and with the words around them, by the patterns of the language.

English says what stands between two of each kind, and around one (`patterns` in its table); of the other languages one
list of words may stand between any two.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace

from . import calendar
from .calendar import DAY, WEEK, TimeInterval, nth_part, part_of_day, run_of_units, third_of, units_from
from .context import Context
from .readers import Amount, Expression, Match, Meaning, possible, unit_of

WHOLE_WEEKS = ((0, 4), (0, 5), (0, 6))  # Monday to Friday, Saturday, Sunday
WINDOW = 96  # characters on each side of an expression that are read for a join: bounds the work
Join = Callable[[Expression, Expression], "Meaning | None"]


def weekday_of(expression: Expression) -> int | None:
    """Return the weekday that an expression names."""
    meaning = expression.meaning
    if meaning.weekday is None and meaning.kind == "weekday" and meaning.interval is not None:
        return meaning.interval.start.weekday()
    return meaning.weekday


# ---- Two expressions


def weekday_and_date(named: Expression, date: Expression) -> Meaning | None:
    """Join "Friday" and "9 June", or "the 9th": the date, of the days that it may mean the nearest on that weekday.

    Without a reading, as of 6/7 in no order, it is the one nearest to that weekday.
    """
    weekday, meaning = weekday_of(named), date.meaning
    if weekday is None or weekday_of(date) is not None or meaning.kind != "date":
        return None
    found = [day for day in meaning.choices if day.start.weekday() == weekday]
    if meaning.number and not (meaning.choices and date.interval):
        return Meaning(found[0]) if found else None
    if not (date.is_a("day") or date.is_unread):
        return None
    base = date.interval or named.interval
    nearest = min(found, key=lambda day: abs(day.start - base.start), default=None) if base and named.interval else None
    return Meaning(nearest or date.interval, yearly=meaning.yearly)


def weekday_in_week(named: Expression, week: Expression) -> Meaning | None:
    """Join "Tuesday" and "next week". With a weekday "last week" is the ISO week, not the seven days before today."""
    weekday = weekday_of(named)
    if weekday is None or week.interval is None or not week.is_a("week", "weekend"):
        return None
    return Meaning(calendar.day(calendar.week(week.interval.start).start + weekday * DAY))


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
        return Meaning(clock.within(day.interval) or (clock.near(day.interval) if clock.given else day.interval))
    return Meaning(clock.on(day.interval.start)) if clock.sure else replace(day.meaning, weak=False)


def clock_and_day(time: Expression, day: Expression) -> Meaning | None:
    return day_and_clock(day, time)


def amount_from_day(day: Expression, counted: Expression) -> Meaning | None:
    """Join "heute" and "in einer Woche"."""
    amount = counted.meaning.amount
    if day.day is None or amount is None or counted.interval is None or amount.unit not in ("week", "month", "year"):
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
    if first is None or last is None or left.meaning.kind == right.meaning.kind == "clock":
        return None
    kinds = (left.meaning.kind, right.meaning.kind)
    if left.meaning.kind == "part" and right.meaning.kind == "date":  # "the night of the 19th to the 20th"
        return Meaning(first) if first.start < last.start <= first.start + 2 * DAY else None
    if kinds == ("weekday", "weekday"):
        return _through(first, last if first.start <= last.start else calendar.day(last.start + WEEK))
    if kinds == ("weekday", "date"):
        first = calendar.day(calendar.weekday_before(last.start, first.start.weekday()))
    elif right.meaning.yearly is not None and (left.meaning.yearly is None or last.start < first.start):
        found = (right.meaning.yearly(year) for year in (first.start.year, first.start.year + 1))
        last = next((each for each in found if each is not None and each.start > first.start), last)
    elif left.meaning.yearly is not None:
        found = (left.meaning.yearly(year) for year in (last.start.year, last.start.year - 1))
        first = next((each for each in found if each is not None and each.start < last.start), first)
    return _through(first, last)


def _through(first: TimeInterval, last: TimeInterval) -> Meaning | None:
    if first.start >= last.start:
        return None
    return Meaning(calendar.span(first.start, last.start if last.granularity == "minute" else last.end))


def opening_hours(left: Expression, right: Expression) -> Meaning | None:
    """Join "Mon" and "Fri" to what is no time: opening hours."""
    return Meaning(None) if (weekday_of(left), weekday_of(right)) in WHOLE_WEEKS else None


# What joins two expressions where the pattern `between_<name>` matches what stands between them, in this order;
# `WIDE` after the words around them were joined.
CLOSE: dict[str, Join] = {
    "weekday_and_date": weekday_and_date, "weekday_in_week": weekday_in_week, "opening_hours": opening_hours,
    "in_that_year": in_that_year, "day_in_month": day_in_month,
}  # fmt: skip
WIDE = {"day_and_clock": day_and_clock, "clock_and_day": clock_and_day, "in_that_year": in_that_year}
_ORDERED = frozenset(("opening_hours", "day_and_clock", "clock_and_day", "led_range", "range"))


def joined(expressions: list[Expression], ctx: Context) -> list[Expression]:
    """Return the expressions joined with the adjacent expressions and words that belong to them, not overlapping."""
    if not ctx.grammar.has_patterns:
        return _joined_by_glue(expressions, ctx)
    amounts = [each for each in expressions if each.meaning.kind == "amount"]
    expressions = [each for each in expressions if each.meaning.kind != "amount"]
    for name, join in CLOSE.items():
        expressions = _paired(expressions, ctx, name, join)
    expressions = [
        _with_amount(_with_prefix(_with_suffix(each, ctx), ctx, PREFIXES), amounts, ctx) for each in expressions
    ]
    for name, join in {**WIDE, "led_range": through, "range": through}.items():
        expressions = _paired(expressions, ctx, name, join)  # "Friday evening at 7", "from May to July"
    return _disjoint([_with_prefix(each, ctx, SINCE) for each in expressions])


def _paired(expressions: list[Expression], ctx: Context, name: str, join: Join) -> list[Expression]:
    kept: list[Expression] = []
    for right in expressions:
        whole = _pair(kept[-1], right, ctx, name, join) if kept else None
        if whole is None:
            kept.append(right)
        else:
            kept[-1] = whole
    return kept


def _pair(left: Expression, right: Expression, ctx: Context, name: str, join: Join) -> Expression | None:
    if right.start - left.end > WINDOW:
        return None
    if not ctx.grammar.pattern(f"between_{name}").fullmatch(ctx.folded, left.end, right.start):
        return None
    start = left.start
    if name.endswith("range"):
        if moved_from(left.start, ctx):
            return None
        if name == "led_range":  # "from" of "from March to May" belongs to it
            lead = ctx.before("from_or_between", start, WINDOW)
            if lead is None:
                return None
            start = lead.start()
    if name == "opening_hours" and ctx.folded.endswith("from ", 0, start):
        return None
    meaning = possible(join, left, right)
    if meaning is None and name not in _ORDERED:
        meaning = possible(join, right, left)
    return None if meaning is None else Expression(start, right.end, meaning)


MOVED_REACH = 48  # characters before a time in which a verb of moving it stands


def moved_from(start: int, ctx: Context) -> bool:
    """Return whether "moved from" stands before an index: "moved from Monday to Friday" is two days and no range."""
    return ctx.before("moved_from", start, MOVED_REACH) is not None


def _disjoint(expressions: list[Expression]) -> list[Expression]:
    """Drop what is part of a later expression: "Friday" in "the Friday before 9 June"."""
    kept: list[Expression] = []
    for each in expressions:
        while kept and kept[-1].start >= each.start:
            kept.pop()
        if not kept or kept[-1].end <= each.start:
            kept.append(each)
    return kept


# ---- Words around an expression

Extend = Callable[[Expression, Match, Context], "Meaning | None"]


def part_after(expression: Expression, match: Match, ctx: Context) -> Meaning | None:
    """Read "Friday night", "9 June in the evening"; "Friday Night" is a title."""
    meaning = expression.meaning
    if expression.day is None or (meaning.kind == "date" and meaning.weak):
        return None
    if meaning.choices and not any(map(str.isdigit, ctx.folded[expression.start : expression.end])):
        return None  # "the second night"
    if meaning.kind == "weekday" and ctx.capital(match.start("part")):
        return replace(meaning, weak=True)
    return Meaning(part_of_day(expression.day, ctx.words.parts.of(match["part"])), "part")


def week_on(expression: Expression, match: Match, ctx: Context) -> Meaning | None:
    """Read "Tuesday week", "tomorrow week": a week after that day."""
    named = expression.meaning.kind == "weekday" or _is_day_word(expression, ctx)
    if not named or expression.interval is None or not ctx.complete(match.end()):
        return None
    return Meaning(calendar.day(expression.interval.start + WEEK))


def _is_day_word(expression: Expression, ctx: Context) -> bool:
    return ctx.words.days.get(ctx.folded[expression.start : expression.end]) is not None


def part_before(expression: Expression, match: Match, ctx: Context) -> Meaning | None:
    """Read "the morning of 9 July"."""
    if expression.day is None:
        return None
    return Meaning(part_of_day(expression.day, ctx.words.parts.of(match["part"])), "part")


def _each_year(expression: Expression, change: Callable[[TimeInterval], TimeInterval | None]) -> Meaning | None:
    """Apply a change to an expression, and where it names no year to the expression in any other year."""
    if expression.interval is None:
        return None
    yearly = expression.meaning.yearly

    def changed(year: int) -> TimeInterval | None:
        whole = yearly(year) if yearly else None
        return change(whole) if whole else None

    return Meaning(change(expression.interval), yearly=changed if yearly else None)


def third(expression: Expression, match: Match, ctx: Context) -> Meaning | None:
    """Read "early June", "the end of 2022"."""
    if expression.meaning.kind != "date" or not expression.is_a("month", "year", "season", "decade", "week", "span"):
        return None
    index = ctx.words.thirds.of(match["third"])
    return _each_year(expression, lambda whole: third_of(whole, index))


def few_days_of(expression: Expression, match: Match, ctx: Context) -> Meaning | None:
    """Read "the last few days of May" and "the first days of 2024" as its end or beginning."""
    if not expression.is_a("month", "year"):
        return None
    return _each_year(expression, lambda whole: third_of(whole, 0 if match["nth"] == "first" else 2))


def _position(match: Match, ctx: Context) -> int:
    return int(ctx.words.table("positions")[match["nth"]])


def nth_of(expression: Expression, match: Match, ctx: Context) -> Meaning | None:
    """Read "the first weekend of August", "the last week of May", "the second half of 2024"."""
    if not expression.is_a("month", "year", "season"):
        return None
    n, words = _position(match, ctx), match["of"]
    if words == "half" and match["in"]:
        return None  # "the second half in December"
    weekday = ctx.words.weekdays.get(words)
    name = words if words == "half" else unit_of(words, ctx)[0] if weekday is None else weekday
    return _each_year(expression, lambda whole: nth_part(whole, n, name))


def unit_next_to(expression: Expression, match: Match, ctx: Context) -> Meaning | None:
    """Read "the week before 9 June"."""
    base, word = expression.interval, match["unit"]
    if base is None or base.granularity in ("minute", "hour"):
        return None
    weekday = ctx.words.weekdays.get(word)
    unit = weekday if weekday is not None else ctx.words.units.of(word)
    if match["event"] and not is_fine_enough(expression, str(unit)):
        return None
    interval = adjacent(base, unit, match["side"])
    return Meaning(interval) if interval else None


def is_fine_enough(event: Expression, unit: str) -> bool:
    """Return whether the date of an event is known so well that a unit counts from it: no week from "in June"."""
    return (
        event.is_a("day")
        or (event.is_a("month") and unit in ("month", "year"))
        or (event.is_a("year") and unit == "year")
    )


def adjacent(base: TimeInterval, name: str | int, side: str) -> TimeInterval | None:
    """Return the unit or weekday before or after an interval, or (side "of") the week or weekend that contains it.

    The week before a day is the seven days before it; other units are those of the calendar.
    """
    before = side == "before"
    if side == "of":
        of = str(name)
        return calendar.unit(of, base.start) if of in ("week", "weekend") and base.end - base.start <= WEEK else None
    if isinstance(name, int) or name == "weekend":
        weekday = name if isinstance(name, int) else calendar.SATURDAY
        start = (
            calendar.weekday_before(base.start, weekday) if before else calendar.weekday_after(base.end - DAY, weekday)
        )
        return calendar.day(start) if isinstance(name, int) else calendar.weekend(start)
    if name == "week" and base.granularity in ("day", "weekend", "span"):
        return calendar.days_of_week(base.start - WEEK if before else base.end)
    if name in ("day", "night"):
        day = base.start - DAY if before else base.end
        return calendar.day(day) if name == "day" else part_of_day(day, "night")
    return calendar.unit(name, calendar.step(name, base.start, -1 if before else 1))


def weekend_of(expression: Expression, _: Match, __: Context) -> Meaning | None:
    """Read "the 4th of July weekend": the weekend of its week, of a Monday the one before it."""
    if expression.meaning.kind != "date" or expression.day is None or expression.meaning.number:
        return None  # "the first weekend"
    return _each_year(
        expression, lambda day: calendar.weekend(day.start - (DAY if day.start.weekday() == 0 else 0 * DAY))
    )


def week_from(expression: Expression, match: Match, _: Context) -> Meaning | None:
    """Read "week commencing 14 October", "week ending Sunday": the seven days from or up to that day."""
    if expression.day is None:
        return None
    return Meaning(calendar.days_of_week(expression.day + DAY - WEEK if match["ending"] else expression.day))


def end_of_day(expression: Expression, _: Match, __: Context) -> Meaning | None:
    """Read "EOD Friday": that day."""
    return replace(expression.meaning, weak=False) if expression.is_a("day") else None


def this_time(expression: Expression, _: Match, ctx: Context) -> Meaning | None:
    """Read "this time next week": the day that is so far from today."""
    unit = ctx.folded[expression.start : expression.end].split()[-1]
    if expression.interval is None or unit not in ("week", "month", "year"):
        return None
    sign = 1 if expression.interval.start > ctx.today else -1
    return Meaning(calendar.day(calendar.step(unit, ctx.today, sign)))


def rest_of(expression: Expression, _: Match, ctx: Context) -> Meaning | None:
    """Read "the rest of August": from its beginning, or from today where it has begun."""
    base = expression.interval
    if base is None or not expression.is_a("month", "year", "season", "week", "weekend"):
        return None
    return Meaning(calendar.span(max(base.start, ctx.today), base.end) or base)


def open_since(expression: Expression, _: Match, ctx: Context) -> Meaning | None:
    """Read "since 2016": from then until now; of a year, weekday or day of the month that is ambiguous the last one."""
    base = expression.interval
    if base is not None and base.start >= ctx.now:
        if expression.meaning.yearly is not None:
            base = expression.meaning.yearly(base.start.year - 1)
        elif expression.meaning.kind == "weekday":
            base = calendar.day(base.start - WEEK)
        else:
            base = max(
                (day for day in expression.meaning.choices if day.start < ctx.now),
                key=lambda day: day.start,
                default=base,
            )
    since = calendar.span(base.start, ctx.now) if base else None
    return Meaning(since) if since else None


# The words before an expression, by the pattern `before_<name>` and its last words apart from "the": a cheap check that
# avoids most searches.
SUFFIXES = {"part": part_after, "week": week_on, "weekend": weekend_of}
PREFIXES: dict[str, Extend] = {
    "week_from": week_from, "end": end_of_day, "this_time": this_time, "rest": rest_of, "part": part_before,
    "third": third, "few_days": few_days_of, "nth": nth_of, "unit": unit_next_to,
}  # fmt: skip
SINCE: dict[str, Extend] = {"since": open_since}
SHORT = 24  # characters before an expression that contain its last two words


def _with_suffix(expression: Expression, ctx: Context) -> Expression:
    for name, extend in SUFFIXES.items():
        match = ctx.grammar.pattern(f"after_{name}").match(ctx.folded, expression.end, expression.end + WINDOW)
        meaning = possible(extend, expression, match, ctx) if match else None
        if match is not None and meaning is not None:
            expression = Expression(expression.start, match.end(), meaning)
    return expression


def _with_prefix(expression: Expression, ctx: Context, prefixes: dict[str, Extend]) -> Expression:
    last_words, word = ctx.grammar.last_words, _word_before(expression, ctx)
    for name, extend in prefixes.items():
        if word not in last_words[name]:
            continue
        match = ctx.before(f"before_{name}", expression.start, WINDOW)
        meaning = possible(extend, expression, match, ctx) if match else None
        if match is not None and meaning is not None:
            expression = Expression(match.start(), expression.end, meaning)
            word = _word_before(expression, ctx)
    return expression


def _word_before(expression: Expression, ctx: Context) -> str:
    """Return the word before an expression, apart from "the"."""
    words = ctx.folded[max(0, expression.start - SHORT) : expression.start].replace("-", " ").split()[-2:]
    if words and words[-1] == "the":
        words.pop()
    return words[-1] if words else ""


# ---- Numbers of units that count from an expression

LONGEST = 72  # characters between a number of units and what it is counted from
BEFORE = 16  # characters before a number of units in which "for" or "the first" stands


def _with_amount(expression: Expression, amounts: list[Expression], ctx: Context) -> Expression:
    return (possible(counted_from, expression, amounts, ctx) if amounts else None) or expression


def counted_from(expression: Expression, amounts: list[Expression], ctx: Context) -> Expression | None:
    """Join "two weekends before" + "17 July", "a week from" + "Friday", "the first three days of" + "November"."""
    for each in amounts:
        amount = each.meaning.amount
        if amount is None:
            continue
        if 0 < expression.start - each.end <= LONGEST:
            for join in (_from_side, _run_from, _part_of, _from_today):
                found = join(expression, each, amount, ctx)
                if found is not None:
                    return found
        elif 0 < each.start - expression.end <= LONGEST and ctx.grammar.pattern("between_lasting").fullmatch(
            ctx.folded, expression.end, each.start
        ):
            return _begun(expression, each, amount, ctx)
    return None


def _from_side(expression: Expression, counted: Expression, amount: Amount, ctx: Context) -> Expression | None:
    """Read "three days after Christmas"; with "for" before it, "two weeks from 3 May" is a run of days."""
    side = ctx.grammar.pattern("between_counted").fullmatch(ctx.folded, counted.end, expression.start)
    if side is None:
        return None
    if side["side"] == "from" and ctx.before("lasting_for", counted.start, BEFORE):
        return _run(expression, counted, amount)
    if side["side"] == "on" and amount.unit != "week":
        return None  # "it starts 3 months on Friday"
    if side["side"] == "from" and amount.unit == "day" and expression.meaning.kind == "date":
        return None  # "two days from 1 April": of a week with two days
    if side["event"] and not is_fine_enough(expression, amount.unit):
        return None
    meaning = _away(expression, amount, -1 if side["side"] in ("before", "prior to") else 1)
    return Expression(counted.start, expression.end, meaning) if meaning else None


def _away(expression: Expression, amount: Amount, sign: int) -> Meaning | None:
    base, number = expression.interval, amount.number
    if base is None or base.granularity in ("minute", "hour"):
        return None
    if amount.unit == "weekend":
        first = adjacent(base, "weekend", "before" if sign < 0 else "after")
        return Meaning(first and calendar.weekend(first.start + sign * (int(number.low) - 1) * WEEK))
    if amount.unit == "week" and expression.is_a("day") and number.exact:
        return Meaning(calendar.day(base.start + sign * int(number.low) * WEEK))
    return Meaning(units_from(amount.unit, number, base.start, sign))


def _run_from(expression: Expression, counted: Expression, amount: Amount, ctx: Context) -> Expression | None:
    """Read "4 days off starting Wednesday"."""
    starting = ctx.grammar.pattern("between_starting").fullmatch(ctx.folded, counted.end, expression.start)
    return _run(expression, counted, amount) if starting else None


def _run(expression: Expression, counted: Expression, amount: Amount) -> Expression | None:
    whole = _units_on(expression, amount)
    return Expression(counted.start, expression.end, Meaning(whole)) if whole else None


def _units_on(expression: Expression, amount: Amount) -> TimeInterval | None:
    base = expression.interval
    if base is None or not amount.number.exact or not expression.is_a("day", "month", "minute"):
        return None
    return calendar.span(base.start, calendar.step(amount.unit, base.start, int(amount.number.low)))


def _begun(expression: Expression, counted: Expression, amount: Amount, ctx: Context) -> Expression | None:
    """Read "from Monday for two weeks", "starting 3 May for ten days"."""
    before = ctx.folded[max(0, expression.start - BEFORE) : expression.start].split()
    if not before or before[-1] not in ("from", *ctx.words.listed("between.starting")):
        return None
    whole = _units_on(expression, amount)
    return Expression(expression.start, counted.end, Meaning(whole)) if whole else None


def _part_of(expression: Expression, counted: Expression, amount: Amount, ctx: Context) -> Expression | None:
    """Read "the first three days of November", "the last two weeks of August"."""
    nth = ctx.before("nth_before", counted.start, BEFORE)
    if nth is None or not ctx.grammar.pattern("between_of").fullmatch(ctx.folded, counted.end, expression.start):
        return None
    n, base, yearly, number = _position(nth, ctx), expression.interval, expression.meaning.yearly, amount.number
    if base is None or n not in (1, -1) or not number.exact:
        return None

    def part(whole: TimeInterval | None) -> TimeInterval | None:
        return run_of_units(whole, n, amount.unit, int(number.low)) if whole else None

    meaning = Meaning(part(base), yearly=(lambda year: part(yearly(year))) if yearly else None)
    return Expression(nth.start(), expression.end, meaning)


MOST_WEEKS_AHEAD = 3  # that are said so: "three weeks on Friday"


def _from_today(expression: Expression, counted: Expression, amount: Amount, ctx: Context) -> Expression | None:
    """Read "a week today", "a fortnight tomorrow", "a week Friday": so many weeks after that day."""
    if amount.unit != "week" or not expression.is_a("day") or ctx.folded[counted.end : expression.start] != " ":
        return None
    if amount.number.low > MOST_WEEKS_AHEAD:
        return None  # "she's 38 weeks next Thursday"
    back = ctx.folded.startswith(("last ", "yesterday"), expression.start)
    if not back and (
        ctx.direction(counted.start, expression.end) < 0 or ctx.before("lasting_for", counted.start, BEFORE)
    ):
        return None
    meaning = _away(expression, amount, -1 if back else 1)
    return Expression(counted.start, expression.end, meaning) if meaning else None


# ---- Languages with one list of words between any two


def _joined_by_glue(expressions: list[Expression], ctx: Context) -> list[Expression]:
    found: list[Expression] = []
    for each in expressions:
        found.append(each)
        while len(found) > 1 and (both := _both(found[-2], found[-1], ctx)) is not None:
            found[-2:] = [both]
    return found


# Words between a number of days and the date of the event that they count from.
_EVENT = re.compile(r"(?:,?[ \n]*[^\W\d_][\w']*){0,7}[ \n]*")
_BY_GLUE: tuple[Join, ...] = (
    in_that_year, weekday_in_week, weekday_and_date, day_in_month, part_of_a_day, day_and_clock,
)  # fmt: skip


def _both(first: Expression, second: Expression, ctx: Context) -> Expression | None:
    try:
        meaning = _by_glue(first, second, ctx.folded[first.end : second.start].strip(), ctx)
    except (ValueError, OverflowError):  # 29 February of a year that lacks it: no time, and neither is a part of it
        meaning = Meaning()
    return None if meaning is None else Expression(first.start, second.end, meaning)


def _by_glue(first: Expression, second: Expression, gap: str, ctx: Context) -> Meaning | None:
    """Return what two expressions mean together that a gap separates; None where they do not."""
    if first.meaning.side:
        return _counted_from_event(first, second, ctx)
    named = weekday_of(first) is not None or weekday_of(second) is not None  # those of a list, or of a habit
    if not named and gap in ctx.grammar.range and (meaning := through(first, second)) is not None:
        return meaning
    if gap.removeprefix(",").lstrip() not in ctx.grammar.between:
        return None
    both_ways = ((first, second), (second, first))  # but "faz 7 anos no dia 18" is an age
    joins: list[tuple[Join, tuple[Expression, Expression]]]
    joins = [(amount_from_day, pair) for pair in both_ways[: 2 - bool(gap)] if "," not in gap]
    joins += [(join, pair) for pair in both_ways for join in _BY_GLUE]
    found = (join(*pair) for join, pair in joins)
    return next((meaning for meaning in found if meaning is not None and meaning.interval is not None), None)


def _counted_from_event(offset: Expression, day: Expression, ctx: Context) -> Meaning | None:
    """Join "drei Tage vor" and "20. Mai" in "drei Tage vor meinem Geburtstag am 20. Mai"."""
    between, amount = ctx.folded[offset.end : day.start], offset.meaning.amount
    if amount is None or day.interval is None or not day.is_a("day", "month", "year"):
        return None
    if not _EVENT.fullmatch(between) or ctx.grammar.subject.search(between):
        return None
    start = calendar.step(amount.unit, day.interval.start, offset.meaning.side * int(amount.number.low))
    return Meaning(calendar.day(start) if amount.unit == "week" and day.day else calendar.unit(amount.unit, start))
