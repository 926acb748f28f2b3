"""Flows: evimem's logic as generators that never do I/O.

A flow yields an effect and is sent its result. `advance` is the one driver: the doors perform the effects, and say
which of them wait for others. Whatever only the store can do is one effect, `StoreCall`, with a typed wrapper
for each verb that a flow may use.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Collection, Generator, Iterable, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, wait
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, Generic, TypeAlias, TypeVar

from .protocols import Store
from .types.model import Complete, Reply
from .types.reports import AddReport
from .types.stored import (
    EVERYTHING,
    About,
    Continuation,
    Entry,
    Holding,
    Job,
    JobKind,
    Keyword,
    Past,
    PastWanted,
    Roster,
    Scope,
)
from .types.values import Fact, Hit, Query, Turn
from .types.vectors import Vectors

T = TypeVar("T")


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
    """Ask the embedder; the result is `Vectors`, one row a text."""

    texts: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class StoreCall:
    """Call a method of the store (see `Store`); the result is what it returns."""

    method: str
    args: tuple[Any, ...] = ()
    options: Mapping[str, Any] = field(default_factory=dict, hash=False)


Effect: TypeAlias = Complete | StartBatch | CollectBatch | Embed | StoreCall
Flow: TypeAlias = Generator[Effect, Any, T]


def complete(request: Complete) -> Flow[Reply]:
    """Ask the model; return its reply."""
    reply: Reply = yield request
    return reply


def start_batch(requests: Mapping[str, Complete]) -> Flow[str]:
    """Hand in requests; return the batch's id."""
    batch_id: str = yield StartBatch(requests)
    return batch_id


def collect_batch(batch_id: str, requests: Mapping[str, Complete]) -> Flow[Mapping[str, Any] | None]:
    """Return what became of each request, or None while the batch is worked on."""
    outcomes: Mapping[str, Any] | None = yield CollectBatch(batch_id, requests)
    return outcomes


def embed(texts: Sequence[str]) -> Flow[Vectors]:
    """Return one vector a text, shape (len(texts), dimension)."""
    vectors: Vectors = yield Embed(tuple(texts))
    return vectors


def recall(query: Query) -> Flow[tuple[Hit, ...]]:
    """Return the best turns for a query."""
    hits: tuple[Hit, ...] = yield StoreCall("recall", (query,))
    return hits


def expand(turn_ids: Sequence[str], limit: int, scope: Scope = EVERYTHING) -> Flow[tuple[Hit, ...]]:
    """Return the turns of a scope one edge away from these."""
    hits: tuple[Hit, ...] = yield StoreCall("expand", (tuple(turn_ids), limit, scope))
    return hits


def read(turn_ids: Sequence[str]) -> Flow[tuple[Turn, ...]]:
    """Return these turns."""
    turns: tuple[Turn, ...] = yield StoreCall("read", (tuple(turn_ids),))
    return turns


def find(turn_ids: Sequence[str]) -> Flow[tuple[Turn | None, ...]]:
    """Return these turns, None for each that is not there."""
    turns: tuple[Turn | None, ...] = yield StoreCall("find", (tuple(turn_ids),))
    return turns


def contexts(turn_ids: Sequence[str], before: int, after: int) -> Flow[tuple[tuple[Turn, ...], ...]]:
    """Return, for each of these turns, those around it and itself."""
    turns: tuple[tuple[Turn, ...], ...] = yield StoreCall("contexts", (tuple(turn_ids), before, after))
    return turns


def order(turn_ids: Sequence[str]) -> Flow[tuple[str, ...]]:
    """Return these ids in dialogue order."""
    ordered: tuple[str, ...] = yield StoreCall("order", (tuple(turn_ids),))
    return ordered


def facts_of(turn_ids: Sequence[str]) -> Flow[tuple[Fact, ...]]:
    """Return the facts of these turns."""
    facts: tuple[Fact, ...] = yield StoreCall("facts", (tuple(turn_ids),))
    return facts


def about(entity: str, limit: int, scope: Scope = EVERYTHING) -> Flow[About]:
    """Return what is known of an entity within a scope."""
    found: About = yield StoreCall("about", (entity, limit, scope))
    return found


def keywords(words: Sequence[str], scope: Scope = EVERYTHING) -> Flow[tuple[Keyword, ...]]:
    """Return the keywords of a scope that words match."""
    found: tuple[Keyword, ...] = yield StoreCall("keywords", (tuple(words), scope))
    return found


def holding(terms: Collection[str], limit: int, scope: Scope = EVERYTHING) -> Flow[Holding]:
    """Return how many turns of a scope have all of these terms, and the newest of them."""
    found: Holding = yield StoreCall("holding", (tuple(terms), limit, scope))
    return found


def roster() -> Flow[Roster]:
    """Return who speaks in the memory and since when."""
    found: Roster = yield StoreCall("roster")
    return found


def known(turns: Sequence[Turn]) -> Flow[tuple[bool, ...]]:
    """Return which of these turns are already there, with the same content."""
    held: tuple[bool, ...] = yield StoreCall("known", (tuple(turns),))
    return held


def write(
    entries: Sequence[Entry], *, strict: bool = False, replace: bool = False, gone: Sequence[str] = ()
) -> Flow[AddReport]:
    """Keep a batch, and erase the turns that are gone; return what became of it."""
    options = {"strict": strict, "replace": replace, "gone": tuple(gone)}
    report: AddReport = yield StoreCall("write", (tuple(entries),), options)
    return report


def past(asked: PastWanted) -> Flow[Past]:
    """Return what a list of messages is laid beside."""
    found: Past = yield StoreCall("past", (asked,))
    return found


def continue_session(more: Continuation) -> Flow[tuple[AddReport, tuple[str, int]] | None]:
    """Keep what continues a session; return what became of it and the session's new state, None where it changed."""
    kept: tuple[AddReport, tuple[str, int]] | None = yield StoreCall("continue_session", (more,))
    return kept


def due(kind: JobKind, limit: int, reason: str | None = None) -> Flow[tuple[Job, ...]]:
    """Return queued jobs of a kind, the oldest first; with a reason, those that were put off for it."""
    jobs: tuple[Job, ...] = yield StoreCall("due", (kind, limit, reason))
    return jobs


def settle(kind: JobKind, entries: Sequence[Entry]) -> Flow[None]:
    """Store the results of queued jobs."""
    yield StoreCall("settle", (kind, tuple(entries)))


def hold(kind: JobKind, turn_ids: Sequence[str], reason: str, seconds: float) -> Flow[None]:
    """Put off jobs for so many seconds, for a reason; it is no failure."""
    yield StoreCall("hold", (kind, tuple(turn_ids), reason, seconds))


def postpone(kind: JobKind, turn_id: str, error: str, seconds: float | None) -> Flow[None]:
    """Record a failure; try again after so many seconds, or never (None: the job is kept as failed)."""
    yield StoreCall("postpone", (kind, turn_id, error, seconds))


def setting(name: str) -> Flow[str | None]:
    """Return what was kept under a name."""
    value: str | None = yield StoreCall("setting", (name,))
    return value


def keep_setting(name: str, value: str | None) -> Flow[None]:
    """Keep a text under a name; None deletes it."""
    yield StoreCall("keep_setting", (name, value))


Step: TypeAlias = Callable[[], Effect]  # drives a flow to its next effect


@dataclass(frozen=True, slots=True)
class Ended(Generic[T]):
    """What a flow returned."""

    value: T


def advance(
    flow: Flow[T], step: Step, perform: Callable[[Effect], Any], waits: Callable[[Effect], bool]
) -> Effect | Ended[T]:
    """Drive a flow from a step on, performing its effects, until one `waits` for others, or it ends.

    An `Exception` of an effect is thrown into the flow, which decides what it means. Whatever else leaves it closes it:
    its `finally` clauses run now, not when it is collected.
    """
    try:
        effect = step()
        while not waits(effect):
            effect = answered(flow, partial(perform, effect))()
    except StopIteration as done:
        return Ended(done.value)
    except BaseException:
        flow.close()
        raise
    return effect


def answered(flow: Flow[T], act: Callable[[], Any]) -> Step:
    """Perform an effect; return the step that tells the flow what it gave, or how it failed."""
    try:
        result = act()
    except Exception as error:  # noqa: BLE001 - the flow decides what a failure means
        return partial(flow.throw, error)
    return partial(flow.send, result)


async def answered_later(flow: Flow[T], result: Awaitable[Any]) -> Step:
    """Do what `answered` does with an effect that is awaited."""
    try:
        given = await result
    except Exception as error:  # noqa: BLE001 - the flow decides what a failure means
        return partial(flow.throw, error)
    return partial(flow.send, given)


def run(flow: Flow[T], perform: Callable[[Effect], Any]) -> T:
    """Drive a flow to its return value, performing each effect as it comes; see `advance`."""
    try:
        ended = advance(flow, partial(next, flow), perform, _never)
        assert isinstance(ended, Ended)
        return ended.value
    finally:
        flow.close()


async def arun(flow: Flow[T], perform: Callable[[Effect], Awaitable[Any]]) -> T:
    """Drive a flow as `run` does, awaiting each effect."""
    try:
        step: Step = partial(next, flow)
        while not isinstance(reached := advance(flow, step, perform, always), Ended):
            step = await answered_later(flow, perform(reached))
        return reached.value
    finally:
        flow.close()


def intercepted(flow: Flow[T], perform: Callable[[Effect], Flow[Any]]) -> Flow[T]:
    """Run a flow with another in front of each of its effects, which performs it in its own way."""
    try:
        effect = next(flow)
        while True:
            try:
                result = yield from perform(effect)
            except Exception as error:  # noqa: BLE001 - the flow decides what a failure means
                effect = flow.throw(error)
            else:
                effect = flow.send(result)
    except StopIteration as done:
        value: T = done.value
        return value
    finally:
        flow.close()


def within(flow: Flow[T], seconds: Callable[[Complete], float]) -> Flow[T]:
    """Run a flow with a limit on each of its model requests: `seconds(request)`, asked when the request is made."""

    def bounded(effect: Effect) -> Flow[Any]:
        return (yield replace(effect, seconds=seconds(effect)) if isinstance(effect, Complete) else effect)

    return intercepted(flow, bounded)


def run_side_by_side(
    flows: Iterable[Flow[T]],
    perform: Callable[[Effect], Any],
    start: Callable[[Effect], Future[Any] | None],
    ended: Callable[[T], object],
    most: int,
) -> None:
    """Drive flows as `run` does, at most so many at once, in the thread of the caller; tell `ended` what each returns.

    Only what waits for others is done elsewhere: `start` returns the future of such an effect, and None for one to be
    performed here. So one thread reads and writes the file, and its memory is not scattered over the heaps that the C
    library keeps for each thread.

    After an `Exception`, of a flow or of `ended`, no further flow is begun. It is raised when those under way have
    ended, as what they wait for may be paid for. Anything else leaves at once, and closes the flows.
    """
    under_way = _UnderWay(perform, start, ended)
    left, failure = iter(flows), None
    try:
        while True:
            try:
                flow = next(left, None) if failure is None and len(under_way.waiting) < most else None
                if flow is not None:
                    under_way.begin(flow)
                elif under_way.waiting:
                    under_way.go_on()
                else:
                    break
            except Exception as error:  # noqa: BLE001 - raised below
                failure = failure or error
    finally:
        under_way.leave()
    if failure is not None:
        raise failure


class _UnderWay(Generic[T]):
    """Flows that wait for futures."""

    def __init__(
        self,
        perform: Callable[[Effect], Any],
        start: Callable[[Effect], Future[Any] | None],
        ended: Callable[[T], object],
    ) -> None:
        self.waiting: dict[Future[Any], Flow[T]] = {}
        self._perform, self._start, self._ended = perform, start, ended

    def begin(self, flow: Flow[T]) -> None:
        """Drive a flow until it waits or ends."""
        self._advance(flow, partial(next, flow))

    def go_on(self) -> None:
        """Wait for a future, and drive the flow that waited for it."""
        future = next(iter(wait(self.waiting, return_when=FIRST_COMPLETED).done))
        flow, error = self.waiting.pop(future), future.exception()
        self._advance(flow, partial(flow.send, future.result()) if error is None else partial(flow.throw, error))

    def leave(self) -> None:
        """Close the flows that still wait."""
        for future, flow in self.waiting.items():
            future.cancel()
            flow.close()

    def _advance(self, flow: Flow[T], step: Step) -> None:
        future: Future[Any] | None = None

        def waits(effect: Effect) -> bool:
            nonlocal future
            future = self._start(effect)
            return future is not None

        reached = advance(flow, step, self._perform, waits)
        if isinstance(reached, Ended):
            self._ended(reached.value)
        elif future is not None:
            self.waiting[future] = flow


def always(effect: Effect) -> bool:
    """Say that an effect is awaited."""
    return True


def _never(effect: Effect) -> bool:
    """Say that an effect waits for nobody."""
    return False


def call(store: Store, effect: StoreCall) -> Any:
    """Perform an effect that only the store can."""
    return getattr(store, effect.method)(*effect.args, **effect.options)
