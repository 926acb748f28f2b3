"""The times of stored turns: all aware or all naive, with the memory's timezone, and sorted by instants."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from ..db.connection import Connection
from ..errors import InvalidQuery, InvalidTurn, shown
from ..types.values import Turn
from .local_times import AS_GIVEN, LocalTimes, zone_of
from .validate import instant

_KEEP = "INSERT OR REPLACE INTO meta (key, value) VALUES (?, ?)"


def settle_timezone(db: Connection, name: str | None) -> LocalTimes:
    """Record the timezone in which naive times are read, or take the recorded one; return how times are read.

    A memory that holds naive times keeps them, and aware ones become naive local times of the zone. Every other memory
    with a timezone holds local times with their offset from then on, so that two turns in the hour that a clock repeats
    keep their order. Times that were stored before are brought to the zone by a rebuild.

    Raises:
        InvalidQuery: The name is that of no zone, or the memory holds turns read in another one.
    """
    zone = None if name is None else zone_of(name)
    kept = db.value("SELECT value FROM meta WHERE key = 'timezone'")
    if name is not None and kept != name:
        if kept is not None and db.value("SELECT 1 FROM turn LIMIT 1"):
            raise InvalidQuery(f"timezone is {name!r} but this memory reads naive times in {kept!r}; open it with that")
        db.execute(_KEEP, ("timezone", name))
        db.execute("INSERT OR IGNORE INTO meta (key, value) VALUES ('clock', ?)", (_kind_of_turns(db),))
    if zone is None and kept is not None:
        zone = zone_of(kept)
    if zone is None:
        return AS_GIVEN
    return LocalTimes(zone, aware=db.value("SELECT value FROM meta WHERE key = 'clock'") == "aware")


def _kind_of_turns(db: Connection) -> str:
    first = db.value("SELECT time FROM turn LIMIT 1")
    return "naive" if first is not None and datetime.fromisoformat(first).tzinfo is None else "aware"


def check_clock(db: Connection, turn: Turn) -> None:
    """Raise InvalidTurn where a naive time would be stored with aware ones, or the other way round.

    The first turn of a memory without a timezone decides: naive times have no instant to compare with aware ones. With
    a timezone, times were brought to one kind before (see `LocalTimes`).
    """
    kept, kind = db.value("SELECT value FROM meta WHERE key = 'clock'"), _kind(turn.time)
    if kept is None:
        db.execute("INSERT INTO meta (key, value) VALUES ('clock', ?)", (kind,))
    elif kept != kind:
        raise InvalidTurn(
            f"turn {shown(turn.id)} has the {kind} time {turn.time.isoformat()!r} but this memory holds {kept} times; "
            "open it with timezone='Europe/Madrid', or the zone in which naive times are meant, to add both, or give "
            f"every time {'with' if kept == 'aware' else 'without'} a UTC offset"
        )


def _kind(time: datetime) -> str:
    return "aware" if time.tzinfo else "naive"


def is_of_clock(db: Connection, turn: Turn) -> bool:
    """Whether the time of a turn is of the kind that the memory holds."""
    return db.value("SELECT value FROM meta WHERE key = 'clock'") in (None, _kind(turn.time))


def forget_clock(db: Connection) -> None:
    """Let the next turn decide again, in a memory without turns; one with a timezone keeps its kind of times."""
    db.execute("DELETE FROM meta WHERE key = 'clock' AND NOT EXISTS (SELECT 1 FROM meta WHERE key = 'timezone')")


def wrong_instants(db: Connection) -> list[tuple[int, int]]:
    """Return (sequence number, right instant) of the turns whose stored instant is not that of their time."""
    times = db.rows("SELECT seq, time, instant FROM turn ORDER BY seq")
    right = ((seq, instant(datetime.fromisoformat(time)), kept) for seq, time, kept in times)
    return [(seq, found) for seq, found, kept in right if found != kept]


def set_instants(db: Connection, instants: Sequence[tuple[int, int]]) -> None:
    """Correct the stored instants of turns, given as `wrong_instants` returns them."""
    db.executemany("UPDATE turn SET instant = ? WHERE seq = ?", [(value, seq) for seq, value in instants])
