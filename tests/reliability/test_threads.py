"""Threads and tasks share one memory: each acknowledged turn is there once and whole, and no lock is left."""

import asyncio
import contextlib
from concurrent.futures import ThreadPoolExecutor
from contextlib import nullcontext
from random import Random

import pytest

from evimem import AsyncMemory, Memory, StoreClosed, Turn
from tests.sizes import sizes

from .support.children import in_child
from .support.world import open_memory, said, small_thresholds

THREADS, TASKS = 16, 64


def in_threads(memory: Memory, count: int) -> set[str]:
    """Use a memory from many threads; return the turns that were acknowledged."""

    known = {said(number).id for number in range(2 * count)}

    def use(number: int) -> str:
        turn = said(number)
        if number % 3 == 0:
            assert {hit.turn.id for hit in memory.search(turn.text, k=1)} <= known
        memory.extend([turn], strict=True)
        assert memory.turn(turn.id).text == turn.text
        return turn.id

    with ThreadPoolExecutor(THREADS) as pool:
        return set(pool.map(use, range(count)))


async def in_tasks(memory: AsyncMemory, first: int, count: int, random: Random) -> tuple[set[str], int]:
    """Use a memory from many tasks, every tenth of which is cancelled; return what was acknowledged."""
    acknowledged: set[str] = set()
    numbers = iter(range(first, first + count))

    async def add(turn: Turn) -> None:
        await memory.extend([turn], strict=True)
        acknowledged.add(turn.id)

    async def client() -> int:
        cancelled = 0
        for number in numbers:
            task = asyncio.create_task(add(said(number)))
            if number % 10 == 0:
                await asyncio.sleep(random.uniform(0.0, 0.02))
                task.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await task
            cancelled += task.cancelled()
        return cancelled

    return acknowledged, sum(await asyncio.gather(*(client() for _ in range(TASKS))))


@pytest.mark.parametrize("handles", [1, 2])
@pytest.mark.parametrize("count", sizes(300, nightly=5_000, reduced=80))
def test_threads_and_cancelled_tasks_lose_nothing_and_leave_no_lock(disk, seed, count, handles, tell):
    path = disk / "m.evimem"
    with small_thresholds(), open_memory(path) as memory, ThreadPoolExecutor(1) as aside:
        threads = aside.submit(in_threads, memory, count)
        with nullcontext(memory) if handles == 1 else open_memory(path) as other:
            door = AsyncMemory(other._core)
            acknowledged, cancelled = asyncio.run(in_tasks(door, count, count, Random(seed)))
            door.end_worker()
        acknowledged |= threads.result()
        stored = [turn.id for turn in memory.turns()]
        assert len(stored) == len(set(stored))
        assert acknowledged <= set(stored), f"lost: {sorted(acknowledged - set(stored))[:5]}"
        assert len(stored) <= len(acknowledged) + cancelled, "there are turns that nobody added"
        memory.extend([said(10**6)], strict=True)
        assert memory.check().problems == ()
    what = f"{handles} handle(s), {THREADS} threads and {TASKS} tasks, {len(stored)} turns"
    tell(f"{what}, {cancelled} tasks cancelled: 0 lost, 0 stuck")


def test_a_child_of_a_fork_is_refused_and_the_parent_goes_on(disk):
    with open_memory(disk / "m.evimem") as memory:
        memory.extend([said(0)])

        def use() -> str:
            with pytest.raises(StoreClosed, match="before a fork"):
                memory.extend([said(1)])
            memory.close()
            return "refused"

        assert in_child(use) == "refused"
        memory.extend([said(2)])
        assert [turn.id for turn in memory.turns()] == ["t0", "t2"]


def test_a_read_between_a_commit_and_its_count_does_not_count_it_twice(disk):
    """Threads that shared a memory were told now and then that it was rolled back, and it stayed closed to them."""
    with open_memory(disk / "m.evimem") as memory:
        store = memory._core.store
        write = store.db.writing

        @contextlib.contextmanager
        def write_then_read(*, durably=True):
            with write(durably=durably):
                yield
            with store.db.reading():  # as another thread may, which waited for the lock
                store.corpus()

        store.db.writing = write_then_read
        memory.extend([said(0), said(1)], strict=True)
        assert memory.search(said(0).text, k=1)
