"""What goes over the wire to a chat model and what comes back: pure functions, no I/O."""

from __future__ import annotations

import ipaddress
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

from ..errors import ModelUnavailable, ReplyError
from ..types.model import Complete, Reply
from .refusals import Refusal, parsed, redact, refused, status_of


def messages(request: Complete) -> list[dict[str, str]]:
    """Return a request's messages: instructions in the system role, data only in the user role."""
    return [{"role": "system", "content": request.system}, {"role": "user", "content": request.prompt}]


def response_format(request: Complete) -> dict[str, Any]:
    """Return the structured-output option that OpenAI, vLLM, LM Studio, Ollama and llama.cpp all understand."""
    schema = {"name": request.role, "strict": True, "schema": request.schema}
    return {"type": "json_schema", "json_schema": schema}


def host(base_url: str | None) -> str:
    """Return the host of a URL and nothing that may be secret: no user, no path, no query."""
    try:
        parts = urlsplit(base_url or "https://api.openai.com")
        name, port = parts.hostname or "", parts.port
    except ValueError:
        return "?"
    return f"{name}:{port}" if port else name


def is_loopback(base_url: str | None) -> bool:
    """Whether a URL stays on this machine."""
    name = host(base_url).rpartition(":")[0] or host(base_url)
    if name == "localhost":
        return True
    try:
        return ipaddress.ip_address(name.strip("[]")).is_loopback
    except ValueError:
        return False


def read_reply(body: bytes, request: Complete) -> Reply:
    """Return the reply of a chat.completions body. Raise ModelError for anything that is not one."""
    payload = parsed(body)
    if not isinstance(payload, dict):
        raise ModelUnavailable(
            f"the server answered 200 with {_kind(body)} instead of a completion; check base_url", retryable=True
        )
    if payload.get("error"):
        raise refused(Refusal(status_of(payload["error"]), {}, body))
    choice = _first(payload.get("choices"))
    if choice is None:
        raise ModelUnavailable("the completion has no choices", retryable=True, detail=redact(body))
    message = choice.get("message")
    message = message if isinstance(message, dict) else {}
    reply = Reply(_content(message.get("content")), _name(payload), *tokens(payload.get("usage")))
    return checked(reply, request, finish=choice.get("finish_reason"), refusal=message.get("refusal"))


def checked(reply: Reply, request: Complete, *, finish: Any, refusal: Any) -> Reply:
    """Return a reply that is whole. Raise ReplyError for a refusal, a filtered, cut or empty one."""
    why = None
    if refusal:
        why = "the model refused"
    elif finish == "content_filter":
        why = "the provider's content filter cut it"
    elif finish == "length":
        why = "it was cut at the model's length limit"
    elif not reply.text.strip():
        why = "it is empty"
    if why:
        raise ReplyError(request.role, why, reply.text or _content(refusal), reply)
    return reply


@dataclass(slots=True)
class Streamed:
    """A completion that arrives as server-sent events, put together as they come."""

    text: str = ""
    model: str = ""
    refusal: str = ""
    finish: Any = None
    usage: Any = None
    ended: bool = False

    def take(self, line: str) -> str:
        """Take one line; return the text that it brought."""
        if not line.startswith("data:"):
            return ""  # comments, event names and blank lines carry no text
        data = line[5:].strip()
        if data == "[DONE]":
            self.ended = True
            return ""
        chunk = parsed(data.encode())
        if not isinstance(chunk, dict):
            raise ModelUnavailable("the stream holds something that is no completion chunk", retryable=True)
        if chunk.get("error"):
            raise refused(Refusal(status_of(chunk["error"]), {}, data.encode()))
        return self._chunk(chunk)

    def _chunk(self, chunk: dict[str, Any]) -> str:
        self.model = self.model or _name(chunk)
        self.usage = chunk.get("usage") or self.usage
        choice = _first(chunk.get("choices")) or {}
        delta = choice.get("delta")
        delta = delta if isinstance(delta, dict) else {}
        self.finish = choice.get("finish_reason") or self.finish
        self.refusal += _content(delta.get("refusal"))
        piece = _content(delta.get("content"))
        self.text += piece
        return piece

    def reply(self, request: Complete) -> Reply:
        """Return the whole reply. Raise ModelError when the stream stopped before its end."""
        if not self.ended and self.finish is None:
            raise ModelUnavailable("the stream stopped before its end", retryable=True)
        return checked(
            Reply(self.text, self.model, *tokens(self.usage)), request, finish=self.finish, refusal=self.refusal
        )


def cost(reply: Reply, prices: Mapping[str, tuple[float, float]], model: str) -> float | None:
    """Return what a reply cost; prices are per million input and output tokens. None when the model has no price."""
    price = prices.get(model)
    if price is None:
        return None
    return (reply.input_tokens * price[0] + reply.output_tokens * price[1]) / 1e6


def tokens(usage: Any) -> tuple[int, int]:
    """Return the input and output tokens that a server reports, 0 for what it does not."""
    usage = usage if isinstance(usage, dict) else {}
    return _count(usage.get("prompt_tokens")), _count(usage.get("completion_tokens"))


def _kind(body: bytes) -> str:
    start = body[:200].lstrip().lower()
    if not start:
        return "an empty body"
    return "an HTML page" if start.startswith((b"<!doctype", b"<html")) else "a body that is no JSON object"


def _first(choices: Any) -> dict[str, Any] | None:
    return choices[0] if isinstance(choices, list) and choices and isinstance(choices[0], dict) else None


def _content(value: Any) -> str:
    """Return a message's text, which some servers send as a list of parts."""
    if isinstance(value, list):
        return "".join(_content(part.get("text")) for part in value if isinstance(part, dict))
    return value if isinstance(value, str) else ""


def _name(payload: Mapping[str, Any]) -> str:
    name = payload.get("model")
    return name[:100] if isinstance(name, str) else ""


def _count(value: Any) -> int:
    return value if isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 10**9 else 0
