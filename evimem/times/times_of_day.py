"""Times of day that are combined with a day later: clock times and parts of the day."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta

from ..lang import ENGLISH
from .calendar import TimeInterval, hour, midnight, minute, span


@dataclass(frozen=True, slots=True)
class Clock:
    """A time of day in minutes from midnight; `exact` means to the minute, else to the hour.

    `sure` is False where am and pm are both possible ("at 7"): such a clock is read only within a part of the day.
    """

    minutes: int
    exact: bool = True
    sure: bool = True

    def on(self, day: datetime) -> TimeInterval:
        """Return this time on a day, as a minute or an hour."""
        moment = midnight(day) + timedelta(minutes=self.minutes)
        return minute(moment) if self.exact else hour(moment)

    def within(self, part: TimeInterval) -> TimeInterval | None:
        """Return the minute inside a part of the day, am or pm as the part requires; None when neither is in it."""
        for minutes in (self.minutes, self.minutes + 12 * 60):
            moment = midnight(part.start) + timedelta(minutes=minutes)
            if part.start <= moment < part.end:
                return minute(moment)
        return None


PARTS: dict[str, tuple[int, int]] = {
    name: (first, last) for name, (first, last) in ENGLISH.table("times.parts_of_day").items()
}


def part_of_day(day: datetime, part: str) -> TimeInterval | None:
    """Return the morning, afternoon, evening or night of a day."""
    first, last = PARTS[part]
    start = midnight(day)
    return span(start + timedelta(hours=first), start + timedelta(hours=last))
