"""An embedder behind an OpenAI-compatible endpoint, synchronous and asynchronous."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field, fields
from functools import partial
from typing import Any, ClassVar

import numpy as np

from ..errors import EmbedderError, ModelError, ModelUnavailable
from ..types.vectors import Vectors
from .endpoint import Connection, Server, body_of
from .wire_format import check_settings, host, parse_json

_TEXT_STATUSES = {400, 413, 422}  # statuses that concern the texts, not the key, the server or the rate
DIMENSIONS = {"text-embedding-3-small": 1536, "text-embedding-3-large": 3072, "text-embedding-ada-002": 1536}


@dataclass(frozen=True, repr=False, eq=False)
class OpenAIEmbedder:
    """An embedder behind any OpenAI-compatible endpoint (`/v1/embeddings`); `as_async()` is for event loops.

    A memory opened with it stores turns at once and computes their vectors later, in `Memory.enrich`, because a
    request may fail or take long. Safe to share between threads and memories; close it when done.

    Args:
        model: The model's name, sent with each request and stored in a memory's file as the embedder's identity.
        dimension: Width of the vectors, at least 1. May be left out (0) for the models in `DIMENSIONS`.
        base_url: The API's root, such as `http://localhost:11434/v1`; None is OpenAI's.
        api_key: The key. None reads OPENAI_API_KEY, except for a `base_url` on this machine, which gets no such key.
        deadline: Seconds, above 0, that each request of at most `batch` texts may take with its retries, its waits
            and its waiting for one of `concurrency` places.
        max_retries: Further attempts, 0 or more, after a failure that may pass (408, 409, 425, 429, 5xx, a broken
            connection). A Retry-After header is honoured within the deadline.
        concurrency: Requests in flight at one time, at least 1.
        batch: Texts per request, at least 1.
        max_characters: Characters of a text that are sent, at least 1; the rest is ignored.
        remote: Always true, no argument: tells a memory to queue vectors instead of waiting for them in `add`.

    Raises:
        InvalidQuery: When an argument is of another type or out of range.
        EmbedderError: When the dimension is neither given nor known.
        MissingExtra: When the `openai` package is not installed (`pip install 'evimem[openai]'`).
        ModelUnavailable: When there is no API key.
    """

    model: str
    dimension: int = 0
    base_url: str | None = None
    api_key: str | None = None
    deadline: float = 60.0
    max_retries: int = 3
    concurrency: int = 4
    batch: int = 128
    max_characters: int = 20_000
    remote: ClassVar[bool] = True  # a memory queues its vectors instead of waiting for them in `add`
    _server: Server = field(init=False)

    def __post_init__(self) -> None:
        check_settings(self, tuple(one.name for one in fields(self) if one.init))
        if not self.dimension and self.model not in DIMENSIONS:
            raise EmbedderError(f"the dimension of {self.model!r} is not known here; pass dimension=", retryable=False)
        object.__setattr__(self, "dimension", self.dimension or DIMENSIONS[self.model])
        limits = (self.deadline, self.max_retries, self.concurrency)
        server = Server("evimem.openai.OpenAIEmbedder", self.base_url, self.api_key, *limits)
        object.__setattr__(self, "_server", server)

    def __repr__(self) -> str:
        return f"OpenAIEmbedder(model={self.model!r}, host={host(self.base_url)!r})"

    @property
    def name(self) -> str:
        """The model's name; a memory can be opened again only with an embedder of the same name."""
        return self.model

    def embed(self, texts: Sequence[str]) -> Vectors:
        """Return the texts' unit vectors, float32 of shape (len(texts), dimension); a blank text gets zeros.

        Blank texts are not sent. Raise EmbedderError, with `retryable`, `retry_after` (seconds) and `of_texts`
        (whether the texts themselves were rejected), when a request fails or exceeds the deadline.
        """
        future = self._submit(texts)
        try:
            return future.result()
        finally:
            future.cancel()  # an interrupt must not leave a request running

    def as_async(self) -> AsyncOpenAIEmbedder:
        """Return the same embedder for event loops; it shares this one's connections and limits."""
        return AsyncOpenAIEmbedder(self)

    def close(self) -> None:
        """Close the connections and end their thread; calls in progress fail, a later call opens new ones."""
        self._server.close()

    def _submit(self, texts: Sequence[str]) -> Future[Vectors]:
        return self._server.submit(lambda connection: self._embedded(connection, texts))

    async def _embedded(self, connection: Connection, texts: Sequence[str]) -> Vectors:
        vectors = np.zeros((len(texts), self.dimension), dtype=np.float32)
        filled = [row for row, text in enumerate(texts) if text.strip()]  # servers reject blank texts
        for start in range(0, len(filled), self.batch):
            rows = filled[start : start + self.batch]
            # Lone surrogates have no UTF-8 form.
            batch = [texts[row][: self.max_characters].encode("utf-8", "replace").decode() for row in rows]
            try:
                vectors[rows], _ = await self._server.call(connection, partial(self._request, batch=batch))
            except ModelError as error:
                status, wait = getattr(error, "status", None), getattr(error, "retry_after", None)
                of_texts = status in _TEXT_STATUSES
                raise EmbedderError(
                    f"no embeddings: {error}", retryable=error.retryable, of_texts=of_texts, retry_after=wait
                ) from None
        return vectors

    async def _request(self, client: Any, batch: list[str]) -> Vectors:
        call = client.embeddings.with_streaming_response.create(model=self.model, input=batch, encoding_format="float")
        async with call as response:
            return _vectors(await body_of(response), len(batch), self.dimension)


class AsyncOpenAIEmbedder:
    """`OpenAIEmbedder` for event loops, any number of them: cancelling a call cancels its request."""

    remote: ClassVar[bool] = True

    def __init__(self, embedder: OpenAIEmbedder) -> None:
        self._embedder = embedder

    def __repr__(self) -> str:
        return f"Async{self._embedder!r}"

    @property
    def name(self) -> str:
        """The model's name."""
        return self._embedder.name

    @property
    def dimension(self) -> int:
        """The width of the vectors."""
        return self._embedder.dimension

    async def embed(self, texts: Sequence[str]) -> Vectors:
        """Return the texts' unit vectors, as `OpenAIEmbedder.embed` does. Raise EmbedderError."""
        return await asyncio.wrap_future(self._embedder._submit(texts))

    def close(self) -> None:
        """Close the connections, which are shared with the `OpenAIEmbedder`."""
        self._embedder.close()


def _vectors(body: bytes, count: int, dimension: int) -> Vectors:
    """Return the unit vectors in a response body, in the order of the texts."""
    payload = parse_json(body)
    data = payload.get("data") if isinstance(payload, dict) else None
    if not isinstance(data, list) or not all(isinstance(item, dict) for item in data):
        raise ModelUnavailable("the server answered 200 with something that holds no embeddings", retryable=True)
    if len(data) != count:
        raise ModelUnavailable(f"the server gave {len(data)} embeddings for {count} texts", retryable=True)
    # The API promises an index per item, not an order.
    places = [item["index"] if isinstance(item.get("index"), int) else 0 for item in data]
    ordered = [data[at].get("embedding") for at in sorted(range(count), key=places.__getitem__)]
    try:
        vectors = np.asarray(ordered, dtype=np.float32)
    except (TypeError, ValueError):
        raise ModelUnavailable("the server gave embeddings that are no vectors", retryable=True) from None
    if vectors.shape != (count, dimension):
        raise ModelUnavailable(
            f"the server gave embeddings of {vectors.shape[1:]!r} dimensions, expected {dimension}; pass dimension=",
            retryable=False,
        )
    norms = np.linalg.norm(vectors, axis=1, keepdims=True)
    if not np.isfinite(norms).all():
        raise ModelUnavailable("the server gave embeddings that are not finite", retryable=True)
    return np.asarray(vectors / np.where(norms == 0, 1, norms), dtype=np.float32)
