"""`AsyncMemory`: the public class for an event loop, over the same flows as `Memory`."""

from __future__ import annotations

import asyncio
import inspect
import os
import threading
from collections import deque
from collections.abc import AsyncIterator, Awaitable, Callable, Collection, Iterable, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from contextlib import nullcontext
from contextvars import copy_context
from datetime import datetime
from functools import partial
from os import PathLike
from time import monotonic
from types import TracebackType
from typing import TYPE_CHECKING, Any, Literal, TypeVar, cast, overload

from ..embedding.checked_embedder import checked_rows, embed_checked, failure
from ..errors import EvimemError
from ..flow import Effect, Embed, Ended, Flow, Pause, Rerank, SideBySide, Step, advance, answered_later
from ..loops import Loop
from ..protocols import Embedder
from ..types.results import (
    FALSE_ABSTENTION,
    AddReport,
    Answer,
    BatchReport,
    Block,
    Budget,
    CountTokens,
    EnrichReport,
    EraseReport,
    Estimate,
    Health,
    Stats,
    Style,
)
from ..types.trace import Complete, Event, Reply, Trace
from ..types.type_variables import T
from ..types.values import ExportFormat, Fact, FactHit, Hit, Over, TimeSpan, Turn
from .checked_arguments import OnEvent, Progress, TimeInput, checked_form, checked_on_event, checked_scope
from .core import Core, require_model, workers_for
from .memory import Memory, perform_batch
from .observer import Lending, Streamed, stream_answer

if TYPE_CHECKING:
    from ..calibration import Calibration, Labelled

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

    async def add(  # noqa: PLR0913 - the fields of a turn
        self,
        speaker: str,
        text: str,
        *,
        time: TimeInput,
        session: str | None = None,
        id: str | None = None,
        caption: str | None = None,
        role: str | None = None,
        metadata: dict[str, Any] | None = None,
    ) -> AddReport:
        """Store one turn with the facts found in it (E1, E2); see `Memory.add`."""
        turn = Turn(id or "", session or "", speaker, text, cast(datetime, time), caption, role, metadata or {})
        return await self._run(self._core.extend([turn], strict=True))

    async def extend(
        self,
        turns: Iterable[Turn],
        *,
        strict: bool = False,
        replace: bool = False,
        progress: Progress | None = None,
    ) -> AddReport:
        """Store many turns, in batches of one transaction each; see `Memory.extend`."""
        return await self._run(self._core.extend(turns, strict=strict, replace=replace, progress=self._told(progress)))

    async def update(self, id: str, text: str) -> AddReport:
        """Give a turn another text; see `Memory.update`."""
        return await self._run(self._core.update(id, text))

    async def remember(
        self,
        messages: Iterable[Mapping[str, Any]],
        *,
        session: str | None = None,
        time: TimeInput | None = None,
        strict: bool = False,
        again: bool = False,
        replace: bool = False,
    ) -> AddReport:
        """Store messages as chat APIs take them, each once; see `Memory.remember`."""
        remembered = self._core.remember(messages, session, time, strict=strict, again=again, replace=replace)
        return await self._run(remembered)

    async def search(  # noqa: PLR0913 - the filters
        self,
        query: str,
        k: int = 10,
        *,
        before: TimeInput | None = None,
        after: TimeInput | None = None,
        speaker: str | None = None,
        session: str | None = None,
        role: str | None = None,
        where: Mapping[str, Any] | None = None,
        exclude: Collection[str] = (),
        asked_at: TimeInput | None = None,
        over: Over = "turns",
        on_event: OnEvent | None = None,
    ) -> list[Hit]:
        """Return the k best turns for a query, best first, ties in order of arrival; see `Memory.search`."""
        scope, limits = checked_scope(session, speaker, role, where), (before, after, exclude)
        given: dict[str, Any] = {"asked_at": asked_at, "over": over, "on_event": self._told(on_event)}
        return await self._run(self._core.search(query, k, scope, *limits, **given))

    async def search_facts(  # noqa: PLR0913 - the filters
        self,
        query: str,
        k: int = 10,
        *,
        about: str | None = None,
        during: str | TimeSpan | None = None,
        current: bool = False,
        speaker: str | None = None,
        session: str | None = None,
        role: str | None = None,
        where: Mapping[str, Any] | None = None,
        asked_at: TimeInput | None = None,
    ) -> list[FactHit]:
        """Return the k best facts for a query, best first; see `Memory.search_facts`."""
        scope = checked_scope(session, speaker, role, where)
        found = self._core.search_facts(query, k, scope, about=about, during=during, current=current, asked_at=asked_at)
        return await self._run(found)

    async def block(  # noqa: PLR0913 - the filters
        self,
        question_or_messages: str | Iterable[Mapping[str, Any]],
        *,
        tokens: int = 1500,
        style: Style = "plain",
        count: CountTokens | None = None,
        gate: bool = True,
        check: bool = False,
        profile: bool = True,
        session: str | None = None,
        speaker: str | None = None,
        role: str | None = None,
        where: Mapping[str, Any] | None = None,
        asked_at: TimeInput | None = None,
        exclude: Collection[str] = (),
    ) -> Block:
        """Return the few lines from memory that help to reply to a message, or none; see `Memory.block`."""
        form = checked_form(tokens, style, count, gate=gate, check=check, profile=profile)
        scope = checked_scope(session, speaker, role, where)
        return await self._run(self._core.block(question_or_messages, form, scope, asked_at, exclude))

    async def profile(
        self,
        *,
        tokens: int = 350,
        style: Style = "plain",
        count: CountTokens | None = None,
        session: str | None = None,
        speaker: str | None = None,
        where: Mapping[str, Any] | None = None,
        exclude: Collection[str] = (),
    ) -> Block:
        """Return the user's lasting statements about themselves, in their words; see `Memory.profile`."""
        form = checked_form(tokens, style, count, gate=False, check=False, profile=True)
        return await self._run(self._core.profile(form, checked_scope(session, speaker, None, where), exclude))

    async def forget(
        self,
        turns: Sequence[str] | None = None,
        *,
        session: str | None = None,
        before: TimeInput | None = None,
        speaker: str | None = None,
        where: Mapping[str, Any] | None = None,
        as_in: str | PathLike[str] | None = None,
        everything: bool = False,
    ) -> EraseReport:
        """Erase turns with everything derived from them; see `Memory.forget`."""
        named: dict[str, Any] = {"turns": turns, "session": session, "before": before, "speaker": speaker}
        named |= {"where": where, "as_in": as_in, "everything": everything or None}
        return await self._in_worker(partial(self._core.forget, named))

    async def enrich(self, *, retry_now: bool = False, progress: Progress | None = None) -> EnrichReport:
        """Process queued jobs; see `Memory.enrich`."""
        return await self._run(self._core.enrich(self._told(progress), retry_now=retry_now))

    async def enrich_batch(self) -> BatchReport:
        """Extract facts through the provider's Batch API, at a lower price; see `Memory.enrich_batch`."""
        return await self._run(self._core.enrich_batch())

    async def estimate(self, price: tuple[float, float] | None = None) -> Estimate:
        """Estimate the requests and the cost of `enrich` with a model; see `Memory.estimate`."""
        return await self._in_worker(partial(self._memory.estimate, price))

    async def calibrate(
        self,
        questions: Iterable[Labelled],
        *,
        false_abstention: float = FALSE_ABSTENTION,
        precision: float | None = None,
        keep: bool = True,
        progress: Progress | None = None,
    ) -> Calibration:
        """Fit this memory's probabilities to labelled questions, and use them; see `Memory.calibrate`."""
        wanted = {"false_abstention": false_abstention, "precision": precision}
        return await self._run(self._core.calibrate(questions, wanted, keep=keep, progress=self._told(progress)))

    async def calibration(self) -> Calibration | None:
        """Return the calibration that `ask` uses, None if there is none; see `Memory.calibration`."""
        return await self._in_worker(self._memory.calibration)

    async def rebuild(self, *, reread: bool = False, progress: Progress | None = None) -> None:
        """Derive rule facts, postings, columns and edges again from the turns; see `Memory.rebuild`."""
        await self._run(self._core.rebuild(self._told(progress), reread=reread))

    async def reembed(self, embedder: Embedder, *, progress: Progress | None = None) -> None:
        """Switch to another embedder and embed every turn and fact with it; see `Memory.reembed`."""
        await self._run(self._core.reembed(embedder, self._told(progress)))

    async def turn(self, id: str) -> Turn:
        """Return the stored turn of this `id`; see `Memory.turn`."""
        return await self._in_worker(partial(self._memory.turn, id))

    async def context(self, id: str, before: int = 2, after: int = 2) -> tuple[Turn, ...]:
        """Return a turn with its neighbours in its session, in dialogue order; see `Memory.context`."""
        return await self._in_worker(partial(self._memory.context, id, before, after))

    async def neighbours(self, id: str, limit: int = 10) -> list[Hit]:
        """Return the turns one edge away from a turn, best first (E4); see `Memory.neighbours`."""
        return await self._run(self._core.neighbours(id, limit))

    async def facts(
        self, turns: Sequence[str] | None = None, *, about: str | None = None, current: bool = False
    ) -> tuple[Fact, ...]:
        """Return the facts of turns, or those about a person or thing, newest first; see `Memory.facts`."""
        return await self._run(self._core.facts(turns, about, current=current))

    async def now(self) -> datetime:
        """Return the wall clock as a time that this memory takes; see `Memory.now`."""
        return await self._in_worker(self._memory.now)

    async def keep_trace(self, trace: Trace) -> int:
        """Store a `trace` in the memory and return its number; see `Memory.keep_trace`."""
        return await self._in_worker(partial(self._memory.keep_trace, trace))

    async def rekey(self, key: bytes | str) -> None:
        """Encrypt the memory with another key; see `Memory.rekey`."""
        await self._in_worker(partial(self._memory.rekey, key))

    async def trace(self, number: int | None = None) -> Trace:
        """Return the stored trace of this `number`; by default the newest; see `Memory.trace`."""
        return await self._in_worker(partial(self._memory.trace, number))

    async def health(self) -> Health:
        """Return queued and failed jobs and known problems; see `Memory.health`."""
        return await self._in_worker(self._memory.health)

    async def check(self, *, repair: bool = False, progress: Progress | None = None) -> Health:
        """Verify every page, digest and derived row; reads the whole file; see `Memory.check`."""
        return await self._run(self._core.check(self._told(progress), repair=repair))

    async def stats(self) -> Stats:
        """Return counts, dates and the identity of the embedder; see `Memory.stats`."""
        return await self._run(self._core.stats())

    async def backup(self, path: str | PathLike[str]) -> None:
        """Copy the memory, as it is at one moment, into a new file at `path`; see `Memory.backup`."""
        await self._in_worker(partial(self._memory.backup, path))

    async def export(
        self, path: str | PathLike[str], *, format: ExportFormat = "jsonl", progress: Progress | None = None
    ) -> None:
        """Write every turn where `import_` reads it; only the owner can read what is written; see `Memory.export`."""
        await self._run(self._core.export(path, format, self._told(progress)))

    async def import_(self, path: str | PathLike[str], *, progress: Progress | None = None) -> AddReport:
        """Add the turns and facts of an export, once every line of it was validated; see `Memory.import_`."""
        return await self._run(self._core.import_(path, self._told(progress)))

    async def turns(  # noqa: PLR0913 - the filters
        self,
        *,
        session: str | None = None,
        speaker: str | None = None,
        role: str | None = None,
        before: TimeInput | None = None,
        after: TimeInput | None = None,
        where: Mapping[str, Any] | None = None,
        limit: int | None = None,
        newest: bool = False,
    ) -> list[Turn]:
        """Return turns in a list; see `Memory.turns`."""
        filters: dict[str, Any] = {"session": session, "speaker": speaker, "role": role, "where": where}
        limits: dict[str, Any] = {"before": before, "after": after, "limit": limit, "newest": newest}
        return await self._in_worker(lambda: list(self._memory.turns(**filters, **limits)))

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
        return cast("AsyncIterator[str | Reply]", require_model(self._model).stream(asked))

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
