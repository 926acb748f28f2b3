"""A runtime that cannot keep the promises is refused with a typed error when a memory is opened."""

import apsw
import pytest

from evimem import NewerSchema, StoreError
from evimem.db import connection

from .support.world import open_memory


@pytest.mark.parametrize("version", ["3.7.17", "3.40.1", "3.44.6", "3.45.9", "3.50.7", "3.51.2"])
def test_a_sqlite_that_may_lose_commits_is_refused(disk, monkeypatch, version):
    monkeypatch.setattr(apsw, "sqlite_lib_version", lambda: version)
    with pytest.raises(StoreError, match=rf"SQLite {version} .* 3\.51\.3 or later"):
        open_memory(disk / "m.evimem")
    assert list(disk.iterdir()) == []


@pytest.mark.parametrize("version", ["3.51.3", "3.52.0", "4.0.0"])
def test_a_safe_sqlite_is_accepted(disk, monkeypatch, version):
    monkeypatch.setattr(apsw, "sqlite_lib_version", lambda: version)
    open_memory(disk / "m.evimem").close()


@pytest.mark.parametrize("pragma", ["synchronous=NORMAL", "synchronous=OFF", "journal_mode=DELETE"])
def test_a_file_that_cannot_be_durable_is_refused(disk, monkeypatch, pragma):
    monkeypatch.setattr(connection, "_PRAGMAS", (*connection._PRAGMAS, f"PRAGMA {pragma}"))
    with pytest.raises(StoreError, match="expected 'wal' and 2"):
        open_memory(disk / "m.evimem")


def test_nothing_can_be_loaded_into_sqlite_and_a_schema_is_not_trusted(disk):
    with open_memory(disk / "m.evimem") as memory:
        db = memory._core.store.db
        with pytest.raises(StoreError, match="not authorized"):
            db.read_value("SELECT load_extension('x')")
        assert db.read_value("PRAGMA trusted_schema") == 0
        assert db.read_value("PRAGMA secure_delete") == 1
        assert db.read_value("PRAGMA foreign_keys") == 1


def test_a_file_of_a_later_version_is_refused(disk):
    with open_memory(disk / "m.evimem") as memory:
        memory._core.store.db.execute("PRAGMA user_version=99")
    with pytest.raises(NewerSchema, match="schema 99"):
        open_memory(disk / "m.evimem")
