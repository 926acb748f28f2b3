"""A chat model behind an OpenAI-compatible endpoint, synchronous and asynchronous, and its Batch API.

A batch is many requests in one file, at a lower price, answered within a day.
"""

from __future__ import annotations

import asyncio
import queue
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field, fields, replace
from time import monotonic
from typing import Any, TypeAlias, TypeVar

import orjson

from ..errors import ModelError, ModelUnavailable, ReplyError
from ..types.trace import Complete, ModelRole, Reply
from . import wire_format
from .endpoint import MAX_BODY, MOST_JSON, Connection, Server, body_of, lines_of
from .wire_format import LENGTHS, ErrorResponse, check_settings, error_from, parse_json, rejected_option

BatchOutcomes: TypeAlias = "dict[str, Reply | ModelError]"
COMPLETION_WINDOW = "24h"  # the only value that the API accepts
MAX_RESULTS = 400_000_000  # bytes of a result file: 10,000 requests of 40 kB
URL = "/v1/chat/completions"
_FINISHED = {"completed", "failed", "expired", "cancelled"}
T = TypeVar("T")
OnPiece = Callable[[str], None]


async def submit_batch(client: Any, bodies: Mapping[str, Mapping[str, Any]]) -> str:
    """Upload request bodies by key and start a batch of them; return the batch's id.

    `client` is an `openai.AsyncOpenAI`. Raise ModelUnavailable for a response that names no file or batch; what the
    client raises is the caller's to translate.
    """
    upload = client.files.with_streaming_response.create(file=("requests.jsonl", batch_lines(bodies)), purpose="batch")
    file_id = _text_field(await _body(upload), "id")
    create = client.batches.with_streaming_response.create(
        input_file_id=file_id, endpoint=URL, completion_window=COMPLETION_WINDOW
    )
    return _text_field(await _body(create), "id")


async def download_batch(client: Any, batch_id: str) -> bytes | None:
    """Return the result lines and error lines of a batch, or None while it is in progress."""
    retrieve = client.batches.with_streaming_response.retrieve(batch_id)
    batch = parse_json(await _body(retrieve))
    if not isinstance(batch, dict) or batch.get("status") not in _FINISHED:
        return None
    parts = []
    for name in ("output_file_id", "error_file_id"):
        if isinstance(batch.get(name), str):
            content = client.files.with_streaming_response.content(batch[name])
            parts.append(await _body(content, MAX_RESULTS))
    return b"\n".join(parts)


def batch_lines(bodies: Mapping[str, Mapping[str, Any]]) -> bytes:
    """Return request bodies as a batch's input file: one JSON object per line, `custom_id` is the key."""
    lines = ({"custom_id": key, "method": "POST", "url": URL, "body": body} for key, body in bodies.items())
    return b"".join(orjson.dumps(line) + b"\n" for line in lines)


def read_batch(lines: bytes, requests: Mapping[str, Complete]) -> BatchOutcomes:
    """Return the reply or the error of each request; lines with unknown keys or of another form are ignored."""
    lost = ModelUnavailable("the batch ended without a reply to this request", retryable=True)
    outcomes: BatchOutcomes = dict.fromkeys(requests, lost)
    for line in lines.splitlines():
        entry = parse_json(line)
        key = entry.get("custom_id") if isinstance(entry, dict) else None
        if isinstance(entry, dict) and isinstance(key, str) and key in requests:
            outcomes[key] = _outcome(entry, requests[key])
    return outcomes


def _outcome(entry: Mapping[str, Any], request: Complete) -> Reply | ModelError:
    response = entry.get("response")
    response = response if isinstance(response, dict) else {}
    body = orjson.dumps(response.get("body") or {"error": entry.get("error") or {}})
    status = response.get("status_code")
    if isinstance(status, int) and status >= 400:
        return error_from(ErrorResponse(status, {}, body))
    try:
        return wire_format.read_reply(body, request)
    except ModelError as error:
        return error


async def _body(call: Any, limit: int = MAX_BODY) -> bytes:
    async with call as response:
        return await body_of(response, limit)


def _text_field(body: bytes, name: str) -> str:
    payload = parse_json(body)
    value = payload.get(name) if isinstance(payload, dict) else None
    if not isinstance(value, str):
        raise ModelUnavailable("the server answered 200 with something that is no file or batch", retryable=True)
    return value


@dataclass(frozen=True, repr=False, eq=False)
class OpenAI:
    """A chat model behind any OpenAI-compatible endpoint; `as_async()` is for event loops.

    Constructing it imports the `openai` package; no request is sent before the first call. Safe to share between
    threads and memories; close it when done.

    Args:
        model: The model's name, for every role that has none of its own.
        judge_model: The model that judges whether evidence suffices, and decides in the other loops.
        answer_model: The model that words answers. A role of a loop's own is served by `model`.
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
    _server: Server = field(init=False)
    _rejected_options: dict[tuple[str, str], int] = field(init=False, default_factory=dict)

    def __post_init__(self) -> None:
        check_settings(self, tuple(one.name for one in fields(self) if one.init))
        limits = (self.deadline, self.max_retries, self.concurrency)
        server = Server("evimem.OpenAI", self.base_url, self.api_key, *limits)
        object.__setattr__(self, "_server", server)

    def __repr__(self) -> str:
        return f"OpenAI(model={self.model!r}, host={wire_format.host(self.base_url)!r})"

    def complete(self, request: Complete) -> Reply:
        """Return the model's reply.

        Raise ModelTimeout at the deadline, ModelUnavailable (with `status`, `retryable` and `retry_after` seconds)
        when the server rejects the request or cannot be reached, ReplyError for a refused, truncated or empty reply.
        """
        future = self._submit(request, None)
        try:
            return future.result()
        finally:
            future.cancel()  # an interrupt must not leave the request running

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
        bodies = {key: self.body(request) for key, request in requests.items()}
        return self.call(lambda client: submit_batch(client, bodies))

    def collect_batch(self, batch_id: str, requests: Mapping[str, Complete]) -> BatchOutcomes | None:
        """Return the reply or the error of each request, or None while the batch is in progress.

        Args:
            batch_id: What `start_batch` returned.
            requests: Those of `start_batch`, by the same keys. One that the batch did not answer gets a retryable
                ModelUnavailable as its error.

        Raises:
            ModelError: The batch cannot be downloaded.
        """
        lines = self.call(lambda client: download_batch(client, batch_id))
        return None if lines is None else read_batch(lines, requests)

    def as_async(self) -> AsyncOpenAI:
        """Return the same model for event loops; it shares this one's connections and limits."""
        return AsyncOpenAI(self)

    def close(self) -> None:
        """Close the connections and end their thread; calls in progress fail, a later call opens new ones."""
        self._server.close()

    def model_for(self, role: ModelRole) -> str:
        """Return the name of the model for a role."""
        own = {"judge": self.judge_model, "decide": self.judge_model, "answer": self.answer_model}
        return {**own, "extract": self.extract_model}.get(role) or self.model

    def body(self, request: Complete) -> dict[str, Any]:
        """Return the JSON body of a request that does not stream."""
        options = self._options(request, stream=False)
        return {
            "model": self.model_for(request.role),
            "messages": wire_format.messages(request, tools="tools" in options),
            **options,
            **self.extra,
        }

    def call(self, request: Callable[[Any], Awaitable[T]]) -> T:
        """Return the result of a request made with the openai client, without retries. Raise ModelError."""
        future = self._server.submit(lambda connection: self._server.call(connection, request, retries=0))
        try:
            return future.result()[0]
        finally:
            future.cancel()

    def _submit(self, request: Complete, on_piece: OnPiece | None) -> Future[Reply]:
        pieces = _Pieces(on_piece) if on_piece else None
        return self._server.submit(lambda connection: self._replied(connection, request, pieces))

    async def _replied(self, connection: Connection, request: Complete, pieces: _Pieces | None) -> Reply:
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
                reply = await self._server.typed(self._chat(client, request, options, pieces))
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
        call = client.chat.completions.with_streaming_response.create(
            model=self.model_for(request.role),
            messages=wire_format.messages(request, tools="tools" in options),
            stream=pieces is not None,
            extra_body=dict(self.extra) or None,
            **{name: value for name, value in options.items() if name not in self.extra},
        )
        async with call as response:
            if pieces is None:
                return wire_format.read_reply(await body_of(response, MOST_JSON), request)
            if "event-stream" not in response.headers.get("content-type", ""):  # a server that cannot stream
                reply = wire_format.read_reply(await body_of(response, MOST_JSON), request)
                pieces.add(reply.text)
                return reply
            return await _streamed(response, request, pieces)

    def _options(self, request: Complete, *, stream: bool, rejected: Sequence[str] = ()) -> dict[str, Any]:
        """Return the options of a request, each in the first form that was not `rejected`, now or before."""
        model = self.model_for(request.role)
        known = {name: times for (of, name), times in list(self._rejected_options.items()) if of == model}
        forms: dict[str, Sequence[Any]] = {
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


class AsyncOpenAI:
    """`OpenAI` for event loops, any number of them: cancelling a call cancels its request."""

    def __init__(self, model: OpenAI) -> None:
        self.model = model

    def __repr__(self) -> str:
        return f"Async{self.model!r}"

    async def complete(self, request: Complete) -> Reply:
        """Return the model's reply. Raise as `OpenAI.complete` does."""
        return await asyncio.wrap_future(self.model._submit(request, None))

    async def stream(self, request: Complete) -> AsyncIterator[str | Reply]:
        """Yield the pieces of the reply's text as they arrive and, last, the `Reply`. Raise as `OpenAI.stream` does."""
        loop = asyncio.get_running_loop()
        pieces: asyncio.Queue[str | None] = asyncio.Queue()
        future = self.model._submit(request, lambda piece: _put(loop, pieces, piece))
        future.add_done_callback(lambda _: _put(loop, pieces, None))
        try:
            while (piece := await pieces.get()) is not None:
                yield piece
            reply: Reply = await asyncio.wrap_future(future)
            yield reply
        finally:
            future.cancel()

    def close(self) -> None:
        """Close the connections, which are shared with the `OpenAI` model."""
        self.model.close()


class _Pieces:
    """Passes pieces of a reply on, and records whether there were any: then a retry would repeat them."""

    def __init__(self, on_piece: OnPiece) -> None:
        self._on_piece = on_piece
        self.any = False

    def add(self, piece: str) -> None:
        self.any = self.any or bool(piece)
        self._on_piece(piece)


async def _streamed(response: Any, request: Complete, pieces: _Pieces) -> Reply:
    completion = wire_format.Completion()
    try:
        async for line in lines_of(response):
            if piece := completion.add_line(line):
                pieces.add(piece)
        return completion.reply(request)
    except Exception as error:
        if not pieces.any or isinstance(error, ReplyError):
            raise
    # Outside of `except`, so that the client's error, which may quote what was sent, is not chained.
    raise ModelUnavailable("the stream broke off after it had begun; ask again", retryable=False)


def _put(loop: asyncio.AbstractEventLoop, pieces: asyncio.Queue[str | None], piece: str | None) -> None:
    """Put a piece into an event loop's queue from the connection's thread; the loop may be gone by then."""
    if not loop.is_closed():
        loop.call_soon_threadsafe(pieces.put_nowait, piece)
