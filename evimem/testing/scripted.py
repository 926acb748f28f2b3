"""A scripted chat model, an embedder of words, and a clock that only moves when told."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Iterator, Mapping, Sequence
from typing import TypeAlias
from zlib import crc32

import numpy as np

from ..errors import ModelError
from ..types.model import Complete, Reply
from ..types.vectors import Vectors

Scripted: TypeAlias = "str | Reply | Exception | Callable[[Complete], str]"


class ScriptedModel:
    """A `ChatModel` that gives its replies in order, raises those that are exceptions, and keeps the requests."""

    def __init__(self, replies: Iterable[Scripted] = (), *, then: Scripted | None = None) -> None:
        """Take the replies in order and, with `then`, one for every request after the last of them."""
        self._replies: Iterator[Scripted] = iter(replies)
        self._then = then
        self.requests: list[Complete] = []
        self.batches: list[dict[str, Complete]] = []

    def complete(self, request: Complete) -> Reply:
        """Record the request; return the next reply."""
        self.requests.append(request)
        reply = next(self._replies, self._then)
        if reply is None:
            raise AssertionError(f"no reply scripted for request {len(self.requests)}: {request.prompt[:80]!r}")
        if isinstance(reply, Exception):
            raise reply
        if isinstance(reply, Reply):
            return reply
        text = reply if isinstance(reply, str) else reply(request)
        return Reply(text, "scripted", len(f"{request.system} {request.prompt}".split()), len(text.split()))

    def stream(self, request: Complete) -> Iterator[str | Reply]:
        """Yield the next reply word by word and, last, the whole of it."""
        reply = self.complete(request)
        for place, word in enumerate(reply.text.split(" ")):
            yield f" {word}" if place else word
        yield reply

    def start_batch(self, requests: Mapping[str, Complete]) -> str:
        """Take requests that `collect_batch` will answer from the script."""
        self.batches.append(dict(requests))
        return f"batch-{len(self.batches)}"

    def collect_batch(self, batch_id: str, requests: Mapping[str, Complete]) -> dict[str, Reply | ModelError]:
        """Return the next replies, one for each request."""
        return {key: self._outcome(request) for key, request in requests.items()}

    def _outcome(self, request: Complete) -> Reply | ModelError:
        try:
            return self.complete(request)
        except ModelError as error:
            return error

    def as_async(self) -> AsyncScriptedModel:
        """Return the same script for an event loop."""
        return AsyncScriptedModel(self)


class AsyncScriptedModel:
    """`ScriptedModel` for an event loop."""

    def __init__(self, model: ScriptedModel) -> None:
        self.model = model

    def complete(self, request: Complete) -> Awaitable[Reply]:
        """Record the request; return the next reply once the loop had a turn."""
        return asyncio.sleep(0, self.model.complete(request))

    async def stream(self, request: Complete) -> AsyncIterator[str | Reply]:
        """Yield the next reply word by word and, last, the whole of it."""
        for piece in self.model.stream(request):
            await asyncio.sleep(0)
            yield piece


class WordEmbedder:
    """An `Embedder` in which texts are close when they share words."""

    def __init__(self, dimension: int = 64) -> None:
        self.dimension = dimension

    @property
    def name(self) -> str:
        """Its name, which differs by dimension."""
        return f"words-{self.dimension}"

    def embed(self, texts: Sequence[str]) -> Vectors:
        """Return one unit vector a text, zeros for a text without words."""
        vectors = np.zeros((len(texts), self.dimension), dtype=np.float32)
        for row, text in zip(vectors, texts, strict=True):
            for word in text.lower().split():
                row[crc32(word.encode("utf-8", "replace")) % self.dimension] += 1
        norms = np.linalg.norm(vectors, axis=1, keepdims=True)
        return np.asarray(vectors / np.where(norms == 0, 1, norms), dtype=np.float32)


class FakeClock:
    """A clock to call that only moves when told."""

    def __init__(self, now: float = 0.0) -> None:
        self.now = now

    def __call__(self) -> float:
        """Return the time."""
        return self.now

    def advance(self, seconds: float) -> None:
        """Let time pass."""
        self.now += seconds
