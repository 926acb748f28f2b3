"""Who may see a page: tokens, the host that is asked for, and forms that come from the explorer's own pages."""

from __future__ import annotations

import hmac
from collections.abc import Callable, Collection
from dataclasses import dataclass
from hashlib import sha256
from urllib.parse import parse_qsl, urlencode, urlsplit

from starlette.datastructures import Headers
from starlette.requests import HTTPConnection, Request
from starlette.responses import PlainTextResponse, RedirectResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

STATIC_PATH = "/static/"
SIGN_IN_PATH = "/sign-in"  # takes the token that a browser has not sent yet
_CACHE_SECONDS = 86_400  # of files whose name carries their version or digest
_MAX_SIGN_IN_BYTES = 4_096
_CONTENT_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; form-action 'self'; "
    "base-uri 'none'; frame-ancestors 'none'"
)
_HEADERS = (
    ("content-security-policy", _CONTENT_POLICY),
    ("x-content-type-options", "nosniff"),
    ("referrer-policy", "same-origin"),
    ("cross-origin-opener-policy", "same-origin"),
    ("cross-origin-resource-policy", "same-origin"),
)
_SAFE_METHODS = frozenset(("GET", "HEAD"))
_NO_TOKEN_MESSAGE = (
    "This page needs a token. Open the address that the explorer printed when it was started, or send the token as "
    "Authorization: Bearer TOKEN.\n"
)


@dataclass(frozen=True, slots=True)
class Visitor:
    """A caller whose token is known.

    Attributes:
        user: The only user whose memory it may see; None where each page names its user.
        may_write: Whether it may add, edit and correct.
        may_forget: Whether it may erase.
    """

    user: str | None = None
    may_write: bool = True
    may_forget: bool = True


Admit = Callable[[str], Visitor | None]  # returns the visitor of a token, None for an unknown one


def admit_holder_of(token: str) -> Admit:
    """Return a function that admits the holder of one token, to everything."""

    def admit(given: str) -> Visitor | None:
        return Visitor() if hmac.compare_digest(given.encode("utf-8", "replace"), token.encode()) else None

    return admit


def form_token(token: str) -> str:
    """Return the token that a form must carry to change anything: only a page that was read with `token` holds it."""
    return hmac.new(token.encode("utf-8", "replace"), b"evimem explorer form", sha256).hexdigest()


class VisitorGate:
    """ASGI middleware: lets in known tokens only, and sets the headers of every response.

    A token comes in a cookie, as `?token=` of an address (which is exchanged for the cookie at once, so that it stands
    in no link), or as `Authorization: Bearer`. The scope of a request that is let in has `visitor` and `form_token`.
    """

    def __init__(
        self,
        app: ASGIApp,
        admit: Admit,
        ask_for_token: Callable[[], bytes],
        *,
        cookie: str,
        hosts: Collection[str] | None = None,
    ) -> None:
        """Guard `app`.

        Args:
            app: The application behind the gate.
            admit: Returns the visitor of a token.
            ask_for_token: Returns the page of a form that is sent to `SIGN_IN_PATH`.
            cookie: The cookie's name: browsers send cookies to every port of a host.
            hosts: The values of the Host header that are served; None serves any. Names of this machine only keep a
                foreign site, whose name was made to lead here, from reading pages.
        """
        self._app, self._admit, self._ask_for_token, self._cookie, self._hosts = (
            app,
            admit,
            ask_for_token,
            cookie,
            hosts,
        )

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        signs_in = scope["path"] == SIGN_IN_PATH and scope["method"] == "POST"
        answer = self._refuse_request(scope)
        if signs_in and answer is None:
            answer = await self._sign_in(Request(scope, receive))

        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                static = scope["path"].startswith(STATIC_PATH) and message["status"] == 200
                cached = f"private, max-age={_CACHE_SECONDS}" if static else "no-store"
                named = {name for name, _ in message["headers"]}
                added = [(name.encode(), value.encode()) for name, value in (*_HEADERS, ("cache-control", cached))]
                message["headers"] = [*message["headers"], *(pair for pair in added if pair[0] not in named)]
            await send(message)

        await (answer or self._app)(scope, receive, send_with_headers)

    def _refuse_request(self, scope: Scope) -> Response | None:
        """Return the response to a request that is not let in, or that brings its token in the address."""
        request = HTTPConnection(scope)
        host = request.headers.get("host", "")
        if self._hosts is not None and host not in self._hosts:
            return PlainTextResponse("This explorer is not served under this name of a host.\n", 421)
        if scope["path"] == SIGN_IN_PATH and scope["method"] == "POST":
            return None if _has_same_origin(request.headers, host) else _cross_site_refusal()
        given = request.query_params.get("token") if scope["method"] in _SAFE_METHODS else None
        scheme, _, bearer = request.headers.get("authorization", "").partition(" ")
        token = given or (bearer if scheme.lower() == "bearer" else "") or request.cookies.get(self._cookie, "")
        visitor = self._admit(token) if token else None
        if visitor is None:
            return None if scope["path"].startswith(STATIC_PATH) else self._refuse_unknown(request)
        if scope["method"] not in _SAFE_METHODS and not _has_same_origin(request.headers, host):
            return _cross_site_refusal()
        scope["visitor"], scope["form_token"] = visitor, form_token(token)
        if given is None:
            return None
        kept = [pair for pair in parse_qsl(request.url.query, keep_blank_values=True) if pair[0] != "token"]
        return self.sign_in_response(token, f"{scope['path']}?{urlencode(kept)}".rstrip("?"), request.url.scheme)

    async def _sign_in(self, request: Request) -> Response:
        """Give a browser the cookie of the token that its form holds."""
        size = request.headers.get("content-length", "")
        if not size.isascii() or not size.isdigit() or int(size) > _MAX_SIGN_IN_BYTES:
            return PlainTextResponse("A token is one short line.\n", 413)
        async with request.form(max_files=0, max_fields=4) as form:
            token = str(form.get("token", "")).strip()
        if not token or self._admit(token) is None:
            return self._refuse_unknown(request)
        return self.sign_in_response(token, "ask", request.url.scheme)

    def sign_in_response(self, token: str, address: str, scheme: str) -> Response:
        """Return the response that gives a browser its cookie, and sends it on to an address of the explorer."""
        answer = RedirectResponse(address, 303)
        secure = scheme == "https"
        answer.set_cookie(self._cookie, token, httponly=True, samesite="strict", secure=secure, path="/")
        return answer

    def _refuse_unknown(self, request: HTTPConnection) -> Response:
        """Refuse a caller without a known token: a browser gets a form that asks for one."""
        if "text/html" in request.headers.get("accept", ""):
            return Response(self._ask_for_token(), 401, media_type="text/html")
        return PlainTextResponse(_NO_TOKEN_MESSAGE, 401)


def _cross_site_refusal() -> Response:
    return PlainTextResponse("This form was sent from another site; nothing was changed.\n", 403)


def _has_same_origin(headers: Headers, host: str) -> bool:
    """Whether a browser says that a form comes from this host; a program that sends a token says nothing of it."""
    site, origin = headers.get("sec-fetch-site"), headers.get("origin")
    if site is not None and site != "same-origin":
        return False
    return origin is None or urlsplit(origin).netloc == host
