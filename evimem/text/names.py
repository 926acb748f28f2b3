"""Whether a text contains a name: whole words, case ignored."""

from __future__ import annotations

import re
from functools import lru_cache

from ..types.values import Fact

# Letters next to which a name is part of a longer word: not those of scripts without spaces, but Indic signs.
_LETTER = "[^\\W\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3005-\u30ff\u3400-\u9fff]|[\u0900-\u0dff]"


@lru_cache(1024)
def name_pattern(name: str) -> re.Pattern[str]:
    """Return a pattern that finds a name by word boundary: "Jon" is not found in "Jonathan"."""
    words = r"\s+".join(re.escape(word) for word in name.split())
    return re.compile(whole_word(rf"{words}(?:['\u2019]s)?"), re.IGNORECASE)


def whole_word(pattern: str) -> str:
    """Return the source of a pattern where it is no part of a longer word, in the scripts that part words by spaces."""
    return f"(?<!{_LETTER}){pattern}(?!{_LETTER})"


def names(text: str, name: str) -> bool:
    """Return whether a text contains a name."""
    first = next(iter(name.lower().split()), "")
    if text.isascii() and first.isascii() and first not in text.lower():
        return False  # as the pattern says too, at twenty times the price
    return name_pattern(name).search(text) is not None


def is_about(fact: Fact, speaker: str, entity: str) -> bool:
    """Return whether a fact is about an entity: its subject, its object or the turn's speaker names it (E7)."""
    return any(names(text, entity) for text in (fact.subject, fact.object, speaker))
