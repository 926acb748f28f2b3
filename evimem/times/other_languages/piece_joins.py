"""Neighbouring pieces as one expression: "samedi" and "soir", 来月 and 5日, "fin" and "août"."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from .. import calendar
from ..calendar import DAY, TimeInterval
from ..times_of_day import part_of_day
from .date_pieces import Said, TimePiece
from .dated_pieces import days_numbered

Join = Callable[[TimePiece, TimePiece, Said], "TimeInterval | None"]


def joined(pieces: Iterable[TimePiece], said: Said) -> list[TimePiece]:
    """Return the pieces with all neighbours joined that make one expression together."""
    found: list[TimePiece] = []
    for piece in pieces:
        found.append(piece)
        while len(found) > 1 and (both := _both(found[-2], found[-1], said)) is not None:
            found[-2:] = [both]
    return found


def _both(first: TimePiece, second: TimePiece, said: Said) -> TimePiece | None:
    gap = said.text[first.end : second.start].strip()
    try:
        if gap in said.grammar.range and (days := _range_of_days(first, second)) is not None:
            return TimePiece(first.start, second.end, days)
        return _one_time(first, second, said) if gap in said.grammar.between else None
    except (ValueError, OverflowError):  # 29 February of a year that lacks it: no time, and neither is a part of it
        return TimePiece(first.start, second.end)


def _one_time(first: TimePiece, second: TimePiece, said: Said) -> TimePiece | None:
    for one, other in ((first, second), (second, first)):
        for join in _JOINS:
            interval = join(one, other, said)
            if interval is not None:
                weekday = one.weekday if join is _part_of_a_day else None
                return TimePiece(first.start, second.end, interval, weekday=weekday)
    return None


def _range_of_days(first: TimePiece, last: TimePiece) -> TimeInterval | None:
    """Join "1" and "9 de junio" to the days from the one to the other."""
    if last.day is None or last.interval is None or not first.number:
        return None
    start = last.day.replace(day=1) + (first.number - 1) * DAY
    return calendar.span(start, last.interval.end) if start < last.day else None


def _part_of_a_day(day: TimePiece, other: TimePiece, _: Said) -> TimeInterval | None:
    """Join "hier" and "soir"."""
    return part_of_day(day.day, other.part) if day.day is not None and other.part else None


def _clock_of_a_day(day: TimePiece, other: TimePiece, _: Said) -> TimeInterval | None:
    """Join "jeudi" and "14h", or a part of a day and a clock that lies in it."""
    if other.clock is None or day.interval is None:
        return None
    if day.day is not None:
        return other.clock.on(day.day) if other.clock.sure else None
    if day.interval.granularity != "span" or day.interval.end - day.interval.start >= DAY:
        return None
    return other.clock.within(day.interval)


def _weekday_of_a_week(weekday: TimePiece, week: TimePiece, _: Said) -> TimeInterval | None:
    """Join 土曜 and 先週の."""
    if weekday.weekday is None or week.interval is None or week.interval.granularity != "week":
        return None
    return calendar.day(week.interval.start + weekday.weekday * DAY)


def _numbered_day(day: TimePiece, month: TimePiece, _: Said) -> TimeInterval | None:
    """Join "le 5" and "du mois prochain"."""
    if not day.number or month.interval is None or month.interval.granularity != "month":
        return None
    found = month.interval.start + (day.number - 1) * DAY
    return calendar.day(found) if found < month.interval.end else None


def _weekday_and_number(weekday: TimePiece, day: TimePiece, said: Said) -> TimeInterval | None:
    """Join "miércoles" and "9": the nearest such day that is that weekday."""
    if weekday.weekday is None or not day.number:
        return None
    days = [each for each in days_numbered(day.number, said.today) if each.weekday() == weekday.weekday]
    return calendar.day(min(days, key=lambda each: abs(each - said.today))) if days else None


def _weekday_and_date(weekday: TimePiece, date: TimePiece, _: Said) -> TimeInterval | None:
    """Join "mardi" and "19 mars": the date, whichever weekday it is."""
    return date.interval if weekday.weekday is not None and date.day is not None and date.weekday is None else None


def _of_a_year(recurring: TimePiece, year: TimePiece, _: Said) -> TimeInterval | None:
    """Join 5月 and 去年."""
    if recurring.yearly is None or year.interval is None or year.interval.granularity != "year":
        return None
    return recurring.yearly(year.interval.start.year)


_JOINS: tuple[Join, ...] = (
    _of_a_year,
    _weekday_of_a_week,
    _weekday_and_date,
    _weekday_and_number,
    _numbered_day,
    _part_of_a_day,
    _clock_of_a_day,
)
