"""How expressions combine with each other and with the words around them: tables of joins, applied in a fixed order."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from ..lang import ENGLISH
from . import calendar
from .calendar import DAY, WEEK, TimeInterval
from .context import Context
from .lexicon import BETWEEN, Pattern, one_of
from .rule_types import Expression, Meaning, possible
from .side_joins import PREFIXES, SINCE, SUFFIXES, Prefix, counted_from

WHOLE_WEEKS = ((0, 4), (0, 5), (0, 6))  # Monday to Friday, Saturday, Sunday
Join = Callable[[Expression, Expression], "Meaning | None"]


@dataclass(frozen=True, slots=True)
class Pair:
    """A join of two expressions: `between` matches all that lies between them, `lead` what ends before the first.

    What `lead` matches belongs to the joined expression ("from" in "from March to May"). `join` returns None when the
    two do not belong together.
    """

    lead: Pattern
    between: Pattern
    join: Join


def weekday_and_date(left: Expression, right: Expression) -> Meaning | None:
    """Join "Friday" and "9 June": the date is the more precise."""
    for named, date in ((left, right), (right, left)):
        if named.meaning.kind == "weekday" and date.meaning.kind == "date" and (date.is_a("day") or date.is_unread):
            return Meaning(_on_weekday(named, date) or date.interval, yearly=date.meaning.yearly)
    return None


def _on_weekday(named: Expression, date: Expression) -> TimeInterval | None:
    """Return the day nearest to the reading of a date, of those that it may mean, that is on the named weekday.

    Without a reading, as of 6/7 in no order, it is the one nearest to that weekday.
    """
    if named.interval is None:
        return None
    start, weekday = (date.interval or named.interval).start, named.interval.start.weekday()
    found = [day for day in date.meaning.choices if day.start.weekday() == weekday]
    return min(found, key=lambda day: abs(day.start - start), default=None)


def weekday_in_week(left: Expression, right: Expression) -> Meaning | None:
    """Join "Tuesday" and "next week". With a weekday "last week" is the ISO week, not the seven days before today."""
    for named, week in ((left, right), (right, left)):
        if named.meaning.kind == "weekday" and named.interval and week.interval and week.is_a("week", "weekend"):
            monday = calendar.week(week.interval.start).start
            return Meaning(calendar.day(monday + named.interval.start.weekday() * DAY))
    return None


def day_in_month(left: Expression, right: Expression) -> Meaning | None:
    """Join "next month" and "the 5th"."""
    for month, day in ((left, right), (right, left)):
        if month.is_a("month") and month.interval and day.meaning.choices and day.meaning.yearly is None:
            found = [each for each in day.meaning.choices if month.interval.start <= each.start < month.interval.end]
            return Meaning(found[0]) if found else None
    return None


def in_that_year(left: Expression, right: Expression) -> Meaning | None:
    """Join "August" and "last year"."""
    for dated, year in ((left, right), (right, left)):
        if dated.meaning.yearly is not None and year.interval is not None and year.is_a("year"):
            return Meaning(dated.meaning.yearly(year.interval.start.year))
    return None


def day_and_clock(day: Expression, time: Expression) -> Meaning | None:
    """Join "yesterday" or "this evening" and "4 pm"; "at 7" is a time only with a part of the day."""
    clock = time.meaning.clock
    if clock is None or day.interval is None or not (day.meaning.kind == "part" or day.is_a("day")):
        return None
    if day.meaning.kind == "part":
        return Meaning(clock.within(day.interval) or (clock.near(day.interval) if clock.given else day.interval))
    return Meaning(clock.on(day.interval.start)) if clock.sure else replace(day.meaning, weak=False)


def clock_and_day(time: Expression, day: Expression) -> Meaning | None:
    """Join "4 pm" and "tomorrow"."""
    return day_and_clock(day, time)


def through(left: Expression, right: Expression) -> Meaning | None:
    """Join the ends of a range; an end without a year takes that of the other, and the last is after the first."""
    first, last = left.interval, right.interval
    if first is None or last is None or left.meaning.kind == right.meaning.kind == "clock":
        return None
    kinds = (left.meaning.kind, right.meaning.kind)
    if left.meaning.kind == "part" and right.meaning.kind == "date":  # "the night of the 19th to the 20th"
        return Meaning(first) if first.start < last.start <= first.start + 2 * DAY else None
    if kinds == ("weekday", "weekday"):
        return _weekdays(first, last)
    if kinds == ("weekday", "date"):
        first = calendar.day(calendar.weekday_before(last.start, first.start.weekday()))
    elif right.meaning.yearly is not None and (left.meaning.yearly is None or last.start < first.start):
        last = _after(first, right.meaning.yearly) or last
    elif left.meaning.choices and left.meaning.yearly is None:
        first = next((day for day in reversed(left.meaning.choices) if day.start < last.start), first)
    elif left.meaning.yearly is not None:
        first = _before(last, left.meaning.yearly) or first
    return _through(first, last)


def moved_from(start: int, ctx: Context) -> bool:
    """Return whether "moved from" stands before an index: "moved from Monday to Friday" is two days and no range."""
    return _MOVED.regex.search(ctx.folded, max(0, start - MOVED_REACH), start) is not None


def _through(first: TimeInterval, last: TimeInterval) -> Meaning | None:
    if first.start >= last.start:
        return None
    return Meaning(calendar.span(first.start, last.start if last.granularity == "minute" else last.end))


def opening_hours(left: Expression, right: Expression) -> Meaning | None:
    """Join "Mon" and "Fri" to what is no time: opening hours."""
    if left.interval is None or right.interval is None or left.meaning.kind != "weekday":
        return None
    whole = (left.interval.start.weekday(), right.interval.start.weekday()) in WHOLE_WEEKS
    return Meaning(None) if whole and right.meaning.kind == "weekday" else None


def _weekdays(first: TimeInterval, last: TimeInterval) -> Meaning | None:
    return _through(first, last if first.start <= last.start else calendar.day(last.start + WEEK))


def _after(first: TimeInterval, yearly: Callable[[int], TimeInterval | None]) -> TimeInterval | None:
    """Return the first occurrence that begins after another interval."""
    found = (yearly(year) for year in (first.start.year, first.start.year + 1))
    return next((each for each in found if each is not None and each.start > first.start), None)


def _before(last: TimeInterval, yearly: Callable[[int], TimeInterval | None]) -> TimeInterval | None:
    """Return the last occurrence that begins before another interval."""
    found = (yearly(year) for year in (last.start.year, last.start.year - 1))
    return next((each for each in found if each is not None and each.start < last.start), None)


MOVED_REACH = 48  # characters before a time in which a verb of moving it stands
_MOVED = Pattern(
    rf"\b{one_of(ENGLISH.words('times.moving_verbs'))}\b"
    r"(?: (?!and\b|but\b|then\b|to\b)[\w:'-]{1,12}){0,5}? from (?:the )?\Z"
)
_NOTHING = Pattern(r"\Z")
_AT = rf"(?:{one_of(BETWEEN['same_day'])} ?)?"
SAME_DAY = (
    Pair(_NOTHING, Pattern(rf"(?: then)?[,:;]? \(?{_AT}"), day_and_clock),
    Pair(_NOTHING, Pattern(rf" {_AT}"), clock_and_day),
)
SAME_YEAR = Pair(_NOTHING, Pattern(rf",? (?:{one_of(BETWEEN['same_year'])} )?(?:the )?"), in_that_year)
CLOSE: tuple[Pair, ...] = (
    Pair(_NOTHING, Pattern(r"[.,]? (?:the |on |on the )?\(?"), weekday_and_date),
    Pair(_NOTHING, Pattern(r",? (?:of |in |on |at )?"), weekday_in_week),
    Pair(Pattern(r"(?<!from )\Z"), Pattern(r" (?:to|through|thru|until|till) | ?- ?"), opening_hours),
    SAME_YEAR,
    Pair(_NOTHING, Pattern(r",? (?:on )?"), day_in_month),
)
RANGES: tuple[Pair, ...] = (
    Pair(
        Pattern(r"\b(?:from|between) (?:the )?\Z"), Pattern(r" (?:to|until|till|through|and) (?:the )?| ?- ?"), through
    ),
    Pair(_NOTHING, Pattern(r" (?:to|through|thru|until|till) (?:the )?| ?- ?"), through),
)


WINDOW = 96  # characters on each side of an expression that are read for a join: bounds the work
SHORT = 24  # characters before an expression that contain its last two words


def joined(expressions: list[Expression], ctx: Context) -> list[Expression]:
    """Return the expressions joined with the adjacent expressions and words that belong to them, not overlapping."""
    for pair in CLOSE:
        expressions = _paired(expressions, ctx, pair)
    expressions = [_with_count(_with_prefix(_with_suffix(each, ctx), ctx, *PREFIXES), ctx) for each in expressions]
    for pair in (*SAME_DAY, SAME_YEAR, *RANGES):  # "Friday evening at 7", "early June last year", "from May to July"
        expressions = _paired(expressions, ctx, pair)
    return _disjoint([_with_prefix(each, ctx, SINCE) for each in expressions])


def _paired(expressions: list[Expression], ctx: Context, pair: Pair) -> list[Expression]:
    kept: list[Expression] = []
    for right in expressions:
        whole = _pair(kept[-1], right, ctx, pair) if kept else None
        if whole is None:
            kept.append(right)
        else:
            kept[-1] = whole
    return kept


def _pair(left: Expression, right: Expression, ctx: Context, pair: Pair) -> Expression | None:
    if pair in RANGES and moved_from(left.start, ctx):
        return None
    if right.start - left.end > WINDOW or not pair.between.regex.fullmatch(ctx.folded, left.end, right.start):
        return None
    lead = pair.lead.regex.search(ctx.folded, max(0, left.start - WINDOW), left.start)
    meaning = possible(pair.join, left, right) if lead else None
    return None if lead is None or meaning is None else Expression(lead.start(), right.end, meaning)


def _with_suffix(expression: Expression, ctx: Context) -> Expression:
    for suffix in SUFFIXES:
        match = suffix.pattern.regex.match(ctx.folded, expression.end, expression.end + WINDOW)
        meaning = possible(suffix.extend, expression, match, ctx) if match else None
        if match is not None and meaning is not None:
            expression = Expression(expression.start, match.end(), meaning)
    return expression


def _with_prefix(expression: Expression, ctx: Context, *prefixes: Prefix) -> Expression:
    for prefix in prefixes:
        if _word_before(expression, ctx) not in prefix.last:
            continue
        match = prefix.pattern.regex.search(ctx.folded, max(0, expression.start - WINDOW), expression.start)
        meaning = possible(prefix.extend, expression, match, ctx) if match else None
        if match is not None and meaning is not None:
            expression = Expression(match.start(), expression.end, meaning)
    return expression


def _with_count(expression: Expression, ctx: Context) -> Expression:
    if not ctx.counts:
        return expression
    whole = possible(counted_from, expression, ctx)
    return whole or expression


def _word_before(expression: Expression, ctx: Context) -> str:
    """Return the word before an expression, apart from "the": a cheap check that avoids most searches."""
    words = ctx.folded[max(0, expression.start - SHORT) : expression.start].replace("-", " ").split()[-2:]
    if words and words[-1] == "the":
        words.pop()
    return words[-1] if words else ""


def _disjoint(expressions: list[Expression]) -> list[Expression]:
    """Drop what is part of a later expression: "Friday" in "the Friday before 9 June"."""
    kept: list[Expression] = []
    for each in expressions:
        while kept and kept[-1].start >= each.start:
            kept.pop()
        if not kept or kept[-1].end <= each.start:
            kept.append(each)
    return kept
