"""A block of a pool lends its place while a model thinks, gets it back for its next call, and loses nothing by it."""

import asyncio
import inspect
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from functools import partial
from itertools import count
from pathlib import Path
from typing import Any

import pytest

import evimem.api.pool
from evimem import Answer, MemoryPool, OpenAI, PoolFull, StoreBusy, StoreClosed
from evimem.api.leases import ITERATED
from evimem.api.pool import key_of
from evimem.store.keeper import Keeper
from evimem.testing import ScriptedModel
from evimem.types.trace import Complete
from tests.api.pools import PATIENCE, pool_at, visit, wait_until
from tests.doubles import WordEmbedder
from tests.model_server import ModelServer
from tests.reliability.support.children import in_child
from tests.reliability.support.interrupts import CancelledAt
from tests.reliability.support.world import said
from tests.statements.conftest import draft, verdict
from tests.statements.conftest import partial as insufficient

QUESTION = "What does Mira say?"


def answered(prompt: str) -> str:
    """Reply as a model that finds no fact in a turn, its evidence enough for a question, and words the answer."""
    if "<question" not in prompt:
        return '{"facts": []}'
    return verdict() if "<requirements>" in prompt else draft("puppy", "e1")


class Thinking(ScriptedModel):
    """A model whose requests wait until `over`; `asked` says that one was made."""

    def __init__(self) -> None:
        super().__init__(then=self._reply)
        self.asked, self.over = threading.Event(), threading.Event()

    def _reply(self, request: Complete) -> str:
        self.asked.set()
        assert self.over.wait(PATIENCE)
        return answered(request.prompt)


def ask(pool: MemoryPool, user: str) -> Answer:
    with pool.open(user) as memory:
        memory.extend([said(0)])
        return memory.ask(QUESTION)


def ask_streamed(pool: MemoryPool, user: str) -> Answer:
    with pool.open(user) as memory:
        memory.extend([said(0)])
        *_, answer = memory.ask(QUESTION, stream=True)
        assert isinstance(answer, Answer)
        return answer


async def ask_async(pool: MemoryPool, user: str) -> Answer:
    async with pool.open_async(user) as memory:
        await memory.extend([said(0)])
        return await memory.ask(QUESTION)


async def ask_streamed_async(pool: MemoryPool, user: str) -> Answer:
    async with pool.open_async(user) as memory:
        await memory.extend([said(0)])
        *_, answer = [item async for item in memory.ask(QUESTION, stream=True)]
        assert isinstance(answer, Answer)
        return answer


def enrich(pool: MemoryPool, user: str) -> Answer:
    with pool.open(user) as memory:
        memory.extend([said(0)])
        assert memory.enrich().done == 2  # read by rule, and by the model
        return memory.ask(QUESTION)


def in_threads(call: Callable[[MemoryPool, str], Answer], pool: MemoryPool) -> list[Answer]:
    with ThreadPoolExecutor(2) as threads:
        return list(threads.map(partial(call, pool), ("ana", "bo")))


def in_tasks(call: Callable[[MemoryPool, str], Any], pool: MemoryPool) -> list[Answer]:
    async def both() -> list[Answer]:
        return await asyncio.gather(call(pool, "ana"), call(pool, "bo"))

    return asyncio.run(both())


@pytest.mark.parametrize(
    ("run", "call"),
    [
        (in_threads, ask), (in_threads, ask_streamed), (in_threads, enrich), (in_tasks, ask_async),
        (in_tasks, ask_streamed_async),
    ],
)  # fmt: skip
def test_two_users_of_one_place_ask_a_model_at_the_same_time(tmp_path, run, call):
    met = threading.Barrier(2)

    def together(body: Any) -> str:
        met.wait(PATIENCE)
        return answered(body["messages"][-1]["content"])

    with ModelServer(then=together) as server:
        model = OpenAI("small", base_url=server.url, api_key="k", deadline=PATIENCE, max_retries=0)
        with pool_at(tmp_path, model) as pool:
            assert [answer.text for answer in run(call, pool)] == ["puppy", "puppy"]
            assert len(pool._leases.slots) == 1
            assert pool._leases.idle
        model.close()


@contextmanager
def thinking(
    pool: MemoryPool, model: Thinking, user: str = "ana", call: Callable[[MemoryPool, str], Answer] = ask
) -> Iterator[Callable[[], Answer]]:
    """Have a user wait for a model in another thread; the function lets it reply, and returns the answer."""

    def answer() -> Answer:
        model.over.set()
        return asking.result(PATIENCE)

    with ThreadPoolExecutor(1) as threads:
        asking = threads.submit(call, pool, user)
        try:
            assert model.asked.wait(PATIENCE)
            yield answer
        finally:
            model.over.set()


@contextmanager
def opened_files(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[str]]:
    """Record whose files a pool opens, by key."""
    opened: list[str] = []
    honest = evimem.api.pool.make_core

    def record(path: Path, **options: Any) -> Any:
        opened.append(path.name.partition(".")[0])
        return honest(path, **options)

    with monkeypatch.context() as patched:
        patched.setattr(evimem.api.pool, "make_core", record)
        yield opened


def test_a_file_is_closed_only_where_its_place_is_needed(tmp_path, monkeypatch):
    model = Thinking()
    with opened_files(monkeypatch) as opened, pool_at(tmp_path, model, capacity=2) as pool:
        with thinking(pool, model, call=enrich) as answer:
            with pool.open("bo"):
                pass
            with pool.open("cy"):  # bo has no block any more, and ana has
                pass
            assert answer().text == "puppy"
        assert opened == [key_of(user) for user in ("ana", "bo", "cy")]


def test_a_question_goes_on_with_what_was_added_while_its_file_was_closed(tmp_path):
    def reply(request: Complete) -> str:
        if len(model.requests) == 1:
            with pool.open("bo") as other:
                other.extend([said(7)])
            with pool.open("ana") as same:
                same.add("Mira", "The lantern is green.", time="2024-03-12T18:20", id="later")
            with pool.open("bo"):
                pass
            return insufficient("green lantern")
        return answered(request.prompt)

    model = ScriptedModel(then=reply)
    with pool_at(tmp_path, model) as pool, pool.open("ana") as memory:
        memory.extend([said(0)])
        assert memory.ask(QUESTION).text == "puppy"
        assert "The lantern is green." in model.requests[1].prompt
        assert {turn.id for turn in memory.turns()} == {"t0", "later"}


def test_what_is_in_use_is_neither_erased_nor_closed_while_its_place_is_lent(tmp_path):
    model = Thinking()
    with pool_at(tmp_path, model, wait_seconds=1.0) as pool:
        with thinking(pool, model) as answer:
            with pool.open("bo"):
                pass
            with pytest.raises(StoreBusy, match="in use"):
                pool.erase("ana")
            with pytest.raises(StoreBusy, match="1 memories of the pool are in use"):
                pool.close()
            assert answer().text == "puppy"
        assert pool.erase("ana").turns == 1


def test_a_place_that_does_not_come_back_is_a_typed_error_and_the_block_goes_on_later(tmp_path):
    model = ScriptedModel([lambda request: take() or answered(request.prompt)])
    others = []

    def take() -> None:
        others.append(pool.open("bo"))
        others[0].__enter__()

    with pool_at(tmp_path, model, wait_seconds=0.1) as pool, pool.open("ana") as memory:
        memory.extend([said(0)])
        with pytest.raises(PoolFull, match="all 1 memories"):
            memory.enrich()
        with pytest.raises(PoolFull, match="all 1 memories"):
            memory.extend([said(1)])
        others[0].__exit__(None, None, None)
        memory.extend([said(1)])
        assert memory.stats().turns == 2
        assert pool._leases.in_use == 1


def test_a_block_that_comes_back_goes_before_those_that_came_after_it(tmp_path):
    served: list[str] = []

    def use(user: str) -> None:
        with pool.open(user):
            served.append(user)

    model = Thinking()
    with pool_at(tmp_path, model) as pool, ThreadPoolExecutor(2) as threads:
        with thinking(pool, model, call=enrich) as answer:
            with pool.open("bo"):
                later = threads.submit(use, "cy")
                wait_until(lambda: len(pool._leases.waiting()) == 1)
                model.over.set()
                wait_until(lambda: len(pool._leases.waiting()) == 2)
                assert [lease.key for lease in pool._leases.waiting()] == [key_of("ana"), key_of("cy")]
            assert answer().text == "puppy"
        later.result(PATIENCE)


def test_an_iterator_of_a_block_keeps_its_place_as_long_as_the_block_lasts(tmp_path):
    model = ScriptedModel(then=lambda request: refused() or answered(request.prompt))

    def refused() -> None:
        with pytest.raises(PoolFull):
            visit(pool, "bo")

    with pool_at(tmp_path, model, wait_seconds=0.05) as pool:
        with pool.open("ana") as memory:
            memory.extend([said(number) for number in range(3)])
            turns = memory.turns()
            assert [next(turns).id, memory.ask(QUESTION).text, next(turns).id] == ["t0", "puppy", "t1"]
        assert visit(pool, "bo") == 0
        with pytest.raises(StoreClosed):
            list(turns)


def test_a_memory_that_outlives_its_block_takes_no_place(tmp_path):
    with pool_at(tmp_path, None) as pool:
        with pool.open("ana") as memory:
            memory.extend([said(0)])
        assert visit(pool, "bo") == 0
        with pytest.raises(StoreClosed):
            memory.stats()
        assert pool.erase("ana").turns == 1
        with pytest.raises(StoreClosed):
            memory.extend([said(1)])
        assert "ana" not in pool


def test_the_embedder_of_a_block_stays_when_its_file_is_opened_again(tmp_path):
    def evict() -> None:
        with suppress(StoreBusy), pool.open("bo"):
            pass

    model = ScriptedModel(then=lambda request: evict() or answered(request.prompt))
    with pool_at(tmp_path, model) as pool, pool.open("ana") as memory:
        memory.extend([said(0)])
        memory.reembed(WordEmbedder(32))
        assert [hit.turn.id for hit in memory.search(said(0).text)] == ["t0"]
        assert memory.stats().embedder == "words-32"


def test_a_place_is_lent_while_a_remote_embedder_is_asked(tmp_path):
    class Remote(WordEmbedder):
        remote = True

        def embed(self, texts: Any) -> Any:
            served.append(threads.submit(visit, pool, "bo").result(PATIENCE))
            return super().embed(texts)

    served: list[int] = []
    with pool_at(tmp_path, None, embedder=Remote(16)) as pool, ThreadPoolExecutor(1) as threads:
        with pool.open("ana") as memory:
            memory.extend([said(0)])
            assert [hit.turn.id for hit in memory.search(said(0).text)] == ["t0"]
        assert served


def test_cancelled_at_any_await_while_others_take_the_place_a_pool_has_it_again(tmp_path):
    async def other(pool: MemoryPool) -> None:
        for number in range(2):
            async with pool.open_async("bo") as memory:
                await memory.extend([said(number)])

    async def run(pool: MemoryPool) -> int:
        for suspension in count(1):
            work = CancelledAt(ask_async(pool, "ana"), suspension)
            asking, beside = asyncio.ensure_future(wrapped(work)), asyncio.ensure_future(other(pool))
            await asyncio.gather(asking, return_exceptions=True)
            await beside
            async with pool.open_async("cy") as memory:  # the only place there is
                await memory.extend([said(suspension)], strict=True)
            if work.suspensions < suspension:
                return suspension
        raise AssertionError

    model = ScriptedModel(then=lambda request: answered(request.prompt))
    with pool_at(tmp_path, model) as pool:
        assert asyncio.run(run(pool)) > 8
        assert pool.erase("ana").status == "erased"
        assert pool._leases.idle


async def wrapped(work: CancelledAt[Answer]) -> Answer:
    return await work


def test_a_child_of_a_fork_is_refused_what_a_block_of_its_parent_had_lent(tmp_path):
    def child() -> str:
        try:
            memory.stats()
        except StoreClosed:
            return f"closed, and {visit(pool, 'ana')} turns"
        return "open"

    def reply(request: Complete) -> str:
        with pool.open("bo"):
            pass
        told.append(in_child(child))
        return answered(request.prompt)

    told: list[str] = []
    with pool_at(tmp_path, ScriptedModel(then=reply)) as pool, pool.open("ana") as memory:
        memory.extend([said(0)])
        memory.ask(QUESTION)
        assert set(told) == {"closed, and 1 turns"}


def test_what_returns_an_iterator_is_known():
    hints = {name: inspect.signature(value).return_annotation for name, value in vars(Keeper).items()
             if inspect.isfunction(value)}  # fmt: skip
    assert {name for name, hint in hints.items() if str(hint).startswith(("Iterator", "Found"))} == ITERATED


def test_another_block_of_the_same_user_keeps_the_place(tmp_path):
    model = Thinking()
    with pool_at(tmp_path, model, wait_seconds=0.05) as pool, pool.open("ana"), thinking(pool, model) as answer:
        with pytest.raises(PoolFull):
            visit(pool, "bo")
        assert answer().text == "puppy"


def test_a_pool_that_does_not_wait_lends_nothing(tmp_path):
    model = Thinking()
    with pool_at(tmp_path, model, wait_seconds=0) as pool, thinking(pool, model) as answer:
        with pytest.raises(PoolFull):
            visit(pool, "bo")
        assert answer().text == "puppy"


def test_the_last_reply_of_a_question_needs_no_place(tmp_path):
    def reply(request: Complete) -> str:
        if "<requirements>" not in request.prompt:
            other.__enter__()
        return answered(request.prompt)

    with pool_at(tmp_path, ScriptedModel(then=reply), wait_seconds=0.1) as pool:
        other = pool.open("bo")
        with pool.open("ana") as memory:
            memory.extend([said(0)])
            assert memory.ask(QUESTION).text == "puppy"
        other.__exit__(None, None, None)
