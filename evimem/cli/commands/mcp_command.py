"""Serve a memory to programs that speak MCP, such as desktop assistants and editors.

Without --http for one program, over stdin and stdout; it starts this command itself:

  {"mcpServers": {"memory": {"command": "evimem", "args": ["mcp", "/home/mira/notes.evimem"]}}}

With --http for many, each with the memory of its own user, named by the token in its Authorization header:

  evimem token tokens.txt --user mira
  evimem mcp --pool users --http --tokens tokens.txt --public-url https://memory.example/mcp

Tools: search, ask, explain, stats; add without --read-only; forget with --allow-forget. Resources: evimem://stats,
evimem://turn/ID, evimem://session/NAME. Prompt: answer_from_memory. It makes OpenTelemetry spans, exported where the
program that runs it says so, such as opentelemetry-instrument. Needs the extra: pip install 'evimem[mcp]'
"""

from __future__ import annotations

import argparse
import os
import signal
import socket
from functools import partial
from ipaddress import ip_address
from pathlib import Path
from types import FrameType
from typing import Any, NoReturn

import evimem

from ...adapters.user_tokens import TokenFile
from ...errors import InvalidQuery
from ..exit_codes import Exit
from ..open_memory import add_model, add_timezone, model
from ..screen import Screen

_CAPTURE = "OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT"  # "true": spans may hold what was said


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of `mcp`."""
    parser.add_argument("path", metavar="PATH", type=Path, nargs="?", help="the file of the memory; or --pool")
    parser.add_argument("--pool", metavar="DIR", type=Path, help="a folder of memories, one for each user")
    parser.add_argument("--user", metavar="ID", help="with --pool, whose memory it is; over HTTP, tokens say so")
    parser.add_argument("--read-only", action="store_true", help="offer neither add nor forget")
    parser.add_argument("--allow-forget", action="store_true", help="offer forget, which erases for good")
    parser.add_argument("--prefix", metavar="TEXT", default="", help="begin the names of tools with this (memory_)")
    http = parser.add_argument_group("HTTP")
    http.add_argument("--http", action="store_true", help="serve over HTTP, at /mcp, instead of stdin and stdout")
    http.add_argument("--host", metavar="HOST", help="the address to listen on (default: 127.0.0.1)")
    http.add_argument("--port", metavar="PORT", type=int, help="the port (default: 8765; 0 for any that is free)")
    http.add_argument("--tokens", metavar="FILE", type=Path, help="who may come; made by `evimem token`; needs --pool")
    http.add_argument("--public-url", metavar="URL", help="where clients reach the server, if not at host and port")
    add_timezone(parser)
    parser.add_argument(
        "--on-model-error",
        choices=("raise", "offline"),
        help="where the model of --llm fails: report it (raise, the default), or answer without it (offline)",
    )
    add_model(parser)


def misused(options: argparse.Namespace) -> str | None:
    """Return what is wrong with the options; None if nothing is."""
    over_http = [name for name in ("host", "port", "tokens", "public_url") if getattr(options, name) is not None]
    by_user = [name for name in ("user", "tokens") if getattr(options, name) is not None]
    wrong = {
        "give the PATH of a memory, or --pool DIR, and not both": (options.path is None) == (options.pool is None),
        f"{_names(over_http)} needs --http; add it, or leave the option out": over_http and not options.http,
        f"{_names(by_user)} chooses among the memories of --pool DIR; give that": by_user and not options.pool,
        "--pool needs either --user ID or, with --http, --tokens FILE": options.pool and len(by_user) != 1,
        f"without --tokens only this machine may come: --host {options.host} needs --pool and --tokens": (
            options.http and not options.tokens and not _loopback(options.host or "127.0.0.1")
        ),
    }
    return next((sentence for sentence, is_so in wrong.items() if is_so), None)


def run(options: argparse.Namespace, screen: Screen) -> Exit:
    """Serve until the client ends or a signal comes."""
    from ...adapters.mcp_server import serve  # noqa: PLC0415 - an extra

    folder: Path = options.pool or options.path.absolute().parent
    if not (folder.is_dir() or options.pool):
        raise InvalidQuery(f"there is no folder {str(folder)!r}; make it, and the memory is made in it")
    listening = _listen(options) if options.http else None
    url = f"http://{_address(listening)}/mcp" if listening else None
    tokens = TokenFile(options.tokens) if options.tokens else None
    signal.signal(signal.SIGTERM, _interrupt)
    offered = {name: getattr(options, name) for name in ("read_only", "allow_forget", "prefix")}
    make = partial(_opened, options, model(options))
    if url:
        screen.note(f"evimem: listening at {url}")
    serve(
        make, options.user if options.pool else "", listening, tokens=tokens, url=options.public_url or url, **offered
    )
    return Exit.OK


def _opened(options: argparse.Namespace, llm: Any) -> evimem.AsyncMemory | evimem.MemoryPool:
    from ...adapters.otel import Spans  # noqa: PLC0415 - comes with that extra

    settings: dict[str, Any] = {"llm": llm, "on_model_error": options.on_model_error or "raise"}
    settings["observer"] = Spans(capture_content=os.environ.get(_CAPTURE, "").lower() == "true")
    settings |= {"timezone": options.timezone, "date_order": options.date_order}
    if options.pool:
        return evimem.MemoryPool(options.pool, **settings)
    return evimem.open_async(options.path, **settings)


def _names(options: list[str]) -> str:
    return " and ".join(f"--{name.replace('_', '-')}" for name in options)


def _listen(options: argparse.Namespace) -> socket.socket:
    host = options.host or "127.0.0.1"
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    return socket.create_server((host, 8765 if options.port is None else options.port), family=family)


def _address(listening: socket.socket) -> str:
    host, port = listening.getsockname()[:2]
    return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"


def _loopback(host: str) -> bool:
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def _interrupt(number: int, frame: FrameType | None) -> NoReturn:
    raise KeyboardInterrupt
