"""Text as SQLite can hold it, and back: lone surrogates are no UTF-8, and are kept as bytes."""

from __future__ import annotations

from typing import Any


class LoneSurrogates(bytes):
    """Text that is not valid Unicode, as bytes: another engine tells it from bytes by this type."""


def bindable(text: str) -> str | bytes:
    """Return text as SQLite can hold it: lone surrogates, which are not UTF-8, as bytes."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return LoneSurrogates(text.encode("utf-8", "surrogatepass"))
    return text


def is_text(value: object) -> bool:
    """Return whether a value is text without lone surrogates, as every id and name is that was ever stored."""
    return isinstance(value, str) and isinstance(bindable(value), str)


def unbound(value: Any) -> str:
    """Return the text that `bindable` made bindable."""
    return value.decode("utf-8", "surrogatepass") if isinstance(value, bytes) else value
