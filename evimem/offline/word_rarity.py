"""How much a word tells: rare ones more, by the order of the shipped vocabulary, which is that of frequency."""

from __future__ import annotations

import math
from functools import cache

from ..text.vocabulary_stems import vocabulary_stems

_LETTERS = 1000  # the vocabulary begins with marks and single characters; words follow, the most frequent first
_LEAST, _MOST = math.log(60), math.log(30_000)


def rarity(term: str) -> float:
    """Return 0 for the commonest of stems to 1 for one that the vocabulary does not have."""
    rank = _ranks().get(term)
    if rank is None:
        return 1.0
    return max(0.0, (math.log(max(rank, 60)) - _LEAST) / (_MOST - _LEAST))


@cache
def _ranks() -> dict[str, int]:
    ranks: dict[str, int] = {}
    for number, term in enumerate(vocabulary_stems()[_LETTERS - 100 :]):
        if term:
            ranks.setdefault(term, number)
    return ranks
