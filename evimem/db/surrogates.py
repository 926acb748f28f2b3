"""Text with lone surrogates, which SQLite cannot store as text."""

from __future__ import annotations

from typing import Any


def bindable(text: str) -> str | bytes:
    """Return text as SQLite can store it: as bytes if it has lone surrogates, which are not valid UTF-8."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-8", "surrogatepass")
    return text


def unbound(value: Any) -> str:
    """Return the text that was given to `bindable`."""
    return value.decode("utf-8", "surrogatepass") if isinstance(value, bytes) else value
