"""The durable queue of work on turns: one row for each turn and kind of job, never a watermark.

A watermark would skip a turn that failed while later ones were done. A row of kind "extract" stays when it is done, so
that a turn is not sent to a model twice; rows of other kinds are deleted.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from datetime import datetime, timezone

from ..db.connection import Connection
from ..types.stored import MOST_SECONDS, READINGS, JobKind

RETRY_SECONDS = 30.0  # before the second attempt; doubles with each further one
ATTEMPTS = 4  # to derive something from a turn whose text is the reason that it fails; then its job is kept as failed


class Jobs:
    """Rows of jobs in SQLite, "pending", "failed" or "done". `clock` gives seconds since 1970."""

    def __init__(self, db: Connection, clock: Callable[[], float]) -> None:
        self._db = db
        self._clock = clock

    def enqueue(self, kind: JobKind, seqs: Iterable[int]) -> None:
        """Queue a job for each of these turns; pending and done ones stay as they are, failed ones are tried again.

        Failed extraction is the exception: only `requeue_all` sends a turn to a model again that gave it up.
        """
        now = self._clock()
        self._db.executemany(
            "INSERT INTO job (seq, kind, state, attempts, due, since) VALUES (?, ?, 'pending', 0, ?, ?) "
            "ON CONFLICT (kind, seq) DO UPDATE SET state = 'pending', attempts = 0, due = excluded.due, error = NULL "
            "WHERE state = 'failed' AND kind <> 'extract'",
            [(seq, kind, now, now) for seq in seqs],
        )

    def missing(self, kind: JobKind) -> list[int]:
        """Return the turns that never had a job of a kind."""
        sql = "SELECT seq FROM turn WHERE seq NOT IN (SELECT seq FROM job WHERE kind = ?) ORDER BY seq"
        return [seq for (seq,) in self._db.rows(sql, (kind,))]

    def due(self, kind: JobKind, limit: int, reason: str | None = None) -> list[tuple[int, int]]:
        """Return (sequence number, attempts) of jobs that may be tried now or, with a reason, that wait for it.

        Jobs that failed before come only when no untried one is left: a turn that crashes its worker again and again
        must not keep others from being tried.
        """
        if reason is not None:
            return self._pending(kind, limit, "error = ?", reason)
        return self.untried(kind, limit) or self._pending(kind, limit, "due NOT BETWEEN ? AND ?", *self.waiting())

    def untried(self, kind: JobKind, limit: int) -> list[tuple[int, int]]:
        """Return those of `due` that were never tried."""
        return self._pending(kind, limit, "attempts = 0 AND due NOT BETWEEN ? AND ?", *self.waiting())

    def waits(self, kind: JobKind, seqs: Sequence[int]) -> list[int]:
        """Return of which of these turns, at most some thousands, a job of a kind is pending."""
        marks = ", ".join("?" * len(seqs))
        sql = f"SELECT seq FROM job WHERE kind = ? AND state = 'pending' AND seq IN ({marks})"
        return [seq for (seq,) in self._db.rows(sql, (kind, *seqs))]

    def _pending(self, kind: JobKind, limit: int, condition: str, *values: object) -> list[tuple[int, int]]:
        # By seq: oldest turn first, and the order of the primary key (kind, seq), so that LIMIT ends the scan early.
        sql = f"SELECT seq, attempts FROM job WHERE kind = ? AND state = 'pending' AND {condition} ORDER BY seq LIMIT ?"
        return [(seq, attempts) for seq, attempts in self._db.rows(sql, (kind, *values, limit))]

    def hold(self, kind: JobKind, seqs: Sequence[int], reason: str, seconds: float) -> None:
        """Offer no jobs of these turns for so many seconds; `due` with the reason still returns them."""
        due = self._clock() + seconds
        sql = "UPDATE job SET due = ?, error = ? WHERE kind = ? AND seq = ? AND state = 'pending'"
        self._db.executemany(sql, [(due, reason, kind, seq) for seq in seqs])

    def unfinished(self, kind: JobKind, seqs: Sequence[int]) -> list[int]:
        """Return which of these turns have a job that may be tried now, or have never had one of this kind."""
        if not seqs:
            return []
        # A range instead of a list of numbers: one scan of the primary key, and no limit on parameters.
        other = "(state <> 'pending' OR due BETWEEN ? AND ?)"
        sql = f"SELECT seq FROM job WHERE kind = ? AND {other} AND seq BETWEEN ? AND ?"
        excluded = {seq for (seq,) in self._db.rows(sql, (kind, *self.waiting(), min(seqs), max(seqs)))}
        return [seq for seq in seqs if seq not in excluded]

    def complete(self, kind: JobKind, seqs: Sequence[int]) -> None:
        """Take finished jobs off the queue; those of kind "extract" stay as done."""
        finish = "UPDATE job SET state = 'done', error = NULL" if kind == "extract" else "DELETE FROM job"
        self._db.executemany(f"{finish} WHERE kind = ? AND seq = ?", [(kind, seq) for seq in seqs])

    def requeue_all(self, kind: JobKind) -> None:
        """Make every job of a kind pending again, done and failed ones included."""
        sql = "UPDATE job SET state = 'pending', attempts = 0, due = ?, error = NULL WHERE kind = ?"
        self._db.execute(sql, (self._clock(), kind))

    def postpone(self, kind: JobKind, seq: int, error: str, seconds: float | None) -> None:
        """Count a failure; try again after so many seconds, or keep the job as failed (None).

        Only a pending job is changed: another worker may have finished it meanwhile.
        """
        state, wait = ("failed", 0.0) if seconds is None else ("pending", seconds)
        self._db.execute(
            "UPDATE job SET state = ?, attempts = attempts + 1, due = ?, error = ? "
            "WHERE kind = ? AND seq = ? AND state = 'pending'",
            (state, self._clock() + wait, error, kind, seq),
        )

    def fail(self, kind: JobKind, seq: int, error: str) -> None:
        """Count a failure of a job, queued here where it is not; keep it as failed after `ATTEMPTS`.

        A reading may be tried again at once; others so after the first failure, then after twice as long each time.
        """
        self.enqueue(kind, [seq])
        before = int(self._db.value("SELECT attempts FROM job WHERE kind = ? AND seq = ?", (kind, seq)))
        wait = 0.0 if kind in READINGS or not before else RETRY_SECONDS * 2.0**before
        self.postpone(kind, seq, error, None if before + 1 >= ATTEMPTS else wait)

    def open_kinds(self, seq: int) -> tuple[str, ...]:
        """Return the kinds of a turn's jobs that are pending or failed."""
        sql = "SELECT kind FROM job WHERE seq = ? AND state <> 'done' ORDER BY kind"
        return tuple(row[0] for row in self._db.rows(sql, (seq,)))

    def open_turns(self, kind: JobKind) -> set[int]:
        """Return the turns whose job of a kind is pending or failed."""
        return {seq for (seq,) in self._db.rows("SELECT seq FROM job WHERE kind = ? AND state <> 'done'", (kind,))}

    def erase(self, seqs: Sequence[int]) -> None:
        """Delete every job of these turns."""
        self._db.executemany("DELETE FROM job WHERE seq = ?", [(seq,) for seq in seqs])

    def any_open(self) -> bool:
        """Say whether any job is pending or failed."""
        return self._db.value("SELECT 1 FROM job WHERE state <> 'done' LIMIT 1") is not None

    def counts(self, state: str) -> dict[str, int]:
        """Return how many jobs of a state there are, by kind."""
        return dict(self._db.rows("SELECT kind, count(*) FROM job WHERE state = ? GROUP BY kind", (state,)))

    def waiting(self) -> tuple[float, float]:
        """Return the range of `due` in which a job is not tried now.

        Later than `MOST_SECONDS` from now is tried again: such a time was written before the clock was set back, or
        after a server that asked for an absurd delay.
        """
        now = self._clock()
        return math.nextafter(now, math.inf), now + MOST_SECONDS

    def oldest(self) -> datetime | None:
        """Return when the oldest pending job was queued, in UTC."""
        since = self._db.value("SELECT min(since) FROM job WHERE state = 'pending'")
        return None if since is None else datetime.fromtimestamp(since, tz=timezone.utc)
