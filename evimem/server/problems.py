"""Responses: values as JSON, and errors as problem documents (RFC 9457) with the `detail` that clients read."""

from __future__ import annotations

import json
import logging
import traceback
from collections.abc import Mapping
from http import HTTPStatus
from typing import Any

from ..errors import EvimemError, MissingExtra, StoreError, code_of_error
from ..types.public_value import json_bytes

try:
    from starlette.responses import Response
except ImportError as _error:
    raise MissingExtra("the server", "server") from _error

PROBLEM_TYPE = "application/problem+json"
RETRY_SECONDS = "1"  # after which a client that met a busy server should try again
_LOG = logging.getLogger("evimem.server")


class Refusal(Exception):
    """A request that is refused before a memory is asked.

    `status` is the HTTP status, `title` the name of the reason, `detail` a sentence, `headers` go with the response.
    """

    def __init__(self, status: int, title: str, detail: str, headers: Mapping[str, str] | None = None) -> None:
        super().__init__(detail)
        self.status, self.title, self.detail = status, title, detail
        self.headers = dict(headers or {})


def encode_json(value: Any) -> bytes:
    """Return a value as JSON. A lone surrogate, which an older import may have stored, is escaped."""
    try:
        return json_bytes(value)
    except TypeError:
        return json.dumps(value, default=str).encode()


def json_response(value: Any, status: int = 200, headers: Mapping[str, str] | None = None) -> Response:
    """Return a response of JSON."""
    return Response(encode_json(value), status, dict(headers or {}), "application/json")


def refusal_from(error: Exception) -> Refusal:
    """Return an exception as the refusal that the client is told.

    Of a failed store the client is told the kind alone: messages name files of the server. Any other exception than
    those of evimem is logged by its type and place, in one line, without its words.
    """
    if isinstance(error, Refusal):
        return error
    if isinstance(error, EvimemError):
        status, kind = code_of_error(error).status, type(error)
        detail = (kind.__doc__ or "").partition("\n")[0] if isinstance(error, StoreError) else str(error)
        headers = {"Retry-After": RETRY_SECONDS} if status == 503 else {}
        return Refusal(status, kind.__name__, detail, headers)
    frames = traceback.StackSummary.extract(traceback.walk_tb(error.__traceback__), limit=-3, lookup_lines=False)
    places = " > ".join(f"{frame.filename}:{frame.lineno} {frame.name}" for frame in frames)
    _LOG.error("a request raised %s at %s", type(error).__name__, places)
    return Refusal(500, type(error).__name__, "the request failed; the server's log says where")


def problem_document(error: Exception) -> dict[str, Any]:
    """Return an exception as a problem document."""
    refusal = refusal_from(error)
    return {"type": "about:blank", "title": refusal.title, "status": refusal.status, "detail": refusal.detail}


def problem_response(error: Exception) -> Response:
    """Return an exception as the response that the client gets."""
    refusal = refusal_from(error)
    return Response(encode_json(problem_document(refusal)), refusal.status, refusal.headers, PROBLEM_TYPE)


def status_phrase(status: int) -> str:
    """Return the name of an HTTP status."""
    return HTTPStatus(status).phrase
