"""Dates, months, seasons and years, the first, middle and last third of one, and what they are joined with."""

from __future__ import annotations

import re
from datetime import datetime

from .. import calendar
from ..calendar import DAY, TimeInterval
from ..date_order import date_in_figures, month_and_day
from ..times_of_day import Clock
from ..yearly import Yearly, nearest
from .date_pieces import Match, Said, TimePiece, span_of
from .numerals import number
from .word_patterns import SpelledTable

_AFTERNOON = ("afternoon", "evening", "night")
_NO_WORDS: SpelledTable[int] = SpelledTable({})
_YEARS = range(1500, 2200)
_MONTH, _JUST_OVER = 31 * DAY, 3 * DAY  # how long ago a day of a month may be, looking back and otherwise
_AGAINST_TENSE = 3
_GOES_ON = re.compile(r"[/.-]\d")
_SURE_FROM = 8  # the hour from which on a clock of twelve hours is read as it stands


def month_or_season(match: Match, said: Said) -> Yearly:
    if match.groupdict().get("season"):
        first = said.words.seasons.of(match["season"])
        return lambda year: calendar.season(year, first)
    month = _month_number(match, said)
    return lambda year: calendar.month(year, month)


def _month_number(match: Match, said: Said) -> int:
    words = match.groupdict()
    if words.get("month"):
        return said.words.months.of(words["month"])
    found = number(match["number"], said.words.numbers)
    if not 1 <= found <= 12:
        raise ValueError(f"{found} is no month")
    return found


def date(match: Match, said: Said) -> TimePiece:
    month, day = _month_number(match, said), number(match["day"], said.words.numbers)
    if match.groupdict().get("year"):
        return TimePiece(*span_of(match), calendar.day(datetime(_year_number(match), month, day)))
    return _yearless(match, said, month, day)


def _yearless(match: Match, said: Said, month: int, day: int) -> TimePiece:
    def yearly(year: int) -> TimeInterval:
        return calendar.day(datetime(year, month, day))

    return TimePiece(*span_of(match), nearest(yearly, said.today, 0), yearly=yearly)


def numeric(match: Match, said: Said) -> TimePiece | None:
    """Read a date in figures; one that may be either of two days has no interval."""
    words = match.groupdict()
    if words.get("figures"):
        found = date_in_figures(words["figures"], said.date_order)
        return TimePiece(*span_of(match), None if found is None else calendar.day(found))
    if words.get("year"):
        return date(match, said)
    if _GOES_ON.match(said.text, match.end()):
        return None  # a part of a longer number
    first, second = int(match["day"]), int(match["number"])
    month = month_and_day(first, second, said.date_order, dotted="." in match[0], yearless=True)
    return TimePiece(*span_of(match)) if month is None else _yearless(match, said, *month)


def _year_number(match: Match) -> int:
    found = number(match["year"], _NO_WORDS)
    if found not in _YEARS:
        raise ValueError(f"{found} is no year that people speak of")
    return found


def whole_year(match: Match, _: Said) -> TimePiece:
    return TimePiece(*span_of(match), calendar.year(_year_number(match)))


def month_of_year(match: Match, said: Said) -> TimePiece:
    return TimePiece(*span_of(match), month_or_season(match, said)(_year_number(match)))


def bare_month(match: Match, said: Said) -> TimePiece:
    start, end = span_of(match)
    yearly = month_or_season(match, said)
    return TimePiece(start, end, nearest_month(yearly, said.today, said.direction(start, end)), yearly=yearly)


def nearest_month(yearly: Yearly, today: datetime, direction: int) -> TimeInterval | None:
    """Return the occurrence that begins nearest to today; against the tense it must be three times as near."""
    found = [interval for year in (-1, 0, 1) if (interval := yearly(today.year + year)) is not None]

    def distance(interval: TimeInterval) -> tuple[float, bool]:
        days = (interval.start - today).days
        against = days * direction < 0 and not interval.start <= today < interval.end
        return abs(days) * (_AGAINST_TENSE if against else 1), against

    return min(found, key=distance)


def numbered_day(match: Match, said: Said) -> TimePiece | None:
    day = number(match["day"], said.words.numbers)
    return TimePiece(*span_of(match), number=day) if 1 <= day <= 31 else None


def sure_numbered_day(match: Match, said: Said) -> TimePiece | None:
    start, end = span_of(match)
    day = number(match["day"], said.words.numbers)
    earliest = said.today - (_MONTH if said.direction(start, end) < 0 else _JUST_OVER)
    found = [each for each in days_numbered(day, said.today) if each >= earliest]
    return TimePiece(start, end, calendar.day(found[0]), number=day) if found else None


def days_numbered(day: int, today: datetime) -> list[datetime]:
    """Return the days with a number in the months around today, six on each side."""
    months = [calendar.first_of_month(today.year, today.month + distance) for distance in range(-6, 7)]
    days = [month + (day - 1) * DAY for month in months]
    return [each for each, month in zip(days, months, strict=True) if each.month == month.month]


def third(match: Match, said: Said) -> TimePiece | None:
    index = said.words.thirds.of(match["third"])
    words = match.groupdict()
    if words.get("unit"):
        whole: TimeInterval | None = calendar.unit(said.words.units.of(words["unit"]), said.today)
    elif words.get("year"):
        whole = month_of_year(match, said).interval
    else:
        whole = bare_month(match, said).interval
    return None if whole is None else TimePiece(*match.span(), third_of(whole, index))


def third_of(whole: TimeInterval, index: int) -> TimeInterval | None:
    """Return a third of a month (its first ten days, the next ten, the rest), a season or a year; else None."""
    if whole.granularity == "month":
        ends = [whole.start, whole.start + 10 * DAY, whole.start + 20 * DAY, whole.end]
    elif whole.granularity in {"year", "season"}:
        months = 4 if whole.granularity == "year" else 1
        ends = [calendar.shift_months(whole.start, months * n) for n in range(4)]
    else:
        return None
    return calendar.span(ends[index], ends[index + 1])


def part(match: Match, said: Said) -> TimePiece:
    return TimePiece(*span_of(match), part=said.words.parts.of(match["part"]))


def clock(match: Match, said: Said) -> TimePiece | None:
    words = match.groupdict()
    hour = number(words["hour"], said.words.numbers)
    minutes = int(words["minute"]) if words.get("minute") else 30 if words.get("half") else 0
    part = said.words.parts.of(words["part"]) if words.get("part") else ""
    if hour > 24:
        return None
    if hour < 12 and part in _AFTERNOON:
        hour += 12
    sure = bool(part) or bool(words.get("minute")) or hour >= _SURE_FROM
    return TimePiece(*span_of(match), clock=Clock(60 * hour + minutes, sure=sure))
