"""What both doors do: flows where something may be awaited, plain calls where only the file is touched."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from datetime import datetime
from os import PathLike
from pathlib import Path
from typing import Any, TypeVar, cast

from ..calibration import Calibration, Labelled
from ..calibration.calibrate import Judging, Question, calibrate, complaints, gated, in_force, put_right
from ..calibration.fit_map import Wanted
from ..errors import InvalidQuery
from ..extract import RuleExtractor
from ..extract.fact_bounds import BoundedExtractor
from ..flow import Flow, StoreCall, call, run
from ..ingest.add import Remembering
from ..ingest.batch_api import give_batches
from ..ingest.deferred import give_links, give_vectors
from ..ingest.export import write_export
from ..ingest.import_file import import_batches
from ..judging.judge import Judge
from ..llm.extract_facts import MAX_EARLIER as EARLIER
from ..llm.extract_facts import estimate
from ..llm.llm_judge import LLMJudge
from ..loops import answer_question
from ..offline.offline_judge import OfflineJudge
from ..protocols import AsyncEmbedder, Embedder, Extractor
from ..query.find_turns import Filters, check_clock, search
from ..store.sqlite import SqliteStore
from ..types.answer import Answer
from ..types.budget import Budget
from ..types.reports import AddReport, BatchReport, EraseReport, Estimate, Health
from ..types.stored import Job, JobKind
from ..types.trace import Event
from ..types.values import Hit, Turn

T = TypeVar("T")
Moment = datetime | str
AnyPath = str | PathLike[str]
Tell = Callable[[Event], None]
AT_ONCE = 16  # turns put to a model side by side
PAGE = 4 * AT_ONCE  # turns taken from the queue at a time: a slow reply holds up few others


class Core:
    """A store with its embedder, extractor and judge. Knows nothing of threads and event loops."""

    def __init__(
        self,
        store: SqliteStore,
        embedder: Embedder | AsyncEmbedder,
        judge: Judge | None = None,
        extractor: Extractor | None = None,
        model: str = "",
    ) -> None:
        """Take the collaborators; `model` is the name of what the judge asks, if it asks anything."""
        self.store = store
        self.embedder: Any = embedder
        self.judge = judge
        self.model = model
        self.extractor = BoundedExtractor(extractor) if extractor else self.default_extractor()

    @staticmethod
    def default_extractor() -> Extractor:
        """Return what finds facts without a model."""
        return RuleExtractor()

    def extend(self, turns: Iterable[Turn], *, strict: bool = False) -> Iterator[Flow[AddReport]]:
        """Yield a flow for each batch of turns."""
        return Remembering(self.extractor, strict=strict, deferred=self._far(), owes=self._owes()).batches(turns)

    def import_(self, path: Path) -> Iterator[Flow[AddReport]]:
        """Yield a flow for each batch of an export, once the whole file was found well-formed."""
        return import_batches(path, self.extractor.name, deferred=self._far(), owes=self._owes())

    def search(self, query: str, k: int, filters: Filters, asked_at: Moment | None) -> Flow[tuple[Hit, ...]]:
        """Return the flow of a search."""
        return search(query, k, filters, moment("asked_at", asked_at))

    def ask(
        self, question: str, loop: str, asked_at: Moment | None, budget: Budget, tell: Tell | None = None
    ) -> Flow[Answer]:
        """Return the flow of a question; `tell` hears of each event as it comes."""
        return self._asking(question, loop, moment("asked_at", asked_at), budget, tell)

    def _asking(
        self, question: str, loop: str, asked_at: datetime | None, budget: Budget, tell: Tell | None
    ) -> Flow[Answer]:
        judge = yield from put_right(self.judging(budget))
        if isinstance(judge, LLMJudge) and budget.gate:
            judge = yield from gated(judge, self.embedder.name)
        asking = answer_question(question, judge=judge, loop=loop, asked_at=asked_at, budget=budget, tell=tell)
        return (yield from asking)

    def judging(self, budget: Budget = Budget()) -> Judging:
        """Return what judges here, and over which embedder."""
        judge = self.judge.within(budget) if isinstance(self.judge, LLMJudge) else self.judge
        return Judging(judge or OfflineJudge(), self.model, self.embedder.name)

    def calibrate(
        self, questions: Iterable[Labelled], wanted: Wanted, *, keep: bool, progress: Callable[[int], None] | None
    ) -> Flow[Calibration]:
        """Return the flow of a calibration."""
        asked = [Question(one.question, one.answerable, moment("asked_at", one.asked_at)) for one in questions]
        return calibrate(asked, self.judging(), wanted, keep=keep, progress=progress)

    def owed(self) -> Iterator[Flow[int]]:
        """Yield flows, each of which does some of the work that turns are owed, until there is none."""
        for give in (give_vectors, give_links):
            while self.store.due(give.__name__.removeprefix("give_").removesuffix("s"), 1):
                yield give()

    def jobs(self) -> Iterator[tuple[Job, ...]]:
        """Yield turns that a model has not read yet, a few at a time; what is put off is not offered again."""
        if self.judge is None:
            return
        self.store.owe("extract")
        while page := self.store.due("extract", PAGE):
            yield page

    def batch(self) -> Flow[BatchReport]:
        """Return the flow of a round of batches. Raise InvalidQuery where no model reads turns."""
        if self.judge is None:
            raise InvalidQuery("this memory was opened without llm=, so that there is nobody to hand its turns to")
        self.store.owe("extract")
        return give_batches()

    def estimate(self, price: tuple[float, float] | None) -> Estimate:
        """Return what it would take to have a model read what it has not read."""
        return estimate(self.store.unread(EARLIER), price)

    def forget(
        self,
        turns: Sequence[str] | None,
        session: str | None,
        before: Moment | None,
        as_in: AnyPath | None,
        *,
        everything: bool,
    ) -> EraseReport:
        """Erase a selection of turns. Raise InvalidQuery unless exactly one kind of selection is given."""
        kinds = (("turns", turns), ("session", session), ("before", before), ("as_in", as_in))
        given = [name for name, value in kinds if value is not None]
        if len(given) + everything != 1 or isinstance(turns, str):
            raise InvalidQuery(
                f"forget was given {', '.join(given) or 'nothing'}{' and everything' if everything else ''}; "
                "expected one of turns=[ids], session=, before=, as_in= or everything=True"
            )
        if turns is not None:
            return self.store.forget(turns)
        bound = moment("before", before)
        check_clock("before", bound, self.store.roster().last)
        return self.store.forget_where(session=session, before=bound, as_in=None if as_in is None else Path(as_in))

    def change_embedder(self, embedder: Embedder | AsyncEmbedder) -> None:
        """Switch the memory to another embedder; every vector is owed again."""
        self.store.change_embedder(embedder.name, embedder.dimension)
        self.embedder = embedder

    def check(self, *, repair: bool, progress: Callable[[int], None] = lambda turns: None) -> Health:
        """Verify the file against its turns; derive again what differs, if asked to."""
        problems = self.store.check(self.extractor, progress)
        if problems and repair:
            self.store.rebuild(self.extractor)
            problems = self.store.check(self.extractor)
        return self.health(problems)

    def health(self, problems: Sequence[str] = ()) -> Health:
        """Say what is owed and what is wrong, a calibration that no longer holds included."""
        return self.store.health((*problems, *self._filed(complaints(self.judging()))))

    def calibration(self) -> Calibration | None:
        """Return the calibration that is in force."""
        return self._filed(in_force(self.judging()))

    def _filed(self, flow: Flow[T]) -> T:
        """Run a flow that asks for nothing but the file."""
        return run(flow, lambda effect: call(self.store, cast(StoreCall, effect)))

    def export(self, path: Path, progress: Callable[[int], None] = lambda turns: None) -> None:
        """Write every turn with its facts as lines of JSON."""
        write_export(path, self.store.pairs(), progress)

    def _owes(self) -> tuple[JobKind, ...]:
        return () if self.judge is None else ("extract",)

    def _far(self) -> bool:
        return bool(getattr(self.embedder, "remote", False))


def moment(what: str, value: Moment | None) -> datetime | None:
    """Return a datetime of what a caller gave. Raise InvalidQuery for anything that is not a time."""
    if value is None or isinstance(value, datetime):
        return value
    try:
        return datetime.fromisoformat(value.strip().replace("Z", "+00:00"))
    except (ValueError, AttributeError) as error:
        raise InvalidQuery(f"{what} is {value!r}; expected a datetime or an ISO 8601 string") from error


def filters(
    before: Moment | None, after: Moment | None, speaker: str | None, session: str | None, exclude: Collection[str]
) -> Filters:
    """Return the hard filters of a search."""
    if isinstance(exclude, str):
        raise InvalidQuery(f"exclude is the string {exclude!r}; expected a collection of turn ids")
    return Filters(moment("before", before), moment("after", after), speaker, session, frozenset(exclude))
