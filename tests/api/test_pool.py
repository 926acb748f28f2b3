"""A pool gives every place back, waits in order of arrival, and never lets one file hold up another user's."""

import asyncio
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import Any

import pytest

import evimem
import evimem.api.pool
from evimem import MemoryPool, NotAMemory, PoolFull, StoreBusy, StoreClosed
from evimem.api.pool import key_of
from evimem.cli.arguments import Exit, run_command_line
from tests.api.pools import PATIENCE, pool_at, visit, wait_until
from tests.reliability.support.children import in_child
from tests.reliability.support.world import said


def assert_no_lease_is_out(pool: MemoryPool, capacity: int = 2) -> None:
    """Take every place at once, of which a lost lease would leave one too few; then erase, which it would refuse."""
    deadline = time.monotonic() + PATIENCE
    while not pool._leases.idle and time.monotonic() < deadline:
        time.sleep(0.001)  # the call of a cancelled caller ends in its thread
    with ExitStack() as stack:
        for number in range(capacity):
            stack.enter_context(pool.open(f"fresh {number}")).extend([said(number)], strict=True)
    for user in ("ana", "bo", "fresh 0"):
        pool.erase(user)


@contextmanager
def held_up(monkeypatch: pytest.MonkeyPatch, user: str, what: str = "make_core") -> Iterator[threading.Event]:
    """Let opening one user's file take until the block ends; the event says that it has begun."""
    begun, over, honest = threading.Event(), threading.Event(), evimem.api.pool.make_core

    def slow(path: Path, **options: Any) -> Any:
        if key_of(user) in path.name:
            begun.set()
            over.wait(6 * PATIENCE)
        return honest(path, **options)

    monkeypatch.setattr(evimem.api.pool, "make_core", slow)
    try:
        yield begun
    finally:
        over.set()


def test_a_caller_cancelled_while_its_file_is_opened_gives_its_lease_back(tmp_path, monkeypatch):
    async def use(pool: MemoryPool) -> None:
        async with pool.open_async("ana"):
            pytest.fail("it was cancelled before")

    async def cancel(pool: MemoryPool, begun: threading.Event) -> None:
        task = asyncio.ensure_future(use(pool))
        await asyncio.to_thread(begun.wait, PATIENCE)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    with pool_at(tmp_path, capacity=1, wait_seconds=0.0) as pool:
        with held_up(monkeypatch, "ana") as begun:
            asyncio.run(cancel(pool, begun))
        assert_no_lease_is_out(pool, capacity=1)


def test_many_cancelled_callers_leave_a_pool_of_eight_alive(tmp_path):
    async def one(pool: MemoryPool, number: int) -> None:
        async with pool.open_async(f"user {number % 20}") as memory:
            await memory.extend([said(number)])

    async def many(pool: MemoryPool) -> None:
        for start in range(0, 120, 40):
            tasks = [asyncio.ensure_future(one(pool, start + number)) for number in range(40)]
            await asyncio.sleep(0.01)
            for task in tasks[::2]:
                task.cancel()
            results = await asyncio.gather(*tasks, return_exceptions=True)
            assert not [one for one in results if one is not None and not isinstance(one, asyncio.CancelledError)]

    with pool_at(tmp_path, capacity=8, wait_seconds=PATIENCE) as pool:
        asyncio.run(many(pool))
        assert_no_lease_is_out(pool, capacity=8)


def test_a_file_that_cannot_be_opened_costs_no_place(tmp_path):
    with pool_at(tmp_path, capacity=1, wait_seconds=0.0) as pool:
        path = pool._place._path(key_of("ana"))
        path.parent.mkdir()
        path.write_bytes(b"this is no memory " * 10)
        for _ in range(3):
            with pytest.raises(NotAMemory), pool.open("ana"):
                pass
        with pool.open("bo") as memory:
            assert memory.stats().turns == 0


@pytest.mark.parametrize("asynchronous", [False, True])
def test_a_full_pool_waits_and_then_says_what_to_do(tmp_path, *, asynchronous):
    async def ask(pool: MemoryPool) -> None:
        async with pool.open_async("bo"):
            pass

    with pool_at(tmp_path, capacity=1, wait_seconds=0.2) as pool:
        with pool.open("ana"):
            began = time.monotonic()
            with pytest.raises(PoolFull, match=r"all 1 memories .* 0\.2 s.*capacity=.*wait_seconds=") as caught:
                asyncio.run(ask(pool)) if asynchronous else pool.open("bo").__enter__()
            assert time.monotonic() - began >= 0.2
        assert (caught.value.capacity, caught.value.waited) == (1, 0.2)
        assert isinstance(caught.value, StoreBusy)
        assert_no_lease_is_out(pool, capacity=1)


def test_a_free_slot_goes_to_the_longest_waiting_request(tmp_path):
    served: list[int] = []

    def use(pool: MemoryPool, number: int) -> None:
        with pool.open(f"user {number}"):
            served.append(number)

    async def use_async(pool: MemoryPool, number: int) -> None:
        async with pool.open_async(f"user {number}"):
            served.append(number)

    with pool_at(tmp_path, capacity=1, wait_seconds=PATIENCE) as pool, ThreadPoolExecutor(12) as threads:
        with pool.open("ana"):
            for number in range(12):
                if number % 2:
                    threads.submit(asyncio.run, use_async(pool, number))
                else:
                    threads.submit(use, pool, number)
                wait_until(lambda count=number: len(pool._leases.waiting()) > count)
        threads.shutdown()
        assert served == list(range(12))


def test_an_event_loop_goes_on_while_a_task_waits_for_a_place(tmp_path):
    async def run(pool: MemoryPool) -> int:
        ticks, first = 0, pool.open_async("ana")
        async with first:
            waiting = asyncio.ensure_future(pool.open_async("bo").__aenter__())
            for _ in range(50):
                await asyncio.sleep(0.001)
                ticks += not waiting.done()
            waiting.cancel()
            with suppress(asyncio.CancelledError):
                await waiting
        return ticks

    with pool_at(tmp_path, capacity=1, wait_seconds=PATIENCE) as pool:
        assert asyncio.run(run(pool)) == 50
        assert_no_lease_is_out(pool, capacity=1)


def test_opening_one_file_holds_up_no_other_user(tmp_path, monkeypatch):
    with pool_at(tmp_path, capacity=3, wait_seconds=0.0) as pool, ThreadPoolExecutor(2) as threads:
        with pool.open("bo") as memory:
            memory.extend([said(0)])
        with held_up(monkeypatch, "ana") as begun:
            slow = threads.submit(visit, pool, "ana")
            assert begun.wait(PATIENCE)
            assert threads.submit(visit, pool, "bo").result(PATIENCE) == 1
            assert threads.submit(visit, pool, "cy").result(PATIENCE) == 0
            assert "bo" in pool
            assert pool.erase("bo").turns == 1
        assert slow.result(PATIENCE) == 0


def test_closing_one_file_holds_up_no_other_user(tmp_path, monkeypatch):
    begun, over, honest = threading.Event(), threading.Event(), evimem.Memory.close

    def slow(memory: evimem.Memory) -> None:
        if key_of("ana") in str(memory):
            begun.set()
            over.wait(6 * PATIENCE)
        honest(memory)

    with pool_at(tmp_path, capacity=2, wait_seconds=0.0) as pool, ThreadPoolExecutor(2) as threads:
        for user in ("ana", "bo"):
            with pool.open(user):
                pass
        monkeypatch.setattr(evimem.Memory, "close", slow)
        evicting = threads.submit(visit, pool, "cy")
        assert begun.wait(PATIENCE)
        try:
            assert threads.submit(visit, pool, "bo").result(PATIENCE) == 0
        finally:
            over.set()
        assert evicting.result(PATIENCE) == 0


def test_a_memory_in_use_is_never_evicted_nor_erased(tmp_path):
    with pool_at(tmp_path, capacity=2, wait_seconds=0.0) as pool:
        with pool.open("ana") as ana, pool.open("ana") as same:
            assert ana._core is same._core
            for user in "abcdef":
                with pool.open(user):
                    pass
            with pytest.raises(StoreBusy, match="in use"):
                pool.erase("ana")
            with pytest.raises(StoreBusy, match="in use"):
                pool.close()
            ana.extend([said(0)])
        assert pool.erase("ana").turns == 1


def test_erasing_waits_for_the_blocks_of_a_user(tmp_path):
    with pool_at(tmp_path, capacity=2, wait_seconds=PATIENCE) as pool, ThreadPoolExecutor(1) as threads:
        with pool.open("ana") as ana:
            ana.extend([said(0)])
            erasing = threads.submit(pool.erase, "ana")
            time.sleep(0.05)
            assert not erasing.done()
        assert erasing.result(PATIENCE).turns == 1
        assert "ana" not in pool


def test_closing_waits_for_the_call_of_a_cancelled_caller(tmp_path, monkeypatch):
    async def use(pool: MemoryPool) -> None:
        async with pool.open_async("ana"):
            pass

    pool = pool_at(tmp_path, capacity=2, wait_seconds=PATIENCE)
    with ThreadPoolExecutor(1) as threads, held_up(monkeypatch, "ana") as begun:

        async def cancel() -> None:
            task = asyncio.ensure_future(use(pool))
            await asyncio.to_thread(begun.wait, PATIENCE)
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)

        asyncio.run(cancel())
        closing = threads.submit(pool.close)
        time.sleep(0.05)
        assert not closing.done()
    assert closing.result(PATIENCE) is None
    assert not pool._leases.slots
    with pytest.raises(StoreClosed), pool.open("ana"):
        pass


def test_a_child_of_a_fork_opens_files_of_its_own_whatever_the_parent_was_doing(tmp_path, monkeypatch):
    with pool_at(tmp_path, capacity=2, wait_seconds=0.0) as pool, ThreadPoolExecutor(1) as threads:
        with pool.open("bo") as memory:
            memory.extend([said(0)])

        def child() -> int:
            with pool.open("bo") as memory:
                found = memory.stats().turns
            pool.close()
            return found

        with held_up(monkeypatch, "ana") as begun:
            opening = threads.submit(visit, pool, "ana")
            assert begun.wait(PATIENCE)
            with pool._guard(), pool.open("bo"):  # held by this thread of the parent
                assert in_child(child) == 1
        assert opening.result(PATIENCE) == 0


def test_blocks_that_last_at_the_same_time_wait_for_no_call_of_each_other(tmp_path):
    async def run(pool: MemoryPool) -> int:
        over = threading.Event()
        async with pool.open_async("ana") as first, pool.open_async("ana") as second:
            waiting = asyncio.ensure_future(first._in_worker(lambda: over.wait(PATIENCE)))
            try:
                return (await asyncio.wait_for(second.stats(), PATIENCE / 2)).turns
            finally:
                over.set()
                await waiting

    with pool_at(tmp_path, capacity=2, wait_seconds=0.0) as pool:
        assert asyncio.run(run(pool)) == 0
        assert len(pool._idle_workers) == 2


def test_a_pool_counts_memories_and_bytes_whether_they_are_open_or_not(tmp_path):
    with pool_at(tmp_path / "users", capacity=2, wait_seconds=0.0) as pool:
        assert (pool.count(), pool.bytes()) == (0, 0)
        for user in ("ana", "bo", "cy"):
            with pool.open(user) as memory:
                memory.extend([said(0)])
        files = [path for path in (tmp_path / "users").rglob("*") if path.is_file()]
        assert len([path for path in files if "-wal" in path.name]) == 2  # two are open, and count with their logs
        assert (pool.count(), pool.bytes()) == (3, sum(path.stat().st_size for path in files))
        (tmp_path / "users" / "notes.txt").write_text("of somebody else")
        pool.erase("bo")
        assert pool.count() == 2


def test_an_event_loop_goes_on_while_a_user_is_erased(tmp_path):
    async def erase(pool: MemoryPool) -> int:
        async with pool.open_async("ana") as ana:
            await ana.extend([said(0)])
            erasing = asyncio.ensure_future(pool.erase_async("ana"))
            await asyncio.sleep(0.05)
            await ana.extend([said(1)])
            assert not erasing.done()
        return (await erasing).turns

    with pool_at(tmp_path, capacity=2, wait_seconds=PATIENCE) as pool:
        assert asyncio.run(erase(pool)) == 2
        assert "ana" not in pool
        assert asyncio.run(pool.erase_async("ana")).reason == "there is no memory of 'ana'"


def test_blocks_on_event_loops_use_one_thread_after_another_and_closing_the_pool_ends_it(tmp_path):
    async def thread(pool: MemoryPool, user: str) -> threading.Thread:
        async with pool.open_async(user) as memory:
            return await memory._in_worker(threading.current_thread)

    with pool_at(tmp_path, capacity=2, wait_seconds=0.0) as pool:
        used = [asyncio.run(thread(pool, user)) for user in ("ana", "bo", "cy", "ana")]
        assert len(set(used)) == 1
    used[0].join(PATIENCE)
    assert not used[0].is_alive()


def test_the_memory_of_a_user_of_a_folder_is_opened_by_its_id_and_by_no_other(tmp_path):
    with MemoryPool(tmp_path / "users") as pool, pool.open("mira") as memory:
        memory.add("Mira", "I adopted a puppy called Juno.", time="2024-03-12T18:20")
    with evimem.open(tmp_path / "users", user="mira") as memory:
        assert memory.stats().turns == 1
    with evimem.open(tmp_path / "users", user="omar") as memory:
        assert memory.stats().turns == 0
    assert run_command_line(["stats", str(tmp_path / "users"), "--user", "nobody"]) == Exit.INPUT
    with MemoryPool(tmp_path / "users") as pool:
        assert pool.count() == 2
