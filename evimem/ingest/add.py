"""Add turns: validate, extract, embed and write, one transaction per batch."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import datetime
from itertools import accumulate, chain, islice, pairwise
from typing import Any, TypeAlias

from ..errors import Attempt, DimensionMismatch, EmbedderError, InvalidTurn, shown, try_read
from ..flow import Flow, embed
from ..index.document import embedding_texts
from ..loaders.conversation import ImportedTurn
from ..protocols import Extractor, Store
from ..query.find_turns import cause_of, texts_are_at_fault
from ..raw.validate import AS_GIVEN, LocalTimes, TurnValidator
from ..text.memory_fence import without_blocks
from ..types.results import AddReport, TurnStatus
from ..types.stored import Entry, JobKind
from ..types.values import Fact, Turn
from ..types.vectors import Vectors

_RECALLED = "its text is a block that evimem wrote for a prompt, and nothing else"
_FEW_TURNS = 8  # turns up to which none is looked up before it is written
BATCH_TURNS = 256  # turns per transaction: near the best rate, and little to repeat after a crash

Embedded: TypeAlias = Attempt[Vectors | None]  # of a group of texts; None where it is left to the queue
_LEFT: Embedded = Attempt(None)


def embed_groups(groups: Iterable[Sequence[str]], *, works: bool = False) -> Flow[list[Embedded]]:
    """Return the vectors of each group of texts, float32 of shape (texts in the group, dimension), in order.

    They are asked for with one request. Where that fails though the embedder works, by halves, until the groups are
    found that it fails for: those have the type of its exception. Whether it `works` a text of our own shows once.
    Raise EmbedderError where it does not, or DimensionMismatch where it is another than the memory was built with; then
    no group has vectors.
    """
    texts = list(groups)
    try:
        vectors = yield from embed(list(chain.from_iterable(texts)))
    except (EmbedderError, DimensionMismatch) as error:
        # Once it works, an error that says that the texts are not the reason still ends this: it is asked no further.
        if not (works and getattr(error, "of_texts", None)) and not (yield from texts_are_at_fault(error)):
            raise
        if len(texts) == 1:
            return [Attempt(None, cause_of(error))]
        half = len(texts) // 2
        first = yield from embed_groups(texts[:half], works=True)
        return first + (yield from embed_groups(texts[half:], works=True))
    bounds = accumulate(map(len, texts), initial=0)
    return [Attempt(vectors[start:end]) for start, end in pairwise(bounds)]


def embed_turns(
    turns: Sequence[tuple[Turn, int | None]], further: Sequence[Sequence[str]] = ()
) -> Flow[list[Embedded]]:
    """Return the vectors of the passages of each turn, given the number of its rows, and of further groups of texts."""
    read = [try_read((), embedding_texts, turn, rows) for turn, rows in turns]
    vectors = yield from embed_groups([*(one.value for one in read), *further])
    for place, texts in enumerate(read):
        vectors[place] = vectors[place] if texts.error is None else Attempt(None, texts.error)
    return vectors


@dataclass(slots=True)
class Ingestion:
    """Stores the turns of one call `into` a memory.

    `strict` raises at the first invalid turn instead of reporting it as refused.

    `read` finds the facts of a turn; without it they are left to the queue. `replace` erases other content of a known
    id; `deferred` leaves embeddings to the queue, for a remote embedder; `jobs` are queued for every turn; `times`
    brings each time to the kind that the memory holds; `now` tells the time of a turn that is said "now".
    """

    into: Store
    read: Callable[[Turn], Attempt[tuple[Fact, ...]]] | None
    strict: bool = False
    replace: bool = False
    deferred: bool = False
    jobs: tuple[JobKind, ...] = ()
    times: LocalTimes = AS_GIVEN
    now: Callable[[], datetime] | None = None
    admit: TurnValidator = field(default_factory=TurnValidator)

    def batches(self, turns: Iterable[Turn]) -> Iterator[Flow[AddReport]]:
        """Yield one flow per batch; its turns are durable when it returns."""
        try:
            turns = iter(turns)
        except TypeError as error:
            raise InvalidTurn(f"turns is a {type(turns).__name__}; expected an iterable of evimem.Turn") from error
        while batch := list(islice(turns, BATCH_TURNS)):
            yield self.store_batch(batch)

    def store_batch(self, turns: Sequence[Turn]) -> Flow[AddReport]:
        """Store a batch; report each turn's outcome, in order. With `strict`, raise InvalidTurn or TurnConflict.

        With `replace`, a known id with other content is no conflict: that content is erased.
        """
        if self.now is not None and any(getattr(turn, "time", None) == "now" for turn in turns):
            now = self.now()
            turns = [replace(turn, time=now) if getattr(turn, "time", None) == "now" else turn for turn in turns]
        stored_as, gone = _find_stored_counterparts(self.into, turns)
        outcomes = [self.admit_turn(stored_as.get(place, turn)) for place, turn in enumerate(turns)]
        admitted = [outcome for outcome in outcomes if isinstance(outcome, Turn)]
        # Turns that are there would be embedded for nothing; of a few turns, which seldom are, that costs less than to
        # ask.
        stored = self.into.known(admitted) if len(admitted) > _FEW_TURNS else [False] * len(admitted)
        fresh = [turn for turn, is_known in zip(admitted, stored, strict=True) if not is_known]
        entries = iter((yield from self.make_entries(fresh)))
        whole = [Entry(turn) if is_known else next(entries) for turn, is_known in zip(admitted, stored, strict=True)]
        report = store_entries(self.into, whole, strict=self.strict, replace=self.replace, gone=gone)
        written = iter(report.statuses)
        statuses = tuple(next(written) if isinstance(outcome, Turn) else outcome for outcome in outcomes)
        return AddReport.of(statuses, report.facts, report.erased)

    def admit_turn(self, turn: Turn) -> Turn | TurnStatus:
        """Return a turn with its defaults, or why it is not stored. With `strict`, raise InvalidTurn."""
        own = _remove_quoted_blocks(turn)
        if isinstance(own, TurnStatus):
            return own
        try:
            return self.admit(own, self.times)
        except InvalidTurn as error:
            if self.strict:
                raise
            given = getattr(turn, "id", "")
            return TurnStatus(given if isinstance(given, str) else shown(given), "refused", str(error))

    def make_entries(self, turns: Sequence[Turn]) -> Flow[list[Entry]]:
        """Return turns with their vectors and, where they are read, their facts."""
        none: Attempt[tuple[Fact, ...]] = Attempt(())
        read = [self.read(turn) if self.read else none for turn in turns]
        vectors = [_LEFT] * (2 * len(turns))  # of the passages of each turn, then of its facts
        if turns and not self.deferred:
            with suppress(EmbedderError):  # the turns are found by their terms; health() reports the vectors as pending
                texts = [[fact.text for fact in found.value] for found in read]
                vectors = yield from embed_turns([(turn, None) for turn in turns], texts)
        entries = []
        for turn, facts, own, of_facts in zip(turns, read, vectors, vectors[len(turns) :], strict=False):
            tried: dict[JobKind, str | None] = {"facts": facts.error, "vector": own.error, "link": of_facts.error}
            failed = tuple((kind, error) for kind, error in tried.items() if error is not None)
            jobs: tuple[JobKind, ...] = self.jobs if self.read else ("facts", *self.jobs)
            entries.append(Entry(turn, facts.value, own.value, of_facts.value, jobs, failed))
        return entries


def store_entries(
    store: Store, entries: Sequence[Entry], *, strict: bool = False, replace: bool = False, gone: Sequence[str] = ()
) -> AddReport:
    """Keep a batch, in as many transactions as the store makes of it; return the outcomes."""
    left, reports = entries, list[AddReport]()
    while left or not reports:
        reports.append(store.write(left, strict=strict, replace=replace, gone=gone))
        left = left[len(reports[-1].statuses) :]
    return AddReport.of_all(reports)


def _find_stored_counterparts(store: Store, turns: Sequence[Any]) -> tuple[dict[int, Turn], list[str]]:
    """Return the stored counterparts of turns of exports, by their place, and the ids of abandoned turns.

    A message is known by its id, also by the one that an earlier version gave it in that session: its title and its
    time may have changed since. A turn is abandoned only if it has the content that the export gives it: a turn of that
    id that came another way, or was changed since, stays.
    """
    exported = {place: turn for place, turn in enumerate(turns) if isinstance(turn, ImportedTurn)}
    left = [turn for one in exported.values() for turn in one.abandoned]
    if not exported:
        return {}, []
    ids = dict.fromkeys(id for turn in (*exported.values(), *left) for id in (turn.id, turn.former_id) if id)
    stored = {turn.id: turn for turn in store.find([*ids]) if turn is not None}

    def kept(turn: ImportedTurn) -> tuple[Turn | None, Turn | None]:
        """Return the stored turn with the content of a message, and the one that has its former id."""
        found = [stored.get(id) for id in (turn.id, turn.former_id)]
        same, former = (old if old is not None and old.session == turn.session else None for old in found)
        said = (turn.speaker, turn.text, turn.caption)
        alike = (old for old in (same, former) if old is not None and (old.speaker, old.text, old.caption) == said)
        return next(alike, None), former

    stands: dict[int, Turn] = {}
    for place, turn in exported.items():
        alike, former = kept(turn)
        if alike is not None:
            stands[place] = alike
        elif former is not None:
            stands[place] = replace(turn, id=former.id)  # its words differ: no second turn for it
    here = {*(turn.id for turn in exported.values()), *(turn.id for turn in stands.values())}
    gone = [old.id for turn in left if (old := kept(turn)[0]) is not None]
    return stands, [id for id in dict.fromkeys(gone) if id not in here]


def _remove_quoted_blocks(turn: Any) -> Any:
    """Return a turn without text that evimem wrote for a prompt (see `Memory.block`), or its status if that is all.

    Anything else than a turn is returned as it is.
    """
    if not isinstance(turn, Turn):
        return turn
    said: tuple[Any, Any] = (turn.text, turn.caption)
    text, caption = (without_blocks(one) if isinstance(one, str) else one for one in said)
    if text is turn.text and caption is turn.caption:
        return turn
    if not text and not caption:
        return TurnStatus(str(turn.id), "dropped", _RECALLED)
    return replace(turn, text=text, caption=caption or None)


def read_facts(extractor: Extractor, turn: Turn) -> Attempt[tuple[Fact, ...]]:
    """Return the facts that an extractor finds in a turn; none, and its exception, where it fails for that turn."""
    return try_read((), extractor.extract, turn)
