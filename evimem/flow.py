"""Flows: evimem's logic as generators that never wait themselves.

A flow yields an effect and is sent its result: the reply of a model or an embedder, which may be waited for. A store is
called plainly. `advance` is the one driver: `api` performs the effects, and says which of them wait.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Generator, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING, Any, Generic, TypeAlias, cast

from .types.trace import Complete
from .types.type_variables import T
from .types.vectors import Vectors

if TYPE_CHECKING:
    from concurrent.futures import Future


@dataclass(frozen=True, slots=True)
class StartBatch:
    """Hand requests, by key, to the model's batch service; the result is the batch's id."""

    requests: Mapping[str, Complete] = field(hash=False)


@dataclass(frozen=True, slots=True)
class CollectBatch:
    """Ask for the results of a batch: a `Reply` or a ModelError a request, or None while it is worked on."""

    batch_id: str
    requests: Mapping[str, Complete] = field(hash=False)


@dataclass(frozen=True, slots=True)
class Embed:
    """Ask the embedder; the result is `Vectors`, one row a text."""

    texts: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Rerank:
    """Ask the reranker; the result is a score a text, larger is better, or None where there is none or it failed."""

    query: str
    texts: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Pause:
    """Yield the thread that uses the file to other calls, between two transactions of a long one."""


@dataclass(frozen=True, slots=True)
class SideBySide:
    """Drive flows, as many at the same time as a model takes; the result is a list of their results."""

    flows: Iterable[Generator[Any, Any, Any]]


Effect: TypeAlias = Complete | StartBatch | CollectBatch | Embed | Rerank | Pause | SideBySide
Flow: TypeAlias = Generator[Effect, Any, T]


def embed(texts: Sequence[str]) -> Flow[Vectors]:
    """Return one vector a text, shape (len(texts), dimension)."""
    vectors: Vectors = yield Embed(tuple(texts))
    return vectors


Step: TypeAlias = Callable[[], Effect]  # drives a flow to its next effect


@dataclass(frozen=True, slots=True)
class Ended(Generic[T]):
    """The result of a flow that ended."""

    value: T


def advance(
    flow: Flow[T], step: Step, perform: Callable[[Effect], Any], waits: Callable[[Effect], bool]
) -> Effect | Ended[T]:
    """Drive a flow from a step on, performing its effects, until one `waits` for something outside, or it ends.

    An `Exception` of an effect is thrown into the flow, which decides about it. Any other exception closes it:
    its `finally` clauses run now, not when it is collected.
    """
    try:
        effect = step()
        while not waits(effect):
            effect = perform_effect(flow, partial(perform, effect))()
    except StopIteration as done:
        return Ended(done.value)
    except BaseException:
        flow.close()
        raise
    return effect


def perform_effect(flow: Flow[T], act: Callable[[], Any]) -> Step:
    """Perform an effect; return the step that sends the flow its result or its failure."""
    try:
        result = act()
    except Exception as error:  # noqa: BLE001 - the flow decides how a failure counts
        return partial(flow.throw, error)
    return partial(flow.send, result)


async def answered_later(flow: Flow[T], result: Awaitable[Any]) -> Step:
    """Perform an effect as `perform_effect` does, awaiting it."""
    try:
        given = await result
    except Exception as error:  # noqa: BLE001 - the flow decides how a failure counts
        return partial(flow.throw, error)
    return partial(flow.send, given)


def run(flow: Flow[T], perform: Callable[[Effect], Any]) -> T:
    """Drive a flow to its return value, performing each effect as it comes; see `advance`."""
    step: Step = partial(next, flow)
    try:
        while True:
            step = perform_effect(flow, partial(perform, step()))
    except StopIteration as done:
        return cast(T, done.value)
    finally:
        flow.close()


def intercept_effects(flow: Flow[T], perform: Callable[[Effect], Flow[Any]]) -> Flow[T]:
    """Run a flow with another in front of each of its effects, which performs it in its own way."""
    try:
        effect = next(flow)
        while True:
            try:
                result = yield from perform(effect)
            except Exception as error:  # noqa: BLE001 - the flow decides how a failure counts
                effect = flow.throw(error)
            else:
                effect = flow.send(result)
    except StopIteration as done:
        return cast(T, done.value)
    finally:
        flow.close()


def within(flow: Flow[T], seconds: Callable[[Complete], float]) -> Flow[T]:
    """Run a flow with a limit on each of its model requests: `seconds(request)`, asked when the request is made."""

    def bound_effect(effect: Effect) -> Flow[Any]:
        return (yield replace(effect, seconds=seconds(effect)) if isinstance(effect, Complete) else effect)

    return intercept_effects(flow, bound_effect)


def run_side_by_side(
    flows: Iterable[Flow[T]],
    perform: Callable[[Effect], Any],
    waits: Callable[[Effect], bool],
    start: Callable[[Effect], Future[Any]],
    most: int,
) -> list[T]:
    """Drive flows as `run` does, at most so many at once, in the thread of the caller; return their results.

    Only an effect that `waits` is performed elsewhere: `start` returns its future. So one thread reads and writes the
    file, and its memory is not scattered over the heaps that the C library keeps for each thread.

    After an `Exception` of a flow no further flow is begun. It is raised when those under way have ended, as what they
    wait for may be paid for. Anything else leaves at once, and closes the flows.
    """
    from concurrent.futures import FIRST_COMPLETED, wait  # noqa: PLC0415 - only effects that wait need it

    under_way: dict[Future[Any], Flow[T]] = {}
    results: list[T] = []
    failure: Exception | None = None

    def go_on(flow: Flow[T], step: Step) -> None:
        reached = advance(flow, step, perform, waits)
        if isinstance(reached, Ended):
            results.append(reached.value)
        else:
            under_way[start(reached)] = flow

    left = iter(flows)
    try:
        while True:
            try:
                flow = next(left, None) if failure is None and len(under_way) < most else None
                if flow is not None:
                    go_on(flow, partial(next, flow))
                elif under_way:
                    done = next(iter(wait(under_way, return_when=FIRST_COMPLETED).done))
                    step = perform_effect(under_way[done], done.result)
                    go_on(under_way.pop(done), step)
                else:
                    break
            except Exception as error:  # noqa: BLE001 - raised below
                failure = failure or error
    finally:
        for future, flow in under_way.items():
            future.cancel()
            flow.close()
    if failure is not None:
        raise failure
    return results
