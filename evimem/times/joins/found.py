"""An expression found in a text, on its way from a rule through the joins to a time."""

from __future__ import annotations

from dataclasses import dataclass

from ..calendar import Interval
from ..rule_types import Reading


@dataclass(frozen=True, slots=True)
class Found:
    """The half-open range of characters of an expression, and what it means."""

    start: int
    end: int
    reading: Reading

    @property
    def interval(self) -> Interval | None:
        return self.reading.interval

    def is_a(self, *granularities: str) -> bool:
        return self.interval is not None and self.interval.granularity in granularities
