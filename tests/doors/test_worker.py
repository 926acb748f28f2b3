"""On an event loop, whatever reads, judges and writes runs in the memory's worker; the loop only waits."""

import asyncio
import threading
from typing import Any

import evimem
from evimem.flow import Embed, Flow
from evimem.loops.answering import as_loop, nothing
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
        return nothing(session, 1)

    async def use() -> None:
        async with evimem.open_async(tmp_path / "m.evimem", extractor=extractor) as memory:
            await memory.add("Mira", "We adopted a puppy.", time="2024-03-12T18:20")
            await memory.ask("What did Mira adopt?", noting)

    asyncio.run(use())
    assert len(extractor.threads | stepped) == 1
    assert threading.main_thread() not in extractor.threads | stepped


def test_a_cancelled_question_leaves_its_flow_closed_and_the_memory_in_order(tmp_path):
    began, closed = threading.Event(), threading.Event()

    @as_loop("slow")
    def slow(session: Session) -> Flow[evimem.Answer]:
        try:
            began.set()
            yield Embed(("puppy",))
            threading.Event().wait(0.2)
            yield Embed(("puppy",))
            return nothing(session, 1)
        finally:
            closed.set()

    async def use() -> Any:
        async with evimem.open_async(tmp_path / "m.evimem") as memory:
            await memory.add("Mira", "We adopted a puppy.", time="2024-03-12T18:20")
            asking = asyncio.ensure_future(memory.ask("What did Mira adopt?", slow))
            await asyncio.to_thread(began.wait)
            asking.cancel()
            await asyncio.gather(asking, return_exceptions=True)
            return asking.cancelled(), (await memory.stats()).turns

    assert asyncio.run(use()) == (True, 1)
    assert closed.wait(5)
