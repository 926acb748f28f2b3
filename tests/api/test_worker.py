"""On an event loop, whatever reads, judges and writes runs in the memory's worker; the loop only waits."""

import asyncio
import threading
from concurrent.futures import ThreadPoolExecutor

import evimem
from evimem.api.async_memory import Turnstile
from evimem.flow import Embed, Flow
from evimem.loops.answering import abstain_without_evidence, as_loop
from evimem.loops.session import Session


class Watchful:
    """An extractor that notes in which thread it reads."""

    name = "watchful/1"

    def __init__(self) -> None:
        self.threads: set[threading.Thread] = set()

    def extract(self, turn: evimem.Turn) -> tuple[evimem.Fact, ...]:
        self.threads.add(threading.current_thread())
        return ()


def test_no_step_of_a_flow_runs_on_the_event_loop(tmp_path):
    extractor, stepped = Watchful(), set[threading.Thread]()

    @as_loop("noting")
    def noting(session: Session) -> Flow[evimem.Answer]:
        stepped.add(threading.current_thread())
        yield Embed(("puppy",))
        stepped.add(threading.current_thread())
        return abstain_without_evidence(session, 1)

    async def use() -> None:
        async with evimem.open_async(tmp_path / "m.evimem", extractor=extractor) as memory:
            await memory.add("Mira", "We adopted a puppy.", time="2024-03-12T18:20")
            await memory.ask("What did Mira adopt?", noting)

    asyncio.run(use())
    assert len(extractor.threads | stepped) == 1
    assert threading.main_thread() not in extractor.threads | stepped


def test_few_threads_compute_at_once_and_one_that_waits_for_others_makes_room():
    turnstile, inside, done = Turnstile(), threading.Semaphore(0), threading.Event()

    def call() -> None:
        inside.release()
        done.wait(10)

    def leave_and_wait() -> None:
        turnstile.leave()
        call()

    with ThreadPoolExecutor(4) as workers:
        workers.submit(turnstile.run, call)
        workers.submit(turnstile.run, leave_and_wait)
        workers.submit(turnstile.run, call)
        assert all(inside.acquire(timeout=10) for _ in range(3))
        workers.submit(turnstile.run, call)
        assert not inside.acquire(timeout=0.05)
        assert inside.acquire(timeout=10), "a call that takes long counts no more"
        done.set()
    assert turnstile.run(lambda: 1) == 1
