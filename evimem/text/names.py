"""Names in texts by whole words, and the additions of a phrase to them: a number, a name, or a word of a kind."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from functools import cache, lru_cache

from ..lang import ENGLISH
from ..lang.guess import guess_language
from ..types.values import Fact
from .terms import stem, terms

# Letters next to which a name is part of a longer word: not those of scripts without spaces, but Indic signs.
_LETTER = "[^\\W\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3005-\u30ff\u3400-\u9fff]|[\u0900-\u0dff]"
_MIN_ADJECTIVE_LETTERS = 5  # letters of a name whose last "n" may make an adjective of it: "Anna" comes from no "Ann"
_WORD = re.compile(r"[^\W_]+(?:['\u2019][^\W_]+)*")
_FIGURES = re.compile(r"\d+(?:[.,]\d+)*")
_THOUSANDS = re.compile(r"(\d+)k\b", re.IGNORECASE)


class NameSearch:
    """A text in which names are looked for, any number of them and again and again."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._folded = _fold_case(text)
        self._known: dict[str, bool] = {}

    def contains_name(self, name: str) -> bool:
        """Return whether the text contains a name; an empty one is in no text."""
        if name not in self._known:
            self._known[name] = self._search_name(name)
        return self._known[name]

    def _search_name(self, name: str) -> bool:
        first = next(iter(name.split()), "")
        if not first or _fold_case(first) not in self._folded:
            return False  # as the pattern says too, at ten times the price
        return next(find_whole_matches(_name_pattern(name), self._text), None) is not None


def contains_name(text: str, name: str) -> bool:
    """Return whether a text contains a name; an empty one is in no text."""
    return NameSearch(text).contains_name(name)


def find_whole_matches(pattern: re.Pattern[str], text: str) -> Iterator[re.Match[str]]:
    """Yield where a pattern occurs and is no part of a longer word: "Jon" is not found in "Jonathan".

    Places may overlap. Looking at the letters here, not in each pattern, keeps their large class from being compiled
    for every name.
    """
    place = pattern.search(text)
    while place is not None:
        if not _letter_pattern().match(text[place.start() - 1 : place.start()]) and not _letter_pattern().match(
            text, place.end()
        ):
            yield place
        place = pattern.search(text, place.start() + 1)


def whole_word_source(pattern: str) -> str:
    """Return the source of a pattern where it is no part of a longer word, in the scripts that part words by spaces."""
    return f"(?<!{_LETTER}){pattern}(?!{_LETTER})"


def _fold_case(text: str) -> str:
    """Return a text in which letters are equal wherever `re.IGNORECASE` takes them for equal."""
    return text.replace("\u0130", "i").replace("\u0131", "i").casefold()


@lru_cache(1024)
def _name_pattern(name: str) -> re.Pattern[str]:
    return re.compile(r"\s+".join(map(re.escape, name.split())), re.IGNORECASE)


@cache
def _letter_pattern() -> re.Pattern[str]:
    return re.compile(_LETTER)


def is_fact_about(fact: Fact, speaker: str, entity: str) -> bool:
    """Return whether a fact is about an entity: its subject, its object or the turn's speaker names it (E7)."""
    return is_named_in(fact, entity) or contains_name(speaker, entity)


def is_named_in(fact: Fact, entity: str) -> bool:
    """Return whether the subject or the object of a fact names an entity."""
    return contains_name(fact.subject, entity) or contains_name(fact.object, entity)


def other_forms(name: str) -> tuple[str, ...]:
    """Return other spellings of the same name, in lower case: "Corkums" is Corkum, "Welsh" is of Wales.

    Only of single words; forms that no language has are harmless, as no text has them.
    """
    low = name.casefold().strip()
    if not low.isalpha():
        return ()
    return tuple(dict.fromkeys(form for form in _name_forms(low) if form != low))


def _name_forms(low: str) -> Iterator[str]:
    yield from _load_place_adjectives().get(low, ())
    if len(low) >= _MIN_ADJECTIVE_LETTERS and low.endswith("an"):
        yield low[:-1]
        yield f"{low[:-1]}s"
    elif len(low) >= _MIN_ADJECTIVE_LETTERS and low.endswith("a"):
        yield f"{low}n"
    if low.endswith("s"):
        # The last "s" of four letters or more may be that of several, or of a possessive that is written twice.
        if len(low) >= 4 and not low.endswith("ss"):
            yield low[:-1]
    else:
        yield f"{low}s"


@cache
def _load_place_adjectives() -> dict[str, tuple[str, ...]]:
    """Return the adjectives of each place, and the place of each adjective."""
    adjectives = ENGLISH.lists("places.adjectives")
    back = {adjective: (place,) for place, found in adjectives.items() for adjective in found}
    return {**back, **adjectives}


# ---- Additions of a phrase to texts


class SourceWords:
    """The words of some texts, read once, in which phrases are to stand. "Mum" stands for a mother too."""

    def __init__(self, texts: Iterable[str]) -> None:
        said = "\n".join(texts)
        self._stems = set(terms(said))
        self._stems |= {form for one in self._stems for form in _load_kinship_synonyms().get(one, ())}
        self._figures = _find_numbers(said) | {f"{figures}000" for figures in _THOUSANDS.findall(said)}
        in_words = ENGLISH.table("dates.numbers").items()
        self._figures |= {str(value) for word, value in in_words if stem(word) in self._stems}
        self._tells_names = guess_language(said) != "de"  # where every noun has a capital

    def are_grounded(self, phrase: str, share: float = 0.5) -> bool:
        """Return whether at least a share of a phrase's terms, and each of its numbers, stand in the texts."""
        size = len(terms(phrase))
        return _find_numbers(phrase) <= self._figures and size - self.count_missing_terms(phrase) >= share * size

    def count_missing_terms(self, phrase: str) -> int:
        """Return how many terms of a phrase do not stand in the texts."""
        return sum(not self._contains_term(term) for term in terms(phrase))

    def contain_names_of(self, phrase: str) -> bool:
        """Return whether the texts have each name and number of a phrase; in a script without capitals, each word."""
        if phrase.upper() == phrase.lower():
            return not self.count_missing_terms(phrase)
        capitalized = [word for word in _WORD.findall(phrase) if word[0].isupper()]
        return _find_numbers(phrase) <= self._figures and not (
            self._tells_names and self.count_missing_terms(" ".join(capitalized))
        )

    def may_refer_to(self, phrase: str) -> bool:
        """Return whether a phrase may be the texts' own words for somebody or something.

        Not where a word of it excludes the other words in its place and has no synonym there: a sister, where none was
        told of.
        """
        excluding = {
            word for word in _WORD.findall(phrase.lower()) if {word, word.rstrip("s")} & _mutually_exclusive_words()
        }
        return self.contain_names_of(phrase) and self.are_grounded(phrase) and all(map(self._has_synonym, excluding))

    def _contains_term(self, term: str) -> bool:
        figures = _find_numbers(term)
        return term in self._stems or (bool(figures) and figures <= self._figures)

    def _has_synonym(self, word: str) -> bool:
        places = _synonym_places().get(stem(word), ())
        return stem(word) in self._stems or any(
            not self._stems.isdisjoint(_synonym_groups()[place]) for place in places
        )


def _find_numbers(text: str) -> set[str]:
    """Return the numbers that are written in figures, without separators and units."""
    return {re.sub("[.,]", "", found) for found in _FIGURES.findall(text)}


@cache
def _load_kinship_synonyms() -> dict[str, tuple[str, ...]]:
    """Return by each word for somebody's kin all words for them: stems."""
    groups = [tuple(map(stem, (kin, *forms))) for kin, forms in ENGLISH.lists("people.kin").items()]
    return {form: group for group in groups for form in group}


@cache
def _mutually_exclusive_words() -> frozenset[str]:
    """Return the words of all kinds, and those for people and animals that somebody may have."""
    contrasts = (word for line in ENGLISH.words("contrasts.kinds") for word in re.split(r"[\s/]+", line))
    return frozenset((*contrasts, *ENGLISH.words("people.named")))


@cache
def _synonym_groups() -> dict[tuple[int, int], frozenset[str]]:
    """Return the synonyms at each place: (number of the kind, number of the word in it)."""
    groups: dict[tuple[int, int], frozenset[str]] = {}
    for word, places in _synonym_places().items():
        for place in places:
            groups[place] = groups.get(place, frozenset()) | {word}
    return groups


@cache
def _synonym_places() -> dict[str, tuple[tuple[int, int], ...]]:
    """Return the places of each stem: (number of the kind, number of the word in it)."""
    places: dict[str, tuple[tuple[int, int], ...]] = {}
    for kind, line in enumerate(ENGLISH.words("contrasts.kinds")):
        for number, group in enumerate(line.split()):
            for word in group.split("/"):
                places[stem(word)] = (*places.get(stem(word), ()), (kind, number))
    return places
