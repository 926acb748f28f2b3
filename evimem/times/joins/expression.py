"""An expression found in a text, between its rule and the final time."""

from __future__ import annotations

from dataclasses import dataclass

from ..calendar import TimeInterval
from ..rule_types import Meaning


@dataclass(frozen=True, slots=True)
class Expression:
    """The half-open range of characters of an expression, and what it means."""

    start: int
    end: int
    meaning: Meaning

    @property
    def interval(self) -> TimeInterval | None:
        return self.meaning.interval

    @property
    def is_unread(self) -> bool:
        """Whether the expression is a date that may be any of several days."""
        return self.meaning.kind == "date" and self.interval is None and self.meaning.later is None

    def is_a(self, *granularities: str) -> bool:
        """Return whether the expression has an interval of one of the granularities."""
        return self.interval is not None and self.interval.granularity in granularities
