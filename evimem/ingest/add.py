"""Add turns: validate, extract, embed and write, one transaction per batch."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import datetime
from itertools import accumulate, chain, islice, pairwise
from typing import Any, TypeAlias

from ..errors import Attempt, DimensionMismatch, EmbedderError, InvalidTurn, attempt, shown
from ..flow import Flow, embed
from ..index.document import embedding_texts
from ..loaders.conversation import ImportedTurn
from ..protocols import Extractor, Store
from ..query.find_turns import cause_of, is_of_texts
from ..raw.validate import AS_GIVEN, LocalTimes, TurnValidator
from ..text.memory_fence import without_blocks
from ..types.results import AddReport, TurnStatus
from ..types.stored import Entry, JobKind
from ..types.values import Fact, Turn
from ..types.vectors import Vectors

Embedded: TypeAlias = "Vectors | Unembedded"

_RECALLED = "its text is a block that evimem wrote for a prompt, and nothing else"
_UNREAD: Attempt[tuple[Fact, ...]] = Attempt(())
_FEW = 8  # turns
BATCH = 256  # turns per transaction: near the best rate, and little to repeat after a crash


@dataclass(frozen=True, slots=True)
class Unembedded:
    """A group with a text for which the embedder fails; `error` is the type of what it raised."""

    error: str


def embed_groups(groups: Iterable[Sequence[str]]) -> Flow[list[Embedded]]:
    """Return the vectors of each group of texts, float32 of shape (texts in the group, dimension), in order.

    They are asked for with one request. Where that fails though the embedder works, by halves, until the groups are
    found that it fails for. Raise EmbedderError where it cannot be reached, or DimensionMismatch where it is another
    than the memory was built with; then no group has vectors.
    """
    texts = list(groups)
    try:
        vectors = yield from embed(list(chain.from_iterable(texts)))
    except (EmbedderError, DimensionMismatch) as error:
        if not (yield from is_of_texts(error)):
            raise
        if len(texts) == 1:
            return [Unembedded(cause_of(error))]
        half = len(texts) // 2
        return (yield from embed_groups(texts[:half])) + (yield from embed_groups(texts[half:]))
    bounds = accumulate(map(len, texts), initial=0)
    return [vectors[start:end] for start, end in pairwise(bounds)]


def embed_turns(
    turns: Sequence[tuple[Turn, int | None]], further: Sequence[Sequence[str]] = ()
) -> Flow[list[Embedded]]:
    """Return the vectors of the passages of each turn, given the number of its rows, and of further groups of texts."""
    read = [attempt((), embedding_texts, turn, rows) for turn, rows in turns]
    vectors = yield from embed_groups([*(one.value for one in read), *further])
    own = [one if texts.error is None else Unembedded(texts.error) for texts, one in zip(read, vectors, strict=False)]
    return [*own, *vectors[len(turns) :]]


def embedded(found: Embedded | None) -> Vectors | None:
    """Return the vectors of a group, None where it has none."""
    return None if isinstance(found, Unembedded) else found


@dataclass(slots=True)
class Ingestion:
    """Stores the turns of one call `into` a memory.

    `strict` raises at the first invalid turn instead of reporting it as refused.

    Without an `extractor`, facts are left to the queue. `replace` erases other content of a known id; `deferred` leaves
    embeddings to the queue, for a remote embedder; `jobs` are queued for every turn; `times` brings each time to the
    kind that the memory holds; `now` tells the time of a turn that is said "now"; of the ids in `unread`, facts are
    left to the queue too.
    """

    into: Store
    extractor: Extractor | None
    strict: bool = False
    replace: bool = False
    deferred: bool = False
    jobs: tuple[JobKind, ...] = ()
    times: LocalTimes = AS_GIVEN
    now: Callable[[], datetime] | None = None
    admit: TurnValidator = field(default_factory=TurnValidator)
    unread: frozenset[str] = frozenset()

    def batches(self, turns: Iterable[Turn]) -> Iterator[Flow[AddReport]]:
        """Yield one flow per batch; its turns are durable when it returns."""
        try:
            turns = iter(turns)
        except TypeError as error:
            raise InvalidTurn(f"turns is a {type(turns).__name__}; expected an iterable of evimem.Turn") from error
        while batch := list(islice(turns, BATCH)):
            yield self.store(batch)

    def store(self, turns: Sequence[Turn]) -> Flow[AddReport]:
        """Store a batch; report each turn's outcome, in order. With `strict`, raise InvalidTurn or TurnConflict.

        With `replace`, a known id with other content is no conflict: that content is erased.
        """
        if self.now is not None and any(getattr(turn, "time", None) == "now" for turn in turns):
            now = self.now()
            turns = [replace(turn, time=now) if getattr(turn, "time", None) == "now" else turn for turn in turns]
        stored_as, gone = _imported(self.into, turns)
        outcomes = [self.admitted(stored_as.get(place, turn)) for place, turn in enumerate(turns)]
        admitted = [outcome for outcome in outcomes if isinstance(outcome, Turn)]
        # What is there would be embedded for nothing; of a few turns, which seldom are, that costs less than to ask.
        stored = self.into.known(admitted) if len(admitted) > _FEW else [False] * len(admitted)
        fresh = [turn for turn, is_known in zip(admitted, stored, strict=True) if not is_known]
        entries = iter((yield from self.entries(fresh)))
        whole = [Entry(turn) if is_known else next(entries) for turn, is_known in zip(admitted, stored, strict=True)]
        report = write(self.into, whole, strict=self.strict, replace=self.replace, gone=gone)
        written = iter(report.statuses)
        statuses = tuple(next(written) if isinstance(outcome, Turn) else outcome for outcome in outcomes)
        return AddReport.of(statuses, report.facts, report.erased)

    def admitted(self, turn: Turn) -> Turn | TurnStatus:
        """Return a turn with its defaults, or why it is not stored. With `strict`, raise InvalidTurn."""
        own = _without_blocks(turn)
        if isinstance(own, TurnStatus):
            return own
        try:
            return self.admit(own, self.times)
        except InvalidTurn as error:
            if self.strict:
                raise
            given = getattr(turn, "id", "")
            return TurnStatus(given if isinstance(given, str) else shown(given), "refused", str(error))

    def entries(self, turns: Sequence[Turn]) -> Flow[list[Entry]]:
        """Return turns with their vectors and, with an extractor, their facts."""
        read = [read_facts(self.extractor, turn) if self.extractor else _UNREAD for turn in turns]
        passages: Sequence[Embedded | None] = [None] * len(turns)
        facts: Sequence[Embedded | None] = passages
        if turns and not self.deferred:
            with suppress(EmbedderError):  # the turns are found by their terms; health() reports the vectors as pending
                passages, facts = yield from _vectors(turns, [found.value for found in read])
        return [self._entry(*parts) for parts in zip(turns, read, passages, facts, strict=True)]

    def _entry(
        self, turn: Turn, read: Attempt[tuple[Fact, ...]], passages: Embedded | None, facts: Embedded | None
    ) -> Entry:
        failed: list[tuple[JobKind, str]] = [] if read.error is None else [("facts", read.error)]
        outcomes: tuple[tuple[JobKind, Embedded | None], ...] = (("vector", passages), ("link", facts))
        failed += [(kind, one.error) for kind, one in outcomes if isinstance(one, Unembedded)]
        waits = self.extractor is None or turn.id in self.unread
        jobs: tuple[JobKind, ...] = ("facts", *self.jobs) if waits else self.jobs
        return Entry(turn, read.value, embedded(passages), embedded(facts), jobs, tuple(failed))


def write(
    store: Store, entries: Sequence[Entry], *, strict: bool = False, replace: bool = False, gone: Sequence[str] = ()
) -> AddReport:
    """Keep a batch, in as many transactions as the store makes of it; return what became of it."""
    left, reports = entries, list[AddReport]()
    while left or not reports:
        reports.append(store.write(left, strict=strict, replace=replace, gone=gone))
        left = left[len(reports[-1].statuses) :]
    return AddReport.of_all(reports)


def _imported(store: Store, turns: Sequence[Any]) -> tuple[dict[int, Turn], list[str]]:
    """Return what stands in the memory for turns of exports, by their place, and the ids of abandoned turns.

    A message is known by its id, also by the one that an earlier version gave it in that session: its title and its
    time may have changed since. A turn is abandoned only if it says what the export says of it: a turn of that id
    that came another way, or was changed since, stays.
    """
    exported = {place: turn for place, turn in enumerate(turns) if isinstance(turn, ImportedTurn)}
    left = [turn for one in exported.values() for turn in one.abandoned]
    if not exported:
        return {}, []
    ids = list(dict.fromkeys(id for turn in (*exported.values(), *left) for id in (turn.id, turn.former_id) if id))
    stored = {turn.id: turn for turn in store.find(ids) if turn is not None}
    stands = {}
    for place, turn in exported.items():
        old = next((kept for kept in _kept(turn, stored) if _same_words(kept, turn)), None)
        if old is None and (former := [kept for kept in _kept(turn, stored) if kept.id == turn.former_id]):
            old = replace(turn, id=former[0].id)  # its words differ: no second turn for it
        if old is not None:
            stands[place] = old
    here = {*(turn.id for turn in exported.values()), *(turn.id for turn in stands.values())}
    gone = (kept.id for turn in left for kept in _kept(turn, stored) if _same_words(kept, turn))
    return stands, [id for id in dict.fromkeys(gone) if id not in here]


def _kept(turn: ImportedTurn, stored: Mapping[str, Turn]) -> list[Turn]:
    found = (stored.get(id) for id in (turn.id, turn.former_id))
    return [kept for kept in found if kept is not None and kept.session == turn.session]


def _same_words(kept: Turn, turn: Turn) -> bool:
    return (kept.speaker, kept.text, kept.caption) == (turn.speaker, turn.text, turn.caption)


def _without_blocks(turn: Any) -> Any:
    """Return a turn without what evimem itself wrote for a prompt (see `Memory.block`), or its status if that is all.

    Anything else than a turn is returned as it is.
    """
    if not isinstance(turn, Turn):
        return turn
    text, caption = _own(turn.text), _own(turn.caption)
    if text is turn.text and caption is turn.caption:
        return turn
    if not text and not caption:
        return TurnStatus(str(turn.id), "dropped", _RECALLED)
    return replace(turn, text=text, caption=caption or None)


def _own(said: Any) -> Any:
    return without_blocks(said) if isinstance(said, str) else said


def _vectors(turns: Sequence[Turn], facts: Sequence[tuple[Fact, ...]]) -> Flow[tuple[list[Embedded], list[Embedded]]]:
    """Embed the passages and the facts of turns in one request. Raise EmbedderError where the embedder is not there."""
    texts = [[fact.text for fact in found] for found in facts]
    vectors = yield from embed_turns([(turn, None) for turn in turns], texts)
    return vectors[: len(turns)], vectors[len(turns) :]


def read_facts(extractor: Extractor, turn: Turn) -> Attempt[tuple[Fact, ...]]:
    """Return the facts that an extractor finds in a turn; none, and what it raised, where it fails for that turn."""
    return attempt((), extractor.extract, turn)
