"""A backup made while turns come in is a whole memory as of some moment after it began; a killed one is no file."""

from __future__ import annotations

import re
import threading
from collections.abc import Callable
from pathlib import Path
from random import Random

import pytest

from .support.children import Send, killed_after
from .support.scale import sizes
from .support.world import open_memory, said, small_thresholds

MOST = 1_500  # turns: each backup is read through


@pytest.mark.parametrize("count", sizes(12, nightly=100, reduced=4))
def test_a_backup_of_a_busy_memory_holds_all_that_was_kept_when_it_began(
    disk: Path, count: int, tell: Callable[[str], None]
) -> None:
    kept: list[str] = []
    stop = threading.Event()
    failed: list[BaseException] = []

    def write() -> None:
        try:
            with open_memory(disk / "m.evimem") as writer:
                while not stop.is_set() and len(kept) < MOST:
                    writer.extend([said(len(kept))], strict=True)
                    kept.append(f"t{len(kept)}")
        except BaseException as error:  # noqa: BLE001 - raised below
            failed.append(error)

    with small_thresholds(), open_memory(disk / "m.evimem") as memory:
        thread = threading.Thread(target=write)
        thread.start()
        try:
            for number in range(count):
                before = len(kept)
                memory.backup(disk / f"{number}.copy")
                with open_memory(disk / f"{number}.copy") as copy:
                    stored = [turn.id for turn in copy.turns()]
                    assert stored == [f"t{place}" for place in range(len(stored))], "the copy is no prefix"
                    assert len(stored) >= before, f"{before} turns were kept when it began, {len(stored)} are in it"
                    assert copy.check().problems == ()
        finally:
            stop.set()
            thread.join()
    assert failed == []
    tell(f"{count} backups while {len(kept)} turns came in: each whole and not older than its beginning")


@pytest.mark.parametrize("count", sizes(20, nightly=200, reduced=4))
def test_a_backup_that_is_killed_leaves_nothing_that_looks_like_one(disk: Path, seed: int, count: int) -> None:
    random, left = Random(seed), 0
    with small_thresholds(), open_memory(disk / "m.evimem") as memory:
        memory.extend([said(number) for number in range(300)])

    def back_up(send: Send) -> None:
        with open_memory(disk / "m.evimem") as memory:
            send("began")
            memory.backup(disk / "copy")

    for _ in range(count):
        killed_after(random.uniform(0.0, 0.02), back_up)
        if (disk / "copy").exists():
            with small_thresholds(), open_memory(disk / "copy") as copy:
                assert copy.stats().turns == 300
                assert copy.check().problems == ()
            (disk / "copy").unlink()
        names = {file.name for file in disk.glob("copy*") if not re.fullmatch(r"copy\.\d+\.tmp", file.name)}
        assert names <= {"copy.mark", "copy.ann", "copy-wal", "copy-shm"}
        left += any(disk.glob("copy.*.tmp"))
        for name in names:
            (disk / name).unlink()
    assert left > 0, "no kill came in the middle"
    with open_memory(disk / "m.evimem") as memory:
        memory.backup(disk / "copy")
    assert list(disk.glob("copy*")) == [disk / "copy"], "what a killed one left is there for good"
