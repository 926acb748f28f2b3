"""A scripted chat model, for tests of code that asks one."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Iterator, Mapping
from typing import TypeAlias

from .errors import ModelError
from .types.trace import Complete, Reply

Scripted: TypeAlias = "str | Reply | Exception | Callable[[Complete], str]"


class ScriptedModel:
    """A `ChatModel` that returns scripted replies in order and records the requests.

    A scripted reply is a text, a `Reply`, an exception to raise, or a function from the `Complete` request to a text.
    A text becomes a `Reply` whose tokens are its words. `requests` holds the requests so far, `batches` those of each
    `start_batch`, by key.
    """

    def __init__(self, replies: Iterable[Scripted] = (), *, then: Scripted | None = None) -> None:
        """Take the replies in order; `then` answers every request after the last of them."""
        self._replies: Iterator[Scripted] = iter(replies)
        self._then = then
        self.requests: list[Complete] = []
        self.batches: list[dict[str, Complete]] = []

    def complete(self, request: Complete) -> Reply:
        """Record the request; return the next reply, or raise it where it is an exception.

        Raise AssertionError where the script has no reply left.
        """
        self.requests.append(request)
        reply = next(self._replies, self._then)
        if reply is None:
            raise AssertionError(f"no reply scripted for request {len(self.requests)}: {request.prompt[:80]!r}")
        if isinstance(reply, Exception):
            raise reply
        if isinstance(reply, Reply):
            return reply
        text = reply if isinstance(reply, str) else reply(request)
        return Reply(text, "scripted", len(request.text.split()), len(text.split()))

    def stream(self, request: Complete) -> Iterator[str | Reply]:
        """Yield the text of the next reply word by word and, last, the `Reply`. Raise as `complete` does."""
        reply = self.complete(request)
        for place, word in enumerate(reply.text.split(" ")):
            yield f" {word}" if place else word
        yield reply

    def start_batch(self, requests: Mapping[str, Complete]) -> str:
        """Record requests by key, which `collect_batch` answers from the script; return the batch's id."""
        self.batches.append(dict(requests))
        return f"batch-{len(self.batches)}"

    def collect_batch(self, batch_id: str, requests: Mapping[str, Complete]) -> dict[str, Reply | ModelError]:
        """Return the next replies, one per request by its key; a scripted ModelError is returned, not raised."""
        return {key: self._outcome(request) for key, request in requests.items()}

    def _outcome(self, request: Complete) -> Reply | ModelError:
        try:
            return self.complete(request)
        except ModelError as error:
            return error

    def as_async(self) -> AsyncScriptedModel:
        """Return the same model, with the same script, for an event loop."""
        return AsyncScriptedModel(self)


class AsyncScriptedModel:
    """`ScriptedModel` for an event loop."""

    def __init__(self, model: ScriptedModel) -> None:
        self.model = model

    def complete(self, request: Complete) -> Awaitable[Reply]:
        """Record the request; return an awaitable of the next reply. Raise as `ScriptedModel.complete` does."""
        return asyncio.sleep(0, self.model.complete(request))

    async def stream(self, request: Complete) -> AsyncIterator[str | Reply]:
        """Yield the text of the next reply word by word and, last, the `Reply`."""
        for piece in self.model.stream(request):
            await asyncio.sleep(0)
            yield piece
