"""The operations of a memory, reported as they happen: to the log, to an observer, and to the reader of a stream.

The log ("evimem", of the standard library) has a line a call at DEBUG and a warning where something waits or was done
in another way than asked for. It never holds content: no text, question, name, id or path, counts only.
"""

from __future__ import annotations

import logging
import os
from collections import deque
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Iterable, Iterator, Mapping
from contextlib import AbstractContextManager, aclosing, contextmanager, suppress
from dataclasses import dataclass
from functools import partial
from hashlib import blake2b
from pathlib import Path
from time import perf_counter
from types import TracebackType
from typing import Any, Literal, Protocol, TypeAlias

from ..errors import InvalidQuery, ModelError, shown
from ..flow import Effect, Embed, Ended, Flow, Step, advance, answered_later, intercept_effects
from ..store.handle import LACKS_LOG
from ..text.prompt_text import remove_invisible
from ..types.public_value import AnyPath, PublicValue
from ..types.results import AddReport, Answer, Block, EraseReport
from ..types.stored import READINGS
from ..types.trace import Complete, Event, Reply
from ..types.type_variables import T
from .checked_arguments import checked_part

Lending = Callable[[], AbstractContextManager[None]]  # lends a place of a pool meanwhile
OperationName = Literal["add", "replace", "update", "extract", "search", "ask", "block", "profile", "forget", "erase"]
_LOG = logging.getLogger("evimem")
_LOG.addHandler(logging.NullHandler())  # silent, warnings too, unless the program sets up logging


@dataclass(frozen=True, slots=True)
class Operation:
    """A call of a memory, as it begins.

    Attributes:
        name: The operation; of "add", "replace" and "update" there is one for each transaction.
        store: Which memory: the name of a pool's file, or a digest of another file's path. It tells nothing of either.
        model: The name of the model that judges; empty without one.
        embedder: The name of the embedder.
        remote: Whether that is asked over a network, so that vectors are left to `enrich`.
        query: The question or search; content, unlike the rest, and empty where nothing is.
    """

    name: OperationName
    store: str
    model: str
    embedder: str
    remote: bool = False
    query: str = ""


class Observation(Protocol):
    """One call under way. An exception of its methods ends the call, and propagates."""

    def heard(self, event: Event) -> None:
        """Hear of an event of the trace of `ask`, as it is recorded."""

    def asks(self, request: Complete | Embed) -> Callable[[Any], None]:
        """Hear that a model or embedder is asked now; the returned function gets the reply, or the exception."""
        ...

    def ends(self, outcome: Any) -> None:
        """Hear the result of the call, or the exception that it raises."""


class Observer(Protocol):
    """Hears of every call of a memory, from any thread: `open(..., observer=)`. See `evimem.adapters.otel`."""

    def begin(self, operation: Operation) -> Observation:
        """Hear that a call begins."""
        ...


class Watch:
    """A call that the log and an observer hear of: the block of a `with` statement, which sets `outcome`."""

    def __init__(self, operation: Operation, observer: Observer | None) -> None:
        self.outcome: Any = None
        self._operation = operation
        self._observer = observer
        self._observation: Observation | None = None
        self._began = 0.0

    @property
    def listener(self) -> Callable[[Event], None] | None:
        """The function that passes an event to the observer; None without one."""
        return None if self._observer is None else self._hear

    def _hear(self, event: Event) -> None:
        if self._observation is not None:
            self._observation.heard(event)

    def __enter__(self) -> Watch:
        self._began = perf_counter()
        if self._observer is not None and (begun := self._observer.begin(self._operation)) is not None:
            checked_part("what observer.begin returned", begun, ("heard", "asks", "ends"))
            self._observation = begun
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        outcome = self.outcome if error is None else error
        _log(self._operation, outcome, perf_counter() - self._began)
        if self._observation is not None:
            self._observation.ends(outcome)

    def observe(self, flow: Flow[T]) -> Flow[T]:
        """Return the flow of a call that is all of the block."""
        try:
            with self:
                self.outcome = result = yield from self.listen(flow)
        finally:
            flow.close()
        return result

    def listen(self, flow: Flow[T]) -> Flow[T]:
        """Return a flow whose requests to models and embedders are reported to the observer."""
        observation = self._observation
        if observation is None:
            return flow

        def report(effect: Effect) -> Flow[Any]:
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

        return intercept_effects(flow, report)


class _CallbackError(Exception):
    """Carries an exception of a caller's function past code that would take it for one of the model or embedder."""


def notifier(*listeners: Callable[[Event], object] | None) -> Callable[[Event], None] | None:
    """Return a function that passes an event to each of some that is there, None for none: in `user_errors` only."""
    heard_by = [each for each in listeners if each is not None]
    if not heard_by:
        return None

    def tell(event: Event) -> None:
        try:
            for each in heard_by:
                each(event)
        except Exception as error:
            raise _CallbackError from error

    return tell


@contextmanager
def user_errors() -> Iterator[None]:
    """Re-raise an exception of a function of `notifier` in the block unchanged."""
    try:
        yield
    except _CallbackError as wrapped:
        raise wrapped.__cause__ or wrapped from None


def store_name(name: AnyPath) -> str:
    """Return the name of a memory where its path would tell too much: see `Operation.store`."""
    stem = Path(name).name.partition(".")[0]
    # The name of a pool's file has 40 hexadecimal digits.
    if len(stem) == 40 and set(stem) <= set("0123456789abcdef"):
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
        _LOG.warning("%s in %s: %s", name, store, _unread_message(waiting, max(pending[kind] for kind in waiting)))


def warn_of_unknown_currency(store: str) -> None:
    """Warn that of no fact that was asked for it is known whether it still holds."""
    _LOG.warning(
        "current=True in %s: of what was asked for no fact is known to hold still, which a model says and no rule; "
        "enrich() with a model, or list all facts by date",
        store,
    )


def warn_of_read_only(store: str) -> None:
    """Warn where a memory that cannot be written was opened for reading."""
    _LOG.warning("%s cannot be written: it is open for reading only, and each call that would change it fails", store)


def warn_of_missing_log(store: str) -> None:
    """Warn where a memory was opened from a file that was copied or moved without its log."""
    _LOG.warning("%s: %s; put the log back before anything is written, and take copies by backup()", store, LACKS_LOG)


def tell_of_backlog(store: str) -> None:
    """Tell that a call first reads the facts of many turns."""
    _LOG.info("the facts of many turns in %s are read first; enrich() after an import spares the next call that", store)


def _unread_message(kinds: Iterable[str], turns: int) -> str:
    return f"{' and '.join(kinds)} of {turns} turn(s) could not be read; enrich() tries again"


def _to_warn_of(operation: Operation, outcome: Any) -> str:
    match outcome:
        case Answer() if outcome.fell_back:
            return "the model failed, and the offline judge answered in its place"
        case EraseReport(status="pending"):
            return "erased bytes are still stored for a time: the report says where, and until when"
        case AddReport() if unread := sum("terms" in one.pending for one in outcome.statuses):
            return _unread_message(["terms"], unread)
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


@dataclass(frozen=True, slots=True, repr=False)
class Restarted(PublicValue):
    """The text streamed so far is void: the model's reply broke off or could not be used.

    Another text follows, or none.
    """


_NO_REPLY = "the model's stream ended without its reply; expected a Reply as its last piece"
Streamed: TypeAlias = Event | str | Restarted | Answer


class StreamedText:
    """The streamed part of the answer, so that each text comes once and a void one is announced."""

    def __init__(self) -> None:
        self._text = ""
        self._void = False

    def begin(self) -> None:
        """Note that the answer is worded anew, which makes the text so far void."""
        self._void = bool(self._text)

    def add(self, piece: str) -> Iterator[str | Restarted]:
        """Yield a piece of the text, with the announcement before it where the text before is void."""
        if self._void:
            self._text, self._void = "", False
            yield Restarted()
        self._text += piece
        yield piece

    def end(self, answer: Answer) -> Iterator[Streamed]:
        """Yield the rest: the whole text where the streamed one differs, and the answer."""
        text = answer.text or ""
        if self._void or remove_invisible(self._text).strip() != text:
            if self._text:
                yield Restarted()
            if text:  # without a model, or with a reply in one piece, nothing was streamed
                yield text
        yield answer


async def stream_answer(
    flow: Flow[Answer],
    events: deque[Event],
    advance: Callable[[Flow[Answer], Step], Awaitable[Effect | Ended[Answer]]],
    perform: Callable[[Effect], Awaitable[Any]],
    pieces_of: Callable[[Complete], AsyncIterator[str | Reply]],
    lending: Lending,
    leave: Callable[[Flow[Answer]], object],
) -> AsyncGenerator[Streamed, None]:
    """Yield the events of a flow and the text of its answer as they come and, last, the answer.

    The flow appends to `events`; they are yielded before its next effect is performed. `pieces_of` asks the model for
    a reply in pieces, the whole of it last; `leave` closes the flow at once, where the caller stops in the middle.
    """
    text = StreamedText()
    step: Step = partial(next, flow)
    try:
        while not isinstance(reached := await advance(flow, step), Ended):
            for event in _take_all(events):
                yield event
            if (
                not isinstance(reached, Complete) or reached.role != "answer"
            ):  # only the wording of the answer is streamed
                step = await answered_later(flow, perform(reached))
                continue
            text.begin()
            step = partial(flow.throw, ModelError(_NO_REPLY))  # unless the last piece is the reply
            try:
                with lending():
                    async with aclosing(_answer_pieces(pieces_of(reached))) as pieces:
                        async for piece in pieces:
                            if isinstance(piece, Reply):
                                step = partial(flow.send, piece)
                                continue
                            for item in text.add(piece):
                                yield item
            except Exception as error:  # noqa: BLE001 - the flow decides how a failure counts
                step = partial(flow.throw, error)
        for event in _take_all(events):
            yield event
        for last in text.end(reached.value):
            yield last
    finally:
        leave(flow)


async def _answer_pieces(pieces: AsyncIterator[str | Reply]) -> AsyncGenerator[str | Reply, None]:
    """Yield new text of the answer while the model's JSON reply arrives, then the whole reply."""
    from ..llm.json_reply import AnswerStream  # noqa: PLC0415 - only a model's reply is read with it

    answer = AnswerStream()
    try:
        async for piece in pieces:
            if isinstance(piece, Reply):
                yield piece
            elif new := answer.add(piece):
                yield new
    finally:  # a cancelled caller ends the model's reply too
        if hasattr(pieces, "aclose"):  # an async generator; a model may give any AsyncIterator
            await pieces.aclose()


def streamed_now(
    flow: Flow[Answer],
    events: deque[Event],
    perform: Callable[[Effect], Any],
    pieces_of: Callable[[Complete], Iterable[str | Reply]],
    lending: Lending,
) -> Iterator[Streamed]:
    """Run `stream_answer` without an event loop: its awaitables never wait."""

    async def advance_flow(flow: Flow[Answer], step: Step) -> Effect | Ended[Answer]:
        return advance(flow, step, perform, lambda _: True)

    async def perform_effect(effect: Effect) -> Any:
        return perform(effect)

    async def stream_request(request: Complete) -> AsyncGenerator[str | Reply, None]:
        for piece in pieces_of(request):
            yield piece

    items = stream_answer(
        flow, events, advance_flow, perform_effect, stream_request, lending, lambda flow: flow.close()
    )
    try:
        while True:
            try:
                items.__anext__().send(None)
            except StopIteration as reached:
                item = reached.value
            except StopAsyncIteration:
                return
            yield item
    finally:
        with suppress(StopIteration):
            items.aclose().send(None)


def _take_all(events: deque[Event]) -> Iterator[Event]:
    while events:
        yield events.popleft()
