"""Which facts are about whom: distinct facts per entity, by alias and word boundary (E7)."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import cache

from ..evidence import Evidence


def facts_about(entity: str, evidence: Iterable[Evidence]) -> frozenset[str]:
    """Return the ids of the facts whose subject, object or speaker is the entity."""
    pattern = _pattern(entity)
    return frozenset(
        fact.id
        for item in evidence
        for fact in item.facts
        if pattern.search(item.turn.speaker) or pattern.search(fact.subject) or pattern.search(fact.object)
    )


@cache
def _pattern(entity: str) -> re.Pattern[str]:
    return re.compile(rf"(?<!\w){re.escape(entity)}(?!\w)", re.IGNORECASE)
