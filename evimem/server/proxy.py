"""The proxy: a program that speaks to an OpenAI-compatible service has a memory by another base URL, and nothing else.

Before a chat is passed on, the block of memory for it is put into the last message of the user. The reply goes back
byte for byte, and both are stored. A failure of the memory fails a chat only where the operator wishes so; one of the
service passes through.
"""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import timedelta
from hashlib import sha256
from typing import TYPE_CHECKING, Any, Literal, cast
from urllib.parse import unquote

import httpx2
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Route
from starlette.types import Receive, Scope, Send

from ..adapters.user_tokens import TokenHolder
from ..errors import EvimemError, InvalidQuery
from ..loaders.chat_messages import text_of_content
from .problems import Refusal, json_response, problem_response, refusal_from
from .service import ANY_USER, Service, read_body, read_user

if TYPE_CHECKING:
    from ..api.async_memory import AsyncMemory

MAX_BODY_BYTES = 64 << 20  # of a proxied request, which may hold pictures
MAX_REPLY_BYTES = 4 << 20  # of a reply that is read to be stored; of a longer one the beginning is
PROFILE_TOKENS = 350  # of the profile in a system prompt
MAX_RECALL_SECONDS = 5.0  # that a chat waits for its memory; then it goes on without
CONNECT_SECONDS, READ_SECONDS = 10.0, 600.0  # to reach the upstream; between two pieces of its reply
_MAX_CONTINUED_DAYS = 7  # days on which a conversation may have begun that goes on without a name
_HOP_BY_HOP_HEADERS = frozenset(
    b"connection keep-alive proxy-authenticate proxy-authorization te trailer transfer-encoding upgrade".split()
)
_UNSENT_HEADERS = _HOP_BY_HOP_HEADERS | {b"host", b"content-length", b"accept-encoding", b"cookie", b"expect"}
_UNRELAYED_HEADERS = _HOP_BY_HOP_HEADERS | {b"date"}  # the server says its own
_METHODS = ("GET", "POST", "PUT", "PATCH", "DELETE")
_CHAT_PATH = "chat/completions"
Memory = Literal["on", "read", "write", "off"]


@dataclass(frozen=True)
class Upstream:
    """The service that chats are passed on to.

    Attributes:
        url: Its base URL, as an OpenAI client takes it: the part before "/chat/completions".
        key: Its key, where clients send their token of evimem in its place; None where they send its key themselves.
        tokens: At most this many tokens of memory in a chat.
        user: Whose memory it is where a request does not say; None to pass such a chat on without memory.
        profile: Whether the profile of the user stands at the end of the system prompt.
        on_error: Where the memory fails, pass the chat on without it ("forward"), or refuse the chat ("fail").
    """

    url: str
    key: str | None = field(default=None, repr=False)
    tokens: int = 1_500
    user: str | None = None
    profile: bool = False
    on_error: Literal["forward", "fail"] = "forward"

    def __post_init__(self) -> None:
        parsed = httpx2.URL(self.url)
        if parsed.scheme not in {"http", "https"} or not parsed.host or parsed.userinfo:
            raise InvalidQuery("the upstream is no http:// or https:// URL without a password; expected one")


@dataclass(frozen=True)
class Caller:
    """Who sent a request: the user that it names, its token, and whose that is; None where there are no tokens."""

    named: str | None
    token: str
    holder: TokenHolder | None

    @property
    def effective_user(self) -> str | None:
        """The user that it names, else that of its token; None where neither says."""
        return self.named or (self.holder.user if self.holder is not None and self.holder.user != ANY_USER else None)

    @property
    def may_write(self) -> bool:
        """Whether its messages may be stored."""
        return self.holder is None or self.holder.may("write")


@dataclass
class Chat:
    """A chat on its way.

    Attributes:
        user: Whose memory it has; None for none.
        memory: How far that is used.
        body: The request as it is passed on.
        messages: Its messages, without the system prompt.
        named: The session that its program names.
        session: The session that it belongs to, once that is known.
        receipt: Headers of the response that tell of the memory in the chat.
    """

    user: str | None
    memory: Memory
    body: bytes
    messages: list[dict[str, Any]] = field(default_factory=list)
    named: str = ""
    session: str = ""
    receipt: dict[str, str] = field(default_factory=dict)

    @property
    def stores_messages(self) -> bool:
        """Whether its messages are stored."""
        return self.user is not None and self.memory in {"on", "write"} and bool(self.messages)


class Proxy:
    """Passes requests on to an upstream, with the memories of a service."""

    def __init__(self, service: Service, upstream: Upstream) -> None:
        self._service = service
        self._upstream = upstream
        self._storing: set[asyncio.Task[None]] = set()
        self._client = httpx2.AsyncClient(
            timeout=httpx2.Timeout(READ_SECONDS, connect=CONNECT_SECONDS), trust_env=False, follow_redirects=False,
            limits=httpx2.Limits(max_connections=None, max_keepalive_connections=32),
        )  # fmt: skip

    async def close(self) -> None:
        """Wait until all replies are stored, and end the connections."""
        await asyncio.gather(*self._storing, return_exceptions=True)
        await self._client.aclose()

    def make_routes(self) -> Iterable[BaseRoute]:
        """Return the routes: `/v1/...`, and with the user in the path, for programs that can only set a URL."""
        for prefix in ("", "/p/{user}", "/p/{user}/k/{token}"):
            yield Route(f"{prefix}/v1/{{rest:path}}", self._answer_request, methods=list(_METHODS))

    async def _answer_request(self, request: Request) -> Response:
        rest, prefix = request.path_params["rest"], request.scope["path"].partition("/v1/")[0]
        request.scope["evimem"]["route"] = f"{'/p' if prefix else ''}/v1/{_CHAT_PATH if rest == _CHAT_PATH else '...'}"
        if not prefix and rest.partition("/")[0] == "users":
            return problem_response(Refusal(404, "NotFound", "not found; see /openapi.json"))
        try:
            return await self._forward_request(request, rest)
        except (Refusal, EvimemError) as error:
            return _openai_error_response(refusal_from(error))
        except httpx2.HTTPError as error:
            return _openai_error_response(Refusal(502, type(error).__name__, "the upstream could not be reached"))

    async def _forward_request(self, request: Request, rest: str) -> Response:
        if ".." in rest.split("/"):
            raise Refusal(404, "NotFound", "not found")
        caller = self._identify_caller(request)
        chat = Chat(None, "off", await read_body(request, MAX_BODY_BYTES))
        if rest == _CHAT_PATH and request.method == "POST":
            await self._add_block_to_request(request, caller, chat)
        response = await self._send_upstream(request, rest, chat.body)
        try:
            if chat.stores_messages and response.status_code < 300:  # else its client sends the same again
                await self._store_chat(chat, [])
        except BaseException:
            self.count_chat(chat)
            await response.aclose()
            raise
        return ResponseRelay(response, chat, self)

    def _identify_caller(self, request: Request) -> Caller:
        """Return the sender of a request, by its token, path and headers. Raise Refusal (401)."""
        named = read_user(request.path_params["user"]) if "user" in request.path_params else None
        named = named or _read_header(request, "x-evimem-user")
        token = unquote(request.path_params.get("token", "")) or request.headers.get("x-evimem-token", "")
        if not token and self._upstream.key is not None:
            token = request.headers.get("authorization", "").partition(" ")[2].strip()
        return Caller(named, token, self._service.find_token_holder(request, token))

    async def _add_block_to_request(self, request: Request, caller: Caller, chat: Chat) -> None:
        """Put the block of memory for a chat into its request. Raise Refusal (403, 422, 429)."""
        body, wish = _parse_object(chat.body), _read_memory_use(request)
        messages = body.get("messages")
        if wish == "off" or not isinstance(messages, list) or not all(isinstance(one, dict) for one in messages):
            return  # a list that is none is for the upstream to refuse
        user = caller.effective_user or _read_user_field(body) or self._upstream.user
        if user is None:
            chat.receipt["X-Evimem-Error"] = "no user: give X-Evimem-User, or the field user"
            return
        self._service.check_access(request, user, "read", caller.token)
        request.scope["evimem"]["user"] = user
        chat.user, chat.memory = user, wish if caller.may_write else "read"
        chat.messages = [one for one in messages if one.get("role") not in {"system", "developer"}]
        chat.named = unquote(request.headers.get("x-evimem-session", "").strip())
        if wish == "write":
            return
        try:
            await asyncio.wait_for(self._recall_for_chat(body, chat), MAX_RECALL_SECONDS)
        except Exception as error:  # noqa: BLE001 - the chat goes on without memory; the receipt and the log say so
            self._record_memory_failure(chat, error)

    async def _store_chat(self, chat: Chat, reply: list[dict[str, Any]]) -> None:
        """Store the new messages of a chat, and its reply; a failure is in the receipt, if that is not sent yet.

        Raise Refusal for it where chats are to fail with their memory.
        """
        try:
            async with self._service.pool.open_async(cast(str, chat.user)) as memory:
                if not chat.session:
                    chat.session, chat.messages = await _find_session(memory, chat)
                report = await memory.remember([*chat.messages, *reply], session=chat.session, time="now")
            self._service.metrics.increment("evimem_turns_added_total", amount=report.added)
        except Exception as error:  # noqa: BLE001 - noted in the receipt, or the chat is refused
            self._record_memory_failure(chat, error)

    async def _recall_for_chat(self, body: dict[str, Any], chat: Chat) -> None:
        async with self._service.pool.open_async(cast(str, chat.user)) as memory:
            chat.body = await _add_recall(self._upstream, memory, body, chat)

    async def _send_upstream(self, request: Request, rest: str, body: bytes) -> httpx2.Response:
        """Send a request to the upstream; return its response, of which the body is still to be read."""
        headers = [
            (name, value)
            for name, value in request.headers.raw
            if name not in _UNSENT_HEADERS and not name.startswith(b"x-evimem")
        ]
        if self._upstream.key is not None:
            headers = [(name, value) for name, value in headers if name != b"authorization"]
            headers.append((b"authorization", f"Bearer {self._upstream.key}".encode()))
        headers.append((b"accept-encoding", b"identity"))
        query = request.scope["query_string"]
        url = f"{self._upstream.url.rstrip('/')}/{rest}" + (f"?{query.decode('latin-1')}" if query else "")
        sent = self._client.build_request(request.method, url, headers=headers, content=body)
        return await self._client.send(sent, stream=True)

    async def store_reply(self, chat: Chat, reply: str, *, whole: bool) -> None:
        """Store the reply to a chat, after the messages before it; one that was broken off is marked as partial."""
        if reply and chat.stores_messages:
            said = {"role": "assistant", "content": reply, **({} if whole else {"partial": True})}
            with suppress(Refusal):  # the reply has gone out: nothing is left to refuse
                await self._store_chat(chat, [said])

    def store_reply_in_background(self, chat: Chat, reply: str, *, whole: bool) -> asyncio.Task[None]:
        """Store a reply in a task of its own, which ends also where the client has gone."""
        task = asyncio.create_task(self.store_reply(chat, reply, whole=whole))
        self._storing.add(task)
        task.add_done_callback(self._storing.discard)
        return task

    def count_chat(self, chat: Chat) -> None:
        """Count a chat that was passed on."""
        given = "failed" if "X-Evimem-Error" in chat.receipt else chat.receipt.get("X-Evimem-Memory", "off")
        self._service.metrics.increment("evimem_chats_total", {"memory": given})

    def _record_memory_failure(self, chat: Chat, error: Exception) -> None:
        """Note the failure of the memory in the receipt. Raise Refusal where the chat is to fail with it."""
        refusal = refusal_from(error)
        chat.receipt["X-Evimem-Error"] = refusal.title
        logging.getLogger("evimem.server").warning("the memory of a chat failed: %s", refusal.title)
        if self._upstream.on_error == "fail":
            detail = f"the memory failed, and this proxy passes no chat on without it: {refusal.detail}"
            raise Refusal(refusal.status, refusal.title, detail, {**refusal.headers, **chat.receipt})


class ResponseRelay(Response):
    """The response of the upstream as it comes, byte for byte; its text is stored once it has ended."""

    def __init__(self, response: httpx2.Response, chat: Chat, proxy: Proxy) -> None:
        self._response, self._chat, self._proxy = response, chat, proxy
        super().__init__(status_code=response.status_code)
        kept = [(name.lower(), value) for name, value in response.headers.raw if name.lower() not in _UNRELAYED_HEADERS]
        receipt = [(name.lower().encode(), value.encode("latin-1")) for name, value in chat.receipt.items()]
        self.raw_headers = [*kept, *receipt]
        is_stream = response.headers.get("content-type", "").startswith("text/event-stream")
        self._reading = ReplyTextReader(is_stream=is_stream)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send it, until the upstream or the client ends."""
        pumping = asyncio.ensure_future(self._forward_stream(send))
        leaving = asyncio.ensure_future(_wait_for_disconnect(receive))
        try:
            await asyncio.wait({pumping, leaving}, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for task in (pumping, leaving):
                task.cancel()
            await asyncio.gather(pumping, leaving, return_exceptions=True)
            with suppress(httpx2.HTTPError):
                await self._response.aclose()
            self._proxy.count_chat(self._chat)
        error = None if pumping.cancelled() else pumping.exception()
        if error is not None and not isinstance(error, (httpx2.HTTPError, OSError)):
            raise error  # those are of the upstream and the client: the response stays without its end, too

    async def _forward_stream(self, send: Send) -> None:
        good, whole = self._response.status_code < 300, False
        try:
            await send({"type": "http.response.start", "status": self.status_code, "headers": self.raw_headers})
            async for piece in self._response.aiter_raw():
                if good:
                    self._reading.add_bytes(piece)
                await send({"type": "http.response.body", "body": piece, "more_body": True})
            whole = True
            if good:
                await asyncio.shield(
                    self._proxy.store_reply_in_background(self._chat, self._reading.text_so_far(), whole=True)
                )
            await send({"type": "http.response.body", "body": b"", "more_body": False})
        finally:
            if good and not whole:
                self._proxy.store_reply_in_background(self._chat, self._reading.text_so_far(), whole=False)


class ReplyTextReader:
    """Reads the text of the first choice from a reply as it passes by."""

    def __init__(self, *, is_stream: bool) -> None:
        self._is_stream = is_stream
        self._rest = b""
        self._size = 0
        self._pieces: list[str] = []

    def add_bytes(self, piece: bytes) -> None:
        """Read the next bytes."""
        self._size += len(piece)
        if self._size > MAX_REPLY_BYTES:
            return
        self._rest += piece
        if self._is_stream:
            *lines, self._rest = self._rest.split(b"\n")
            for line in lines:
                name, _, data = line.partition(b":")
                if name == b"data":
                    self._pieces.append(_first_choice_text(_parse_object(data), "delta"))

    def text_so_far(self) -> str:
        """Return the text so far."""
        return "".join(self._pieces) if self._is_stream else _first_choice_text(_parse_object(self._rest), "message")


def _first_choice_text(frame: Mapping[str, Any], part: str) -> str:
    choices = frame.get("choices")
    for choice in choices if isinstance(choices, list) else ():
        if isinstance(choice, dict) and choice.get("index", 0) == 0 and isinstance(choice.get(part), dict):
            content = choice[part].get("content")
            return content if isinstance(content, str) else text_of_content(content) if content else ""
    return ""


def _parse_object(raw: bytes) -> dict[str, Any]:
    """Return an object; an empty one for anything else."""
    try:
        value = json.loads(raw)
    except (ValueError, RecursionError):
        return {}
    return value if isinstance(value, dict) else {}


async def _wait_for_disconnect(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass


def _read_header(request: Request, name: str) -> str | None:
    """Return a header that may be percent-encoded, for ids beyond Latin-1; None without one."""
    value = request.headers.get(name, "").strip()
    return read_user(value) if value else None


def _read_user_field(body: Mapping[str, Any]) -> str | None:
    user = body.get("user")
    return user if isinstance(user, str) and user else None


def _read_memory_use(request: Request) -> Memory:
    """Return the use of the memory that a request asks for. Raise Refusal (422) for an unknown word."""
    word = request.headers.get("x-evimem", "on").strip().lower()
    wishes: dict[str, Memory] = {"on": "on", "read": "read", "write": "write", "off": "off"}
    if word not in wishes:
        raise Refusal(422, "InvalidQuery", "X-Evimem is another word; expected off, read, write or on")
    return wishes[word]


async def _add_recall(upstream: Upstream, memory: AsyncMemory, body: dict[str, Any], chat: Chat) -> bytes:
    """Add the block of memory to a request, and fill in the receipt."""
    block = await memory.block(body["messages"], tokens=upstream.tokens, asked_at="now")
    turns, tokens, text = len(block.turns), block.tokens, block.text
    messages = _insert_block(body["messages"], text) if text else body["messages"]
    if upstream.profile:
        profile = await memory.profile(tokens=PROFILE_TOKENS)
        turns, tokens = turns + len(profile.turns), tokens + profile.tokens
        messages = _insert_profile(messages, profile.text) if profile.text else messages
    chat.receipt |= {"X-Evimem-Turns": str(turns), "X-Evimem-Tokens": str(tokens)}
    chat.receipt["X-Evimem-Memory"] = "recalled" if tokens else "empty"
    return json.dumps({**body, "messages": messages}).encode() if tokens else chat.body


async def _find_session(memory: AsyncMemory, chat: Chat) -> tuple[str, list[dict[str, Any]]]:
    """Find the session that a chat continues; return it with the messages to compare with its turns.

    Without a name it is known by the first message of its user and the day on which it began. Of a chat that is not
    known, such as one that its program has cut at the beginning, only the new messages are stored: the last one
    of the user, and those after it.
    """
    messages = chat.messages
    if chat.named:
        return chat.named, messages
    first = next((one for one in messages if one.get("role") == "user"), {})
    today = (await memory.now()).date()
    digest = sha256(json.dumps(first.get("content")).encode()).hexdigest()[:16]
    names = [f"chat-{digest}-{today - timedelta(days=back)}" for back in range(_MAX_CONTINUED_DAYS + 1)]
    if len(messages) > 1:
        for name in names:
            if await memory.turns(session=name, limit=1):
                return name, messages
    last = max((at for at, one in enumerate(messages) if one.get("role") == "user"), default=0)
    return names[0], messages[last:]


def _insert_block(messages: list[dict[str, Any]], block: str) -> list[dict[str, Any]]:
    """Return the messages with a block in the last one of the user, before its own words; else in one after them."""
    for at in range(len(messages) - 1, -1, -1):
        if messages[at].get("role") == "user":
            content = messages[at].get("content")
            if isinstance(content, str):
                content = f"{block}\n\n{content}"
            elif isinstance(content, list):
                content = [{"type": "text", "text": block}, *content]
            else:
                break
            return [*messages[:at], {**messages[at], "content": content}, *messages[at + 1 :]]
    return [*messages, {"role": "user", "content": block}]


def _insert_profile(messages: list[dict[str, Any]], profile: str) -> list[dict[str, Any]]:
    """Return the messages with a profile at the end of the system prompt, or as one."""
    for at, one in enumerate(messages):
        if one.get("role") in {"system", "developer"} and isinstance(one.get("content"), str):
            return [*messages[:at], {**one, "content": f"{one['content']}\n\n{profile}"}, *messages[at + 1 :]]
    return [{"role": "system", "content": profile}, *messages]


def _openai_error_response(refusal: Refusal) -> Response:
    """Return a refusal in the form that clients of OpenAI read."""
    error = {"message": refusal.detail, "type": refusal.title, "code": refusal.title, "param": None}
    return json_response({"error": error}, refusal.status, refusal.headers)
