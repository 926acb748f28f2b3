"""Flows: evimem's logic as generators that never do I/O.

A flow yields an effect and is sent its result. `run` and `arun` are the only two functions that know whether the
caller is async; the doors perform the effects.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Generator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias, TypeVar

from .protocols import About, Entry, Job, Reply, Roster, Store, Vectors
from .types import AddReport, Fact, Hit, Query, Turn

T = TypeVar("T")
ModelRole = Literal["judge", "answer", "extract"]
JobKind = Literal["vector", "link", "extract"]


@dataclass(frozen=True, slots=True)
class Complete:
    """Ask the chat model in a role. `system` holds instructions only; retrieved text is data, inside `prompt`."""

    role: ModelRole
    system: str
    prompt: str
    schema: Mapping[str, Any] | None = field(default=None, hash=False)


@dataclass(frozen=True, slots=True)
class StartBatch:
    """Hand requests, by key, to the model's batch service; the result is the batch's id."""

    requests: Mapping[str, Complete] = field(hash=False)


@dataclass(frozen=True, slots=True)
class CollectBatch:
    """Ask what a batch came to: a `Reply` or a ModelError a request, or None while it is worked on."""

    batch_id: str
    requests: Mapping[str, Complete] = field(hash=False)


@dataclass(frozen=True, slots=True)
class Embed:
    """Ask the embedder; the result has one row a text."""

    texts: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Recall:
    """Ask the store for the best turns (`Store.recall`)."""

    query: Query


@dataclass(frozen=True, slots=True)
class Expand:
    """Ask the store for what lies one edge away (`Store.expand`)."""

    turn_ids: tuple[str, ...]
    limit: int


@dataclass(frozen=True, slots=True)
class Read:
    """Ask the store for turns (`Store.read`)."""

    turn_ids: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Context:
    """Ask the store for the turns around one (`Store.context`)."""

    turn_id: str
    before: int
    after: int


@dataclass(frozen=True, slots=True)
class Contexts:
    """Ask the store for the turns around each of several (`Store.contexts`)."""

    turn_ids: tuple[str, ...]
    before: int
    after: int


@dataclass(frozen=True, slots=True)
class Facts:
    """Ask the store for the facts of turns (`Store.facts`)."""

    turn_ids: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class AboutEntity:
    """Ask the store what it knows of an entity (`Store.about`)."""

    entity: str
    limit: int


@dataclass(frozen=True, slots=True)
class WhoSpeaks:
    """Ask the store for its roster (`Store.roster`)."""


@dataclass(frozen=True, slots=True)
class Known:
    """Ask the store which of these turns it already holds (`Store.known`)."""

    turns: tuple[Turn, ...]


@dataclass(frozen=True, slots=True)
class Write:
    """Ask the store to keep a batch (`Store.write`)."""

    entries: tuple[Entry, ...]
    strict: bool = False


@dataclass(frozen=True, slots=True)
class Due:
    """Ask the store for turns that are owed some derived work (`Store.due`)."""

    kind: JobKind
    limit: int
    reason: str | None = None


@dataclass(frozen=True, slots=True)
class Settle:
    """Give the store what was owed to turns (`Store.settle`)."""

    kind: JobKind
    entries: tuple[Entry, ...]


@dataclass(frozen=True, slots=True)
class Postpone:
    """Tell the store that work on a turn failed (`Store.postpone`)."""

    kind: JobKind
    turn_id: str
    error: str
    seconds: float | None


@dataclass(frozen=True, slots=True)
class Hold:
    """Tell the store that work on turns is done elsewhere (`Store.hold`)."""

    kind: JobKind
    turn_ids: tuple[str, ...]
    reason: str
    seconds: float


@dataclass(frozen=True, slots=True)
class Setting:
    """Ask the store for something that was kept under a name (`Store.setting`)."""

    name: str


@dataclass(frozen=True, slots=True)
class KeepSetting:
    """Tell the store to keep something under a name (`Store.keep_setting`)."""

    name: str
    value: str | None


StoreEffect: TypeAlias = (
    Recall
    | Expand
    | Read
    | Context
    | Contexts
    | Facts
    | AboutEntity
    | WhoSpeaks
    | Known
    | Write
    | Due
    | Settle
    | Postpone
    | Hold
    | Setting
    | KeepSetting
)
Effect: TypeAlias = Complete | StartBatch | CollectBatch | Embed | StoreEffect
Flow: TypeAlias = Generator[Effect, Any, T]


def complete(request: Complete) -> Flow[Reply]:
    """Ask the model; return its reply."""
    reply: Reply = yield request
    return reply


def embed(texts: Sequence[str]) -> Flow[Vectors]:
    """Return one vector a text."""
    vectors: Vectors = yield Embed(tuple(texts))
    return vectors


def recall(query: Query) -> Flow[tuple[Hit, ...]]:
    """Return the best turns for a query."""
    hits: tuple[Hit, ...] = yield Recall(query)
    return hits


def expand(turn_ids: Sequence[str], limit: int) -> Flow[tuple[Hit, ...]]:
    """Return the turns one edge away from these."""
    hits: tuple[Hit, ...] = yield Expand(tuple(turn_ids), limit)
    return hits


def read(turn_ids: Sequence[str]) -> Flow[tuple[Turn, ...]]:
    """Return these turns."""
    turns: tuple[Turn, ...] = yield Read(tuple(turn_ids))
    return turns


def context(turn_id: str, before: int, after: int) -> Flow[tuple[Turn, ...]]:
    """Return the turns around one."""
    turns: tuple[Turn, ...] = yield Context(turn_id, before, after)
    return turns


def contexts(turn_ids: Sequence[str], before: int, after: int) -> Flow[tuple[tuple[Turn, ...], ...]]:
    """Return, for each of these turns, those around it and itself."""
    turns: tuple[tuple[Turn, ...], ...] = yield Contexts(tuple(turn_ids), before, after)
    return turns


def facts_of(turn_ids: Sequence[str]) -> Flow[tuple[Fact, ...]]:
    """Return the facts of these turns."""
    facts: tuple[Fact, ...] = yield Facts(tuple(turn_ids))
    return facts


def about(entity: str, limit: int) -> Flow[About]:
    """Return what is known of an entity."""
    known: About = yield AboutEntity(entity, limit)
    return known


def who_speaks() -> Flow[Roster]:
    """Return the roster."""
    roster: Roster = yield WhoSpeaks()
    return roster


def known(turns: Sequence[Turn]) -> Flow[tuple[bool, ...]]:
    """Return which of these turns are already there, with the same content."""
    held: tuple[bool, ...] = yield Known(tuple(turns))
    return held


def write(entries: Sequence[Entry], *, strict: bool = False) -> Flow[AddReport]:
    """Keep a batch; return what became of it."""
    report: AddReport = yield Write(tuple(entries), strict)
    return report


def due(kind: JobKind, limit: int, reason: str | None = None) -> Flow[tuple[Job, ...]]:
    """Return turns that are owed some work, the oldest first; with a reason, those that wait for it."""
    jobs: tuple[Job, ...] = yield Due(kind, limit, reason)
    return jobs


def hold(kind: JobKind, turn_ids: Sequence[str], reason: str, seconds: float) -> Flow[None]:
    """Offer no work on these turns for so many seconds, for a reason."""
    yield Hold(kind, tuple(turn_ids), reason, seconds)


def start_batch(requests: Mapping[str, Complete]) -> Flow[str]:
    """Hand in requests; return the batch's id."""
    batch_id: str = yield StartBatch(requests)
    return batch_id


def collect_batch(batch_id: str, requests: Mapping[str, Complete]) -> Flow[Mapping[str, Any] | None]:
    """Return what became of each request, or None while the batch is worked on."""
    outcomes: Mapping[str, Any] | None = yield CollectBatch(batch_id, requests)
    return outcomes


def settle(kind: JobKind, entries: Sequence[Entry]) -> Flow[None]:
    """Keep what was owed."""
    yield Settle(kind, tuple(entries))


def postpone(kind: JobKind, turn_id: str, error: str, seconds: float | None) -> Flow[None]:
    """Try again after so many seconds, or never (None: the job is kept as failed)."""
    yield Postpone(kind, turn_id, error, seconds)


def setting(name: str) -> Flow[str | None]:
    """Return what was kept under a name."""
    value: str | None = yield Setting(name)
    return value


def keep_setting(name: str, value: str | None) -> Flow[None]:
    """Keep something under a name; None takes it away."""
    yield KeepSetting(name, value)


def run(flow: Flow[T], perform: Callable[[Effect], Any]) -> T:
    """Drive a flow to its return value, performing each effect as it comes."""
    try:
        effect = next(flow)
        while True:
            try:
                result = perform(effect)
            except Exception as error:  # noqa: BLE001 - the flow decides what a failure means
                effect = flow.throw(error)
            else:
                effect = flow.send(result)
    except StopIteration as done:
        value: T = done.value
        return value


async def arun(flow: Flow[T], perform: Callable[[Effect], Awaitable[Any]]) -> T:
    """Drive a flow as `run` does, awaiting each effect."""
    try:
        effect = next(flow)
        while True:
            try:
                result = await perform(effect)
            except Exception as error:  # noqa: BLE001 - the flow decides what a failure means
                effect = flow.throw(error)
            else:
                effect = flow.send(result)
    except StopIteration as done:
        value: T = done.value
        return value


def serve(store: Store, effect: StoreEffect) -> Any:
    """Perform an effect that only the store can."""
    return _SERVICES[type(effect)](store, effect)


_SERVICES: dict[type[Any], Callable[[Store, Any], Any]] = {
    Recall: lambda store, e: store.recall(e.query),
    Expand: lambda store, e: store.expand(e.turn_ids, e.limit),
    Read: lambda store, e: store.read(e.turn_ids),
    Context: lambda store, e: store.context(e.turn_id, e.before, e.after),
    Contexts: lambda store, e: store.contexts(e.turn_ids, e.before, e.after),
    Facts: lambda store, e: store.facts(e.turn_ids),
    AboutEntity: lambda store, e: store.about(e.entity, e.limit),
    WhoSpeaks: lambda store, e: store.roster(),
    Known: lambda store, e: store.known(e.turns),
    Write: lambda store, e: store.write(e.entries, strict=e.strict),
    Due: lambda store, e: store.due(e.kind, e.limit, e.reason),
    Hold: lambda store, e: store.hold(e.kind, e.turn_ids, e.reason, e.seconds),
    Settle: lambda store, e: store.settle(e.kind, e.entries),
    Postpone: lambda store, e: store.postpone(e.kind, e.turn_id, e.error, e.seconds),
    Setting: lambda store, e: store.setting(e.name),
    KeepSetting: lambda store, e: store.keep_setting(e.name, e.value),
}
