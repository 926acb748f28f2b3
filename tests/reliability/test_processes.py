"""Many processes write and read one memory at once: every acknowledged turn is there, and no lock error escapes."""

import time
from collections import defaultdict
from collections.abc import Callable, Sequence
from datetime import timedelta
from functools import partial
from pathlib import Path

import pytest

from evimem import Turn
from tests.sizes import REDUCED, sizes

from .support.children import all_in_children
from .support.world import NOON, WORDS, open_memory

SLOWEST = 2.0  # seconds, for 99 of 100 adds


def write(path: Path, writer: int, count: int) -> list[float]:
    """Add turns one by one; return how long each took."""
    took = []
    with open_memory(path) as memory:
        for number in range(count):
            pause = "  " if number % 5 else ""  # without facts: this is about locks, not about links
            text = f"{pause}{WORDS[number % len(WORDS)]} {WORDS[writer]} {number}"
            turn = Turn(f"{writer}:{number}", f"s{writer}", f"Writer{writer}", text, NOON + timedelta(minutes=number))
            started = time.perf_counter()
            report = memory.extend([turn], strict=True)
            took.append(time.perf_counter() - started)
            assert report.added == 1
            if number % 50 == 0:
                assert turn.id in {hit.turn.id for hit in memory.search(text, k=3, session=turn.session)}
    return took


def import_many(path: Path, count: int) -> list[float]:
    """Add many turns at once, alike and with facts, so that each is linked to many."""
    text = "I met my sister Olga in Porto on Friday. We talked about the garden and I bought a red kettle. " * 3
    with open_memory(path) as memory:
        turns = (Turn(f"9:{number}", "old", "Ana", text, NOON + timedelta(minutes=number)) for number in range(count))
        assert memory.extend(turns).added == count
    return []


def chat(path: Path, count: int) -> list[float]:
    """Add a turn now and then, where no more than a second may pass until it is written; return how long each took."""
    took = []
    with open_memory(path, busy_seconds=1.0) as memory:
        for number in range(count):
            started = time.perf_counter()
            assert memory.add("Ben", f"I bought a bike, number {number}.", time=NOON, id=f"8:{number}").added == 1
            took.append(time.perf_counter() - started)
            time.sleep(0.02)
    return took


def read(path: Path, goal: int, patience: float) -> list[float]:
    """Read until every turn is there; each read holds a growing prefix of every writer's turns."""
    seen, before = 0, list[str]()
    until = time.monotonic() + patience
    with open_memory(path) as memory:
        while seen < goal and time.monotonic() < until:
            ids = [turn.id for turn in memory.turns()]
            assert ids[:seen] == before, f"of {seen} turns that were there, some are gone or stand elsewhere"
            check_order(ids)
            seen, before = len(ids), ids
            if seen:
                memory.search("puppy", k=5)
            time.sleep(0.05)
    assert seen == goal, f"{goal - seen} turns were never seen"
    return []


def check_order(ids: Sequence[str]) -> None:
    """Raise unless the turns of every writer are a prefix of what it wrote, in order."""
    by_writer = defaultdict(list)
    for turn_id in ids:
        writer, _, number = turn_id.partition(":")
        by_writer[writer].append(int(number))
    for writer, numbers in by_writer.items():
        assert numbers == list(range(len(numbers))), f"{writer} is no prefix: {numbers[:5]}...{numbers[-5:]}"


NIGHTLY = [pytest.param(*one, marks=pytest.mark.nightly) for one in ((8, 500, 4), (16, 150, 0))]


@pytest.mark.parametrize(
    ("writers", "count", "readers"), [*([(4, 25, 1)] if REDUCED else [(8, 200, 4), (16, 60, 0)]), *NIGHTLY]
)
def test_every_turn_of_every_writer_is_there(disk, writers, count, readers, tell):
    path = disk / "m.evimem"
    open_memory(path).close()
    work: Sequence[Callable[[], list[float]]] = [
        *(partial(write, path, writer, count) for writer in range(writers)),
        *(partial(read, path, writers * count, 90.0) for _ in range(readers)),
    ]
    started = time.perf_counter()
    took = sorted(one for times in all_in_children(work) for one in times)
    seconds = time.perf_counter() - started
    with open_memory(path) as memory:
        stored = [turn.id for turn in memory.turns()]
        assert sorted(stored) == sorted(f"{writer}:{number}" for writer in range(writers) for number in range(count))
        check_order(stored)
        assert memory.check().problems == ()
    slow = took[int(len(took) * 0.99)]
    assert slow < SLOWEST, f"99 of 100 adds took up to {slow:.2f} s"
    rate = len(took) / seconds
    tell(f"{writers} writers x {count} turns, {readers} readers: 0 lost, {rate:.0f} adds/s, p99 {slow:.3f} s")


@pytest.mark.parametrize("count", sizes(512, reduced=300))
def test_an_import_lets_a_chat_write_between(disk, count, tell):
    path = disk / "m.evimem"
    open_memory(path).close()
    took = sorted(max(all_in_children([partial(import_many, path, count), partial(chat, path, 60)])))
    with open_memory(path) as memory:
        ids = [turn.id for turn in memory.turns()]
        check_order(ids)
        assert len(ids) == count + 60
        assert memory.check().problems == ()
    tell(f"60 adds beside an import of {count}: median {took[30]:.3f} s, slowest {took[-1]:.3f} s")
