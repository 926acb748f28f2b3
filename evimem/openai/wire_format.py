"""Request and response bodies of the chat.completions API: pure functions, no I/O."""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import exp
from typing import Any
from urllib.parse import urlsplit

import orjson

from ..errors import ModelUnavailable, ReplyError
from ..types.model import Complete, Message, Reply, ToolSpec, ToolUse, without_tools
from .http_errors import ErrorResponse, error_from, parse_json, redact, status_in

ANY_JSON = {"type": "json_object"}
_SAID = {None, "text", "output_text"}  # types of parts that are the reply; others think, summarize, refer
MOST_NAME = 100  # characters of a model's or a tool's name, or of an id


def messages(request: Complete, *, tools: bool = False) -> list[dict[str, Any]]:
    """Return a request's messages: instructions in the system role, data in those of user and tool.

    Without `tools`, which not every server knows, calls and results are text.
    """
    return [_message(one) for one in (request.messages if tools else without_tools(request.messages))]


def _message(message: Message) -> dict[str, Any]:
    said: dict[str, Any] = {"role": message.role, "content": message.text}
    if message.uses:
        said["tool_calls"] = [
            {"id": use.id, "type": "function", "function": {"name": use.name, "arguments": use.arguments}}
            for use in message.uses
        ]
    return {**said, "tool_call_id": message.of} if message.role == "tool" else said


def functions(tools: Sequence[ToolSpec]) -> list[dict[str, Any]]:
    """Return tools in the form of the option of that name."""
    return [
        {"type": "function", "function": {"name": one.name, "description": one.says, "parameters": one.arguments}}
        for one in tools
    ]


def response_formats(request: Complete) -> tuple[dict[str, Any], ...]:
    """Return the structured-output option in forms that servers know, the strictest first.

    A schema with bounds on lists and texts (vLLM, llama.cpp), one without (OpenAI takes no maxLength), and any JSON.
    """
    bounded, unbounded = request.schema, _unbounded(request.schema)
    schemas = [bounded] if bounded == unbounded else [bounded, unbounded]
    return (*(_schema_format(request, schema) for schema in schemas), ANY_JSON)


def _schema_format(request: Complete, schema: Any) -> dict[str, Any]:
    return {
        "type": "json_schema",
        "json_schema": {"name": re.sub(r"\W", "_", request.role, flags=re.ASCII), "strict": True, "schema": schema},
    }


def _unbounded(schema: Any) -> Any:
    if isinstance(schema, Mapping):
        return {name: _unbounded(value) for name, value in schema.items() if name not in {"maxItems", "maxLength"}}
    return schema


def host(base_url: str | None) -> str:
    """Return host and port of a URL, without user, path and query, which may hold secrets."""
    try:
        parts = urlsplit(base_url or "https://api.openai.com")
        name, port = parts.hostname or "", parts.port
    except ValueError:
        return "?"
    return f"{name}:{port}" if port else name


def is_loopback(base_url: str | None) -> bool:
    """Return whether a URL points to this machine."""
    name = host(base_url).rpartition(":")[0] or host(base_url)
    if name == "localhost":
        return True
    try:
        return ipaddress.ip_address(name.strip("[]")).is_loopback
    except ValueError:
        return False


def read_reply(body: bytes, request: Complete) -> Reply:
    """Return the reply of a chat.completions body. Raise ModelError for anything that is not one."""
    payload = parse_json(body)
    if not isinstance(payload, dict):
        raise ModelUnavailable(
            f"the server answered 200 with {_kind(body)} instead of a completion; check base_url", retryable=True
        )
    if payload.get("error"):
        raise error_from(ErrorResponse(status_in(payload["error"]), {}, body))
    choice = _first(payload.get("choices"))
    if choice is None:
        raise ModelUnavailable("the completion has no choices", retryable=True, detail=redact(body))
    message = choice.get("message")
    message = message if isinstance(message, dict) else {}
    called = _Called()
    called.add(message.get("tool_calls"))
    reply = called.reply(_content(message.get("content")), _name(payload), payload.get("usage"), request)
    reply = replace(reply, likely=_likely(choice.get("logprobs")))
    return complete_reply(reply, request, finish=choice.get("finish_reason"), refusal=message.get("refusal"))


def _likely(found: Any) -> dict[str, float]:
    """Return the probabilities of the likeliest first tokens; none where the server gives none, or another form."""
    first = _first(found.get("content")) if isinstance(found, dict) else None
    listed = first.get("top_logprobs") if first else None
    named = [one for one in (listed if isinstance(listed, list) else []) if isinstance(one, dict)]
    return {one["token"]: exp(one["logprob"]) for one in named if _is_likely(one.get("token"), one.get("logprob"))}


def _is_likely(token: Any, logprob: Any) -> bool:
    return isinstance(token, str) and isinstance(logprob, (int, float)) and logprob <= 0


def complete_reply(reply: Reply, request: Complete, *, finish: Any, refusal: Any) -> Reply:
    """Return a reply that is complete. Raise ReplyError for a refused, filtered, truncated or empty one.

    `finish` is the choice's finish_reason, `refusal` the message's refusal text, where the server sends them.
    """
    why = None
    if refusal:
        why = "the model refused"
    elif finish == "content_filter":
        why = "the provider's content filter cut it"
    elif finish == "length":
        why = "it was cut at the model's length limit"
    elif not reply.text.strip() and not reply.uses:
        why = "it is empty"
    if why:
        cut = finish == "length" and not refusal
        raise ReplyError(request.role, why, reply.text or _content(refusal), reply, cut=cut)
    return reply


@dataclass(slots=True)
class _Called:
    """The tools that a message calls, whole or in pieces as they arrive, by their places."""

    uses: dict[int, ToolUse] = field(default_factory=dict)

    def add(self, calls: Any) -> None:
        """Add the calls of a message or of a piece of one; what is none is passed over."""
        for place, call in enumerate(calls if isinstance(calls, list) else []):
            function = call.get("function") if isinstance(call, dict) else None
            if isinstance(function, dict):
                at = call.get("index")
                self._add(at if isinstance(at, int) else place, call, function)

    def _add(self, at: int, call: Mapping[str, Any], function: Mapping[str, Any]) -> None:
        known = self.uses.get(at, ToolUse("", "", ""))
        given = function.get("arguments")
        arguments = orjson.dumps(given).decode() if isinstance(given, dict) else _content(given)
        name, of = _content(function.get("name"))[:MOST_NAME], _content(call.get("id"))[:MOST_NAME]
        self.uses[at] = ToolUse(known.id or of, known.name or name, known.arguments + arguments)

    def reply(self, text: str, model: str, usage: Any, request: Complete) -> Reply:
        """Return the reply. Some servers give a structured reply as the arguments of a tool that nobody offered."""
        uses = tuple(self.uses.values())
        if request.tools:
            return Reply(text, model, *tokens(usage), uses=uses)
        return Reply(text or "\n".join(use.arguments for use in uses), model, *tokens(usage))


@dataclass(slots=True)
class StreamedCompletion:
    """A completion assembled from server-sent events as they arrive."""

    text: str = ""
    called: _Called = field(default_factory=_Called)
    model: str = ""
    refusal: str = ""
    finish: Any = None
    usage: Any = None
    ended: bool = False

    def add_line(self, line: str) -> str:
        """Add one line of the stream; return the text in it, often none."""
        if not line.startswith("data:"):
            return ""  # comments, event names and blank lines carry no text
        data = line[5:].strip()
        if data == "[DONE]":
            self.ended = True
            return ""
        chunk = parse_json(data.encode())
        if not isinstance(chunk, dict):
            raise ModelUnavailable("the stream holds something that is no completion chunk", retryable=True)
        if chunk.get("error"):
            raise error_from(ErrorResponse(status_in(chunk["error"]), {}, data.encode()))
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
        self.called.add(delta.get("tool_calls"))
        return piece

    def reply(self, request: Complete) -> Reply:
        """Return the assembled reply. Raise ModelError where the stream stopped before its end."""
        if not self.ended and self.finish is None:
            raise ModelUnavailable("the stream stopped before its end", retryable=True)
        return complete_reply(
            self.called.reply(self.text, self.model, self.usage, request),
            request,
            finish=self.finish,
            refusal=self.refusal,
        )


def cost(reply: Reply, prices: Mapping[str, tuple[float, float]], model: str) -> float | None:
    """Return a reply's cost in dollars; `prices` are dollars per million input and output tokens. None without one."""
    price = prices.get(model)
    if price is None:
        return None
    return (reply.input_tokens * price[0] + reply.output_tokens * price[1]) / 1e6


def tokens(usage: Any) -> tuple[int, int]:
    """Return the reported numbers of input and output tokens, 0 where one is missing or no number."""
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
    """Return a message's text, which some servers send as a list of parts, thoughts among them."""
    if isinstance(value, list):
        return "".join(_content(part.get("text")) for part in value if isinstance(part, dict) and _is_said(part))
    return value if isinstance(value, str) else ""


def _is_said(part: Mapping[str, Any]) -> bool:
    return part.get("type") in _SAID and not part.get("thought")


def _name(payload: Mapping[str, Any]) -> str:
    name = payload.get("model")
    return name[:MOST_NAME] if isinstance(name, str) else ""


def _count(value: Any) -> int:
    return value if isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 10**9 else 0
