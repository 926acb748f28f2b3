"""Leases of queued jobs: each is offered to one caller at a time, a thread or a process, and to others once it ends."""

from __future__ import annotations

import os
import platform
from collections.abc import Callable, Sequence

from ..db.connection import Connection
from ..types.stored import JobKind
from .queue import Jobs

_LEASED = "error LIKE 'leased by %'"
_TOKEN = os.urandom(4).hex()  # tells this process from an earlier one with its number, as after a container's restart
_IN_BATCH = "error LIKE 'in batch %'"


class JobLeases:
    """Leases in the rows of jobs: `due` says until when, `error` who holds it. `clock` gives seconds since 1970."""

    def __init__(self, db: Connection, clock: Callable[[], float], jobs: Jobs) -> None:
        self._db = db
        self._clock = clock
        self._jobs = jobs

    def lease(self, kind: JobKind, limit: int, seconds: float) -> list[tuple[int, int]]:
        """Return jobs that may be tried now, as `due` does, and offer them to nobody else for so many seconds.

        Jobs leased by a process of this machine that has ended are offered again. Call it in a transaction.
        """
        held = self._db.rows(
            f"SELECT DISTINCT error FROM job WHERE kind = ? AND state = 'pending' AND {_LEASED}", (kind,)
        )
        for (name,) in held:
            if not _is_alive(name):
                sql = "UPDATE job SET due = ? WHERE kind = ? AND state = 'pending' AND error = ?"
                self._db.execute(sql, (self._clock(), kind, name))
        jobs = self._jobs.due(kind, limit)
        self._jobs.hold(kind, [seq for seq, _ in jobs], holder(), seconds)
        return jobs

    def release(self, kind: JobKind, seqs: Sequence[int]) -> None:
        """Offer the jobs of these turns again that this process leased and neither finished nor put off."""
        sql = "UPDATE job SET due = ?, error = NULL WHERE kind = ? AND seq = ? AND state = 'pending' AND error = ?"
        self._db.executemany(sql, [(self._clock(), kind, seq, holder()) for seq in seqs])

    def retry_now(self, kind: JobKind) -> None:
        """Make every job that was put off after a failure, or given up, due now; leases and batches stay."""
        sql = (
            "UPDATE job SET state = 'pending', attempts = 0, due = ?, error = NULL WHERE kind = ? AND "
            "(state = 'failed' OR (state = 'pending' AND attempts > 0)) "
            f"AND NOT coalesce({_LEASED}, 0) AND NOT coalesce({_IN_BATCH}, 0)"
        )
        self._db.execute(sql, (self._clock(), kind))

    def retries(self) -> list[tuple[str, int, str]]:
        """Return (kind, number of turns, one of their errors) of the jobs that wait for another try after a failure.

        One that is leased is being tried, and one that was released since waits for nothing.
        """
        sql = (
            "SELECT kind, count(*), max(error) FROM job WHERE state = 'pending' AND attempts > 0 "
            f"AND error IS NOT NULL AND NOT {_LEASED} AND NOT {_IN_BATCH} GROUP BY kind"
        )
        return [(kind, count, why.partition(":")[0]) for kind, count, why in self._db.rows(sql)]

    def put_off(self) -> list[tuple[str, int, float]]:
        """Return (reason, number of jobs, earliest next try in seconds since 1970) of pending jobs that wait."""
        sql = (
            "SELECT error, count(*), min(due) FROM job WHERE state = 'pending' AND error IS NOT NULL "
            "AND due BETWEEN ? AND ? GROUP BY error ORDER BY min(due)"
        )
        return list(self._db.rows(sql, self._jobs.waiting()))


def holder() -> str:
    """Return the reason for which jobs wait that this process has leased."""
    return f"leased by {platform.node()} {os.getpid()} {_TOKEN}"


def _is_alive(name: str) -> bool:
    """Return whether the process that holds a lease may still work on it: one of another machine always may."""
    *node, pid, token = name.removeprefix("leased by ").split(" ")
    if " ".join(node) != platform.node() or not pid.isdigit():
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
