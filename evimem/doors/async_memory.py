"""`AsyncMemory`: the public class for an event loop, over the same flows as `Memory`."""

from __future__ import annotations

import asyncio
import inspect
from collections import deque
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Collection, Iterable, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from contextlib import aclosing, nullcontext
from contextvars import copy_context
from datetime import datetime
from functools import partial
from os import PathLike
from types import TracebackType
from typing import Any, Literal, TypeVar, cast, overload

from ..calibration import Calibration, Labelled
from ..calibration.fit_map import FALSE_ABSTENTION, Wanted
from ..embedding import checked, checked_rows, failure
from ..errors import EvimemError
from ..flow import Awaited, Effect, Embed, Ended, Flow, Step, advance, answered_later
from ..loops.task import Loop
from ..protocols import Embedder
from ..types.answer import Answer
from ..types.block import Block, CountTokens, Style
from ..types.budget import Budget
from ..types.model import Complete
from ..types.reports import AddReport, BatchReport, EnrichReport, EraseReport, Estimate, Health, Stats
from ..types.stored import Job
from ..types.trace import Event, Trace
from ..types.values import Fact, Hit, Turn
from .checked_arguments import OnEvent, Progress, checked_form, checked_on_event, checked_progress
from .memory import Memory, perform_batch, price_of, turn_count
from .operations import Core, Lending, TimeInput, filters, needed, scope_of, workers_for
from .streaming import EffectResult, Streamed, astream, astream_answer, both, is_streamed

T = TypeVar("T")
A = TypeVar("A")


class AsyncMemory:
    """`Memory` for an event loop: one worker thread reads, judges and writes; models and remote embedders are awaited.

    Open one with `evimem.open_async`, and use it in an `async with` block or await `close`. Each method takes the
    arguments of the method of the same name of `Memory`, described there, and raises the same exceptions. An instance
    belongs to one event loop; `on_event` and `progress` functions are called on it. Cancelling a call never interrupts
    a transaction.
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
        self._sync = Memory(core)
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
        """Store one turn; see `Memory.add`.

        Raises:
            InvalidTurn: A field is not as described there.
            TurnConflict: `id` is stored already with other content.
            DimensionMismatch: The embedder returned vectors of another width than it declares.
        """
        turn = Turn(id or "", session or "", speaker, text, cast(datetime, time), caption, role, metadata or {})
        return await self.extend([turn], strict=True)

    async def extend(
        self,
        turns: Iterable[Turn],
        *,
        strict: bool = False,
        replace: bool = False,
        progress: Progress | None = None,
    ) -> AddReport:
        """Store many turns, in batches of one transaction each; see `Memory.extend`.

        Raises:
            InvalidTurn: With `strict`, a turn is not as `Memory.add` describes.
            TurnConflict: With `strict`, an id is stored already with other content; not with `replace`.
            DimensionMismatch: The embedder returned vectors of another width than it declares.
        """
        return AddReport.of_all(
            await self._run_each(self._core.extend(turns, strict=strict, replace=replace), progress, turn_count)
        )

    async def update(self, id: str, text: str) -> AddReport:
        """Give a turn another text; see `Memory.update`.

        Raises:
            UnknownTurn: There is no such turn.
            InvalidTurn: The text is not as `Memory.add` describes; the old one stays.
            DimensionMismatch: The embedder returned vectors of another width than it declares.
        """
        return await self._run(self._core.update(id, text))

    async def remember(
        self,
        messages: Iterable[Mapping[str, Any]],
        *,
        session: str | None = None,
        time: TimeInput | None = None,
        strict: bool = False,
        again: bool = False,
    ) -> AddReport:
        """Store messages as chat APIs take them, each once; see `Memory.remember`.

        Raises:
            InvalidTurn: One of the messages is no message, a new one has no time, or one is refused with `strict`.
            InvalidQuery: An argument is not as described there.
            DimensionMismatch: The embedder returned vectors of another width than it declares.
        """
        batches = self._core.remember(messages, session, time, strict=strict, again=again)
        return AddReport.of_all(await self._run_each(batches, None, turn_count))

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
        on_event: OnEvent | None = None,
    ) -> list[Hit]:
        """Return the k best turns for a query, best first; see `Memory.search`.

        Raises:
            InvalidQuery: The query, k or a filter is not as described there.
            EmbedderError: The embedder cannot be reached. A query that it refuses is searched for by its words.
            DimensionMismatch: The embedder returned a vector of another width than it declares.
        """
        wanted = filters(before, after, scope_of(session, speaker, role, where), exclude)
        hears = self._told(checked_on_event(on_event))
        return list(await self._run(self._core.search(query, k, wanted, asked_at, hears)))

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
        """Answer a question from memory, or abstain with a reason; see `Memory.ask`.

        Returns:
            An awaitable of the `Answer`; with `stream` an async iterator, to be used without awaiting it first.

        Raises:
            InvalidQuery: The question, loop, `asked_at` or budget is not as described there.
            NoModel: A loop of your own asks a model, and the memory was opened without.
            ModelError: The model failed; `partial` of the error is an `Answer` with the evidence so far. Not raised
                with `on_model_error="offline"`.
            EmbedderError: The embedder cannot be reached. A query that it refuses is searched for by its words.
            DimensionMismatch: The embedder returned a vector of another width than it declares.
        """
        within = scope_of(session, speaker, role, where)
        hears = self._told(checked_on_event(on_event))
        if not stream:
            return self._run(self._core.ask(question, loop, asked_at, budget, within, hears))
        events: deque[Event] = deque()
        asking = self._core.ask(question, loop, asked_at, budget, within, both(events.append, hears))
        return astream(asking, events, self._advance, self._perform_streamed, self._leave)

    async def block(  # noqa: PLR0913 - the filters
        self,
        question_or_messages: str | Iterable[Mapping[str, Any]],
        *,
        tokens: int = 1500,
        style: Style = "plain",
        count: CountTokens | None = None,
        gate: bool = True,
        check: bool = False,
        session: str | None = None,
        speaker: str | None = None,
        role: str | None = None,
        where: Mapping[str, Any] | None = None,
        asked_at: TimeInput | None = None,
        exclude: Collection[str] = (),
    ) -> Block:
        """Return the few lines from memory that help to reply to a message, or none; see `Memory.block`.

        Raises:
            InvalidQuery: An argument is not as described there.
            EmbedderError: The embedder cannot be reached. A query that it refuses is searched for by its words.
            DimensionMismatch: The embedder returned a vector of another width than it declares.
        """
        form = checked_form(tokens, style, count, gate=gate, check=check)
        within = scope_of(session, speaker, role, where)
        return await self._run(self._core.block(question_or_messages, form, asked_at, exclude, within))

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
        """Erase turns with everything derived from them; see `Memory.forget`.

        Raises:
            InvalidQuery: None or several of the arguments were given, or one is not as described there.
            UnknownTurn: An id of `turns` is not stored; nothing is erased.
        """
        forget = partial(self._core.forget, turns, session, before, speaker, where, as_in, everything=everything)
        return await self._in_worker(forget)

    async def enrich(self, *, retry_now: bool = False, progress: Progress | None = None) -> EnrichReport:
        """Process queued jobs: facts, embeddings, edges, facts extracted by a model; see `Memory.enrich`.

        Raises:
            ModelError: The model cannot be reached or refuses every request. Unfinished jobs stay queued.
            EmbedderError: The embedder cannot be reached. Unfinished jobs stay queued.
            DimensionMismatch: The embedder returned vectors of another width than it declares.
        """
        if retry_now:
            await self._in_worker(self._core.store.retry_now)
        done = sum(await self._run_each(self._core.process_queue(), progress, int))
        indexing = self._core.store.index_vectors()
        while indexed := await self._in_worker(partial(next, indexing, 0)):
            done += indexed
            if progress:
                progress(indexed)
        pages = self._core.extraction_jobs()
        try:
            while jobs := await self._in_worker(partial(next, pages, None)):
                done += await self._extract_all(jobs, progress)
        finally:
            await self._in_worker(pages.close)
        return await self._in_worker(partial(self._core.enriched, done))

    async def enrich_batch(self) -> BatchReport:
        """Collect finished batches of the provider's Batch API and submit new ones; see `Memory.enrich_batch`.

        Raises:
            InvalidQuery: The memory was opened without `llm`, or that model has no batch service.
            ModelError: The provider cannot be reached or refuses the batch.
        """
        return await self._run(await self._in_worker(self._core.batch))

    async def estimate(self, price: tuple[float, float] | None = None) -> Estimate:
        """Estimate what `enrich` with a model would request and cost; see `Memory.estimate`."""
        return await self._in_worker(
            partial(self._core.estimate, price_of(getattr(self._model, "model", None)) if price is None else price)
        )

    async def calibrate(
        self,
        questions: Iterable[Labelled],
        *,
        false_abstention: float = FALSE_ABSTENTION,
        precision: float | None = None,
        keep: bool = True,
        progress: Progress | None = None,
    ) -> Calibration:
        """Fit this memory's probabilities to labelled questions, and use them from then on; see `Memory.calibrate`.

        Raises:
            InvalidQuery: There are too few questions, or an argument is not as described there.
            ModelError: The model failed on a question; nothing is stored.
            EmbedderError: The embedder failed on a question; nothing is stored.
        """
        wanted = Wanted(false_abstention, precision)
        told = self._told(checked_progress(progress))
        return await self._run(self._core.calibrate(questions, wanted, keep=keep, progress=told))

    async def calibration(self) -> Calibration | None:
        """Return the calibration that `ask` uses; None if there is none for this judge and embedder."""
        return await self._in_worker(self._core.calibration)

    async def rebuild(self, *, reread: bool = False, progress: Progress | None = None) -> None:
        """Derive facts, postings, columns and edges again from the turns, then `enrich`; see `Memory.rebuild`.

        Raises:
            StoreCorrupt: A turn is not what was stored; nothing is changed.
            ModelError: As `enrich`.
            EmbedderError: As `enrich`.
        """
        await self._in_worker(partial(self._core.rebuild, reread=reread, progress=progress))
        await self.enrich()

    async def reembed(self, embedder: Embedder, *, progress: Progress | None = None) -> None:
        """Switch to another embedder and embed every turn and fact with it; see `Memory.reembed`.

        Raises:
            EmbedderError: The embedder cannot be reached; `enrich` continues from there.
            DimensionMismatch: The embedder returned vectors of another width than it declares.
            ModelError: As `enrich`, if the memory has a model.
        """
        await self._in_worker(partial(self._core.change_embedder, embedder))
        await self.enrich(progress=progress)

    async def turn(self, id: str) -> Turn:
        """Return a stored turn; see `Memory.turn`.

        Raises:
            UnknownTurn: There is no such turn.
        """
        return await self._in_worker(partial(self._sync.turn, id))

    async def context(self, id: str, before: int = 2, after: int = 2) -> tuple[Turn, ...]:
        """Return a turn with its neighbours in its session; see `Memory.context`.

        Raises:
            UnknownTurn: There is no such turn.
        """
        return await self._in_worker(partial(self._sync.context, id, before, after))

    async def neighbours(self, id: str, limit: int = 10) -> list[Hit]:
        """Return the turns one edge away from a turn, best first; see `Memory.neighbours`.

        Raises:
            UnknownTurn: There is no such turn.
        """
        return list(await self._run(self._core.neighbours(id, limit)))

    async def facts(
        self, turns: Sequence[str] | None = None, *, about: str | None = None, current: bool = False
    ) -> tuple[Fact, ...]:
        """Return the facts of turns, or the profile of a person or thing; see `Memory.facts`.

        Raises:
            UnknownTurn: One of the ids is not stored.
            InvalidQuery: Both or neither of `turns` and `about` were given, or they are no collection and no name.
        """
        return await self._run(self._core.facts(turns, about, current=current))

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
        """Return the turns of `Memory.turns` as a list, all of it in memory; see `Memory.turns`.

        Raises:
            InvalidQuery: An argument is not as described there.
        """
        within = scope_of(session, speaker, role, where)
        listed = partial(self._core.turns, within, before, after, limit, newest=newest)
        return await self._in_worker(lambda: list(listed()))

    async def now(self) -> datetime:
        """Return the wall clock as a time that this memory takes; see `Memory.now`.

        Raises:
            InvalidQuery: The `clock` that the memory was opened with gives no time of the calendar.
        """
        return await self._in_worker(self._core.now)

    async def keep_trace(self, trace: Trace) -> int:
        """Store a trace in the memory and return its number; see `Memory.keep_trace`.

        Raises:
            UnknownTurn: The trace cites a turn that is not stored, such as one that was forgotten since.
            TraceMismatch: The words of a turn that it read were replaced since.
        """
        return await self._in_worker(partial(self._sync.keep_trace, trace))

    async def trace(self, number: int | None = None) -> Trace:
        """Return a stored trace, by default the newest; see `Memory.trace`.

        Raises:
            InvalidQuery: There is no such trace, or none at all.
        """
        return await self._in_worker(partial(self._sync.trace, number))

    async def health(self) -> Health:
        """Return queued and failed jobs and known problems; see `Memory.health`."""
        return await self._in_worker(self._sync.health)

    async def check(self, *, repair: bool = False, progress: Progress | None = None) -> Health:
        """Verify every page, digest and derived row; see `Memory.check`.

        Raises:
            StoreCorrupt: With `repair`, a turn is not what was stored; nothing is changed.
        """
        return await self._in_worker(partial(self._sync.check, repair=repair, progress=progress))

    async def stats(self) -> Stats:
        """Return counts, dates and the identity of the embedder."""
        return await self._run(self._core.stats())

    async def backup(self, path: str | PathLike[str]) -> None:
        """Copy the memory, as it is at one moment, into a new file; see `Memory.backup`.

        Raises:
            StoreError: `path` exists already; a backup never overwrites a file.
            DiskFull: There is no room; no partial file is left.
        """
        await self._in_worker(partial(self._sync.backup, path))

    async def export(self, path: str | PathLike[str], *, progress: Progress | None = None) -> None:
        """Write every turn with its facts as lines of JSON; see `Memory.export`."""
        await self._run(self._core.export(path, progress))

    async def import_(self, path: str | PathLike[str], *, progress: Progress | None = None) -> AddReport:
        """Add the turns and facts of an export; see `Memory.import_`.

        Raises:
            ImportFailed: The file is no export, or a line of it is damaged; batches before that line are stored.
            DimensionMismatch: The embedder returned vectors of another width than it declares.
        """
        return AddReport.of_all(await self._run_each(self._core.import_(path), progress, turn_count))

    async def close(self) -> None:
        """Close the file and end the worker thread. Other methods must not be called afterwards."""
        await self._in_worker(self._sync.close)
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
        return f"<evimem.AsyncMemory {str(self._core.store.path)!r}>"

    async def _run_each(self, flows: Iterable[Flow[T]], progress: Progress | None, size: Callable[[T], int]) -> list[T]:
        results = []
        checked_progress(progress)
        pending = iter(flows)
        while (flow := await self._in_worker(partial(next, pending, None))) is not None:
            results.append(await self._run(flow))
            if progress:
                progress(size(results[-1]))
        return results

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
        return await self._in_worker(partial(advance, flow, step, self._perform_here, self._is_awaited))

    def _leave(self, flow: Flow[Any]) -> None:
        """Close a flow that has not ended: in the worker, which may still run it for a caller that was cancelled."""
        if inspect.getgeneratorstate(flow) == inspect.GEN_CLOSED:
            return
        try:
            self._worker.submit(flow.close)
        except RuntimeError:  # the worker has ended, and runs nothing any more
            flow.close()

    def _told(self, tell: Callable[[A], object] | None) -> Callable[[A], None] | None:
        """Return what has the event loop call a function of the caller's, and the worker wait for it."""
        return None if tell is None else partial(self._tell, tell)

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

    async def _extract_all(self, jobs: Sequence[Job], progress: Progress | None) -> int:
        done, places = 0, asyncio.Semaphore(workers_for(getattr(self._model, "model", self._model)))

        async def extract(job: Job) -> int:
            async with places:
                return await self._run(self._core.extract(job))

        tasks = [asyncio.ensure_future(extract(job)) for job in jobs]
        try:
            for task in asyncio.as_completed(tasks):
                done += await task
                if progress:
                    progress(1)
        finally:
            for left in tasks:
                left.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
        return done

    async def _perform_streamed(self, effect: Effect) -> AsyncGenerator[str | EffectResult, None]:
        if isinstance(effect, Complete) and is_streamed(effect):
            with self._lending():
                async with aclosing(astream_answer(needed(self._model), effect)) as pieces:
                    async for piece in pieces:
                        yield piece
        else:
            yield EffectResult(await self._perform(effect))

    def _is_awaited(self, effect: Effect) -> bool:
        """Return whether an effect is one of the event loop's."""
        if isinstance(effect, Embed):
            return self._core.remote or inspect.iscoroutinefunction(self._core.embedder.embed)
        return True

    def _perform_here(self, effect: Effect) -> object:
        assert isinstance(effect, Embed)
        return checked(self._core.embedder, effect.texts)

    async def _perform(self, effect: Effect) -> object:
        if isinstance(effect, Embed) and not self._core.remote:
            return await self._embed(effect.texts)
        with self._lending():
            if isinstance(effect, Complete):
                return await needed(self._model).complete(effect)
            if isinstance(effect, Embed):
                return await self._embed(effect.texts)
            assert not isinstance(effect, Awaited)  # a memory is no backend of the caller's
            return await asyncio.to_thread(perform_batch, getattr(self._model, "model", self._model), effect)

    async def _embed(self, texts: Sequence[str]) -> object:
        embedder: Any = self._core.embedder
        if not inspect.iscoroutinefunction(embedder.embed):
            return await self._in_worker(partial(checked, embedder, texts))
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
        within = copy_context()  # so that what is observed there belongs to what the caller is doing
        return await asyncio.shield(self._loop.run_in_executor(self._worker, within.run, call))
