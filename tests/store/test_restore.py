"""A backup is put back whatever lies beside the memory, and what was forgotten or replaced since stays so."""

import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

import evimem
from evimem.store import put_back as restoring
from tests.doubles import WordEmbedder

NOON = "2024-03-12T12:00"
EMBEDDER = WordEmbedder(16)


def opened(path: Path) -> evimem.Memory:
    return evimem.open(path, embedder=EMBEDDER)


def crash(path: Path, work: Callable[[evimem.Memory], object]) -> None:
    """Do something to a memory in a process that ends without closing it."""
    pid = os.fork()
    if not pid:
        work(opened(path))
        os._exit(0)
    assert os.waitpid(pid, 0)[1] == 0


def say(memory: evimem.Memory, *numbers: int) -> None:
    for number in numbers:
        memory.add("Mira", f"note {number} of the garden", time=NOON, id=f"n{number}")


def said(memory: evimem.Memory) -> list[str]:
    return [turn.text for turn in memory.turns()]


@pytest.fixture
def crashed(tmp_path: Path) -> Path:
    """A memory whose process ended after a backup of its first five turns, one forgotten and one redacted since."""

    def work(memory: evimem.Memory) -> None:
        say(memory, *range(5))
        memory.backup(tmp_path / "backup")
        memory.forget(["n1"])
        memory.update("n2", "note 2 is mine alone")
        say(memory, *range(5, 40))

    crash(tmp_path / "m.evimem", work)
    return tmp_path / "m.evimem"


def test_a_copy_laid_beside_an_older_log_is_refused_with_the_command_that_puts_it_back(crashed: Path) -> None:
    crash(crashed, lambda memory: memory._core.store.db.checkpoint())
    crash(crashed, lambda memory: say(memory, 40))
    shutil.copyfile(crashed.with_name("backup"), crashed)
    with pytest.raises(evimem.StoreRolledBack, match="evimem restore"):
        opened(crashed)
    assert evimem.restore(crashed.with_name("backup"), crashed).forgotten is None, "it can no longer be read"
    with opened(crashed) as memory:
        assert said(memory) == [f"note {number} of the garden" for number in range(5)]
        assert memory.check().problems == ()


def test_what_was_forgotten_or_replaced_since_is_erased_from_what_is_put_back(crashed: Path) -> None:
    report = evimem.restore(crashed.with_name("backup"), crashed)
    assert (report.turns, report.forgotten, report.replaced) == (3, 2, f"{crashed}.replaced-1")
    with opened(crashed) as memory:
        assert said(memory) == [f"note {number} of the garden" for number in (0, 3, 4)]
        say(memory, 41)
    with opened(Path(f"{crashed}.replaced-1")) as memory:
        assert "note 39 of the garden" in said(memory), "the turns that came since are kept"


def test_what_was_replaced_in_another_copy_is_erased_as_there(crashed: Path) -> None:
    with opened(crashed.with_name("backup")) as memory:
        assert memory.forget(as_in=crashed).turns == 2
        assert said(memory) == [f"note {number} of the garden" for number in (0, 3, 4)]


def test_where_no_memory_is_it_is_not_known_what_was_forgotten(crashed: Path, tmp_path: Path) -> None:
    report = evimem.restore(crashed.with_name("backup"), tmp_path / "new.evimem")
    assert (report.turns, report.forgotten, report.replaced) == (5, None, None)


@pytest.mark.parametrize("step", ["write_mark", "sync_folder"])
def test_a_call_that_was_ended_between_two_files_is_repeated(
    crashed: Path, step: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    calls = 0

    def ends(*args: object) -> None:
        nonlocal calls
        calls += 1
        if calls == 2 or step == "sync_folder":
            raise KeyboardInterrupt
        real(*args)

    real = getattr(restoring, step)
    monkeypatch.setattr(restoring, step, ends)
    with pytest.raises(KeyboardInterrupt):
        evimem.restore(crashed.with_name("backup"), crashed)
    monkeypatch.undo()
    with pytest.raises(evimem.StoreRolledBack):
        opened(crashed)
    evimem.restore(crashed.with_name("backup"), crashed)
    with opened(crashed) as memory:
        assert memory.stats().turns == 5
    with opened(Path(f"{crashed}.replaced-1")) as memory:
        assert "note 39 of the garden" in said(memory)


def test_a_memory_that_is_open_is_not_replaced(crashed: Path) -> None:
    with opened(crashed) as memory:
        with pytest.raises(evimem.StoreBusy, match="is open"):
            evimem.restore(crashed.with_name("backup"), crashed)
        assert memory.stats().turns == 39


def test_a_backup_of_another_memory_is_refused(crashed: Path, tmp_path: Path) -> None:
    with opened(tmp_path / "other") as other:
        say(other, 1)
        other.backup(tmp_path / "of other")
    with pytest.raises(evimem.StoreError, match="another memory"):
        evimem.restore(tmp_path / "of other", crashed)
    with opened(crashed) as memory:
        assert memory.stats().turns == 39


def test_a_damaged_backup_is_refused_and_nothing_is_changed(crashed: Path) -> None:
    backup = crashed.with_name("backup")
    data = backup.read_bytes()
    backup.write_bytes(data.replace(b"note 3 of the garden", b"note 3 of the wardrobe"[:20]))
    with pytest.raises(evimem.StoreCorrupt):
        evimem.restore(backup, crashed)
    assert {path.name for path in crashed.parent.iterdir()} <= {
        "backup",
        *(f"m.evimem{end}" for end in ("", "-wal", "-shm", ".mark")),
    }


def test_a_backup_is_put_where_there_is_no_memory(crashed: Path, tmp_path: Path) -> None:
    assert evimem.restore(crashed.with_name("backup"), tmp_path / "new").replaced is None
    with opened(tmp_path / "new") as memory:
        assert memory.stats().turns == 5
