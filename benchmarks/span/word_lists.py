"""The word lists by which a span is read: `words.toml`."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import tomllib

_LISTS: Mapping[str, Any] = tomllib.loads((Path(__file__).parent / "words.toml").read_text("utf-8"))
STANDS_FOR: Mapping[str, tuple[str, ...]] = {form: tuple(text.split()) for form, text in _LISTS["stands_for"].items()}


def span_words(name: str) -> tuple[str, ...]:
    """Return a list of words. Raise KeyError for one that there is not."""
    listed = _LISTS[name]
    return tuple(listed.split() if isinstance(listed, str) else listed)


def any_span_word(name: str) -> str:
    """Return the source of a pattern for any word of a list."""
    phrases = (re.escape(phrase).replace(r"\ ", r"\s+") for phrase in span_words(name))
    return f"(?:{'|'.join(phrases)})"
