"""The operations that `Memory` and `AsyncMemory` share.

What may ask a model or an embedder is a flow, the rest are plain calls. A flow is a generator that yields what it asks
(see `evimem.flow`); `Memory` and `AsyncMemory` each perform that in their own way. What opening a file, a search and a
block do without (loops, judges, extraction, ingestion) is imported by the first call that needs it.
"""

from __future__ import annotations

import re
import sys
from collections import Counter
from collections.abc import Callable, Collection, Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, suppress
from dataclasses import replace
from datetime import datetime, timezone
from functools import cached_property, lru_cache, partial, wraps
from time import time
from typing import TYPE_CHECKING, Any, Concatenate, Literal, ParamSpec, TypeVar

from ..block.notes import FactReader
from ..block.question import Asked
from ..block.write_block import write_block
from ..db.jobs import PAGE
from ..embedding.static_embedder import forget_words
from ..errors import DiskFull, InvalidQuery, ModelError, NoModel, StoreError, StoreReadOnly, UnknownTurn, shown
from ..flow import Flow, Pause
from ..protocols import AsyncEmbedder, Embedder, Extractor
from ..query.analysis import check_asked
from ..query.find_turns import (
    EACH,
    OVERS,
    Filters,
    Over,
    Wish,
    asked_for,
    check_clock,
    interval,
    joined,
    turns_stating,
)
from ..raw import AS_GIVEN, LocalTimes
from ..store.keeper import Keeper
from ..store.user_code import as_callback, unwrap_callback_errors
from ..text.names import is_named_in
from ..times import Conventions
from ..types.answer import MOST, Answer, Block, BlockForm, Budget
from ..types.public_value import AnyPath
from ..types.reports import AddReport, BatchReport, EnrichReport, EraseReport, Estimate, Health, Stats
from ..types.stored import EARLIER, EVERYTHING, FactFilter, Job, JobKind, Listing, Scope
from ..types.trace import Found, Queried
from ..types.values import Fact, FactHit, Hit, Query, TimeSpan, Turn
from .checked_arguments import (
    OnEvent,
    Progress,
    checked_choice,
    checked_count,
    checked_exclude,
    checked_ids,
    checked_items,
    checked_kind,
    checked_messages,
    checked_on_event,
    checked_part,
    checked_path,
    checked_price,
    checked_progress,
    checked_question,
    checked_role,
    checked_share,
    checked_text,
    checked_where,
)
from .streaming import both
from .watching import Observer, Operation, OperationName, Watch, store_name, tell_of_backlog, warn_of_unread

if TYPE_CHECKING:
    from ..calibration import Calibration, Labelled
    from ..calibration.apply_calibration import CalibrationTarget, LabelledQuestion
    from ..calibration.calibration_report import Wanted
    from ..ingest.add import Ingestion
    from ..judging.judge import Judge
    from ..loops.task import Loop
    from ..offline.offline_judge import OfflineJudge

PACKAGE = __name__.partition(".")[0]
CACHED = type(lru_cache(len))  # the type of every function with a cache
T = TypeVar("T")
P = ParamSpec("P")
TimeInput = datetime | str
Moment = Callable[[], datetime | None]
NOW = "now"  # as a time: what the clock of the memory shows
OnModelError = Literal["raise", "offline"]
Lending = Callable[[], AbstractContextManager[None]]  # lets others have a place of a pool meanwhile
WORKERS = 16  # model requests of one enrich() at the same time
LEASE_SECONDS = 900.0  # for a page of jobs: several rounds of requests that each take all of a usual deadline
_FILE_STAYS = "another process has the memory open, so that its file stays, empty; erase it again when that has ended"
JOBS_PER_PAGE = 4 * WORKERS  # jobs read from the queue at a time; small, so that a slow reply delays few others


def clear_word_caches() -> None:
    """Empty every cache of words, and that of patterns: some are made from names."""
    for cache in word_caches():
        cache.cache_clear()
    forget_words()
    re.purge()


def word_caches() -> Iterator[Any]:
    """Yield every bounded `lru_cache` of the package that is loaded: none is left out because nobody listed it.

    A cache of one entry or without a bound (`functools.cache`) holds tables of the package, never words of turns.
    """
    for name, module in list(sys.modules.items()):
        if name.partition(".")[0] == PACKAGE:
            for value in list(vars(module).values()):
                if isinstance(value, CACHED) and (value.cache_parameters()["maxsize"] or 0) > 1:
                    yield value


def _erasing(
    name: OperationName,
) -> Callable[[Callable[Concatenate[Core, P], EraseReport]], Callable[Concatenate[Core, P], EraseReport]]:
    """Return what has a method that erases watched, and empties the caches of words, which may hold erased ones."""

    def decorate(erase: Callable[Concatenate[Core, P], EraseReport]) -> Callable[Concatenate[Core, P], EraseReport]:
        @wraps(erase)
        def watched(core: Core, /, *given: P.args, **named: P.kwargs) -> EraseReport:
            try:
                return core._watch(name).around(partial(erase, core, *given, **named))
            finally:
                clear_word_caches()

        return watched

    return decorate


class Core:
    """A store with its embedder, extractor and judge. Knows nothing of threads and event loops."""

    def __init__(  # noqa: PLR0913 - the parts
        self,
        store: Keeper,
        embedder: Embedder | AsyncEmbedder,
        judge: Judge | None = None,
        extractor: Extractor | None = None,
        model: str = "",
        on_model_error: OnModelError = "raise",
        clock: Callable[[], float] = time,
        *,
        observer: Observer | None = None,
    ) -> None:
        """Combine the parts; `judge` is None without a model, `model` is the name of the model that judges.

        `on_model_error` is what `ask` does where the model fails; `clock` returns seconds since 1970; `observer` hears
        of every call.
        """
        self.store = store
        self.embedder: Any = embedder
        self.judge = judge
        self.model = model
        self.on_model_error = on_model_error
        self.clock = clock
        self.observer = observer
        self.name: str = store_name(store.name)
        self._given = extractor

    @cached_property
    def extractor(self) -> Extractor:
        """What finds facts in a turn: the caller's, within bounds, or the rules."""
        from ..extract.rule_extractor import BoundedExtractor

        kept = self.store.conventions
        return BoundedExtractor(self._given, kept) if self._given else self.default_extractor(kept)

    @cached_property
    def offline(self) -> OfflineJudge:
        """What judges where there is no model, or it failed."""
        from ..offline.offline_judge import OfflineJudge

        return OfflineJudge(extractor=self.extractor)

    @staticmethod
    def default_extractor(conventions: Conventions = Conventions()) -> Extractor:
        """Return the extractor that finds facts by rules, without a model."""
        from ..extract.rule_extractor import RuleExtractor

        return RuleExtractor(conventions.weekday, conventions.date_order, conventions.zone)

    def extend(
        self, turns: Iterable[Turn], progress: Progress | None, *, strict: bool, replace: bool
    ) -> Flow[AddReport]:
        """Return the flow that stores turns in batches, each in one transaction."""
        batches = self._ingest(strict=strict, replace=bool(replace)).batches(turns)
        return _stored(self._watched("replace" if replace else "add", map(_forgetful, batches)), progress)

    def update(self, id: str, text: str) -> Flow[AddReport]:
        """Return the flow that puts another text in the place of a turn's. Raise UnknownTurn, InvalidTurn."""
        return self._watch("update").over(_forgetful(self._update(id, text)))

    def _update(self, id: str, text: str) -> Flow[AddReport]:
        (old,) = self.store.read([id])
        metadata = {name: value for name, value in old.metadata.items() if name != "message"}
        ingestion = self._ingest(strict=True, replace=True)
        return (yield from ingestion.store([old if text == old.text else replace(old, text=text, metadata=metadata)]))

    def remember(
        self,
        messages: Iterable[Mapping[str, Any]],
        session: str | None,
        time: TimeInput | None,
        *,
        again: bool = False,
        strict: bool = False,
    ) -> Flow[AddReport]:
        """Return the flow that stores messages. Raise InvalidTurn for one that is no message, InvalidQuery."""
        from ..ingest.remember import Remembering

        given = checked_messages(messages)
        moment, of = self._moment("time", time), checked_text("session", session) or ""
        ingestion = self._ingest(strict=strict)

        def batches() -> Iterator[Flow[AddReport]]:  # begun where the store may be waited for
            yield from Remembering(self.store, given, of, moment(), ingestion, again=again).batches()

        return _stored(self._watched("add", batches()))

    def import_(self, path: AnyPath, progress: Progress | None) -> Flow[AddReport]:
        """Return the flow that stores an export, once the whole file was validated; its facts are kept."""
        from ..ingest.import_file import import_batches

        times = self.store.times
        path = checked_path("path", path)
        own, jobs = self.extractor, self._jobs()
        batches = import_batches(self.store, path, own, deferred=self.remote, jobs=jobs, times=times)
        return _stored(self._watched("add", batches), progress)

    def _ingest(self, *, strict: bool = False, replace: bool = False) -> Ingestion:
        # Facts are read when they are first needed: see `_caught_up`. A remote embedder would hold up add(): its
        # vectors are queued. With a model, each turn waits to be extracted.
        from ..ingest.add import Ingestion

        times = self.store.times
        remote, jobs = self.remote, self._jobs()
        return Ingestion(
            self.store, None, strict=strict, replace=replace, deferred=remote, jobs=jobs, times=times, now=self.now
        )

    def search(
        self,
        query: str,
        k: int,
        filters: Filters,
        asked_at: TimeInput | None,
        over: Over = "turns",
        on_event: OnEvent | None = None,
    ) -> Flow[list[Hit]]:
        """Return the flow of a search; `on_event` is called with what is looked for, and with what was found."""
        moments = {name: self._moment(name, getattr(filters, name)) for name in ("before", "after")}
        moments["asked_at"] = self._moment("asked_at", asked_at)
        most, hears = checked_count("k", k, 1), checked_on_event(on_event)
        which = checked_choice("over", over, OVERS)
        return _as_list(self._watch("search", query).over(self._search(query, most, filters, moments, which, hears)))

    def _search(
        self,
        query: str,
        k: int,
        filters: Filters,
        moments: Mapping[str, Moment],
        over: Over,
        on_event: OnEvent | None,
    ) -> Flow[tuple[Hit, ...]]:
        within = replace(filters, before=moments["before"](), after=moments["after"]())
        if on_event is not None:
            check_asked("query", query)
            on_event(Queried(0, "search", query, k))
        asked = yield from asked_for(self.store, query, k, within, moments["asked_at"]())
        hits = yield from (self._recalled(asked) if over == "turns" else self._recalled_over(over, asked))
        if on_event is not None:
            facts = tuple(fact.id for hit in hits for fact in hit.facts)
            on_event(Found(0, "search", tuple(hit.turn.id for hit in hits), facts))
        return hits

    def search_facts(
        self,
        query: str,
        k: int,
        about: str | None,
        during: str | TimeSpan | None,
        scope: Scope,
        asked_at: TimeInput | None,
        *,
        current: bool,
    ) -> Flow[list[FactHit]]:
        """Return the flow of a search for facts."""
        moment, most = self._moment("asked_at", asked_at), checked_count("k", k, 1)
        if about is not None:
            check_asked("about", about)
        only = FactFilter(about, None, bool(current), named=True)
        return _as_list(self._watch("search", query).over(self._search_facts(query, most, only, during, scope, moment)))

    def _search_facts(
        self, query: str, k: int, only: FactFilter, during: str | TimeSpan | None, scope: Scope, asked_at: Moment
    ) -> Flow[tuple[FactHit, ...]]:
        yield from self._caught_up()
        today = asked_at()
        asked = yield from asked_for(self.store, query, k, Filters.within(scope, ()), today)
        within = None if during is None else interval(during, today or self.store.roster().last)
        return self.store.recall_facts(asked, replace(only, during=within))

    def ask(
        self,
        question: str,
        loop: str | Loop,
        asked_at: TimeInput | None,
        budget: Budget,
        scope: Scope = EVERYTHING,
        on_event: OnEvent | None = None,
    ) -> Flow[Answer]:
        """Return the flow of a question; `on_event` is called with each trace event as it is recorded."""
        wanted, hears = checked_kind("budget", budget, Budget), checked_on_event(on_event)
        watch = self._watch("ask", question)
        tell = watch.heard if hears is None else both(watch.heard, hears)
        return watch.over(self._ask(question, loop, self._moment("asked_at", asked_at), wanted, scope, tell))

    def _ask(
        self,
        question: str,
        loop: str | Loop,
        asked_at: Moment,
        budget: Budget,
        scope: Scope,
        on_event: OnEvent,
    ) -> Flow[Answer]:
        from ..calibration.apply_calibration import calibrated_judge
        from ..loops import answer_question

        today = asked_at()
        yield from self._caught_up()
        judge = calibrated_judge(self.store, self.calibration_target())
        # Wrapped, so that no error of the caller's is taken for one of the model or the embedder.
        hears = as_callback(on_event)
        asking = answer_question(
            question,
            store=self.store,
            judge=judge,
            loop=loop,
            asked_at=today,
            budget=budget,
            scope=scope,
            on_event=hears,
        )
        with unwrap_callback_errors():
            try:
                return (yield from asking)
            except ModelError as error:
                if self.on_model_error == "raise" or error.partial is None:
                    raise
                return (yield from self._fall_back(error, loop, today, budget, scope, hears))

    def _fall_back(
        self,
        error: ModelError,
        loop: str | Loop,
        asked_at: datetime | None,
        budget: Budget,
        scope: Scope,
        on_event: OnEvent,
    ) -> Flow[Answer]:
        from ..calibration.apply_calibration import calibrated_offline
        from ..loops import fall_back, remaining

        judge = calibrated_offline(self.store, self.offline, self.embedder.name)
        left = remaining(budget, error.partial)
        again = fall_back(
            error,
            store=self.store,
            judge=judge,
            loop=loop,
            asked_at=asked_at,
            budget=left,
            scope=scope,
            on_event=on_event,
        )
        return (yield from again)

    def block(
        self,
        question_or_messages: str | Iterable[Mapping[str, Any]],
        form: BlockForm,
        asked_at: TimeInput | None,
        exclude: Collection[str],
        scope: Scope = EVERYTHING,
    ) -> Flow[Block]:
        """Return the flow of a block for a prompt; it asks no chat model. Raise InvalidQuery."""
        asked = checked_question(question_or_messages)
        blocking = self._block(asked, form, self._moment("asked_at", asked_at), checked_exclude(exclude), scope)
        return self._watch("block", asked.text).over(blocking)

    def _block(
        self, asked: Asked, form: BlockForm, asked_at: Moment, exclude: frozenset[str], scope: Scope
    ) -> Flow[Block]:
        today = asked_at()
        facts = FactReader(self._stored, self._unread)
        if form.profile:
            yield from self._caught_up()
        known = partial(self._profile, exclude, scope) if form.profile else None
        block = yield from write_block(self.store, self._found, facts, asked, form, today, exclude, scope, known)
        if not form.check:
            return block
        from ..calibration.apply_calibration import calibrated_offline
        from ..loops.iris import judged
        from ..loops.task import Task

        yield from self._caught_up()
        judge = calibrated_offline(self.store, self.offline, self.embedder.name)
        found = yield from judged(Task(asked.text, judge, self.store, today, exclude=exclude, scope=scope))
        return replace(block, tier=found.tier, confidence=found.confidence, missing=found.missing)

    def _profile(self, exclude: frozenset[str], scope: Scope, names: Collection[str]) -> tuple[Wish, ...]:
        """Return the words that state the current facts of a profile of people, the newest first."""
        facts = [fact for name in names for fact in self._facts(None, name, current=True) if fact.kind != "image"]
        turns = {turn.id: turn for turn in self.store.find([fact.turn_id for fact in facts]) if turn}
        said = [(turns[fact.turn_id], fact.span) for fact in facts if fact.turn_id in turns]
        said = [
            (turn, span) for turn, span in said if not any(turn == one and _within(span, whole) for one, whole in said)
        ]
        return tuple(
            Wish(turn, turn.text[slice(*span)])
            for turn, span in dict.fromkeys(said)
            if turn.id not in exclude and scope.admits(turn)
        )

    def calibration_target(self) -> CalibrationTarget:
        """Return the judge of this memory with the names of its model and embedder."""
        from ..calibration.apply_calibration import CalibrationTarget

        return CalibrationTarget(self.judge or self.offline, self.model, self.embedder.name)

    def calibrate(
        self, questions: Iterable[Labelled], wanted: Wanted, *, keep: bool, progress: Callable[[int], None] | None
    ) -> Flow[Calibration]:
        """Return the flow of a calibration."""
        from ..calibration.apply_calibration import calibrate

        labelled = [self._labelled(one) for one in checked_items("questions", questions, "evimem.Labelled")]
        checked_share("false_abstention", wanted.false_abstention)
        checked_share("precision", wanted.precision)
        calls = checked_progress(progress)
        flow = calibrate(self.store, labelled, self.calibration_target(), wanted, keep=keep, progress=calls)
        return self._after_reading(flow)

    def _labelled(self, one: Labelled) -> LabelledQuestion:
        from ..calibration import Labelled
        from ..calibration.apply_calibration import LabelledQuestion

        checked_kind("a labelled question", one, Labelled)
        check_asked("question", one.question)
        if not isinstance(one.answerable, bool):
            raise InvalidQuery(f"answerable is {shown(one.answerable)}; expected True or False")
        return LabelledQuestion(one.question, one.answerable, self._time("asked_at", one.asked_at))

    def process_queue(self, progress: Progress | None, *, retry_now: bool) -> Flow[int]:
        """Process queued jobs of all kinds but "extract", until none is due, and the vector index; count them."""
        if retry_now:
            self.store.retry_now()
        done = sum((yield from _each(self._queued(), progress, int)))
        for indexed in self.store.index_vectors():
            done += indexed
            if progress:
                progress(indexed)
            yield Pause()
        return done

    def _queued(self) -> Iterator[Flow[int]]:
        from ..ingest.deferred import embed_pending, index_again, link_facts

        yield from map(self._read, self._each_once("facts"))
        yield from map(partial(index_again, self.store), self._each_once("terms"))
        while self.store.due("vector", 1):
            yield embed_pending(self.store)
        while self.store.due("link", 1):
            yield link_facts(self.store)

    def _read(self, jobs: Sequence[Job]) -> Flow[int]:
        """Read the facts of turns; return how many jobs were done or failed."""
        from ..ingest.deferred import read_turns

        yield from read_turns(self.store, self.extractor, jobs, deferred=self.remote)
        if not any(job.attempts for job in jobs):
            failed = self.store.waiting("facts", [job.turn.id for job in jobs])
            warn_of_unread("read", self.name, {"facts": len(failed)})
        return len(jobs)

    def _caught_up(self) -> Flow[None]:
        """Read the facts of the turns that came since: whatever shows facts, or ranks by them, begins with it.

        Where nothing can be written, go on with the facts that are there; `health` says how many turns wait.
        """
        with suppress(StoreReadOnly, DiskFull):
            while jobs := self.store.untried("facts", PAGE):
                if len(jobs) == PAGE:
                    tell_of_backlog(self.name)
                yield from self._read(jobs)
                if len(jobs) < PAGE:
                    return

    def _after_reading(self, flow: Flow[T]) -> Flow[T]:
        """Run a flow once the facts of all turns are read."""
        yield from self._caught_up()
        return (yield from flow)

    def _with_facts(self, call: Callable[[], T]) -> Flow[T]:
        """Return what a call of the store does once the facts of all turns are read."""
        yield from self._caught_up()
        return call()

    def _recalled(self, query: Query) -> Flow[tuple[Hit, ...]]:
        """Return the best turns for a query; where it asks for a time, or at most a page waits, read those first.

        Else, so that a search does not wait for all of a large import, the facts of its hits are read from their turns,
        and what replaced them is not known yet.
        """
        waiting, hits = self.store.recall_read(query, "facts", PAGE + 1)
        if not waiting:
            return hits
        if waiting <= PAGE or _by_time(query):
            yield from self._caught_up()
        return self._stating(self.store.recall(query))

    def _found(self, query: Query) -> Flow[tuple[Hit, ...]]:
        """Return the best turns for a query, without facts; only where it asks for a time, those that wait are read."""
        if _by_time(query):
            yield from self._caught_up()
        return self.store.recall(query, facts=False)

    def _stored(self, turn_ids: Sequence[str]) -> tuple[Fact, ...]:
        """Return the stored facts of turns, grouped by turn; none where one of them is gone."""
        with suppress(UnknownTurn):
            return self.store.facts(turn_ids)
        return ()

    def _unread(self, turn: Turn) -> tuple[Fact, ...]:
        """Return the facts of a turn that waits to be read, from its words."""
        return self._stating([Hit(turn, (), 0.0)])[0].facts

    def _recalled_over(self, over: Over, query: Query) -> Flow[tuple[Hit, ...]]:
        """Return the best turns for a query by their facts, or by these and their words."""
        yield from self._caught_up()
        stating = turns_stating(self.store.recall_facts(replace(query, k=EACH * query.k)))
        return (stating if over == "facts" else joined(self.store.recall(query), stating))[: query.k]

    def _stating(self, hits: Sequence[Hit]) -> tuple[Hit, ...]:
        """Return hits with the facts of those that wait to be read, from their turns."""
        waiting = self.store.waiting("facts", [hit.turn.id for hit in hits])
        return tuple(self._read_hit(hit) if hit.turn.id in waiting else hit for hit in hits)

    def _read_hit(self, hit: Hit) -> Hit:
        from ..ingest.add import read_facts

        stated = {fact.id: fact for fact in (*read_facts(self.extractor, hit.turn).value, *hit.facts)}
        return replace(hit, facts=tuple(sorted(stated.values(), key=lambda fact: fact.span[0])))

    def _each_once(self, kind: JobKind) -> Iterator[list[Job]]:
        """Yield pages of the due jobs of a kind: one that fails again and is due at once is left to the next call."""
        tried: set[str] = set()
        while page := [job for job in self.store.due(kind, PAGE) if job.turn.id not in tried]:
            tried.update(job.turn.id for job in page)
            yield page

    def extraction_jobs(self) -> Generator[tuple[Job, ...], None, None]:
        """Yield pages of turns whose facts a model has not extracted yet; nothing without a model.

        A page is leased: no other caller is given its turns, so that none is paid for twice. Postponed turns are left
        out until they are due again. Close the iterator, so that what was not begun is free at once.
        """
        if self.judge is None:
            return
        self.store.enqueue_missing("extract")
        while page := self.store.lease("extract", JOBS_PER_PAGE, LEASE_SECONDS):
            try:
                yield page
            finally:
                with suppress(StoreError):  # the lease ends by itself, and what made the caller stop matters more
                    self.store.release("extract", [job.turn.id for job in page])

    def enriched(self, done: int) -> EnrichReport:
        """Return what was done, and what waits until when, and why."""
        waiting = self.store.put_off()
        reasons: Counter[str] = Counter()
        for reason, count, _ in waiting:
            reasons[reason] += count
        until = min((due for *_, due in waiting), default=None)
        first = None if until is None else datetime.fromtimestamp(until, tz=timezone.utc)
        return EnrichReport(done, sum(reasons.values()), first, dict(reasons), dict(self.store.health().failed))

    def extract(self, job: Job) -> Flow[int]:
        """Return the flow that has a model extract facts from the turn of a job."""
        from ..extract.rule_extractor import conventions_of
        from ..ingest.deferred import extract_job

        return self._watch("extract").over(extract_job(self.store, job, conventions_of(self.extractor)))

    def batch(self) -> Flow[BatchReport]:
        """Return the flow of one round of the Batch API. Raise InvalidQuery for a memory that has no model."""
        from ..extract.rule_extractor import conventions_of
        from ..ingest.deferred import process_batches

        if self.judge is None:
            raise NoModel("enrich_batch()")
        self.store.enqueue_missing("extract")
        return self._after_reading(process_batches(self.store, conventions_of(self.extractor)))

    def estimate(self, price: tuple[float, float] | None) -> Estimate:
        """Estimate requests, tokens and cost of extracting facts from the turns that no model has read."""
        from ..llm.extract_facts import estimate

        return estimate(self.store.unread(EARLIER), checked_price(price))

    def turns(
        self,
        scope: Scope,
        before: TimeInput | None,
        after: TimeInput | None,
        limit: int | None,
        *,
        newest: bool,
    ) -> Iterator[Turn]:
        """Return an iterator over the turns of a listing; see `Memory.turns`. Raise InvalidQuery."""
        listing = replace(
            scope.listing,
            before=self._bound("before", before),
            after=self._bound("after", after),
            limit=None if limit is None else checked_count("limit", limit),
            newest=bool(newest),
        )
        return self.store.turns(None if listing == Listing() else listing)

    def facts(self, turns: Sequence[str] | None, about: str | None, *, current: bool) -> Flow[tuple[Fact, ...]]:
        """Return the flow of the facts of turns, or of those about a person or thing; see `Memory.facts`."""
        if (turns is None) == (about is None):
            raise InvalidQuery("facts was given turns and about, or neither; expected turns=[ids] or about='a name'")
        return self._with_facts(partial(self._facts, turns, about, current=current))

    def _facts(self, turns: Sequence[str] | None, about: str | None, *, current: bool) -> tuple[Fact, ...]:
        from ..extract.slots import is_of_profile

        if turns is not None:
            found = self.store.facts(checked_ids("turns", turns))
        else:
            name = about or ""
            check_asked("about", name)
            known = self.store.about(name, MOST).facts  # what they said of other things too
            found = tuple(fact for fact in known if is_named_in(fact, name) and is_of_profile(fact))
        return tuple(fact for fact in found if not (current and fact.replaced_by))

    @_erasing("forget")
    def forget(
        self,
        turns: Sequence[str] | None,
        session: str | None,
        before: TimeInput | None,
        speaker: str | None,
        where: Mapping[str, Any] | None,
        as_in: AnyPath | None,
        *,
        everything: bool,
    ) -> EraseReport:
        """Erase a selection of turns. Raise InvalidQuery unless exactly one kind of selection is given."""
        kinds = (("turns", turns), ("session", session), ("before", before), ("speaker", speaker), ("where", where))
        given = [name for name, value in (*kinds, ("as_in", as_in)) if value is not None]
        if len(given) + bool(everything) != 1 or isinstance(turns, str):
            raise InvalidQuery(
                f"forget was given {', '.join(given) or 'nothing'}{' and everything' if everything else ''}; "
                "expected one of turns=[ids], session=, before=, speaker=, where=, as_in= or everything=True"
            )
        if turns is not None:
            return self.store.forget(checked_ids("turns", turns))
        bound = self._bound("before", before)
        copy = None if as_in is None else checked_path("as_in", as_in)
        of = {name: checked_text(name, value) for name, value in (("session", session), ("speaker", speaker))}
        return self.store.forget_where(before=bound, where=checked_where(where), as_in=copy, **of)

    @_erasing("erase")
    def erase(self) -> EraseReport:
        """Erase every turn, then remove the file; where another process has it open, it stays, empty."""
        report = self.store.forget_where()
        return report if self.store.remove() else replace(report, reason=report.reason or _FILE_STAYS)

    def change_embedder(self, embedder: Embedder | AsyncEmbedder) -> None:
        """Switch the memory to another embedder: drop every vector and queue its computation."""
        checked_part("embedder", embedder, ("embed",), {"name": str, "dimension": int})
        self.store.change_embedder(embedder.name, embedder.dimension)
        self.embedder = embedder

    def check(self, *, repair: bool, progress: Callable[[int], None] | None = None) -> Flow[Health]:
        """Return the flow that verifies the file against its turns; with `repair`, rebuilds if any row differs."""
        problems = self.store.check(self.extractor, checked_progress(progress) or _no_progress)
        if problems and repair:
            yield from self.rebuild(reread=False, progress=None)
            problems = self.store.check(self.extractor)
        return self.health(problems)

    def health(self, problems: Sequence[str] = ()) -> Health:
        """Return queued and failed jobs with all problems, those of an unusable calibration included."""
        from ..calibration.apply_calibration import calibration_problems

        found = calibration_problems(self.store, self.calibration_target())
        return self.store.health((*problems, *found))

    def calibration(self) -> Calibration | None:
        """Return the calibration that `ask` uses, if any."""
        from ..calibration.apply_calibration import active_calibration

        return active_calibration(self.store, self.calibration_target())

    def rebuild(self, *, reread: bool, progress: Progress | None) -> Flow[None]:
        """Return the flow that derives rows again from the turns; see `Memory.rebuild`."""
        tell = checked_progress(progress) or _no_progress
        for read in self.store.rebuild(self.extractor, reread=reread):
            tell(read)
            yield Pause()
        warn_of_unread("rebuild", self.name, self.store.health().pending)

    def export(self, path: AnyPath, progress: Callable[[int], None] | None = None) -> Flow[None]:
        """Return the flow that writes every turn with its facts as lines of JSON."""
        from ..ingest.import_file import write_export

        to, tell = checked_path("path", path), checked_progress(progress) or _no_progress
        return self._with_facts(lambda: write_export(to, self.store.pairs(), tell))

    def neighbours(self, id: str, limit: int) -> Flow[list[Hit]]:
        """Return the flow of the turns one edge away from a turn."""
        return _as_list(self._with_facts(partial(self.store.expand, [id], checked_count("limit", limit))))

    def stats(self) -> Flow[Stats]:
        """Return the flow of counts and dates."""
        return self._with_facts(self.store.stats)

    def now(self) -> datetime:
        """Return the wall clock as a time of the memory's kind. Raise InvalidQuery for a clock beyond the calendar."""
        last = self.store.roster().last
        seconds = self.clock()
        try:
            return self.store.times.now(seconds, naive=last is not None and last.tzinfo is None)
        except (ValueError, OverflowError, OSError) as error:
            raise InvalidQuery(
                f"clock returned {shown(seconds)}, which is beyond the calendar ({error}); expected seconds since 1970"
            ) from error

    def _time(self, name: str, value: TimeInput | None) -> datetime | None:
        """Return an argument as a time of the memory's kind. Raise InvalidQuery for anything that is none."""
        return read_time(name, value, self.store.times)

    def _moment(self, name: str, value: TimeInput | None) -> Moment:
        """Return what tells an argument's time: "now" is the wall clock. Raise InvalidQuery at once for no time.

        The store says what kind of times it holds when it is called, so that an event loop never waits for it.
        """
        given = None if value == NOW else self._time(name, value)
        return self.now if value == NOW else lambda: given

    def _bound(self, name: str, value: TimeInput | None) -> datetime | None:
        """Return a bound on the time of turns. Raise InvalidQuery for one that they cannot be compared with."""
        bound = self._moment(name, value)()
        if bound is not None:
            check_clock(name, bound, self.store.roster().last)
        return bound

    def _watch(self, name: OperationName, query: str = "") -> Watch:
        """Return the watch over a call that is about to begin."""
        operation = Operation(name, self.name, self.model if self.judge else "", self.embedder.name, self.remote, query)
        return Watch(operation, self.observer)

    def _watched(self, name: OperationName, flows: Iterable[Flow[T]]) -> Iterator[Flow[T]]:
        """Yield flows that are watched, one transaction each."""
        return (self._watch(name).over(flow) for flow in flows)

    @property
    def remote(self) -> bool:
        """Whether the embedder is asked over a network."""
        return bool(getattr(self.embedder, "remote", False))

    def _jobs(self) -> tuple[JobKind, ...]:
        return () if self.judge is None else ("extract",)


def parse_time(name: str, value: TimeInput | None) -> datetime | None:
    """Return an argument as a datetime; a naive one stays naive. Raise InvalidQuery for anything that is not a time."""
    if value is None or isinstance(value, datetime):
        return value
    try:
        return datetime.fromisoformat(value.strip().replace("Z", "+00:00"))
    except (ValueError, AttributeError, TypeError) as error:
        raise InvalidQuery(
            f"{name} is {shown(value, 200)}; expected a datetime, an ISO 8601 string such as "
            "'2024-03-12T18:20', or 'now'"
        ) from error


def read_time(name: str, value: TimeInput | None, times: LocalTimes = AS_GIVEN) -> datetime | None:
    """Return an argument as a time of a kind. Raise InvalidQuery for anything that is none."""
    given = parse_time(name, value)
    try:
        return None if given is None else times.read(given)
    except (ValueError, TypeError, OverflowError) as error:
        raise InvalidQuery(f"{name} is {shown(value)}, which cannot be read in the timezone: {error}") from error


def filters(before: TimeInput | None, after: TimeInput | None, scope: Scope, exclude: Collection[str]) -> Filters:
    """Return the hard filters of a search. Raise InvalidQuery for a bound that is not a time, or a string of ids."""
    within = Filters.within(scope, checked_exclude(exclude))
    given: Any = {
        name: at if at == NOW else parse_time(name, at) for name, at in (("before", before), ("after", after))
    }
    return replace(within, **given)


def scope_of(session: str | None, speaker: str | None, role: str | None, where: Mapping[str, Any] | None) -> Scope:
    """Return what a question is put to. Raise InvalidQuery for what is no name, role or condition."""
    named = checked_text("session", session), checked_text("speaker", speaker)
    return Scope(*named, checked_role(role), checked_where(where))


def _by_time(query: Query) -> bool:
    """Return whether a query compares the times of facts."""
    return bool(query.times or query.before or query.after)


def _stored(batches: Iterable[Flow[AddReport]], progress: Progress | None = None) -> Flow[AddReport]:
    """Run flows that store a batch each, and report all of it."""
    return AddReport.of_all((yield from _each(batches, progress, lambda report: len(report.statuses))))


def _each(flows: Iterable[Flow[T]], progress: Progress | None, size: Callable[[T], int]) -> Flow[list[T]]:
    """Run flows one after another, and tell of each how much it did."""
    tell, results = checked_progress(progress) or _no_progress, list[T]()
    for flow in flows:
        if results:
            yield Pause()
        results.append((yield from flow))
        tell(size(results[-1]))
    return results


def _as_list(flow: Flow[tuple[T, ...]]) -> Flow[list[T]]:
    """Run a flow that finds several; return them as the caller's own."""
    return list((yield from flow))


def _forgetful(flow: Flow[AddReport]) -> Flow[AddReport]:
    """Run a flow that may erase turns, and empty the caches of words that may hold the erased ones."""
    report = yield from flow
    if report.replaced or report.erased:
        clear_word_caches()
    return report


def _no_progress(turns: int) -> None:
    """Ignore progress."""


def needed(model: Any) -> Any:
    """Return a model. Raise NoModel where there is none."""
    if model is None:
        raise NoModel("this loop")
    return model


def workers_for(model: Any) -> int:
    """Return how many requests to make at once: as many as the model takes, so that none waits within its deadline."""
    return max(1, min(WORKERS, getattr(model, "concurrency", WORKERS)))


def _within(span: tuple[int, int], whole: tuple[int, int]) -> bool:
    """Return whether a range is a part of another."""
    return span != whole and whole[0] <= span[0] and span[1] <= whole[1]
