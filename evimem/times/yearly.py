"""The year of what recurs every year: a date, a month, a season or a holiday without a year."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime, timedelta

from .calendar import TimeInterval
from .context import AHEAD, BACK, PERHAPS_BACK, PRESENT
from .fragments import PREVIOUS, UPCOMING
from .lexicon import PREVIOUS_WORDS, UPCOMING_WORDS

Yearly = Callable[[int], TimeInterval | None]

# "last", "this past", "next", "this": which occurrence a word before a month, season or holiday names.
RELATIVE = rf"(?P<relative>(?:this )?{PREVIOUS}|(?:this )?{UPCOMING}|next|this)"


def occurrences(yearly: Yearly, year: int) -> list[TimeInterval]:
    """Return the occurrences around a year; 29 February, which skips years, is searched further away."""
    for reach in (1, 8):  # 8 years: between two leap years around 1900 or 2100
        found = []
        for number in range(year - reach, year + reach + 1):
            try:
                interval = yearly(number)
            except ValueError:
                continue
            if interval is not None:
                found.append(interval)
        if len(found) > 1:
            return found
    return []


def nearest(yearly: Yearly, today: datetime, direction: int) -> TimeInterval | None:
    """Return the occurrence that contains today, else the nearer one of the last and the next.

    `direction` is how the sentence looks at it: an occurrence on the other side counts as so many times farther as
    DOUBT says. So "we met in August", said in June, is a past one, and "the bill of 30 September", said in October,
    is of this year whatever the tense of its sentence seems to be.
    """
    return nearest_of(occurrences(yearly, today.year), today, direction)


# How many times farther an occurrence on the other side counts. A past tense may govern a day to come ("I got a slot on
# 14 May"), a "will" hardly one that is over. Chosen on our own tables in tests/times.
DOUBT: dict[int, float] = {BACK: 40, PERHAPS_BACK: 5, 0: 1.5, PRESENT: 2.5, AHEAD: 100}
DOUBT_OF_DAYS: dict[int, float] = DOUBT | {BACK: 20, PERHAPS_BACK: 3}
# Of the same day in two years one is mostly far nearer, and that says more than the tense: "Got my exam on 5/21!" said
# in April is of the same year. Chosen on our own tables in tests/times, as the others.
DOUBT_OF_YEARS: dict[int, float] = {BACK: 20, PERHAPS_BACK: 3, 0: 1.5, PRESENT: 2.5, AHEAD: 12}
YEARS = timedelta(days=200)  # two occurrences farther apart than this are of two years


def nearest_of(occurrences: list[TimeInterval], today: datetime, direction: int) -> TimeInterval | None:
    """Return the nearest of occurrences in order of time, as `nearest` does."""
    past = [interval for interval in occurrences if interval.start <= today]
    future = [interval for interval in occurrences if interval.end > today]
    if not past or not future:
        return None
    if past[-1].granularity in ("day", "span") and future[0].start - past[-1].start > YEARS:
        doubt = DOUBT_OF_YEARS[direction]
    else:
        doubt = DOUBT_OF_DAYS[direction] if past[-1].granularity == "day" else DOUBT[direction]
    since, until = abs(today - _middle(past[-1])), abs(_middle(future[0]) - today)
    if direction < 0:
        until *= doubt
    else:
        since *= doubt
    return past[-1] if since < until or past[-1] == future[0] else future[0]


def _middle(interval: TimeInterval) -> datetime:
    return interval.start + (interval.end - interval.start) / 2


def last(yearly: Yearly, today: datetime, back: int = 1) -> TimeInterval | None:
    """Return the latest occurrence that is over, or with `back` 2 the one before it."""
    over = [interval for interval in occurrences(yearly, today.year) if interval.end <= today]
    return yearly(over[-1].start.year - back + 1) if over else None


def upcoming(yearly: Yearly, today: datetime) -> TimeInterval | None:
    """Return the first occurrence that has yet to begin."""
    return next((interval for interval in occurrences(yearly, today.year) if interval.start > today), None)


def current(yearly: Yearly, today: datetime, direction: int) -> TimeInterval | None:
    """Return the occurrence that contains today, else the nearest in a known direction, else that of this year."""
    for interval in occurrences(yearly, today.year):
        if interval.start <= today < interval.end:
            return interval
    return nearest(yearly, today, direction) if direction else yearly(today.year)


def relative(words: str, yearly: Yearly, today: datetime, direction: int) -> TimeInterval | None:
    """Return the occurrence that a match of RELATIVE names."""
    word = words.rsplit(maxsplit=1)[-1]
    if word in PREVIOUS_WORDS:
        return last(yearly, today)
    return upcoming(yearly, today) if word in ("next", *UPCOMING_WORDS) else current(yearly, today, direction)
