"""Breaks of commits, power cuts, migrations, backups and the settings of SQLite."""

import shutil
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from evimem.db import connection, schema
from evimem.db.connection import Connection
from evimem.raw.turn_log import RawLog
from evimem.store import erase, nearest, open_file, writes
from evimem.store.handle import StoreHandle
from evimem.store.sqlite import SqliteStore
from evimem.types.results import AddReport
from evimem.types.stored import Entry
from tests.breaks.gates import KILLS, POWER, REPLACED, RUNTIME
from tests.breaks.patch import opened_with, put
from tests.breaks.registry import breaks


@breaks(gate=POWER, says="acknowledged turns differ|StoreRolledBack")
def synchronous_is_normal() -> None:
    opened_with(lambda db: db.execute("PRAGMA synchronous=NORMAL"))


@breaks(gate=POWER, says="acknowledged turns differ|StoreCorrupt|StoreRolledBack")
def synchronous_is_off() -> None:
    opened_with(lambda db: db.execute("PRAGMA synchronous=OFF"))


@breaks(gate=KILLS, says="acknowledged turns differ")
@breaks(gate=POWER, says="acknowledged turns differ")
def acknowledged_before_commit() -> None:
    @contextmanager
    def lazily(self: Connection, begin: str, *, query_only: bool = False, synced: bool = True) -> Iterator[None]:
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

    put(Connection, "_transaction", lazily)
    put(Connection, "_handle", lambda self: self._db)
    put(Connection, "checkpoint", checkpoint)


@breaks(gate=REPLACED, says="acknowledged turns differ")
def a_replaced_turn_is_erased_in_a_transaction_of_its_own() -> None:
    whole = SqliteStore.write

    def in_two(
        handle: StoreHandle, entries: Sequence[Entry], *, strict: bool = False, replace: bool = False, gone: Any = ()
    ) -> AddReport:
        if replace and (stale := writes._find_replaced_turns(handle, entries)):
            erase.forget(handle, list(stale))
        return whole(handle, entries, strict=strict, gone=gone)

    put(SqliteStore, "write", in_two)


@breaks(gate=KILLS, says="sent again and not recognized")
def ids_are_not_unique() -> None:
    tables = tuple(
        step.replace("id TEXT NOT NULL UNIQUE", "id TEXT NOT NULL", 1) if "CREATE TABLE turn " in str(step) else step
        for step in schema.THREE_LAYERS
    )
    put(schema, "MIGRATIONS", (tables, *schema.MIGRATIONS[1:]))
    put(RawLog, "compare_with_stored", lambda self, turns: [None] * len(turns))


@breaks(
    gate="tests/store/test_ann.py::test_temporary_files_of_killed_processes_are_deleted_and_locked_ones_stay",
    says="assert",
)
def temporary_files_of_killed_processes_stay() -> None:
    for module in (nearest, open_file):
        put(module, "delete_stale_temporaries", lambda path: None)


@breaks(gate=f"{RUNTIME}::test_a_file_that_cannot_be_durable_is_refused", says="DID NOT RAISE")
def durability_settings_are_not_checked() -> None:
    put(connection, "_check_settings", lambda db, path: None)


@breaks(
    gate=f"{RUNTIME}::test_nothing_can_be_loaded_into_sqlite_and_a_schema_is_not_trusted", says="not authorized|load"
)
def extensions_may_be_loaded() -> None:
    opened_with(lambda db: db.enable_load_extension(True))


@breaks(gate=f"{RUNTIME}::test_a_sqlite_that_may_lose_commits_is_refused", says="DID NOT RAISE")
def the_sqlite_version_is_not_checked() -> None:
    put(connection, "_check_runtime", lambda: None)


@breaks(gate="tests/reliability/test_backup.py", says="the copy lacks turns|the copy is no prefix")
def a_backup_is_a_copied_file() -> None:
    put(SqliteStore, "backup", lambda self, target: shutil.copyfile(self.path, target))


@breaks(
    gate="tests/reliability/test_power_loss.py::test_a_migration_that_a_power_cut_interrupts_is_whole_or_has_not_begun",
    says="Error|differ",
)
def a_migration_is_not_one_transaction() -> None:
    def migrate(db: Connection) -> None:
        for number, migration in enumerate(
            schema.MIGRATIONS[schema.count_migrations(db) :], start=schema.count_migrations(db) + 1
        ):
            schema.apply_migration(db, migration)
            db.execute(f"PRAGMA user_version={number}")

    put(open_file, "migrate", migrate)


@breaks(gate="tests/golden/test_golden.py::test_every_turn_is_there_as_it_was_said", says="assert|Error")
def a_migration_drops_before_it_copies() -> None:
    def moved(db: Connection) -> None:
        (sql,) = (row[0] for row in db.rows("SELECT sql FROM sqlite_schema WHERE name = 'turn'"))
        db.execute("PRAGMA defer_foreign_keys=ON")
        db.execute("DELETE FROM turn")
        db.execute(sql.replace("TABLE turn", "TABLE moved", 1))
        db.execute("INSERT INTO moved SELECT * FROM turn")

    put(schema, "MIGRATIONS", (*schema.MIGRATIONS, (moved,)))


@breaks(gate="tests/golden/test_golden.py::test_migrations_are_appended_and_never_changed", says="assert")
def an_old_migration_is_changed() -> None:
    changed = (*schema.THREE_LAYERS, "ALTER TABLE turn ADD COLUMN words INTEGER")
    put(schema, "MIGRATIONS", (changed, *schema.MIGRATIONS[1:]))
