"""The settings of a model or an embedder behind an endpoint: checked when it is constructed."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any
from urllib.parse import urlsplit

from ..errors import InvalidQuery

_TEXTS = ("model", "judge_model", "answer_model", "extract_model", "api_key")
_COUNTS = {"dimension": 0, "max_retries": 0, "concurrency": 1, "batch": 1, "max_characters": 1}
_MOST = 2**31 - 1
_TEMPERATURES = ("temperature", "judge_temperature", "answer_temperature", "extract_temperature")
_LONGEST = 86_400.0  # seconds of a deadline


def check_settings(settings: Any, names: tuple[str, ...]) -> None:
    """Raise InvalidQuery for the first of these fields that has another type or range than its class documents."""
    for name in names:
        value = getattr(settings, name)
        if (wanted := _expected(name, value)) is not None:
            raise InvalidQuery(f"{name} is of type {type(value).__name__} or out of range; expected {wanted}")


def _expected(name: str, value: Any) -> str | None:
    """Return what was expected in place of a value, or None for a good one."""
    if name in _TEXTS:
        fine, wanted = (isinstance(value, str) and value != "") or (value is None and name != "model"), "a text"
    elif name == "base_url":
        fine, wanted = value is None or _is_url(value), "a URL such as 'http://localhost:11434/v1', or None"
    elif name in _COUNTS:
        fine = isinstance(value, int) and _COUNTS[name] <= value <= _MOST
        wanted = f"a whole number from {_COUNTS[name]} on"
    elif name == "deadline":
        fine, wanted = _is_number(value) and 0 < value <= _LONGEST, f"seconds above 0, at most {_LONGEST:g}"
    elif name in _TEMPERATURES:
        fine, wanted = value is None or (_is_number(value) and value >= 0), "a number from 0 on, or None"
    elif name == "prices":
        fine = isinstance(value, Mapping) and all(_is_price(price) for price in value.values())
        wanted = "two numbers by model name: dollars per million input and output tokens"
    else:
        fine, wanted = isinstance(value, Mapping), "a mapping of names to JSON values"
    return None if fine else wanted


def _is_number(value: object) -> bool:
    return isinstance(value, (int, float)) and abs(value) < 1e300 and math.isfinite(value)


def _is_price(value: object) -> bool:
    return isinstance(value, (tuple, list)) and len(value) == 2 and all(_is_number(one) and one >= 0 for one in value)


def _is_url(value: object) -> bool:
    if not isinstance(value, str) or not value.isprintable() or not value.isascii():
        return False
    try:
        parts = urlsplit(value)
        return parts.scheme in {"http", "https"} and bool(parts.hostname) and parts.port != 0
    except ValueError:
        return False
