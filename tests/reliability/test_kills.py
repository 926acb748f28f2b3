"""Acknowledged turns survive a kill at any moment, and can be sent again."""

import shutil
from collections import Counter
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from random import Random
from statistics import median
from time import perf_counter, process_time
from typing import Any

import apsw
import pytest

from evimem import Memory, MemoryPool, TurnConflict
from evimem.db import schema
from tests.sizes import bound, sizes

from .support.children import Send, killed_after
from .support.work import Ghost, Model, Work, complaint, mismatch, work_log
from .support.world import EMBEDDER, open_memory, said, small_thresholds
from .test_power_loss import m_next

ROUNDS = 25  # kills that one file has to live through
SLOWEST_OPEN = 1.0  # seconds
DONE = "done"
LONG = "extend enrich rebuild forget forget_session forget_everything replace".split()  # derives, indexes, compacts


def check_sending_again(memory: Memory, model: Model, random: Random) -> None:
    """Send turns again as a client that got no answer: a prefix of all it sent, and the last ones up to three times.

    Each is recognized by its id; other content under the id is a conflict.
    """
    turns = list(model.values())
    again = turns[: random.randint(0, len(turns))] + turns[-5:]
    for _ in range(random.randint(1, 3)):
        report = memory.extend(again)
        assert report.existing == len(again), f"sent again and not recognized: {report.statuses}"
    for turn in turns[-1:]:
        with pytest.raises(TurnConflict):
            memory.add(turn.speaker, "something else", time=turn.time, session=turn.session, id=turn.id)
    assert list(memory.turns()) == turns, "sending again changed what is stored"


def one_life(path: Path, allowed: list[Model], seed: int, first: int) -> Callable[[Send], None]:
    """Open what the last crash left, report which model it equals, and work until killed, reporting each step."""

    def live(send: Send) -> None:
        started = process_time()  # and not by the clock on the wall: other work must not turn this red
        memory = open_memory(path)
        opened = process_time() - started
        assert opened < SLOWEST_OPEN, f"opening after a crash took {opened:.2f} s"
        stored = list(memory.turns())
        complaint = mismatch(memory, allowed)
        assert complaint is None, complaint
        which = next(index for index, model in enumerate(allowed) if list(model.values()) == stored)
        check_sending_again(memory, allowed[which], Random(seed))
        send(which)
        work = Work(memory, Random(seed), allowed[which], first)
        while True:
            send(work.coming)
            work.step()
            send(DONE)

    return live


def moment(random: Random) -> tuple[float, Callable[[Any], bool]]:
    """Return after which message to kill, and how long after it: half of the kills hit long operations."""
    if random.random() < 0.5:
        rest = iter([False] * random.randint(0, 2))
        return random.uniform(0.0, 0.004), lambda message: message in LONG and next(rest, True)
    return random.uniform(0.0, 0.1 if random.random() < 0.1 else 0.02), lambda message: True


@pytest.mark.parametrize("count", sizes(200, nightly=10_000, reduced=20))
def test_no_acknowledged_turn_is_lost_to_a_kill(disk, seed, count, tell):
    random = Random(seed)
    under_way = 0
    hit: Counter[str] = Counter()
    with small_thresholds():
        for round_ in range(count):
            if round_ % ROUNDS == 0:
                path, allowed, first = disk / f"{round_}.evimem", [Model()], 0
            seconds, heard = moment(random)
            opening, *told = killed_after(seconds, one_life(path, allowed, seed + round_, first), heard)
            ghost = Work(Ghost(), Random(seed + round_), allowed[opening], first)
            under_way += opening
            for _ in range(told.count(DONE)):
                ghost.step()
            hit[ghost.coming] += told[-1:] == [ghost.coming]
            promised = ghost.model
            ghost.model = dict(promised)
            ghost.step()
            allowed, first = [promised, ghost.model], ghost.next
    inside = sum(hit[name] for name in LONG)
    assert inside > count * 0.4, f"too few kills inside what takes long: {hit}"
    tell(
        f"{count} kills, {inside} of them inside {dict(hit)}, {under_way} right after an unheard commit: "
        f"0 acknowledged turns lost, {bound(count)}"
    )


def copied(disk: Path, name: str) -> Path:
    """Copy the old memory and its mark."""
    path = disk / f"{name}.evimem"
    for end in ("", ".mark"):
        shutil.copyfile(f"{disk / 'old.evimem'}{end}", f"{path}{end}")
    return path


def seconds_to_open(path: Path) -> float:
    """Return how long it takes to open a memory on this machine, migration included."""
    began = perf_counter()
    with open_memory(path):
        return perf_counter() - began


@pytest.mark.parametrize("count", sizes(40, nightly=500, reduced=14))
def test_a_kill_in_a_migration_leaves_it_whole_or_not_begun(disk, seed, count, monkeypatch, tell):
    random = Random(seed)
    whole = 0
    with small_thresholds():
        with open_memory(disk / "old.evimem") as memory:
            turns = list(work_log(memory, seed, 20))[-1]
        monkeypatch.setattr(schema, "MIGRATIONS", (*schema.MIGRATIONS, (m_next,)))
        takes = median(seconds_to_open(copied(disk, f"timed{number}")) for number in range(5))
        for number in range(count):
            path = copied(disk, str(number))

            def migrate(send: Send, path: Path = path) -> None:
                send("begins")
                open_memory(path)

            killed_after(random.uniform(0.0, 4 * takes), migrate)  # a forked child is slower
            with closing(apsw.Connection(str(path))) as db:
                whole += db.pragma("user_version") == len(schema.MIGRATIONS)
            assert complaint(path, [turns]) is None, f"seed {seed}, kill {number}"
    assert 0 < whole < count
    tell(f"{count} kills around a migration, {count - whole} before its end: whole or not begun")


@pytest.mark.parametrize("count", sizes(40, nightly=500, reduced=20))
def test_a_kill_while_a_user_is_erased_leaves_all_or_nothing(disk, seed, count, tell):
    random = Random(seed)
    left: Counter[int] = Counter()
    with small_thresholds():
        for number in range(count):
            with MemoryPool(disk, embedder=EMBEDDER) as pool, pool.open("ana") as memory:
                memory.extend([said(one) for one in range(30)], strict=True)

            def erase(send: Send) -> None:
                pool = MemoryPool(disk, embedder=EMBEDDER)
                with pool.open("ana"):
                    send("begins")
                pool.erase("ana")

            killed_after(random.uniform(0.0, random.choice((0.004, 0.04))), erase)
            with MemoryPool(disk, embedder=EMBEDDER) as pool:
                with pool.open("ana") as memory:
                    left[memory.stats().turns] += 1
                    assert memory.check().problems == (), f"seed {seed}, kill {number}"
                assert pool.erase("ana").status == "erased"
            assert list(disk.rglob("*.evimem*")) == [], f"seed {seed}, kill {number}"
    assert set(left) == {0, 30}
    tell(f"{count} kills while a user is erased: {left[30]} times all is there, {left[0]} times nothing, and then none")
