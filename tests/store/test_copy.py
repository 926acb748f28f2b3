"""A memory is copied between files and servers whole, or not at all."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

import evimem
from evimem.cli.arguments import Exit, run_command_line
from evimem.db.connection import Connection
from evimem.db.postgres_schema import TABLES, column_types, find_differing_tables
from evimem.db.tables import Tables
from evimem.loaders.examples import load_example
from evimem.store.sqlite import SqliteStore

QUESTIONS = ("Where does she live now?", "When did Mira adopt her puppy?", "What is my dog?")
ODD = "NUL \0, escape \x1a0000, a lone surrogate \ud800, and 🐕."


@pytest.fixture
def memory(tmp_path: Path) -> Path:
    """A memory with whatever a memory may hold: odd text, forgotten and replaced turns, jobs, edges, a kept trace."""
    path = tmp_path / "m.evimem"
    with evimem.open(path, timezone="Europe/Madrid") as made:
        made.extend(load_example("friends")[:120], strict=True)
        made.add("Mira", ODD, time="2031-03-12T18:20", id="odd", metadata={"a": [1.5, None, "é"]})
        made.forget(turns=[turn.id for turn in list(made.turns())[5:60:9]])
        made.keep_trace(made.ask(QUESTIONS[0]).trace)
        made.enrich()
        made.add("Mira", "I sold the house.", time="2031-03-12T18:22", id="waiting")
        made.add("Mira", "I moved to Lisbon.", time="2031-03-12T18:21", id="last")
        made.forget(turns=["last"])
    return path


def rows(path: Path) -> dict[str, list[Any]]:
    with closing(Connection(path, readonly=True)) as db:
        names = [name for (name,) in db.rows("SELECT name FROM sqlite_schema WHERE type = 'table'")]
        kept = {name: sorted(db.rows(f"SELECT * FROM {name}"), key=repr) for name in names}
    # Whose it is, and the state of this one file.
    kept["meta"] = [row for row in kept["meta"] if row[0] not in ("owner", "link", "closed")]
    return kept


def answers(memory: evimem.Memory) -> list[Any]:
    found: list[Any] = [memory.search(question, k=12) for question in QUESTIONS]
    found += [memory.ask(question).to_dict() | {"usage": None, "trace": None} for question in QUESTIONS]
    return [*found, memory.facts(about="Mira"), list(memory.turns()), memory.block(QUESTIONS[0]).text]


def test_every_row_is_the_same_after_the_way_to_a_server_and_back(postgres: str, memory: Path, tmp_path: Path) -> None:
    user, back = str(tmp_path), tmp_path / "back.evimem"
    report = evimem.copy(memory, postgres, user=user, verify=True)
    assert evimem.copy(postgres, back, user=user, verify=True).turns == report.turns == 115
    before, after = rows(memory), rows(back)
    assert len(before) > 17
    assert [name for name in before if after[name] != before[name]] == []


def test_a_copy_answers_as_the_memory_does_and_goes_on(postgres: str, memory: Path, tmp_path: Path) -> None:
    evimem.copy(memory, postgres, user=str(tmp_path))
    with evimem.open(memory) as file, evimem.open(postgres, user=str(tmp_path)) as served:
        assert answers(served) == answers(file)
        assert served.check().problems == ()
        forgotten = load_example("friends")[5]
        for one in (file, served):
            one.add("Mira", "I moved back to Porto.", time="2031-04-12T18:22", id="next")
        assert served.forget(turns=[forgotten.id]).turns == 0, "what was forgotten is known to be"
        assert answers(served) == answers(file)


def test_a_copy_has_the_tables_that_a_file_has(tmp_path: Path) -> None:
    with closing(SqliteStore(tmp_path / "m.evimem", "e", 8)) as store:
        tables = {name for (name,) in store.db.rows("SELECT name FROM sqlite_schema WHERE type = 'table'")}
        columns = {
            name: {column for _, column, *_ in store.db.rows(f"PRAGMA table_info({name})")}
            for name in tables - {"sqlite_sequence"}
        }
    assert columns == {name: set(column_types(name)) for name in TABLES if name != "counter"}


def test_a_memory_is_not_copied_over_another(postgres: str, memory: Path, tmp_path: Path) -> None:
    evimem.copy(memory, postgres, user=str(tmp_path))
    with pytest.raises(evimem.StoreError, match="a memory already"):
        evimem.copy(memory, postgres, user=str(tmp_path))
    with pytest.raises(evimem.StoreError, match="exists already"):
        evimem.copy(postgres, memory, user=str(tmp_path))


def test_a_memory_that_was_only_opened_is_no_memory_yet(postgres: str, memory: Path, tmp_path: Path) -> None:
    with evimem.open(postgres, user=str(tmp_path)):
        pass
    assert evimem.copy(memory, postgres, user=str(tmp_path)).turns == 115


def test_nothing_is_copied_from_where_there_is_nothing(postgres: str, tmp_path: Path) -> None:
    with pytest.raises(evimem.InvalidQuery, match="no memory"):
        evimem.copy(tmp_path / "m.evimem", tmp_path / "n.evimem")
    with pytest.raises(evimem.InvalidQuery, match="no memory"):
        evimem.copy(postgres, tmp_path / "n.evimem", user=str(tmp_path))
    with pytest.raises(evimem.InvalidQuery, match="user"):
        evimem.copy(postgres, tmp_path / "n.evimem")
    assert not list(tmp_path.iterdir())


def test_a_file_of_a_pool_is_copied_for_its_own_user_only(postgres: str, tmp_path: Path) -> None:
    with evimem.MemoryPool(tmp_path / "users") as pool, pool.open("mira") as memory:
        memory.add("Mira", "Hello.", time="2024-03-12T18:20")
    (file,) = (tmp_path / "users").rglob("*.evimem")
    with pytest.raises(evimem.StoreError, match="another user"):
        evimem.copy(file, postgres, user=str(tmp_path))


@pytest.mark.parametrize("way", ["to a server", "to a file"])
def test_a_copy_that_is_cut_short_leaves_nothing(
    postgres: str, memory: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, way: str
) -> None:
    source, target = (memory, postgres) if way == "to a server" else (memory, tmp_path / "back.evimem")
    user = str(tmp_path) if way == "to a server" else None
    honest: Callable[..., None] = Tables.set_highest_numbers
    monkeypatch.setattr(Tables, "set_highest_numbers", lambda *_: 1 / 0)  # the last thing before the commit
    with pytest.raises((ZeroDivisionError, evimem.StoreError)):
        evimem.copy(source, target, user=user)
    monkeypatch.setattr(Tables, "set_highest_numbers", honest)
    assert [file.name for file in tmp_path.iterdir() if "back" in file.name] == []
    assert evimem.copy(source, target, user=user, verify=True).turns == 115


def test_a_row_that_was_not_kept_as_it_was_is_found(memory: Path, tmp_path: Path) -> None:
    class Worse(Connection):
        def insert(self, table: str, columns: str, rows: Any, key: str = "", new: str = "") -> None:
            kept = [(*row[:2], row[2] + 0.5) for row in rows] if table == "fact_vector" else rows
            super().insert(table, columns, kept, key, new)

    from evimem.db.postgres_schema import copy_rows  # noqa: PLC0415
    from evimem.db.schema import migrate  # noqa: PLC0415

    with closing(Connection(memory, readonly=True)) as old, closing(Worse(tmp_path / "n.evimem")) as new:
        migrate(new)
        with old.reading(), new.writing():
            assert find_differing_tables(new, copy_rows(old, new, lambda _: None)) == ["fact_vector"]


def test_the_command_line_works_on_a_server(
    postgres: str, memory: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    address, user = postgres.replace("evimem@", "evimem:pa55-word@"), ("--user", str(tmp_path))
    assert run_command_line(["stats", address, *user]) == Exit.INPUT, "a command that reads makes no memory"
    assert run_command_line(["copy", str(memory), address, *user, "--verify"]) == Exit.OK
    assert run_command_line(["ask", address, "When did Mira adopt her puppy?", *user]) == Exit.OK
    assert run_command_line(["search", address, "puppy", *user]) == Exit.OK
    assert run_command_line(["trace", address, *user]) == Exit.OK
    assert run_command_line(["doctor", address, *user]) == Exit.OK
    turns = tmp_path / "turns.jsonl"
    turns.write_text('{"speaker": "Mira", "text": "I moved to Kyoto.", "time": "2032-03-12T18:20"}\n')
    assert run_command_line(["ingest", address, str(turns), *user]) == Exit.OK
    assert run_command_line(["stats", address, *user]) == Exit.OK
    assert run_command_line(["stats", address]) == Exit.INPUT
    printed = capsys.readouterr()
    assert "8 March 2024" in printed.out
    assert "Kyoto" not in printed.err
    assert "pa55" not in printed.out + printed.err
