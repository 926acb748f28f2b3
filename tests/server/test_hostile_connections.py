"""Connections that no well-behaved client makes: they cost little, are refused, and hold up no other."""

from __future__ import annotations

import re
import socket
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from urllib.parse import urlsplit

import httpx2
import pytest

from tests.server.served import Served, serving
from tests.server.test_rest import TURN, add

SMUGGLED = b"GET /v1/users/smuggled/stats HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n"
START = b"POST /v1/users/victim/search HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n"


@contextmanager
def connected(served: Served) -> Iterator[socket.socket]:
    """Open a bare connection to a server."""
    place = urlsplit(served.url)
    with socket.create_connection((place.hostname, place.port), timeout=20) as connection:
        yield connection


def replies(served: Served, *parts: bytes) -> list[int]:
    """Return the statuses of the responses to bytes, until the server ends the connection or is silent."""
    read = b""
    with connected(served) as connection:
        connection.settimeout(5)
        try:
            for part in parts:
                connection.sendall(part)
            connection.shutdown(socket.SHUT_WR)
            while piece := connection.recv(65_536):
                read += piece
        except OSError:  # it has ended the connection
            pass
    return [int(line.split()[1]) for line in read.split(b"\r\n") if line.startswith(b"HTTP/1.1 ")]


def rss(served: Served) -> int:
    """Return the resident memory of a server's process, in bytes."""
    status = Path(f"/proc/{served.process.pid}/status").read_text(encoding="ascii")
    return int(status.partition("VmRSS:")[2].split()[0]) << 10


@pytest.mark.parametrize(
    "head",
    [
        b"Content-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
        b"Transfer-Encoding: chunked\r\nContent-Length: 4\r\n\r\n0\r\n\r\n",
        b"Content-Length: 2\r\nContent-Length: 40\r\n\r\n{}",
        b"Content-Length: 2, 40\r\n\r\n{}",
        b"Content-Length: +2\r\n\r\n{}",
        b"Content-Length: 0x2\r\n\r\n{}",
        b"Content-Length : 2\r\n\r\n{}",
        b"Content-Length: 2\r\n folded\r\n\r\n{}",
        b"Transfer-Encoding: chunked, identity\r\n\r\n0\r\n\r\n",
        b"Transfer-Encoding: xchunked\r\n\r\n0\r\n\r\n",
        b"X: a\r\n\tTransfer-Encoding: chunked\r\nContent-Length: 2\r\n\r\n{}",
        b"Transfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n-1\r\n\r\n",
    ],
    ids=[
        "length and chunks", "chunks and length", "two lengths", "a list of lengths", "a signed length", "a hex length",
        "a space before the colon", "a folded length", "chunks not last", "an unknown coding", "a folded coding",
        "a negative chunk",
    ],
)  # fmt: skip
def test_a_request_whose_end_is_not_certain_smuggles_no_other(served: Served, head: bytes) -> None:
    statuses = replies(served, START + head + SMUGGLED)
    assert 200 not in statuses
    assert len(statuses) <= 1


@pytest.mark.parametrize(
    "sent",
    [
        b"GET /healthz HTTP/1.1\r\nHost: 127.0.0.1\r\nX-Long: " + b"x" * (1 << 20) + b"\r\n\r\n",
        b"GET /healthz HTTP/1.1\r\nHost: 127.0.0.1\r\n" + b"X: y\r\n" * 200_000 + b"\r\n",
        b"GET /" + b"x" * (1 << 20) + b" HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n",
        b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" + b"\x00" * 500,
        b"GET /healthz\r\n\r\n",
        b"GET /healthz HTTP/1.1\r\nHost: 127.0.0.1\r\nX: \x00\r\n\r\n",
    ],
    ids=["a long header", "many headers", "a long path", "TLS", "HTTP 0.9", "a null byte"],
)
def test_a_head_that_is_too_long_or_no_http_is_refused(served: Served, sent: bytes) -> None:
    assert [status for status in replies(served, sent) if status < 400] == []
    with served.client() as client:
        assert client.get("/healthz").status_code == 200


def test_a_body_that_is_longer_than_allowed_is_refused_before_it_has_come_whole(served: Served) -> None:
    piece = b"10000\r\n" + b" " * 65_536 + b"\r\n"
    head = START + b"Transfer-Encoding: chunked\r\n\r\n"
    before = rss(served)
    assert replies(served, head, *[piece] * 200)[:1] == [413]  # 13 of 8 MiB: the rest is never read into memory
    assert rss(served) - before < 64 << 20


def test_half_open_connections_and_requests_that_never_end_hold_up_no_other(served: Served) -> None:
    with served.client() as client:
        add(client, "open", {})
        place = urlsplit(served.url)
        held = [socket.create_connection((place.hostname, place.port), timeout=20) for _ in range(300)]
        try:
            for number, connection in enumerate(held):
                connection.sendall((b"", b"GET /hea", START + b"Content-Length: 9999\r\n\r\n{")[number % 3])
            answer = client.get("/v1/users/open/turns")
            assert [turn["text"] for turn in answer.json()["turns"]] == [TURN["text"]]
        finally:
            for connection in held:
                connection.close()
        assert client.get("/healthz").status_code == 200


def held_open(served: Served, request: bytes, count: int, open_ones: ExitStack) -> list[socket.socket]:
    """Make a request on so many connections whose replies hardly fit the reader's buffer."""
    place, held = urlsplit(served.url), []
    for _ in range(count):
        connection = open_ones.enter_context(socket.socket())
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4_096)
        connection.connect((place.hostname, place.port))
        connection.sendall(request)
        held.append(connection)
    return held


def test_readers_that_stop_reading_hold_up_no_other_and_their_end_frees_their_places(tmp_path: Path) -> None:
    with serving("--pool", tmp_path / "users") as served, served.client() as client, ExitStack() as open_ones:
        for part in range(4):
            turns = [{"id": f"t{part}-{n}", "metadata": {"long": "x" * 500_000}} for n in range(10)]
            add(client, "slow", *turns)
        export = b"GET /v1/users/slow/export HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n"  # of 20 MB
        held = held_open(served, export, 12, open_ones)
        for connection in held:
            assert connection.recv(12) == b"HTTP/1.1 200"
        assert _under_way(client) == 1 + len(held)  # with the request that counts them
        assert client.get("/v1/users/slow/stats").json()["turns"] == 40
        open_ones.close()
        deadline = time.monotonic() + 30
        while (under_way := _under_way(client)) > 1 and time.monotonic() < deadline:
            time.sleep(0.05)
        assert under_way == 1


def test_readers_of_events_that_stop_or_are_slow_hold_up_no_other_and_lose_none(tmp_path: Path) -> None:
    with (
        serving("--pool", tmp_path / "users", "--capacity", 2) as served,
        served.client() as client,
        ExitStack() as open_ones,
    ):
        long = [{"id": f"t{number}-{'x' * 500}", "text": f"Boat {number} is red."} for number in range(40)]
        add(client, "slow", *long)
        add(client, "other", {"text": "My boat is blue."})
        body = b'{"question": "Which boats are red?", "stream": true}'
        head = b"POST /v1/users/slow/ask HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n"
        request = head + b"Content-Length: %d\r\nConnection: close\r\n\r\n" % len(body) + body
        held = held_open(served, request, 6, open_ones)
        asked = client.post("/v1/users/other/ask", json={"question": "Which boat is blue?"})
        assert asked.status_code == 200  # though six readers have not read a byte
        got = b""
        while piece := held[0].recv(512):
            got += piece
        names = re.findall(rb"^event: (\w+)$", got, re.MULTILINE)
        assert names[0] == b"trace"
        assert names[-1] == b"answer"
        assert len(got) > 20_000  # many times the buffer of the reader


def test_a_request_that_does_not_end_with_the_server_is_told_so_as_a_problem(tmp_path: Path) -> None:
    with serving("--pool", tmp_path / "users", "--grace", 0) as served:
        with connected(served) as connection, served.client() as client:
            connection.sendall(START + b"Content-Length: 9999\r\n\r\n{")
            deadline = time.monotonic() + 30
            while _under_way(client) < 2 and time.monotonic() < deadline:
                time.sleep(0.02)
            assert served.end() == 0
            told = b""
            while piece := connection.recv(65_536):
                told += piece
        assert told.startswith(b"HTTP/1.1 503 ")
        assert b'"title":"Ending"' in told


def _under_way(client: httpx2.Client) -> int:
    (line,) = [one for one in client.get("/metrics").text.splitlines() if one.startswith("evimem_requests_under_way ")]
    return int(float(line.split()[1]))
