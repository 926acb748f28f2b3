"""A memory that may only be read is searched, and neither it nor what lies beside it is changed."""

import asyncio
import os
import shutil
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import evimem
from evimem import NotAMemory, StoreReadOnly, StoreRolledBack, Trace
from evimem.raw.commit_mark import mark_path
from tests.copies import copied
from tests.doubles import WordEmbedder
from tests.reliability.support.children import in_child

NOBODY = 65534
AT = "2024-05-02T10:00"
CHANGES: dict[str, Callable[[Any], Any]] = {
    "add": lambda m: m.add("Vera", "More.", time=AT),
    "extend": lambda m: m.extend([evimem.Turn("2", "", "Vera", "More.", AT)]),
    "remember": lambda m: m.remember([{"role": "user", "content": "More."}], time=AT),
    "update": lambda m: m.update("1", "Other."),
    "forget": lambda m: m.forget(["1"]),
    "enrich": lambda m: m.enrich(),
    "rebuild": lambda m: m.rebuild(),
    "reembed": lambda m: m.reembed(WordEmbedder(16)),
    "calibrate": lambda m: m.calibrate([]),
    "check": lambda m: m.check(repair=True),
    "keep_trace": lambda m: m.keep_trace(Trace("where?", "iris")),
}


@pytest.fixture
def disk():
    """A folder that any user may enter."""
    folder = Path(tempfile.mkdtemp(prefix="evimem-"))
    yield folder
    for one in (folder, *folder.glob("*/")):
        one.chmod(0o755)
    shutil.rmtree(folder)


def made(folder: Path, *, enriched: bool = True) -> Path:
    path = folder / "m.evimem"
    with evimem.open(path) as memory:
        memory.add("Vera", "My cat is called Nori.", time=AT, id="1")
        if enriched:
            memory.enrich()
    return path


def left(path: Path, folder: Path) -> Path:
    """Copy a memory as a killed process leaves it: its last turn stands in the log alone, which has no index."""
    memory = evimem.open(path)
    memory.add("Vera", "My dog is called Bruno.", time=AT, id="2")
    folder.mkdir()
    copy = copied(path, folder / path.name)
    copy.with_name(f"{copy.name}-shm").unlink()
    memory.close()
    return copy


def contents(folder: Path) -> dict[str, tuple[bytes, int]]:
    return {file.name: (file.read_bytes(), file.stat().st_mtime_ns) for file in folder.iterdir()}


def reading(path: Path) -> dict[str, Any]:
    with evimem.open(path, read_only=True) as memory:
        return {
            "search": memory.search("What is the cat called?", 1)[0].turn.text,
            "ask": [one.quote for one in memory.ask("What is the cat called?").citations],
            "block": "Nori" in memory.block("Do you know my cat?").text,
            "facts": len(memory.facts(["1"])) > 0,
            "turns": [turn.id for turn in memory.turns()],
            "health": memory.health().status,
        }


@pytest.mark.parametrize("with_log", [False, True])
def test_a_place_without_write_rights_is_read_whole(disk, with_log):
    path = made(disk)
    if with_log:
        path = left(path, disk / "copy")
    reading(path)  # imports all that the other user may be unable to
    for file in path.parent.iterdir():
        file.chmod(0o444)
    for folder in (disk, path.parent):
        folder.chmod(0o555)
    before = contents(path.parent) if not with_log else None

    def read() -> dict[str, Any]:
        if os.geteuid() == 0:
            os.setuid(NOBODY)
        return reading(path)

    found = in_child(read)
    assert found["turns"] == (["1", "2"] if with_log else ["1"])
    assert found["search"] == "My cat is called Nori."
    assert found["ask"]
    assert found["block"]
    assert found["facts"]
    assert found["health"] == ("degraded" if with_log else "ok")  # the facts of the turn in the log wait
    if before:
        assert contents(path.parent) == before


@pytest.mark.parametrize("with_log", [False, True])
def test_nothing_is_written_where_it_could_be(tmp_path, with_log):
    path = left(made(tmp_path), tmp_path / "copy") if with_log else made(tmp_path)
    before = contents(path.parent) if with_log else {path.name: contents(tmp_path)[path.name]}
    reading(path)
    after = contents(path.parent)
    assert {name: after[name] for name in before} == before
    assert after.keys() == {*before, mark_path(path).name}


@pytest.mark.parametrize("name", CHANGES)
def test_a_call_that_would_change_it_is_refused_by_both_doors(tmp_path, name):
    path = made(tmp_path)
    before = contents(tmp_path)

    async def refused() -> None:
        async with evimem.open_async(path, read_only=True) as memory:
            with pytest.raises(StoreReadOnly, match="reading only"):
                await CHANGES[name](memory)

    with evimem.open(path, read_only=True) as memory, pytest.raises(StoreReadOnly, match="reading only"):
        CHANGES[name](memory)
    asyncio.run(refused())
    assert contents(tmp_path) == before


def test_commits_of_a_process_that_writes_meanwhile_are_seen(tmp_path):
    path = made(tmp_path)
    with evimem.open(path, read_only=True) as reader:
        assert len(list(reader.turns())) == 1
        with evimem.open(path) as writer:
            writer.add("Vera", "My dog is called Bruno.", time=AT)
            assert reader.search("dog", 1)[0].turn.text == "My dog is called Bruno."
        with evimem.open(path) as writer:
            writer.forget(["1"])
        assert [turn.text for turn in reader.turns()] == ["My dog is called Bruno."]


def test_the_log_of_another_memory_is_not_read(tmp_path):
    (tmp_path / "other").mkdir()
    other = left(made(tmp_path / "other"), tmp_path / "left")
    path = made(tmp_path)
    copied(other.with_name(f"{other.name}-wal"), path.with_name(f"{path.name}-wal"))
    with pytest.raises(StoreRolledBack):
        evimem.open(path, read_only=True)


def test_facts_that_wait_are_those_of_the_hits_alone(tmp_path):
    path = made(tmp_path, enriched=False)
    with evimem.open(path, read_only=True) as memory:
        assert memory.search("cat", 1)[0].facts
        assert not memory.facts(["1"])
        assert "1 turn(s) are left out" in memory.health().problems[0]


def test_no_memory_is_made_to_be_read(tmp_path):
    with pytest.raises(NotAMemory, match="no memory"):
        evimem.open(tmp_path / "m.evimem", read_only=True)
    assert not list(tmp_path.iterdir())


def test_another_timezone_is_not_recorded(tmp_path):
    path = made(tmp_path)
    with pytest.raises(StoreReadOnly):
        evimem.open(path, read_only=True, timezone="Europe/Madrid")


def test_what_cannot_be_written_is_opened_to_read_unless_that_is_refused(disk, caplog):
    path = made(disk)
    path.chmod(0o444)
    disk.chmod(0o755)

    def read() -> list[str]:
        if os.geteuid() == 0:
            os.setuid(NOBODY)
        with pytest.raises(StoreReadOnly):
            evimem.open(path, read_only=False)
        with evimem.open(path) as memory:
            assert memory.search("cat", 1)
            with pytest.raises(StoreReadOnly, match="reading only"):
                memory.add("Vera", "More.", time=AT)
        return caplog.messages

    disk.joinpath(mark_path(path).name).chmod(0o444)
    assert [line for line in in_child(read) if "reading only" in line]
