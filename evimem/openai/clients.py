"""A chat model and an embedder behind an OpenAI-compatible endpoint, synchronous and asynchronous, and its Batch API.

A batch is many requests in one file, at a lower price, answered within a day.
"""

from __future__ import annotations

import asyncio
import queue
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field, replace
from functools import partial
from time import monotonic
from typing import Any, ClassVar, Generic, TypeVar

import numpy as np

from ..errors import EmbedderError, ModelError, ModelUnavailable, ReplyError
from ..types.trace import Complete, ModelRole, Reply
from ..types.type_variables import T
from ..types.vectors import Vectors
from . import wire_format
from .endpoint import MAX_BODY, MOST_JSON, Connection, Server, body_of, lines_of
from .wire_format import (
    BATCH_URL,
    LENGTHS,
    SYSTEM,
    BatchOutcomes,
    batch_lines,
    check_settings,
    parse_json,
    rejected_option,
)

DIMENSIONS = {"text-embedding-3-small": 1536, "text-embedding-3-large": 3072, "text-embedding-ada-002": 1536}
OnPiece = Callable[[str], None]


class _Client:
    """The common part of a model and an embedder: checked settings, a server, and calls that an interrupt ends."""

    _feature: ClassVar[str]
    model: str
    base_url: str | None
    api_key: str | None
    deadline: float
    max_retries: int
    concurrency: int
    _server: Server

    def __post_init__(self) -> None:
        check_settings(self)
        object.__setattr__(self, "_server", self._server_of())

    def _server_of(self) -> Server:
        limits = (self.deadline, self.max_retries, self.concurrency)
        return Server(self._feature, self.base_url, self.api_key, *limits)

    def __repr__(self) -> str:
        return f"{type(self).__name__}(model={self.model!r}, host={wire_format.host(self.base_url)!r})"

    def close(self) -> None:
        """Close the connections and end their thread; calls in progress fail, a later call opens new ones."""
        self._server.close()


C = TypeVar("C", bound=_Client)


class _Async(Generic[C]):
    """The same for event loops, any number of them: cancelling a call cancels its request."""

    def __init__(self, model: C) -> None:
        self.model = model

    def __repr__(self) -> str:
        return f"Async{self.model!r}"

    def close(self) -> None:
        """Close the connections, which are shared with the synchronous one."""
        self.model.close()


@dataclass(frozen=True, repr=False, eq=False)
class OpenAI(_Client):
    """A chat model behind any OpenAI-compatible endpoint; `as_async()` is for event loops.

    Constructing it imports the `openai` package; no request is sent before the first call. Safe to share between
    threads and memories; close it when done.

    Args:
        model: The model's name, for every role that has none of its own.
        judge_model: The model that judges whether evidence suffices, and decides in the other loops.
        answer_model: The model that words answers in loops that judge in a request of its own, such as "answer-apart";
            the default loop judges and answers in one request, of `judge_model`. A role of a loop's own is served by
            `model`.
        extract_model: The model that extracts facts from turns, in `Memory.enrich`.
        temperature: Sampling temperature, usually 0 to 2; None leaves it to the server. A server that rejects the
            option is asked again without it.
        base_url: The API's root, such as `http://localhost:11434/v1`; None is OpenAI's.
        api_key: The key. None reads OPENAI_API_KEY, except for a `base_url` on this machine, which gets no such key.
        deadline: Seconds, above 0, that a whole call may take: its retries, its waits and its waiting for one of
            `concurrency` places included.
        max_retries: Further attempts, 0 or more, after a failure that may pass (408, 409, 425, 429, 5xx, a broken
            connection). A Retry-After header is honoured within the deadline.
        concurrency: Requests in flight at one time, at least 1.
        prices: Dollars per million input tokens and per million output tokens, by model name, for `Reply.cost`.
        extra: Further fields for the body of each request, such as `{"seed": 7}`; a `max_tokens` in it takes the
            place of evimem's own bound on a reply (2,000 tokens of a judgement or answer, thoughts included).

    Raises:
        InvalidQuery: When an argument is of another type or out of range.
        MissingExtra: When the `openai` package is not installed (`pip install 'evimem[openai]'`).
        ModelUnavailable: When there is no API key.
    """

    model: str
    judge_model: str | None = None
    answer_model: str | None = None
    extract_model: str | None = None
    temperature: float | None = 0.0
    base_url: str | None = None
    api_key: str | None = None
    deadline: float = 60.0
    max_retries: int = 3
    concurrency: int = 8
    prices: Mapping[str, tuple[float, float]] = field(default_factory=dict)
    extra: Mapping[str, Any] = field(default_factory=dict)
    _rejected_options: dict[tuple[str, str], int] = field(init=False, default_factory=dict)
    _feature: ClassVar[str] = "evimem.OpenAI"

    def complete(self, request: Complete) -> Reply:
        """Return the model's reply.

        Raise ModelTimeout at the deadline, ModelUnavailable (with `status`, `retryable` and `retry_after` seconds)
        when the server rejects the request or cannot be reached, ReplyError for a refused, truncated or empty reply.
        """
        return _result(self._submit(request))

    def stream(self, request: Complete) -> Iterator[str | Reply]:
        """Yield the pieces of the reply's text as they arrive and, last, the `Reply`. Raise as `complete` does.

        A failure after the first piece is not retried, because pieces that were yielded cannot be taken back. Closing
        the iterator cancels the request.
        """
        pieces: queue.SimpleQueue[str | None] = queue.SimpleQueue()
        future = self._submit(request, pieces.put)
        future.add_done_callback(lambda _: pieces.put(None))
        try:
            while (piece := pieces.get()) is not None:
                yield piece
            yield future.result()
        finally:
            future.cancel()

    def start_batch(self, requests: Mapping[str, Complete]) -> str:
        """Submit requests, by key, to the provider's Batch API; return the batch's id. Raise ModelError; never retried.

        Keys are at most 64 characters. A batch is answered within a day, usually at half the price.
        """
        bodies = {key: self._body(request, self._options(request)) for key, request in requests.items()}
        return self._once(partial(_submit_batch, bodies=bodies))

    def collect_batch(self, batch_id: str, requests: Mapping[str, Complete]) -> BatchOutcomes | None:
        """Return the reply or the error of each request, or None while the batch is in progress.

        Args:
            batch_id: The id that `start_batch` returned.
            requests: Those of `start_batch`, by the same keys. One that the batch did not answer gets a retryable
                ModelUnavailable as its error.

        Raises:
            ModelError: The batch cannot be downloaded.
        """
        lines = self._once(partial(_download_batch, batch_id=batch_id))
        return None if lines is None else wire_format.read_batch(lines, requests)

    def as_async(self) -> AsyncOpenAI:
        """Return the same model for event loops; it shares this one's connections and limits."""
        return AsyncOpenAI(self)

    def model_for(self, role: ModelRole) -> str:
        """Return the name of the model for a role."""
        own = {"judge": self.judge_model, "decide": self.judge_model, "answer": self.answer_model}
        return {**own, "extract": self.extract_model}.get(role) or self.model

    def _once(self, request: Callable[[Any], Awaitable[T]]) -> T:
        return _result(self._server.submit(lambda connection: self._server.call(connection, request, retries=0)))[0]

    def _submit(self, request: Complete, on_piece: OnPiece | None = None) -> Future[Reply]:
        pieces = _Pieces(on_piece) if on_piece else None
        return self._server.submit(lambda connection: self._request_reply(connection, request, pieces))

    async def _request_reply(self, connection: Connection, request: Complete, pieces: _Pieces | None) -> Reply:
        started = monotonic()
        try:
            reply, retries = await self._server.call(
                connection, lambda client: self._attempt(client, request, pieces), seconds=request.seconds
            )
        except ModelError as error:
            found = error.received or Reply("")
            cost = error.received and wire_format.cost(found, self.prices, self.model_for(request.role))
            error.received = replace(found, seconds=monotonic() - started, cost=cost)
            raise
        return replace(reply, retries=reply.retries + retries, seconds=monotonic() - started)

    async def _attempt(self, client: Any, request: Complete, pieces: _Pieces | None) -> Reply:
        """Send a request, again without each option that the server rejects; remember which ones it rejects."""
        model = self.model_for(request.role)
        rejected: list[str] = []
        while True:
            options = self._options(request, stream=pieces is not None, rejected=rejected)
            try:
                reply = await self._server.with_typed_errors(self._chat(client, request, options, pieces))
            except ModelError as error:
                name = rejected_option(error, options)
                if name is None:
                    raise
                rejected.append(name)
            else:
                # Only after a success: else the option was not the fault.
                for name in rejected:
                    self._rejected_options[model, name] = self._rejected_options.get((model, name), 0) + 1
                return replace(reply, retries=len(rejected), cost=wire_format.cost(reply, self.prices, model))

    async def _chat(self, client: Any, request: Complete, options: Mapping[str, Any], pieces: _Pieces | None) -> Reply:
        body = self._body(request, options)
        model, messages = body.pop("model"), body.pop("messages")
        streams = pieces is not None
        completions = client.chat.completions.with_streaming_response
        async with completions.create(model=model, messages=messages, stream=streams, extra_body=body) as response:
            if pieces is not None and "event-stream" in response.headers.get("content-type", ""):
                return await _read_stream(response, request, pieces)
            reply = wire_format.read_reply(await body_of(response, MOST_JSON), request)
            if pieces is not None:  # of a server that cannot stream
                pieces.add(reply.text)
            return reply

    def _body(self, request: Complete, options: Mapping[str, Any]) -> dict[str, Any]:
        messages = wire_format.messages(request, tools="tools" in options, system=SYSTEM in options)
        sent = {name: value for name, value in options.items() if name != SYSTEM}
        return {"model": self.model_for(request.role), "messages": messages, **sent, **self.extra}

    def _options(self, request: Complete, *, stream: bool = False, rejected: Sequence[str] = ()) -> dict[str, Any]:
        """Return the options of a request, each in the first form that was not `rejected`, now or before."""
        model = self.model_for(request.role)
        known = {name: times for (of, name), times in list(self._rejected_options.items()) if of == model}
        forms: dict[str, Sequence[Any]] = {
            SYSTEM: [True],
            "temperature": [self.temperature if request.temperature is None else request.temperature],
            "logprobs": [True] if request.likely else [],
            "top_logprobs": [request.likely] if request.likely else [],
            "tools": [wire_format.functions(request.tools)] if request.tools else [],
            "response_format": wire_format.response_formats(request) if request.schema else [],
            "stream_options": [{"include_usage": True}] if stream else [],
        }
        options = {}
        for name, values in forms.items():
            left = values[known.get(name, 0) + rejected.count(name) :]
            if left and left[0] is not None:
                options[name] = left[0]
        names = [name for name in (LENGTHS if self.base_url else LENGTHS[::-1]) if name not in {*known, *rejected}]
        if names and request.most_tokens and not set(LENGTHS) & set(self.extra):
            options[names[0]] = request.most_tokens
        return options


class AsyncOpenAI(_Async[OpenAI]):
    """`OpenAI` for event loops, any number of them: cancelling a call cancels its request."""

    async def complete(self, request: Complete) -> Reply:
        """Return the model's reply. Raise as `OpenAI.complete` does."""
        return await asyncio.wrap_future(self.model._submit(request))

    async def stream(self, request: Complete) -> AsyncIterator[str | Reply]:
        """Yield the pieces of the reply's text as they arrive and, last, the `Reply`. Raise as `OpenAI.stream` does."""
        loop = asyncio.get_running_loop()
        pieces: asyncio.Queue[str | None] = asyncio.Queue()

        def put(piece: str | None) -> None:
            if not loop.is_closed():  # it may be gone by then: this is the connection's thread
                loop.call_soon_threadsafe(pieces.put_nowait, piece)

        future = self.model._submit(request, put)
        future.add_done_callback(lambda _: put(None))
        try:
            while (piece := await pieces.get()) is not None:
                yield piece
            reply: Reply = await asyncio.wrap_future(future)
            yield reply
        finally:
            future.cancel()


class _Pieces:
    """Passes pieces of a reply on, and records whether there were any: then a retry would repeat them."""

    def __init__(self, on_piece: OnPiece) -> None:
        self._on_piece = on_piece
        self.any = False

    def add(self, piece: str) -> None:
        self.any = self.any or bool(piece)
        self._on_piece(piece)


async def _read_stream(response: Any, request: Complete, pieces: _Pieces) -> Reply:
    completion = wire_format.Completion()
    try:
        async for line in lines_of(response):
            if piece := completion.add_line(line):
                pieces.add(piece)
        return completion.reply(request)
    except Exception as error:
        if not pieces.any or isinstance(error, ReplyError):
            raise
    # Outside of `except`, so that the client's error, which may quote the request, is not chained.
    raise ModelUnavailable("the stream broke off after it had begun; ask again", retryable=False)


async def _submit_batch(client: Any, bodies: Mapping[str, Mapping[str, Any]]) -> str:
    """Upload request bodies by key and start a batch of them; return the batch's id."""

    async def made(call: Any) -> str:
        answer = parse_json(await _whole(call))
        if not isinstance(answer, dict) or not isinstance(answer.get("id"), str):
            raise ModelUnavailable("the server answered 200 with something that is no file or batch", retryable=True)
        return str(answer["id"])

    files, batches = client.files.with_streaming_response, client.batches.with_streaming_response
    file = await made(files.create(file=("requests.jsonl", batch_lines(bodies)), purpose="batch"))
    # The API accepts "24h" only.
    batch = batches.create(input_file_id=file, endpoint=BATCH_URL, completion_window="24h")
    return await made(batch)


async def _download_batch(client: Any, batch_id: str) -> bytes | None:
    """Return the result lines and error lines of a batch, or None while it is in progress."""
    batch = parse_json(await _whole(client.batches.with_streaming_response.retrieve(batch_id)))
    if not isinstance(batch, dict) or batch.get("status") not in {"completed", "failed", "expired", "cancelled"}:
        return None
    files = [batch[name] for name in ("output_file_id", "error_file_id") if isinstance(batch.get(name), str)]
    content = client.files.with_streaming_response.content
    # A result file has at most 10,000 results of 40 kB.
    return b"\n".join([await _whole(content(file), 400_000_000) for file in files])


def _result(future: Future[T]) -> T:
    try:
        return future.result()
    finally:
        future.cancel()  # an interrupt must not leave the request running


async def _whole(call: Any, limit: int = MAX_BODY) -> bytes:
    async with call as response:
        return await body_of(response, limit)


@dataclass(frozen=True, repr=False, eq=False)
class OpenAIEmbedder(_Client):
    """An embedder behind any OpenAI-compatible endpoint (`/v1/embeddings`); `as_async()` is for event loops.

    A memory opened with it stores turns at once and computes their vectors later, in `Memory.enrich`, because a
    request may fail or take long. Safe to share between threads and memories; close it when done.

    Args:
        model: The model's name, sent with each request and stored in a memory's file as the embedder's identity.
        dimension: Width of the vectors, at least 1. May be left out (0) for the models in `DIMENSIONS`. One that is not
            the model's own is asked for (`dimensions` in the request), of models that can shorten their vectors.
        base_url, api_key, max_retries, concurrency: Of the server, see `OpenAI`.
        deadline: Seconds, above 0, that each request of at most `batch` texts may take with its retries, its waits
            and its waiting for one of `concurrency` places.
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
    _shortened: list[bool] = field(init=False, default_factory=list)
    remote: ClassVar[bool] = True  # a memory queues its vectors instead of waiting for them in `add`
    _feature: ClassVar[str] = "evimem.openai.OpenAIEmbedder"

    def __post_init__(self) -> None:
        _Client.__post_init__(self)
        if not self.dimension and self.model not in DIMENSIONS:
            raise EmbedderError(f"the dimension of {self.model!r} is not known here; pass dimension=", retryable=False)
        object.__setattr__(self, "dimension", self.dimension or DIMENSIONS[self.model])

    @property
    def name(self) -> str:
        """The model's name; a memory can be opened again only with an embedder of the same name."""
        return self.model

    def embed(self, texts: Sequence[str]) -> Vectors:
        """Return the texts' unit vectors, float32 of shape (len(texts), dimension); a blank text gets zeros.

        Blank texts are not sent. Raise EmbedderError, with `retryable`, `retry_after` (seconds) and `of_texts`
        (whether the texts may be the reason; None where that is not known), when a request fails or is too late.
        """
        return _result(self._submit(texts))

    def as_async(self) -> AsyncOpenAIEmbedder:
        """Return the same embedder for event loops; it shares this one's connections and limits."""
        return AsyncOpenAIEmbedder(self)

    def _submit(self, texts: Sequence[str]) -> Future[Vectors]:
        return self._server.submit(lambda connection: self._request_vectors(connection, texts))

    async def _request_vectors(self, connection: Connection, texts: Sequence[str]) -> Vectors:
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
                # Statuses that may concern the texts, not the key, the server or the rate.
                of_texts = None if status is None or status >= 500 else status in {400, 403, 413, 422, 451}
                raise EmbedderError(
                    f"no embeddings: {error}", retryable=error.retryable, of_texts=of_texts, retry_after=wait
                ) from None
        return vectors

    async def _request(self, client: Any, batch: list[str]) -> Vectors:
        """Return the vectors of a batch; where the server gave another width, ask for it, then and from then on."""
        shortens = self._shortened or self.dimension != DIMENSIONS.get(self.model, self.dimension)
        width = {"dimensions": self.dimension} if shortens else {}
        create = client.embeddings.with_streaming_response.create
        vectors = _vectors(
            await _whole(create(model=self.model, input=batch, encoding_format="float", **width)), len(batch)
        )
        if vectors.shape[1] == self.dimension:
            return vectors
        if width:
            raise ModelUnavailable(
                f"the server gave embeddings of {vectors.shape[1]} values, although {self.dimension} were asked for; "
                f"pass dimension={vectors.shape[1]}, or use a model that can shorten them",
                retryable=False,
            )
        self._shortened.append(True)
        return await self._request(client, batch)


class AsyncOpenAIEmbedder(_Async[OpenAIEmbedder]):
    """`OpenAIEmbedder` for event loops, any number of them: cancelling a call cancels its request."""

    remote: ClassVar[bool] = True

    @property
    def name(self) -> str:
        """The model's name."""
        return self.model.name

    @property
    def dimension(self) -> int:
        """The width of the vectors."""
        return self.model.dimension

    async def embed(self, texts: Sequence[str]) -> Vectors:
        """Return the texts' unit vectors, as `OpenAIEmbedder.embed` does. Raise EmbedderError."""
        return await asyncio.wrap_future(self.model._submit(texts))


def _vectors(body: bytes, count: int) -> Vectors:
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
    if vectors.ndim != 2 or not vectors.shape[1]:
        raise ModelUnavailable("the server gave embeddings that are no vectors", retryable=True)
    norms = np.linalg.norm(vectors, axis=1, keepdims=True)
    if not np.isfinite(norms).all():
        raise ModelUnavailable("the server gave embeddings that are not finite", retryable=True)
    return np.asarray(vectors / np.where(norms == 0, 1, norms), dtype=np.float32)
