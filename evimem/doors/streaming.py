"""Drive a flow step by step and yield what happens: trace events and pieces of the answer's text, then the answer."""

from __future__ import annotations

from collections import deque
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Iterable, Iterator
from contextlib import aclosing, suppress
from dataclasses import dataclass
from functools import partial
from typing import Any, TypeAlias

from ..errors import ModelError
from ..flow import Effect, Ended, Flow, Step, advance, always, answered_later
from ..llm.shown_words import visible
from ..types.answer import Answer
from ..types.public_value import PublicValue
from ..types.trace import Complete, Event, Reply
from .core import Lending


@dataclass(frozen=True, slots=True, repr=False)
class Restarted(PublicValue):
    """The text streamed so far is void: the model's reply broke off or could not be used.

    Another text follows, or none.
    """


_NO_REPLY = "the model's stream ended without its reply; expected a Reply as its last piece"
Streamed: TypeAlias = Event | str | Restarted | Answer


class StreamedText:
    """What of the answer was streamed, so that each text comes once and a void one is announced."""

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
        """Yield what is left to say: the whole text where what was streamed is not it, and the answer."""
        text = answer.text or ""
        if self._void or visible(self._text).strip() != text:
            if self._text:
                yield Restarted()
            if text:  # without a model, or with a reply in one piece, nothing was streamed
                yield text
        yield answer


async def stream(
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
            if not isinstance(reached, Complete) or reached.role != "answer":  # only what words the answer is streamed
                step = await answered_later(flow, perform(reached))
                continue
            text.begin()
            step = partial(flow.throw, ModelError(_NO_REPLY))  # unless the last piece is the reply
            try:
                with lending():
                    async with aclosing(_worded(pieces_of(reached))) as pieces:
                        async for piece in pieces:
                            if isinstance(piece, Reply):
                                step = partial(flow.send, piece)
                                continue
                            for item in text.add(piece):
                                yield item
            except Exception as error:  # noqa: BLE001 - the flow decides what a failure means
                step = partial(flow.throw, error)
        for event in _take_all(events):
            yield event
        for last in text.end(reached.value):
            yield last
    finally:
        leave(flow)


async def _worded(pieces: AsyncIterator[str | Reply]) -> AsyncGenerator[str | Reply, None]:
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


def stream_now(
    flow: Flow[Answer],
    events: deque[Event],
    perform: Callable[[Effect], Any],
    pieces_of: Callable[[Complete], Iterable[str | Reply]],
    lending: Lending,
) -> Iterator[Streamed]:
    """Do what `stream` does without an event loop: it is run as it is, and nothing that it awaits waits."""

    async def advanced(flow: Flow[Answer], step: Step) -> Effect | Ended[Answer]:
        return advance(flow, step, perform, always)

    async def performed(effect: Effect) -> Any:
        return perform(effect)

    async def asked(request: Complete) -> AsyncGenerator[str | Reply, None]:
        for piece in pieces_of(request):
            yield piece

    items = stream(flow, events, advanced, performed, asked, lending, lambda flow: flow.close())
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
