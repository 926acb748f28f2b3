"""An embedder behind an OpenAI-compatible endpoint, for both doors."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np

from ..errors import EmbedderError, ModelError, ModelUnavailable
from ..types.vectors import Vectors
from .endpoint import HEADERS, Server, body_of
from .refusals import parsed
from .wire_format import host

_OF_TEXTS = {400, 413, 422}  # the answers to what was sent, and not to who asks or when
DIMENSIONS = {"text-embedding-3-small": 1536, "text-embedding-3-large": 3072, "text-embedding-ada-002": 1536}


@dataclass(frozen=True, repr=False, eq=False)
class OpenAIEmbedder:
    """An embedder behind any OpenAI-compatible endpoint; `as_async()` is its twin.

    `dimension` may be left out for OpenAI's own models. `deadline` bounds each request of at most `batch` texts. A
    text longer than `max_characters` is embedded by its beginning; a blank one gets a row of zeros.
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
    remote: ClassVar[bool] = True  # its vectors are owed after a turn is kept, and follow from the queue
    _server: Server = field(init=False)

    def __post_init__(self) -> None:
        if not self.dimension and self.model not in DIMENSIONS:
            raise EmbedderError(f"the dimension of {self.model!r} is not known here; pass dimension=", retryable=False)
        object.__setattr__(self, "dimension", self.dimension or DIMENSIONS[self.model])
        server = Server(
            "evimem.openai.OpenAIEmbedder",
            self.base_url,
            self.api_key,
            deadline=self.deadline,
            max_retries=self.max_retries,
            concurrency=self.concurrency,
        )
        object.__setattr__(self, "_server", server)

    def __repr__(self) -> str:
        return f"OpenAIEmbedder(model={self.model!r}, host={host(self.base_url)!r})"

    @property
    def name(self) -> str:
        """The model's name: what has to be the same when a memory is opened again."""
        return self.model

    def embed(self, texts: Sequence[str]) -> Vectors:
        """Return one unit vector a text. Raise EmbedderError when there is none before the deadline."""
        vectors = np.zeros((len(texts), self.dimension), dtype=np.float32)
        for rows, batch in self._batches(texts):
            future = self._submit(batch)
            try:
                vectors[rows] = future.result()
            except ModelError as error:
                raise _embedder_error(error) from None
            finally:
                future.cancel()
        return vectors

    def as_async(self) -> AsyncOpenAIEmbedder:
        """Return the same embedder for an event loop."""
        return AsyncOpenAIEmbedder(self)

    def close(self) -> None:
        """Close the connections and end their thread; a later call opens new ones."""
        self._server.close()

    def _batches(self, texts: Sequence[str]) -> Iterator[tuple[list[int], list[str]]]:
        spoken = [row for row, text in enumerate(texts) if text.strip()]
        for start in range(0, len(spoken), self.batch):
            rows = spoken[start : start + self.batch]
            yield rows, [_sendable(texts[row][: self.max_characters]) for row in rows]

    def _submit(self, batch: list[str]) -> Future[Vectors]:
        return self._server.submit(lambda client: self._server.typed(self._request(client, batch)))

    async def _request(self, client: Any, batch: list[str]) -> Vectors:
        call = client.embeddings.with_streaming_response.create(
            model=self.model, input=batch, encoding_format="float", extra_headers=HEADERS
        )
        async with call as response:
            return _vectors(await body_of(response), len(batch), self.dimension)


class AsyncOpenAIEmbedder:
    """`OpenAIEmbedder` for event loops, any number of them."""

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
        """The width of its vectors."""
        return self._embedder.dimension

    async def embed(self, texts: Sequence[str]) -> Vectors:
        """Return one unit vector a text. Raise EmbedderError when there is none before the deadline."""
        vectors = np.zeros((len(texts), self.dimension), dtype=np.float32)
        for rows, batch in self._embedder._batches(texts):
            try:
                unit: Vectors = await asyncio.wrap_future(self._embedder._submit(batch))
                vectors[rows] = unit
            except ModelError as error:
                raise _embedder_error(error) from None
        return vectors

    def close(self) -> None:
        """Close the connections that this object shares with its embedder."""
        self._embedder.close()


def _vectors(body: bytes, count: int, dimension: int) -> Vectors:
    """Return the unit vectors of an embeddings body, in the order asked."""
    payload = parsed(body)
    data = payload.get("data") if isinstance(payload, dict) else None
    if not isinstance(data, list) or not all(isinstance(item, dict) for item in data):
        raise ModelUnavailable("the server answered 200 with something that holds no embeddings", retryable=True)
    if len(data) != count:
        raise ModelUnavailable(f"the server gave {len(data)} embeddings for {count} texts", retryable=True)
    ordered = [item.get("embedding") for item in sorted(data, key=lambda item: _index(item.get("index")))]
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


def _index(value: Any) -> int:
    return value if isinstance(value, int) else 0


def _sendable(text: str) -> str:
    return text.encode("utf-8", "replace").decode()


def _embedder_error(error: ModelError) -> EmbedderError:
    status, wait = getattr(error, "status", None), getattr(error, "retry_after", None)
    return EmbedderError(
        f"no embeddings: {error}", retryable=error.retryable, of_texts=status in _OF_TEXTS, retry_after=wait
    )
