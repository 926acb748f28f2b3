"""JSON of what a caller gave."""

from __future__ import annotations

from datetime import date, time
from typing import Any

import orjson


def json_bytes(value: Any, *, sort_keys: bool = False) -> bytes:
    """Return a value as JSON; a date or time is its ISO 8601 text. Raise TypeError for what JSON cannot say.

    orjson never reads a time here: one whose `tzinfo` raises makes it access memory that is not its own.
    """
    options = orjson.OPT_PASSTHROUGH_DATETIME | (orjson.OPT_SORT_KEYS if sort_keys else 0)
    return orjson.dumps(value, default=_text, option=options)


def _text(value: Any) -> str:
    if isinstance(value, (date, time)):  # a datetime is a date
        return value.isoformat()
    raise TypeError(f"a {type(value).__name__} is no JSON value")
