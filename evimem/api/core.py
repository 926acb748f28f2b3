"""The operations of `Memory` and `AsyncMemory` on a store: flows and calls on arguments that were checked.

A flow is a generator that yields its requests to a model or an embedder (see `evimem.flow`); each kind of memory
performs that in its own way. Parts that opening a file, a search and a block do without (loops, judges, extraction,
ingestion) are imported by the first call that needs it.
"""

from __future__ import annotations

import re
import sys
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import closing, suppress
from dataclasses import dataclass, replace
from datetime import datetime, timedelta, timezone
from functools import cached_property, lru_cache, partial
from time import time
from typing import TYPE_CHECKING, Any, Literal, get_args

from ..db.jobs import PAGE_JOBS
from ..db.tables import is_storable_text
from ..embedding.static_embedder import forget_words
from ..errors import (
    DiskFull,
    InvalidQuery,
    ModelError,
    ModelTimeout,
    NoModel,
    StoreError,
    StoreReadOnly,
    UnknownTurn,
    shown,
)
from ..flow import Effect, Embed, Flow, Pause, Rerank, SideBySide
from ..page.bearing import EMBEDDER_NAME
from ..page.bearing import load_bearing as bearing
from ..page.compose import write_block, write_profile
from ..page.question import Asked
from ..protocols import Embedder, Extractor
from ..query.analysis import check_asked
from ..query.bounded_reranker import Reranking
from ..query.find_turns import (
    FACTS_PER_TURN,
    build_query,
    check_clock,
    fuse_rankings,
    interval,
    rerank_hits,
    run_query,
    turns_of_facts,
)
from ..store.keeper import Keeper
from ..text.names import is_named_in
from ..times import Conventions
from ..types.public_value import AnyPath
from ..types.results import (
    MAX_COUNT,
    AddReport,
    Answer,
    BatchReport,
    Block,
    BlockForm,
    Budget,
    EnrichReport,
    EraseReport,
    Health,
    Stats,
)
from ..types.stored import FactFilter, Job, JobKind, Scope, correct_text, statements
from ..types.trace import Found, Queried
from ..types.type_variables import T
from ..types.values import ExportFormat, Fact, FactHit, Hit, Hits, Over, Query, TimeSpan, Turn
from .checked_arguments import (
    OnEvent,
    Progress,
    TimeInput,
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
    checked_progress,
    checked_question,
    checked_share,
    checked_text,
    checked_time,
    checked_where,
)
from .observer import (
    Observer,
    Operation,
    OperationName,
    Watch,
    notifier,
    store_name,
    tell_of_backlog,
    user_errors,
    warn_of_unknown_currency,
    warn_of_unread,
)

if TYPE_CHECKING:
    from ..calibration import Calibration, Labelled
    from ..calibration.apply_calibration import CalibrationTarget
    from ..ingest.add import Ingestion
    from ..judging.judge import Judge
    from ..loops import Loop
    from ..offline.offline_judge import OfflineJudge

PACKAGE = __name__.partition(".")[0]
CACHED = type(lru_cache(len))  # the type of every function with a cache
OnModelError = Literal["raise", "offline"]
MAX_MODEL_REQUESTS = 16  # model requests of one enrich() at the same time
_FILE_STAYS = "another process has the memory open, so that its file stays, empty; erase it again when that has ended"
JOBS_PER_PAGE = (
    4 * MAX_MODEL_REQUESTS
)  # jobs read from the queue at a time; small, so that a slow reply delays few jobs


def clear_word_caches() -> None:
    """Empty every cache of words, and that of patterns: some are made from names."""
    for cache in word_caches():
        cache.cache_clear()
    forget_words()
    re.purge()


def word_caches() -> Iterator[Any]:
    """Yield every bounded `lru_cache` of the package that is loaded: without a list that could miss one.

    A cache of one entry or without a bound (`functools.cache`) holds tables of the package, never words of turns.
    """
    for name, module in list(sys.modules.items()):
        if name.partition(".")[0] == PACKAGE:
            for value in list(vars(module).values()):
                if isinstance(value, CACHED) and (value.cache_parameters()["maxsize"] or 0) > 1:
                    yield value


@dataclass(eq=False, repr=False)
class Core:
    """A store with its embedder, extractor and judge. Knows nothing of threads and event loops."""

    store: Keeper
    embedder: Any
    judge: Judge | None = None  # None without a model
    given: Extractor | None = None  # of the caller's
    model: str = ""  # the name of the one that judges
    on_model_error: OnModelError = "raise"  # the reaction of `ask` to a failure of the model
    clock: Callable[[], float] = time  # returns seconds since 1970
    observer: Observer | None = None  # hears of every call
    reranking: Reranking | None = None  # orders the first hits of a search
    retained_at: float | None = None  # when turns that are kept no longer were last looked for, by the clock

    def __post_init__(self) -> None:
        self.name = store_name(self.store.name)

    @cached_property
    def extractor(self) -> Extractor:
        """The extractor of facts from a turn: the caller's, within bounds, or the rules."""
        from ..extract.rule_extractor import BoundedExtractor

        kept = self.store.conventions
        return BoundedExtractor(self.given, kept) if self.given else self.default_extractor(kept)

    @cached_property
    def offline(self) -> OfflineJudge:
        """The judge where there is no model, or it failed."""
        from ..offline.offline_judge import OfflineJudge

        return OfflineJudge(extractor=self.extractor)

    @staticmethod
    def default_extractor(conventions: Conventions = Conventions()) -> Extractor:
        """Return the extractor that finds facts by rules, without a model."""
        from ..extract.rule_extractor import RuleExtractor

        return RuleExtractor(conventions.weekday, conventions.date_order, conventions.zone)

    @property
    def remote(self) -> bool:
        """Whether the embedder is asked over a network."""
        return bool(getattr(self.embedder, "remote", False))

    def is_remote(self, effect: Effect) -> bool:
        """Return whether a model, or an embedder or a reranker over a network, is waited for."""
        if isinstance(effect, Embed):
            return self.remote
        return not isinstance(effect, Rerank) or (self.reranking is not None and self.reranking.remote)

    @property
    def rerank_depth(self) -> int:
        """How many hits of a search are reranked, 0 without a reranker."""
        return 0 if self.reranking is None else self.reranking.texts

    @property
    def jobs(self) -> tuple[JobKind, ...]:
        """The jobs queued for each new turn: with a model, that it extracts facts."""
        return () if self.judge is None else ("extract",)

    @property
    def target(self) -> CalibrationTarget:
        """The judge of this memory with the names of its model and embedder."""
        from ..calibration.apply_calibration import CalibrationTarget

        return CalibrationTarget(self.judge or self.offline, self.model, self.embedder.name)

    @property
    def offline_target(self) -> CalibrationTarget:
        """The judge that needs no model."""
        return replace(self.target, judge=self.offline, model="")

    def now(self) -> datetime:
        """Return the wall clock as a time of the memory's kind. Raise InvalidQuery for a clock beyond the calendar."""
        last = self.store.roster().last
        seconds = self.clock()
        try:
            return self.store.times.local_now(seconds, naive=last is not None and last.tzinfo is None)
        except (ValueError, OverflowError, OSError) as error:
            raise InvalidQuery(
                f"clock returned {shown(seconds)}, which is beyond the calendar ({error}); expected seconds since 1970"
            ) from error

    def time(self, name: str, value: TimeInput | None) -> datetime | None:
        """Return an argument as a time of the memory's kind, "now" as the wall clock. Raise InvalidQuery for none."""
        # "now" is the time of the clock of the memory.
        return self.now() if value == "now" else checked_time(name, value, self.store.times)

    def bound(self, name: str, value: TimeInput | None) -> datetime | None:
        """Return a bound on the time of turns. Raise InvalidQuery for one that they cannot be compared with."""
        bound = self.time(name, value)
        if bound is not None:
            check_clock(name, bound, self.store.roster().last)
        return bound

    def watch(self, name: OperationName, query: str = "") -> Watch:
        """Return the watch over a call that is about to begin."""
        operation = Operation(name, self.name, self.model if self.judge else "", self.embedder.name, self.remote, query)
        return Watch(operation, self.observer)

    def ingestion(self, *, strict: bool = False, replace: bool = False) -> Ingestion:
        """Return the ingestion that stores turns.

        Facts are read when they are first needed: see `read_pending_facts`. A remote embedder would hold up add(): its
        vectors are queued. With a model, each turn waits to be extracted.
        """
        from ..ingest.add import Ingestion

        given: dict[str, Any] = {"deferred": self.remote, "jobs": self.jobs, "times": self.store.times, "now": self.now}
        return Ingestion(self.store, None, strict=strict, replace=bool(replace), **given)

    def store_batches(
        self, name: OperationName, batches: Iterable[Flow[AddReport]], progress: Progress | None = None
    ) -> Flow[AddReport]:
        """Run flows that store a batch each, in one transaction, and report all of it."""
        self.store.require_writable()
        watched = (self.watch(name).observe(clearing_word_caches(batch)) for batch in batches)
        return AddReport.of_all((yield from _each(watched, progress, lambda report: len(report.statuses))))

    def erase_watched(self, name: OperationName, erase: Callable[[], EraseReport]) -> EraseReport:
        """Erase turns, watched, and empty the caches of words, which may hold erased ones."""
        self.store.require_writable()
        try:
            with self.watch(name) as watch:
                watch.outcome = report = erase()
            return report
        finally:
            clear_word_caches()

    def forget_expired(self, retain: timedelta) -> EraseReport | None:
        """Erase turns said longer ago than they are kept: at the first call, and at the first one of each day after."""
        now = self.clock()
        if self.retained_at is not None and 0 <= now - self.retained_at < 86_400.0:
            return None
        bound, first = self.now() - retain, self.store.roster().first
        self.retained_at = now
        if first is None or first >= bound:
            return None
        return self.erase_watched("forget", partial(self.store.forget_where, before=bound))

    def erase(self) -> EraseReport:
        """Erase every turn, then remove the file; where another process has it open, it stays, empty."""

        def all_of_it() -> EraseReport:
            report = self.store.forget_where()
            return report if self.store.remove() else replace(report, reason=report.reason or _FILE_STAYS)

        return self.erase_watched("erase", all_of_it)

    def extend(
        self,
        turns: Iterable[Turn],
        *,
        strict: bool,
        replace: bool = False,
        progress: Progress | None = None,
    ) -> Flow[AddReport]:
        """Store turns; see `Memory.extend`."""
        batches = self.ingestion(strict=strict, replace=replace).batches(turns)
        return (yield from self.store_batches("replace" if replace else "add", batches, progress))

    def update(self, turn_id: str, text: str) -> Flow[AddReport]:
        """Give a turn another text; see `Memory.update`."""
        with self.watch("update") as watch:
            self.store.require_writable()
            (old,) = self.store.read([turn_id])
            new = correct_text(old, text, self.now())
            storing = clearing_word_caches(self.ingestion(strict=True, replace=True).store_batch([new]))
            watch.outcome = report = yield from watch.listen(storing)
        return report

    def remember(
        self,
        messages: Iterable[Mapping[str, Any]],
        session: str | None,
        time: TimeInput | None,
        *,
        strict: bool,
        again: bool,
        replace: bool,
    ) -> Flow[AddReport]:
        """Store messages, each once; see `Memory.remember`."""
        from ..ingest.remember import Remembering

        given, of = checked_messages(messages), checked_text("session", session) or ""
        if not is_storable_text(of):
            raise InvalidQuery(f"session {shown(of)} has a lone surrogate; give it as valid Unicode")
        moment, ingestion = self.time("time", time), self.ingestion(strict=strict)
        remembering = Remembering(self.store, given, of, moment, ingestion, again=again, replace=replace)
        return (yield from self.store_batches("replace" if replace else "add", remembering.batches()))

    def import_(self, path: AnyPath, progress: Progress | None) -> Flow[AddReport]:
        """Add the turns and facts of an export; see `Memory.import_`."""
        from ..ingest.import_file import import_batches
        from ..ingest.markdown_files import import_folder, is_markdown_export

        file = checked_path("path", path)
        given: dict[str, Any] = {"deferred": self.remote, "jobs": self.jobs, "times": self.store.times}
        if is_markdown_export(file):
            batches = import_folder(self.store, file, **given)
        else:
            batches = import_batches(self.store, file, self.extractor, **given)
        return (yield from self.store_batches("add", batches, progress))

    def export(self, path: AnyPath, form: ExportFormat, progress: Progress | None) -> Flow[None]:
        """Write every turn where `import_` reads it; see `Memory.export`."""
        from ..ingest.import_file import write_export
        from ..ingest.markdown_files import write_folder

        to, tell = checked_path("path", path), checked_progress(progress)
        checked_choice("format", form, get_args(ExportFormat))
        yield from self.read_pending_facts()
        if form == "jsonl":
            write_export(to, self.store.export_rows(), tell)
        else:
            write_folder(to, self.store.turns_with_facts(), tell)

    def forget(self, named: Mapping[str, Any]) -> EraseReport:
        """Erase the turns that one argument of `Memory.forget` names; None for those that were not given."""
        given = [name for name, value in named.items() if value is not None]
        if len(given) != 1 or isinstance(named["turns"], str):
            raise InvalidQuery(
                f"forget was given {', '.join(given) or 'nothing'}; expected one of turns=[ids], session=, before=, "
                "speaker=, where=, as_in= or everything=True"
            )
        if named["turns"] is not None:
            return self.erase_watched("forget", partial(self.store.forget, checked_ids("turns", named["turns"])))
        copy = None if named["as_in"] is None else checked_path("as_in", named["as_in"])
        bounds: dict[str, Any] = {"before": self.bound("before", named["before"]), "as_in": copy}
        bounds |= {name: checked_text(name, named[name]) for name in ("session", "speaker")}
        bounds["where"] = checked_where(named["where"])
        return self.erase_watched("forget", partial(self.store.forget_where, **bounds))

    def search(  # noqa: PLR0913 - the filters
        self,
        query: str,
        k: int,
        scope: Scope,
        before: TimeInput | None,
        after: TimeInput | None,
        exclude: Collection[str],
        *,
        asked_at: TimeInput | None,
        over: Over,
        on_event: OnEvent | None,
    ) -> Flow[list[Hit]]:
        """Return the k best turns for a query; see `Memory.search`."""
        most, hears = checked_count("k", k, 1), checked_on_event(on_event)
        recall = partial(self.recall_reranked, over=checked_choice("over", over, get_args(Over)))
        earlier, later = self.time("before", before), self.time("after", after)
        within = scope.query(exclude=checked_exclude(exclude), before=earlier, after=later)
        today = self.time("asked_at", asked_at)
        with self.watch("search", query) as watch:
            if hears is not None:
                check_asked("query", query)
                hears(Queried(0, "search", query, most))
            found = run_query(self.store, query, most, within, today, recall, allow_cached=over == "turns")
            watch.outcome = hits = Hits((yield from watch.listen(found)))
            if hears is not None:
                facts = tuple(fact.id for hit in hits for fact in hit.facts)
                hears(Found(0, "search", tuple(hit.turn.id for hit in hits), facts))
        return hits

    def search_facts(
        self,
        query: str,
        k: int,
        scope: Scope,
        *,
        about: str | None,
        during: str | TimeSpan | None,
        current: bool,
        asked_at: TimeInput | None,
    ) -> Flow[list[FactHit]]:
        """Return the k best facts for a query; see `Memory.search_facts`."""
        most = checked_count("k", k, 1)
        if about is not None:
            check_asked("about", about)
        today = self.time("asked_at", asked_at)
        with self.watch("search", query) as watch:
            yield from watch.listen(self.read_pending_facts())
            asked = yield from watch.listen(build_query(self.store, query, most, scope.query(), today))
            when = None if during is None else interval(during, today or self.store.roster().last)
            watch.outcome = hits = list(self.store.recall_facts(asked, FactFilter(about, when, bool(current))))
            if current and not hits:
                warn_of_unknown_currency(self.name)
        return hits

    def ask(
        self,
        question: str,
        loop: str | Loop,
        asked_at: TimeInput | None,
        budget: Budget,
        scope: Scope,
        *hears: OnEvent | None,
    ) -> Flow[Answer]:
        """Answer a question; tell those who hear of it of each trace event as it is recorded."""
        from ..calibration.apply_calibration import calibrated_judge
        from ..loops import Task, answer_question, fall_back, remaining_budget

        checked_kind("budget", budget, Budget)
        watch, today = self.watch("ask", question), self.time("asked_at", asked_at)
        tell = notifier(watch.listener, *map(checked_on_event, hears))
        with watch, user_errors():
            yield from watch.listen(self.read_pending_facts())
            offline = calibrated_judge(self.store, self.offline_target)
            quoting = offline if self.judge is not None and isinstance(loop, str) else None
            judge = offline if self.judge is None else calibrated_judge(self.store, self.target)
            limits: dict[str, Any] = {"scope": scope, "rerank_depth": self.rerank_depth, "move": self.move}
            task = Task(question, judge, self.store, today, budget, on_event=tell, quoting=quoting, **limits)
            try:
                watch.outcome = answer = yield from watch.listen(answer_question(task, loop))
            except ModelError as error:
                if error.partial is None or (self.on_model_error == "raise" and not isinstance(error, ModelTimeout)):
                    raise
                again = replace(task, judge=offline, quoting=None, budget=remaining_budget(budget, error.partial))
                answer = yield from watch.listen(fall_back(error, again, loop))
                if self.on_model_error == "raise":
                    error.partial = answer if answer.kind == "quote" else error.partial
                    raise
                watch.outcome = answer
        return answer

    def block(
        self,
        question_or_messages: str | Iterable[Mapping[str, Any]],
        form: BlockForm,
        scope: Scope,
        asked_at: TimeInput | None,
        exclude: Collection[str],
    ) -> Flow[Block]:
        """Write a block for a prompt; it asks no chat model. See `Memory.block`."""
        asked, today = checked_question(question_or_messages), self.time("asked_at", asked_at)
        left_out = checked_exclude(exclude)
        with self.watch("block", asked.text) as watch:
            parts = self.store, self._found, self._facts_by_turn, asked, form, today, left_out, scope
            block = yield from watch.listen(write_block(*parts, self.move, self.rerank_depth))
            if form.check:
                block = yield from watch.listen(self._check_block(block, asked, today, left_out, scope))
            watch.outcome = block
        return block

    def _check_block(
        self, block: Block, asked: Asked, today: datetime | None, exclude: frozenset[str], scope: Scope
    ) -> Flow[Block]:
        """Return a block with the verdict on its message of the judge that needs no model."""
        from ..calibration.apply_calibration import calibrated_judge
        from ..loops import Iris, Task

        yield from self.read_pending_facts()
        judge = calibrated_judge(self.store, self.offline_target)
        limits: dict[str, Any] = {"exclude": exclude, "scope": scope, "rerank_depth": self.rerank_depth}
        found = yield from Iris()(Task(asked.text, judge, self.store, today, **limits))
        confidence = 1.0 - found.confidence if found.abstained else found.confidence
        return replace(block, tier=found.tier, confidence=confidence, missing=found.gaps)

    def profile(self, form: BlockForm, scope: Scope, exclude: Collection[str]) -> Flow[Block]:
        """Write the lasting statements of a user about themselves; see `Memory.profile`."""
        left_out, shipped = checked_exclude(exclude), self.move is not None
        with self.watch("profile") as watch:
            written = write_profile(self.store, self._found, form, scope, left_out, shipped=shipped)
            watch.outcome = block = yield from watch.listen(written)
        return block

    @property
    def move(self) -> Callable[[Any], Any] | None:
        """Moves the vector of a request towards statements that bear on it; None for another embedder's."""
        return bearing().move if self.embedder.name == EMBEDDER_NAME else None

    def facts(self, turns: Sequence[str] | None, about: str | None, *, current: bool) -> Flow[tuple[Fact, ...]]:
        """Return the facts of turns, or those about a person or thing; see `Memory.facts`."""
        if (turns is None) == (about is None):
            raise InvalidQuery("facts was given turns and about, or neither; expected turns=[ids] or about='a name'")
        yield from self.read_pending_facts()
        if turns is not None:
            found = statements(self.store.facts(checked_ids("turns", turns)))
        else:
            name = about or ""
            check_asked("about", name)
            known = self.store.about(name, MAX_COUNT).facts  # their statements about other things too
            found = tuple(fact for fact in known if is_named_in(fact, name))
        found = tuple(fact for fact in found if fact.is_current or not current)
        if current and not found:
            warn_of_unknown_currency(self.name)
        return found

    def neighbours(self, turn_id: str, limit: int) -> Flow[list[Hit]]:
        """Return the turns one edge away from a turn; see `Memory.neighbours`."""
        most = checked_count("limit", limit)
        yield from self.read_pending_facts()
        return list(self.store.expand([turn_id], most))

    def stats(self) -> Flow[Stats]:
        """Return counts and dates, with the facts of at most a page of turns that wait; see `Memory.stats`."""
        yield from self.read_pending_facts(PAGE_JOBS)
        return self.store.stats()

    def calibrate(
        self, questions: Iterable[Labelled], wanted: Mapping[str, Any], *, keep: bool, progress: Progress | None
    ) -> Flow[Calibration]:
        """Fit probabilities to labelled questions; see `Memory.calibrate`."""
        from ..calibration import Labelled, Wanted
        from ..calibration.apply_calibration import LabelledQuestion, calibrate

        labelled = list[LabelledQuestion]()
        for one in checked_items("questions", questions, "evimem.Labelled"):
            checked_kind("a labelled question", one, Labelled)
            check_asked("question", one.question)
            if not isinstance(one.answerable, bool):
                raise InvalidQuery(f"answerable is {shown(one.answerable)}; expected True or False")
            labelled.append(LabelledQuestion(one.question, one.answerable, self.time("asked_at", one.asked_at)))
        given: dict[str, Any] = {name: checked_share(name, value) for name, value in wanted.items()}
        tell = checked_progress(progress)
        if keep:
            self.store.require_writable()
        yield from self.read_pending_facts()
        return (yield from calibrate(self.store, labelled, self.target, Wanted(**given), keep=keep, progress=tell))

    def enrich_batch(self) -> Flow[BatchReport]:
        """Extract facts through the provider's Batch API; see `Memory.enrich_batch`."""
        from ..ingest.deferred import process_batches

        if self.judge is None:
            raise NoModel("enrich_batch()")
        self.store.enqueue_missing("extract")
        yield from self.read_pending_facts()
        return (yield from process_batches(self.store, self.conventions))

    def reembed(self, embedder: Embedder, progress: Progress | None) -> Flow[None]:
        """Switch to another embedder; see `Memory.reembed`."""
        kept = checked_part("embedder", embedder, ("embed",), {"name": str, "dimension": int})
        self.store.change_embedder(kept.name, kept.dimension)
        self.embedder = kept
        yield from self.enrich(progress)

    def check(self, progress: Progress | None, *, repair: bool) -> Flow[Health]:
        """Verify the memory; see `Memory.check`."""
        if repair:
            self.store.require_writable()
        problems = self.problems(checked_progress(progress))
        if problems and repair:
            yield from self.derived_again(None)
            problems = self.problems(checked_progress(None))
        return self.health(problems)

    def rebuild(self, progress: Progress | None, *, reread: bool) -> Flow[None]:
        """Derive rows again from the turns; see `Memory.rebuild`."""
        yield from self.derived_again(progress, reread=reread)
        yield from self.enrich(None)

    def enrich(self, progress: Progress | None, *, retry_now: bool = False) -> Flow[EnrichReport]:
        """Process queued jobs until none is due, and the vector index; see `Memory.enrich`."""
        tell = checked_progress(progress)
        self.store.require_writable()
        if retry_now:
            self.store.retry_now()
        done = sum((yield from _each(self._queued_links(), tell, int)))
        for indexed in self.store.index_vectors():
            done += indexed
            tell(indexed)
            yield Pause()
        done += yield from self._extract_waiting(tell)
        waiting = self.store.postponed_jobs()
        reasons: Counter[str] = Counter()
        for reason, count, _ in waiting:
            reasons[reason] += count
        until = min((due for *_, due in waiting), default=None)
        first = None if until is None else datetime.fromtimestamp(until, tz=timezone.utc)
        return EnrichReport(done, sum(reasons.values()), first, dict(reasons), dict(self.store.health().failed))

    def _queued_links(self) -> Iterator[Flow[int]]:
        from ..ingest.deferred import embed_pending, reindex_turns

        yield from map(self._read, self._each_once("facts"))
        yield from map(partial(reindex_turns, self.store), self._each_once("terms"))
        while self.store.due("vector", 1):
            yield embed_pending(self.store, "vector")
        while self.store.due("link", 1):
            yield embed_pending(self.store, "link")

    def _each_once(self, kind: JobKind) -> Iterator[list[Job]]:
        """Yield pages of the due jobs of a kind: one that fails again and is due at once is left to the next call."""
        tried: set[str] = set()
        while page := [job for job in self.store.due(kind, PAGE_JOBS) if job.turn.id not in tried]:
            tried.update(job.turn.id for job in page)
            yield page

    def _extract_waiting(self, tell: Progress) -> Flow[int]:
        """Have a model extract facts from turns that it has not read, and are not postponed; return how many.

        A page is leased: no other caller is given its turns, so that none is paid for twice.
        """
        from ..ingest.deferred import Endpoint, extract_job

        if self.judge is None:
            return 0

        def read_job(job: Job) -> Flow[int]:
            flow = extract_job(self.store, job, self.conventions, endpoint)
            count: int = yield from self.watch("extract").observe(flow)
            if count:
                tell(count)
            return count

        self.store.enqueue_missing("extract")
        endpoint, done = Endpoint(), 0
        # A lease of 900 seconds covers several rounds of requests that each take all of a usual deadline.
        while page := self.store.lease("extract", JOBS_PER_PAGE, 900.0):
            try:
                counts: list[int] = yield SideBySide(map(read_job, page))
                done += sum(counts)
            finally:
                with suppress(StoreError):  # the lease ends by itself, and the caller's reason to stop matters more
                    self.store.release("extract", [job.turn.id for job in page])
        return done

    def problems(self, tell: Progress) -> list[str]:
        """Return the damage, and report how many turns were checked."""
        problems: list[str] = []
        with closing(self.store.find_damage(self.extractor)) as found:
            for one in found:
                if isinstance(one, str):
                    problems.append(one)
                else:
                    tell(one)
        return problems

    def health(self, problems: Sequence[str] = ()) -> Health:
        """Return queued and failed jobs with all problems, those of an unusable calibration included."""
        from ..calibration.apply_calibration import calibration_problems

        unranked = () if self.reranking is None else self.reranking.problems
        return self.store.health((*problems, *calibration_problems(self.store, self.target), *unranked))

    def derived_again(self, progress: Progress | None, *, reread: bool = False) -> Flow[None]:
        """Derive rows again from the turns."""
        tell = checked_progress(progress)
        self.store.require_writable()
        for read in self.store.rebuild(self.extractor.name, reread=reread):
            yield from self.read_pending_facts()  # a page of them, so that a concurrent question has little to read
            tell(read)
            yield Pause()
        warn_of_unread("rebuild", self.name, self.store.health().pending)

    @property
    def conventions(self) -> Conventions:
        """How the extractor reads dates."""
        from ..extract.rule_extractor import extractor_conventions

        return extractor_conventions(self.extractor)

    def read_pending_facts(self, most: int | None = None) -> Flow[None]:
        """Read the facts of the turns that came since: whatever shows facts, or ranks by them, begins with it.

        With `most`, read them only where they are no more turns than that: a search must not wait for a large import.
        Where nothing can be written, go on with the facts that are there; `health` says how many turns wait.
        """
        if self.store.read_only or (most is not None and self.store.count_untried_jobs("facts", most + 1) > most):
            return
        with suppress(StoreReadOnly, DiskFull):
            while jobs := self.store.new_jobs("facts", PAGE_JOBS):
                if len(jobs) == PAGE_JOBS:
                    tell_of_backlog(self.name)
                yield from self._read(jobs)
                if len(jobs) < PAGE_JOBS:
                    return

    def _read(self, jobs: Sequence[Job]) -> Flow[int]:
        """Read the facts of turns; return how many jobs were done or failed."""
        from ..ingest.deferred import read_turns

        failed = yield from read_turns(self.store, self.extractor, jobs, deferred=self.remote)
        if failed and not any(job.attempts for job in jobs):
            warn_of_unread("read", self.name, {"facts": failed})
        return len(jobs)

    def recall_reranked(self, query: Query, over: Over) -> Flow[Sequence[Hit]]:
        """Return the best turns for a query, in the order of the reranker where there is one."""
        hits = yield from self._recall_turns(replace(query, k=max(query.k, self.rerank_depth)), over)
        return (yield from rerank_hits(query.text, hits, self.rerank_depth))[: query.k]

    def _recall_turns(self, query: Query, over: Over) -> Flow[Sequence[Hit]]:
        """Return the best turns for a query; where at most a page of turns waits, read those first.

        Else, so that a search does not wait for all of a large import, the facts of its hits are read from their turns,
        and their replacements are not known yet. A query for a time then ranks those turns by when they were said.
        """
        if over != "turns":
            yield from self.read_pending_facts()
            stating = turns_of_facts(self.store.recall_facts(replace(query, k=FACTS_PER_TURN * query.k)))
            return (stating if over == "facts" else fuse_rankings(self.store.recall(query), stating))[: query.k]
        waiting, hits = self.store.recall_unless_pending(query, "facts", PAGE_JOBS + 1)
        if not waiting:
            return hits
        if waiting <= PAGE_JOBS:
            yield from self.read_pending_facts()
            return self._stating(self.store.recall(query))
        bounded = query.before is not None or query.after is not None
        hits = self._stating(self.store.recall(replace(query, k=2 * query.k) if bounded else query))
        return [hit for hit in hits if _is_within(hit, query)][: query.k]

    def _found(self, query: Query) -> Flow[tuple[Hit, ...]]:
        """Return the best turns for a query, without facts; where it asks for a time, a page that waits is read."""
        if query.times or query.before or query.after:
            yield from self.read_pending_facts(PAGE_JOBS)
        return self.store.recall(query, facts=False, by_hints=True)

    def _facts_by_turn(self, turn_ids: Sequence[str]) -> tuple[Fact, ...]:
        """Return the stored facts of turns, grouped by turn; none where one of them is gone."""
        with suppress(UnknownTurn):
            return self.store.facts(turn_ids)
        return ()

    def _stating(self, hits: Sequence[Hit]) -> tuple[Hit, ...]:
        """Return hits with the facts of those that wait to be read, from their turns."""
        from ..ingest.add import read_facts

        def add_facts(hit: Hit) -> Hit:
            facts = {fact.id: fact for fact in (*read_facts(self.extractor, hit.turn).value, *hit.facts)}
            return replace(hit, facts=tuple(sorted(facts.values(), key=lambda fact: fact.span[0])))

        waiting = self.store.turns_with_pending_job("facts", [hit.turn.id for hit in hits])
        return tuple(add_facts(hit) if hit.turn.id in waiting else hit for hit in hits)


def _is_within(hit: Hit, query: Query) -> bool:
    """Return whether a turn has an event within the bounds of a query, or no dated event."""
    events = [(fact.event.start, fact.event.end) for fact in hit.facts if fact.event]
    dated = [(start, end) for start, end in events if start is not None and end is not None]
    return not dated or any(
        (query.before is None or start < query.before) and (query.after is None or end > query.after)
        for start, end in dated
    )


def _each(flows: Iterable[Flow[T]], progress: Progress | None, size: Callable[[T], int]) -> Flow[list[T]]:
    """Run flows one after another, and tell of each how much it did."""
    tell, results = checked_progress(progress), list[T]()
    for flow in flows:
        if results:
            yield Pause()
        results.append((yield from flow))
        tell(size(results[-1]))
    return results


def clearing_word_caches(flow: Flow[AddReport]) -> Flow[AddReport]:
    """Run a flow that may erase turns, and empty the caches of words that may hold the erased ones."""
    report = yield from flow
    if report.replaced or report.erased:
        clear_word_caches()
    return report


def require_model(model: Any) -> Any:
    """Return a model. Raise NoModel where there is none."""
    if model is None:
        raise NoModel("this loop")
    return model


def workers_for(model: Any) -> int:
    """Return how many requests to make at once: as many as the model takes, so that none waits within its deadline."""
    return max(1, min(MAX_MODEL_REQUESTS, getattr(model, "concurrency", MAX_MODEL_REQUESTS)))
