"""Faults of a model's endpoint, each as what it writes to the connection instead of a good response."""

from __future__ import annotations

import gzip
import json
import socket
import struct
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from email.utils import formatdate
from functools import cache
from threading import Event
from time import time
from typing import Any, TypeAlias

GIBBERISH = b"\x00\xff\x13\x37" * 64


@dataclass(frozen=True, slots=True)
class Fault:
    """A fault for `ModelServer` to answer with.

    Args:
        name: A key of `FAULTS`: an HTTP status such as "503", or "hang", "drip", "reset", "html" and the like.
        seconds: Between two bytes of "drip" and "drip_body"; 0 or more.
        retry_after: The Retry-After header of a status, a number of seconds or an HTTP date.
        error: The error object in the body of a status; None is a default one.
        text: The completion that "drip", "truncated" and the like begin to send.
        location: The Location header of a status, for a redirect.
    """

    name: str
    seconds: float = 0.4
    retry_after: str | None = None
    error: Any = None
    text: str = "ok"
    location: str | None = None


@dataclass(frozen=True, slots=True)
class Wire:
    """The connection that a fault writes to. `closing` is set when the server shuts down; `good` is a good response."""

    connection: socket.socket
    closing: Event
    good: bytes = field(default=b"", repr=False)

    def send(self, data: bytes) -> None:
        """Write all of the data."""
        self.connection.sendall(data)

    def wait(self, seconds: float) -> None:
        """Wait, but not beyond the end of the server or of the client's connection."""
        self.connection.settimeout(seconds)
        try:
            while self.connection.recv(4096):
                pass
        except OSError:
            pass

    def drip(self, data: bytes, seconds: float) -> None:
        """Write a byte at a time."""
        for byte in data:
            if self.closing.wait(seconds):
                return
            self.send(bytes([byte]))


Act: TypeAlias = Callable[[Wire, Fault], None]


def response(
    status: int, body: bytes, *, kind: str = "application/json", headers: Mapping[str, str] | None = None
) -> bytes:
    """Return a whole HTTP response."""
    lines = {"Content-Type": kind, "Content-Length": str(len(body)), **(headers or {})}
    head = "".join(f"{name}: {value}\r\n" for name, value in lines.items())
    return f"HTTP/1.1 {status} Scripted\r\n{head}\r\n".encode() + body


def _status(status: int) -> Act:
    def act(wire: Wire, fault: Fault) -> None:
        error = fault.error or {"message": f"scripted {status}", "type": "scripted_error", "code": f"status_{status}"}
        named = {"Retry-After": fault.retry_after, "Location": fault.location}
        headers = {name: value for name, value in named.items() if value is not None}
        wire.send(response(status, json.dumps({"error": error}).encode(), headers=headers))

    return act


def _retry_after(value: Callable[[], str]) -> Act:
    def act(wire: Wire, fault: Fault) -> None:
        _status(429)(wire, Fault(fault.name, retry_after=value()))

    return act


def _body(body: str, *, kind: str = "application/json") -> Act:
    return lambda wire, fault: wire.send(response(200, body.encode(), kind=kind))


def _hang(wire: Wire, fault: Fault) -> None:
    wire.wait(3600)


def _hang_after_headers(wire: Wire, fault: Fault) -> None:
    wire.send(wire.good[: wire.good.index(b"\r\n\r\n") + 4])
    wire.wait(3600)


def _drip(wire: Wire, fault: Fault) -> None:
    wire.drip(wire.good, fault.seconds)


def _drip_body(wire: Wire, fault: Fault) -> None:
    start = wire.good.index(b"\r\n\r\n") + 4
    wire.send(wire.good[:start])
    wire.drip(wire.good[start:], fault.seconds)


def _headers_only(wire: Wire, fault: Fault) -> None:
    wire.send(wire.good[: wire.good.index(b"\r\n\r\n") + 4])


def _cut(wire: Wire, fault: Fault) -> None:
    wire.send(wire.good[:-10])


def _reset(wire: Wire, fault: Fault) -> None:
    wire.send(wire.good[:-10])
    wire.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))  # close() sends RST


@cache
def _compressed() -> bytes:
    return gzip.compress(b" " * 16_000_000, 1)


def _bomb(wire: Wire, fault: Fault) -> None:
    wire.send(response(200, _compressed(), headers={"Content-Encoding": "gzip"}))


def _endless(wire: Wire, fault: Fault) -> None:
    wire.send(b"HTTP/1.1 200 Scripted\r\nContent-Type: application/json\r\n\r\n")
    while not wire.closing.is_set():
        wire.send(b" " * 65_536)


def _junk(wire: Wire, fault: Fault) -> None:
    wire.send(GIBBERISH)


def _in(seconds: float) -> Callable[[], str]:
    return lambda: formatdate(time() + seconds, usegmt=True)


FAULTS: Mapping[str, Act] = {
    "hang": _hang,
    "hang_after_headers": _hang_after_headers,
    "headers_only": _headers_only,
    "drip": _drip,
    "drip_body": _drip_body,
    "reset": _reset,
    "truncated": _cut,
    "html": _body("<!DOCTYPE html><html><body>Please sign in</body></html>", kind="text/html"),
    "error_in_200": _body('{"error": {"message": "upstream failed", "code": 502}}'),
    "no_choices": _body('{"id": "x", "object": "chat.completion", "choices": [], "data": []}'),
    "null_choices": _body('{"id": "x", "object": "chat.completion", "choices": null, "data": null}'),
    "cut_json": _body('{"id": "x", "choices": [{"message": {"content": "{'),
    "wrong_type": _body("busy, come back later", kind="text/plain"),
    "empty_body": _body(""),
    "junk": _junk,
    "gzip_bomb": _bomb,
    "endless": _endless,
    "429_now": _retry_after(lambda: "0"),
    "429_soon": _retry_after(lambda: "1"),
    "429_later": _retry_after(lambda: "3600"),
    "429_garbage": _retry_after(lambda: "soon, I hope"),
    "429_date": _retry_after(_in(2.0)),
    "429_far_date": _retry_after(_in(3600.0)),
    **{
        str(status): _status(status)
        for status in (302, 307, 308, 400, 401, 403, 404, 408, 422, 429, 500, 502, 503, 529)
    },
}
