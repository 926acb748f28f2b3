"""The parts of a server: who may see which memory, limits, and the reading of requests."""

from __future__ import annotations

import os
from collections import OrderedDict
from collections.abc import AsyncIterator, Mapping
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from time import monotonic
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote_to_bytes

import orjson
from starlette.requests import Request

from ..adapters.user_tokens import Scope, TokenFile, TokenHolder
from ..api.pool import MemoryPool
from ..errors import EvimemError
from .metrics import Metrics
from .operations import Operations
from .problems import Refusal

if TYPE_CHECKING:
    from ..api.async_memory import AsyncMemory

ANY_USER = "*"  # as the user of a token: it opens every memory
_SIZES_CACHE_SECONDS = 60.0  # for which the sizes of all memories are kept
_MAX_RATE_USERS = 10_000  # users whose rate is kept in mind, those who asked last
_LOOPBACK_HOSTS = frozenset(("127.0.0.1", "localhost", "::1"))


@dataclass(frozen=True, slots=True)
class Limits:
    """The limits of a worker.

    Attributes:
        body_bytes: The longest body of a request, in bytes, counted while it is read; of an import, `import_bytes`.
        import_bytes: The longest export that is read in, in bytes.
        requests: At most this many requests at the same time; more get 503.
        asks: At most this many questions at the same time; more get 503.
        rate: Requests a second of one user, in the long run; more get 429. None for no limit. Each worker counts its
            own.
        seconds: The wall-clock limit of a question that names none.
    """

    body_bytes: int = 8 << 20
    import_bytes: int = 1 << 30
    requests: int = 256
    asks: int = 32
    rate: float | None = None
    seconds: float = 120.0


@dataclass
class RateLimits:
    """A token bucket for each user, of a second's worth of requests and at least ten."""

    rate: float | None
    buckets: OrderedDict[str, tuple[float, float]] = field(default_factory=OrderedDict)

    def count_request(self, user: str) -> None:
        """Count a request. Raise Refusal (429) where the user asks too often."""
        if self.rate is None:
            return
        most, now = max(10.0, self.rate), monotonic()
        left, since = self.buckets.pop(user, (most, now))
        left = min(most, left + (now - since) * self.rate)
        self.buckets[user] = (max(0.0, left - 1), now)
        while len(self.buckets) > _MAX_RATE_USERS:
            self.buckets.popitem(last=False)
        if left < 1:
            wait = str(max(1, round((1 - left) / self.rate)))
            raise Refusal(429, "TooManyRequests", "this user asks too often; wait", {"Retry-After": wait})


@dataclass
class Service:
    """The memories, tokens, limits and operations that all routes share.

    Attributes:
        pool: The memories.
        tokens: Whose token opens whose memory; None where only this machine comes.
        limits: How much is taken.
        folder: A folder of this server alone, the same for all its workers: operations, uploads and counters.
        root: The folder of the pool; None for one on a server.
        features: Names of further features, for `/version`.
        draining: Whether it is about to end.
    """

    pool: MemoryPool
    tokens: TokenFile | None
    limits: Limits
    folder: Path
    root: Path | None = None
    features: tuple[str, ...] = ()
    draining: bool = False

    def __post_init__(self) -> None:
        self.metrics = Metrics(self.folder)
        self.under_way = 0
        self._sizes: Mapping[str, float] = {}
        self._sized_until = 0.0
        self.rates = RateLimits(self.limits.rate)
        self.operations = Operations(self.folder)
        self.asking = 0

    def is_ready(self) -> bool:
        """Return whether memories can be opened now: their folder can be written, or their server answers."""
        try:
            if self.root is not None:
                return os.access(self.root, os.R_OK | os.W_OK | os.X_OK)
            self.pool.__contains__("readyz")
        except (EvimemError, OSError):
            return False
        return not self.draining

    def measure_pool(self) -> Mapping[str, float]:
        """Return the number of users and of bytes of their memories, a minute old at most: all are listed."""
        if monotonic() >= self._sized_until:
            self._sizes = {"evimem_users": self.pool.count(), "evimem_stored_bytes": self.pool.bytes()}
            self._sized_until = monotonic() + _SIZES_CACHE_SECONDS
        return self._sizes

    def find_token_holder(self, request: Request, token: str | None = None) -> TokenHolder | None:
        """Return the holder of a request's token; None where the server has no tokens. Raise Refusal (401)."""
        if self.tokens is None:
            self._check_local(request)
            return None
        if token is None:
            scheme, _, token = request.headers.get("authorization", "").partition(" ")
            token = token.strip() if scheme.lower() == "bearer" else ""
        holder = self.tokens.holder(token) if token else None
        if holder is None:
            detail = "no token came that opens a memory; expected 'Authorization: Bearer TOKEN', as `evimem token` made"
            raise Refusal(401, "Unauthorized", detail, {"WWW-Authenticate": 'Bearer realm="evimem"'})
        return holder

    def check_access(self, request: Request, user: str, scope: Scope, token: str | None = None) -> None:
        """Let a request to a user's memory pass. Raise Refusal: 401 without a token, 403 for another's, 429 too often.

        `token` is the one that came, where it is not in the Authorization header.
        """
        holder = self.find_token_holder(request, token)
        if holder is not None and holder.user not in {user, ANY_USER}:
            raise Refusal(403, "Forbidden", "this token opens another user's memory")
        if holder is not None and not holder.may(scope):
            raise Refusal(403, "Forbidden", f"this token may not do that; it needs the scope {scope!r}")
        self.rates.count_request(user)

    def _check_local(self, request: Request) -> None:
        """Raise Refusal (403) where a web page calls this machine by a name of its own, or from another place."""
        host = request.headers.get("host", "").rpartition("@")[2]
        name = host[1 : host.find("]")] if host.startswith("[") else host.partition(":")[0]
        origin = request.headers.get("origin")
        if name not in _LOOPBACK_HOSTS or (origin is not None and origin.partition("://")[2] != host):
            raise Refusal(403, "Forbidden", "without tokens the server answers to this machine only, by its own name")

    @asynccontextmanager
    async def reserve_question(self) -> AsyncIterator[None]:
        """Reserve a place among the questions under way. Raise Refusal (503) where all are taken."""
        if self.asking >= self.limits.asks:
            raise Refusal(503, "Busy", "too many questions are asked at once; try again", {"Retry-After": "1"})
        self.asking += 1
        try:
            yield
        finally:
            self.asking -= 1


@dataclass(frozen=True, slots=True)
class Call:
    """A request that was let in, with its arguments checked.

    Attributes:
        service: The server.
        request: The request as it came.
        user: Whose memory it is for; empty where it is for none.
        query: The parameters of the URL.
        body: The JSON that came; None without.
    """

    service: Service
    request: Request
    user: str
    query: Mapping[str, Any]
    body: Any

    def open_memory(self) -> AbstractAsyncContextManager[AsyncMemory]:
        """Return the context that opens the user's memory."""
        return self.service.pool.open_async(self.user)


def read_user(segment: str) -> str:
    """Return a user id from its segment of a path, still percent-encoded. Raise Refusal (422) for none."""
    try:
        user = unquote_to_bytes(segment).decode()
    except UnicodeDecodeError:
        user = ""
    if not user or "\0" in user:
        raise Refusal(422, "InvalidQuery", "the user id in the path is empty or no UTF-8; expected it percent-encoded")
    return user


def check_type(request: Request, expected: str) -> None:
    """Raise Refusal (415) where the body of a request is not of this type."""
    if request.headers.get("content-type", "").partition(";")[0].strip().lower() != expected:
        raise Refusal(415, "UnsupportedMediaType", f"the body has another type; expected {expected}")


async def read_body(request: Request, most: int) -> bytes:
    """Return the body of a request. Raise Refusal (413) where it is longer than so many bytes."""
    parts, size = [], 0
    async for part in request.stream():
        size += len(part)
        if size > most:
            raise Refusal(413, "TooLarge", f"the body is longer than {most:,} bytes; send less at a time")
        parts.append(part)
    return b"".join(parts)


async def read_json(request: Request, most: int) -> Any:
    """Return the JSON of a request. Raise Refusal: 415 for another type, 400 for malformed JSON, 422 for bad text."""
    check_type(request, "application/json")
    raw = await read_body(request, most)
    try:
        return orjson.loads(raw)
    except orjson.JSONDecodeError as error:
        if "surrogate in string" in str(error):
            raise Refusal(422, "InvalidQuery", "a text has half of a surrogate pair; expected whole ones") from None
        raise Refusal(400, "MalformedJson", f"the body is no JSON: {str(error).partition(':')[0]}") from None
