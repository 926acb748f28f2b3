"""Breaks of locks, transactions, threads, forks and interrupts of one connection."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from types import SimpleNamespace

from evimem.db import connection
from evimem.db.connection import Connection
from evimem.store.sqlite import SqliteStore
from tests.breaks.gates import ASKING, CONNECTION, INTERRUPTS, PROCESSES, THREADS
from tests.breaks.patch import put, put_default, put_property
from tests.breaks.registry import breaks


@breaks(gate=PROCESSES, says="StoreBusy")
def transactions_begin_deferred() -> None:
    @contextmanager
    def writing(self: Connection, *, durably: bool = True) -> Iterator[None]:
        with self._transaction("BEGIN"):
            yield

    put(Connection, "writing", writing)


@breaks(gate=PROCESSES, says="StoreBusy")
def locks_are_not_waited_for() -> None:
    put_default(SqliteStore.__init__, "busy_seconds", 0.0)


@breaks(gate=f"{THREADS}::test_threads_and_cancelled_tasks_lose_nothing_and_leave_no_lock", says="Error|lost|hangs")
def threads_share_a_handle_without_a_lock() -> None:
    put(connection, "threading", SimpleNamespace(RLock=nullcontext))


@breaks(gate=f"{THREADS}::test_a_child_of_a_fork_is_refused_and_the_parent_goes_on", says="DID NOT RAISE")
def a_fork_may_use_its_parents_handle() -> None:
    put(connection._TypedErrors, "__enter__", lambda self: None)


@breaks(gate=CONNECTION, says="the lock stays taken|cannot start a transaction")
def blocks_outlive_their_with_statement() -> None:
    for name in ("writing", "reading", "_transaction"):
        put(Connection, name, contextmanager(getattr(Connection, name).__wrapped__))


@breaks(gate=CONNECTION, says="the lock stays taken")
def locks_are_taken_by_python_code() -> None:
    class Lock:
        def __init__(self) -> None:
            self._lock = threading.RLock()
            self.acquire, self.release = self._lock.acquire, self._lock.release

        def __enter__(self) -> None:
            self.acquire()

        def __exit__(self, *details: object) -> None:
            self.release()

    put(connection, "threading", SimpleNamespace(RLock=Lock))


@breaks(
    gate=f"{INTERRUPTS}::test_a_connection_left_in_a_state_of_its_own_is_brought_back_before_use",
    says="within a transaction|readonly|StoreReadOnly",
)
def the_state_of_a_connection_is_not_checked() -> None:
    put(Connection, "_handle", lambda self: self._db)


@breaks(gate=f"{INTERRUPTS}::test_after_a_signal_at_any_place_of_closing_a_memory_is_open_or_closed", says="Closed")
def a_handle_that_was_closed_counts_as_open() -> None:
    def close(self: Connection) -> None:
        with self._errors, self._lock:
            if not self._closed:
                self._db.close()
            self._closed = True

    close.__code__ = close.__code__.replace(co_filename=connection.__file__)  # where signals are sent
    put(Connection, "close", close)


@breaks(gate=f"{INTERRUPTS}::test_half_an_update_of_what_is_held_in_memory_is_read_again", says="assert|Error")
def half_an_update_is_searched() -> None:
    put_property(Connection, "aborted", property(lambda self: 0, lambda self, value: None))


@breaks(gate=f"{ASKING}::test_nothing_can_be_written_inside_a_read", says="DID NOT RAISE")
def reads_can_write() -> None:
    @contextmanager
    def reading(self: Connection) -> Iterator[None]:
        with self.raise_corrupt_on_decoding_errors(), self._transaction("BEGIN"):
            yield

    put(Connection, "reading", reading)
