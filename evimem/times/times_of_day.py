"""Times of day, which wait for the day they belong to."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta

from .calendar import Interval, hour, midnight, minute, span


@dataclass(frozen=True, slots=True)
class Clock:
    """A time of day in minutes from midnight.

    `sure` is False where am and pm are both possible ("at 7"): such a clock is read only within a part of the day.
    """

    minutes: int
    exact: bool = True
    sure: bool = True

    def on(self, day: datetime) -> Interval:
        moment = midnight(day) + timedelta(minutes=self.minutes)
        return minute(moment) if self.exact else hour(moment)

    def within(self, part: Interval) -> Interval | None:
        """Return the clock time inside a part of the day, in the morning or the afternoon as the part wants."""
        for minutes in (self.minutes, self.minutes + 12 * 60):
            moment = midnight(part.start) + timedelta(minutes=minutes)
            if part.start <= moment < part.end:
                return minute(moment)
        return None


# A night is counted to the day it begins on and ends at midnight, so that every part lies within its day.
PARTS = {"morning": (6, 12), "afternoon": (12, 18), "evening": (18, 24), "night": (18, 24)}


def part_of_day(day: datetime, part: str) -> Interval | None:
    """Return the morning, afternoon, evening or night of a day."""
    first, last = PARTS[part]
    start = midnight(day)
    return span(start + timedelta(hours=first), start + timedelta(hours=last))
