"""The keywords of a memory that words match: their own stems, or those that mean nearly the same."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from ..text.terms import terms
from ..types.stored import Keyword
from .related_words import meant_by

MOST_NEAR = 3  # keywords that stand for a word which no turn has


def match_keywords(words: Sequence[str], turns_with: Callable[[str], int]) -> tuple[Keyword, ...]:
    """Return the keywords that words match, each once; `turns_with` counts the turns that have a term."""
    found: dict[str, Keyword] = {}
    for word in words:
        for keyword in _matches(word, turns_with):
            known = found.get(keyword.term)
            if known is None or known.closeness < keyword.closeness:
                found[keyword.term] = keyword
    return tuple(found.values())


def _matches(word: str, turns_with: Callable[[str], int]) -> list[Keyword]:
    own = [Keyword(word, term, count) for term in dict.fromkeys(terms(word)) if (count := turns_with(term))]
    return own or list(_near(word, turns_with))[:MOST_NEAR]


def _near(word: str, turns_with: Callable[[str], int]) -> Iterator[Keyword]:
    nearest: dict[str, float] = {}
    for term, closeness in meant_by(word.casefold()):
        nearest[term] = max(closeness, nearest.get(term, 0.0))
    for term, closeness in sorted(nearest.items(), key=lambda pair: (-pair[1], pair[0])):
        if count := turns_with(term):
            yield Keyword(word, term, count, closeness)
