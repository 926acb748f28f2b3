"""Turns found by what they state: by their facts alone, or by these and their words."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from typing import Literal

from ..types.values import FactHit, Hit

Over = Literal["turns", "facts", "both"]
OVERS: tuple[Over, ...] = ("turns", "facts", "both")
EACH = 4  # facts looked for, for each turn that is wanted
_FIRST = 60.0  # of reciprocal rank fusion (Cormack et al. 2009)


def turns_stating(facts: Sequence[FactHit]) -> tuple[Hit, ...]:
    """Return the turns of facts, best first, each with its facts that were found and the place of the best."""
    stating: dict[str, list[FactHit]] = defaultdict(list)
    for one in facts:
        stating[one.turn.id].append(one)
    return tuple(
        Hit(best.turn, tuple(one.fact for one in (best, *rest)), best.score, best.parts, "facts", (), best.fact.span)
        for best, *rest in stating.values()
    )


def joined(by_words: Sequence[Hit], by_facts: Sequence[Hit]) -> tuple[Hit, ...]:
    """Return the turns of two rankings in one, by their places in both; of a turn in both, the hit by its words."""
    hits = {hit.turn.id: hit for hit in (*by_facts, *by_words)}
    parts: dict[str, dict[str, float]] = defaultdict(dict)
    for name, found in (("turns", by_words), ("facts", by_facts)):
        for place, hit in enumerate(found, start=1):
            parts[hit.turn.id][name] = 1 / (_FIRST + place)
    placed = [
        Hit(hit.turn, hit.facts, sum(parts[turn_id].values()), parts[turn_id], "both", hit.neighbours, hit.span)
        for turn_id, hit in hits.items()
    ]
    return tuple(sorted(placed, key=lambda hit: -hit.score))
