"""Opening a memory costs nothing that lies beside it, and no handle of this process its locks.

POSIX locks belong to a process and a file: closing any descriptor of the file drops them all (fcntl(2)). A process that
opens and closes a memory's file past SQLite lets others reset the log that its own handles still read and write.
"""

import os
import sqlite3
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from evimem import EvimemError, ImportFailed, InvalidQuery, Memory, NotAMemory, StoreError
from evimem.calibration import read_labelled
from evimem.loaders import load
from evimem.loaders.formats import detect_format
from evimem.raw.commit_mark import mark_path

from .support.children import in_child, start
from .support.world import open_memory, said, small_thresholds


def ids(memory: Memory) -> list[str]:
    return [turn.id for turn in memory.turns()]


def test_two_handles_and_another_process_lose_no_acknowledged_turn(disk):
    """Found by opening a memory twice in one process: the second opening dropped the first handle's locks."""
    path = disk / "m.evimem"

    def other(send: Callable[[Any], None]) -> None:
        with open_memory(path) as memory:
            for number in range(20, 40):
                memory.extend([said(number)])

    def work() -> list[str]:
        memory = open_memory(path)
        memory.extend(said(number) for number in range(20))
        open_memory(path)  # left open, as a pool or a second door does
        for _ in range(3):
            open_memory(path).close()
        assert start(other).wait() == 0  # the last handle of its process: it empties and deletes the log, if it may
        for number in range(40, 60):
            assert memory.extend([said(number)]).added == 1
        return ids(memory)

    assert in_child(work) == [f"t{number}" for number in range(60)]
    with open_memory(path) as memory:
        assert sorted(ids(memory)) == sorted(f"t{number}" for number in range(60)), "acknowledged turns are missing"
        assert memory.check().problems == ()


@pytest.mark.skipif(not Path("/proc/locks").exists(), reason="needs Linux's list of locks")
def test_opening_a_second_handle_leaves_the_locks_of_the_first(disk):
    path = disk / "m.evimem"

    def held() -> int:
        """Count distinct locks over many readings: while others lock, the list shows one twice, or leaves it out."""
        mine, inode = f" {os.getpid()} ", f":{path.stat().st_ino} "
        lines = (line for _ in range(50) for line in Path("/proc/locks").read_text().splitlines())
        return len({line.partition(": ")[2] for line in lines if mine in line and inode in line})

    def work() -> tuple[int, int, int]:
        memory = open_memory(path)
        memory.extend([said(1)])
        before = held()
        second = open_memory(path)
        both = held()
        second.close()
        return before, both, held()

    before, both, after = in_child(work)
    assert before > 0
    assert both >= before, "opening a second handle dropped the locks of the first"
    assert after >= before, "closing a second handle dropped the locks of the first"


CALLS: dict[str, Callable[[Memory, Path], object]] = {
    "open": lambda m, p: open_memory(p).close(),
    "add": lambda m, p: m.extend([said(9)]),
    "forget": lambda m, p: m.forget(turns=["t1"]),
    "forget as in itself": lambda m, p: m.forget(as_in=p),
    "enrich": lambda m, p: m.enrich(),
    "check": lambda m, p: m.check(repair=True),
    "backup": lambda m, p: m.backup(p.with_name("copy")),
    "export": lambda m, p: m.export(p.with_name("export")),
    "export over itself": lambda m, p: refused(m.export, p),
    "import itself": lambda m, p: refused(m.import_, p),
    "import its log": lambda m, p: refused(m.import_, Path(f"{p}-wal")),
    "detect itself": lambda m, p: refused(detect_format, p),
    "load itself": lambda m, p: refused(loaded, p),
    "load its log": lambda m, p: refused(loaded, Path(f"{p}-wal")),
    "load the index of its log": lambda m, p: refused(loaded, Path(f"{p}-shm")),
    "read it as questions": lambda m, p: refused(lambda path: list(read_labelled(path)), p),
    "close": lambda m, p: m.close(),
}


def loaded(path: Path) -> list[object]:
    return [turn for conversation in load(path, "turns") for turn in conversation.turns]


def refused(call: Callable[[Path], object], path: Path) -> None:
    assert path.exists()
    with pytest.raises(EvimemError):
        call(path)


def test_no_call_opens_the_database_file_outside_sqlite(disk):
    path = disk / "m.evimem"

    def work() -> list[str]:
        opened: list[str] = []
        doing = ["open"]

        def audit(event: str, args: tuple[Any, ...]) -> None:
            if event == "open" and str(args[0]) in {str(path), f"{path}-wal", f"{path}-shm"}:
                opened.append(f"{doing[0]} opened {args[0]}")

        sys.addaudithook(audit)
        with small_thresholds(), open_memory(path) as memory:
            memory.extend(said(number) for number in range(5))
            for name, call in CALLS.items():
                doing[0] = name
                call(memory, path)
        return opened

    assert in_child(work) == []


def foreign(path: Path, mode: str = "delete") -> None:
    db = sqlite3.connect(path)
    db.execute(f"PRAGMA journal_mode={mode}")
    db.execute("CREATE TABLE meta (key, value)")
    db.execute("PRAGMA application_id=7")
    db.commit()
    db.close()


def foreign_with_journal(path: Path) -> None:
    """Leave another program's database in the middle of a transaction that is not undone yet."""

    def work(send: Callable[[Any], None]) -> None:
        db = sqlite3.connect(path, isolation_level=None)
        db.execute("PRAGMA cache_size=1")
        db.execute("BEGIN IMMEDIATE")
        db.executemany("INSERT INTO meta VALUES (?, ?)", [(str(n), "x" * 500) for n in range(500)])
        os._exit(0)

    foreign(path)
    start(work).wait()
    assert path.with_name(f"{path.name}-journal").exists()


NO_MEMORY: dict[str, Callable[[Path], object]] = {
    "another program's database": foreign,
    "another program's database with a log": lambda p: foreign(p, "wal"),
    "another program's database in a transaction": foreign_with_journal,
    "an empty file": lambda p: p.touch(),
    "text": lambda p: p.write_text("Dear diary, " * 99),
    "a few bytes": lambda p: p.write_bytes(b"SQLite format 3\0"),
    "a folder": lambda p: p.mkdir(),
    "a pipe": os.mkfifo,
    "a pipe behind a link": lambda p: (os.mkfifo(p.with_name("pipe")), p.symlink_to(p.with_name("pipe"))),
    "a link to itself": lambda p: p.symlink_to(p),
    "nothing": lambda p: None,
}


def contents(folder: Path) -> dict[str, object]:
    return {
        file.name: (file.read_bytes(), file.stat().st_mtime_ns) if file.is_file() else file.lstat().st_mode
        for file in folder.iterdir()
    }


@pytest.mark.parametrize("case", NO_MEMORY)
def test_forget_as_in_another_kind_of_file_is_refused_and_leaves_it_unchanged(disk, case):
    other = disk / "other"
    other.mkdir()
    NO_MEMORY[case](other / "m.evimem")
    before = contents(other)
    with open_memory(disk / "m.evimem") as memory:
        memory.extend([said(1)])
        with pytest.raises((InvalidQuery, NotAMemory) if "link to" not in case else EvimemError):
            memory.forget(as_in=other / "m.evimem")
        with pytest.raises(EvimemError):
            memory.forget(as_in=other / "a\0b")
        assert ids(memory) == ["t1"]
    assert contents(other) == before, "what was refused was changed"


@pytest.mark.parametrize("case", [name for name in NO_MEMORY if name not in ("an empty file", "nothing")])
def test_opening_another_kind_of_file_is_refused_at_once_and_leaves_it_unchanged(disk, case):
    NO_MEMORY[case](disk / "m.evimem")
    before = contents(disk)
    with pytest.raises(StoreError, match=r"m\.evimem"):
        open_memory(disk / "m.evimem")
    assert contents(disk) == before, "what was refused was changed"


def test_a_copy_is_only_read(disk):
    with open_memory(disk / "m.evimem") as memory:
        memory.extend(said(number) for number in range(5))
        memory.backup(disk / "copy")
        memory.forget(turns=["t1"])
    before = (disk / "m.evimem").read_bytes()
    with open_memory(disk / "copy") as copy:
        assert copy.forget(as_in=disk / "m.evimem").turns == 1
    assert (disk / "m.evimem").read_bytes() == before


def test_a_rolled_back_copy_does_not_say_what_was_forgotten(disk):
    with open_memory(disk / "m.evimem") as memory:
        memory.extend(said(number) for number in range(5))
        memory.backup(disk / "copy")
        memory.backup(disk / "older")
        memory.forget(turns=["t1"])
    (disk / "older").replace(disk / "m.evimem")  # beside the mark of the newer one
    with open_memory(disk / "copy") as copy, pytest.raises(StoreError, match="older than it was"):
        copy.forget(as_in=disk / "m.evimem")


OF_ANOTHER = "-wal -shm -journal .mark .ann .ann.json .7.tmp .7.12.tmp .mark.7.12.tmp .7.tmp-wal -WAL".split()


@pytest.mark.parametrize("suffix", OF_ANOTHER)
def test_nothing_is_written_under_a_name_that_belongs_beside_another_memory(disk, suffix):
    """Found by exporting to the name of the log: what was not in the file yet was lost with the process.

    Opening "m" deletes what lies under "m-journal", a memory of that name included, and empties "m-wal".
    """
    path = disk / f"m.evimem{suffix}"
    with open_memory(disk / "m.evimem") as memory, open_memory(disk / "other.evimem") as other:
        memory.extend(said(number) for number in range(5))
        memory.enrich()
        log = disk / "m.evimem-wal"
        before = {"log": log.read_bytes(), "mark": mark_path(disk / "m.evimem").read_bytes()}
        for call in (memory.export, memory.backup, other.backup, other.export, open_memory):
            with pytest.raises(StoreError):
                call(path)
        after = {"log": log.read_bytes(), "mark": mark_path(disk / "m.evimem").read_bytes()}
        assert after == before, "a file of the memory was replaced"
    path = disk / f"later.evimem{suffix}"  # and where the memory that it would belong to is made afterwards
    with open_memory(disk / "m.evimem") as memory:
        for call in (memory.export, memory.backup, open_memory):
            with pytest.raises(StoreError, match="kept beside another memory"):
                call(path)


@pytest.mark.skipif(sys.platform != "linux", reason="other systems have no such names")
def test_a_name_that_is_not_utf8_is_refused_and_leaves_nothing(disk):
    """Found by opening one: SQLite cannot be told the name, and an empty file was there already."""
    path = disk / os.fsdecode(b"\xff.evimem")
    with open_memory(disk / "m.evimem") as memory:
        for call in (open_memory, memory.backup, memory.export, lambda at: memory.forget(as_in=at)):
            with pytest.raises(StoreError, match="UTF-8"):
                call(path)
        path.write_text("{}")
        with pytest.raises(ImportFailed, match="UTF-8"):
            memory.import_(path)


@pytest.mark.parametrize("path", ["a\0b", "\0", "a" * 5000, "none/a.evimem", "file/a.evimem"])
def test_a_path_that_no_memory_can_have_is_refused(disk, path):
    (disk / "file").touch()
    with pytest.raises(StoreError):
        open_memory(disk / path)
    with open_memory(disk / "m.evimem") as memory:
        for call in (memory.backup, memory.export):
            with pytest.raises(StoreError):
                call(disk / path)


@pytest.mark.parametrize("companion", [".mark", ".ann", ".ann.json"])
@pytest.mark.parametrize("kind", ["pipe", "folder"])
def test_a_companion_that_is_a_pipe_or_a_folder_never_blocks(disk, companion, kind):
    path = disk / f"m.evimem{companion}"
    (os.mkfifo if kind == "pipe" else os.mkdir)(path)
    with small_thresholds():
        if companion == ".mark":
            with pytest.raises(StoreError, match=r"m\.evimem\.mark"):
                open_memory(disk / "m.evimem")
            return
        with open_memory(disk / "m.evimem") as memory:
            memory.extend(said(number) for number in range(40))
            assert memory.search("puppy", k=3)


def test_a_memory_with_two_hard_links_is_refused_and_left_unchanged(disk):
    """Each name has a log of its own to SQLite: a second one opens an older file, and mixes the two."""
    with open_memory(disk / "m.evimem") as memory:
        memory.extend([said(1)])
    os.link(disk / "m.evimem", disk / "twin.evimem")
    before = contents(disk)
    for name in ("m.evimem", "twin.evimem"):
        with pytest.raises(StoreError, match=rf"{name}.* 2 names"):
            open_memory(disk / name)
    assert contents(disk) == before
    (disk / "twin.evimem").unlink()
    with open_memory(disk / "m.evimem") as memory:
        assert ids(memory) == ["t1"]


def test_a_link_to_a_memory_is_the_memory(disk):
    (disk / "link.evimem").symlink_to("m.evimem")
    with open_memory(disk / "link.evimem") as memory, open_memory(disk / "m.evimem") as same:
        memory.extend(said(number) for number in range(5))
        assert ids(same) == ids(memory)
        assert same.forget(turns=["t1"]).status == memory.forget(turns=["t2"]).status == "erased"
    assert mark_path(disk / "m.evimem").exists()
    assert not mark_path(disk / "link.evimem").exists()


USERS_OWN = tuple(
    (
        "alice.evimem.notes.tmp alice.evimem.2024.tmp alice.evimem.2024.12.tmp alice.evimem.tmp alice.evimem.ann.tmp "
        "alice.evimem.mark.old.tmp alice.evimem.01.02.tmp alice.evimem.notes.12.34.tmp alice.evimem.12.34.tmp.md "
        "alice.evimem-notes.tmp-wal alice.evimem.export.tmp alice.evimem.12a.tmp Xalice.evimem.12.34.tmp"
    ).split()
)


@pytest.mark.parametrize("text", ["My own notes.", ""])
def test_a_users_own_files_beside_a_memory_stay(disk, text):
    """Found by keeping notes beside a memory: whatever began with its name and ended in .tmp was deleted."""
    for name in USERS_OWN:
        (disk / name).write_text(text)
        (disk / name).chmod(0o644)
    with open_memory(disk / "alice.evimem") as memory:
        memory.extend([said(1)])
        memory.forget(turns=["t1"])
        memory.export(disk / "alice.evimem.export")
        memory.backup(disk / "alice.evimem.copy")
    with open_memory(disk / "alice.evimem"):
        pass
    assert {name for name in USERS_OWN if (disk / name).exists()} == set(USERS_OWN), "a user's file was deleted"


def test_temporary_files_of_a_killed_backup_or_export_are_deleted(disk):
    with open_memory(disk / "m.evimem") as memory:
        memory.extend([said(1)])
        left = [disk / name for name in ("m.evimem.123.tmp", "m.evimem.123.456.tmp", "m.evimem.123.tmp-wal")]
        left[0].write_bytes((disk / "m.evimem").read_bytes())
        left[1].write_bytes(b'{"evimem":1}\n{"turn"')
        left[2].write_bytes(b"half a log")
    open_memory(disk / "m.evimem").close()
    assert [file for file in left if file.exists()] == []


def test_a_memory_without_a_file_is_refused_and_leaves_none(disk, monkeypatch):
    monkeypatch.chdir(disk)
    with pytest.raises(InvalidQuery, match="TemporaryDirectory"):
        open_memory(Path(":memory:"))
    assert list(disk.iterdir()) == []
