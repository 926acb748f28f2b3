"""One server: its connections, its limits, and the event loop that every call to it runs on.

The loop lives in a thread of its own, which both doors share. That is what lets a deadline or a cancellation end a
call in any phase (a name lookup, a header that drips, a body that never ends), in a synchronous caller too, and
what lets one pool of connections serve any number of event loops.
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
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine, Iterator
from concurrent.futures import Future
from typing import Any, TypeVar

from ..errors import MissingExtra, ModelError, ModelTimeout, ModelUnavailable
from .refusals import Refusal, backoff, refused
from .wire_format import host, is_loopback

T = TypeVar("T")
MAX_BODY = 8_000_000
MAX_REFUSAL = 16_000
PATIENCE = 2.0
THREAD = "evimem-openai"
HEADERS = {"Accept-Encoding": "identity"}  # what is not compressed cannot be a bomb


class Server:
    """An endpoint with its bounds. `deadline` covers a call's retries and its waiting for a free place."""

    def __init__(
        self,
        what: str,
        base_url: str | None,
        api_key: str | None,
        *,
        deadline: float,
        max_retries: int,
        concurrency: int,
    ) -> None:
        self._what = what
        self._base_url = base_url
        self._api_key = api_key
        self._deadline = deadline
        self._max_retries = max_retries
        self._concurrency = concurrency
        self._rooms = {os.getpid(): self._room()}
        weakref.finalize(self, _drop, self._rooms).atexit = False

    def submit(
        self,
        call: Callable[[Any], Awaitable[T]],
        finish: Callable[[T, int], T] = lambda result, _: result,
        *,
        retry: bool = True,
    ) -> Future[T]:
        """Start a call with the client; the future holds what `finish` makes of its result and number of retries."""
        room = self._rooms.get(os.getpid())
        if room is None:  # after a fork: neither the parent's thread nor its connections may be used
            room = self._rooms.setdefault(os.getpid(), self._room())
        return room.submit(self._bounded(room, call, finish, self._max_retries if retry else 0))

    def close(self) -> None:
        """Close the connections and end the thread; a later call opens new ones."""
        room = self._rooms.pop(os.getpid(), None)
        if room is not None:
            room.close()

    def _room(self) -> _Room:
        return _Room(_client(self._what, self._base_url, self._api_key, self._deadline), self._concurrency)

    async def typed(self, call: Awaitable[T]) -> T:
        """Return a call's result. Raise ModelError for whatever the client or the connection raises."""
        try:
            return await call
        except ModelError:
            raise
        except Exception as error:  # noqa: BLE001 - handed over, as one of ours
            failure = self._translated(error)
        # Outside of `except`, so from nothing: the client's errors quote headers and bodies, and chains get logged.
        raise failure

    async def _bounded(
        self, room: _Room, call: Callable[[Any], Awaitable[T]], finish: Callable[[T, int], T], retries: int
    ) -> T:
        """Return a call's result. Raise ModelTimeout at the deadline, whatever the call is waiting for."""
        end = asyncio.get_running_loop().time() + self._deadline
        task = asyncio.ensure_future(self._persistent(room, call, end, retries))
        task.add_done_callback(_retrieved)
        try:
            await asyncio.wait({task}, timeout=self._deadline)
            if not task.done():
                raise ModelTimeout(
                    f"{host(self._base_url)} did not answer within the deadline of {self._deadline:g} s; "
                    "raise deadline=, or concurrency= when many calls wait for each other"
                )
            return finish(*task.result())
        except asyncio.CancelledError:
            raise ModelUnavailable("the call was cancelled, or its model was closed", retryable=True) from None
        finally:
            task.cancel()

    async def _persistent(
        self, room: _Room, call: Callable[[Any], Awaitable[T]], end: float, retries: int
    ) -> tuple[T, int]:
        """Return a call's result, tried again while that may help and the deadline leaves the time."""
        async with room.places:
            attempt = 0
            while True:
                attempt += 1
                try:
                    return await call(room.client), attempt - 1
                except ModelError as error:
                    wait = max(backoff(attempt, random.random()), getattr(error, "retry_after", None) or 0.0)
                    left = end - asyncio.get_running_loop().time()
                    if not error.retryable or attempt > retries or wait >= left:
                        raise
                await asyncio.sleep(wait)

    def _translated(self, error: BaseException) -> ModelError:
        chain = list(_chain(error))
        for link in chain:
            if isinstance(link, _Refused):
                return refused(link.refusal)
        names = [type(link).__name__ for link in chain]
        if any("Timeout" in name for name in names):
            return ModelTimeout(f"{host(self._base_url)} stopped answering ({names[-1]})")
        return ModelUnavailable(
            f"{host(self._base_url)} could not be reached, or broke off ({' from '.join(names)})", retryable=True
        )


class _Room:
    """A thread with an event loop, the client that lives on it, and the places for calls at one time."""

    def __init__(self, client: Any, concurrency: int) -> None:
        self.client = client
        self.places = asyncio.Semaphore(concurrency)
        self._lock = threading.Lock()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._thread: threading.Thread | None = None

    def submit(self, work: Coroutine[Any, Any, T]) -> Future[T]:
        with self._lock:
            if self._loop is None:
                self._loop = asyncio.new_event_loop()
                self._thread = threading.Thread(target=_serve, args=(self._loop,), name=THREAD, daemon=True)
                self._thread.start()
                _ROOMS.add(self)
                _silence()
            return asyncio.run_coroutine_threadsafe(work, self._loop)

    def leave(self) -> threading.Thread | None:
        """Tell the loop to end its calls, its connections and itself; return its thread."""
        with self._lock:
            loop, thread, self._loop, self._thread = self._loop, self._thread, None, None
        if loop is not None:
            asyncio.run_coroutine_threadsafe(_leave(self.client), loop)
        return thread

    def close(self) -> None:
        """Leave, and wait until it is done."""
        thread = self.leave()
        if thread is not None and thread is not threading.current_thread():
            thread.join(PATIENCE)


class _Refused(Exception):
    """Carries a refusal out of the client's response hook."""

    def __init__(self, refusal: Refusal) -> None:
        super().__init__(refusal.status)
        self.refusal = refusal


class _Quiet(logging.Filter):
    """Drops what HTTP clients log about our calls: their records hold prompts, headers and whole URLs."""

    def filter(self, record: logging.LogRecord) -> bool:
        return record.threadName != THREAD


_QUIET = _Quiet()
_ROOMS: weakref.WeakSet[_Room] = weakref.WeakSet()  # those with a thread, to be ended with the interpreter


async def body_of(response: Any, limit: int = MAX_BODY) -> bytes:
    """Return a response's whole body. Raise ModelUnavailable when it is longer than the limit."""
    parts = [part async for part in _limited(response, limit)]
    return b"".join(parts)


async def lines_of(response: Any) -> AsyncIterator[str]:
    """Yield a response's lines as they come, within the same limit."""
    rest = b""
    async for part in _limited(response, MAX_BODY):
        *lines, rest = (rest + part).split(b"\n")
        for line in lines:
            yield line.decode("utf-8", "replace").strip()
    if rest:
        yield rest.decode("utf-8", "replace").strip()


async def _limited(response: Any, limit: int) -> AsyncIterator[bytes]:
    size = 0
    async for part in response.iter_bytes():
        size += len(part)
        if size > limit:
            raise ModelUnavailable(f"the server sent more than {limit} bytes for one reply", retryable=False)
        yield part


async def _stop_refusals(response: Any) -> None:
    """Raise for an HTTP error before the client reads its body without bound."""
    if response.status_code < 400:
        return
    body = b""
    with contextlib.suppress(Exception):  # a body that breaks off takes nothing from the status
        async for part in response.aiter_bytes():
            body += part
            if len(body) > MAX_REFUSAL:
                break
    headers = {name.lower(): value for name, value in response.headers.items()}
    raise _Refused(Refusal(response.status_code, headers, body[:MAX_REFUSAL]))


def _client(what: str, base_url: str | None, api_key: str | None, deadline: float) -> Any:
    try:
        import openai  # noqa: PLC0415 - an extra; only who constructs a client needs it
    except ImportError as error:
        raise MissingExtra(what, "openai") from error
    if api_key is None and is_loopback(base_url) and base_url is not None:
        api_key = "none"
    http = openai.DefaultAsyncHttpxClient(event_hooks={"response": [_stop_refusals]})
    try:
        return openai.AsyncOpenAI(
            base_url=base_url, api_key=api_key, timeout=deadline + 1.0, max_retries=0, http_client=http
        )
    except openai.OpenAIError:
        pass
    raise ModelUnavailable("no API key: pass api_key=, or set OPENAI_API_KEY in the environment", retryable=False)


def _drop(rooms: dict[int, _Room]) -> None:
    """End the thread of a server that nobody holds any more, without waiting: the collector calls this."""
    room = rooms.pop(os.getpid(), None)  # a fork's child must leave its parent's alone
    if room is not None:
        room.leave()


@atexit.register
def _close_all() -> None:
    for room in list(_ROOMS):
        room.close()


def _serve(loop: asyncio.AbstractEventLoop) -> None:
    asyncio.set_event_loop(loop)
    try:
        loop.run_forever()
    finally:
        loop.close()


async def _leave(client: Any) -> None:
    """Cancel what still runs, close the connections, and stop the loop."""
    here = asyncio.current_task()
    tasks = [task for task in asyncio.all_tasks() if task is not here]
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)
    with contextlib.suppress(Exception):  # they are thrown away either way
        await client.close()
        await asyncio.sleep(0.01)  # connections close in the loop's next rounds
    asyncio.get_running_loop().stop()


def _silence() -> None:
    for name in list(logging.root.manager.loggerDict):
        if name.split(".")[0] in {"openai", "httpx", "httpx2", "httpcore", "httpcore2"}:
            logging.getLogger(name).addFilter(_QUIET)


def _retrieved(task: asyncio.Task[Any]) -> None:
    """Look at a task's error, so that asyncio does not log one that came after its caller had gone."""
    if not task.cancelled():
        task.exception()


def _chain(error: BaseException | None) -> Iterator[BaseException]:
    for _ in range(10):
        if error is None:
            return
        yield error
        error = error.__cause__ or error.__context__
