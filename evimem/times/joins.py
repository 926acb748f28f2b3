"""How expressions combine with what stands beside them: "August" + "last year", "the week before" + "9 June".

Three tables, applied in this order: a pair joins two neighbours by the words between them, a suffix extends an
expression by the words after it, a prefix by the words before it. Pairs that make ranges come last.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import datetime

from . import calendar as cal
from .calendar import DAY, WEEK, Interval
from .clock import PARTS, part_of_day
from .context import Context
from .lexicon import (
    ABOUT,
    COUNT,
    NUMBERS,
    ORDINALS,
    UNIT,
    UNITS,
    WEEKDAY,
    WEEKDAYS,
    Quantity,
    compiled,
    one_of,
    quantity,
)
from .relative import counted
from .rule import Reading

Match = re.Match[str]
WINDOW = 48  # characters beside an expression that are read for a join


@dataclass(frozen=True, slots=True)
class Found:
    """An expression in the text and what it means."""

    start: int
    end: int
    reading: Reading

    @property
    def interval(self) -> Interval | None:
        return self.reading.interval


def _is(found: Found, *granularities: str) -> bool:
    return found.interval is not None and found.interval.granularity in granularities


def _is_day(found: Found) -> bool:
    return _is(found, "day") or found.reading.kind == "part"


# -- pairs ------------------------------------------------------------------------------------------------------------


def in_that_year(left: Found, right: Found) -> Reading | None:
    """Join "August" and "last year", either way round."""
    for dated, year in ((left, right), (right, left)):
        if dated.reading.yearly is not None and year.interval is not None and year.interval.granularity == "year":
            return Reading(dated.reading.yearly(year.interval.start.year))
    return None


def weekday_in_week(left: Found, right: Found) -> Reading | None:
    """Join "Tuesday" and "next week", either way round; also "Sunday" and "last weekend"."""
    for named, week in ((left, right), (right, left)):
        if named.reading.kind == "weekday" and named.interval and week.interval and _is(week, "week", "weekend"):
            monday = cal.week(week.interval.start).start  # "last week" alone counts back from today; here it is ISO's
            return Reading(cal.day(monday + named.interval.start.weekday() * DAY))
    return None


def weekday_and_date(left: Found, right: Found) -> Reading | None:
    """Join "Friday" and "9 June": the date says more."""
    for named, date in ((left, right), (right, left)):
        if named.reading.kind == "weekday" and date.reading.kind == "date" and _is(date, "day"):
            return date.reading
    return None


def day_and_clock(left: Found, right: Found) -> Reading | None:
    """Join "yesterday" or "this evening" and "4 pm", either way round."""
    for day, time in ((left, right), (right, left)):
        clock = time.reading.clock
        if clock is None or day.interval is None or not _is_day(day):
            continue
        if day.reading.kind == "part" and not (clock.sure and day.interval.granularity == "day"):
            return Reading(clock.within(day.interval) or day.interval)
        return Reading(clock.on(day.interval.start)) if clock.sure or clock.minutes % 60 else day.reading
    return None


def weekday_of_date(left: Found, right: Found) -> Reading | None:
    return weekday_and_date(left, right)


def clock_range(left: Found, right: Found) -> Reading | None:
    if left.interval and right.interval and _is(left, "minute") and _is(right, "minute"):
        return Reading(cal.span(left.interval.start, right.interval.start))
    return None


def through(left: Found, right: Found) -> Reading | None:
    """Join the ends of a range; a left end without a year takes the right one's."""
    first, last = left.interval, right.interval
    if first is None or last is None or right.reading.kind == "vague":
        return None
    if left.reading.yearly is not None:
        found = left.reading.yearly(last.start.year)
        if found is not None and found.start > last.start:
            found = left.reading.yearly(last.start.year - 1)
        first = found or first
    if first.granularity == "minute" and last.granularity == "minute":
        return Reading(cal.span(first.start, last.start))
    if first.start >= last.start and left.reading.kind == right.reading.kind == "weekday":
        last = cal.day(last.start + WEEK)
    return Reading(cal.span(first.start, last.end)) if first.start < last.start else None


# -- suffixes ---------------------------------------------------------------------------------------------------------


def part_of_that_day(found: Found, match: Match, ctx: Context) -> Reading | None:
    if found.interval is None or not _is(found, "day"):
        return None
    return Reading(part_of_day(found.interval.start, match["part"]), "part")


def week_on(found: Found, match: Match, ctx: Context) -> Reading | None:
    """Read "Tuesday week": a week after the coming Tuesday."""
    if found.reading.kind != "weekday" or found.interval is None or not ctx.complete(found.end + match.end()):
        return None
    return Reading(cal.day(found.interval.start + WEEK))


def in_numbered_year(found: Found, match: Match, ctx: Context) -> Reading | None:
    if found.reading.yearly is None:
        return None
    return Reading(found.reading.yearly(int(match["year"])))


# -- prefixes ---------------------------------------------------------------------------------------------------------

_THIRDS = {"early": 0, "beginning": 0, "start": 0, "mid": 1, "middle": 1, "late": 2, "end": 2}


def third(found: Found, match: Match, ctx: Context) -> Reading | None:
    """Read "early June", "the end of last month": a third of it, in whole days, months or years."""
    interval, part = found.interval, match["third"]
    if interval is None or interval.granularity not in ("month", "year", "season", "decade", "week", "span"):
        return None

    def cut(whole: Interval | None) -> Interval | None:
        return None if whole is None else _third(whole, _THIRDS[part])

    yearly = found.reading.yearly
    return Reading(cut(interval), yearly=None if yearly is None else lambda year: cut(yearly(year)))


def _third(whole: Interval, index: int) -> Interval | None:
    """Return a third: ten days of a month, four months of a year, a month of a season, three years of a decade."""
    start, name, size = whole.start, "day", 10
    if whole.granularity == "year":
        name, size = "month", 4
    elif whole.granularity == "season":
        return cal.month(start.year, start.month + index)
    elif whole.granularity == "decade":
        edges = (0, 4, 7, 10)
        return cal.span(datetime(start.year + edges[index], 1, 1), datetime(start.year + edges[index + 1], 1, 1))
    elif whole.granularity in ("week", "span"):
        size = max(1, (whole.end - whole.start).days // 3)
    first = cal.step(name, start, size * index)
    return cal.span(first, whole.end if index == 2 else cal.step(name, first, size))


_NTH = {word: number for word, number in ORDINALS.items() if number <= 5} | {"last": -1, "final": -1}
_NTH |= {"1st": 1, "2nd": 2, "3rd": 3, "4th": 4, "5th": 5}


def nth_of(found: Found, match: Match, ctx: Context) -> Reading | None:
    """Read "the first weekend of August", "the last week of May", "the second Tuesday in June"."""
    whole, n, words = found.interval, _NTH[match["nth"]], match["of"]
    if whole is None or whole.granularity not in ("month", "year", "season", "span"):
        return None

    def pick(interval: Interval | None) -> Interval | None:
        return None if interval is None else _nth(interval, n, words)

    yearly = found.reading.yearly
    return Reading(pick(whole), yearly=None if yearly is None else lambda year: pick(yearly(year)))


def _nth(whole: Interval, n: int, words: str) -> Interval | None:
    if words == "weekend" or words in WEEKDAYS:
        weekday = cal.SATURDAY if words == "weekend" else WEEKDAYS[words]
        if n < 0:
            start = cal.weekday_before(whole.end, weekday)
        else:
            start = cal.weekday_after(whole.start - DAY, weekday) + (n - 1) * WEEK
        if not whole.start <= start < whole.end:
            return None
        return cal.weekend(start) if words == "weekend" else cal.day(start)
    if words == "week":
        return cal.days_of_week(whole.end - WEEK if n < 0 else whole.start + (n - 1) * WEEK)
    if words == "half":
        middle = cal.step("month", whole.start, 6) if whole.granularity == "year" else whole.start + 15 * DAY
        return cal.span(middle, whole.end) if n in (-1, 2) else cal.span(whole.start, middle)
    start = cal.step(words, whole.end, -1) if n < 0 else cal.step(words, whole.start, n - 1)
    return cal.unit(words, start)


def unit_beside(found: Found, match: Match, ctx: Context) -> Reading | None:
    """Read "the week before 9 June" as the seven days before it, "the Friday before" as the last one before."""
    base, name, side = found.interval, match["unit"], match["side"]
    if base is None or base.granularity in ("minute", "hour"):
        return None
    if name in WEEKDAYS:
        number = WEEKDAYS[name]
        day = cal.weekday_before(base.start, number) if side != "after" else cal.weekday_after(base.end - DAY, number)
        return Reading(cal.day(day)) if side != "of" else None
    return Reading(_beside(base, name, side))


def _beside(base: Interval, name: str, side: str) -> Interval | None:
    if side == "of":
        return None if name == "weekend" and _size(base) > 7 else cal.unit(name, base.start)
    sign = -1 if side == "before" else 1
    if name == "week" and base.granularity not in ("week", "month", "year"):
        return cal.days_of_week(base.start - WEEK if sign < 0 else base.end)
    if name == "weekend":
        saturday = cal.weekday_before(base.start, cal.SATURDAY) if sign < 0 else cal.weekday_after(base.end - DAY, 5)
        return cal.weekend(saturday)
    if name == "night":
        return part_of_day(base.start + sign * DAY, "night")
    if name == "day":
        return cal.day(base.start - DAY if sign < 0 else base.end)
    return cal.unit(name, cal.step(name, base.start, sign))


def _size(interval: Interval) -> int:
    return (interval.end - interval.start).days


def count_beside(found: Found, match: Match, ctx: Context) -> Reading | None:
    """Read "two weekends before 17 July", "three days after Christmas", "a week from Friday"."""
    base, unit, number = found.interval, UNITS[match["unit"]], quantity(match["count"])
    if base is None or base.granularity in ("minute", "hour"):
        return None
    sign = -1 if match["side"] in ("before", "prior to") else 1
    if unit.name == "weekend":
        first = _beside(base, "weekend", "before" if sign < 0 else "after")
        return Reading(first and cal.weekend(first.start + sign * (int(number.low) - 1) * WEEK))
    if _is(found, "day") and unit.name == "week" and number.low == number.high:
        return Reading(cal.day(base.start + sign * int(number.low) * unit.count * WEEK))
    total = Quantity(number.low * unit.count, number.high * unit.count)
    return Reading(counted(unit.name, total, base.start, sign))


def open_since(found: Found, match: Match, ctx: Context) -> Reading | None:
    """Read "since 2016": from then until now. Of what is yet to come there is no since."""
    base = found.interval
    if base is None:
        return None
    if base.start >= ctx.now and found.reading.yearly is not None:
        base = found.reading.yearly(base.start.year - 1) or base
    if base.start >= ctx.now and found.reading.kind == "weekday":
        base = cal.day(base.start - WEEK)
    return Reading(cal.span(base.start, ctx.now)) if match["since"] != "until" else None


Pair = Callable[[Found, Found], "Reading | None"]
Side = Callable[[Found, Match, Context], "Reading | None"]

_ANY = one_of([*UNITS])
PAIRS: tuple[tuple[re.Pattern[str], Pair], ...] = (
    (compiled(r",? ?(?:the |\(|on )?"), weekday_and_date),
    (compiled(r",? (?:of |in |on |at |at around |around )?"), weekday_in_week),
    (compiled(r",? (?:of |in |at |on |around |over )?"), in_that_year),
    (compiled(r",? (?:at |around |at around |about |on |by |from )?(?:exactly )?"), day_and_clock),
)
SUFFIXES: tuple[tuple[re.Pattern[str], Side], ...] = (
    (compiled(r",? (?:in the |at )?(?P<part>morning|afternoon|evening|night)\b"), part_of_that_day),
    (compiled(r" week\b(?! )"), week_on),
)
_BESIDE = rf"(?P<unit>day|night|week|weekend|month|year|{WEEKDAY})"
PREFIXES: tuple[tuple[re.Pattern[str], Side], ...] = (
    (
        compiled(
            r"\b(?:the )?(?:very )?(?P<third>early|mid|late|beginning|start|middle|end)(?: in| part of| of|)[ -](?:the )?$"
        ),
        third,
    ),
    (
        compiled(
            rf"\b(?:the )?(?P<nth>{one_of(_NTH)}) (?P<of>day|weekend|week|month|half|{WEEKDAY}) (?:of|in) (?:the month of )?$"
        ),
        nth_of,
    ),
    (compiled(rf"\b(?:the )?{_BESIDE} (?P<side>before|after|of|following) (?:the )?$"), unit_beside),
    (
        compiled(rf"(?P<count>{COUNT}) ?(?P<unit>{UNIT}) (?P<side>before|after|prior to|from|following|on) $"),
        count_beside,
    ),
)
RANGES: tuple[tuple[re.Pattern[str], re.Pattern[str], Pair], ...] = (
    (compiled(r"\b(?:from|between) (?:the )?$"), compiled(r" (?:to|until|till|through|and) (?:the )?| ?- ?"), through),
    (compiled(r"$"), compiled(r" (?:to|through|until|till) (?:the )?| ?- ?"), through),
)
OPEN: tuple[tuple[re.Pattern[str], Side], ...] = (
    (compiled(r"\b(?P<since>(?:ever )?since) (?:about |around |the )?$"), open_since),
)


def joined(found: list[Found], ctx: Context) -> list[Found]:
    """Return the expressions with every neighbour that belongs to them taken in."""
    for between, join in PAIRS:
        found = _pairs(found, ctx, between, join)
    for after, extend in SUFFIXES:
        found = [_suffixed(each, ctx, after, extend) for each in found]
    found = _pairs(found, ctx, PAIRS[3][0], day_and_clock)  # "Friday evening at 7"
    for before, extend in PREFIXES:
        found = [_prefixed(each, ctx, before, extend) for each in found]
    found = _pairs(found, ctx, PAIRS[2][0], in_that_year)  # "early June last year"
    for lead, between, join in RANGES:
        found = _ranges(found, ctx, lead, between, join)
    for before, extend in OPEN:
        found = [_prefixed(each, ctx, before, extend) for each in found]
    return _disjoint(found)


def _pairs(found: list[Found], ctx: Context, between: re.Pattern[str], join: Pair) -> list[Found]:
    kept: list[Found] = []
    for right in found:
        left = kept[-1] if kept else None
        if (
            left is not None
            and right.start - left.end <= WINDOW
            and between.fullmatch(ctx.folded, left.end, right.start)
        ):
            reading = join(left, right)
            if reading is not None:
                kept[-1] = Found(left.start, right.end, reading)
                continue
        kept.append(right)
    return kept


def _ranges(
    found: list[Found], ctx: Context, lead: re.Pattern[str], between: re.Pattern[str], join: Pair
) -> list[Found]:
    kept: list[Found] = []
    for right in found:
        left = kept[-1] if kept else None
        if left is not None and between.fullmatch(ctx.folded, left.end, right.start):
            opening = lead.search(ctx.folded, max(0, left.start - WINDOW), left.start)
            reading = join(left, right) if opening else None
            if opening and reading is not None:
                kept[-1] = Found(opening.start(), right.end, reading)
                continue
        kept.append(right)
    return kept


def _suffixed(found: Found, ctx: Context, after: re.Pattern[str], extend: Side) -> Found:
    match = after.match(ctx.folded, found.end, found.end + WINDOW)
    reading = extend(found, match, ctx) if match else None
    return found if match is None or reading is None else Found(found.start, match.end(), reading)


def _prefixed(found: Found, ctx: Context, before: re.Pattern[str], extend: Side) -> Found:
    match = before.search(ctx.folded, max(0, found.start - WINDOW), found.start)
    reading = extend(found, match, ctx) if match else None
    return found if match is None or reading is None else Found(match.start(), found.end, reading)


def _disjoint(found: list[Found]) -> list[Found]:
    kept: list[Found] = []
    for each in found:
        while kept and kept[-1].start >= each.start:
            kept.pop()
        if not kept or kept[-1].end <= each.start:
            kept.append(each)
    return kept
