"""A scripted chat model, a bag-of-words embedder, and a clock that a test advances."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Iterator, Mapping, Sequence
from typing import TypeAlias
from zlib import crc32

import numpy as np

from .errors import ModelError
from .types.trace import Complete, Reply
from .types.vectors import Vectors

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


class WordEmbedder:
    """An `Embedder` of hashed bags of words: texts are similar where they share words."""

    def __init__(self, dimension: int = 64) -> None:
        """Take the width of the vectors, at least 1; with few dimensions different words share one."""
        self.dimension = dimension

    @property
    def name(self) -> str:
        """The name, which differs by dimension."""
        return f"words-{self.dimension}"

    def embed(self, texts: Sequence[str]) -> Vectors:
        """Return the texts' unit vectors, float32 of shape (len(texts), dimension); zeros for a text without words."""
        vectors = np.zeros((len(texts), self.dimension), dtype=np.float32)
        for row, text in zip(vectors, texts, strict=True):
            for word in text.lower().split():
                row[crc32(word.encode("utf-8", "replace")) % self.dimension] += 1
        norms = np.linalg.norm(vectors, axis=1, keepdims=True)
        return np.asarray(vectors / np.where(norms == 0, 1, norms), dtype=np.float32)


class FakeClock:
    """A clock that only moves when a test advances it; call it for the time in seconds."""

    def __init__(self, now: float = 0.0) -> None:
        """Take the time to start at, in seconds."""
        self.now: float = now

    def __call__(self) -> float:
        """Return the time in seconds."""
        return self.now

    def advance(self, seconds: float) -> None:
        """Move the clock by so many seconds; negative ones set it back."""
        self.now += seconds
