"""A local HTTP server for chat.completions, embeddings and batches, with scripted answers and faults."""

from __future__ import annotations

import contextlib
import gzip
import json
import socket
import struct
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from email.utils import formatdate
from functools import cache
from threading import Event
from time import monotonic, time
from typing import Any, TypeAlias

from tests.doubles import WordEmbedder

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


Answer: TypeAlias = "str | Fault | Mapping[str, Any] | Callable[[Mapping[str, Any]], str]"


@dataclass(frozen=True, slots=True)
class Received:
    """One request: its path, headers (lower-case names), JSON body, and time of arrival in monotonic seconds."""

    path: str
    headers: Mapping[str, str]
    body: Mapping[str, Any]
    at: float = field(default_factory=monotonic)

    @property
    def prompt(self) -> str:
        """The last message of a chat request; empty for another request."""
        messages = self.body.get("messages") or [{}]
        return str(messages[-1].get("content", ""))


class ModelServer:
    """Serves scripted answers in order, on a free port of this machine, inside a `with` block.

    `url` is a `base_url` for clients; `received` holds the requests so far; `busy` and `peak` are the numbers of
    requests in progress now and at most. A batch is answered from the same script, line by line; set `batch_status`
    to "in_progress" to keep it unfinished. Embeddings are those of a `WordEmbedder`; a request
    to rerank is answered by the number of shared words, or with a scripted text as its body.

    Args:
        answers: One per request, in order: a text to complete with, a `Fault`, a mapping to merge into the
            completion's first choice (a refusal, a finish_reason), or a function from the request's body to a text.
        then: The answer to every request after the last of `answers`.
        delay: Seconds before each answer, 0 or more.
        dimension: Width of the embeddings, at least 1.
        shortens: Whether embeddings have the width that a request asks for.
        greeting: Bytes sent before any request, as no HTTP server does.
    """

    def __init__(
        self,
        *answers: Answer,
        then: Answer = "ok",
        delay: float = 0.0,
        dimension: int = 64,
        shortens: bool = False,
        greeting: bytes = b"",
    ) -> None:
        self._answers = list(answers)
        self._then = then
        self._delay = delay
        self._embedder = WordEmbedder(dimension)
        self._shortens = shortens
        self._greeting = greeting
        self._lock = threading.Lock()
        self._closing = threading.Event()
        self._open: set[socket.socket] = set()
        self.busy: int = 0
        self.peak: int = 0
        self.batch_status = "completed"
        self.received: list[Received] = []
        self._files: dict[str, bytes] = {}

    def __enter__(self) -> ModelServer:
        self._listener = socket.create_server(("127.0.0.1", 0), backlog=64)
        self._thread = threading.Thread(target=self._accept, name="model-server", daemon=True)
        self._thread.start()
        return self

    def __exit__(self, *exc: object) -> None:
        self._closing.set()
        self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()
        with self._lock:
            connections = list(self._open)
        for connection in connections:
            _hang_up(connection)
        self._thread.join(5)

    @property
    def port(self) -> int:
        """The port that the server listens on."""
        return int(self._listener.getsockname()[1])

    @property
    def url(self) -> str:
        """The base_url for a client."""
        return f"http://127.0.0.1:{self.port}/v1"

    def _accept(self) -> None:
        while not self._closing.is_set():
            try:
                connection, _ = self._listener.accept()
            except OSError:
                return
            with self._lock:
                self._open.add(connection)
            threading.Thread(target=self._serve, args=(connection,), name="model-server", daemon=True).start()

    def _serve(self, connection: socket.socket) -> None:
        try:
            connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            with connection, connection.makefile("rb") as stream:
                connection.sendall(self._greeting)
                while (received := _request(stream)) is not None and self._respond(connection, received):
                    pass
        except (OSError, ValueError):  # the client hung up, or does not speak HTTP
            pass
        finally:
            with self._lock:
                self._open.discard(connection)

    def _respond(self, connection: socket.socket, received: Received) -> bool:
        """Answer one request; return whether the connection can be reused."""
        stored = any(name in received.path for name in ("/files", "/batches"))
        with self._lock:
            self.received.append(received)
            answer = self._then if stored or not self._answers else self._answers.pop(0)
            self.busy += 1
            self.peak = max(self.peak, self.busy)
        try:
            if self._delay:
                self._closing.wait(self._delay)
            if isinstance(answer, Fault):
                good = self._good(received, answer.text)
                FAULTS[answer.name](Wire(connection, self._closing, good), answer)
                return answer.name[:3].isdigit()
            connection.sendall(self._stored(received) if stored else self._good(received, answer))
            return True
        finally:
            with self._lock:
                self.busy -= 1

    def _stored(self, received: Received) -> bytes:
        """Return the response about a file or a batch: a new batch is answered at once, each line as a chat request."""
        if received.path.endswith("/content"):
            return response(200, self._files[received.path.split("/")[-2]], kind="application/octet-stream")
        if received.path.endswith("/files"):
            name = f"file-{len(self._files)}"
            self._files[name] = received.body["file"].encode()
            return response(200, json.dumps({"id": name, "object": "file"}).encode())
        if received.path.endswith("/batches"):
            lines = [json.loads(line) for line in self._files[received.body["input_file_id"]].splitlines()]
            self._files["file-out"] = b"".join(self._batched(line) for line in lines)
        batch = {"id": "batch-1", "object": "batch", "status": self.batch_status, "output_file_id": "file-out"}
        return response(200, json.dumps(batch).encode())

    def _batched(self, line: Mapping[str, Any]) -> bytes:
        answer = self._answers.pop(0) if self._answers else self._then
        if isinstance(answer, Fault):
            result: Mapping[str, Any] = {"status_code": int(answer.name), "body": {"error": {"code": "scripted"}}}
        else:
            good = self._good(Received("/chat/completions", {}, line["body"]), answer)
            result = {"status_code": 200, "body": json.loads(good.partition(b"\r\n\r\n")[2])}
        return json.dumps({"custom_id": line["custom_id"], "response": result, "error": None}).encode() + b"\n"

    def _good(self, received: Received, answer: Answer) -> bytes:
        if received.path.endswith("/embeddings"):
            return response(200, json.dumps(self._embeddings(received.body)).encode())
        if received.path.endswith("/rerank"):
            ranked = json.dumps(_ranked(received.body)) if answer in {"", "ok"} else str(answer)
            return response(200, ranked.encode())
        choice = dict(answer) if isinstance(answer, Mapping) else {}
        text = answer(received.body) if callable(answer) else answer if isinstance(answer, str) else ""
        asked = " ".join(str(message.get("content", "")) for message in received.body.get("messages") or [])
        usage = {"prompt_tokens": len(asked.split()), "completion_tokens": len(text.split())}
        if received.body.get("stream"):
            return response(200, _events(received.body, text, choice, usage), kind="text/event-stream")
        message = {"role": "assistant", "content": text}
        whole = {"index": 0, "message": message, "finish_reason": "stop", **choice}
        completion = {"id": "c", "object": "chat.completion", "model": received.body.get("model"), "choices": [whole]}
        return response(200, json.dumps({**completion, "usage": usage}).encode())

    def _embeddings(self, body: Mapping[str, Any]) -> Mapping[str, Any]:
        width = body.get("dimensions", self._embedder.dimension) if self._shortens else self._embedder.dimension
        vectors = self._embedder.embed(body["input"])[:, :width]
        data = [
            {"object": "embedding", "index": row, "embedding": vector.tolist()} for row, vector in enumerate(vectors)
        ]
        return {"object": "list", "model": body.get("model"), "data": data[::-1]}


def _ranked(body: Mapping[str, Any]) -> Any:
    """Return how many words of the query each text has, the best first, in the form in which the texts were sent."""
    texts = body.get("documents") or body["texts"]
    scores = [len(set(body["query"].lower().split()) & set(text.lower().split())) for text in texts]
    order = sorted(range(len(texts)), key=lambda place: -scores[place])
    if "texts" in body:
        return [{"index": place, "score": float(scores[place])} for place in order]
    return {"results": [{"index": place, "relevance_score": float(scores[place])} for place in order]}


def _events(body: Mapping[str, Any], text: str, choice: Mapping[str, Any], usage: Mapping[str, int]) -> bytes:
    """Return a completion as server-sent events, a word each, with the comments that some servers send."""
    words = [word if at == 0 else f" {word}" for at, word in enumerate(text.split(" "))]
    deltas = [{"index": 0, "delta": {"content": word}, "finish_reason": None} for word in words]
    end = {"index": 0, "delta": choice.get("message", {}), "finish_reason": choice.get("finish_reason", "stop")}
    frame = {"id": "c", "object": "chat.completion.chunk", "model": body.get("model")}
    chunks: list[Mapping[str, Any]] = [{**frame, "choices": [delta]} for delta in (*deltas, end)]
    if (body.get("stream_options") or {}).get("include_usage"):
        chunks.append({**frame, "choices": [], "usage": usage})
    lines = [": keep-alive", *(f"data: {json.dumps(chunk)}" for chunk in chunks), "data: [DONE]"]
    return "".join(f"{line}\n\n" for line in lines).encode()


def _request(stream: Any) -> Received | None:
    """Read one request; None when the client has hung up."""
    head = stream.readline().split()
    if len(head) < 2:
        return None
    headers = {}
    while (line := stream.readline().strip()) != b"":
        name, _, value = line.partition(b":")
        headers[name.decode("latin-1").lower()] = value.strip().decode("latin-1")
    body = _request_body(stream, headers)
    path = head[1].decode("latin-1")
    if "multipart" in headers.get("content-type", ""):
        part = body[body.index(b"filename=") :].partition(b"\r\n\r\n")[2]
        return Received(path, headers, {"file": part[: part.index(b"\r\n--")].decode()})
    return Received(path, headers, json.loads(body or b"{}"))


def _request_body(stream: Any, headers: Mapping[str, str]) -> bytes:
    if headers.get("transfer-encoding") != "chunked":
        return bytes(stream.read(int(headers.get("content-length", 0))))
    body = b""
    while size := int(stream.readline(), 16):
        body += stream.read(size)
        stream.readline()
    return body


def _hang_up(connection: socket.socket) -> None:
    with contextlib.suppress(OSError):  # it is gone already
        connection.shutdown(socket.SHUT_RDWR)
