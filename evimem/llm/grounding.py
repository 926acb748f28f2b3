"""Grounding of a model's output in a turn: the position of a quote, and words without a source."""

from __future__ import annotations

import re
from collections.abc import Iterable

from ..text.terms import terms, words
from .prompt_fields import visible

MAX_QUOTE = 1_000  # characters
ANCHORED = 0.5  # share of a phrase's terms that must stand in the sources
_MARKS = " \t\r\n\"'.,;:!?\u2026\u201c\u201d\u2018\u2019"


def find_quote(quote: str, text: str) -> tuple[int, int] | None:
    """Return the character range of a quote in a text, ignoring white space, case, punctuation and what is invisible.

    Of the text: a model reads, and so quotes, only what is visible of it.
    """
    if len(quote) > MAX_QUOTE:
        return None
    shown = visible(text)
    found = _find(quote, shown)
    if found is None or shown == text:
        return found
    places = _places(shown, text)
    return places[found[0]], places[found[1] - 1] + 1


def _places(shown: str, text: str) -> list[int]:
    """Return where each character stands in the text that some were left out of."""
    places: list[int] = []
    for place, character in enumerate(text):
        if len(places) < len(shown) and shown[len(places)] == character:
            places.append(place)
    return places


def _find(quote: str, text: str) -> tuple[int, int] | None:
    for candidate in (quote.split(), quote.strip(_MARKS).split()):
        if candidate:
            pattern = r"\s+".join(re.escape(word) for word in candidate)
            match = re.search(pattern, text) or re.search(pattern, text, re.IGNORECASE)
            if match:
                return match.span()
    return None


class Sources:
    """The words of some texts, read once, in which phrases are to stand."""

    def __init__(self, texts: Iterable[str]) -> None:
        texts = tuple(texts)
        self._stems = {term for text in texts for term in terms(text)}
        self._numbers = {word for text in texts for word in words(text) if any(c.isdigit() for c in word)}

    def anchor(self, phrase: str, share: float = ANCHORED) -> bool:
        """Return whether at least a share of a phrase's terms, and each of its numbers, stand in the texts."""
        own = terms(phrase)
        invented = [word for word in words(phrase) if any(c.isdigit() for c in word) and word not in self._numbers]
        return not invented and sum(term in self._stems for term in own) >= share * len(own)


def is_anchored(phrase: str, sources: Iterable[str], *, share: float = ANCHORED) -> bool:
    """Return whether at least a share of a phrase's terms, and each of its numbers, stand in the sources."""
    return Sources(sources).anchor(phrase, share)
