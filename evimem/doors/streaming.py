"""Drive a flow step by step and yield what happens: trace events and pieces of the answer's text, then the answer."""

from __future__ import annotations

from collections import deque
from collections.abc import AsyncGenerator, Awaitable, Callable, Iterator
from contextlib import aclosing
from dataclasses import dataclass
from functools import partial
from typing import Any, TypeAlias, TypeGuard

from ..errors import ModelError
from ..flow import Effect, Ended, Flow, Step, advance, always
from ..llm.shown_words import visible
from ..types.answer import Answer
from ..types.public_value import PublicValue
from ..types.trace import Complete, Event, Reply


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

    def begin(self, effect: Effect) -> None:
        """Note that an effect is performed; one that words the answer anew makes the text so far void."""
        self._void = self._void or (bool(self._text) and is_streamed(effect))

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


@dataclass(frozen=True, slots=True)
class EffectResult:
    """The result of an effect: the last item of performing it, after any pieces of text."""

    value: Any


def stream(
    flow: Flow[Answer], events: deque[Event], perform: Callable[[Effect], Iterator[str | EffectResult]]
) -> Iterator[Streamed]:
    """Yield the events of a flow and the text of its answer as they come and, last, the answer.

    The flow appends to `events`; they are yielded before its next effect is performed.
    """
    text = StreamedText()
    step: Step = partial(next, flow)
    try:
        while not isinstance(reached := advance(flow, step, perform, always), Ended):
            yield from _take_all(events)
            text.begin(reached)
            step = partial(flow.throw, ModelError(_NO_REPLY))  # unless the last piece is the reply
            try:
                for piece in perform(reached):
                    if isinstance(piece, EffectResult):
                        step = partial(flow.send, piece.value)
                    else:
                        yield from text.add(piece)
            except Exception as error:  # noqa: BLE001 - the flow decides what a failure means
                step = partial(flow.throw, error)
        yield from _take_all(events)
        yield from text.end(reached.value)
    finally:
        flow.close()  # at once, and not when it is collected, where the caller stops in the middle


async def astream(
    flow: Flow[Answer],
    events: deque[Event],
    advance: Callable[[Flow[Answer], Step], Awaitable[Effect | Ended[Answer]]],
    perform: Callable[[Effect], AsyncGenerator[str | EffectResult, None]],
    leave: Callable[[Flow[Answer]], None],
) -> AsyncGenerator[Streamed, None]:
    """Do what `stream` does, awaiting what `advance` leaves to be awaited; `leave` closes the flow at once."""
    text = StreamedText()
    step: Step = partial(next, flow)
    try:
        while not isinstance(reached := await advance(flow, step), Ended):
            for event in _take_all(events):
                yield event
            text.begin(reached)
            step = partial(flow.throw, ModelError(_NO_REPLY))  # unless the last piece is the reply
            try:
                async with aclosing(perform(reached)) as pieces:  # a cancelled caller ends the model's reply too
                    async for piece in pieces:
                        if isinstance(piece, EffectResult):
                            step = partial(flow.send, piece.value)
                        else:
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


def stream_answer(model: Any, request: Complete) -> Iterator[str | EffectResult]:
    """Yield new text of the answer while the model's JSON reply arrives, then the whole reply."""
    from ..llm.json_reply import AnswerStream  # noqa: PLC0415 - only a model's reply is read with it

    answer = AnswerStream()
    for piece in model.stream(request):
        if isinstance(piece, Reply):
            yield EffectResult(piece)
        elif new := answer.add(piece):
            yield new


async def astream_answer(model: Any, request: Complete) -> AsyncGenerator[str | EffectResult, None]:
    """Do what `stream_answer` does, on an event loop."""
    from ..llm.json_reply import AnswerStream  # noqa: PLC0415 - as above

    answer = AnswerStream()
    pieces = model.stream(request)
    try:
        async for piece in pieces:
            if isinstance(piece, Reply):
                yield EffectResult(piece)
            elif new := answer.add(piece):
                yield new
    finally:
        if hasattr(pieces, "aclose"):  # an async generator; a model may give any AsyncIterator
            await pieces.aclose()


def is_streamed(effect: Effect) -> TypeGuard[Complete]:
    """Whether the reply to a request is streamed: only the one that words the answer."""
    return isinstance(effect, Complete) and effect.role == "answer"


def _take_all(events: deque[Event]) -> Iterator[Event]:
    while events:
        yield events.popleft()
