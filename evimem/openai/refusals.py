"""What a server's refusal means: a typed error, when to come back, and never a secret in its message."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timezone
from email.utils import parsedate_to_datetime
from typing import Any

import orjson

from ..errors import ModelError, ModelUnavailable

MAX_DETAIL = 500
MAX_BACKOFF = 8.0
FIRST_BACKOFF = 0.25
HINTS = {
    400: "it does not accept the form of the request; .detail has its reason",
    401: "check the API key",
    403: "the key may not use this model",
    404: "check the model's name and base_url",
    408: "it gave up waiting",
    413: "the request is too long for it",
    422: "it does not accept the form of the request; .detail has its reason",
    429: "too many requests, or the quota is used up",
}
_RETRYABLE = {408, 409, 425, 429}
_CODE = re.compile(r"[A-Za-z][A-Za-z0-9_.-]{0,47}")
_VALUE = r"[^\s\"',;}]+"
_SECRETS = re.compile(
    rf"(?i)(\b(?:bearer|basic)\s+{_VALUE}|://[^/@\s]+@|\beyJ[\w.-]+|\bAIza\w+|\bAKIA\w+"
    rf"|\b(?:sk|pk|rk|gsk|xai|hf|ghp|glpat|xox[a-z])[-_]{_VALUE}"
    rf"|\b(?:api[-_ ]?key|token|secret|password|authorization)[\"']?\s*[:=]\s*[\"']?(?:(?:bearer|basic)\s+)?{_VALUE}"
    r"|\b(?=\w*\d)(?=\w*[a-z])\w{24,}\b)"
)


@dataclass(frozen=True, slots=True)
class Refusal:
    """An HTTP status that is not success, with what the server said, bounded."""

    status: int
    headers: Mapping[str, str]
    body: bytes


def refused(refusal: Refusal) -> ModelUnavailable:
    """Return the error that a refusal stands for. Its message holds the server's codes, never its free text."""
    status = refusal.status
    error = parsed(refusal.body)
    error = error.get("error", error) if isinstance(error, dict) else error
    codes = _codes(error)
    spent = "insufficient_quota" in codes
    named = f" ({', '.join(codes)})" if codes else ""
    return ModelUnavailable(
        f"the server refused with status {status}{named}; {HINTS.get(status, 'it may work later')}",
        retryable=(status >= 500 or status in _RETRYABLE) and not spent,
        retry_after=retry_after(refusal.headers.get("retry-after")),
        detail=redact(refusal.body),
        status=status,
    )


def retry_after(value: str | None, now: datetime | None = None) -> float | None:
    """Return the seconds that a Retry-After header asks for, given as seconds or as a date; None for anything else."""
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
    """Return the seconds to wait after the n-th failed attempt: doubling, capped, jittered by a chance in 0..1."""
    return min(MAX_BACKOFF, FIRST_BACKOFF * 2.0 ** min(attempt - 1, 10)) * (0.5 + 0.5 * chance)


def option_refused(error: ModelError, options: Mapping[str, Any]) -> str | None:
    """Return the option to leave out after a 400 or 422: one that the server names, else the schema."""
    if not isinstance(error, ModelUnavailable) or error.status not in {400, 422}:
        return None
    said = f"{error} {error.detail}"
    for name in ("temperature", "stream_options"):
        if name in options and name in said:
            return name
    return next((name for name in ("response_format", "stream_options") if name in options), None)


def redact(body: bytes | str) -> str:
    """Return the beginning of a server's text without anything that looks like a secret."""
    said = body[: 4 * MAX_DETAIL].decode("utf-8", "replace") if isinstance(body, bytes) else body[: 4 * MAX_DETAIL]
    return _SECRETS.sub("…", said)[:MAX_DETAIL]


def parsed(body: bytes) -> Any:
    try:
        return orjson.loads(body)
    except ValueError:
        return None


def status_of(error: Any) -> int:
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
