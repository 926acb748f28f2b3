"""Parse untrusted JSON and check its values before they become a turn."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from datetime import datetime, timedelta, timezone
from typing import Any, NoReturn

import orjson

from ..errors import shown

_FRACTION = re.compile(r"\.(\d+)")
_EPOCH = datetime(1970, 1, 1, tzinfo=timezone.utc)


def parse(data: bytes) -> Any:
    """Return a JSON value. Raise ValueError for invalid JSON, NaN, infinities and too deep nesting."""
    try:
        return orjson.loads(data)
    except orjson.JSONDecodeError as error:
        return _parse_surrogates(data, error)


def text_of(row: Mapping[str, Any], name: str) -> str | None:
    """Return an optional string field. Raise ValueError for another type."""
    value = row.get(name)
    if value is not None and not isinstance(value, str):
        raise mismatch_error(name, value, "a string")
    return value


def time_of(value: object) -> datetime:
    """Return a time given in ISO 8601 (naive stays naive) or in seconds since 1970 (UTC). Raise ValueError else."""
    if isinstance(value, str):
        try:
            return datetime.fromisoformat(_FRACTION.sub(_microseconds, value.strip().replace("Z", "+00:00")))
        except ValueError as error:
            raise mismatch_error("time", value, "ISO 8601, such as '2024-03-12T18:20'") from error
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        try:
            return _EPOCH + timedelta(seconds=value)
        except OverflowError as error:
            raise mismatch_error("time", value, "seconds since 1970, not milliseconds") from error
    raise mismatch_error("time", value, "ISO 8601, such as '2024-03-12T18:20', or seconds since 1970")


def _microseconds(fraction: re.Match[str]) -> str:
    return f".{fraction[1][:6]:0<6}"  # Python 3.10 reads three or six digits only


def mismatch_error(what: str, value: object, expected: str) -> ValueError:
    """Return the error for a value of the wrong type or form."""
    return ValueError(f"{what} is {shown(value, 40)}; expected {expected}")


def _parse_surrogates(data: bytes, first: orjson.JSONDecodeError) -> Any:
    # orjson refuses escaped lone surrogates, which truncated emoji leave behind; the standard library reads them.
    if b"\\ud" not in data.lower():
        raise ValueError(f"not JSON ({first})") from first
    try:
        return json.loads(data, parse_constant=_no_constant)
    except RecursionError as error:
        raise ValueError("not JSON that can be read: it is nested too deeply") from error


def _no_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not JSON")
