"""The server as an ASGI application: the routes with their limits, log and counters, and pages that are mounted."""

from __future__ import annotations

import asyncio
import json
import logging
import re
import secrets
import sys
from collections.abc import AsyncIterator, Iterable, Sequence
from contextlib import asynccontextmanager, suppress
from functools import partial
from hashlib import blake2b
from pathlib import Path
from tempfile import TemporaryDirectory
from time import monotonic
from typing import Any

from ..adapters.user_tokens import TokenFile
from ..api.pool import MemoryPool
from ..errors import MissingExtra

try:
    from starlette.applications import Starlette
    from starlette.exceptions import HTTPException
    from starlette.requests import Request
    from starlette.responses import Response
    from starlette.routing import BaseRoute, Route
    from starlette.types import ASGIApp, Message, Receive, Scope, Send
except ImportError as _error:
    raise MissingExtra("the server", "server") from _error

from .docs_page import render_docs
from .endpoints import Endpoint, respond
from .mem0_routes import mem0_endpoints
from .openapi_document import openapi_document
from .problems import Refusal, json_response, problem_response, status_phrase
from .proxy import Proxy, Upstream
from .rest import probe_endpoints, user_endpoints
from .service import Limits, Service

_LOG = logging.getLogger("evimem.server")
_METRICS_NOTE_SECONDS = 1.0  # after which the other workers see this one's counters
_PROBE_PATHS = frozenset(("/healthz", "/readyz", "/version", "/metrics"))
_RAW_PATH_PREFIXES = ("/v1/", "/p/", "/memories/")  # whose paths have ids
_REQUEST_ID = re.compile(r"[\x21-\x7e]{1,128}")


def build_app(
    pool: MemoryPool,
    *,
    tokens: TokenFile | None = None,
    limits: Limits = Limits(),
    folder: Path | None = None,
    root: Path | None = None,
    upstream: Upstream | None = None,
    pages: Sequence[BaseRoute] = (),
) -> Starlette:
    """Return the server of a pool of memories.

    The service (`evimem.server.service.Service`) is `app.state.service`: a page asks it whose a request is
    (`admit`), and opens memories by `service.pool.open_async(user)`.

    Args:
        pool: The memories. The server closes it when it ends.
        tokens: Whose token opens whose memory. Without, only requests of this machine are answered, for any user.
        limits: How much is taken at once.
        folder: A folder that all workers of this server share, and no other program; by default one of its own.
        root: The folder of the pool, which `/readyz` looks at; None for one on a server.
        upstream: The service that chats at `/v1/chat/completions` are passed on to; None for no proxy.
        pages: Routes for people, such as a mount of `evimem.pages` at "/", after all other routes.
    """
    own = TemporaryDirectory(prefix="evimem-") if folder is None else None
    place = Path(own.name) if own is not None else folder or Path()
    service = Service(pool, tokens, limits, place, root, ("proxy",) if upstream is not None else ())
    endpoints = all_endpoints()
    document = openapi_document(endpoints, tokens=tokens is not None)
    routes: list[BaseRoute] = [
        *_make_routes(endpoints, service),
        Route("/openapi.json", _always_respond(json_response(document))),
        Route("/docs", _always_respond(render_docs(document))),
    ]

    proxy = None if upstream is None else Proxy(service, upstream)
    routes += [Route("/v1/{rest:path}", _raise_not_found)] if proxy is None else proxy.make_routes()

    @asynccontextmanager
    async def lifespan(app: Starlette) -> AsyncIterator[None]:
        noting = asyncio.create_task(_update_metrics(service))
        try:
            yield
        finally:
            service.draining = True
            noting.cancel()
            await service.operations.end_all()
            if proxy is not None:
                await proxy.close()
            await asyncio.to_thread(pool.close)
            if own is not None:
                own.cleanup()

    app = Starlette(routes=[*routes, *pages], lifespan=lifespan, exception_handlers={HTTPException: _answer_unrouted})
    app.state.service = service
    app.add_middleware(partial(RequestGate, service=service))  # type: ignore[arg-type]
    return app


def all_endpoints() -> list[Endpoint]:
    """Return every endpoint that has a place in the OpenAPI document."""
    return [*probe_endpoints(), *user_endpoints(), *mem0_endpoints()]


def _make_routes(endpoints: Iterable[Endpoint], service: Service) -> list[BaseRoute]:
    """Return a route for each path; a wrong method is 405, and never goes on to another route."""
    by_path: dict[str, dict[str, Endpoint]] = {}
    for one in endpoints:
        by_path.setdefault(one.path, {})[one.method] = one
    return [Route(path, ByMethod(methods, service)) for path, methods in by_path.items()]


class ByMethod:
    """Answers requests to one path by their method."""

    def __init__(self, endpoints: dict[str, Endpoint], service: Service) -> None:
        self._endpoints = endpoints
        self._service = service

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request."""
        request = Request(scope, receive, send)
        endpoint = self._endpoints.get("GET" if request.method == "HEAD" else request.method)
        if endpoint is None:
            allowed = ", ".join(self._endpoints)
            refusal = Refusal(405, "MethodNotAllowed", f"this path takes {allowed}", {"Allow": allowed})
            response = problem_response(refusal)
        else:
            response = await respond(endpoint, self._service, request)
        await response(scope, receive, send)


def _always_respond(response: Response) -> Any:
    async def give(request: Request) -> Response:
        return response

    return give


async def _raise_not_found(request: Request) -> Response:
    raise HTTPException(404)


async def _answer_unrouted(request: Request, error: Exception) -> Response:
    """Answer an unknown path or method with a problem document."""
    refused = error if isinstance(error, HTTPException) else HTTPException(500)
    status = refused.status_code
    title = status_phrase(status).replace(" ", "")
    return problem_response(
        Refusal(status, title, f"{status_phrase(status).lower()}; see /openapi.json", refused.headers)
    )


async def _update_metrics(service: Service) -> None:
    while True:
        await asyncio.sleep(_METRICS_NOTE_SECONDS)
        with suppress(OSError):  # a full disk: they are written when there is room
            await asyncio.to_thread(service.metrics.write_counts)


class RequestGate:
    """Stands before all routes: the raw path, an id for each request, the number under way, log and counters.

    A path is routed as it came, percent-encoded: a user's id may have any character, "/" too.
    """

    def __init__(self, app: ASGIApp, service: Service) -> None:
        self._app = app
        self._service = service

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        service, began = self._service, monotonic()
        raw = scope.get("raw_path", scope["path"].encode()).partition(b"?")[0].decode("latin-1")
        about = {"route": "other", "user": ""}
        scope = {**scope, "evimem": about, **({"path": raw} if raw.startswith(_RAW_PATH_PREFIXES) else {})}
        given = dict(scope["headers"]).get(b"x-request-id", b"").decode("latin-1")
        name = given if _REQUEST_ID.fullmatch(given) else secrets.token_hex(8)
        status, begun = 500, False

        async def tell(message: Message) -> None:
            nonlocal status, begun
            begun = True
            if message["type"] == "http.response.start":
                status = message["status"]
                message = {**message, "headers": [*message["headers"], (b"x-request-id", name.encode())]}
            await send(message)

        service.under_way += 1
        try:
            if service.under_way > service.limits.requests and raw not in _PROBE_PATHS:
                busy = Refusal(503, "Busy", "too many requests at once; try again", {"Retry-After": "1"})
                await problem_response(busy)(scope, receive, tell)
            else:
                await self._app(scope, receive, tell)
        except asyncio.CancelledError:  # the seconds are over that requests have to end with the server
            if begun:
                raise
            ending = Refusal(503, "Ending", "the server ends, and did not finish this request", {"Retry-After": "1"})
            await problem_response(ending)(scope, receive, tell)
        finally:
            service.under_way -= 1
            seconds = monotonic() - began
            method = scope["method"] if scope["method"] in _METHODS else "other"
            service.metrics.time_request(about["route"], method, status, seconds)
            if _LOG.isEnabledFor(logging.INFO):
                _LOG.info("%s", _format_log_line(name, method, about, status, seconds))


_METHODS = frozenset(("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"))


def _format_log_line(name: str, method: str, about: dict[str, str], status: int, seconds: float) -> str:
    """Return the line of a request in the log: no text, and no id that a user chose."""
    user = blake2b(about["user"].encode("utf-8", "replace"), digest_size=8).hexdigest() if about["user"] else None
    told = {"request": name, "method": method, "route": about["route"], "status": status, "user": user}
    return json.dumps({**told, "seconds": round(seconds, 4)})


def log_to_stderr() -> None:
    """Write a line of JSON for each request to stderr."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(logging.Formatter("%(message)s"))
    _LOG.addHandler(handler)
    _LOG.setLevel(logging.INFO)
