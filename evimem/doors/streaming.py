"""Drive a flow step by step and yield what happens: trace events and pieces of the answer's text, then the answer."""

from __future__ import annotations

from collections import deque
from collections.abc import AsyncGenerator, Callable, Iterator
from contextlib import aclosing
from dataclasses import dataclass
from typing import Any, TypeAlias

from ..flow import Effect, Flow
from ..llm.answer_stream import AnswerStream
from ..types.answer import Answer
from ..types.model import Complete, Reply
from ..types.trace import Event

Streamed: TypeAlias = Event | str | Answer


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
    text_streamed = False
    try:
        effect = next(flow)
        while True:
            yield from _take_all(events)
            try:
                for piece in perform(effect):
                    if isinstance(piece, EffectResult):
                        result = piece.value
                    else:
                        text_streamed = True
                        yield piece
            except Exception as error:  # noqa: BLE001 - the flow decides what a failure means
                effect = flow.throw(error)
            else:
                effect = flow.send(result)
    except StopIteration as done:
        yield from _take_all(events)
        yield from _last_items(done.value, text_streamed=text_streamed)
    finally:
        flow.close()  # at once, and not when it is collected, where the caller stops in the middle


async def astream(
    flow: Flow[Answer],
    events: deque[Event],
    perform: Callable[[Effect], AsyncGenerator[str | EffectResult, None]],
) -> AsyncGenerator[Streamed, None]:
    """Do what `stream` does, awaiting each effect."""
    text_streamed = False
    try:
        effect = next(flow)
        while True:
            for event in _take_all(events):
                yield event
            try:
                async with aclosing(perform(effect)) as pieces:  # a cancelled caller ends the model's reply too
                    async for piece in pieces:
                        if isinstance(piece, EffectResult):
                            result = piece.value
                        else:
                            text_streamed = True
                            yield piece
            except Exception as error:  # noqa: BLE001 - the flow decides what a failure means
                effect = flow.throw(error)
            else:
                effect = flow.send(result)
    except StopIteration as done:
        for event in _take_all(events):
            yield event
        for last in _last_items(done.value, text_streamed=text_streamed):
            yield last
    finally:
        flow.close()


def stream_answer(model: Any, request: Complete) -> Iterator[str | EffectResult]:
    """Yield new text of the answer while the model's JSON reply arrives, then the whole reply."""
    answer = AnswerStream()
    for piece in model.stream(request):
        if isinstance(piece, Reply):
            yield EffectResult(piece)
        elif new := answer.add(piece):
            yield new


async def astream_answer(model: Any, request: Complete) -> AsyncGenerator[str | EffectResult, None]:
    """Do what `stream_answer` does, on an event loop."""
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


def is_streamed(request: Complete) -> bool:
    """Whether the reply to a request is streamed: only the one that words the answer."""
    return request.role == "answer"


def _take_all(events: deque[Event]) -> Iterator[Event]:
    while events:
        yield events.popleft()


def _last_items(answer: Answer, *, text_streamed: bool) -> Iterator[Streamed]:
    # Without a model, or with a reply that came in one piece, the text was not streamed: it is yielded once.
    if answer.text and not text_streamed:
        yield answer.text
    yield answer
