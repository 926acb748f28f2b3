"""The commands that serve memories to programs and browsers: mcp, serve, explore, token. Importing it stays cheap."""

from __future__ import annotations

import os
import secrets
import signal
import socket
from collections.abc import Mapping
from contextlib import suppress
from functools import partial
from ipaddress import ip_address
from pathlib import Path
from threading import Event
from typing import Any, Literal

import evimem

from ..adapters.user_tokens import Scope, TokenFile, new_token
from ..errors import InvalidQuery, MissingExtra
from ..types.public_value import AnyPath, is_server
from ..types.values import DateOrder
from .arguments import Exit, Misused, Settings, display_path, open_existing, read_key_from_environment
from .page import Screen, make_line

ProfilePlace = Literal["system"]
OnMemoryError = Literal["forward", "fail"]


def mcp(  # noqa: PLR0913 - the options
    screen: Screen,
    settings: Settings,
    path: AnyPath | None = None,
    *,
    pool: AnyPath | None = None,
    user: str | None = None,
    read_only: bool = False,
    allow_forget: bool = False,
    prefix: str = "",
    http: bool = False,
    host: str | None = None,
    port: int | None = None,
    tokens: Path | None = None,
    public_url: str | None = None,
    stateless: bool = False,
    timezone: str | None = None,
    date_order: DateOrder | None = None,
) -> Exit:
    """Serve a memory to assistants and editors that speak MCP.

    Without --http it serves one program, over stdin and stdout, which starts this command itself:

      {"mcpServers": {"memory": {"command": "evimem", "args": ["mcp", "/home/mira/notes.evimem"]}}}

    With --http it serves many, each with the memory of its own user, named by the token in its Authorization header:

      evimem token tokens.txt --user mira
      evimem mcp --pool users --http --tokens tokens.txt --public-url https://memory.example/mcp

    Over HTTP, GET /healthz, /readyz and /version need no token and answer with a word.

    Tools: search, facts, recall, ask, explain, stats; add without --read-only; forget with --allow-forget. Resources: evimem://stats,
    evimem://turn/ID, evimem://session/NAME. Prompt: answer_from_memory. It makes OpenTelemetry spans, exported where
    the program that runs it says so, such as opentelemetry-instrument. Needs the extra: pip install 'evimem[mcp]'

    Args:
        path: The memory: a file, or a server's address with --user; or give --pool.
        pool: A folder of memories, one for each user, or a server's address.
        user: With --pool or a server, whose memory it is; over HTTP, tokens say so.
        read_only: Offer neither add nor forget.
        allow_forget: Offer forget, which erases for good.
        prefix: Begin the names of tools with this, such as memory_.
        http: Serve over HTTP, at /mcp, instead of stdin and stdout.
        host: The address to listen on; by default 127.0.0.1.
        port: The port; by default 8765, with 0 any that is free.
        tokens: Who may come: a file made by `evimem token`; needs --pool.
        public_url: Where clients reach the server, if not at host and port.
        stateless: Keep no session between requests, for several replicas behind one URL.
    """
    listens = {"host": host, "port": port, "public_url": public_url, "stateless": stateless or None}
    _check_options(path, pool, {"user": user, "tokens": tokens}, listens, http=http)
    from ..adapters.mcp_server import serve  # noqa: PLC0415 - an extra

    if isinstance(path, Path) and not path.absolute().parent.is_dir():
        raise InvalidQuery(f"there is no folder {str(path.absolute().parent)!r}; make it, and the memory is made in it")
    listening = _open_socket(host or "127.0.0.1", port) if http else None
    url = f"http://{_format_address(listening)}/mcp" if listening else None
    known = TokenFile(tokens) if tokens else None
    terminated = Event()
    signal.signal(signal.SIGTERM, partial(_interrupt, terminated))
    opening = {"timezone": timezone, "date_order": date_order, **read_key_from_environment(path or pool or "")}
    make = partial(_open_memory, path, pool, settings | opening | ({"user": user} if is_server(path) else {}))
    if url:
        screen.print_note(f"evimem: listening at {url}")
    offered = {"read_only": read_only, "allow_forget": allow_forget, "prefix": prefix}
    whose = (user or "") if pool else ""
    try:
        serve(make, whose, listening, tokens=known, url=public_url or url, stateless=stateless, **offered)
    except KeyboardInterrupt:
        if not terminated.is_set():
            raise
    return Exit.OK  # also where SIGTERM ended it, as a service manager does


def _interrupt(terminated: Event, *_: object) -> None:
    """Note that SIGTERM came, and end the running call as Ctrl-C does."""
    terminated.set()
    raise KeyboardInterrupt


def serve(  # noqa: PLR0913 - the options
    screen: Screen,
    settings: Settings,
    *,
    pool: AnyPath,
    host: str = "127.0.0.1",
    port: int = 8766,
    tokens: Path | None = None,
    workers: int = 1,
    grace: int = 20,
    capacity: int = 128,
    rate: float | None = None,
    retain: str | None = None,
    quiet: bool = False,
    proxy_to: str | None = None,
    proxy_key_from: str | None = None,
    proxy_tokens: int = 1_500,
    user: str | None = None,
    profile: ProfilePlace | None = None,
    on_error: OnMemoryError = "forward",
    timezone: str | None = None,
    date_order: DateOrder | None = None,
) -> Exit:
    r"""Serve memories over HTTP: REST for programs in any language.

    Without --tokens only this machine may come, and names any user in the path; with them each token opens the memory
    of its user alone, or of every user where it was made with --user '*':

      evimem token tokens.txt --user mira
      evimem serve --pool users --host 0.0.0.0 --tokens tokens.txt

      curl -H "Authorization: Bearer $TOKEN" -H "Content-Type: application/json" \
        -d '{"message": "What is my dog called?"}' http://127.0.0.1:8766/v1/users/mira/block

    With --proxy-to it is a proxy too: give a program that speaks to an OpenAI-compatible service the base URL
    http://127.0.0.1:8766/v1 in place of the service's, and its chats have a memory:

      evimem serve --pool users --proxy-to https://api.openai.com/v1 --user mira

    Pages for people stand at /, see `evimem explore`: with --tokens they ask for one, else the address printed has it.
    The routes are described at /openapi.json. /healthz, /readyz, /version and /metrics need no token. A request is a
    line of JSON on stderr, without text and ids. SIGTERM ends it once the requests under way have ended. It speaks no
    TLS: put a proxy in front that does. Needs the extra: pip install 'evimem[server]'

    Args:
        pool: A folder of memories, one for each user, or a server's address.
        host: The address to listen on.
        port: The port; with 0 any that is free.
        tokens: Who may come: a file made by `evimem token`.
        workers: Processes that serve.
        grace: Seconds that requests under way have to end after SIGTERM.
        capacity: Memories that a worker may have open at once.
        rate: Requests a second that a worker answers to one user.
        retain: How long turns are kept, such as 365d, 8w or 2y; older ones are forgotten when their memory is opened.
        quiet: Write no line for each request.
        proxy_to: The base URL of the service that chats are passed on to.
        proxy_key_from: The environment variable with its key; clients then send their token of evimem as the key.
        proxy_tokens: Tokens of memory in a chat, at most.
        user: Whose memory a chat has that names no user; without tokens only.
        profile: With system, what is known of the user stands at the end of the system prompt.
        on_error: Where the memory fails, forward a chat without it, or fail, which refuses the chat.
    """
    if tokens is None and not _is_loopback_host(host):
        raise Misused(f"without --tokens only this machine may come: --host {host} needs --tokens")
    if workers < 1 or grace < 0:
        raise Misused("--workers is at least 1, --grace at least 0")
    if proxy_to is None and (on_error == "fail" or any(one is not None for one in (proxy_key_from, user, profile))):
        raise Misused("--proxy-key-from, --user, --profile and --on-error need --proxy-to URL")
    if user is not None and tokens is not None:
        raise Misused("--user is whose memory a chat has without tokens; with --tokens FILE these say it")
    if proxy_key_from is not None and not os.environ.get(proxy_key_from):
        raise Misused(f"--proxy-key-from: the environment variable {proxy_key_from} is not set")
    from ..server.app import build_app, log_to_stderr  # noqa: PLC0415 - an extra, which says so where it is missing
    from ..server.proxy import Upstream  # noqa: PLC0415
    from ..server.service import Limits  # noqa: PLC0415
    from ..server.workers import serve as serve_app  # noqa: PLC0415
    from ..server.workers import shared_folder  # noqa: PLC0415

    upstream = None
    from ..pages.explorer import explorer_routes  # noqa: PLC0415
    from ..pages.sources import PoolOfMemories  # noqa: PLC0415
    from ..pages.visitors import admit_holder_of  # noqa: PLC0415

    if proxy_to is not None:
        key = os.environ[proxy_key_from] if proxy_key_from else None
        upstream = Upstream(proxy_to, key, proxy_tokens, user, profile == "system", on_error)
    known, listening = TokenFile(tokens) if tokens else None, _open_socket(host, port)
    bound, name, own = listening.getsockname()[1], Path(display_path(pool)).name, secrets.token_urlsafe(24)
    admit = admit_holder_of(own) if known is None else partial(_find_visitor, known)
    hosts = None if known else {f"{one}:{bound}" for one in ("127.0.0.1", "localhost", "[::1]")}
    opening: Settings = {
        "timezone": timezone,
        "date_order": date_order,
        "capacity": capacity,
        "retain": retain,
        **read_key_from_environment(pool),
    }
    signal.signal(signal.SIGTERM, signal.default_int_handler)  # which raises KeyboardInterrupt
    if not quiet:
        log_to_stderr()
    with shared_folder() as folder:

        def make() -> Any:
            made = evimem.MemoryPool(str(pool), observer=_make_span_observer(), **settings, **opening)
            source = PoolOfMemories(made, name, user or "")
            pages = explorer_routes(source, admit, cookie=f"evimem-{bound}", hosts=hosts)
            limits, root = Limits(rate=rate), None if is_server(pool) else Path(pool)
            return build_app(
                made, tokens=known, limits=limits, folder=folder, root=root, upstream=upstream, pages=pages
            )

        screen.print_note(f"evimem: listening at http://{_format_address(listening)}")
        screen.print_note(f"evimem: pages at http://{_format_address(listening)}/{'' if known else f'?token={own}'}")
        with suppress(KeyboardInterrupt):
            serve_app(make, listening, workers=workers, grace=grace)
    return Exit.OK


def _find_visitor(known: TokenFile, token: str) -> Any:
    """Return the visitor of the pages whom a token lets in, None for an unknown one."""
    from ..pages.visitors import Visitor  # noqa: PLC0415 - an extra

    holder = known.holder(token)
    if holder is None:
        return None
    return Visitor(
        None if holder.user == "*" else holder.user, may_write=holder.may("write"), may_forget=holder.may("admin")
    )


def token(screen: Screen, file: Path, *, user: str, scope: Scope = "write") -> Exit:
    """Make and print a token by which a server knows a user.

    It is for `evimem mcp --http` and `evimem serve`.

    FILE has one token a line: its SHA-256, never itself, what it may do and the user. Delete a line to take a token
    back: a server that runs notices.

    Args:
        file: The file of tokens; it is made where there is none.
        user: Whose memory the token opens; of `evimem serve`, '*' is everyone's.
        scope: What it allows: read (search and ask), write (add too), or admin (forget too).
    """
    made = new_token(file, user, scope)
    screen.print_page_or_json([make_line(made)], {"token": made, "user": user, "scope": scope})
    return Exit.OK


def explore(
    screen: Screen,
    settings: Settings,
    path: AnyPath | None = None,
    *,
    pool: AnyPath | None = None,
    user: str | None = None,
    port: int = 0,
    labels: Path | None = None,
) -> Exit:
    """Explore a memory in a browser: why it answers, and what it holds.

    Pages show answers, blocks, searches, turns, people, days and traces, and edit, correct and erase. It prints an
    address with a token, which opens it; only this machine can. Nothing is loaded from elsewhere. With a pool, or a
    server without --user, each page asks whose memory it shows. Ctrl-C ends it. Needs the extra:
    pip install 'evimem[server]'

    Args:
        path: The memory: a file; with --user, a server's address or the folder of a pool; or give --pool.
        pool: A folder of memories, one for each user, or a server's address.
        user: Whose memory of the server or pool that PATH is.
        port: The port; by default any that is free.
        labels: Where corrections are kept; by default beside the file, with .labelled.jsonl after its name.
    """
    if (path is None) == (pool is None):
        raise Misused("give the PATH of a memory, or --pool DIR, and not both")
    if user is not None and path is None:
        raise Misused("--user shows one memory of a pool or a server; give it as PATH, without --pool")
    root = pool if path is None else path if user is None and (is_server(path) or Path(path).is_dir()) else None
    if root is not None and labels is not None:
        raise Misused("--labels keeps the corrections of one memory; with a pool, questions of many users would mix")
    try:
        from ..pages.serve_explorer import LocalExplorer  # noqa: PLC0415 - an extra
        from ..pages.sources import OneMemory, PoolOfMemories, Source  # noqa: PLC0415
    except ImportError as error:
        raise MissingExtra("evimem explore", "server") from error

    def run(source: Source, corrections: Path | None) -> None:
        explorer = LocalExplorer(source, port=port, labels=corrections)
        screen.print_page_or_json([make_line(explorer.url)], {"url": explorer.url})
        screen.flush()
        explorer.run()

    if root is not None:
        if isinstance(root, Path) and not root.is_dir():
            raise InvalidQuery(f"there is no folder {str(root)!r}; give that of a pool")
        with evimem.MemoryPool(root, **read_key_from_environment(root), **settings) as memories:
            run(PoolOfMemories(memories, Path(display_path(root)).name), None)
        return Exit.OK
    place = path if path is not None else ""
    with open_existing(place, user, **settings) as memory:
        beside = None if user is not None else Path(f"{Path(place).resolve()}.labelled.jsonl")
        run(OneMemory(memory, Path(display_path(place)).name), labels or beside)
    return Exit.OK


def _check_options(
    path: AnyPath | None, pool: AnyPath | None, by_user: Mapping[str, Any], listens: Mapping[str, Any], *, http: bool
) -> None:
    """Raise Misused where the options do not fit together."""
    over_http = [name for name, value in {**listens, "tokens": by_user["tokens"]}.items() if value is not None]
    chosen = [name for name, value in by_user.items() if value is not None]
    host = listens["host"]
    wrong = {
        "give the PATH of a memory, or --pool DIR, and not both": (path is None) == (pool is None),
        f"{_join_option_names(over_http)} needs --http; add it, or leave the option out": over_http and not http,
        "a server's address needs --user ID": is_server(path) and by_user["user"] is None,
        f"{_join_option_names(chosen)} chooses among the memories of --pool DIR; give that": (
            chosen and not pool and not (is_server(path) and chosen == ["user"])
        ),
        "--pool needs either --user ID or, with --http, --tokens FILE": pool and len(chosen) != 1,
        f"without --tokens only this machine may come: --host {host} needs --pool and --tokens": (
            http and not by_user["tokens"] and not _is_loopback_host(host or "127.0.0.1")
        ),
    }
    for sentence, is_so in wrong.items():
        if is_so:
            raise Misused(sentence)


def _open_memory(
    path: AnyPath | None, pool: AnyPath | None, settings: Settings
) -> evimem.AsyncMemory | evimem.MemoryPool:
    if path is None:
        return evimem.MemoryPool(str(pool), observer=_make_span_observer(), **settings)
    return evimem.open_async(path, observer=_make_span_observer(), **settings)


def _make_span_observer() -> Any:
    """Return the observer that makes OpenTelemetry spans; None where that extra is not installed."""
    try:
        from ..adapters.otel import Spans  # noqa: PLC0415 - comes with that extra
    except MissingExtra:
        return None
    # With "true" spans may hold text of the conversation.
    return Spans(
        capture_content=os.environ.get("OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT", "").lower() == "true"
    )


def _join_option_names(options: list[str]) -> str:
    return " and ".join(f"--{name.replace('_', '-')}" for name in options)


def _open_socket(host: str, port: int | None) -> socket.socket:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    return socket.create_server((host, 8765 if port is None else port), family=family)


def _format_address(listening: socket.socket) -> str:
    host, port = listening.getsockname()[:2]
    return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"


def _is_loopback_host(host: str) -> bool:
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"
