"""Times of day that are combined with a day later: clock times and parts of the day."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta

from ..lang import ENGLISH
from .calendar import TimeInterval, midnight, minute, span

HALF_DAY = 12 * 60  # minutes


@dataclass(frozen=True, slots=True)
class Clock:
    """A time of day in minutes from midnight, or a range of times with an end (`until`, exclusive).

    `sure` is False where am and pm are both possible ("at 7"): such a clock is read only within a part of the day.
    `given` is True where the words say which of both it is.
    """

    minutes: int
    sure: bool = True
    given: bool = False
    until: int | None = None

    def on(self, day: datetime) -> TimeInterval | None:
        """Return this time on a day, as a minute, or a range of times as a span."""
        moment = midnight(day) + timedelta(minutes=self.minutes)
        return minute(moment) if self.until is None else span(moment, midnight(day) + timedelta(minutes=self.until))

    def near(self, part: TimeInterval) -> TimeInterval | None:
        """Return this time near a part of the day: 3 am this morning, 1 am on the day after tonight."""
        late = part.start.hour >= PARTS["evening"][0] and self.minutes < HALF_DAY
        return self.on(part.start + timedelta(days=1) if late else part.start)

    def within(self, part: TimeInterval) -> TimeInterval | None:
        """Return the minute inside a part of the day, am or pm as the part requires; None when neither is in it.

        The hours before dawn belong to the morning and to the night before: 4:12 this morning, 2:17 last night.
        """
        if self.until is not None:
            return self.on(part.start)
        early = self.minutes % HALF_DAY
        for minutes in (early, early + HALF_DAY):
            moment = midnight(part.start) + timedelta(minutes=minutes)
            if part.start <= moment < part.end:
                return minute(moment)
        is_night, is_morning = part.start.hour >= PARTS["evening"][0], part.end.hour == HALF_DAY // 60
        if early >= 60 * PARTS["morning"][0] or not (is_night or is_morning):
            return None
        return minute(midnight(part.start) + timedelta(days=is_night, minutes=early))


PARTS: dict[str, tuple[int, int]] = {
    name: (first, last) for name, (first, last) in ENGLISH.table("times.parts_of_day").items()
}


def part_of_day(day: datetime, part: str) -> TimeInterval | None:
    """Return the morning, afternoon, evening or night of a day."""
    first, last = PARTS[part]
    start = midnight(day)
    return span(start + timedelta(hours=first), start + timedelta(hours=last))
