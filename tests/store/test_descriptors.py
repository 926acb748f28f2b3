"""Memories that no call uses give their descriptors up, so that a process may have more open than descriptors."""

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

import evimem
from evimem.db import open_handles
from tests.doubles import WordEmbedder

NOON = "2024-03-12T12:00"
EMBEDDER = WordEmbedder(16)
MANY = """
import os, resource, sys
from contextlib import ExitStack
import evimem
from tests.doubles import WordEmbedder

resource.setrlimit(resource.RLIMIT_NOFILE, (64, 64))
with evimem.MemoryPool(sys.argv[1], embedder=WordEmbedder(16)) as pool, ExitStack() as blocks:
    held = [blocks.enter_context(pool.open(f"user {number}")) for number in range(40)]
    for number, memory in enumerate(held):
        memory.add("Mira", f"I am user {number}.", time="2024-03-12T12:00")
    for number, memory in enumerate(held):
        assert [turn.text for turn in memory.turns()] == [f"I am user {number}."]
with evimem.MemoryPool(sys.argv[1], embedder=WordEmbedder(16)) as pool:
    files = []
    try:
        while True:
            files.append(open(os.devnull))
    except OSError:
        pass
    try:
        with pool.open("user 1"):
            pass
    except evimem.StoreBusy as error:
        files.clear()
        print(error)
    with pool.open("user 1") as memory:
        assert len(list(memory.turns())) == 1
"""


def test_more_users_than_descriptors_are_served_and_none_left_is_said(tmp_path: Path) -> None:
    root = Path(__file__).parents[2]
    words = [sys.executable, "-c", MANY, str(tmp_path)]
    done = subprocess.run(words, capture_output=True, text=True, cwd=root, check=False)
    assert done.returncode == 0, done.stderr
    assert "as many files open as it may, 64" in done.stdout
    assert "ulimit -n" in done.stdout


@pytest.fixture
def few(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(open_handles, "MIN_HANDLES", 2)
    monkeypatch.setattr(open_handles, "MAX_HANDLES", 2)


def test_idle_memories_hold_no_descriptor_and_go_on_where_they_were(few: None, tmp_path: Path) -> None:
    before = len(os.listdir("/proc/self/fd"))
    memories = [evimem.open(tmp_path / f"{number}.evimem", embedder=EMBEDDER) for number in range(12)]
    for number, memory in enumerate(memories):
        memory.add("Mira", f"note {number}", time=NOON)
    assert len(os.listdir("/proc/self/fd")) - before <= 2 * len(memories)
    for number, memory in enumerate(memories):
        assert [hit.turn.text for hit in memory.search("note", k=3)] == [f"note {number}"]
        memory.close()
    assert len(os.listdir("/proc/self/fd")) == before


def test_a_file_that_was_exchanged_while_its_handle_was_closed_is_refused(few: None, tmp_path: Path) -> None:
    memories = [evimem.open(tmp_path / f"{number}.evimem", embedder=EMBEDDER) for number in range(4)]
    for number, memory in enumerate(memories):
        memory.add("Mira", f"note {number}", time=NOON)
    (tmp_path / "1.evimem").replace(tmp_path / "0.evimem")
    with pytest.raises(evimem.StoreRolledBack):
        list(memories[0].turns())
    with pytest.raises(evimem.StoreRolledBack):
        memories[1].add("Mira", "another", time=NOON)
    for memory in memories[2:]:
        memory.close()


def test_a_memory_that_no_call_uses_for_a_moment_holds_no_descriptor(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(open_handles, "IDLE_SECONDS", 0.01)
    before = len(os.listdir("/proc/self/fd"))
    with evimem.open(tmp_path / "m.evimem", embedder=EMBEDDER) as memory:
        memory.add("Mira", "The lantern is green.", time=NOON)
        give_up_at = time.monotonic() + 20
        while len(os.listdir("/proc/self/fd")) > before and time.monotonic() < give_up_at:
            time.sleep(0.005)
        assert len(os.listdir("/proc/self/fd")) == before
        assert [hit.turn.text for hit in memory.search("lantern")] == ["The lantern is green."]


@pytest.mark.skipif(not hasattr(os, "fork"), reason="the system has no fork")
def test_a_child_of_a_fork_closes_its_own_idle_memories(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(open_handles, "IDLE_SECONDS", 0.01)
    with evimem.open(tmp_path / "parent.evimem", embedder=EMBEDDER):
        child = os.fork()
        if not child:
            memory = evimem.open(tmp_path / "child.evimem", embedder=EMBEDDER)
            give_up_at = time.monotonic() + 20
            while memory._core.store.db.holds_descriptors and time.monotonic() < give_up_at:
                time.sleep(0.005)
            os._exit(memory._core.store.db.holds_descriptors)
        assert os.waitpid(child, 0)[1] == 0


def test_an_older_copy_that_is_written_over_an_idle_file_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "m.evimem"
    memory = evimem.open(path, embedder=EMBEDDER)
    memory.add("Mira", "The lantern is green.", time=NOON)
    memory.backup(tmp_path / "backup")
    memory.add("Mira", "The lantern is red.", time=NOON)
    memory._core.store.db.park()
    path.write_bytes((tmp_path / "backup").read_bytes())
    for _ in range(2):
        with pytest.raises(evimem.StoreRolledBack, match="is older than it was"):
            list(memory.turns())
