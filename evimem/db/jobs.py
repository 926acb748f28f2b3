"""The durable queue of work on turns: one row for each turn and kind of job, never a watermark.

A watermark would skip a turn that failed while later ones were done. A row of kind "extract" stays when it is done, so
that a turn is not sent to a model twice; rows of other kinds are deleted. A leased job is offered to one caller at a
time, a thread or a process, and to another once the lease ends.
"""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Collection, Mapping, Sequence
from datetime import datetime, timezone
from functools import partial

from ..types.stored import MOST_SECONDS, READINGS, JobKind
from .tables import Query, Tables, Value

PAGE_JOBS = 256  # jobs per transaction
RETRY_SECONDS = 30.0  # before the second attempt; doubles with each further one
MAX_ATTEMPTS = (
    4  # to derive something from a turn whose text is the reason that it fails; then its job is kept as failed
)
_TOKEN = os.urandom(4).hex()  # tells this process from an earlier one with its number, as after a container's restart
_LEASED, _IN_BATCH = "leased by %", "in batch %"  # of a job that is taken: why it waits


class Jobs:
    """Rows of jobs, "pending", "failed" or "done". `clock` gives seconds since 1970."""

    def __init__(self, db: Tables, clock: Callable[[], float]) -> None:
        self._db = db
        self._clock = clock

    def enqueue(self, kind: JobKind, seqs: Collection[int]) -> None:
        """Queue a job for each of these turns; pending and done ones stay as they are, failed ones are tried again.

        Failed extraction is the exception: only `requeue_all` sends a turn to a model again that gave it up.
        """
        number, now = "CAST(? AS DOUBLE PRECISION)", self._clock()
        if seqs:
            self._db.execute(
                f"INSERT INTO job (kind, due, since, seq, state, attempts) SELECT DISTINCT CAST(? AS TEXT), {number}, "
                f"{number}, asked.seq, 'pending', 0 FROM {self._db.dialect.values_table('asked', 'seq bigint')} "
                "WHERE TRUE "
                "ON CONFLICT (kind, seq) DO UPDATE SET state = 'pending', attempts = 0, due = excluded.due, "
                "error = NULL WHERE job.state = 'failed' AND job.kind <> 'extract'",
                (kind, now, now, self._db.dialect.bind_rows([[seq] for seq in seqs])),
            )

    def turns_never_queued(self, kind: JobKind) -> list[int]:
        """Return the turns that never had a job of a kind."""
        sql = "SELECT seq FROM turn WHERE seq NOT IN (SELECT seq FROM job WHERE kind = ?) ORDER BY seq"
        return [seq for (seq,) in self._db.rows(sql, (kind,))]

    def due_jobs(self, kind: JobKind, limit: int, reason: str | None = None) -> list[tuple[int, int]]:
        """Return (sequence number, attempts) of jobs that may be tried now or, with a reason, that wait for it.

        Jobs that failed before come only when no untried one is left: a turn that crashes its worker again and again
        must not keep other jobs from being tried.
        """
        if reason is not None:
            return self._db.rows(*self._select_pending(kind, limit, "error = ?", reason))
        new, any_due = self.select_untried(kind, limit), self.select_due(kind, limit)
        self._db.prefetch(partial(self._db.rows, *new), partial(self._db.rows, *any_due))
        return self._db.rows(*new) or self._db.rows(*any_due)

    def select_due(self, kind: JobKind, limit: int) -> Query:
        """Return the query of (turn, attempts) of the jobs that may be tried now, by the clock."""
        return self._select_pending(kind, limit, "due NOT BETWEEN ? AND ?", *self._postponed_range())

    def select_untried(self, kind: JobKind, limit: int) -> Query:
        """Return the query of those of them that were never tried."""
        return self._select_pending(kind, limit, "attempts = 0 AND due NOT BETWEEN ? AND ?", *self._postponed_range())

    def lease(self, kind: JobKind, limit: int, seconds: float) -> list[tuple[int, int]]:
        """Return jobs that may be tried now, as `due_jobs` does, and lease them for so many seconds.

        Jobs leased by a process of this machine that has ended are offered again. Call it in a transaction.
        """
        sql = "SELECT DISTINCT error FROM job WHERE kind = ? AND state = 'pending' AND error LIKE ?"
        self._release_leases(
            kind, [name for (name,) in self._db.rows(sql, (kind, _LEASED)) if not _is_holder_alive(name)]
        )
        jobs = self.due_jobs(kind, limit)
        self.defer_jobs(kind, [seq for seq, _ in jobs], lease_reason(), seconds)
        return jobs

    def release(self, kind: JobKind, seqs: Collection[int]) -> None:
        """Offer the jobs of these turns again that this process leased and neither finished nor put off."""
        self._release_leases(kind, [lease_reason()], seqs)

    def defer_jobs(self, kind: JobKind, seqs: Collection[int], reason: str, seconds: float) -> None:
        """Offer no jobs of these turns for so many seconds; `due_jobs` with the reason still returns them."""
        due = self._clock() + seconds
        self._db.set_columns("job", {"due": due, "error": reason}, kind=kind, state="pending", seq=seqs)

    def filter_unfinished(self, kind: JobKind, seqs: Sequence[int]) -> list[int]:
        """Return which of these turns have a job that may be tried now, or have never had one of this kind."""
        (after, until), jobs = self._postponed_range(), self._db.select("job", "seq, state, due", kind=kind, seq=seqs)
        others = {seq for seq, state, due in jobs if state != "pending" or after <= due <= until}
        return [seq for seq in seqs if seq not in others]

    def filter_pending(self, kind: JobKind, seqs: Collection[int]) -> list[int]:
        """Return of which of these turns a job of a kind is pending."""
        return [seq for (seq,) in self._db.select("job", "seq", kind=kind, state="pending", seq=seqs)]

    def complete(self, kind: JobKind, seqs: Collection[int]) -> None:
        """Take finished jobs off the queue; those of kind "extract" stay as done."""
        if kind == "extract":
            self._db.set_columns("job", {"state": "done", "error": None}, kind=kind, seq=seqs)
        else:
            self._db.delete_rows("job", kind=kind, seq=seqs)

    def requeue_all(self, kind: JobKind) -> None:
        """Make every job of a kind pending again, done and failed ones included."""
        self._db.set_columns("job", {"state": "pending", "attempts": 0, "due": self._clock(), "error": None}, kind=kind)

    def retry_now(self) -> None:
        """Make every job that was put off after a failure, or given up, due now; leases and batches stay."""
        self._db.execute(
            "UPDATE job SET state = 'pending', attempts = 0, due = ?, error = NULL "
            "WHERE (state = 'failed' OR (state = 'pending' AND attempts > 0)) "
            "AND NOT coalesce(error LIKE ?, FALSE) AND NOT coalesce(error LIKE ?, FALSE)",
            (self._clock(), _LEASED, _IN_BATCH),
        )

    def postpone(self, kind: JobKind, errors: Mapping[int, tuple[str, float | None]]) -> None:
        """Count a failure of each of these turns; try again after so many seconds, or keep the job as failed (None).

        Only a pending job is changed: another worker may have finished it meanwhile.
        """
        now = self._clock()
        self._db.executemany(
            "UPDATE job SET state = ?, attempts = attempts + 1, due = ?, error = ? "
            "WHERE kind = ? AND seq = ? AND state = 'pending'",
            [
                ("failed" if wait is None else "pending", now + (wait or 0.0), error, kind, seq)
                for seq, (error, wait) in errors.items()
            ],
        )

    def record_failures(self, kind: JobKind, errors: Mapping[int, str]) -> None:
        """Count failures of jobs, queued here where they are not; set aside those with `MAX_ATTEMPTS` failures.

        A reading may be tried again at once; any other job so after the first failure, then after twice as long each
        time.
        """
        if not errors:
            return
        self.enqueue(kind, errors)
        before = dict(self._db.select("job", "seq, attempts", kind=kind, seq=errors))
        waits = {seq: 0.0 if kind in READINGS or not n else RETRY_SECONDS * 2.0**n for seq, n in before.items()}
        given_up = {seq for seq, n in before.items() if n + 1 >= MAX_ATTEMPTS}
        self.postpone(kind, {seq: (why, None if seq in given_up else waits[seq]) for seq, why in errors.items()})

    def turns_with_open_job(self, kind: JobKind) -> set[int]:
        """Return the turns whose job of a kind is pending or failed."""
        return {seq for (seq,) in self._db.rows("SELECT seq FROM job WHERE kind = ? AND state <> 'done'", (kind,))}

    def delete_jobs(self, seqs: Collection[int]) -> None:
        """Delete every job of these turns."""
        self._db.delete_rows("job", seq=seqs)

    def count_by_kind(self, state: str) -> dict[str, int]:
        """Return how many jobs of a state there are, by kind."""
        return dict(self._db.rows("SELECT kind, count(*) FROM job WHERE state = ? GROUP BY kind", (state,)))

    def list_retries(self) -> list[tuple[str, int, str]]:
        """Return (kind, number of turns, one of their errors) of the jobs that wait for another try after a failure.

        One that is leased is being tried, and one that was released since waits for nothing.
        """
        sql = (
            "SELECT kind, count(*), max(error) FROM job WHERE state = 'pending' AND attempts > 0 "
            "AND error IS NOT NULL AND NOT error LIKE ? AND NOT error LIKE ? GROUP BY kind"
        )
        return [(kind, count, why.partition(":")[0]) for kind, count, why in self._db.rows(sql, (_LEASED, _IN_BATCH))]

    def postponed_jobs(self) -> list[tuple[str, int, float]]:
        """Return (reason, number of jobs, earliest next try in seconds since 1970) of pending jobs that wait."""
        sql = (
            "SELECT error, count(*), min(due) FROM job WHERE state = 'pending' AND error IS NOT NULL "
            "AND due BETWEEN ? AND ? GROUP BY error ORDER BY min(due)"
        )
        return self._db.rows(sql, self._postponed_range())

    def oldest_pending_time(self) -> datetime | None:
        """Return when the oldest pending job was queued, in UTC."""
        since = self._db.read_value("SELECT min(since) FROM job WHERE state = 'pending'")
        return None if since is None else datetime.fromtimestamp(since, tz=timezone.utc)

    def _select_pending(self, kind: str, limit: int, which: str, *args: Value) -> Query:
        """Return the query of (turn, attempts) of some pending jobs, oldest turn first.

        That is the order of the primary key (kind, seq), so that the limit ends the scan early.
        """
        sql = f"SELECT seq, attempts FROM job WHERE kind = ? AND state = 'pending' AND {which} ORDER BY seq LIMIT ?"
        return sql, (kind, *args, limit)

    def _release_leases(self, kind: JobKind, held_by: Collection[str], seqs: Collection[int] | None = None) -> None:
        """Make the jobs that some have leased due now: of these turns, or of all."""
        among = {} if seqs is None else {"seq": seqs}
        if held_by:
            now = {"due": self._clock(), "error": None}
            self._db.set_columns("job", now, kind=kind, state="pending", error=held_by, **among)

    def _postponed_range(self) -> tuple[float, float]:
        """Return the range of times in which a job is not tried now.

        Later than `MOST_SECONDS` from now is tried again: such a time was written before the clock was set back, or
        after a server that asked for an absurd delay.
        """
        now = self._clock()
        return math.nextafter(now, math.inf), now + MOST_SECONDS


def lease_reason() -> str:
    """Return the reason for which jobs wait that this process has leased."""
    return f"leased by {_machine_id()} {os.getpid()} {_TOKEN}"


def _machine_id() -> str:
    import platform  # noqa: PLC0415 - its import takes milliseconds, and only a lease names the machine

    return platform.node()


def _is_holder_alive(name: str) -> bool:
    """Return whether the process that holds a lease may still work on it: one of another machine always may."""
    *node, pid, token = name.removeprefix("leased by ").split(" ")
    if " ".join(node) != _machine_id() or not pid.isdigit():
        return True
    if int(pid) == os.getpid():
        return token == _TOKEN
    try:
        os.kill(int(pid), 0)
    except ProcessLookupError:
        return False
    except (PermissionError, OverflowError):  # another user's process
        return True
    return True
