"""A flow driven step by step, for a caller who wants to see it happen: events and words as they come, then the end."""

from __future__ import annotations

from collections import deque
from collections.abc import AsyncGenerator, Callable, Iterator
from contextlib import aclosing
from dataclasses import dataclass
from typing import Any, TypeAlias

from ..flow import Effect, Flow
from ..llm.answer_stream import Telling
from ..types.answer import Answer
from ..types.model import Complete, Reply
from ..types.trace import Event

Streamed: TypeAlias = Event | str | Answer


@dataclass(frozen=True, slots=True)
class Outcome:
    """What an effect came to, after the words that were told on the way."""

    value: Any


def stream(
    flow: Flow[Answer], told: deque[Event], perform: Callable[[Effect], Iterator[str | Outcome]]
) -> Iterator[Streamed]:
    """Yield the events of a flow and the words of its answer as they come and, last, the answer."""
    spoken = False
    try:
        effect = next(flow)
        while True:
            yield from _drained(told)
            try:
                for piece in perform(effect):
                    if isinstance(piece, Outcome):
                        result = piece.value
                    else:
                        spoken = True
                        yield piece
            except Exception as error:  # noqa: BLE001 - the flow decides what a failure means
                effect = flow.throw(error)
            else:
                effect = flow.send(result)
    except StopIteration as done:
        yield from _drained(told)
        yield from _ending(done.value, spoken=spoken)
    finally:
        flow.close()  # at once, and not when it is collected, where the caller stops in the middle


async def astream(
    flow: Flow[Answer], told: deque[Event], perform: Callable[[Effect], AsyncGenerator[str | Outcome, None]]
) -> AsyncGenerator[Streamed, None]:
    """Do what `stream` does, awaiting each effect."""
    spoken = False
    try:
        effect = next(flow)
        while True:
            for event in _drained(told):
                yield event
            try:
                async with aclosing(perform(effect)) as pieces:  # a cancelled caller ends the model's reply too
                    async for piece in pieces:
                        if isinstance(piece, Outcome):
                            result = piece.value
                        else:
                            spoken = True
                            yield piece
            except Exception as error:  # noqa: BLE001 - the flow decides what a failure means
                effect = flow.throw(error)
            else:
                effect = flow.send(result)
    except StopIteration as done:
        for event in _drained(told):
            yield event
        for last in _ending(done.value, spoken=spoken):
            yield last
    finally:
        flow.close()


def told_by(model: Any, request: Complete) -> Iterator[str | Outcome]:
    """Yield the words of an answer while the model's reply arrives, then the reply."""
    telling = Telling()
    for piece in model.stream(request):
        if isinstance(piece, Reply):
            yield Outcome(piece)
        elif new := telling.take(piece):
            yield new


async def atold_by(model: Any, request: Complete) -> AsyncGenerator[str | Outcome, None]:
    """Do what `told_by` does, on an event loop."""
    telling = Telling()
    pieces = model.stream(request)
    try:
        async for piece in pieces:
            if isinstance(piece, Reply):
                yield Outcome(piece)
            elif new := telling.take(piece):
                yield new
    finally:
        if hasattr(pieces, "aclose"):  # an async generator; a model may give any AsyncIterator
            await pieces.aclose()


def is_told(effect: Complete) -> bool:
    """Say whether a request words the answer, which is told while it arrives."""
    return effect.role == "answer"


def _drained(told: deque[Event]) -> Iterator[Event]:
    while told:
        yield told.popleft()


def _ending(answer: Answer, *, spoken: bool) -> Iterator[Streamed]:
    if answer.text and not spoken:
        yield answer.text
    yield answer
