"""Whether a text contains a name: whole words, case ignored."""

from __future__ import annotations

import re
from functools import lru_cache

from ..types.values import Fact


@lru_cache(1024)
def name_pattern(name: str) -> re.Pattern[str]:
    """Return a pattern that finds a name by word boundary: "Jon" is not found in "Jonathan"."""
    words = r"\s+".join(re.escape(word) for word in name.split())
    return re.compile(rf"(?<!\w){words}(?:['\u2019]s)?(?!\w)", re.IGNORECASE)


def names(text: str, name: str) -> bool:
    """Return whether a text contains a name."""
    return name_pattern(name).search(text) is not None


def is_about(fact: Fact, speaker: str, entity: str) -> bool:
    """Return whether a fact is about an entity: its subject, its object or the turn's speaker names it (E7)."""
    return any(names(text, entity) for text in (fact.subject, fact.object, speaker))
