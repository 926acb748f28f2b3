"""Times as a memory holds them: naive or aware, and with a timezone those of its calendar, however they are given."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import datetime, timezone, tzinfo
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from ..errors import InvalidQuery, shown
from ..types.values import Fact, TimeSpan


@dataclass(frozen=True, slots=True)
class LocalTimes:
    """Brings times to the kind of a memory: `aware` or naive, read and written as times of `zone`.

    Without a zone, times stay as they are given. Of a naive time that a clock shows twice, `fold` says which is meant.
    """

    zone: tzinfo | None = None
    aware: bool = True

    def read(self, time: datetime) -> datetime:
        """Return a time as one of the memory's kind. Raise OverflowError for one at the edge of the calendar."""
        given = fixed_offset(time)
        if self.zone is None:
            return given
        if given.tzinfo is None:
            return fixed_offset(given.replace(tzinfo=self.zone)) if self.aware else given
        return self._written(given.astimezone(self.zone))

    def now(self, seconds: float, *, naive: bool) -> datetime:
        """Return a moment, in seconds since 1970, as a time of the memory's kind, which `naive` is without a zone.

        Without a zone, an aware time is one of UTC, and a naive one is read in the zone of the machine. Raise
        OverflowError, ValueError or OSError for a moment beyond the calendar.
        """
        if self.zone is None:
            return datetime.fromtimestamp(seconds, None if naive else timezone.utc).replace(fold=0)
        return self._written(datetime.fromtimestamp(seconds, self.zone))

    def _written(self, local: datetime) -> datetime:
        return fixed_offset(local) if self.aware else local.replace(tzinfo=None, fold=0)

    def read_fact(self, fact: Fact) -> Fact:
        """Return a fact with the edges of its event read. Raise OverflowError as `read`."""
        if fact.event is None or fact.event.start is None or fact.event.end is None:
            return fact
        return replace(fact, event=self._read_span(fact.event, fact.event.start, fact.event.end))

    def _read_span(self, span: TimeSpan, start: datetime, end: datetime) -> TimeSpan:
        return replace(span, start=self.read(start), end=self.read(end))


AS_GIVEN = LocalTimes()


def fixed_offset(time: datetime) -> datetime:
    """Return a time with its offset instead of a zone, as it is read back from a file: what is derived is then equal.

    Raise ValueError, TypeError or OverflowError for an offset that a tzinfo of the caller cannot give.
    """
    return time if time.tzinfo is None else datetime.fromisoformat(datetime.isoformat(time))


def zone_of(name: object) -> tzinfo:
    """Return the zone of an IANA name such as "Europe/Madrid". Raise InvalidQuery for any other value."""
    try:
        if isinstance(name, str):
            return ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError):
        pass
    raise InvalidQuery(
        f"timezone is {shown(name)}; expected an IANA name such as 'Europe/Madrid' (where the system has no database "
        "of timezones: pip install tzdata)"
    )
