"""The times of stored turns: all aware or all naive, with the memory's timezone, and sorted by instants."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from ..db.meta import drop_meta, meta, read_meta, set_meta
from ..db.tables import Tables
from ..db.turn_sql import first_last_and_count
from ..errors import InvalidQuery, InvalidTurn, shown
from ..types.values import Turn
from .local_times import AS_GIVEN, LocalTimes, zone_of
from .validate import instant


def settle_timezone(db: Tables, name: str | None) -> LocalTimes:
    """Record the timezone in which naive times are read, or take the recorded one; return how times are read.

    A memory that holds naive times keeps them, and aware ones become naive local times of the zone. Every other memory
    with a timezone holds local times with their offset from then on, so that two turns in the hour that a clock repeats
    keep their order. Times that were stored before are brought to the zone by a rebuild.

    Raises:
        InvalidQuery: The name is that of no zone, or the memory holds turns read in another one.
    """
    zone = None if name is None else zone_of(name)
    kept = read_meta(db, "timezone", "clock")
    if name is not None and kept.get("timezone") != name:
        first, *_ = first_last_and_count(db, 1)
        if "timezone" in kept and first is not None:
            raise InvalidQuery(
                f"timezone is {name!r} but this memory reads naive times in {kept['timezone']!r}; open it with that"
            )
        kind = "aware" if first is None else _kind(datetime.fromisoformat(first))
        kept = {"clock": kind} | kept | {"timezone": name}
        for key, value in kept.items():
            set_meta(db, key, value)
    if zone is None and "timezone" in kept:
        zone = zone_of(kept["timezone"])
    return AS_GIVEN if zone is None else LocalTimes(zone, aware=kept.get("clock") == "aware")


class MemoryClock:
    """The kind of times that a memory holds, aware or naive: naive ones have no instant to compare with aware ones.

    The first turn of a memory without a timezone decides. With a timezone, times were brought to one kind before (see
    `LocalTimes`).
    """

    def __init__(self, db: Tables) -> None:
        self._db = db
        self._kept = self._kind = meta(db, "clock")

    def admits(self, turn: Turn) -> bool:
        """Whether the time of a turn is of the kind that the memory holds."""
        return self._kind in (None, _kind(turn.time))

    def refusal(self, turn: Turn) -> InvalidTurn | None:
        """Return why a turn is not stored, a naive time with aware ones or the other way round; None where it is."""
        kind = _kind(turn.time)
        self._kind = self._kind or kind
        if self._kind == kind:
            return None
        return InvalidTurn(
            f"turn {shown(turn.id)} has the {kind} time {turn.time.isoformat()!r} but this memory holds {self._kind} "
            "times; open it with timezone='Europe/Madrid', or the zone in which naive times are meant, to add both, or "
            f"give every time {'with' if self._kind == 'aware' else 'without'} a UTC offset"
        )

    def keep(self) -> None:
        """Record what the turns that were not refused have decided."""
        if self._kind is not None and self._kind != self._kept:
            set_meta(self._db, "clock", self._kind)
            self._kept = self._kind


def _kind(time: datetime) -> str:
    return "aware" if time.tzinfo else "naive"


def forget_clock(db: Tables) -> None:
    """Let the next turn decide again, in a memory without turns; one with a timezone keeps its kind of times."""
    if meta(db, "timezone") is None:
        drop_meta(db, "clock")


def wrong_instants(db: Tables) -> list[tuple[int, int]]:
    """Return (right instant, sequence number) of the turns whose stored instant is not that of their time."""
    times = db.select("turn", "seq, time, instant", "seq")
    right = ((instant(datetime.fromisoformat(time)), seq, kept) for seq, time, kept in times)
    return [(found, seq) for found, seq, kept in right if found != kept]


def set_instants(db: Tables, instants: Sequence[tuple[int, int]]) -> None:
    """Correct the stored instants of turns, given as `wrong_instants` returns them."""
    db.update("turn", "instant", "seq", instants)
