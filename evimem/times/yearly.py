"""Choosing the year of what comes every year: a date, a month, a season or a feast that names none."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime

from .calendar import Interval

Yearly = Callable[[int], Interval | None]


def _around(yearly: Yearly, year: int) -> list[Interval]:
    """Return the occurrences around a year; 29 February, which skips years, is looked for further away."""
    for reach in (1, 8):
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


def nearest(yearly: Yearly, today: datetime, direction: int) -> Interval | None:
    """Return the latest occurrence that has begun, or looking ahead the earliest that is not over.

    Without a direction a month or a season is a past one, and a day the nearer of both.
    """
    return chosen(_around(yearly, today.year), today, direction)


def chosen(around: list[Interval], today: datetime, direction: int) -> Interval | None:
    """Return the nearest of occurrences in order of time, as `nearest` does."""
    past = [interval for interval in around if interval.start <= today]
    future = [interval for interval in around if interval.end > today]
    if not past or not future:
        return None
    if direction == 0 and past[-1].granularity == "day":
        direction = 1 if future[0].start - today < today - past[-1].start else -1
    return future[0] if direction > 0 else past[-1]


def last(yearly: Yearly, today: datetime, back: int = 1) -> Interval | None:
    """Return the latest occurrence that is over, or the one so many before."""
    over = [interval for interval in _around(yearly, today.year) if interval.end <= today]
    return yearly(over[-1].start.year - back + 1) if over else None


def upcoming(yearly: Yearly, today: datetime) -> Interval | None:
    """Return the first occurrence that has yet to begin."""
    return next((interval for interval in _around(yearly, today.year) if interval.start > today), None)


def current(yearly: Yearly, today: datetime, direction: int) -> Interval | None:
    """Return the occurrence that is on, else the nearest where a direction is known, else this year's."""
    for interval in _around(yearly, today.year):
        if interval.start <= today < interval.end:
            return interval
    return nearest(yearly, today, direction) if direction else yearly(today.year)


def turned(turn: str, yearly: Yearly, today: datetime, direction: int) -> Interval | None:
    """Return what "last", "this" or "next" makes of it."""
    word = turn.rsplit(maxsplit=1)[-1]
    if word in ("last", "past", "previous"):
        return last(yearly, today)
    return upcoming(yearly, today) if word in ("next", "coming", "upcoming") else current(yearly, today, direction)


TURN = r"(?P<turn>(?:this )?(?:last|past|previous)|(?:this )?(?:coming|upcoming)|next|this)"
