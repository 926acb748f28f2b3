"""The times of stored turns: all aware or all naive, and each turn sorted by the instant of its own time."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from ..db.connection import Connection
from ..errors import InvalidTurn
from ..types.values import Turn
from .validate import instant


def check_clock(db: Connection, turn: Turn) -> None:
    """Raise InvalidTurn where a naive time would be stored with aware ones, or the other way round.

    The first turn of a memory decides. Naive times have no instant to compare with those of aware ones.
    """
    kind = "aware" if turn.time.tzinfo else "naive"
    kept = db.value("SELECT value FROM meta WHERE key = 'clock'")
    if kept is None:
        db.execute("INSERT INTO meta (key, value) VALUES ('clock', ?)", (kind,))
    elif kept != kind:
        raise InvalidTurn(
            f"turn {turn.id!r} has the {kind} time {turn.time.isoformat()!r} but this memory holds {kept} times; "
            f"give every time {'with' if kept == 'aware' else 'without'} a UTC offset"
        )


def forget_clock(db: Connection) -> None:
    """Let the next turn decide again, in a memory without turns."""
    db.execute("DELETE FROM meta WHERE key = 'clock'")


def wrong_instants(db: Connection) -> list[tuple[int, int]]:
    """Return (sequence number, right instant) of the turns whose stored instant is not that of their time."""
    times = db.rows("SELECT seq, time, instant FROM turn ORDER BY seq")
    right = ((seq, instant(datetime.fromisoformat(time)), kept) for seq, time, kept in times)
    return [(seq, found) for seq, found, kept in right if found != kept]


def set_instants(db: Connection, instants: Sequence[tuple[int, int]]) -> None:
    """Correct the stored instants of turns, given as `wrong_instants` returns them."""
    db.executemany("UPDATE turn SET instant = ? WHERE seq = ?", [(value, seq) for seq, value in instants])
