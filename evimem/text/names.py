"""Whether a text contains a name: whole words, case ignored; and the other forms of a name."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache, lru_cache

from ..lang import ENGLISH
from ..types.values import Fact

# Letters next to which a name is part of a longer word: not those of scripts without spaces, but Indic signs.
_LETTER = "[^\\W\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3005-\u30ff\u3400-\u9fff]|[\u0900-\u0dff]"
_SEVERAL = 4  # letters of a name whose last "s" may be that of several, or of a possessive that is written twice
_SHORTEST = 5  # letters of a name whose last "n" may make an adjective of it: "Anna" comes from no "Ann"


class NameSearch:
    """A text in which names are looked for, any number of them and again and again."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._folded = _folded(text)
        self._known: dict[str, bool] = {}

    def finds(self, name: str) -> bool:
        """Return whether the text contains a name; an empty one is in no text."""
        if name not in self._known:
            self._known[name] = self._find(name)
        return self._known[name]

    def _find(self, name: str) -> bool:
        first = next(iter(name.split()), "")
        if not first or _folded(first) not in self._folded:
            return False  # as the pattern says too, at ten times the price
        return next(whole_matches(_pattern(name), self._text), None) is not None


def names(text: str, name: str) -> bool:
    """Return whether a text contains a name; an empty one is in no text."""
    return NameSearch(text).finds(name)


def whole_matches(pattern: re.Pattern[str], text: str) -> Iterator[re.Match[str]]:
    """Yield where a pattern occurs and is no part of a longer word: "Jon" is not found in "Jonathan".

    Places may overlap. Looking at the letters here, not in each pattern, keeps their large class from being compiled
    for every name.
    """
    place = pattern.search(text)
    while place is not None:
        if not _letter().match(text[place.start() - 1 : place.start()]) and not _letter().match(text, place.end()):
            yield place
        place = pattern.search(text, place.start() + 1)


def whole_word(pattern: str) -> str:
    """Return the source of a pattern where it is no part of a longer word, in the scripts that part words by spaces."""
    return f"(?<!{_LETTER}){pattern}(?!{_LETTER})"


def _folded(text: str) -> str:
    """Return a text in which letters are equal wherever `re.IGNORECASE` takes them for equal."""
    return text.replace("\u0130", "i").replace("\u0131", "i").casefold()


@lru_cache(1024)
def _pattern(name: str) -> re.Pattern[str]:
    return re.compile(r"\s+".join(map(re.escape, name.split())), re.IGNORECASE)


@cache
def _letter() -> re.Pattern[str]:
    return re.compile(_LETTER)


def is_about(fact: Fact, speaker: str, entity: str) -> bool:
    """Return whether a fact is about an entity: its subject, its object or the turn's speaker names it (E7)."""
    return is_named_in(fact, entity) or names(speaker, entity)


def is_named_in(fact: Fact, entity: str) -> bool:
    """Return whether the subject or the object of a fact names an entity."""
    return names(fact.subject, entity) or names(fact.object, entity)


def other_forms(name: str) -> tuple[str, ...]:
    """Return what else the same name may be written as, in lower case: "Corkums" is Corkum, "Welsh" is of Wales.

    Only of single words; forms that no language has are harmless, as no text has them.
    """
    low = name.casefold().strip()
    if not low.isalpha():
        return ()
    return tuple(dict.fromkeys(form for form in _forms(low) if form != low))


def _forms(low: str) -> Iterator[str]:
    yield from _places().get(low, ())
    if len(low) >= _SHORTEST and low.endswith("an"):
        yield low[:-1]
        yield f"{low[:-1]}s"
    elif len(low) >= _SHORTEST and low.endswith("a"):
        yield f"{low}n"
    if low.endswith("s"):
        if len(low) >= _SEVERAL and not low.endswith("ss"):
            yield low[:-1]
    else:
        yield f"{low}s"


@cache
def _places() -> dict[str, tuple[str, ...]]:
    """Return the adjectives of each place, and the place of each adjective."""
    adjectives = ENGLISH.lists("places.adjectives")
    back = {adjective: (place,) for place, found in adjectives.items() for adjective in found}
    return {**back, **adjectives}
