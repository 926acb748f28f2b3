"""One server: its connections, its limits, and the event loop that every call to it runs on.

The loop has a thread of its own, for synchronous and asynchronous callers. So a deadline or a cancellation ends a call
in any phase (a name lookup, a header that drips, a body that never ends), in a synchronous caller too, and one pool of
connections serves any number of event loops.

The client of the `openai` package sends the requests. Its retries end with the headers of a reply: a body that breaks
off, and an error page or half a completion with status 200, would not be tried again, and a call could not tell how
often it was. Its streams and its errors read a body without a bound, and quote it. So these three are here.
"""

from __future__ import annotations

import asyncio
import atexit
import contextlib
import logging
import os
import random
import threading
import weakref
import zlib
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine
from concurrent.futures import Future
from dataclasses import dataclass, field
from typing import Any

from ..errors import MissingExtra, ModelError, ModelTimeout, ModelUnavailable
from ..types.type_variables import T
from .wire_format import ErrorResponse, backoff, error_from, host, is_loopback

Pause = Callable[[float], Awaitable[None]]
MAX_BODY = 8_000_000  # bytes of a reply, both as sent and as it is when decompressed
MOST_JSON = 2_000_000  # bytes of JSON that are parsed at once for a completion: as objects they take 40 times as much
MAX_ERROR_BODY = 16_000  # bytes
THREAD = "evimem-openai"
PIECE_BYTES = 65_536  # bytes that are decompressed at once


@dataclass(repr=False, eq=False)  # it holds a key
class Server:
    """An endpoint with its limits.

    `deadline` is in seconds and covers a call's retries and its waiting for one of `concurrency` places. `pause` waits
    between two attempts.
    """

    feature: str
    base_url: str | None
    api_key: str | None
    deadline: float
    max_retries: int
    concurrency: int
    pause: Pause = field(default_factory=lambda: asyncio.sleep, init=False)

    def __post_init__(self) -> None:
        self._connections = {os.getpid(): self._connect()}  # by process: see submit
        weakref.finalize(self, _abandon, self._connections).atexit = False

    def submit(self, work: Callable[[Connection], Coroutine[Any, Any, T]]) -> Future[T]:
        """Start work on the loop of a connection."""
        connection = self._connections.get(os.getpid())
        if connection is None:  # after a fork: neither the parent's thread nor its sockets may be used
            connection = self._connections.setdefault(os.getpid(), self._connect())
        return connection.submit(work(connection))

    def close(self) -> None:
        """Close the connections and end the thread; a later call opens new ones."""
        connection = self._connections.pop(os.getpid(), None)
        if connection is not None:
            connection.close()

    def _connect(self) -> Connection:
        return Connection(_client(self.feature, self.base_url, self.api_key, self.deadline), self.concurrency)

    async def call(
        self,
        connection: Connection,
        request: Callable[[Any], Awaitable[T]],
        *,
        retries: int | None = None,
        seconds: float | None = None,
    ) -> tuple[T, int]:
        """Return the result of a request made with the client, and how often it was tried again.

        It ends with ModelTimeout at the deadline, or after so many `seconds` where those are fewer, in whatever phase.
        """
        deadline = self.deadline if seconds is None else max(0.0, min(self.deadline, seconds))
        attempts = self.max_retries if retries is None else retries
        end = asyncio.get_running_loop().time() + deadline
        task = asyncio.ensure_future(self._with_retries(connection, request, end, attempts))
        task.add_done_callback(_mark_retrieved)
        try:
            await asyncio.wait({task}, timeout=deadline)
            if not task.done():
                raise ModelTimeout(
                    f"{host(self.base_url)} did not answer within the deadline of {deadline:.3g} s; "
                    "raise deadline=, or concurrency= when many calls wait for each other"
                )
            return task.result()
        except asyncio.CancelledError:
            raise ModelUnavailable("the call was cancelled, or its model was closed", retryable=True) from None
        finally:
            task.cancel()

    async def _with_retries(
        self, connection: Connection, request: Callable[[Any], Awaitable[T]], end: float, retries: int
    ) -> tuple[T, int]:
        """Try again for retryable errors, while the wait fits the deadline."""
        async with connection.places:
            attempt = 0
            while True:
                attempt += 1
                try:
                    return await self.with_typed_errors(request(connection.client)), attempt - 1
                except ModelError as error:
                    wait = max(backoff(attempt, random.random()), getattr(error, "retry_after", None) or 0.0)
                    left = end - asyncio.get_running_loop().time()
                    if not error.retryable or attempt > retries or wait >= left:
                        raise
                await self.pause(wait)

    async def with_typed_errors(self, call: Awaitable[T]) -> T:
        """Return a call's result. Raise ModelError in place of anything that the client or the connection raises."""
        try:
            return await call
        except ModelError:
            raise
        except Exception as error:  # noqa: BLE001 - translated and raised below
            failure = self._translate(error)
        # Outside of `except`, so without a cause: the client's errors quote headers and bodies, and chains get logged.
        raise failure

    def _translate(self, error: BaseException) -> ModelError:
        names: list[str] = []
        link: BaseException | None = error
        while link is not None and len(names) < 10:
            if isinstance(link, _HttpError):
                return error_from(link.response)
            names.append(type(link).__name__)
            link = link.__cause__ or link.__context__
        if any("Timeout" in name for name in names):
            return ModelTimeout(f"{host(self.base_url)} stopped answering ({names[-1]})")
        return ModelUnavailable(
            f"{host(self.base_url)} could not be reached, or broke off ({' from '.join(names)})", retryable=True
        )


class Connection:
    """A thread with an event loop, the client that uses it, and a semaphore for concurrent calls."""

    def __init__(self, client: Any, concurrency: int) -> None:
        self.client = client
        self.places = asyncio.Semaphore(concurrency)
        self._lock = threading.Lock()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._thread: threading.Thread | None = None

    def submit(self, work: Coroutine[Any, Any, T]) -> Future[T]:
        """Start work on the loop, which starts with the first."""
        with self._lock:
            if self._loop is None:
                self._loop = asyncio.new_event_loop()
                self._thread = threading.Thread(target=_run_loop, args=(self._loop,), name=THREAD, daemon=True)
                self._thread.start()
                _OPEN.add(self)
                _silence_http_logs()
            return asyncio.run_coroutine_threadsafe(_retrieve(work), self._loop)

    def start_closing(self) -> threading.Thread | None:
        """Have the loop cancel its calls, close its sockets and stop; return its thread, without waiting for it."""
        with self._lock:
            loop, thread, self._loop, self._thread = self._loop, self._thread, None, None
        if loop is not None:
            asyncio.run_coroutine_threadsafe(_shut_down(self.client), loop)
        return thread

    def close(self) -> None:
        """Close, and wait until the thread has ended."""
        thread = self.start_closing()
        if thread is not None and thread is not threading.current_thread():
            # Wait at most 2 seconds for the thread.
            thread.join(2.0)


class _HttpError(Exception):
    """Carries an error response out of the client's response hook."""

    def __init__(self, response: ErrorResponse) -> None:
        super().__init__(response.status)
        self.response = response


class _DropOurCalls(logging.Filter):
    """Drops the HTTP clients' log records about our calls: they hold prompts, headers and whole URLs."""

    def filter(self, record: logging.LogRecord) -> bool:
        return record.threadName != THREAD


_DROP_OURS = _DropOurCalls()
_OPEN: weakref.WeakSet[Connection] = weakref.WeakSet()  # those with a thread, to be closed at exit


async def body_of(response: Any, limit: int = MAX_BODY) -> bytes:
    """Return a response's whole body. Raise ModelUnavailable where it exceeds the limit, in bytes."""
    return b"".join([part async for part in _read_limited(response.http_response, limit)])


async def lines_of(response: Any) -> AsyncIterator[str]:
    """Yield a response's lines as they arrive. Raise ModelUnavailable where the body exceeds MAX_BODY."""
    rest = b""
    async for part in _read_limited(response.http_response, MAX_BODY):
        *lines, rest = (rest + part).split(b"\n")
        if max(map(len, (*lines, rest))) > MOST_JSON:
            raise _too_long(MOST_JSON)
        for line in lines:
            yield line.decode("utf-8", "replace").strip()
    if rest:
        yield rest.decode("utf-8", "replace").strip()


async def _read_limited(response: Any, limit: int) -> AsyncIterator[bytes]:
    """Yield a body as it was before the server compressed it, in pieces, as they arrive.

    Raise ModelUnavailable beyond the limit, in bytes as sent or decompressed, and for an encoding that is not read. The
    HTTP client decompresses all that came at once: a thousand times as much, for each encoding that is named.
    """
    encoding = response.headers.get("content-encoding", "identity").strip().lower()
    if encoding not in {"", "identity", "gzip", "x-gzip", "deflate"}:
        raise ModelUnavailable("the server compressed its reply in a way that it was not asked for", retryable=False)
    unpack = None if encoding in {"", "identity"} else zlib.decompressobj(32 + zlib.MAX_WBITS)
    sent = size = 0
    async for part in response.aiter_raw():
        sent += len(part)
        left = part
        while left:
            piece, left = (
                (left, b"") if unpack is None else (unpack.decompress(left, PIECE_BYTES), unpack.unconsumed_tail)
            )
            size += len(piece)
            if max(sent, size) > limit:
                raise _too_long(limit)
            yield piece


def _too_long(limit: int) -> ModelUnavailable:
    return ModelUnavailable(f"the server sent more than {limit} bytes for one reply", retryable=False)


async def _raise_http_errors(response: Any) -> None:
    """Raise for an HTTP error or a redirect before the client reads the body, which it would do without a limit.

    A redirect is never followed: it would send the key and the conversation to an address that the user did not give.
    """
    if response.status_code < 300:
        return
    body = b""
    with contextlib.suppress(Exception):  # the status is known even where the body breaks off
        async for part in _read_limited(response, MAX_BODY):
            body += part
            if len(body) > MAX_ERROR_BODY:
                break
    headers = {name.lower(): value for name, value in response.headers.items()}
    raise _HttpError(ErrorResponse(response.status_code, headers, body[:MAX_ERROR_BODY]))


def _client(feature: str, base_url: str | None, api_key: str | None, deadline: float) -> Any:
    try:
        import openai  # noqa: PLC0415 - an extra, needed only where a client is constructed
    except ImportError as error:
        raise MissingExtra(feature, "openai") from error
    if api_key is None and is_loopback(base_url) and base_url is not None:
        api_key = "none"  # a local server gets no key of another provider from the environment
    http = openai.DefaultAsyncHttpxClient(event_hooks={"response": [_raise_http_errors]}, follow_redirects=False)
    try:
        # Deadline and retries are ours; the read timeout is longer, and only a second line of defence.
        return openai.AsyncOpenAI(
            base_url=base_url,
            api_key=api_key,
            timeout=deadline + 1.0,
            max_retries=0,
            http_client=http,
            default_headers={"Accept-Encoding": "identity"},  # which not every server heeds
        )
    except openai.OpenAIError:
        pass
    raise ModelUnavailable("no API key: pass api_key=, or set OPENAI_API_KEY in the environment", retryable=False)


def _abandon(connections: dict[int, Connection]) -> None:
    """End the thread of a garbage-collected server, without waiting."""
    connection = connections.pop(os.getpid(), None)  # a forked child must not touch its parent's
    if connection is not None:
        connection.start_closing()


@atexit.register
def _close_all() -> None:
    for connection in list(_OPEN):
        connection.close()


def _run_loop(loop: asyncio.AbstractEventLoop) -> None:
    asyncio.set_event_loop(loop)
    try:
        loop.run_forever()
    finally:
        loop.close()


async def _shut_down(client: Any) -> None:
    """Cancel the calls in progress, close the sockets, and stop the loop."""
    this = asyncio.current_task()
    tasks = [task for task in asyncio.all_tasks() if task is not this]
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)
    with contextlib.suppress(Exception):  # the client is discarded either way
        await client.close()
        await asyncio.sleep(0.01)  # sockets close in the loop's next iterations
    asyncio.get_running_loop().stop()


def _silence_http_logs() -> None:
    for name in list(logging.root.manager.loggerDict):
        if name.split(".")[0] in {"openai", "httpx", "httpx2", "httpcore", "httpcore2"}:
            logging.getLogger(name).addFilter(_DROP_OURS)


async def _retrieve(work: Coroutine[Any, Any, T]) -> T:
    """Await work in a task whose exception counts as retrieved: a cancelled caller asks for it no more."""
    task = asyncio.current_task()
    if task is not None:
        task.add_done_callback(_mark_retrieved)
    return await work


def _mark_retrieved(task: asyncio.Task[Any]) -> None:
    """Retrieve a task's exception, so that asyncio does not log one that is never awaited after a cancellation."""
    if not task.cancelled():
        task.exception()
