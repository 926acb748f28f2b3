"""Breaks of lost, exchanged and damaged files, failing and full disks."""

from contextlib import nullcontext
from pathlib import Path
from typing import Any

import apsw

from evimem import AddReport, StoreError, TurnStatus
from evimem.db import atomic_files, connection, file_format
from evimem.db.connection import Connection
from evimem.index import saved_index
from evimem.index.hnsw import HnswIndex
from evimem.raw import turn_log
from evimem.store import nearest, open_file
from evimem.store.handle import StoreHandle
from evimem.store.sqlite import SqliteStore
from tests.breaks.gates import DAMAGE, FAULTS, ROLLBACK, SYNCS
from tests.breaks.patch import opened_with, put
from tests.breaks.registry import breaks


@breaks(
    gate=f"{ROLLBACK}::test_a_lost_cut_or_replaced_file_is_refused_and_not_changed",
    says="what was refused was changed",
)
def a_missing_file_is_created_again() -> None:
    put(open_file, "_check_not_lost", lambda path, mark: None)


@breaks(gate=f"{ROLLBACK}::test_a_lost_cut_or_replaced_file_is_refused_and_not_changed", says="DID NOT RAISE")
def the_mark_is_not_compared() -> None:
    put(open_file, "_check_mark", lambda db, mark: None)


@breaks(
    gate=f"{ROLLBACK}::test_a_memory_that_lost_its_log_is_refused_and_not_changed", says="what was refused was changed"
)
def a_refused_file_is_checkpointed() -> None:
    opened_with(lambda db: db.config(apsw.SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 0))


@breaks(gate=f"{ROLLBACK}::test_a_users_file_is_not_opened_for_another", says="DID NOT RAISE")
def owners_are_not_compared() -> None:
    honest = StoreHandle.identify

    def identify(self: StoreHandle, embedder: str, owner: str | None, *rest: Any) -> None:
        honest(self, embedder, None if self.db.read_meta_value("owner") else owner, *rest)

    put(StoreHandle, "identify", identify)


@breaks(gate=f"{ROLLBACK}::test_writing_to_a_deleted_or_replaced_file_is_refused", says="DID NOT RAISE")
def a_deleted_file_is_not_noticed() -> None:
    put(Connection, "_check_same_file", lambda self: None)


@breaks(gate=FAULTS, says="apsw|IOError|FullError")
def sqlite_errors_escape() -> None:
    put(connection, "_typed_error", lambda error, path: error)


@breaks(gate=SYNCS, says="acknowledged turns are missing")
def pragmas_are_not_run_to_their_end() -> None:
    def opened(self: Connection) -> apsw.Connection:
        db = apsw.Connection(str(self.path), vfs=self._vfs)
        if not db.pragma("page_count"):
            db.execute(f"PRAGMA application_id={file_format.APPLICATION_ID}")
        for pragma in connection._PRAGMAS:
            db.execute(pragma)
        self._file_id = self._file_id or self._current_file_id()
        return db

    put(Connection, "_open", opened)


@breaks(gate=FAULTS, says="within a transaction|acknowledged turns are missing|StoreReadOnly")
def a_handle_is_reused_after_a_failed_commit() -> None:
    put(Connection, "_handle", lambda self: self._db)
    put(Connection, "_rollback", lambda self, error: None)


@breaks(gate=FAULTS, says="Error")
def a_handle_is_never_reopened() -> None:
    honest = Connection._open

    def once(self: Connection) -> apsw.Connection:
        if hasattr(self, "_db"):
            raise apsw.IOError("the handle is gone")
        return honest(self)

    put(Connection, "_open", once)


@breaks(gate=FAULTS, says="acknowledged turns are missing|half of a batch|UnknownTurn")
def a_failed_commit_is_reported_as_done() -> None:
    honest = SqliteStore.write

    def write(self: SqliteStore, entries: Any, *, strict: bool = False, **options: Any) -> Any:
        try:
            return honest(self, entries, strict=strict, **options)
        except StoreError:
            return AddReport.of([TurnStatus(entry.turn.id, "added") for entry in entries], 0)

    put(SqliteStore, "write", write)


@breaks(
    gate="tests/reliability/test_disk_full.py::test_a_limit_on_the_size_of_files_is_reported_as_disk_full",
    says="StoreError",
)
def size_limits_are_not_reported_as_disk_full() -> None:
    put(connection, "_NO_ROOM", set())


@breaks(
    gate="tests/reliability/test_disk_full.py::test_a_memory_works_without_an_index_that_does_not_fit",
    says="DID NOT RAISE",
)
def half_an_index_is_kept() -> None:
    def save(self: HnswIndex, path: Path) -> int:
        self._graph.save_index(str(path))
        return path.stat().st_size

    put(HnswIndex, "save", save)


@breaks(
    gate="tests/reliability/test_disk_full.py::test_a_memory_works_without_an_index_that_does_not_fit", says="OSError"
)
def os_errors_of_the_index_file_escape() -> None:
    put(atomic_files, "is_disk_full", lambda error: False)
    put(nearest, "translate_os_errors", lambda what, kept: nullcontext())


@breaks(gate=f"{DAMAGE}::test_flipped_bits_never_alter_a_turn", says="SILENT: an altered turn was served")
def digests_are_not_compared() -> None:
    honest = turn_log.hash_turn

    class Agreeable(bytes):
        __hash__ = bytes.__hash__

        def __eq__(self, other: object) -> bool:
            return True

    put(turn_log, "hash_turn", lambda turn: Agreeable(honest(turn)))


@breaks(
    gate=f"{DAMAGE}::test_a_damaged_mark_or_index_file_does_not_matter", says="CRASH|RAW|SILENT|GROWN|assert (?!0 ==)"
)
def a_damaged_index_is_loaded() -> None:
    class Agreeable(str):
        __slots__ = ()
        __hash__ = str.__hash__

        def __ne__(self, other: object) -> bool:
            return False

    put(saved_index, "_checksum", lambda graph, description: Agreeable("f"))


@breaks(gate="tests/reliability/test_lost_index.py", says="assert 0.* >= 0.95")
def unindexed_vectors_are_not_searched() -> None:
    add, init = HnswIndex.add, nearest.CompleteIndex.__init__

    def without(self: nearest.CompleteIndex, *args: Any) -> None:
        init(self, *args)
        self._unindexed = self._unindexed[:0]

    put(HnswIndex, "add", lambda self, positions, vectors: add(self, positions[::2], vectors[::2]))
    put(nearest.CompleteIndex, "__init__", without)
