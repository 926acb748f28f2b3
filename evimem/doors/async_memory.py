"""The door for an event loop, over the same flows as the other."""

from __future__ import annotations

import asyncio
import inspect
from collections import deque
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Collection, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import aclosing
from datetime import datetime
from functools import partial
from os import PathLike
from pathlib import Path
from types import TracebackType
from typing import Any, Literal, TypeVar, cast, overload

from ..calibration import Calibration, Labelled
from ..calibration.fit_map import FALSE_ABSTENTION, Wanted
from ..embedding import checked, checked_rows, failure
from ..errors import EvimemError
from ..flow import CollectBatch, Effect, Embed, Flow, StartBatch, arun, call
from ..ingest.deferred import give_facts
from ..protocols import Embedder
from ..types.answer import Answer
from ..types.budget import Budget
from ..types.model import Complete
from ..types.reports import AddReport, BatchReport, EraseReport, Estimate, Health, Stats
from ..types.stored import Job
from ..types.trace import Event, Trace
from ..types.values import Fact, Hit, Turn
from .memory import Memory, Progress, batched, price_of, turns_of
from .operations import Core, Moment, filters
from .streaming import Outcome, Streamed, astream, atold_by, is_told

T = TypeVar("T")


class AsyncMemory:
    """`Memory` for an event loop: the file is used from one worker thread, models and far embedders are awaited.

    Open one with `evimem.open_async`. What each method does stands at the method of the same name of `Memory`.
    """

    def __init__(self, core: Core, model: Any = None, worker: ThreadPoolExecutor | None = None) -> None:
        """Take a core, the model for an event loop, and the executor of one thread that uses the file."""
        self._core = core
        self._model = model
        self._worker = worker or ThreadPoolExecutor(1, thread_name_prefix="evimem")
        self._plain = Memory(core)

    async def add(  # noqa: PLR0913 - the fields of a turn
        self,
        speaker: str,
        text: str,
        *,
        time: Moment,
        session: str | None = None,
        id: str | None = None,
        caption: str | None = None,
        role: str | None = None,
        metadata: dict[str, Any] | None = None,
    ) -> AddReport:
        """Keep one turn."""
        turn = Turn(id or "", session or "", speaker, text, cast(datetime, time), caption, role, metadata or {})
        return await self.extend([turn], strict=True)

    async def extend(
        self, turns: Iterable[Turn], *, strict: bool = False, progress: Progress | None = None
    ) -> AddReport:
        """Keep many turns."""
        return AddReport.of_all(await self._each(self._core.extend(turns, strict=strict), progress, turns_of))

    async def search(  # noqa: PLR0913 - the filters
        self,
        query: str,
        k: int = 10,
        *,
        before: Moment | None = None,
        after: Moment | None = None,
        speaker: str | None = None,
        session: str | None = None,
        exclude: Collection[str] = (),
        asked_at: Moment | None = None,
    ) -> list[Hit]:
        """Return the k best turns for a text."""
        wanted = filters(before, after, speaker, session, exclude)
        return list(await self._run(self._core.search(query, k, wanted, asked_at)))

    @overload
    def ask(
        self, question: str, loop: str = ..., *, asked_at: Moment | None = ..., budget: Budget = ...
    ) -> Awaitable[Answer]: ...

    @overload
    def ask(
        self,
        question: str,
        loop: str = ...,
        *,
        asked_at: Moment | None = ...,
        budget: Budget = ...,
        stream: Literal[True],
    ) -> AsyncIterator[Streamed]: ...

    def ask(
        self,
        question: str,
        loop: str = "iris",
        *,
        asked_at: Moment | None = None,
        budget: Budget = Budget(),
        stream: bool = False,
    ) -> Awaitable[Answer] | AsyncIterator[Streamed]:
        """Answer from memory, or abstain with a reason: to be awaited, or with `stream` iterated over."""
        if not stream:
            return self._run(self._core.ask(question, loop, asked_at, budget))
        told: deque[Event] = deque()
        return astream(self._core.ask(question, loop, asked_at, budget, told.append), told, self._telling)

    async def forget(
        self,
        turns: Sequence[str] | None = None,
        *,
        session: str | None = None,
        before: Moment | None = None,
        as_in: str | PathLike[str] | None = None,
        everything: bool = False,
    ) -> EraseReport:
        """Erase turns with everything they led to."""
        return await self._away(partial(self._core.forget, turns, session, before, as_in, everything=everything))

    async def enrich(self, *, progress: Progress | None = None) -> int:
        """Do the work that turns are still owed."""
        done = sum(await self._each(self._core.owed(), progress, int))
        indexing = self._core.store.index_vectors()
        while indexed := await self._away(partial(next, indexing, 0)):
            done += indexed
            if progress:
                progress(indexed)
        pages = self._core.jobs()
        while jobs := await self._away(partial(next, pages, None)):
            done += await self._read_all(jobs, progress)
        return done

    async def enrich_batch(self) -> BatchReport:
        """Have turns read by the provider's Batch API: collect what is done, hand in what is owed."""
        return await self._run(await self._away(self._core.batch))

    async def estimate(self, price: tuple[float, float] | None = None) -> Estimate:
        """Return what `enrich` with a model would take."""
        return await self._away(partial(self._core.estimate, price or price_of(getattr(self._model, "model", None))))

    async def calibrate(
        self,
        questions: Iterable[Labelled],
        *,
        false_abstention: float = FALSE_ABSTENTION,
        precision: float | None = None,
        keep: bool = True,
        progress: Progress | None = None,
    ) -> Calibration:
        """Fit this memory's probabilities to labelled questions, and use them from then on."""
        wanted = Wanted(false_abstention, precision)
        return await self._run(self._core.calibrate(questions, wanted, keep=keep, progress=progress))

    async def calibration(self) -> Calibration | None:
        """Return the calibration that is in force, if any."""
        return await self._away(self._core.calibration)

    async def rebuild(self, *, reread: bool = False) -> None:
        """Derive everything again from the turns; with `reread`, drop what a model found, and owe it anew."""
        await self._away(partial(self._core.store.rebuild, self._core.extractor, reread=reread))
        await self.enrich()

    async def reembed(self, embedder: Embedder, *, progress: Progress | None = None) -> None:
        """Switch to another embedder."""
        await self._away(partial(self._core.change_embedder, embedder))
        await self.enrich(progress=progress)

    async def turn(self, id: str) -> Turn:
        """Return a stored turn."""
        return await self._away(partial(self._plain.turn, id))

    async def context(self, id: str, before: int = 2, after: int = 2) -> tuple[Turn, ...]:
        """Return a turn with those around it in its session."""
        return await self._away(partial(self._plain.context, id, before, after))

    async def neighbours(self, id: str, limit: int = 10) -> list[Hit]:
        """Return the turns one edge away from one."""
        return await self._away(partial(self._plain.neighbours, id, limit))

    async def facts(self, turns: Sequence[str]) -> tuple[Fact, ...]:
        """Return the facts of these turns."""
        return await self._away(partial(self._plain.facts, turns))

    async def turns(self) -> list[Turn]:
        """Return every turn, in order of arrival."""
        return await self._away(lambda: list(self._plain.turns()))

    async def keep_trace(self, trace: Trace) -> int:
        """Store a trace in the memory."""
        return await self._away(partial(self._plain.keep_trace, trace))

    async def trace(self, number: int | None = None) -> Trace:
        """Return a stored trace."""
        return await self._away(partial(self._plain.trace, number))

    async def health(self) -> Health:
        """Say whether everything that was acknowledged is also derived."""
        return await self._away(self._plain.health)

    async def check(self, *, repair: bool = False, progress: Progress | None = None) -> Health:
        """Verify every digest and derived row."""
        return await self._away(partial(self._plain.check, repair=repair, progress=progress))

    async def stats(self) -> Stats:
        """Return counts and dates."""
        return await self._away(self._plain.stats)

    async def backup(self, path: str | PathLike[str]) -> None:
        """Copy the memory into a new file."""
        await self._away(partial(self._plain.backup, path))

    async def export(self, path: str | PathLike[str], *, progress: Progress | None = None) -> None:
        """Write every turn with its facts as lines of JSON."""
        await self._away(partial(self._plain.export, path, progress=progress))

    async def import_(self, path: str | PathLike[str], *, progress: Progress | None = None) -> AddReport:
        """Read an export."""
        return AddReport.of_all(await self._each(self._core.import_(Path(path)), progress, turns_of))

    async def close(self) -> None:
        """Close the file and end the worker thread."""
        await self._away(self._plain.close)
        self.end_worker()

    def end_worker(self) -> None:
        """End the worker thread and leave the file open, for an owner of the file that outlives this door."""
        self._worker.shutdown(wait=True)

    async def __aenter__(self) -> AsyncMemory:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()

    def __repr__(self) -> str:
        return f"<evimem.AsyncMemory {str(self._core.store.path)!r}>"

    async def _each(self, flows: Iterable[Flow[T]], progress: Progress | None, size: Callable[[T], int]) -> list[T]:
        results = []
        pending = iter(flows)
        while (flow := await self._away(partial(next, pending, None))) is not None:
            results.append(await self._run(flow))
            if progress:
                progress(size(results[-1]))
        return results

    async def _run(self, flow: Flow[T]) -> T:
        return await arun(flow, self._perform)

    async def _read_all(self, jobs: Sequence[Job], progress: Progress | None) -> int:
        done = 0
        tasks = [asyncio.ensure_future(self._run(give_facts(job))) for job in jobs]
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

    async def _telling(self, effect: Effect) -> AsyncGenerator[str | Outcome, None]:
        if isinstance(effect, Complete) and is_told(effect):
            async with aclosing(atold_by(self._model, effect)) as pieces:
                async for piece in pieces:
                    yield piece
        else:
            yield Outcome(await self._perform(effect))

    async def _perform(self, effect: Effect) -> object:
        if isinstance(effect, Complete):
            return await self._model.complete(effect)
        if isinstance(effect, (StartBatch, CollectBatch)):
            return await asyncio.to_thread(batched, getattr(self._model, "model", self._model), effect)
        if isinstance(effect, Embed):
            return await self._embed(effect.texts)
        return await self._away(partial(call, self._core.store, effect))

    async def _embed(self, texts: Sequence[str]) -> object:
        embedder: Any = self._core.embedder
        if not inspect.iscoroutinefunction(embedder.embed):
            return await self._away(partial(checked, embedder, texts))
        try:
            rows = await embedder.embed(texts)
        except EvimemError:
            raise
        except Exception as error:
            raise failure(embedder, error) from error
        return checked_rows(embedder, rows, len(texts))

    async def _away(self, call: Callable[[], T]) -> T:
        # Shielded: a cancelled caller must not leave a half-done call that nobody waits for before close().
        return await asyncio.shield(asyncio.get_running_loop().run_in_executor(self._worker, call))
