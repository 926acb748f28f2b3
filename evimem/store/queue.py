"""The durable queue: which turns are still owed which derived work. One row a turn and kind, never a watermark.

A row of `extract` stays when it is done, so that a turn is not put to a model twice.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from datetime import datetime, timezone

from ..db.connection import Connection
from ..types.stored import MOST_SECONDS

KINDS = ("vector", "link", "extract")


class Jobs:
    """Rows of work in SQLite. `clock` gives seconds since 1970."""

    def __init__(self, db: Connection, clock: Callable[[], float]) -> None:
        self._db = db
        self._clock = clock

    def put(self, kind: str, seqs: Iterable[int]) -> None:
        """Owe turns some work; what is already owed stays as it is, and what a turn was given up for is tried anew.

        Not so reading: what a model could not read is asked for again by `put_back` alone.
        """
        now = self._clock()
        self._db.executemany(
            "INSERT INTO job (seq, kind, state, attempts, due, since) VALUES (?, ?, 'pending', 0, ?, ?) "
            "ON CONFLICT (kind, seq) DO UPDATE SET state = 'pending', attempts = 0, due = excluded.due, error = NULL "
            "WHERE state = 'failed' AND kind <> 'extract'",
            [(seq, kind, now, now) for seq in seqs],
        )

    def due(self, kind: str, limit: int, reason: str | None = None) -> list[tuple[int, int]]:
        """Return (sequence number, attempts) of work that may be tried now or, with a reason, that waits for it.

        What has failed comes when all else is done: a turn that stops whoever reads it stops nobody before the others.
        """
        if reason is not None:
            return self._pending(kind, limit, "error = ?", reason)
        ready, waiting = "due NOT BETWEEN ? AND ?", self._waiting()
        first = self._pending(kind, limit, f"attempts = 0 AND {ready}", *waiting)
        return first or self._pending(kind, limit, ready, *waiting)

    def _pending(self, kind: str, limit: int, which: str, *values: object) -> list[tuple[int, int]]:
        sql = f"SELECT seq, attempts FROM job WHERE kind = ? AND state = 'pending' AND {which} ORDER BY seq LIMIT ?"
        return [(seq, attempts) for seq, attempts in self._db.rows(sql, (kind, *values, limit))]

    def hold(self, kind: str, seqs: Sequence[int], reason: str, seconds: float) -> None:
        """Offer no work on these turns for a while, for a reason."""
        due = self._clock() + seconds
        sql = "UPDATE job SET due = ?, error = ? WHERE kind = ? AND seq = ? AND state = 'pending'"
        self._db.executemany(sql, [(due, reason, kind, seq) for seq in seqs])

    def unread(self, kind: str, seqs: Sequence[int]) -> list[int]:
        """Return which of these turns still have some work before them that may be tried now or was never owed."""
        if not seqs:
            return []
        waits = "(state <> 'pending' OR due BETWEEN ? AND ?)"
        sql = f"SELECT seq FROM job WHERE kind = ? AND {waits} AND seq BETWEEN ? AND ?"
        over = {seq for (seq,) in self._db.rows(sql, (kind, *self._waiting(), min(seqs), max(seqs)))}
        return [seq for seq in seqs if seq not in over]

    def done(self, kind: str, seqs: Sequence[int]) -> None:
        """Strike out work."""
        end = "UPDATE job SET state = 'done', error = NULL" if kind == "extract" else "DELETE FROM job"
        self._db.executemany(f"{end} WHERE kind = ? AND seq = ?", [(kind, seq) for seq in seqs])

    def put_back(self, kind: str) -> None:
        """Owe all the work of a kind again, what was done or given up included."""
        sql = "UPDATE job SET state = 'pending', attempts = 0, due = ?, error = NULL WHERE kind = ?"
        self._db.execute(sql, (self._clock(), kind))

    def postpone(self, kind: str, seq: int, error: str, seconds: float | None) -> None:
        """Count a failure; try again later, or keep the row as failed (None). What another has done stays done."""
        state, wait = ("failed", 0.0) if seconds is None else ("pending", seconds)
        self._db.execute(
            "UPDATE job SET state = ?, attempts = attempts + 1, due = ?, error = ? "
            "WHERE kind = ? AND seq = ? AND state = 'pending'",
            (state, self._clock() + wait, error, kind, seq),
        )

    def of_turn(self, seq: int) -> tuple[str, ...]:
        """Return the kinds of work a turn is owed."""
        sql = "SELECT kind FROM job WHERE seq = ? AND state <> 'done' ORDER BY kind"
        return tuple(row[0] for row in self._db.rows(sql, (seq,)))

    def owing(self, kind: str) -> set[int]:
        """Return the turns that are owed work of a kind, now or never again."""
        return {seq for (seq,) in self._db.rows("SELECT seq FROM job WHERE kind = ? AND state <> 'done'", (kind,))}

    def erase(self, seqs: Sequence[int]) -> None:
        """Drop all work on these turns."""
        self._db.executemany("DELETE FROM job WHERE seq = ?", [(seq,) for seq in seqs])

    def any(self) -> bool:
        """Say whether any turn is owed anything."""
        return self._db.value("SELECT 1 FROM job WHERE state <> 'done' LIMIT 1") is not None

    def counts(self, state: str) -> dict[str, int]:
        """Return how many rows of a state there are, by kind."""
        return dict(self._db.rows("SELECT kind, count(*) FROM job WHERE state = ? GROUP BY kind", (state,)))

    def _waiting(self) -> tuple[float, float]:
        """Return the times at which work must be due that is not tried now."""
        now = self._clock()
        return math.nextafter(now, math.inf), now + MOST_SECONDS

    def setbacks(self) -> list[tuple[str, int, str]]:
        """Return (kind, turns, one of the reasons) of the work that failed and is to be tried again."""
        sql = "SELECT kind, count(*), max(error) FROM job WHERE state = 'pending' AND attempts > 0 GROUP BY kind"
        return [(kind, count, why.partition(":")[0]) for kind, count, why in self._db.rows(sql)]

    def oldest(self) -> datetime | None:
        """Return since when the oldest work has been owed, in UTC."""
        since = self._db.value("SELECT min(since) FROM job WHERE state = 'pending'")
        return None if since is None else datetime.fromtimestamp(since, tz=timezone.utc)
