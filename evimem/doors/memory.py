"""The door for ordinary code."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from datetime import datetime
from os import PathLike
from pathlib import Path
from threading import Event as Flag
from types import TracebackType
from typing import Any, Literal, TypeVar, cast, overload

from ..calibration import Calibration, Labelled
from ..calibration.fit_map import FALSE_ABSTENTION, Wanted
from ..embedding import checked
from ..errors import InvalidQuery
from ..flow import CollectBatch, Effect, Embed, Flow, StartBatch, call, run
from ..ingest.deferred import give_facts
from ..protocols import Embedder
from ..types.answer import Answer
from ..types.budget import Budget
from ..types.model import Complete
from ..types.reports import AddReport, BatchReport, EraseReport, Estimate, Health, Stats
from ..types.stored import Job
from ..types.trace import Event, Trace
from ..types.values import Fact, Hit, Turn
from .operations import AT_ONCE, Core, Moment, filters
from .streaming import Outcome, Streamed, is_told, told_by
from .streaming import stream as streamed

T = TypeVar("T")
Progress = Callable[[int], None]


class Memory:
    """One conversation's memory: keeps turns, finds evidence, answers with citations or abstains.

    Open one with `evimem.open`. Every method may be called from any thread, and several processes may hold the same
    file open: each search sees every turn that was committed before it began.
    """

    def __init__(self, core: Core, model: Any = None) -> None:
        self._core = core
        self._model = model

    def add(  # noqa: PLR0913 - the fields of a turn
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
        """Keep one turn: durable and searchable when this returns. See `Turn` for the fields.

        Raise InvalidTurn for a turn that cannot be kept, TurnConflict for an id that names other content.
        """
        turn = Turn(id or "", session or "", speaker, text, cast(datetime, time), caption, role, metadata or {})
        return self.extend([turn], strict=True)

    def extend(self, turns: Iterable[Turn], *, strict: bool = False, progress: Progress | None = None) -> AddReport:
        """Keep many turns, a batch a transaction; what was kept before stays as it is.

        A turn that cannot be kept is reported as refused, or raised with `strict`. `progress` is called with the
        number of turns of each batch once it is durable.
        """
        return AddReport.of_all(self._each(self._core.extend(turns, strict=strict), progress, turns_of))

    def search(  # noqa: PLR0913 - the filters
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
        """Return the k best turns for a text, best first. The filters are hard; words in the query are soft hints.

        `before` and `after` compare the time of the event where a turn's facts have one, else the time it was said.
        """
        wanted = filters(before, after, speaker, session, exclude)
        return list(self._run(self._core.search(query, k, wanted, asked_at)))

    @overload
    def ask(self, question: str, loop: str = ..., *, asked_at: Moment | None = ..., budget: Budget = ...) -> Answer: ...

    @overload
    def ask(
        self,
        question: str,
        loop: str = ...,
        *,
        asked_at: Moment | None = ...,
        budget: Budget = ...,
        stream: Literal[True],
    ) -> Iterator[Streamed]: ...

    def ask(
        self,
        question: str,
        loop: str = "iris",
        *,
        asked_at: Moment | None = None,
        budget: Budget = Budget(),
        stream: bool = False,
    ) -> Answer | Iterator[Streamed]:
        """Answer from memory, or abstain with a reason. `asked_at` is today; by default the newest turn's time.

        With `stream`, return an iterator: trace events and words of the answer as they come and, last, the `Answer`.
        """
        if not stream:
            return self._run(self._core.ask(question, loop, asked_at, budget))
        told: deque[Event] = deque()
        return streamed(self._core.ask(question, loop, asked_at, budget, told.append), told, self._telling)

    def forget(
        self,
        turns: Sequence[str] | None = None,
        *,
        session: str | None = None,
        before: Moment | None = None,
        as_in: str | PathLike[str] | None = None,
        everything: bool = False,
    ) -> EraseReport:
        """Erase turns by id, by session, by when they were said, or all of them, with everything they led to.

        `as_in` is the path of another copy of this memory: in a backup, what that one has forgotten since is forgotten
        too. Facts that were linked to what goes are linked anew: at once, or in a large memory by `enrich`.
        """
        return self._core.forget(turns, session, before, as_in, everything=everything)

    def enrich(self, *, progress: Progress | None = None) -> int:
        """Do the work that turns are still owed; return how many jobs were worked on. Safe to interrupt and to repeat.

        That is vectors of a far embedder, links of a large memory, and its vector index (from 500,000 turns on). With
        an `llm`, it is asked for the facts of every turn that it has not read yet. Raise ModelError where it cannot
        be reached: what was done is kept, the rest stays queued.
        """
        done = sum(self._each(self._core.owed(), progress, int))
        for indexed in self._core.store.index_vectors():
            done += indexed
            if progress:
                progress(indexed)
        with ThreadPoolExecutor(AT_ONCE, thread_name_prefix="evimem-enrich") as workers:
            for jobs in self._core.jobs():
                done += self._read_all(workers, jobs, progress)
        return done

    def enrich_batch(self) -> BatchReport:
        """Have turns read by the provider's Batch API, at a lower price: collect what is done, hand in what is owed.

        A batch takes up to a day: call this again later, from any process, until the report says that none wait.
        """
        return self._run(self._core.batch())

    def estimate(self, price: tuple[float, float] | None = None) -> Estimate:
        """Return what `enrich` with a model would take; `price` is dollars per million input and output tokens.

        Without a price, that of the model is taken, where it has one. Nothing is asked, and nothing is written.
        """
        return self._core.estimate(price or price_of(self._model))

    def calibrate(
        self,
        questions: Iterable[Labelled],
        *,
        false_abstention: float = FALSE_ABSTENTION,
        precision: float | None = None,
        keep: bool = True,
        progress: Progress | None = None,
    ) -> Calibration:
        """Fit this memory's probabilities to labelled questions, and use them from then on.

        Answers are withheld below a threshold that keeps the share of false abstentions, or with `precision` that of
        right answers; `keep=False` only reports. It holds for this judge and embedder: with others it is not used, and
        `health` says so. Each question is asked as `ask` does by default, with a model too. Raise InvalidQuery for
        fewer than 50 questions, or where the precision is out of reach.
        """
        wanted = Wanted(false_abstention, precision)
        return self._run(self._core.calibrate(questions, wanted, keep=keep, progress=progress))

    def calibration(self) -> Calibration | None:
        """Return the calibration that is in force, if any."""
        return self._core.calibration()

    def rebuild(self, *, reread: bool = False) -> None:
        """Derive everything again from the turns: rule facts, postings, columns and links. Vectors are kept.

        With `reread`, what a model found is dropped as if no model had read anything, and owed anew: use it after a
        model that read badly.
        """
        self._core.store.rebuild(self._core.extractor, reread=reread)
        self.enrich()

    def reembed(self, embedder: Embedder, *, progress: Progress | None = None) -> None:
        """Switch to another embedder; until its vectors are there, search goes by words. After a crash, enrich()."""
        self._core.change_embedder(embedder)
        self.enrich(progress=progress)

    def turn(self, id: str) -> Turn:
        """Return a stored turn. Raise UnknownTurn."""
        return self._core.store.read([id])[0]

    def context(self, id: str, before: int = 2, after: int = 2) -> tuple[Turn, ...]:
        """Return a turn with those around it in its session. Raise UnknownTurn."""
        return self._core.store.contexts([id], before, after)[0]

    def neighbours(self, id: str, limit: int = 10) -> list[Hit]:
        """Return the turns one edge away from one, the best edge first; `path` names it. Raise UnknownTurn."""
        return list(self._core.store.expand([id], limit))

    def facts(self, turns: Sequence[str]) -> tuple[Fact, ...]:
        """Return the facts of these turns. Raise UnknownTurn."""
        return self._core.store.facts(turns)

    def turns(self) -> Iterator[Turn]:
        """Yield every turn, in order of arrival."""
        return self._core.store.turns()

    def keep_trace(self, trace: Trace) -> int:
        """Store a trace in the memory; return its number. Forgetting a turn drops the traces that cite it."""
        return self._core.store.keep_trace(trace)

    def trace(self, number: int | None = None) -> Trace:
        """Return a stored trace, the newest without a number. Raise InvalidQuery where there is none."""
        return self._core.store.trace(number)

    def health(self) -> Health:
        """Say whether everything that was acknowledged is also derived."""
        return self._core.health()

    def check(self, *, repair: bool = False, progress: Progress | None = None) -> Health:
        """Verify every digest and derived row (reads the whole file); with `repair`, derive again what differs.

        `progress` is called with the number of turns that were looked at: every turn is, twice. Repairing never
        guesses at a turn: raise StoreCorrupt, and change nothing, where one is not what was stored.
        """
        return self._core.check(repair=repair, progress=progress or _untold)

    def stats(self) -> Stats:
        """Return counts and dates."""
        return self._core.store.stats()

    def backup(self, path: str | PathLike[str]) -> None:
        """Copy the memory, as it is at one moment, into a new file."""
        self._core.store.backup(Path(path))

    def export(self, path: str | PathLike[str], *, progress: Progress | None = None) -> None:
        """Write every turn with its facts as lines of JSON, into a file that only its owner can read.

        A file that is there is replaced, and keeps its permissions. `progress` is called with the number of turns
        written. Raise StoreError for the path of a database, a folder or a pipe, DiskFull or StoreReadOnly where the
        system refuses.
        """
        self._core.export(Path(path), progress or _untold)

    def import_(self, path: str | PathLike[str], *, progress: Progress | None = None) -> AddReport:
        """Read an export, once every line of it was found well-formed; turns that are there already stay as they are.

        A turn whose id names other content here is reported as refused. `progress` is called with the number of turns
        of each batch once it is durable; after a crash, repeating the call completes the import. Raise ImportFailed,
        with the line and having changed nothing, for a file that is no whole export.
        """
        return AddReport.of_all(self._each(self._core.import_(Path(path)), progress, turns_of))

    def close(self) -> None:
        """Close the file; a second call does nothing."""
        self._core.store.close()

    def __enter__(self) -> Memory:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"<evimem.Memory {str(self._core.store.path)!r}>"

    def _each(self, flows: Iterable[Flow[T]], progress: Progress | None, size: Callable[[T], int]) -> list[T]:
        results = []
        for flow in flows:
            results.append(self._run(flow))
            if progress:
                progress(size(results[-1]))
        return results

    def _run(self, flow: Flow[T]) -> T:
        return run(flow, self._perform)

    def _read_all(self, workers: ThreadPoolExecutor, jobs: Sequence[Job], progress: Progress | None) -> int:
        """Put turns to the model side by side; after a failure or an interrupt, none that has not begun."""
        done, over = 0, Flag()

        def read(job: Job) -> int:
            if over.is_set():
                return 0
            try:
                return self._run(give_facts(job))
            except BaseException:
                over.set()  # here, and not where it is waited for: the next one would have begun by then
                raise

        futures = [workers.submit(read, job) for job in jobs]
        try:
            for future in as_completed(futures):
                done += future.result()
                if progress:
                    progress(1)
        except KeyboardInterrupt:
            if hasattr(self._model, "close"):
                self._model.close()  # else the requests under way would hold the interrupt up until their deadline
            raise
        finally:
            for future in futures:
                future.cancel()
        return done

    def _telling(self, effect: Effect) -> Iterator[str | Outcome]:
        if isinstance(effect, Complete) and is_told(effect):
            yield from told_by(self._model, effect)
        else:
            yield Outcome(self._perform(effect))

    def _perform(self, effect: Effect) -> object:
        if isinstance(effect, Complete):
            return self._model.complete(effect)
        if isinstance(effect, (StartBatch, CollectBatch)):
            return batched(self._model, effect)
        if isinstance(effect, Embed):
            return checked(self._core.embedder, effect.texts)
        return call(self._core.store, effect)


def price_of(model: Any) -> tuple[float, float] | None:
    """Return the price of the model that reads turns, where it is known."""
    if model is None or not hasattr(model, "model_for"):
        return None
    price: tuple[float, float] | None = model.prices.get(model.model_for("extract"))
    return price


def batched(model: Any, effect: StartBatch | CollectBatch) -> Any:
    """Perform an effect that only a model with a batch service can. Raise InvalidQuery for one without."""
    if not hasattr(model, "start_batch"):
        raise InvalidQuery(f"{type(model).__name__} has no batch service; enrich() asks turn by turn")
    if isinstance(effect, StartBatch):
        return model.start_batch(effect.requests)
    return model.collect_batch(effect.batch_id, effect.requests)


def turns_of(report: AddReport) -> int:
    return len(report.statuses)


def _untold(turns: int) -> None:
    """What nobody asked to hear."""
