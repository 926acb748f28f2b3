"""A chat model behind an OpenAI-compatible endpoint, for both doors."""

from __future__ import annotations

import asyncio
import queue
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping
from concurrent.futures import Future
from dataclasses import dataclass, field, replace
from time import monotonic
from typing import Any, TypeVar

from ..errors import ModelError, ModelUnavailable, ReplyError
from ..types.model import Complete, ModelRole, Reply
from . import wire_format
from .batch_client import Outcomes, collect_batch, start_batch
from .endpoint import HEADERS, Server, body_of, lines_of
from .refusals import option_refused

T = TypeVar("T")
Listener = Callable[[str], None]


@dataclass(frozen=True, repr=False, eq=False)
class OpenAI:
    """A chat model behind any OpenAI-compatible endpoint, for a synchronous caller; `as_async()` is its twin.

    `judge_model`, `answer_model` and `extract_model` default to `model`, their temperatures to `temperature`; None
    leaves the temperature to the server. Without `api_key` the openai client reads OPENAI_API_KEY, except for a
    `base_url` on this machine, which is never sent that key. `deadline` bounds a whole call in seconds: its retries
    and its waiting for one of `concurrency` places included. `prices` map a model to dollars per million input and
    output tokens; `extra` holds further fields for the body of each request.
    """

    model: str
    judge_model: str | None = None
    answer_model: str | None = None
    extract_model: str | None = None
    temperature: float | None = 0.0
    judge_temperature: float | None = None
    answer_temperature: float | None = None
    extract_temperature: float | None = None
    base_url: str | None = None
    api_key: str | None = None
    deadline: float = 60.0
    max_retries: int = 3
    concurrency: int = 8
    prices: Mapping[str, tuple[float, float]] = field(default_factory=dict)
    extra: Mapping[str, Any] = field(default_factory=dict)
    _server: Server = field(init=False)
    _refused_options: set[tuple[str, str]] = field(init=False, default_factory=set)

    def __post_init__(self) -> None:
        server = Server(
            "evimem.OpenAI",
            self.base_url,
            self.api_key,
            deadline=self.deadline,
            max_retries=self.max_retries,
            concurrency=self.concurrency,
        )
        object.__setattr__(self, "_server", server)

    def __repr__(self) -> str:
        return f"OpenAI(model={self.model!r}, host={wire_format.host(self.base_url)!r})"

    def complete(self, request: Complete) -> Reply:
        """Return the model's reply. Raise ModelError when there is none before the deadline."""
        future = self._submit(request, None)
        try:
            return future.result()
        finally:
            future.cancel()  # an interrupt must not leave the request running

    def stream(self, request: Complete) -> Iterator[str | Reply]:
        """Yield the pieces of the reply as they come and, last, the whole `Reply`."""
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
        """Hand requests in to the provider's Batch API, by key; return the batch's id. Raise ModelError."""
        return start_batch(self, requests)

    def collect_batch(self, batch_id: str, requests: Mapping[str, Complete]) -> Outcomes | None:
        """Return what became of each request of a batch, or None while it is worked on. Raise ModelError."""
        return collect_batch(self, batch_id, requests)

    def as_async(self) -> AsyncOpenAI:
        """Return the same model for an event loop; it shares this one's connections and limits."""
        return AsyncOpenAI(self)

    def close(self) -> None:
        """Close the connections and end their thread; a later call opens new ones."""
        self._server.close()

    def model_for(self, role: ModelRole) -> str:
        """Return the name of the model that plays a role."""
        return getattr(self, f"{role}_model") or self.model

    def body(self, request: Complete) -> dict[str, Any]:
        """Return the body of a request that does not stream, as it goes over the wire."""
        options = self._options(request, stream=False)
        return {
            "model": self.model_for(request.role),
            "messages": wire_format.messages(request),
            **options,
            **self.extra,
        }

    def call(self, work: Callable[[Any], Awaitable[T]]) -> T:
        """Return what some work with the client gives, tried once. Raise ModelError when it fails or comes too late."""
        future = self._server.submit(lambda client: self._server.typed(work(client)), retry=False)
        try:
            return future.result()
        finally:
            future.cancel()

    def _submit(self, request: Complete, listen: Listener | None) -> Future[Reply]:
        hearing = _Hearing(listen) if listen else None
        began = monotonic()

        def finish(reply: Reply, retries: int) -> Reply:
            return replace(reply, retries=reply.retries + retries, seconds=monotonic() - began)

        return self._server.submit(lambda client: self._ask(client, request, hearing), finish)

    async def _ask(self, client: Any, request: Complete, hearing: _Hearing | None) -> Reply:
        """Ask, and ask again without an option that this server refuses; remember which ones it refuses."""
        model = self.model_for(request.role)
        options = self._options(request, stream=hearing is not None)
        dropped: set[tuple[str, str]] = set()
        while True:
            try:
                reply = await self._server.typed(self._chat(client, request, options, hearing))
            except ModelError as error:
                name = option_refused(error, options)
                if name is None:
                    raise
                del options[name]
                dropped.add((model, name))
            else:
                self._refused_options.update(dropped)
                return replace(reply, retries=len(dropped), cost=wire_format.cost(reply, self.prices, model))

    async def _chat(
        self, client: Any, request: Complete, options: Mapping[str, Any], hearing: _Hearing | None
    ) -> Reply:
        call = client.chat.completions.with_streaming_response.create(
            model=self.model_for(request.role),
            messages=wire_format.messages(request),
            stream=hearing is not None,
            extra_headers=HEADERS,
            extra_body=dict(self.extra) or None,
            **options,
        )
        async with call as response:
            if hearing is None:
                return wire_format.read_reply(await body_of(response), request)
            if "event-stream" not in response.headers.get("content-type", ""):  # it does not stream
                reply = wire_format.read_reply(await body_of(response), request)
                hearing(reply.text)
                return reply
            return await _streamed(response, request, hearing)

    def _options(self, request: Complete, *, stream: bool) -> dict[str, Any]:
        own = getattr(self, f"{request.role}_temperature")
        options = {
            "temperature": self.temperature if own is None else own,
            "response_format": wire_format.response_format(request) if request.schema else None,
            "stream_options": {"include_usage": True} if stream else None,
        }
        refused = {name for model, name in self._refused_options if model == self.model_for(request.role)}
        return {name: value for name, value in options.items() if value is not None and name not in refused}


class AsyncOpenAI:
    """`OpenAI` for event loops, any number of them: cancelling a call cancels its request."""

    def __init__(self, model: OpenAI) -> None:
        self.model = model

    def __repr__(self) -> str:
        return f"Async{self.model!r}"

    async def complete(self, request: Complete) -> Reply:
        """Return the model's reply. Raise ModelError when there is none before the deadline."""
        return await asyncio.wrap_future(self.model._submit(request, None))

    async def stream(self, request: Complete) -> AsyncIterator[str | Reply]:
        """Yield the pieces of the reply as they come and, last, the whole `Reply`."""
        loop = asyncio.get_running_loop()
        pieces: asyncio.Queue[str | None] = asyncio.Queue()
        future = self.model._submit(request, lambda piece: _tell(loop, pieces, piece))
        future.add_done_callback(lambda _: _tell(loop, pieces, None))
        try:
            while (piece := await pieces.get()) is not None:
                yield piece
            reply: Reply = await asyncio.wrap_future(future)
            yield reply
        finally:
            future.cancel()

    def close(self) -> None:
        """Close the connections that this object shares with its model."""
        self.model.close()


class _Hearing:
    """Passes pieces on and remembers whether there were any: what was heard cannot be taken back and retried."""

    def __init__(self, listen: Listener) -> None:
        self._listen = listen
        self.begun = False

    def __call__(self, piece: str) -> None:
        self.begun = self.begun or bool(piece)
        self._listen(piece)


async def _streamed(response: Any, request: Complete, hearing: _Hearing) -> Reply:
    streamed = wire_format.Streamed()
    try:
        async for line in lines_of(response):
            if piece := streamed.take(line):
                hearing(piece)
        return streamed.reply(request)
    except Exception as error:
        if not hearing.begun or isinstance(error, ReplyError):
            raise
    raise ModelUnavailable("the stream broke off after it had begun; ask again", retryable=False)


def _tell(loop: asyncio.AbstractEventLoop, pieces: asyncio.Queue[str | None], piece: str | None) -> None:
    if not loop.is_closed():
        loop.call_soon_threadsafe(pieces.put_nowait, piece)
