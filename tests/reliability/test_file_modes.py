"""Whatever the umask, a memory and all that is copied from it are readable by their owner alone."""

import os
import stat
from collections.abc import Callable
from pathlib import Path
from unittest.mock import patch

import pytest

from evimem import MemoryPool
from evimem.db.connection import Connection
from evimem.index.hnsw import has_hnswlib

from .support.children import in_child
from .support.world import EMBEDDER, EXTRACTOR, NOON, open_memory, said, small_thresholds

Modes = dict[str, set[int]]


def modes_of(folder: Path, found: Modes) -> None:
    for path in folder.rglob("*"):
        name = "".join("N" if part.isdigit() else part for part in path.name.replace(".", " . ").split())
        try:
            found.setdefault(name, set()).add(stat.S_IMODE(path.lstat().st_mode))
        except FileNotFoundError:
            continue


def watched(folder: Path, umask: int, work: Callable[[], None]) -> Modes:
    """Return the modes that the files in a folder had at any moment around a call of the system or a statement."""

    def run() -> Modes:
        os.umask(umask)
        found: Modes = {}
        fsync, replace, execute = os.fsync, Path.replace, Connection.execute

        def fsynced(handle: int) -> None:
            modes_of(folder, found)
            fsync(handle)

        def replaced(self: Path, target: Path) -> Path:
            modes_of(folder, found)
            return replace(self, target)

        def executed(self: Connection, sql: str, args: tuple[object, ...] = ()) -> int:
            modes_of(folder, found)
            return execute(self, sql, args)

        with (
            patch("os.fsync", fsynced),
            patch.object(Path, "replace", replaced),
            patch.object(Connection, "execute", executed),
        ):
            work()
        modes_of(folder, found)
        return found

    return in_child(run)


@pytest.mark.parametrize("umask", [0o000, 0o022, 0o077, 0o277])
def test_every_file_of_a_memory_is_its_owners_alone(disk, umask):
    def work() -> None:
        with small_thresholds(), open_memory(disk / "m.evimem") as memory:
            memory.extend(said(number) for number in range(40))
            memory.enrich()
            memory.forget(turns=["t3"])
            memory.enrich()
            memory.backup(disk / "copy")
            memory.export(disk / "export")
        with open_memory(disk / "copy"):
            pass

    found = watched(disk, umask, work)
    index = {"m.evimem.ann", "m.evimem.ann.json"} if has_hnswlib() else set()
    expected = {"m.evimem", "m.evimem-wal", "m.evimem-shm", "m.evimem.mark", "copy", "export"} | index
    temporary = {"m.evimem.mark.N.N.tmp", "copy.N.tmp", "export.N.N.tmp"} | {f"{name}.N.N.tmp" for name in index}
    assert expected | temporary <= set(found), "something was not seen"
    assert {name: [oct(mode) for mode in modes] for name, modes in found.items() if modes != {0o600}} == {}


@pytest.mark.parametrize("umask", [0o000, 0o022, 0o277])
def test_every_folder_and_file_of_a_pool_is_its_owners_alone(disk, umask):
    def work() -> None:
        with MemoryPool(disk / "deep" / "pool", embedder=EMBEDDER, extractor=EXTRACTOR) as pool:
            for user in ("ana", "bo"):
                with pool.open(user) as memory:
                    memory.add("Mira", "I have a secret.", time=NOON)

    watched(disk, umask, work)
    made = list((disk / "deep").rglob("*"))
    assert len(made) > 4
    for path in (disk / "deep", *made):
        assert stat.S_IMODE(path.stat().st_mode) == (0o700 if path.is_dir() else 0o600), path


def test_a_folder_that_was_there_keeps_its_permissions(disk):
    (disk / "pool").mkdir()
    (disk / "pool").chmod(0o750)
    MemoryPool(disk / "pool", embedder=EMBEDDER).close()
    assert stat.S_IMODE((disk / "pool").stat().st_mode) == 0o750


@pytest.mark.parametrize("mode", [0o640, 0o660, 0o644])
def test_a_memory_that_others_may_read_keeps_that_and_its_companions_follow_it(disk, mode):
    with open_memory(disk / "m.evimem") as memory:
        memory.extend([said(99)])
    (disk / "m.evimem.mark").unlink()
    (disk / "m.evimem").chmod(mode)
    (disk / "export").touch()
    (disk / "export").chmod(mode)

    def work() -> None:
        with small_thresholds(), open_memory(disk / "m.evimem") as memory:
            memory.extend(said(number) for number in range(40))
            memory.enrich()
            memory.export(disk / "export")
            modes_of(disk, {})

    found = watched(disk, 0o022, work)
    for name in ("m.evimem", "m.evimem-wal", "m.evimem-shm"):
        assert found[name] == {mode}, name
    for name in ("m.evimem.mark", "export", *(("m.evimem.ann", "m.evimem.ann.json") if has_hnswlib() else ())):
        assert stat.S_IMODE((disk / name).stat().st_mode) == mode, name


def test_a_temporary_file_that_was_there_is_made_private(disk):
    left = disk / f"copy.{os.getpid()}.tmp"
    left.touch()
    left.chmod(0o666)
    with open_memory(disk / "m.evimem") as memory:
        memory.extend([said(1)])
        memory.backup(disk / "copy")
    assert stat.S_IMODE((disk / "copy").stat().st_mode) == 0o600
