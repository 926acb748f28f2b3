"""What is committed is reported as done, though another process then keeps the file busy."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import apsw
import pytest

from evimem import Memory, Turn
from evimem.db.connection import Connection
from evimem.store.handle import StoreHandle
from tests.reliability.support.world import NOON, open_memory

CALLS: dict[str, Callable[[Memory], Any]] = {
    "forget turns": lambda memory: memory.forget(turns=["a"]),
    "forget a session": lambda memory: memory.forget(session="s"),
    "forget everything": lambda memory: memory.forget(everything=True),
    "erase": lambda memory: memory._core.erase(),
    "update": lambda memory: memory.update("a", "I adopted a kitten."),
    "replace": lambda memory: memory.extend([Turn("a", "s", "Mira", "A kitten.", NOON)], replace=True),
}


@contextmanager
def another_writes(path: Path, monkeypatch: pytest.MonkeyPatch, kind: type, step: str, when: str) -> Iterator[None]:
    """Have another handle hold the write lock from before or after a step until the block ends."""
    rival, honest = apsw.Connection(str(path)), getattr(kind, step)

    def begin() -> None:
        if not rival.in_transaction:
            rival.execute("BEGIN IMMEDIATE")

    def stepped(*given: Any, **named: Any) -> Any:
        if when == "before":
            begin()
        result = honest(*given, **named)
        begin()
        return result

    with monkeypatch.context() as patch:
        patch.setattr(kind, step, stepped)
        yield
    rival.close()


@pytest.mark.parametrize(
    ("kind", "step", "when"), [(StoreHandle, "finish_erasure", "before"), (Connection, "checkpoint", "after")]
)
@pytest.mark.parametrize("call", CALLS)
def test_what_is_gone_is_reported_while_another_process_writes(tmp_path, monkeypatch, call, kind, step, when):
    path = tmp_path / "m.evimem"
    with open_memory(path, busy_seconds=0.05) as memory:
        memory.add("Mira", "I adopted a puppy.", time=NOON, id="a", session="s")
        with another_writes(path, monkeypatch, kind, step, when):
            report = CALLS[call](memory)
        reason = report.statuses[0].reason if call in ("update", "replace") else report.reason
        assert "another process is writing" in reason
        assert memory.forget(session="s").turns == (call in ("update", "replace"))
        memory.add("Mira", "I moved to Leeds.", time=NOON)
        assert not any(b"puppy" in file.read_bytes() for file in tmp_path.iterdir())


def test_forgetting_can_be_repeated(tmp_path):
    with open_memory(tmp_path / "m.evimem") as memory:
        memory.add("Mira", "I adopted a puppy.", time=NOON, id="a")
        assert memory.forget(turns=["a"]).turns == 1
        assert memory.forget(turns=["a"]).turns == 0
