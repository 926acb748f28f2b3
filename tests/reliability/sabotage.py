"""Known-bad behaviours, one at a time, each with the gate that must turn red under it (see test_sabotage.py).

`EVIMEM_SABOTAGE=<name> pytest <gate>` shows one by hand.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import apsw

from evimem import companions
from evimem.connection import Connection
from evimem.store import SqliteStore


@dataclass(frozen=True, slots=True)
class Sabotage:
    """What goes wrong, the test that must notice, and what it must say."""

    commit: Callable[[], None]
    gate: str
    says: str


SABOTAGES: dict[str, Sabotage] = {}


def start() -> None:
    """Commit the sabotage that the environment names, if it names one."""
    name = os.environ.get("EVIMEM_SABOTAGE")
    if name:
        SABOTAGES[name].commit()


def noticed_by(gate: str, says: str) -> Callable[[Callable[[], None]], Callable[[], None]]:
    """Register a sabotage under its function's name."""

    def register(commit: Callable[[], None]) -> Callable[[], None]:
        SABOTAGES[commit.__name__] = Sabotage(commit, gate, says)
        return commit

    return register


def _opened_with(change: Callable[[apsw.Connection], object]) -> None:
    honest = Connection._open

    def opened(self: Connection) -> apsw.Connection:
        db = honest(self)
        change(db)
        return db

    Connection._open = opened  # type: ignore[method-assign]


POWER = "test_power_loss.py::test_no_acknowledged_turn_is_lost_to_a_power_cut"


@noticed_by(POWER, says="acknowledged turns differ|StoreRolledBack")
def synchronous_is_normal() -> None:
    _opened_with(lambda db: db.execute("PRAGMA synchronous=NORMAL"))


@noticed_by(POWER, says="acknowledged turns differ|StoreCorrupt|StoreRolledBack")
def synchronous_is_off() -> None:
    _opened_with(lambda db: db.execute("PRAGMA synchronous=OFF"))


@noticed_by(POWER, says="acknowledged turns differ")
def acknowledged_before_commit() -> None:
    @contextmanager
    def lazily(self: Connection, begin: str) -> Iterator[None]:
        with self._lock:
            if self._depth or self._handle().in_transaction:  # the commit of the last write comes with the next one
                if not self._depth and begin != "BEGIN":
                    self._db.execute("COMMIT")
                    self._db.execute(begin)
            else:
                self._db.execute(begin)
            self._depth += 1
            try:
                yield
            finally:
                self._depth -= 1

    emptied = Connection.checkpoint

    def checkpoint(self: Connection) -> bool:
        if self._db.in_transaction:
            self._db.execute("COMMIT")
        return emptied(self)

    Connection._transaction = lazily  # type: ignore[method-assign, assignment]
    Connection.checkpoint = checkpoint  # type: ignore[method-assign]


KILLS = "test_kills.py::test_no_acknowledged_turn_is_lost_to_a_kill"


@noticed_by(KILLS, says="acknowledged turns differ")
def acknowledged_to_a_client_before_commit() -> None:
    acknowledged_before_commit()


ROLLBACK = "test_rollback.py"


@noticed_by(f"{ROLLBACK}::test_a_file_that_is_not_the_memory_it_was_is_refused_and_left_alone", says="was changed")
def a_missing_file_is_created_anew() -> None:
    companions._check_there = lambda path, mark: None  # type: ignore[assignment]


@noticed_by(f"{ROLLBACK}::test_a_file_that_is_not_the_memory_it_was_is_refused_and_left_alone", says="DID NOT RAISE")
def the_mark_is_not_compared() -> None:
    companions._check = lambda db, mark: None  # type: ignore[assignment]


@noticed_by(f"{ROLLBACK}::test_a_memory_that_lost_its_log_is_refused_and_left_alone", says="was changed")
def a_refused_file_is_tidied_up() -> None:
    _opened_with(lambda db: db.config(apsw.SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 0))


@noticed_by(f"{ROLLBACK}::test_a_users_file_is_not_opened_for_another", says="DID NOT RAISE")
def owners_are_not_compared() -> None:
    honest = SqliteStore._check_identity

    def check(self: SqliteStore, name: str, dimension: int, owner: str | None) -> None:
        honest(self, name, dimension, None if self._layers.meta("owner") else owner)

    SqliteStore._check_identity = check  # type: ignore[method-assign]


@noticed_by(
    f"{ROLLBACK}::test_a_handle_whose_file_was_taken_away_says_so_instead_of_writing_into_nothing", says="DID NOT RAISE"
)
def files_may_be_taken_away() -> None:
    Connection._check_place = lambda self: None  # type: ignore[method-assign]


PROCESSES = "test_processes.py"


@noticed_by(PROCESSES, says="StoreBusy")
def transactions_begin_deferred() -> None:
    @contextmanager
    def writing(self: Connection) -> Iterator[None]:
        with self._transaction("BEGIN"):
            yield

    Connection.writing = writing  # type: ignore[method-assign, assignment]


@noticed_by(PROCESSES, says="StoreBusy")
def nobody_waits_for_a_lock() -> None:
    SqliteStore.__init__.__kwdefaults__["busy_seconds"] = 0.0
