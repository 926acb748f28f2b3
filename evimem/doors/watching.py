"""What a memory does, told while it does it: a line of the log for each call, and whatever an observer makes of it.

The log ("evimem", of the standard library) has a line a call at DEBUG and a warning where something waits or was done
in another way than asked for. It never holds content: no text, question, name, id or path, counts only.
"""

from __future__ import annotations

import logging
import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from hashlib import blake2b
from pathlib import Path
from time import perf_counter
from typing import Any, Literal, Protocol, TypeVar

from ..errors import InvalidQuery, shown
from ..flow import Effect, Embed, Flow, intercepted
from ..types.answer import Answer, Block
from ..types.public_value import AnyPath
from ..types.reports import AddReport, EraseReport
from ..types.stored import READINGS
from ..types.trace import Complete, Event
from .checked_arguments import checked_part

T = TypeVar("T")
OperationName = Literal["add", "replace", "update", "extract", "search", "ask", "block", "forget", "erase"]
_KEY = 40  # hexadecimal digits of the name of a pool's file
_LOG = logging.getLogger("evimem")
_LOG.addHandler(logging.NullHandler())  # silent, warnings too, unless the program sets up logging


@dataclass(frozen=True, slots=True)
class Operation:
    """A call of a memory, as it begins.

    Attributes:
        name: What it does; of "add", "replace" and "update" there is one for each transaction.
        store: Which memory: the name of a pool's file, or a digest of another file's path. It tells nothing of either.
        model: The name of the model that judges; empty without one.
        embedder: The name of the embedder.
        remote: Whether that is asked over a network, so that vectors are left to `enrich`.
        query: What is asked or looked for; content, unlike the rest, and empty where nothing is.
    """

    name: OperationName
    store: str
    model: str
    embedder: str
    remote: bool = False
    query: str = ""


class Observation(Protocol):
    """One call under way. What its methods raise ends the call, and propagates."""

    def heard(self, event: Event) -> None:
        """Hear of an event of the trace of `ask`, as it is recorded."""

    def asks(self, request: Complete | Embed) -> Callable[[Any], None]:
        """Hear that a model or embedder is asked now; what is returned is called with the reply, or the exception."""
        ...

    def ends(self, outcome: Any) -> None:
        """Hear what the call came to: what it returns, or the exception that it raises."""


class Observer(Protocol):
    """Hears of every call of a memory, from any thread: `open(..., observer=)`. See `evimem.adapters.otel`."""

    def begin(self, operation: Operation) -> Observation:
        """Hear that a call begins."""
        ...


class Watch:
    """A call that the log and an observer hear of, once it is run."""

    def __init__(self, operation: Operation, observer: Observer | None) -> None:
        self._operation = operation
        self._observer = observer
        self._observation: Observation | None = None
        self._began = 0.0

    def heard(self, event: Event) -> None:
        """Pass an event on."""
        if self._observation is not None:
            self._observation.heard(event)

    def over(self, flow: Flow[T]) -> Flow[T]:
        """Return the flow of the call."""
        with self:
            try:
                result = yield from flow if self._observation is None else self._told(flow, self._observation)
            finally:
                flow.close()
        self._end(result)
        return result

    def around(self, call: Callable[[], T]) -> T:
        """Run a call that is no flow."""
        with self:
            result = call()
        self._end(result)
        return result

    def __enter__(self) -> None:
        self._began = perf_counter()
        if self._observer is not None and (begun := self._observer.begin(self._operation)) is not None:
            checked_part("what observer.begin returned", begun, ("heard", "asks", "ends"))
            self._observation = begun

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        if error is not None:
            self._end(error)

    def _end(self, outcome: Any) -> None:
        _log(self._operation, outcome, perf_counter() - self._began)
        if self._observation is not None:
            self._observation.ends(outcome)

    @staticmethod
    def _told(flow: Flow[T], observation: Observation) -> Flow[T]:
        """Run a flow, and tell of what it asks models and embedders."""

        def told(effect: Effect) -> Flow[Any]:
            if not isinstance(effect, (Complete, Embed)):
                return (yield effect)
            tell = observation.asks(effect)
            if not callable(tell):
                raise InvalidQuery(f"asks of an observation returned {shown(tell)}; expected a function of the reply")
            try:
                result = yield effect
            except BaseException as error:
                tell(error)
                raise
            tell(result)
            return result

        return intercepted(flow, told)


class _CallbackError(Exception):
    """Carries an exception of a caller's function past whoever would take it for one of the model or the embedder."""


def both(first: Callable[[Event], None], second: Callable[[Event], None] | None) -> Callable[[Event], None]:
    """Return a function that passes an event to two, or to the first where there is no second: in `unwrapped` only."""

    def tell(event: Event) -> None:
        try:
            first(event)
            if second is not None:
                second(event)
        except Exception as error:
            raise _CallbackError from error

    return tell


@contextmanager
def unwrapped() -> Iterator[None]:
    """Raise what a function of `both` raises in the block as it was raised."""
    try:
        yield
    except _CallbackError as wrapped:
        raise wrapped.__cause__ or wrapped from None


def store_name(name: AnyPath) -> str:
    """Return what a memory is called where its path would tell too much: see `Operation.store`."""
    stem = Path(name).name.partition(".")[0]
    if len(stem) == _KEY and set(stem) <= set("0123456789abcdef"):
        return stem
    return blake2b(os.fsencode(name), digest_size=8).hexdigest()


def _log(operation: Operation, outcome: Any, seconds: float) -> None:
    warned = _to_warn_of(operation, outcome)
    if warned:
        _LOG.warning("%s in %s: %s", operation.name, operation.store, warned)
    if _LOG.isEnabledFor(logging.DEBUG):
        _LOG.debug("%s in %s: %s, %.1f ms", operation.name, operation.store, _summary(outcome), 1000 * seconds)


def warn_of_unread(name: str, store: str, pending: Mapping[str, int]) -> None:
    """Warn where turns are kept of which something could not be read."""
    if waiting := [kind for kind in sorted(READINGS) if pending.get(kind)]:
        _LOG.warning("%s in %s: %s", name, store, _unread(waiting, max(pending[kind] for kind in waiting)))


def tell_of_backlog(store: str) -> None:
    """Tell that a call first reads the facts of many turns."""
    _LOG.info("the facts of many turns in %s are read first; enrich() after an import spares the next call that", store)


def _unread(kinds: Iterable[str], turns: int) -> str:
    return f"{' and '.join(kinds)} of {turns} turn(s) could not be read; enrich() tries again"


def _to_warn_of(operation: Operation, outcome: Any) -> str:
    match outcome:
        case Answer() if outcome.fell_back:
            return "the model failed, and the offline judge answered in its place"
        case EraseReport(status="pending"):
            return "erased bytes are still stored for a time: the report says where, and until when"
        case AddReport() if unread := sum("terms" in one.pending for one in outcome.statuses):
            return _unread(["terms"], unread)
        case AddReport() if not operation.remote and any("vector" in status.pending for status in outcome.statuses):
            return "the embedder failed; vectors wait for enrich()"
    return ""


def _summary(outcome: Any) -> str:
    match outcome:
        case BaseException():
            line = f"ended by {type(outcome).__name__}"
        case Answer(usage=used):
            line = (
                f"{outcome.kind}, {outcome.tier.value}, confidence {outcome.confidence:.2f}, {used.requests} requests"
            )
        case Block():
            judged = f", {outcome.tier.value}" if outcome.tier else ""
            line = f"{len(outcome.turns)} turns, {outcome.tokens} tokens, relevance {outcome.relevance:.2f}{judged}"
        case AddReport():
            counts = f"{outcome.added} added, {outcome.replaced} replaced, {outcome.existing} there"
            line = f"{counts}, {outcome.refused} refused, {outcome.dropped} dropped, {outcome.facts} facts"
        case EraseReport():
            line = f"{outcome.turns} turns and {outcome.facts} facts erased"
        case list():
            line = f"{len(outcome)} turns"
        case _:
            line = f"{outcome} done"
    return line
