"""Known defects, injected one at a time, each with the test that must fail under it (see test_sabotage.py).

`EVIMEM_SABOTAGE=<name> pytest <gate>` runs a gate under one of them; `tests/conftest.py` applies it. A name is that of
a function below. Where it is registered for several gates, all are meant; `<name>:<file of the gate>` names one.
"""

from __future__ import annotations

import asyncio
import logging
import os
import shutil
import sys
import threading
import time
import unicodedata
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from contextlib import contextmanager, nullcontext, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import apsw
import openai
import orjson
import pytest

from evimem import (
    AddReport,
    Memory,
    MemoryPool,
    ModelUnavailable,
    ReplyError,
    StoreError,
    Turn,
    TurnStatus,
    UnknownTurn,
    loops,
)
from evimem.db import atomic_files, connection, schema
from evimem.db.connection import Connection
from evimem.db.surrogates import bindable
from evimem.doors import pool
from evimem.doors.leases import Leases, Slot
from evimem.edges import EdgeGraph
from evimem.extract import RuleExtractor, updates
from evimem.index import ann_file
from evimem.index.hnsw import HnswIndex
from evimem.index.segments import Segments
from evimem.index.supersede import Supersession
from evimem.ingest import deferred
from evimem.llm import extract_facts, prompt_fields
from evimem.llm.evidence_prompt import ShownEvidence
from evimem.llm.extract_facts import RetryPlan
from evimem.openai import http_errors
from evimem.openai.endpoint import Server
from evimem.raw import RawLog, digest, turn_log
from evimem.raw.name_table import NameTable
from evimem.store import ann, check, erase, forgotten_ids, open_file, reads, sqlite, writes
from evimem.store.ann import AnnIndexCache
from evimem.store.handle import StoreHandle
from evimem.store.layers import Layers
from evimem.store.queue import Jobs
from evimem.store.sqlite import SqliteStore


@dataclass(frozen=True, slots=True)
class Sabotage:
    """A defect, the test that must fail under it, and a pattern that its failure must match."""

    apply: Callable[[], None]
    gate: str
    says: str


SABOTAGES: dict[str, Sabotage] = {}
_APPLIED: list[str] = []


def start() -> None:
    """Apply the sabotage that EVIMEM_SABOTAGE names, if it is set; a second call does nothing.

    Raise pytest.UsageError for an unknown name: a gate that stays green under it would prove nothing.
    """
    name = os.environ.get("EVIMEM_SABOTAGE")
    if not name or name in _APPLIED:
        return
    found = [key for key in SABOTAGES if name in (key, key.partition(":")[0])]
    if not found:
        raise pytest.UsageError(f"EVIMEM_SABOTAGE is {name!r}; expected one of: {', '.join(sorted(SABOTAGES))}")
    _APPLIED.append(name)
    SABOTAGES[found[0]].apply()  # the same function for every gate that it is registered for


def noticed_by(gate: str, says: str) -> Callable[[Callable[[], None]], Callable[[], None]]:
    """Register a sabotage under its function's name and that of the gate's file."""

    def register(apply: Callable[[], None]) -> Callable[[], None]:
        file = Path(gate.partition("::")[0]).stem.removeprefix("test_")
        SABOTAGES[f"{apply.__name__}:{file}"] = Sabotage(apply, gate, says)
        return apply

    return register


def _opened_with(change: Callable[[apsw.Connection], object]) -> None:
    honest = Connection._open

    def opened(self: Connection) -> apsw.Connection:
        db = honest(self)
        change(db)
        return db

    Connection._open = opened  # type: ignore[method-assign]


KILLS = "test_kills.py::test_no_acknowledged_turn_is_lost_to_a_kill"
POWER = "test_power_loss.py::test_no_acknowledged_turn_is_lost_to_a_power_cut"


@noticed_by(POWER, says="acknowledged turns differ|StoreRolledBack")
def synchronous_is_normal() -> None:
    _opened_with(lambda db: db.execute("PRAGMA synchronous=NORMAL"))


@noticed_by(POWER, says="acknowledged turns differ|StoreCorrupt|StoreRolledBack")
def synchronous_is_off() -> None:
    _opened_with(lambda db: db.execute("PRAGMA synchronous=OFF"))


@noticed_by(KILLS, says="acknowledged turns differ")
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

    def checkpoint(self: Connection, *, wait: bool = True) -> bool:
        if self._db.in_transaction:
            self._db.execute("COMMIT")
        return emptied(self, wait=wait)

    Connection._transaction = lazily  # type: ignore[method-assign, assignment]
    Connection.checkpoint = checkpoint  # type: ignore[method-assign]


@noticed_by(KILLS, says="sent again and not recognized")
def ids_are_not_unique() -> None:
    schema._THREE_LAYERS = tuple(
        table.replace("id TEXT NOT NULL UNIQUE", "id TEXT NOT NULL", 1) if "CREATE TABLE turn " in table else table
        for table in schema._THREE_LAYERS
    )
    RawLog.digest_of = lambda self, turn_id: None  # type: ignore[method-assign]


@noticed_by(
    "../store/test_ann.py::test_temporary_files_of_killed_processes_are_deleted_and_locked_ones_stay", says="assert"
)
def temporary_files_of_killed_processes_stay() -> None:
    ann.sweep = open_file.sweep = lambda path: None  # type: ignore[assignment]


ROLLBACK = "test_rollback.py"


@noticed_by(
    f"{ROLLBACK}::test_a_lost_cut_or_replaced_file_is_refused_and_not_changed",
    says="what was refused was changed",
)
def a_missing_file_is_created_again() -> None:
    open_file._check_there = lambda path, mark: None  # type: ignore[assignment]


@noticed_by(f"{ROLLBACK}::test_a_lost_cut_or_replaced_file_is_refused_and_not_changed", says="DID NOT RAISE")
def the_mark_is_not_compared() -> None:
    open_file._check = lambda db, mark: None  # type: ignore[assignment]


@noticed_by(
    f"{ROLLBACK}::test_a_memory_that_lost_its_log_is_refused_and_not_changed", says="what was refused was changed"
)
def a_refused_file_is_checkpointed() -> None:
    _opened_with(lambda db: db.config(apsw.SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 0))


@noticed_by(f"{ROLLBACK}::test_a_users_file_is_not_opened_for_another", says="DID NOT RAISE")
def owners_are_not_compared() -> None:
    honest = sqlite.check_identity

    def check(layers: Layers, name: str, dimension: int, owner: str | None) -> None:
        honest(layers, name, dimension, None if layers.meta("owner") else owner)

    sqlite.check_identity = check


@noticed_by(f"{ROLLBACK}::test_writing_to_a_deleted_or_replaced_file_is_refused", says="DID NOT RAISE")
def a_deleted_file_is_not_noticed() -> None:
    Connection._check_same_file = lambda self: None  # type: ignore[method-assign]


PROCESSES = "test_processes.py"


@noticed_by(PROCESSES, says="StoreBusy")
def transactions_begin_deferred() -> None:
    @contextmanager
    def writing(self: Connection) -> Iterator[None]:
        with self._transaction("BEGIN"):
            yield

    Connection.writing = writing  # type: ignore[method-assign, assignment]


@noticed_by(PROCESSES, says="StoreBusy")
def locks_are_not_waited_for() -> None:
    SqliteStore.__init__.__kwdefaults__["busy_seconds"] = 0.0


SOAK = "test_soak.py"


@noticed_by(SOAK, says="descriptors are not given back|StoreReadOnly|Too many open files")
def evicted_memories_stay_open() -> None:
    evicted: list[Slot] = []
    MemoryPool._close = lambda self, slot: evicted.append(slot)  # type: ignore[method-assign]


MACHINE = "test_state_machine.py::test_memories_of_a_pool_hold_what_dicts_would_hold"
ERASURE = "test_erasure.py::test_no_byte_of_what_was_forgotten_is_left"


@noticed_by(ERASURE, says="m.evimem")
def deletion_is_not_secure() -> None:
    _opened_with(lambda db: db.execute("PRAGMA secure_delete=OFF"))


@noticed_by(ERASURE, says="evimem")
def traces_outlive_cited_turns() -> None:
    erase.drop_traces_of = lambda layers, seqs: None  # type: ignore[assignment]


@noticed_by(ERASURE, says="ann")
def the_vector_index_survives_forgetting() -> None:
    AnnIndexCache.drop = lambda self: None  # type: ignore[method-assign]


@noticed_by(ERASURE, says="wal")
def the_log_is_not_emptied() -> None:
    Connection.checkpoint = lambda self, *, wait=True: True  # type: ignore[method-assign]
    Connection.blank = lambda self: True  # type: ignore[method-assign]


@noticed_by(ERASURE, says="vector")
@noticed_by(MACHINE, says="the index holds what is no turn|has a vector that is not what was stored")
def sealed_vectors_of_forgotten_turns_stay() -> None:
    honest = Connection.patch

    def patch(self: Connection, table: str, column: str, rowid: int, pieces: Any) -> None:
        if column != "vectors":
            honest(self, table, column, rowid, pieces)

    Connection.patch = patch  # type: ignore[method-assign]


@noticed_by("test_erasure.py::test_a_backup_can_repeat_later_erasures", says="the backup remembers")
def erasures_of_a_copy_are_not_repeated() -> None:
    forgotten_ids.read_copy = lambda layers, path: (set(), set())  # type: ignore[assignment]


@noticed_by("test_erasure.py::test_forgetting_all_empties_every_table", says="a table outlives forgetting")
def a_table_is_left_out_of_forgetting() -> None:
    schema._THREE_LAYERS += (
        "CREATE TABLE saga (seq INTEGER, text)",
        "CREATE TRIGGER saga_of_turn AFTER INSERT ON turn BEGIN INSERT INTO saga VALUES (new.seq, new.text); END",
    )


@noticed_by("test_erasure.py::test_copies_of_rows_in_page_slack_are_overwritten", says="lower case in m")
def page_slack_is_not_overwritten() -> None:
    Connection.blank = lambda self: True  # type: ignore[method-assign]


@noticed_by(
    "test_erasure.py::test_forgetting_is_pending_while_a_reader_holds_an_older_state",
    says="assert",
)
def a_pending_erasure_is_never_finished() -> None:
    StoreHandle.after_commit = lambda self: None  # type: ignore[method-assign]


DERIVED = "test_derived.py::test_after_forgetting_every_row_equals_that_of_a_memory_without_the_turns"


@noticed_by(DERIVED, says="replaced_by")
def facts_replaced_by_forgotten_ones_stay_replaced() -> None:
    Supersession.leave = lambda self, left: None  # type: ignore[method-assign]


@noticed_by(DERIVED, says="index")
def sealed_dates_of_forgotten_turns_stay() -> None:
    Segments._change_events = lambda self, number, changes: None  # type: ignore[method-assign]


@noticed_by("test_derived.py::test_lost_derived_rows_are_noticed_and_derived_again", says="saw nothing wrong")
def the_check_reports_nothing() -> None:
    check.problems = lambda layers, extractor, progress: ()  # type: ignore[assignment]


ISOLATION = "test_isolation.py::test_no_call_returns_text_of_another_user"


@noticed_by(ISOLATION, says="let out")
@noticed_by(MACHINE, says="taken otherwise|not those that were kept")
def the_pool_returns_any_open_memory() -> None:
    honest = MemoryPool._prepare

    def prepare(self: MemoryPool, lease: Any) -> Any:
        opened = honest(self, lease)
        slots = self._leases.slots
        if lease.exclusive or len(slots) < self._leases.capacity:
            return opened
        return next(iter(slots.values())).opened or opened

    MemoryPool._prepare = prepare  # type: ignore[method-assign]


@noticed_by(ISOLATION, says="let out|belongs to another user")
@noticed_by(MACHINE, says="taken otherwise|not those that were kept|belongs to another user")
def the_pool_opens_a_memory_under_an_evicted_id() -> None:
    evict = MemoryPool._make_room

    def make_room(self: MemoryPool, slot: Slot) -> None:
        if slot.evicted is not None:
            key = slot.evicted.key
            sqlite.check_identity = lambda layers, *what: None
            MemoryPool._path = lambda self, wanted: self._root / key[:2] / f"{key}.evimem"  # type: ignore[method-assign]
        evict(self, slot)

    MemoryPool._make_room = make_room  # type: ignore[method-assign]


@noticed_by(ISOLATION, says="let out|fewer turns|Error|StoreClosed")
@noticed_by(MACHINE, says="StoreCorrupt|every eligible turn|StoreClosed")
def all_memories_share_one_cache() -> None:
    honest = StoreHandle.corpus
    shared: list[Any] = []

    def corpus(self: StoreHandle) -> Any:
        if not shared:
            shared.append(honest(self))
        return shared[0]

    StoreHandle.corpus = corpus  # type: ignore[method-assign]


@noticed_by(ISOLATION, says="let out")
@noticed_by(MACHINE, says="taken otherwise|not those that were kept")
def similar_user_ids_share_a_memory() -> None:
    honest = pool.key_of
    pool.key_of = lambda user_id: honest(unicodedata.normalize("NFC", user_id).casefold())  # type: ignore[assignment]


@noticed_by(MACHINE, says="the postings")
def postings_of_forgotten_turns_stay() -> None:
    Segments._shorten = lambda self, term, number, leaving: None  # type: ignore[method-assign]


@noticed_by(MACHINE, says="has no vector, and no job")
def jobs_are_completed_without_their_result() -> None:
    Segments.set_vector = lambda self, seq, packed: None  # type: ignore[method-assign]


@noticed_by(MACHINE, says="not those that were kept|taken otherwise|DID NOT RAISE")
def a_conflict_overwrites_the_stored_turn() -> None:
    honest = writes._write_one

    def write(layers: Layers, entry: Any) -> Any:
        values = (bindable(entry.turn.text), digest(entry.turn), entry.turn.id)
        layers.db.execute("UPDATE turn SET text = ?, digest = ? WHERE id = ?", values)
        return honest(layers, entry)

    writes._write_one = write


@noticed_by(MACHINE, says="StoreCorrupt|every eligible turn|the postings|FOREIGN KEY")
def rewrites_are_not_announced_to_other_handles() -> None:
    honest = Layers.count_commit
    Layers.count_commit = lambda self, **_: honest(self)  # type: ignore[method-assign]


@noticed_by(MACHINE, says="as many turns as there are")
def filters_apply_after_the_top_k() -> None:
    honest = reads.rank

    def rank(question: Any, corpus: Any, k: int, *rest: Any, **options: Any) -> Any:
        found = honest(replace(question, session=None, speaker=None), corpus, k, *rest, **options)
        session, speaker = question.session, question.speaker
        return [
            one for one in found
            if session in (None, corpus.session[one.position]) and speaker in (None, corpus.speaker[one.position])
        ]  # fmt: skip

    reads.rank = rank


@noticed_by(MACHINE, says="a number was given twice")
def sequence_numbers_are_reused() -> None:
    honest = RawLog.erase

    def erase(self: RawLog, seqs: Any) -> None:
        honest(self, seqs)
        self._db.execute("UPDATE sqlite_sequence SET seq = (SELECT max(seq) FROM turn) WHERE name = 'turn'")

    RawLog.erase = erase  # type: ignore[method-assign]


@noticed_by(MACHINE, says="has a fact that is not what was stored")
def replaced_facts_are_overwritten() -> None:
    def overwrite(self: Supersession, row: int, winner: str | None) -> None:
        sql = "UPDATE fact SET object = (SELECT object FROM fact WHERE id = ?) WHERE row = ?"
        self._db.execute(sql, (winner, row))

    Supersession._set = overwrite  # type: ignore[method-assign]


@noticed_by(DERIVED, says="edge")
@noticed_by(MACHINE, says="have other edges")
def neighbours_of_forgotten_facts_are_not_relinked() -> None:
    honest = EdgeGraph.erase
    EdgeGraph.erase = lambda self, rows: honest(self, rows) and set()  # type: ignore[method-assign]


@noticed_by(MACHINE, says="not those that were kept|taken otherwise")
def reopening_deletes_the_memory() -> None:
    honest = SqliteStore.__init__
    opened: dict[Any, int] = {}

    def init(self: SqliteStore, path: Any, *rest: Any, **options: Any) -> None:
        opened[path] = opened.get(path, 0) + 1
        if opened[path] % 4 == 0:
            for file in path.parent.glob(f"{path.name}*"):
                file.unlink()
        honest(self, path, *rest, **options)

    init.__kwdefaults__ = honest.__kwdefaults__
    SqliteStore.__init__ = init  # type: ignore[method-assign]


SYNCS = "test_io_faults.py::test_a_sync_that_fails_once_costs_nothing_that_is_acknowledged_later"
FAULTS = "test_io_faults.py::test_a_failing_disk_gives_typed_errors_and_loses_nothing"


@noticed_by(FAULTS, says="apsw|IOError|FullError")
def sqlite_errors_escape() -> None:
    connection._typed = lambda error, path: error  # type: ignore[assignment, return-value]


@noticed_by(SYNCS, says="acknowledged turns are missing")
def pragmas_are_not_run_to_their_end() -> None:
    def opened(self: Connection) -> apsw.Connection:
        db = apsw.Connection(str(self.path), vfs=self._vfs)
        if not db.pragma("page_count"):
            db.execute(f"PRAGMA application_id={connection.APPLICATION_ID}")
        for pragma in connection._PRAGMAS:
            db.execute(pragma)
        self._file_id = self._file_id or self._current_file_id()
        return db

    Connection._open = opened  # type: ignore[method-assign]


@noticed_by(FAULTS, says="within a transaction|acknowledged turns are missing")
def a_handle_is_reused_after_a_failed_commit() -> None:
    honest = Connection._handle

    def handle(self: Connection) -> apsw.Connection:
        self._suspect = False
        return honest(self)

    Connection._handle = handle  # type: ignore[method-assign]
    Connection._rollback = lambda self: None  # type: ignore[method-assign]


@noticed_by(FAULTS, says="Error")
def a_handle_is_never_reopened() -> None:
    honest = Connection._open

    def once(self: Connection) -> apsw.Connection:
        if hasattr(self, "_db"):
            raise apsw.IOError("the handle is gone")
        return honest(self)

    Connection._open = once  # type: ignore[method-assign]


@noticed_by(FAULTS, says="acknowledged turns are missing|half of a batch|UnknownTurn")
def a_failed_commit_is_reported_as_done() -> None:
    honest = SqliteStore.write

    def write(self: SqliteStore, entries: Any, *, strict: bool = False) -> Any:
        try:
            return honest(self, entries, strict=strict)
        except StoreError:
            return AddReport.of([TurnStatus(entry.turn.id, "added") for entry in entries], 0)

    SqliteStore.write = write  # type: ignore[method-assign]


THREADS = "test_threads.py"


@noticed_by(f"{THREADS}::test_threads_and_cancelled_tasks_lose_nothing_and_leave_no_lock", says="Error|lost|hangs")
def threads_share_a_handle_without_a_lock() -> None:
    connection.threading = SimpleNamespace(RLock=nullcontext)  # type: ignore[attr-defined]


@noticed_by(f"{THREADS}::test_a_child_of_a_fork_is_refused_and_the_parent_goes_on", says="DID NOT RAISE")
def a_fork_may_use_its_parents_handle() -> None:
    connection._TypedErrors.__enter__ = lambda self: None  # type: ignore[method-assign]


@noticed_by("test_disk_full.py::test_a_limit_on_the_size_of_files_is_reported_as_disk_full", says="StoreError")
def size_limits_are_not_reported_as_disk_full() -> None:
    connection._NO_ROOM = set()


@noticed_by(
    "../index/test_ann_file.py::test_a_graph_that_writes_far_too_much_is_cut_off_and_the_old_one_stays",
    says="DID NOT RAISE",
)
def an_index_may_fill_the_disk() -> None:
    ann_file.most_bytes = lambda vectors, dimension: 1 << 60


@noticed_by("test_disk_full.py::test_a_memory_works_without_an_index_that_does_not_fit", says="OSError")
def os_errors_of_the_index_file_escape() -> None:
    atomic_files.has_no_room = lambda error: False  # type: ignore[assignment]
    ann.changing = lambda what, kept: nullcontext()  # type: ignore[assignment]


POOL = "../doors/test_pool.py"
INTERRUPTS = "test_interrupts.py"
CONNECTION = f"{INTERRUPTS}::test_after_a_signal_at_any_place_a_connection_has_no_lock_no_transaction_and_may_write"
SIGNALS = f"{INTERRUPTS}::test_after_a_signal_at_any_place_the_pool_has_every_place_again"


@noticed_by(f"{POOL}::test_many_cancelled_callers_leave_a_pool_of_eight_alive", says="PoolFull|StoreBusy")
@noticed_by(
    f"{POOL}::test_a_caller_cancelled_while_its_file_is_opened_gives_its_lease_back", says="PoolFull|StoreBusy|hangs"
)
def a_cancelled_caller_keeps_its_lease() -> None:
    honest = MemoryPool._end_after

    def end_after(self: MemoryPool, lease: Any, worker: Any) -> Any:
        return Future() if sys.exc_info()[0] is asyncio.CancelledError else honest(self, lease, worker)

    MemoryPool._end_after = end_after  # type: ignore[method-assign]


@noticed_by(f"{POOL}::test_a_file_that_cannot_be_opened_costs_no_place", says="PoolFull|StoreBusy")
def a_file_that_cannot_be_opened_keeps_its_place() -> None:
    Leases._undo = lambda self, slot, *, keep: None  # type: ignore[method-assign]


@noticed_by(f"{POOL}::test_a_free_slot_goes_to_the_longest_waiting_request", says="assert")
@noticed_by(f"{POOL}::test_a_full_pool_waits_and_then_says_what_to_do", says="assert")
def a_full_pool_refuses_at_once() -> None:
    honest = MemoryPool.__init__

    def init(self: MemoryPool, *args: Any, **options: Any) -> None:
        honest(self, *args, **options)
        self._wait_seconds = 0.0

    MemoryPool.__init__ = init  # type: ignore[method-assign]


@noticed_by(f"{POOL}::test_a_free_slot_goes_to_the_longest_waiting_request", says="assert")
def a_place_goes_to_the_latest_caller() -> None:
    honest = Leases.grant

    def grant(self: Leases) -> None:
        self.waiting = type(self.waiting)(reversed(self.waiting.items()))
        honest(self)
        self.waiting = type(self.waiting)(reversed(self.waiting.items()))

    Leases.grant = grant  # type: ignore[method-assign]


@noticed_by(f"{POOL}::test_an_event_loop_goes_on_while_a_task_waits_for_a_place", says="assert|PoolFull|Timeout")
def waiting_for_a_place_blocks_the_event_loop() -> None:
    async def wait(self: MemoryPool, lease: Any, granted: Any) -> None:
        self._ask(lease)
        deadline = time.monotonic() + 2.0
        while lease.slot is None and time.monotonic() < deadline:
            time.sleep(0.01)
        self._check_granted(lease)

    MemoryPool._wait_async = wait  # type: ignore[method-assign]


@noticed_by(f"{POOL}::test_opening_one_file_holds_up_no_other_user", says="Timeout|assert")
def the_pool_is_locked_while_a_file_is_opened() -> None:
    honest = MemoryPool._open_file

    def opened(self: MemoryPool, key: str) -> Any:
        with self._guard():
            return honest(self, key)

    MemoryPool._open_file = opened  # type: ignore[method-assign]


@noticed_by(f"{POOL}::test_closing_one_file_holds_up_no_other_user", says="Timeout|assert")
def the_pool_is_locked_while_a_file_is_closed() -> None:
    honest = MemoryPool._close

    def close(self: MemoryPool, slot: Slot) -> None:
        with self._guard():
            honest(self, slot)

    MemoryPool._close = close  # type: ignore[method-assign]


@noticed_by(f"{POOL}::test_closing_waits_for_the_call_of_a_cancelled_caller", says="assert")
def closing_does_not_wait_for_what_is_under_way() -> None:
    Leases.idle = True  # type: ignore[assignment, method-assign]


@noticed_by(
    f"{POOL}::test_a_child_of_a_fork_opens_files_of_its_own_whatever_the_parent_was_doing", says="assert|Error|hangs"
)
def a_child_of_a_fork_has_its_parents_pool() -> None:
    MemoryPool._guard = lambda self: self._lock  # type: ignore[method-assign]


@noticed_by(CONNECTION, says="the lock stays taken|cannot start a transaction")
def blocks_outlive_their_with_statement() -> None:
    for name in ("writing", "reading", "_transaction"):
        setattr(Connection, name, contextmanager(getattr(Connection, name).__wrapped__))


@noticed_by(CONNECTION, says="the lock stays taken")
def locks_are_taken_by_python_code() -> None:
    class Lock:
        def __init__(self) -> None:
            self._lock = threading.RLock()
            self.acquire, self.release = self._lock.acquire, self._lock.release

        def __enter__(self) -> None:
            self.acquire()

        def __exit__(self, *details: object) -> None:
            self.release()

    connection.threading = SimpleNamespace(RLock=Lock)  # type: ignore[attr-defined]


@noticed_by(
    f"{INTERRUPTS}::test_a_connection_left_in_a_state_of_its_own_is_brought_back_before_use",
    says="within a transaction|readonly|StoreReadOnly",
)
def the_state_of_a_connection_is_not_looked_at() -> None:
    Connection._handle = lambda self: self._db  # type: ignore[method-assign]


@noticed_by(f"{INTERRUPTS}::test_half_an_update_of_what_is_held_in_memory_is_read_again", says="assert|Error")
def half_an_update_is_searched() -> None:
    Connection.aborted = property(lambda self: 0, lambda self, value: None)  # type: ignore[assignment]


@noticed_by(SIGNALS, says="open at place|open another at place|erase at place|assert")
def a_signal_takes_a_lease_along() -> None:
    MemoryPool._end_at_last = lambda self, lease: self._end(lease)  # type: ignore[method-assign]


PATHS = "test_paths.py"


@noticed_by(f"{PATHS}::test_no_name_leads_out_of_the_folder_and_no_two_share_a_memory", says="Error|outside|assert")
def a_path_is_built_from_the_id() -> None:
    pool.key_of = lambda user_id: user_id  # type: ignore[assignment]


@noticed_by(f"{PATHS}::test_an_invalid_user_id_is_refused", says="DID NOT RAISE|is not the memory of anybody")
def invalid_user_ids_are_accepted() -> None:
    honest = pool.key_of
    pool.key_of = lambda user_id: honest(str(user_id) or "somebody")  # type: ignore[assignment]


RUNTIME = "test_runtime.py"


@noticed_by(f"{RUNTIME}::test_a_file_that_cannot_be_durable_is_refused", says="DID NOT RAISE")
def durability_settings_are_not_checked() -> None:
    connection._check_settings = lambda db, path: None  # type: ignore[assignment]


@noticed_by(
    f"{RUNTIME}::test_nothing_can_be_loaded_into_sqlite_and_a_schema_is_not_trusted", says="not authorized|load"
)
def extensions_may_be_loaded() -> None:
    _opened_with(lambda db: db.enable_load_extension(True))


@noticed_by(f"{RUNTIME}::test_a_sqlite_that_may_lose_commits_is_refused", says="DID NOT RAISE")
def the_sqlite_version_is_not_checked() -> None:
    connection._check_runtime = lambda: None  # type: ignore[assignment]


@noticed_by("test_backup.py", says="the copy lacks turns|the copy is no prefix")
def a_backup_is_a_copied_file() -> None:
    sqlite.write_backup = lambda db, target: shutil.copyfile(db.path, target)  # type: ignore[assignment, misc]


DAMAGE = "test_damage.py"


@noticed_by(f"{DAMAGE}::test_flipped_bits_never_alter_a_turn", says="SILENT: an altered turn was served")
def digests_are_not_compared() -> None:
    honest = turn_log.digest

    class Agreeable(bytes):
        __hash__ = bytes.__hash__

        def __eq__(self, other: object) -> bool:
            return True

    turn_log.digest = lambda turn: Agreeable(honest(turn))  # type: ignore[assignment]


@noticed_by(f"{DAMAGE}::test_a_damaged_mark_or_index_file_does_not_matter", says="CRASH|RAW|SILENT|GROWN|assert")
def a_damaged_index_is_loaded() -> None:
    def unchecked(file: Any) -> Any:
        _, length = ann_file._START.unpack(file.read(ann_file._START.size))
        header = file.read(length)
        file.read(ann_file._SEAL.size)
        return orjson.loads(header)

    ann_file._read_header = unchecked


@noticed_by(KILLS, says="has no vector|have no vector")
@noticed_by(POWER, says="derived rows differ|has no vector")
def jobs_are_queued_in_a_separate_transaction() -> None:
    enqueue, after_commit = Jobs.enqueue, StoreHandle.after_commit
    deferred: list[Any] = []

    def later(self: Jobs, kind: str, seqs: Any) -> None:
        deferred.append((self, kind, list(seqs)))

    def then(self: StoreHandle) -> None:
        time.sleep(0.002 * bool(deferred))  # as a busy disk would take
        with self.db.writing():
            while deferred:
                jobs, kind, seqs = deferred.pop(0)  # some of which may be forgotten by now
                there = [seq for seq in seqs if self.db.value("SELECT 1 FROM turn WHERE seq = ?", (seq,))]
                enqueue(jobs, kind, there)
        after_commit(self)

    Jobs.enqueue = later  # type: ignore[method-assign, assignment]
    StoreHandle.after_commit = then  # type: ignore[method-assign]


QUEUE = "test_queue.py"
MALFORMED = "test_malformed_replies.py::test_a_malformed_reply_loses_no_turn_and_the_next_is_read"
SCHEDULES = "test_schedules.py"


@noticed_by(SCHEDULES, says="still pending|skipped")
def progress_is_a_high_water_mark() -> None:
    honest = Jobs.due

    def due(self: Jobs, kind: str, limit: int, *rest: Any) -> list[tuple[int, int]]:
        found = honest(self, kind, limit, *rest)
        reached = self._db.value("SELECT max(seq) FROM job WHERE kind = ? AND state = 'done'", (kind,)) or 0
        return [(seq, tries) for seq, tries in found if seq > reached]

    Jobs.due = due  # type: ignore[method-assign]


@noticed_by(QUEUE, says="held up others|not given up")
def the_head_of_the_queue_is_retried_forever() -> None:
    deferred.plan_retry = lambda error, attempts: RetryPlan(0.0, halt=True, reason="try again")  # type: ignore[assignment]


@noticed_by(f"{QUEUE}::test_one_poisoned_turn_of_each_user_holds_up_no_other_and_is_given_up", says="held up others")
def failed_jobs_come_first() -> None:
    Jobs.due = lambda self, kind, limit, reason=None: self._pending(  # type: ignore[method-assign]
        kind, limit, *(("due NOT BETWEEN ? AND ?", *self._waiting()) if reason is None else ("error = ?", reason))
    )


@noticed_by(
    f"{QUEUE}::test_a_bad_reply_from_a_cache_is_requested_again_and_never_taken_for_done", says="the same bytes"
)
def a_retry_sends_the_same_bytes() -> None:
    honest = deferred.extract_facts
    deferred.extract_facts = lambda turn, previous, attempt: honest(turn, previous, 1)  # type: ignore[assignment]


@noticed_by(SCHEDULES, says="has no vector, and no job")
def jobs_up_to_the_last_done_are_deleted() -> None:
    honest = Jobs.complete

    def complete(self: Jobs, kind: str, seqs: Any) -> None:
        honest(self, kind, seqs)
        if kind == "vector":
            self._db.execute("DELETE FROM job WHERE kind = 'vector' AND seq < ?", (max(seqs, default=0),))

    Jobs.complete = complete  # type: ignore[method-assign]


@noticed_by("test_lost_index.py", says="assert 0.* >= 0.95")
def unindexed_vectors_are_not_searched() -> None:
    add, init = HnswIndex.add, ann.CompleteIndex.__init__

    def without(self: ann.CompleteIndex, *args: Any) -> None:
        init(self, *args)
        self._unindexed = self._unindexed[:0]

    HnswIndex.add = lambda self, positions, vectors: add(self, positions[::2], vectors[::2])  # type: ignore[method-assign]
    ann.CompleteIndex.__init__ = without  # type: ignore[method-assign]


@noticed_by(SCHEDULES, says="skipped")
@noticed_by(MALFORMED, says="bad output is told from none nowhere|was not read")
@noticed_by(QUEUE, says="assert")
def a_bad_reply_counts_as_no_facts() -> None:
    honest = extract_facts.read_extraction

    def read(text: str, turn: Turn, previous: Any = ()) -> Any:
        try:
            return honest(text, turn, previous)
        except ReplyError:
            return extract_facts.Extraction(())

    extract_facts.read_extraction = read


MODEL = "test_hostile_model.py"
POISONING = "test_poisoning.py"


@noticed_by(f"{MODEL}::test_no_reply_changes_a_turn_and_asking_writes_nothing", says="a turn was changed, or is gone")
def a_reply_can_delete_turns() -> None:
    honest, settle = extract_facts.read_extraction, SqliteStore.settle
    doomed: list[str] = []

    def read(text: str, turn: Turn, previous: Any = ()) -> Any:
        doomed.extend(["t1"] * ('"delete"' in text))
        return honest(text, turn, previous)

    def settled(self: SqliteStore, kind: Any, entries: Any) -> None:
        with suppress(UnknownTurn):  # it is gone already
            self.forget(["t1"] if doomed else [])
        settle(self, kind, entries)

    extract_facts.read_extraction, SqliteStore.settle = read, settled  # type: ignore[method-assign]


@noticed_by(f"{MODEL}::test_no_reply_changes_a_turn_and_asking_writes_nothing", says="took back what the same turn")
def a_model_can_retract_facts_of_the_same_turn() -> None:
    updates._read_twice = lambda one, other: False


@noticed_by(f"{MODEL}::test_no_reply_changes_a_turn_and_asking_writes_nothing", says="asking wrote something")
def asking_stores_a_trace() -> None:
    honest = Memory.ask

    def ask(self: Memory, *args: Any, **options: Any) -> Any:
        answer = honest(self, *args, **options)
        self.keep_trace(answer.trace)
        return answer

    Memory.ask = ask  # type: ignore[method-assign]


@noticed_by(MALFORMED, says="an ungrounded fact was stored|a fact that stands nowhere")
@noticed_by(f"{POISONING}::test_statements_of_others_never_become_a_persons_wish", says="ungrounded|stands nowhere")
def facts_of_a_model_are_not_grounded() -> None:
    extract_facts.find_quote = lambda quote, text, *rest: (0, len(text))  # type: ignore[assignment]
    extract_facts.is_anchored = lambda *args, **options: True


ASKING = "test_asking.py"


@noticed_by(f"{ASKING}::test_nothing_can_be_written_inside_a_read", says="DID NOT RAISE")
def reads_can_write() -> None:
    @contextmanager
    def reading(self: Connection) -> Iterator[None]:
        with self.decoding(), self._transaction("BEGIN"):
            yield

    Connection.reading = reading  # type: ignore[method-assign, assignment]


@noticed_by(f"{ASKING}::test_a_model_that_is_never_satisfied_is_stopped", says="as long as the model likes")
def a_loop_has_no_limit() -> None:
    def endless(task: Any) -> Any:
        return honest(replace(task, budget=replace(task.budget, iterations=30)))

    honest = loops.LOOPS["iris"]
    loops.LOOPS = {**loops.LOOPS, "iris": endless}


@noticed_by(f"{POISONING}::test_statements_of_others_never_become_a_persons_wish", says="spoke for Mira")
def the_role_of_a_turn_is_ignored() -> None:
    honest = extract_facts.read_extraction
    extract_facts.read_extraction = lambda text, turn, previous=(): honest(text, replace(turn, role="user"), previous)


@noticed_by("test_hostile_load.py", says=r"ended with -(9|24)|to keep .* took")
def dateparser_scans_raw_text() -> None:
    from dateparser.search import search_dates  # noqa: PLC0415 - slow to import, and wanted here alone

    honest = RuleExtractor.extract

    def extract(self: RuleExtractor, turn: Turn) -> Any:
        search_dates(turn.text, languages=["en"])
        return honest(self, turn)

    RuleExtractor.extract = extract  # type: ignore[method-assign]


@noticed_by(
    "test_power_loss.py::test_a_migration_that_a_power_cut_interrupts_is_whole_or_has_not_begun", says="Error|differ"
)
def a_migration_is_not_one_transaction() -> None:
    def migrate(db: Connection) -> None:
        for number, migration in enumerate(schema.MIGRATIONS[schema.version(db) :], start=schema.version(db) + 1):
            migration(db)
            db.execute(f"PRAGMA user_version={number}")

    open_file.migrate = migrate


@noticed_by("../golden/test_golden.py::test_every_turn_is_there_as_it_was_said", says="assert|Error")
def a_migration_drops_before_it_copies() -> None:
    def moved(db: Connection) -> None:
        (sql,) = (row[0] for row in db.rows("SELECT sql FROM sqlite_schema WHERE name = 'turn'"))
        db.execute("PRAGMA defer_foreign_keys=ON")
        db.execute("DELETE FROM turn")
        db.execute(sql.replace("TABLE turn", "TABLE moved", 1))
        db.execute("INSERT INTO moved SELECT * FROM turn")

    schema.MIGRATIONS = (*schema.MIGRATIONS, moved)


@noticed_by("../golden/test_golden.py::test_migrations_are_appended_and_never_changed", says="assert")
def an_old_migration_is_changed() -> None:
    def changed(db: Connection) -> None:
        schema.m001_three_layers(db)
        db.execute("ALTER TABLE turn ADD COLUMN words INTEGER")

    schema.MIGRATIONS = (changed, *schema.MIGRATIONS[1:])


@noticed_by(
    "../openai/test_faults.py::test_a_fault_is_survived_or_becomes_a_typed_error_within_the_deadline",
    says="s allowed for a deadline",
)
def the_deadline_applies_to_single_reads() -> None:
    honest = Server.__init__

    def init(self: Server, *args: Any, **options: Any) -> None:
        honest(self, *args, **options)
        self._deadline = 20.0

    Server.__init__ = init  # type: ignore[method-assign]


@noticed_by(
    "../openai/test_faults.py::test_a_fault_is_survived_or_becomes_a_typed_error_within_the_deadline",
    says="JSONDecodeError|ConnectError|RemoteProtocolError|ReadError",
)
def only_openai_errors_are_caught() -> None:
    honest = Server._translated

    def translated(self: Server, error: BaseException) -> Any:
        if not isinstance(error, openai.APIError):
            raise error
        return honest(self, error)

    Server._translated = translated  # type: ignore[method-assign]


@noticed_by(
    "../llm/test_end_to_end.py::test_a_server_that_asks_for_a_pause_gets_it_and_all_queued_jobs_wait", says="assert"
)
def the_queue_ignores_retry_after() -> None:
    deferred._hold_queue = lambda kind, error: iter(())  # type: ignore[assignment]


@noticed_by("../openai/test_http_errors.py::test_ten_shapes_of_secrets_are_redacted", says="assert")
def response_bodies_are_not_redacted() -> None:
    http_errors.redact = lambda body: body if isinstance(body, str) else body.decode("utf-8", "replace")


SECRETS = "test_secrets_anywhere.py::test_keys_and_texts_are_in_no_log_or_error"


@noticed_by(SECRETS, says="a key of the shape|what was said shows")
def errors_hold_raw_response_bodies() -> None:
    http_errors.redact = lambda body: body if isinstance(body, str) else body.decode("utf-8", "replace")
    ModelUnavailable.__str__ = lambda self: f"{self.args} {self.detail}"  # type: ignore[method-assign]


@noticed_by(SECRETS, says="a key of the shape")
@noticed_by("../openai/test_secrets.py::test_a_good_call_logs_nothing_of_what_was_said", says="assert not")
def requests_are_logged() -> None:
    honest = Server.submit

    def submit(self: Server, *args: Any, **options: Any) -> Any:
        logging.getLogger("evimem").debug("sending with %s", self._api_key)
        return honest(self, *args, **options)

    Server.submit = submit  # type: ignore[method-assign]


FUZZ = "../llm/test_fuzz.py::test_a_spoilt_reply_ends_as_a_value_or_a_typed_error"


@noticed_by(FUZZ, says="KeyError")
def unknown_labels_are_looked_up() -> None:
    ShownEvidence.turn = lambda self, label: {turn.id: turn for turn in self.turns}[label]  # type: ignore[method-assign]


@noticed_by(FUZZ, says="TypeError|AttributeError")
def reply_fields_are_not_validated() -> None:
    prompt_fields.items = lambda value: value


ODD_INPUT = "test_odd_input.py::test_no_query_id_or_filter_reaches_sqlite_as_anything_but_a_value"


@noticed_by(ODD_INPUT, says="Error")
def names_are_interpolated_into_sql() -> None:
    def number(self: NameTable, name: str) -> Any:
        plain = name.encode("utf-8", "replace").decode()
        return self._db.value(f"SELECT ord FROM {self._table} WHERE name = '{plain}'")

    NameTable.number = number  # type: ignore[method-assign]


@noticed_by(ODD_INPUT, says="a statement of its own")
def names_are_quoted_into_sql() -> None:
    def number(self: NameTable, name: str) -> Any:
        plain = name.encode("utf-8", "replace").decode().replace("'", "''").replace("\0", "")
        return self._db.value(f"SELECT ord FROM {self._table} WHERE name = '{plain}'")

    NameTable.number = number  # type: ignore[method-assign]


@noticed_by("test_odd_input.py::test_an_odd_text_is_kept_verbatim_and_found", says="Unicode|UTF-8")
def lone_surrogates_are_bound_as_text() -> None:
    turn_log.bindable = lambda text: text  # type: ignore[assignment]


@noticed_by(f"{POISONING}::test_what_an_assistant_repeats_is_not_learnt_again", says="was learnt again")
def assistant_turns_count_as_the_users() -> None:
    honest = RuleExtractor.extract
    RuleExtractor.extract = lambda self, turn: honest(self, replace(turn, speaker="Mira", role="user"))  # type: ignore[method-assign]
