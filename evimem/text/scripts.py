"""In which script a text is written."""

from __future__ import annotations

import unicodedata
from collections import Counter


def scripts(text: str) -> Counter[str]:
    """Return how many letters of each script a text has, by the name that Unicode gives it ("LATIN", "DEVANAGARI")."""
    return Counter(unicodedata.name(letter, "").partition(" ")[0] for letter in text if letter.isalpha())
