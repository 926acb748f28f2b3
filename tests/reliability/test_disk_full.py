"""A full disk raises DiskFull, loses no acknowledged turn, and can be written again when there is room."""

import resource
import subprocess
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from evimem import DiskFull, Memory
from tests.doubles import WordEmbedder

from .support.children import in_child
from .support.world import open_memory, said, small_thresholds

FILES = ["m.evimem", "m.evimem-shm", "m.evimem-wal", "m.evimem.mark"]


def fill(memory: Memory) -> list[str]:
    """Add turns until there is no room; return those that were acknowledged."""
    kept: list[str] = []

    def add_for_ever() -> None:
        while True:
            memory.extend([said(len(kept))], strict=True)
            kept.append(f"t{len(kept)}")

    with pytest.raises(DiskFull, match="no room"):
        add_for_ever()
    return kept


def survives(memory: Memory, make_room: Callable[[], object], *, forgets: bool) -> int:
    """Fill a memory, use it while it is full, give it room; return how many turns it held when it was full."""
    kept = fill(memory)
    stored = [turn.id for turn in memory.turns()]
    assert kept == stored, "acknowledged turns are lost, or a refused one was kept"
    assert memory.search(said(3).text, k=1)[0].turn.id == "t3"
    if forgets:
        assert memory.forget(turns=kept[:5]).turns == 5
        del kept[:5]
    else:
        with pytest.raises(DiskFull, match="nothing of this call was kept"):
            memory.forget(turns=kept[:5])
    make_room()
    memory.extend([said(40_000)], strict=True)
    assert [turn.id for turn in memory.turns()] == [*kept, "t40000"]
    assert memory.check().problems == ()
    return len(kept)


def test_a_memory_works_without_an_index_that_does_not_fit(disk, tell):
    pytest.importorskip("hnswlib", reason="an extra without wheels")

    def limited(size: int) -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (size, resource.RLIM_INFINITY))

    def work() -> int:
        embedder = WordEmbedder(1024)
        with open_memory(disk / "m.evimem", embedder=embedder, index_from=24) as memory:
            memory.extend([said(number) for number in range(200)], strict=True)
            memory.stats()  # reads their facts
            memory._core.store.db.checkpoint()
            limited(100_000)
            with pytest.raises(DiskFull, match=r"m\.evimem\.ann.*searched without it"):
                memory.enrich()
            assert sorted(file.name for file in disk.iterdir()) == FILES
            assert memory.search(said(3).text, k=1)[0].turn.id == "t3"
            limited(100_000_000)
            memory.enrich()
            return (disk / "m.evimem.ann").stat().st_size

    tell(f"an index of {in_child(work)} bytes where files end at 100,000: not kept, and built when there was room")


def test_a_memory_at_its_size_limit_raises_disk_full_and_recovers(disk, tell):
    with small_thresholds(), open_memory(disk / "m.evimem") as memory:
        db = memory._core.store.db
        db.execute(f"PRAGMA max_page_count={db.read_value('PRAGMA page_count') + 60}")
        kept = survives(memory, lambda: db.execute("PRAGMA max_page_count=1000000"), forgets=True)
    tell(f"a limit of pages: {kept} acknowledged turns, 0 lost")


def test_a_limit_on_the_size_of_files_is_reported_as_disk_full(disk, tell):
    """The system then reports a failed write, and not a full disk."""

    def limited(size: int) -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (size, resource.RLIM_INFINITY))

    def work() -> int:
        with small_thresholds(), open_memory(disk / "m.evimem") as memory:
            limited(2_000_000)
            return survives(memory, lambda: limited(100_000_000), forgets=True)

    tell(f"a limit on the size of files: {in_child(work)} acknowledged turns, 0 lost")


@contextmanager
def small_disk(folder: Path) -> Iterator[Path]:
    """Mount a disk of two megabytes; skip where that is not allowed."""
    folder.mkdir()
    mounting = ["mount", "-t", "tmpfs", "-o", "size=2m", "tmpfs", str(folder)]
    try:
        done = subprocess.run(mounting, check=False, capture_output=True, text=True)
    except FileNotFoundError:
        pytest.skip("there is no mount here")
    if done.returncode:
        pytest.skip(f"a disk cannot be mounted here: {done.stderr.strip()}")
    try:
        yield folder
    finally:
        subprocess.run(["umount", str(folder)], check=True)


def test_a_disk_that_is_full_is_used_again_when_it_grows(disk, tell):
    with small_disk(disk / "small") as folder, small_thresholds(), open_memory(folder / "m.evimem") as memory:

        def grow() -> None:
            subprocess.run(["mount", "-o", "remount,size=20m", str(folder)], check=True)

        kept = survives(memory, grow, forgets=False)
    tell(f"a disk of two megabytes: {kept} acknowledged turns, 0 lost")
