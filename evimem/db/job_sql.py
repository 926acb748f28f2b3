"""What is asked of the queue of jobs, one row for each turn and kind."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import Any

from .dialect import Query, Value
from .tables import Tables

LEASED, IN_BATCH = "leased by %", "in batch %"  # of a job that is taken: why it waits


def queue_jobs(db: Tables, kind: str, seqs: Iterable[int], now: float) -> None:
    """Queue jobs; pending and done ones stay as they are, and failed ones are pending again unless of a model."""
    number = "CAST(? AS DOUBLE PRECISION)"
    db.execute(
        f"INSERT INTO job (kind, due, since, seq, state, attempts) SELECT DISTINCT CAST(? AS TEXT), {number}, "
        f"{number}, asked.seq, 'pending', 0 FROM {db.dialect.table('asked', 'seq bigint')} WHERE TRUE "
        "ON CONFLICT (kind, seq) DO UPDATE SET state = 'pending', attempts = 0, due = excluded.due, error = NULL "
        "WHERE job.state = 'failed' AND job.kind <> 'extract'",
        (kind, now, now, db.dialect.table_of([[seq] for seq in seqs])),
    )


def never_queued(db: Tables, kind: str) -> list[int]:
    """Return the turns that never had a job of a kind."""
    sql = "SELECT seq FROM turn WHERE seq NOT IN (SELECT seq FROM job WHERE kind = ?) ORDER BY seq"
    return [seq for (seq,) in db.rows(sql, (kind,))]


def due_jobs(kind: str, limit: int, waiting: tuple[float, float], *, untried: bool) -> Query:
    """Return the query of (turn, attempts) of pending jobs that are not due within a range, oldest turn first.

    That is the order of the primary key (kind, seq), so that the limit ends the scan early.
    """
    tried = " AND attempts = 0" if untried else ""
    sql = f"SELECT seq, attempts FROM job WHERE kind = ? AND state = 'pending'{tried} AND due NOT BETWEEN ? AND ?"
    return f"{sql} ORDER BY seq LIMIT ?", (kind, *waiting, limit)


def jobs_held(db: Tables, kind: str, limit: int, reason: str) -> list[Any]:
    """Return (turn, attempts) of pending jobs that wait for a reason, oldest turn first."""
    sql = "SELECT seq, attempts FROM job WHERE kind = ? AND state = 'pending' AND error = ? ORDER BY seq LIMIT ?"
    return db.rows(sql, (kind, reason, limit))


def not_to_try(db: Tables, kind: str, first: int, last: int, waiting: tuple[float, float]) -> set[int]:
    """Return the turns in a range whose job of a kind is done, failed, or due within a range of times."""
    sql = "SELECT seq FROM job WHERE kind = ? AND (state <> 'pending' OR due BETWEEN ? AND ?) AND seq BETWEEN ? AND ?"
    return {seq for (seq,) in db.rows(sql, (kind, *waiting, first, last))}


def finish_jobs(db: Tables, kind: str, seqs: Collection[int]) -> None:
    """Mark jobs as done."""
    sql = f"UPDATE job SET state = 'done', error = NULL WHERE kind = ? AND {db.dialect.among('seq')}"
    db.execute(sql, (kind, db.dialect.values(seqs)))


def requeue_jobs(db: Tables, kind: str, now: float) -> None:
    """Make every job of a kind pending again."""
    db.execute("UPDATE job SET state = 'pending', attempts = 0, due = ?, error = NULL WHERE kind = ?", (now, kind))


def put_off_jobs(db: Tables, kind: str, seqs: Collection[int], due: float, error: str) -> None:
    """Let pending jobs wait for a reason."""
    sql = f"UPDATE job SET due = ?, error = ? WHERE kind = ? AND state = 'pending' AND {db.dialect.among('seq')}"
    db.execute(sql, (due, error, kind, db.dialect.values(seqs)))


def record_failures(db: Tables, rows: Iterable[tuple[str, float, str, str, int]]) -> None:
    """Count failures of pending jobs: each is the new state, when it is due, the error, the kind and the turn."""
    db.executemany(
        "UPDATE job SET state = ?, attempts = attempts + 1, due = ?, error = ? "
        "WHERE kind = ? AND seq = ? AND state = 'pending'",
        rows,
    )


def open_jobs(db: Tables, seqs: Collection[int]) -> Query:
    """Return the query of (turn, kind) of the jobs of these turns that are pending or failed."""
    sql = f"SELECT seq, kind FROM job WHERE {db.dialect.among('seq')} AND state <> 'done' ORDER BY kind"
    return sql, [db.dialect.values(seqs)]


def turns_with_open_job(db: Tables, kind: str) -> set[int]:
    """Return the turns whose job of a kind is pending or failed."""
    return {seq for (seq,) in db.rows("SELECT seq FROM job WHERE kind = ? AND state <> 'done'", (kind,))}


def is_any_job_open(db: Tables) -> bool:
    """Return whether any job is pending or failed."""
    return db.value("SELECT 1 FROM job WHERE state <> 'done' LIMIT 1") is not None


def count_jobs(db: Tables, state: str) -> dict[str, int]:
    """Return how many jobs of a state there are, by kind."""
    return dict(db.rows("SELECT kind, count(*) FROM job WHERE state = ? GROUP BY kind", (state,)))


def oldest_job(db: Tables) -> float | None:
    """Return when the oldest pending job was queued."""
    since: float | None = db.value("SELECT min(since) FROM job WHERE state = 'pending'")
    return since


def holders(db: Tables, kind: str) -> list[str]:
    """Return who has leased pending jobs of a kind."""
    sql = "SELECT DISTINCT error FROM job WHERE kind = ? AND state = 'pending' AND error LIKE ?"
    return [name for (name,) in db.rows(sql, (kind, LEASED))]


def release_jobs(db: Tables, kind: str, held_by: Collection[str], now: float, seqs: Collection[int] | None) -> None:
    """Make the jobs that some have leased due now: of these turns, or of all."""
    sql = f"UPDATE job SET due = ?, error = NULL WHERE kind = ? AND state = 'pending' AND {db.dialect.among('error')}"
    args: list[Value] = [now, kind, db.dialect.values(held_by)]
    if seqs is not None:
        sql, args = f"{sql} AND {db.dialect.among('seq')}", [*args, db.dialect.values(seqs)]
    db.execute(sql, args)


def retry_jobs(db: Tables, now: float) -> None:
    """Make every job that was put off after a failure, or given up, due now; leases and batches stay."""
    db.execute(
        "UPDATE job SET state = 'pending', attempts = 0, due = ?, error = NULL "
        "WHERE (state = 'failed' OR (state = 'pending' AND attempts > 0)) "
        "AND NOT coalesce(error LIKE ?, FALSE) AND NOT coalesce(error LIKE ?, FALSE)",
        (now, LEASED, IN_BATCH),
    )


def failed_before(db: Tables) -> list[Any]:
    """Return (kind, number of turns, one of their errors) of jobs that failed and are neither leased nor released."""
    return db.rows(
        "SELECT kind, count(*), max(error) FROM job WHERE state = 'pending' AND attempts > 0 "
        "AND error IS NOT NULL AND NOT error LIKE ? AND NOT error LIKE ? GROUP BY kind",
        (LEASED, IN_BATCH),
    )


def jobs_put_off(db: Tables, waiting: tuple[float, float]) -> list[Any]:
    """Return (reason, number of jobs, earliest time that one is due) of pending jobs due within a range."""
    sql = (
        "SELECT error, count(*), min(due) FROM job WHERE state = 'pending' AND error IS NOT NULL "
        "AND due BETWEEN ? AND ? GROUP BY error ORDER BY min(due)"
    )
    return db.rows(sql, waiting)
