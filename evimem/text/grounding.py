"""What texts say, and what a phrase adds to it: a number, a name, or a word in whose place they may have another."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import cache

from ..lang import ENGLISH
from ..lang.guess import language_of
from .terms import stem, terms

ANCHORED = 0.5  # share of a phrase's terms that must stand in the sources
_WORD = re.compile(r"[^\W_]+(?:['\u2019][^\W_]+)*")
_FIGURES = re.compile(r"\d+(?:[.,]\d+)*")
_THOUSANDS = re.compile(r"(\d+)k\b", re.IGNORECASE)


class Sources:
    """The words of some texts, read once, in which phrases are to stand. "Mum" stands for a mother too."""

    def __init__(self, texts: Iterable[str]) -> None:
        said = "\n".join(texts)
        self._stems = set(terms(said))
        self._stems |= {form for one in self._stems for form in _kin().get(one, ())}
        self._figures = _figures(said) | {f"{figures}000" for figures in _THOUSANDS.findall(said)}
        in_words = ENGLISH.table("dates.numbers").items()
        self._figures |= {str(value) for word, value in in_words if stem(word) in self._stems}
        self._tells_names = language_of(said) != "de"  # where every noun has a capital

    def anchor(self, phrase: str, share: float = ANCHORED) -> bool:
        """Return whether at least a share of a phrase's terms, and each of its numbers, stand in the texts."""
        size = len(terms(phrase))
        return _figures(phrase) <= self._figures and size - self.lacking(phrase) >= share * size

    def lacking(self, phrase: str) -> int:
        """Return how many terms of a phrase do not stand in the texts."""
        return sum(not self._has(term) for term in terms(phrase))

    def names(self, phrase: str) -> bool:
        """Return whether the texts have each name and number of a phrase; in a script without capitals, each word."""
        if phrase.upper() == phrase.lower():
            return not self.lacking(phrase)
        capitalized = [word for word in _WORD.findall(phrase) if word[0].isupper()]
        return _figures(phrase) <= self._figures and not (self._tells_names and self.lacking(" ".join(capitalized)))

    def means(self, phrase: str) -> bool:
        """Return whether a phrase may be the texts' own words for somebody or something.

        Not where a word of it excludes others in its place and has no synonym there: a sister, where none was told of.
        """
        excluding = {word for word in _WORD.findall(phrase.lower()) if {word, word.rstrip("s")} & _excluding()}
        return self.names(phrase) and self.anchor(phrase) and all(map(self._has_synonym, excluding))

    def _has(self, term: str) -> bool:
        figures = _figures(term)
        return term in self._stems or (bool(figures) and figures <= self._figures)

    def _has_synonym(self, word: str) -> bool:
        places = _kinds().get(stem(word), ())
        return stem(word) in self._stems or any(not self._stems.isdisjoint(_groups()[place]) for place in places)


def _figures(text: str) -> set[str]:
    """Return the numbers that are written in figures, without what parts their digits or stands behind them."""
    return {re.sub("[.,]", "", found) for found in _FIGURES.findall(text)}


@cache
def _kin() -> dict[str, tuple[str, ...]]:
    """Return by each word for somebody's kin all words for them: stems."""
    groups = [tuple(map(stem, (kin, *forms))) for kin, forms in ENGLISH.lists("people.kin").items()]
    return {form: group for group in groups for form in group}


def contrasted(asked: Iterable[str], said: Iterable[str]) -> dict[str, str]:
    """Map each stem of `asked` of which no synonym occurs in `said`, but another stem of its kind, to that stem."""
    kinds = _kinds()
    spoken = {place: word for word in said for place in kinds.get(word, ())}
    other = {kind: word for (kind, _), word in spoken.items()}
    found = {}
    for word in asked:
        places = kinds.get(word, ())
        instead = next((other[kind] for kind, _ in places if kind in other), None)
        if instead is not None and not any(place in spoken for place in places):
            found[word] = instead
    return found


def synonyms(asked: str) -> frozenset[str]:
    """Return the synonyms of a stem among the contrasts; none for a stem of two kinds, which has two meanings."""
    places = _kinds().get(asked, ())
    return _groups().get(places[0], frozenset()) if len(places) == 1 else frozenset()


@cache
def _excluding() -> frozenset[str]:
    """Return the words of all kinds, and those for people and animals that somebody may have."""
    contrasts = (word for line in ENGLISH.words("contrasts.kinds") for word in re.split(r"[\s/]+", line))
    return frozenset((*contrasts, *ENGLISH.words("people.named")))


@cache
def _groups() -> dict[tuple[int, int], frozenset[str]]:
    """Return the synonyms at each place: (number of the kind, number of the word in it)."""
    groups: dict[tuple[int, int], frozenset[str]] = {}
    for word, places in _kinds().items():
        for place in places:
            groups[place] = groups.get(place, frozenset()) | {word}
    return groups


@cache
def _kinds() -> dict[str, tuple[tuple[int, int], ...]]:
    """Return the places of each stem: (number of the kind, number of the word in it)."""
    places: dict[str, tuple[tuple[int, int], ...]] = {}
    for kind, line in enumerate(ENGLISH.words("contrasts.kinds")):
        for number, group in enumerate(line.split()):
            for word in group.split("/"):
                places[stem(word)] = (*places.get(stem(word), ()), (kind, number))
    return places
