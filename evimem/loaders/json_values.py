"""JSON from strangers: parsed whole or refused, and its values checked before they become a turn."""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import datetime, timedelta, timezone
from typing import Any, NoReturn

import orjson

_EPOCH = datetime(1970, 1, 1, tzinfo=timezone.utc)


def parse(data: bytes) -> Any:
    """Return a JSON value. Raise ValueError for anything else, NaN and too deep a nesting among it."""
    try:
        return orjson.loads(data)
    except orjson.JSONDecodeError as error:
        return _parse_surrogates(data, error)


def text_of(row: Mapping[str, Any], name: str) -> str | None:
    """Return a field that must be a string where it is given. Raise ValueError for another type."""
    value = row.get(name)
    if value is not None and not isinstance(value, str):
        raise unfit(name, value, "a string")
    return value


def moment(value: object) -> datetime:
    """Return a moment given in ISO 8601 (naive stays naive) or in seconds since 1970 (UTC). Raise ValueError."""
    if isinstance(value, str):
        try:
            return datetime.fromisoformat(value.strip().replace("Z", "+00:00"))
        except ValueError as error:
            raise unfit("time", value, "ISO 8601, such as '2024-03-12T18:20'") from error
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        try:
            return _EPOCH + timedelta(seconds=value)
        except OverflowError as error:
            raise unfit("time", value, "seconds since 1970, not milliseconds") from error
    raise unfit("time", value, "ISO 8601, such as '2024-03-12T18:20', or seconds since 1970")


def unfit(what: str, value: object, expected: str) -> ValueError:
    """Return the error for a value that does not fit its place."""
    return ValueError(f"{what} is {shown(value)}; expected {expected}")


def shown(value: object) -> str:
    """Return a value for an error message, cut short: a message never carries a whole turn."""
    text = repr(value)
    return text if len(text) <= 40 else f"{text[:40]}..."


def _parse_surrogates(data: bytes, first: orjson.JSONDecodeError) -> Any:
    # The standard library reads escaped lone surrogates, which orjson refuses and an emoji cut in half leaves behind.
    if b"\\ud" not in data.lower():
        raise ValueError(f"not JSON ({first})") from first
    try:
        return json.loads(data, parse_constant=_no_constant)
    except RecursionError as error:
        raise ValueError("not JSON that can be read: it is nested too deeply") from error


def _no_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not JSON")
