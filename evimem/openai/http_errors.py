"""HTTP error responses as typed errors: whether and when to retry, and no secret in their messages."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timezone
from email.utils import parsedate_to_datetime
from typing import Any

import orjson

from ..errors import ModelError, ModelUnavailable, PromptTooLong

MAX_DETAIL = 500  # characters of a server's text kept in `.detail`
MAX_BACKOFF = 8.0  # seconds
FIRST_BACKOFF = 0.25  # seconds
LENGTHS = ("max_tokens", "max_completion_tokens")  # older servers know the first, OpenAI's newer models the second
# Options that a server may not know, in the order in which they are left out where it does not say which.
_DOUBTFUL = ("tools", "response_format", "stream_options", "top_logprobs", "logprobs", *LENGTHS)
HINTS = {
    301: "it redirects; give base_url its new address",
    302: "it redirects; give base_url its new address",
    307: "it redirects; give base_url its new address",
    308: "it redirects; give base_url its new address",
    400: "it does not accept the form of the request; .detail has its reason",
    401: "check the API key",
    403: "the key may not use this model",
    404: "check the model's name and base_url",
    408: "it gave up waiting",
    413: "the request is too long for it",
    422: "it does not accept the form of the request; .detail has its reason",
    429: "too many requests, or the quota is used up",
}
_RETRYABLE = {408, 409, 425, 429}  # and every 5xx
_WITHOUT_TOOLS = {400, 404, 422, 500, 501}
_OF_TOOLS = re.compile(
    r"(?<![a-z])(?:tools?(?:[_ -](?:use|choice|calls?|calling))?|function[_ -]?call(?:s|ing)?)(?![a-z])", re.IGNORECASE
)
_TOO_LONG_STATUSES = {400, 413, 422, 500}
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
    codes = _codes(error)
    if status in _TOO_LONG_STATUSES and _TOO_LONG.search(response.body.decode("utf-8", "replace")):
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
        retryable=(status >= 500 or status in _RETRYABLE) and not quota_spent,
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
    return min(MAX_BACKOFF, FIRST_BACKOFF * 2.0 ** min(attempt - 1, 10)) * (0.5 + 0.5 * chance)


def rejected_option(error: ModelError, options: Mapping[str, Any]) -> str | None:
    """Return the request option to change after a 400 or 422: one that the server names, else the tools or the schema.

    A server that was not started for tools says so by other statuses too.
    """
    if not isinstance(error, ModelUnavailable) or isinstance(error, PromptTooLong):
        return None
    text = f"{error} {error.detail}"
    if "tools" in options and error.status in _WITHOUT_TOOLS and _OF_TOOLS.search(text):
        return "tools"
    if error.status not in {400, 422}:
        return None
    doubtful = [name for name in _DOUBTFUL if name in options]
    named = [name for name in (*doubtful, "temperature") if name in options and re.search(rf"\b{name}\b", text)]
    return next(iter((*named, *doubtful)), None)


def redact(body: bytes | str) -> str:
    """Return the beginning of a server's text without anything that looks like a secret."""
    start = body[: 4 * MAX_DETAIL]  # longer than what is kept, so that no secret is cut before it is recognized
    text = start.decode("utf-8", "replace") if isinstance(start, bytes) else start
    return _SECRETS.sub("…", text)[:MAX_DETAIL]


def parse_json(body: bytes) -> Any:
    """Return a body's JSON value, or None where it is no JSON."""
    try:
        return orjson.loads(body)
    except ValueError:
        return None


def status_in(error: Any) -> int:
    """Return the HTTP status that an error object inside a 200 response names, else 502."""
    code = error.get("code") if isinstance(error, dict) else None
    return code if isinstance(code, int) and 400 <= code <= 599 else 502


def _codes(error: Any) -> list[str]:
    if not isinstance(error, dict):
        return []
    values = (error.get(name) for name in ("type", "code", "param"))
    known = (
        value for value in values if isinstance(value, str) and _CODE.fullmatch(value) and not _SECRETS.search(value)
    )
    return list(dict.fromkeys(known))
