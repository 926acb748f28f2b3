"""`AsyncMemory`: the public class for an event loop, over the same flows as `Memory`."""

from __future__ import annotations

import asyncio
import inspect
import os
import threading
from collections import deque
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine, Iterable, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from contextlib import nullcontext
from contextvars import copy_context
from functools import partial, wraps
from time import monotonic
from types import TracebackType
from typing import Any, Concatenate, Literal, TypeVar, overload

from ..embedding.checked_embedder import checked_rows, embed_checked, failure
from ..errors import EvimemError
from ..flow import Effect, Embed, Ended, Flow, Pause, Rerank, SideBySide, Step, advance, answered_later, flow_of
from ..loops import Loop
from ..types.results import Answer, Budget
from ..types.trace import Complete, Event, Reply
from ..types.type_variables import P, T
from .checked_arguments import OnEvent, TimeInput, checked_on_event, checked_scope
from .core import Core, require_model, workers_for
from .memory import Memory, perform_batch
from .observer import Lending, Streamed, stream_answer

A = TypeVar("A")
_SHORT_SECONDS = (
    0.25  # seconds after which a call no longer counts: it may wait for a lock, or for a function of the user's
)


class Turnstile:
    """Lets few worker threads run at once, in order: an event loop waits for its turn behind each that computes."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._inside: dict[int, float] = {}  # by thread: until when its call counts
        self._queue: deque[tuple[int, threading.Lock]] = deque()  # threads that wait, each behind a lock of its own

    def run(self, call: Callable[[], T]) -> T:
        """Run a call once there is room for it."""
        gate = threading.Lock()
        gate.acquire()
        with self._lock:
            self._queue.append((threading.get_ident(), gate))
        self._admit()
        while not gate.acquire(timeout=_SHORT_SECONDS):
            self._admit()
        try:
            return call()
        finally:
            self.leave()

    def leave(self) -> None:
        """Make room: the call of this thread has ended, or waits for an effect from now on."""
        if self._inside.pop(threading.get_ident(), None) is not None:
            self._admit()

    def _admit(self) -> None:
        with self._lock:
            # Two worker threads run calls: one computes while another waits for the disk.
            while self._queue and sum(until > monotonic() for until in tuple(self._inside.values())) < 2:
                thread, gate = self._queue.popleft()
                self._inside[thread] = monotonic() + _SHORT_SECONDS
                gate.release()


AT_WORK = Turnstile()
if hasattr(os, "register_at_fork"):  # another thread may hold the parent's lock
    os.register_at_fork(after_in_child=AT_WORK.__init__)  # type: ignore[misc]


def _for_event_loop(
    method: Callable[Concatenate[Memory, P], T],
) -> Callable[Concatenate[AsyncMemory, P], Coroutine[Any, Any, T]]:
    """Return a method of `Memory` for an event loop: begun in the worker, and driven as far as it goes there."""
    flow: Callable[..., Any] = vars(method).get("flow", method)

    @wraps(method)
    async def await_call(self: AsyncMemory, /, *args: P.args, **given: P.kwargs) -> T:
        # These arguments are functions of the caller's.
        told = {name: self._told(value) if name in {"on_event", "progress"} else value for name, value in given.items()}
        return await self._run(flow_of(partial(flow, self._memory, *args, **told)))

    return await_call


def _as_list(method: Callable[Concatenate[Memory, P], Iterable[T]]) -> Callable[Concatenate[Memory, P], list[T]]:
    """Return a method that returns the items of an iterator as a list."""

    @wraps(method)
    def collect_list(memory: Memory, /, *args: P.args, **given: P.kwargs) -> list[T]:
        return list(method(memory, *args, **given))

    described: Any = collect_list
    described.__signature__ = inspect.signature(method).replace(return_annotation="list[Turn]")
    return collect_list


class AsyncMemory:
    """`Memory` for an event loop: one worker thread reads, judges and writes; models and remote embedders are awaited.

    Open one with `evimem.open_async`, and use it in an `async with` block or await `close`. Each method takes the
    arguments of the method of the same name of `Memory`, and raises the same exceptions; `turns` returns a list, all of
    it in memory. An instance belongs to one event loop; `on_event` and `progress` functions are called on it.
    Cancelling a call never interrupts a transaction.
    """

    def __init__(
        self, core: Core, model: Any = None, worker: ThreadPoolExecutor | None = None, lending: Lending = nullcontext
    ) -> None:
        """Use `evimem.open_async` instead.

        `worker` is the executor of one thread that uses the file; `lending` is entered around whatever waits for a
        model.
        """
        self._core = core
        self._model = model
        self._lending = lending
        self._worker = worker or ThreadPoolExecutor(1, thread_name_prefix="evimem")
        self._memory = Memory(core, getattr(model, "model", model))
        self._loop: asyncio.AbstractEventLoop  # of the last call: set by whatever enters the worker

    add = _for_event_loop(Memory.add)
    extend = _for_event_loop(Memory.extend)
    update = _for_event_loop(Memory.update)
    remember = _for_event_loop(Memory.remember)
    search = _for_event_loop(Memory.search)
    search_facts = _for_event_loop(Memory.search_facts)
    block = _for_event_loop(Memory.block)
    profile = _for_event_loop(Memory.profile)
    forget = _for_event_loop(Memory.forget)
    enrich = _for_event_loop(Memory.enrich)
    enrich_batch = _for_event_loop(Memory.enrich_batch)
    estimate = _for_event_loop(Memory.estimate)
    calibrate = _for_event_loop(Memory.calibrate)
    calibration = _for_event_loop(Memory.calibration)
    rebuild = _for_event_loop(Memory.rebuild)
    reembed = _for_event_loop(Memory.reembed)
    turn = _for_event_loop(Memory.turn)
    context = _for_event_loop(Memory.context)
    neighbours = _for_event_loop(Memory.neighbours)
    facts = _for_event_loop(Memory.facts)
    now = _for_event_loop(Memory.now)
    keep_trace = _for_event_loop(Memory.keep_trace)
    rekey = _for_event_loop(Memory.rekey)
    trace = _for_event_loop(Memory.trace)
    health = _for_event_loop(Memory.health)
    check = _for_event_loop(Memory.check)
    stats = _for_event_loop(Memory.stats)
    backup = _for_event_loop(Memory.backup)
    export = _for_event_loop(Memory.export)
    import_ = _for_event_loop(Memory.import_)
    turns = _for_event_loop(_as_list(Memory.turns))

    @overload
    def ask(
        self,
        question: str,
        loop: str | Loop = ...,
        *,
        session: str | None = ...,
        speaker: str | None = ...,
        role: str | None = ...,
        where: Mapping[str, Any] | None = ...,
        asked_at: TimeInput | None = ...,
        budget: Budget = ...,
        on_event: OnEvent | None = ...,
    ) -> Awaitable[Answer]: ...

    @overload
    def ask(
        self,
        question: str,
        loop: str | Loop = ...,
        *,
        session: str | None = ...,
        speaker: str | None = ...,
        role: str | None = ...,
        where: Mapping[str, Any] | None = ...,
        asked_at: TimeInput | None = ...,
        budget: Budget = ...,
        on_event: OnEvent | None = ...,
        stream: Literal[True],
    ) -> AsyncIterator[Streamed]: ...

    def ask(  # noqa: PLR0913 - the filters
        self,
        question: str,
        loop: str | Loop = "iris",
        *,
        session: str | None = None,
        speaker: str | None = None,
        role: str | None = None,
        where: Mapping[str, Any] | None = None,
        asked_at: TimeInput | None = None,
        budget: Budget = Budget(),
        on_event: OnEvent | None = None,
        stream: bool = False,
    ) -> Awaitable[Answer] | AsyncIterator[Streamed]:
        """Return an awaitable of the answer of `Memory.ask`, with `stream` an async iterator; see `Memory.ask`."""
        within = checked_scope(session, speaker, role, where)
        hears = self._told(checked_on_event(on_event))
        if not stream:
            return self._run(self._core.ask(question, loop, asked_at, budget, within, hears))
        events: deque[Event] = deque()
        asking = self._core.ask(question, loop, asked_at, budget, within, events.append, hears)
        return stream_answer(asking, events, self._advance, self._perform, self._pieces, self._lending, self._leave)

    async def close(self) -> None:
        """Close the file and end the worker thread. Other methods must not be called afterwards."""
        await self._in_worker(self._memory.close)
        self.end_worker()

    def end_worker(self) -> None:
        """End the worker thread but leave the file open."""
        self._worker.shutdown(wait=True)

    async def __aenter__(self) -> AsyncMemory:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()

    def __repr__(self) -> str:
        return f"<evimem.AsyncMemory {self._core.store.name!r}>"

    async def _run(self, flow: Flow[T]) -> T:
        """Drive a flow: in the worker as far as it goes by itself, so that the event loop only ever waits."""
        step: Step = partial(next, flow)
        try:
            while not isinstance(reached := await self._advance(flow, step), Ended):
                step = await answered_later(flow, self._perform(reached))
        finally:
            self._leave(flow)
        return reached.value

    async def _advance(self, flow: Flow[T], step: Step) -> Effect | Ended[T]:
        return await self._in_worker(partial(advance, flow, step, self._memory._perform, self._is_awaited))

    def _leave(self, flow: Flow[Any]) -> None:
        """Close a flow that has not ended: in the worker, which may still run it for a caller that was cancelled."""
        if inspect.getgeneratorstate(flow) == inspect.GEN_CLOSED:
            return
        try:
            self._worker.submit(flow.close)
        except RuntimeError:  # the worker has ended, and runs nothing any more
            flow.close()

    def _told(self, tell: Any) -> Any:
        """Wrap a caller's function so that the event loop calls it and the worker waits for it."""
        return partial(self._tell, tell) if callable(tell) and not inspect.iscoroutinefunction(tell) else tell

    def _tell(self, tell: Callable[[A], object], what: A) -> None:
        done: Future[None] = Future()

        def call() -> None:
            try:
                tell(what)
            except BaseException as error:  # noqa: BLE001 - raised in the worker, where the flow is
                done.set_exception(error)
            else:
                done.set_result(None)

        self._loop.call_soon_threadsafe(call)
        while not wait([done], timeout=1).done:
            if not self._loop.is_running():
                raise RuntimeError("the event loop ended while a function of the caller was to be called on it")
        done.result()

    async def _side_by_side(self, effect: SideBySide) -> list[Any]:
        places, results = asyncio.Semaphore(workers_for(getattr(self._model, "model", self._model))), list[Any]()

        async def end(flow: Flow[Any]) -> None:
            async with places:
                results.append(await self._run(flow))

        tasks = [asyncio.ensure_future(end(flow)) for flow in effect.flows]
        try:
            for task in asyncio.as_completed(tasks):
                await task
        finally:
            for left in tasks:
                left.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
        return results

    def _pieces(self, asked: Complete) -> AsyncIterator[str | Reply]:
        pieces: AsyncIterator[str | Reply] = require_model(self._model).stream(asked)
        return pieces

    def _is_awaited(self, effect: Effect) -> bool:
        """Return whether an effect is one of the event loop's."""
        if isinstance(effect, Embed):
            return self._core.remote or inspect.iscoroutinefunction(self._core.embedder.embed)
        if isinstance(effect, Rerank):
            reranking = self._core.reranking
            return reranking is not None and (reranking.remote or reranking.awaited_verb is not None)
        return True

    async def _perform(self, effect: Effect) -> object:
        if isinstance(effect, SideBySide):
            return await self._side_by_side(effect)
        if isinstance(effect, Pause):
            return None
        with self._lending() if self._core.is_remote(effect) else nullcontext():
            if isinstance(effect, Embed):
                return await self._embed(effect.texts)
            if isinstance(effect, Rerank):
                return await self._rerank(effect)
            if isinstance(effect, Complete):
                return await require_model(self._model).complete(effect)
            return await asyncio.to_thread(perform_batch, getattr(self._model, "model", self._model), effect)

    async def _rerank(self, effect: Rerank) -> object:
        """Return the reranker's scores; None where there is none or it failed. One that only blocks has a thread."""
        reranking = self._core.reranking
        if reranking is None:
            return None
        if (verb := reranking.awaited_verb) is None:
            return await asyncio.to_thread(reranking.score_texts, effect.query, effect.texts)
        try:
            given = await asyncio.wait_for(verb(effect.query, reranking.cut_texts(effect.texts)), reranking.seconds)
        except (TimeoutError, asyncio.TimeoutError):
            reranking.fail()
            return None
        except Exception as error:  # noqa: BLE001 - of whatever kind: a search does not fail for its order
            reranking.fail(error)
            return None
        return reranking.accept(given, len(effect.texts))

    async def _embed(self, texts: Sequence[str]) -> object:
        embedder: Any = self._core.embedder
        if not inspect.iscoroutinefunction(embedder.embed):
            return await self._in_worker(partial(embed_checked, embedder, texts))
        try:
            rows = await embedder.embed(texts)
        except EvimemError:
            raise
        except Exception as error:
            raise failure(embedder, error) from error
        return checked_rows(embedder, rows, len(texts))

    async def _in_worker(self, call: Callable[[], T]) -> T:
        # Shielded: a cancelled caller must not leave a half-done call that is still running before close().
        self._loop = asyncio.get_running_loop()
        within = copy_context()  # so that observations there belong to the caller's context
        running = self._loop.run_in_executor(self._worker, within.run, AT_WORK.run, call)
        shielded = asyncio.shield(running)
        for future in (running, shielded):
            future.add_done_callback(_mark_retrieved)
        return await shielded


def _mark_retrieved(future: asyncio.Future[Any]) -> None:
    """Retrieve an exception that a cancelled caller never asks for: asyncio would log it, with ids and speakers."""
    if not future.cancelled():
        future.exception()
