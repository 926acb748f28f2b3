"""Request and response bodies of the chat.completions API, and errors as typed errors: pure functions, no I/O.

An error says whether and when to retry, without a secret in its message. Settings are checked when a client is made.
"""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from datetime import datetime, timezone
from email.utils import parsedate_to_datetime
from functools import partial
from math import exp
from typing import Any, TypeAlias
from urllib.parse import urlsplit

import orjson

from ..errors import InvalidQuery, ModelError, ModelUnavailable, PromptTooLong, ReplyError
from ..types.trace import Complete, Message, Reply, ToolSpec, ToolUse, without_tools

BatchOutcomes: TypeAlias = "dict[str, Reply | ModelError]"
MAX_DETAIL = 500  # characters of a server's text kept in `.detail`
LENGTHS = ("max_tokens", "max_completion_tokens")  # older servers know the first, OpenAI's newer models the second
# Options that a server may not know, in the order in which they are left out where it does not say which.
_DOUBTFUL = ("tools", "response_format", "stream_options", "top_logprobs", "logprobs", *LENGTHS)
HINTS = {
    **dict.fromkeys((301, 302, 307, 308), "it redirects; give base_url its new address"),
    **dict.fromkeys((400, 422), "it does not accept the form of the request; .detail has its reason"),
    401: "check the API key",
    403: "the key may not use this model, or a moderation refused the text",
    404: "check the model's name and base_url",
    408: "it gave up waiting",
    413: "the request is too long for it",
    429: "too many requests, or the quota is used up",
}
_OF_TOOLS = re.compile(
    r"(?<![a-z])(?:tools?(?:[_ -](?:use|choice|calls?|calling))?|function[_ -]?call(?:s|ing)?)(?![a-z])", re.IGNORECASE
)
SYSTEM = "system role"  # among the options of a request: whether its instructions have a role of their own
_OF_SYSTEM = re.compile(  # as chat templates of Gemma and Mistral say it, and OpenAI's first reasoning models
    r"system (?:role|message|prompt)|role\W{0,4}s?\W.{0,40}\bsystem\b|developer instruction|roles must alternate",
    re.IGNORECASE,
)
_TOO_LONG = re.compile(  # as OpenAI, vLLM, llama.cpp, LM Studio and Anthropic's and Google's gateways say it
    r"context_length_exceeded|exceed_context_size|maximum context length|context (?:length|size|window)"
    r"|prompt is too long|input is too long|too many (?:input )?tokens|token count exceeds|n_ctx",
    re.IGNORECASE,
)
_CODE = re.compile(r"[A-Za-z][A-Za-z0-9_.-]{0,47}")
_VALUE = r"[^\s\"',;}]+"
# Authorization values, credentials in URLs, JWTs, keys by their vendors' prefixes, "key=value" pairs, and any long run
# of letters and digits: providers quote keys in error bodies, and error messages end up in logs.
_SECRETS = re.compile(
    rf"(?i)(\b(?:bearer|basic)\s+{_VALUE}|://[^/@\s]+@|\beyJ[\w.-]+|\bAIza\w+|\bAKIA\w+"
    rf"|\b(?:sk|pk|rk|gsk|xai|hf|ghp|glpat|xox[a-z])[-_]{_VALUE}"
    rf"|\b(?:api[-_ ]?key|token|secret|password|authorization)[\"']?\s*[:=]\s*[\"']?(?:(?:bearer|basic)\s+)?{_VALUE}"
    r"|\b(?=\w*\d)(?=\w*[a-z])\w{24,}\b)"
)
BATCH_URL = "/v1/chat/completions"
_CUT = {"content_filter": "the provider's content filter cut it", "length": "it was cut at the model's length limit"}
MOST_NAME = 100  # characters of a model's or a tool's name, or of an id


@dataclass(frozen=True, slots=True)
class ErrorResponse:
    """An HTTP error status with its headers (lower-case names) and the beginning of its body."""

    status: int
    headers: Mapping[str, str]
    body: bytes


def error_from(response: ErrorResponse) -> ModelUnavailable:
    """Return the error for a response. Its message quotes the server's codes, never its free text."""
    status = response.status
    error = parse_json(response.body)
    error = error.get("error", error) if isinstance(error, dict) else error
    given = [error.get(name) for name in ("type", "code", "param")] if isinstance(error, dict) else []
    texts = [one for one in given if isinstance(one, str) and _CODE.fullmatch(one) and not _SECRETS.search(one)]
    codes = dict.fromkeys(texts)
    if status in {400, 413, 422, 500} and _TOO_LONG.search(response.body.decode("utf-8", "replace")):
        return PromptTooLong(
            f"the request has more tokens than the model reads (status {status}); give it a model with more context",
            retryable=False,
            detail=redact(response.body),
            status=status,
        )
    quota_spent = "insufficient_quota" in codes  # comes with status 429, but waiting does not help
    quoted = f" ({', '.join(codes)})" if codes else ""
    return ModelUnavailable(
        f"the server refused with status {status}{quoted}; {HINTS.get(status, 'it may work later')}",
        retryable=(status >= 500 or status in {408, 409, 425, 429}) and not quota_spent,
        retry_after=retry_after(response.headers.get("retry-after")),
        detail=redact(response.body),
        status=status,
    )


def retry_after(value: str | None, now: datetime | None = None) -> float | None:
    """Return the seconds that a Retry-After header asks for (a number or an HTTP date); None for anything else."""
    if value is None or len(value) > 64:
        return None
    if re.fullmatch(r"\s*\d{1,9}(\.\d{1,6})?\s*", value):
        return float(value)
    try:
        date = parsedate_to_datetime(value)
    except (ValueError, TypeError, IndexError, OverflowError):
        return None
    if date.tzinfo is None:
        date = date.replace(tzinfo=timezone.utc)
    return max(0.0, (date - (now or datetime.now(timezone.utc))).total_seconds())


def backoff(attempt: int, chance: float) -> float:
    """Return the seconds to wait after the n-th failed attempt (n >= 1): doubling, capped, with jitter.

    `chance` in 0..1 scales the wait to between half and all of it, so that many clients do not retry at once.
    """
    # Wait 0.25 seconds at first, twice as long each time, and at most 8.
    return min(8.0, 0.25 * 2.0 ** min(attempt - 1, 10)) * (0.5 + 0.5 * chance)


def rejected_option(error: ModelError, options: Mapping[str, Any]) -> str | None:
    """Return the request option to change after a 400 or 422: one that the server names, else the tools or the schema.

    A server that was not started for tools says so by other statuses too.
    """
    if not isinstance(error, ModelUnavailable) or isinstance(error, PromptTooLong):
        return None
    text = f"{error} {error.detail}"
    if "tools" in options and error.status in {400, 404, 422, 500, 501} and _OF_TOOLS.search(text):
        return "tools"
    if SYSTEM in options and error.status in {400, 422, 500} and _OF_SYSTEM.search(text):
        return SYSTEM
    if error.status not in {400, 422}:
        return None
    doubtful = [name for name in _DOUBTFUL if name in options]
    named = [name for name in (*doubtful, "temperature") if name in options and re.search(rf"\b{name}\b", text)]
    return next(iter((*named, *doubtful)), None)


def redact(body: bytes | str) -> str:
    """Return the beginning of a server's text without anything that looks like a secret."""
    start = body[: 4 * MAX_DETAIL]  # more than is kept, so that no secret is cut before it is recognized
    text = start.decode("utf-8", "replace") if isinstance(start, bytes) else start
    return _SECRETS.sub("…", text)[:MAX_DETAIL]


def parse_json(body: bytes) -> Any:
    """Return a body's JSON value, or None where it is no JSON."""
    try:
        return orjson.loads(body)
    except ValueError:
        return None


def check_settings(settings: Any) -> None:
    """Raise InvalidQuery for the first field that has another type or range than its class documents."""
    for name in (one.name for one in fields(settings) if one.init):
        value, (is_fine, wanted) = getattr(settings, name), _SETTINGS[name]
        if not is_fine(value):
            raise InvalidQuery(f"{name} is of type {type(value).__name__} or out of range; expected {wanted}")


def _number(value: object, least: float = 0.0, most: float = 1e300) -> bool:
    return isinstance(value, (int, float)) and least <= value <= most


def _whole(value: object, least: int) -> bool:
    return isinstance(value, int) and least <= value < 2**31


def _is_text(value: object) -> bool:
    return isinstance(value, str) and value != ""


def _is_url(value: object) -> bool:
    if not isinstance(value, str) or not value.isprintable() or not value.isascii():
        return False
    try:
        parts = urlsplit(value)
        return parts.scheme in {"http", "https"} and bool(parts.hostname) and parts.port != 0
    except ValueError:
        return False


def _are_prices(value: object) -> bool:
    pairs = value.values() if isinstance(value, Mapping) else (None,)
    return all(isinstance(pair, (tuple, list)) and len(pair) == 2 and all(map(_number, pair)) for pair in pairs)


_SETTINGS: dict[str, tuple[Callable[[Any], bool], str]] = {
    "model": (_is_text, "a text"),
    **dict.fromkeys(
        ("judge_model", "answer_model", "extract_model", "api_key"),
        (lambda value: value is None or _is_text(value), "a text"),
    ),
    "temperature": (lambda value: value is None or _number(value), "a number from 0 on, or None"),
    "base_url": (lambda value: value is None or _is_url(value), "a URL such as 'http://localhost:11434/v1', or None"),
    "deadline": (lambda value: _number(value, 5e-324, 86_400.0), "seconds above 0, at most 86400"),
    **dict.fromkeys(("dimension", "max_retries"), (partial(_whole, least=0), "a whole number from 0 on")),
    **dict.fromkeys(("concurrency", "batch", "max_characters"), (partial(_whole, least=1), "a whole number from 1 on")),
    "prices": (_are_prices, "two numbers by model name: dollars per million input and output tokens"),
    "extra": (lambda value: isinstance(value, Mapping), "a mapping of names to JSON values"),
}


def messages(request: Complete, *, tools: bool = False, system: bool = True) -> list[dict[str, Any]]:
    """Return a request's messages: instructions in the system role, data in those of user and tool.

    Without `tools`, which not every server knows, calls and results are text; without `system`, which not every model
    knows, the instructions begin the first message of the user.
    """
    listed = [_message(one) for one in (request.messages if tools else without_tools(request.messages))]
    if not system and len(listed) > 1 and listed[0]["role"] == "system" and listed[1]["role"] == "user":
        first, second, *rest = listed
        return [{**second, "content": f"{first['content']}\n\n{second['content']}"}, *rest]
    return listed


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
    bounded, unbounded = request.schema, _without_bounds(request.schema)
    name = re.sub(r"\W", "_", request.role, flags=re.ASCII)
    schemas = [bounded] if bounded == unbounded else [bounded, unbounded]
    named = ({"name": name, "strict": True, "schema": schema} for schema in schemas)
    return (*({"type": "json_schema", "json_schema": one} for one in named), {"type": "json_object"})


def _without_bounds(schema: Any) -> Any:
    if isinstance(schema, Mapping):
        return {name: _without_bounds(value) for name, value in schema.items() if name not in {"maxItems", "maxLength"}}
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
    """Return the reply of a chat.completions body. Raise ModelError for anything that is not one.

    Some gateways stream whether they were asked to or not.
    """
    payload = parse_json(body)
    # The beginnings of lines of server-sent events.
    if payload is None and body.lstrip().startswith((b"data:", b"event:", b":")):
        streamed = Completion()
        for line in body.decode("utf-8", "replace").splitlines():
            streamed.add_line(line.strip())
        return streamed.reply(request)
    if not isinstance(payload, dict):
        raise ModelUnavailable(
            f"the server answered 200 with {_kind(body)} instead of a completion; check base_url", retryable=True
        )
    completion = Completion(ended=True)
    completion.add(payload, body)
    if _first(payload.get("choices")) is None:
        raise ModelUnavailable("the completion has no choices", retryable=True, detail=redact(body))
    return completion.reply(request)


def batch_lines(bodies: Mapping[str, Mapping[str, Any]]) -> bytes:
    """Return request bodies as a batch's input file: one JSON object per line, `custom_id` is the key."""
    lines = ({"custom_id": key, "method": "POST", "url": BATCH_URL, "body": body} for key, body in bodies.items())
    return b"".join(orjson.dumps(line) + b"\n" for line in lines)


def read_batch(lines: bytes, requests: Mapping[str, Complete]) -> BatchOutcomes:
    """Return the reply or the error of each request; lines with unknown keys or of another form are ignored."""
    lost = ModelUnavailable("the batch ended without a reply to this request", retryable=True)
    outcomes: BatchOutcomes = dict.fromkeys(requests, lost)
    for entry in map(parse_json, lines.splitlines()):
        key = entry.get("custom_id") if isinstance(entry, dict) else None
        if isinstance(key, str) and key in requests:
            outcomes[key] = _outcome(entry, requests[key])
    return outcomes


def _outcome(entry: Mapping[str, Any], request: Complete) -> Reply | ModelError:
    response = entry["response"] if isinstance(entry.get("response"), dict) else {}
    body = orjson.dumps(response.get("body") or {"error": entry.get("error") or {}})
    status = response.get("status_code")
    if isinstance(status, int) and status >= 400:
        return error_from(ErrorResponse(status, {}, body))
    try:
        return read_reply(body, request)
    except ModelError as error:
        return error


def _likely(found: Any) -> dict[str, float]:
    """Return the probabilities of the likeliest first tokens; none where the server gives none, or another form."""
    first = _first(found.get("content")) if isinstance(found, dict) else None
    listed = first.get("top_logprobs") if first else None
    likely = {}
    for one in listed if isinstance(listed, list) else []:
        token, logprob = (one.get("token"), one.get("logprob")) if isinstance(one, dict) else (None, None)
        if isinstance(token, str) and isinstance(logprob, (int, float)) and logprob <= 0:
            likely[token] = exp(logprob)
    return likely


@dataclass(slots=True)
class Completion:
    """A completion, whole or assembled from server-sent events as they arrive."""

    text: str = ""
    thoughts: str = ""
    uses: dict[int, ToolUse] = field(default_factory=dict)  # tools that it calls, by their places
    model: str = ""
    refusal: str = ""
    finish: Any = None
    usage: Any = None
    likely: Mapping[str, float] = field(default_factory=dict)
    ended: bool = False

    def add_line(self, line: str) -> str:
        """Add one line of a stream; return the text in it, often none."""
        if not line.startswith("data:"):
            return ""  # comments, event names and blank lines carry no text
        data = line[5:].strip()
        if data == "[DONE]":
            self.ended = True
            return ""
        chunk = parse_json(data.encode())
        if not isinstance(chunk, dict):
            raise ModelUnavailable("the stream holds something that is no completion chunk", retryable=True)
        return self.add(chunk, data.encode())

    def add(self, payload: Mapping[str, Any], body: bytes) -> str:
        """Add a whole completion or a chunk of one, which `body` was; return the text in it."""
        choice = _first(payload.get("choices")) or {}
        _raise_failure(payload, choice, body)
        name = payload.get("model")
        self.model = self.model or (name[:MOST_NAME] if isinstance(name, str) else "")
        self.usage = payload.get("usage") or self.usage
        message: Mapping[str, Any] = next(
            (choice[part] for part in ("message", "delta") if isinstance(choice.get(part), dict)), {}
        )
        self.likely = _likely(choice.get("logprobs")) or self.likely
        self.finish = choice.get("finish_reason") or self.finish
        self.refusal += _content(message.get("refusal"))
        piece = _content(message.get("content"))
        self.text += piece
        self.thoughts += next(
            (_content(message[name]) for name in ("reasoning_content", "reasoning") if message.get(name)), ""
        )
        calls = message.get("tool_calls")
        for place, call in enumerate(calls if isinstance(calls, list) else []):
            function = call.get("function") if isinstance(call, dict) else None
            if isinstance(function, dict):  # anything else is skipped
                at = call.get("index")
                self._add_call(at if isinstance(at, int) else place, call, function)
        return piece

    def _add_call(self, at: int, call: Mapping[str, Any], function: Mapping[str, Any]) -> None:
        known = self.uses.get(at, ToolUse("", "", ""))
        given = function.get("arguments")
        arguments = orjson.dumps(given).decode() if isinstance(given, dict) else _content(given)
        name, of = _content(function.get("name"))[:MOST_NAME], _content(call.get("id"))[:MOST_NAME]
        self.uses[at] = ToolUse(known.id or of, known.name or name, known.arguments + arguments)

    def reply(self, request: Complete) -> Reply:
        """Return the reply. Raise ModelUnavailable for half a stream, ReplyError for a refused, cut or empty reply.

        Some servers give a structured reply as the arguments of a tool that was not offered, or file all of it as
        thoughts: then these are the JSON object that was asked for, and nothing else.
        """
        if not self.ended and self.finish is None:
            raise ModelUnavailable("the stream stopped before its end", retryable=True)
        uses = tuple(self.uses.values())
        text = self.text if request.tools else self.text or "\n".join(use.arguments for use in uses)
        called = uses if request.tools else ()
        if request.schema and not text.strip() and not called and isinstance(parse_json(self.thoughts.encode()), dict):
            text = self.thoughts
        usage = self.usage if isinstance(self.usage, dict) else {}
        counts = (usage.get(name) for name in ("prompt_tokens", "completion_tokens"))
        sent, received = (one if type(one) is int and 0 <= one < 10**9 else 0 for one in counts)
        reply = Reply(text, self.model, sent, received, uses=called, likely=self.likely)
        why = _CUT.get(self.finish) if isinstance(self.finish, str) else None
        if self.refusal:
            why = "the model refused"
        elif why is None and not text.strip() and not called:
            why = "it is empty, but for thoughts" if self.thoughts.strip() else "it is empty"
        if why:
            refused = bool(self.refusal) or self.finish == "content_filter"
            cut = self.finish == "length" and not refused
            raise ReplyError(request.role, why, text or self.refusal, reply, cut=cut, refused=refused)
        return reply


def _raise_failure(payload: Mapping[str, Any], choice: Mapping[str, Any], body: bytes) -> None:
    """Raise ModelUnavailable where a body of status 200 reports that the service behind it failed.

    Gateways say so in the body or, once they have begun to answer, in its choice.
    """
    error = payload.get("error") or choice.get("error")
    if error or choice.get("finish_reason") == "error":
        code = error.get("code") if isinstance(error, dict) else None
        status = code if isinstance(code, int) and 400 <= code <= 599 else 502
        raise error_from(ErrorResponse(status, {}, orjson.dumps({"error": error}) if error else body))


def cost(reply: Reply, prices: Mapping[str, tuple[float, float]], model: str) -> float | None:
    """Return a reply's cost in dollars; `prices` are dollars per million input and output tokens. None without one."""
    price = prices.get(model)
    if price is None:
        return None
    return (reply.input_tokens * price[0] + reply.output_tokens * price[1]) / 1e6


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
        parts = (part for part in value if isinstance(part, dict) and not part.get("thought"))
        # Parts of other types think, summarize or refer.
        return "".join(
            _content(part.get("text")) for part in parts if part.get("type") in {None, "text", "output_text"}
        )
    return value if isinstance(value, str) else ""
