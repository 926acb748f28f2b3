"""The durable queue of work on turns: one row for each turn and kind of job, never a watermark.

A watermark would skip a turn that failed while later ones were done. A row of kind "extract" stays when it is done, so
that a turn is not sent to a model twice; rows of other kinds are deleted. A leased job is offered to one caller at a
time, a thread or a process, and to others once the lease ends.
"""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Collection, Mapping, Sequence
from datetime import datetime, timezone

from ..db import job_sql
from ..db.dialect import Query
from ..db.tables import Tables
from ..types.stored import MOST_SECONDS, READINGS, JobKind

PAGE = 256  # jobs per transaction
RETRY_SECONDS = 30.0  # before the second attempt; doubles with each further one
ATTEMPTS = 4  # to derive something from a turn whose text is the reason that it fails; then its job is kept as failed
_TOKEN = os.urandom(4).hex()  # tells this process from an earlier one with its number, as after a container's restart


def _node() -> str:
    import platform  # noqa: PLC0415 - its import takes milliseconds, and only a lease names the machine

    return platform.node()


class Jobs:
    """Rows of jobs, "pending", "failed" or "done". `clock` gives seconds since 1970."""

    def __init__(self, db: Tables, clock: Callable[[], float]) -> None:
        self._db = db
        self._clock = clock

    def enqueue(self, kind: JobKind, seqs: Collection[int]) -> None:
        """Queue a job for each of these turns; pending and done ones stay as they are, failed ones are tried again.

        Failed extraction is the exception: only `requeue_all` sends a turn to a model again that gave it up.
        """
        if seqs:
            job_sql.queue_jobs(self._db, kind, seqs, self._clock())

    def missing(self, kind: JobKind) -> list[int]:
        """Return the turns that never had a job of a kind."""
        return job_sql.never_queued(self._db, kind)

    def due(self, kind: JobKind, limit: int, reason: str | None = None) -> list[tuple[int, int]]:
        """Return (sequence number, attempts) of jobs that may be tried now or, with a reason, that wait for it.

        Jobs that failed before come only when no untried one is left: a turn that crashes its worker again and again
        must not keep others from being tried.
        """
        if reason is not None:
            return job_sql.jobs_held(self._db, kind, limit, reason)
        waiting = self._waiting()
        new, any_due = (job_sql.due_jobs(kind, limit, waiting, untried=one) for one in (True, False))
        self._db.ahead(new, any_due)
        return self._db.rows(*new) or self._db.rows(*any_due)

    def untried(self, kind: JobKind, limit: int) -> list[tuple[int, int]]:
        """Return those of `due` that were never tried."""
        return self._db.rows(*self.asking_untried(kind, limit))

    def asking_untried(self, kind: JobKind, limit: int) -> Query:
        """Return the query that `untried` asks now."""
        return job_sql.due_jobs(kind, limit, self._waiting(), untried=True)

    def lease(self, kind: JobKind, limit: int, seconds: float) -> list[tuple[int, int]]:
        """Return jobs that may be tried now, as `due` does, and offer them to nobody else for so many seconds.

        Jobs leased by a process of this machine that has ended are offered again. Call it in a transaction.
        """
        ended = [name for name in job_sql.holders(self._db, kind) if not _is_alive(name)]
        if ended:
            job_sql.release_jobs(self._db, kind, ended, self._clock(), None)
        jobs = self.due(kind, limit)
        self.hold(kind, [seq for seq, _ in jobs], holder(), seconds)
        return jobs

    def release(self, kind: JobKind, seqs: Collection[int]) -> None:
        """Offer the jobs of these turns again that this process leased and neither finished nor put off."""
        job_sql.release_jobs(self._db, kind, [holder()], self._clock(), seqs)

    def hold(self, kind: JobKind, seqs: Collection[int], reason: str, seconds: float) -> None:
        """Offer no jobs of these turns for so many seconds; `due` with the reason still returns them."""
        job_sql.put_off_jobs(self._db, kind, seqs, self._clock() + seconds, reason)

    def unfinished(self, kind: JobKind, seqs: Sequence[int]) -> list[int]:
        """Return which of these turns have a job that may be tried now, or have never had one of this kind."""
        others = job_sql.not_to_try(self._db, kind, min(seqs), max(seqs), self._waiting()) if seqs else ()
        return [seq for seq in seqs if seq not in others]

    def waits(self, kind: JobKind, seqs: Collection[int]) -> list[int]:
        """Return of which of these turns a job of a kind is pending."""
        return [seq for (seq,) in self._db.rows(*self.asking_waits(kind, seqs))]

    def asking_waits(self, kind: JobKind, seqs: Collection[int]) -> Query:
        """Return the query that `waits` asks."""
        return self._db.selecting("job", "seq", kind=[kind], state=["pending"], seq=seqs)

    def complete(self, kind: JobKind, seqs: Collection[int]) -> None:
        """Take finished jobs off the queue; those of kind "extract" stay as done."""
        if kind == "extract":
            job_sql.finish_jobs(self._db, kind, seqs)
        else:
            self._db.delete("job", kind=[kind], seq=seqs)

    def requeue_all(self, kind: JobKind) -> None:
        """Make every job of a kind pending again, done and failed ones included."""
        job_sql.requeue_jobs(self._db, kind, self._clock())

    def read_again(self, seqs: Collection[int]) -> None:
        """Queue the facts of turns by rule, and let a model read these as if none had."""
        self._db.delete("job", kind=["extract"], seq=seqs)
        self.enqueue("facts", seqs)

    def retry_now(self) -> None:
        """Make every job that was put off after a failure, or given up, due now; leases and batches stay."""
        job_sql.retry_jobs(self._db, self._clock())

    def postpone(self, kind: JobKind, seq: int, error: str, seconds: float | None) -> None:
        """Count a failure; try again after so many seconds, or keep the job as failed (None).

        Only a pending job is changed: another worker may have finished it meanwhile.
        """
        job_sql.record_failures(self._db, [self._failure(kind, seq, error, seconds)])

    def fail(self, kind: JobKind, errors: Mapping[int, str]) -> None:
        """Count failures of jobs, queued here where they are not; keep those as failed that failed `ATTEMPTS` times.

        A reading may be tried again at once; others so after the first failure, then after twice as long each time.
        """
        if not errors:
            return
        self.enqueue(kind, errors)
        before = dict(self._db.select("job", "seq, attempts", kind=[kind], seq=errors))
        waits = {seq: 0.0 if kind in READINGS or not n else RETRY_SECONDS * 2.0**n for seq, n in before.items()}
        failed = (
            self._failure(kind, seq, error, None if before[seq] + 1 >= ATTEMPTS else waits[seq])
            for seq, error in errors.items()
        )
        job_sql.record_failures(self._db, failed)

    def _failure(self, kind: str, seq: int, error: str, seconds: float | None) -> tuple[str, float, str, str, int]:
        state, wait = ("failed", 0.0) if seconds is None else ("pending", seconds)
        return state, self._clock() + wait, error, kind, seq

    def open_kinds(self, seqs: Collection[int]) -> Callable[[], dict[int, tuple[str, ...]]]:
        """Return what, after the transaction, returns the kinds of turns' jobs that are pending or failed in it.

        A turn without any is missing.
        """
        rows = self._db.later(job_sql.open_jobs(self._db, seqs))

        def kinds() -> dict[int, tuple[str, ...]]:
            found: dict[int, tuple[str, ...]] = {}
            for seq, kind in rows():
                found[seq] = (*found.get(seq, ()), kind)
            return found

        return kinds

    def open_turns(self, kind: JobKind) -> set[int]:
        """Return the turns whose job of a kind is pending or failed."""
        return job_sql.turns_with_open_job(self._db, kind)

    def erase(self, seqs: Collection[int]) -> None:
        """Delete every job of these turns."""
        self._db.delete("job", seq=seqs)

    def any_open(self) -> bool:
        """Say whether any job is pending or failed."""
        return job_sql.is_any_job_open(self._db)

    def counts(self, state: str) -> dict[str, int]:
        """Return how many jobs of a state there are, by kind."""
        return job_sql.count_jobs(self._db, state)

    def retries(self) -> list[tuple[str, int, str]]:
        """Return (kind, number of turns, one of their errors) of the jobs that wait for another try after a failure.

        One that is leased is being tried, and one that was released since waits for nothing.
        """
        return [(kind, count, why.partition(":")[0]) for kind, count, why in job_sql.failed_before(self._db)]

    def put_off(self) -> list[tuple[str, int, float]]:
        """Return (reason, number of jobs, earliest next try in seconds since 1970) of pending jobs that wait."""
        return job_sql.jobs_put_off(self._db, self._waiting())

    def oldest(self) -> datetime | None:
        """Return when the oldest pending job was queued, in UTC."""
        since = job_sql.oldest_job(self._db)
        return None if since is None else datetime.fromtimestamp(since, tz=timezone.utc)

    def _waiting(self) -> tuple[float, float]:
        """Return the range of `due` in which a job is not tried now.

        Later than `MOST_SECONDS` from now is tried again: such a time was written before the clock was set back, or
        after a server that asked for an absurd delay.
        """
        now = self._clock()
        return math.nextafter(now, math.inf), now + MOST_SECONDS


def holder() -> str:
    """Return the reason for which jobs wait that this process has leased."""
    return f"leased by {_node()} {os.getpid()} {_TOKEN}"


def _is_alive(name: str) -> bool:
    """Return whether the process that holds a lease may still work on it: one of another machine always may."""
    *node, pid, token = name.removeprefix("leased by ").split(" ")
    if " ".join(node) != _node() or not pid.isdigit():
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
