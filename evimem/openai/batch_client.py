"""The provider's Batch API: many requests at once, cheaper and hours later."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeAlias

import orjson

from ..errors import ModelError, ModelUnavailable
from ..types.model import Complete, Reply
from . import wire_format
from .endpoint import HEADERS, MAX_BODY, body_of
from .refusals import Refusal, parsed, refused

if TYPE_CHECKING:
    from .chat_client import OpenAI

Outcomes: TypeAlias = "dict[str, Reply | ModelError]"
WINDOW = "24h"
MAX_RESULTS = 400_000_000
_OVER = {"completed", "failed", "expired", "cancelled"}


def start_batch(model: OpenAI, requests: Mapping[str, Complete]) -> str:
    """Hand in requests by key; return the batch's id. Raise ModelError when the server does not take them."""

    async def start(client: Any) -> str:
        upload = client.files.with_streaming_response.create(
            file=("requests.jsonl", batch_lines(model, requests)), purpose="batch", extra_headers=HEADERS
        )
        file_id = _text(await _fetched(upload), "id")
        create = client.batches.with_streaming_response.create(
            input_file_id=file_id,
            endpoint="/v1/chat/completions",
            completion_window=WINDOW,
            extra_headers=HEADERS,
        )
        return _text(await _fetched(create), "id")

    return model.call(start)


def collect_batch(model: OpenAI, batch_id: str, requests: Mapping[str, Complete]) -> Outcomes | None:
    """Return what became of each request, or None while the batch is still worked on.

    A request that the batch did not answer has an error, so that whoever asked can ask again.
    """

    async def collect(client: Any) -> bytes | None:
        retrieve = client.batches.with_streaming_response.retrieve(batch_id, extra_headers=HEADERS)
        batch = parsed(await _fetched(retrieve))
        if not isinstance(batch, dict) or batch.get("status") not in _OVER:
            return None
        parts = []
        for name in ("output_file_id", "error_file_id"):
            if isinstance(batch.get(name), str):
                content = client.files.with_streaming_response.content(batch[name], extra_headers=HEADERS)
                parts.append(await _fetched(content, MAX_RESULTS))
        return b"\n".join(parts)

    lines = model.call(collect)
    return None if lines is None else read_batch(lines, requests)


def batch_lines(model: OpenAI, requests: Mapping[str, Complete]) -> bytes:
    """Return requests in the form of a batch's input file: a line each."""
    return b"".join(
        orjson.dumps(
            {
                "custom_id": key,
                "method": "POST",
                "url": "/v1/chat/completions",
                "body": model.body(request),
            }
        )
        + b"\n"
        for key, request in requests.items()
    )


def read_batch(lines: bytes, requests: Mapping[str, Complete]) -> Outcomes:
    """Return the reply or the error of each request, whatever else the lines hold."""
    lost = ModelUnavailable("the batch ended without a reply to this request", retryable=True)
    outcomes: Outcomes = dict.fromkeys(requests, lost)
    for line in lines.splitlines():
        entry = parsed(line)
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
        return refused(Refusal(status, {}, body))
    try:
        return wire_format.read_reply(body, request)
    except ModelError as error:
        return error


async def _fetched(call: Any, limit: int = MAX_BODY) -> bytes:
    async with call as response:
        return await body_of(response, limit)


def _text(body: bytes, name: str) -> str:
    payload = parsed(body)
    value = payload.get(name) if isinstance(payload, dict) else None
    if not isinstance(value, str):
        raise ModelUnavailable("the server answered 200 with something that is no file or batch", retryable=True)
    return value
