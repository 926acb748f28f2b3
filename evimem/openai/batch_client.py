"""The provider's Batch API: many requests in one file, at a lower price, answered within a day."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeAlias

import orjson

from ..errors import ModelError, ModelUnavailable
from ..types.model import Complete, Reply
from . import wire_format
from .endpoint import HEADERS, MAX_BODY, body_of
from .http_errors import ErrorResponse, error_from, parse_json

BatchOutcomes: TypeAlias = "dict[str, Reply | ModelError]"
COMPLETION_WINDOW = "24h"  # the only value that the API accepts
MAX_RESULTS = 400_000_000  # bytes of a result file: 10,000 requests of 40 kB
URL = "/v1/chat/completions"
_FINISHED = {"completed", "failed", "expired", "cancelled"}


async def submit_batch(client: Any, bodies: Mapping[str, Mapping[str, Any]]) -> str:
    """Upload request bodies by key and start a batch of them; return the batch's id.

    `client` is an `openai.AsyncOpenAI`. Raise ModelUnavailable for a response that names no file or batch; what the
    client raises is the caller's to translate.
    """
    upload = client.files.with_streaming_response.create(
        file=("requests.jsonl", batch_lines(bodies)), purpose="batch", extra_headers=HEADERS
    )
    file_id = _text_field(await _body(upload), "id")
    create = client.batches.with_streaming_response.create(
        input_file_id=file_id, endpoint=URL, completion_window=COMPLETION_WINDOW, extra_headers=HEADERS
    )
    return _text_field(await _body(create), "id")


async def download_batch(client: Any, batch_id: str) -> bytes | None:
    """Return the result lines and error lines of a batch, or None while it is in progress."""
    retrieve = client.batches.with_streaming_response.retrieve(batch_id, extra_headers=HEADERS)
    batch = parse_json(await _body(retrieve))
    if not isinstance(batch, dict) or batch.get("status") not in _FINISHED:
        return None
    parts = []
    for name in ("output_file_id", "error_file_id"):
        if isinstance(batch.get(name), str):
            content = client.files.with_streaming_response.content(batch[name], extra_headers=HEADERS)
            parts.append(await _body(content, MAX_RESULTS))
    return b"\n".join(parts)


def batch_lines(bodies: Mapping[str, Mapping[str, Any]]) -> bytes:
    """Return request bodies as a batch's input file: one JSON object per line, `custom_id` is the key."""
    lines = ({"custom_id": key, "method": "POST", "url": URL, "body": body} for key, body in bodies.items())
    return b"".join(orjson.dumps(line) + b"\n" for line in lines)


def read_batch(lines: bytes, requests: Mapping[str, Complete]) -> BatchOutcomes:
    """Return the reply or the error of each request; lines with unknown keys or of another form are ignored."""
    lost = ModelUnavailable("the batch ended without a reply to this request", retryable=True)
    outcomes: BatchOutcomes = dict.fromkeys(requests, lost)
    for line in lines.splitlines():
        entry = parse_json(line)
        key = entry.get("custom_id") if isinstance(entry, dict) else None
        if isinstance(entry, dict) and isinstance(key, str) and key in requests:
            outcomes[key] = _outcome(entry, requests[key])
    return outcomes


def _outcome(entry: Mapping[str, Any], request: Complete) -> Reply | ModelError:
    response = entry.get("response")
    response = response if isinstance(response, dict) else {}
    body = orjson.dumps(response.get("body") or {"error": entry.get("error") or {}})
    status = response.get("status_code")
    if isinstance(status, int) and status >= 400:
        return error_from(ErrorResponse(status, {}, body))
    try:
        return wire_format.read_reply(body, request)
    except ModelError as error:
        return error


async def _body(call: Any, limit: int = MAX_BODY) -> bytes:
    async with call as response:
        return await body_of(response, limit)


def _text_field(body: bytes, name: str) -> str:
    payload = parse_json(body)
    value = payload.get(name) if isinstance(payload, dict) else None
    if not isinstance(value, str):
        raise ModelUnavailable("the server answered 200 with something that is no file or batch", retryable=True)
    return value
