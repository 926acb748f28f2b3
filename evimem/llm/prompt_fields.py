"""Tolerant readers for the fields of a model's reply: a value of the wanted type, or None, or an empty value."""

from __future__ import annotations

import math
import re
from collections.abc import Collection
from typing import Any

MAX_TEXT = 4_000  # characters
MAX_ITEMS = 200

# Controls, what Unicode lets a renderer ignore (zero-width, bidirectional, variation and tag characters, fillers),
# and lone surrogates: they can hide text.
_INVISIBLE = re.compile(
    "[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u200b\u200e\u200f\u202a-\u202e\u2060-\u206f"
    "\u3164\ud800-\udfff\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufffb\U0001bca0-\U0001bca3\U0001d173-\U0001d17a"
    "\U000e0000-\U000e0fff]"
)
# A joiner belongs to the text after a letter of a script that is written with it (Arabic, those of India and further
# east), and between two parts of an emoji; so does a Mongolian variation selector. Alone: a row of them hides text.
_SCRIPTS = "\u0620-\u08ff\u0900-\u109f\u1780-\u18af\ufb50-\ufdff\ufe70-\ufefc"
_EMOJI = "\u2190-\u2bff\u3030\u303d\U0001f000-\U0001faff"
_JOINERS = "\u180b-\u180f\u200c\u200d"
_JOINER = re.compile(
    f"[{_JOINERS}]{{2,}}|(?<![{_SCRIPTS}])(?:[\u180b-\u180f\u200c]|\u200d(?![{_EMOJI}])|(?<![{_EMOJI}])\u200d)"
)
_NUMBER = re.compile(r"-?\d{1,12}(?:\.\d{1,12})?\s*%?")
_NOTHING = {"", "none", "n/a", "na", "nothing", "no", "null", "nil", "no gap", "no gaps", "nothing missing"}


def visible(text: str) -> str:
    """Return a text without invisible characters, but for those that its script needs."""
    return text if text.isascii() and text.isprintable() else _JOINER.sub("", _INVISIBLE.sub("", text))


def text(value: Any, limit: int = MAX_TEXT) -> str:
    """Return a string or a number as clean text of at most `limit` characters, anything else as an empty string."""
    if isinstance(value, bool) or not isinstance(value, (str, int, float)):
        return ""
    if isinstance(value, int) and abs(value) >= 10**18:
        return ""
    return visible(str(value)[: 2 * limit]).strip()[:limit]


def stated(value: Any, limit: int = MAX_TEXT) -> str:
    """Return a text as `text` does, but an empty one for a word such as "none." or "N/A"."""
    clean = text(value, limit)
    return "" if clean.strip(" .!-*_\"'").lower() in _NOTHING else clean


def confidence(value: Any) -> float | None:
    """Return a number in 0..1, read from 0.95, "0.95 (high)", 95 or "95%"; None for anything else."""
    if isinstance(value, bool):
        return None
    if isinstance(value, str):
        match = _NUMBER.search(value[:80])
        if match is None:
            return None
        number = float(match[0].rstrip("% ")) / (100 if "%" in match[0] else 1)
    elif isinstance(value, float) or (isinstance(value, int) and abs(value) <= 100):
        number = float(value)
    else:
        return None
    if 1 < number <= 100:
        number /= 100
    return number if math.isfinite(number) and 0 <= number <= 1 else None


def flag(value: Any) -> bool | None:
    """Return a yes or no as a boolean, None for neither."""
    if isinstance(value, bool):
        return value
    word = re.match(r"\W*(\w+)", text(value, 40).lower())
    if word is None:
        return None
    return {"yes": True, "true": True, "y": True, "no": False, "false": False, "n": False}.get(word[1])


def choice(value: Any, allowed: Collection[str]) -> str | None:
    """Return the allowed word that a field holds, ignoring case and punctuation; None for another."""
    word = re.sub(r"[\s-]+", "_", text(value, 80).strip(" .!*_`\"'").lower())
    return word if word in allowed else None


def items(value: Any) -> list[Any]:
    """Return at most MAX_ITEMS items: of a list, or of a string split at commas, semicolons and line breaks."""
    if isinstance(value, list):
        return value[:MAX_ITEMS]
    if not isinstance(value, str):
        return []
    parts = re.split(r"[,;\n]", stated(value).strip("[](){} "))
    return [part.strip(" \"'*-[]()") for part in parts if part.strip(" \"'*-[]()")][:MAX_ITEMS]


def sentences(value: Any, limit: int) -> tuple[str, ...]:
    """Return the non-empty texts among the first `limit` items of a list, or lines of a string."""
    parts = value.split("\n") if isinstance(value, str) else items(value)
    return tuple(clean for sentence in parts[:limit] if (clean := stated(sentence)))
