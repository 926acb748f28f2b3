"""Other spellings that a word of a question may stand for: typing errors, and Korean nouns with another particle.

They are looked for at query time only, so that no stored term depends on them.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Iterator
from functools import cache, lru_cache

from ..lang import Language
from ..lang.guess import ENGLISH_OR_UNKNOWN, LANGUAGES, guess_language
from .terms import plain, stem, vocabulary_stems

MIN_LETTERS = 4  # of a word that may be mistyped: every shorter one is near to too many words
MAX_MISTYPED_WORDS = 4  # of a text that other spellings are looked up for: hundreds of terms each
SHARED_LETTERS = 3  # first letters that two words two edits apart must share, so that few are compared

_LATIN = "abcdefghijklmnopqrstuvwxyz"
_CYRILLIC = "абвгдежзийклмнопрстуфхцчшщъыьэюяіїєґ"
_GREEK = "αβγδεζηθικλμνξοπρστυφχψως"
_ALPHABETS = tuple((frozenset(letters), letters) for letters in (_LATIN, _CYRILLIC, _GREEK))
_HANGUL = re.compile(r"[\uac00-\ud7a3]+")


def may_be_mistyped(word: str, text: str, *, named: bool = False) -> bool:
    """Return whether a word of a text, in lower case, is long enough for a typing error and no word that is known.

    Known are the words of the shipped vocabulary, and the function words of the text's language. `named` is whether it
    has the capital letter of a name.
    """
    code = guess_language(text)
    foreign = code not in ENGLISH_OR_UNKNOWN
    # Words of other languages than English are not known, so that one needs 6 letters;
    # a name needs 5: "Mara" and "Mira" are two people.
    least = 6 if foreign else 5 if named else MIN_LETTERS
    # A word of over 24 letters is a code or a link.
    if not least <= len(word) <= 24 or not word.isalpha() or is_known_word(word):
        return False
    return not (foreign and code in LANGUAGES and word in _function_words(code))


@cache
def _function_words(code: str) -> frozenset[str]:
    return frozenset(map(plain, Language(code).words("common.function_words")))


def is_known_word(word: str) -> bool:
    """Return whether a word, in lower case, shares its stem with one of the shipped vocabulary."""
    return stem(word) in _known_stems()


@cache
def _known_stems() -> frozenset[str]:
    return frozenset(vocabulary_stems())


@lru_cache(maxsize=256)
def likely_terms(word: str) -> tuple[tuple[str, ...], ...]:
    """Return the terms of all words one edit away from a word, in groups, likelier ones first.

    First come those of two neighbouring letters swapped, the commonest slip, then those of a letter left out,
    added, replaced. Of the latter, only those about as long as the word's own term: "spotless" is no slip for
    "spotness", whose term is "spot". None for scripts whose alphabet is not listed here.
    """
    letters = next((each for known, each in _ALPHABETS if not known.isdisjoint(word)), None)
    if letters is None:
        return ()
    own = stem(word)
    swaps = {stem(other) for other in _swaps(word)} - {own}
    others = {term for other in _edits(word, letters) if abs(len(term := stem(other)) - len(own)) <= 1} - {own} - swaps
    return tuple(sorted(swaps)), tuple(sorted(others))


def _swaps(word: str) -> Iterator[str]:
    return (word[:at] + word[at + 1] + word[at] + word[at + 2 :] for at in range(len(word) - 1))


def _edits(word: str, letters: str) -> Iterator[str]:
    for at in range(len(word) + 1):
        before, after = word[:at], word[at:]
        yield from (before + letter + after for letter in letters)
        if after:
            yield before + after[1:]
            yield from (before + letter + after[1:] for letter in letters)


def first_found(groups: Iterable[Iterable[str]], is_stored: Callable[[str], bool]) -> tuple[str, ...]:
    """Return the stored terms of the first group that has any."""
    found = (tuple(term for term in group if is_stored(term)) for group in groups)
    return next((terms for terms in found if terms), ())


def terms_two_edits_away(word: str, vocabulary: Iterable[str]) -> tuple[str, ...]:
    """Return the terms of a vocabulary that are at most two edits away from a long word, sorted; none for a short one.

    The vocabulary may be a part of one: the terms that share the word's first SHARED_LETTERS letters.
    """
    # Two letters may be wrong in a word of 9 letters or more.
    if len(word) < 9:
        return ()
    own = stem(word)
    near = (term for term in vocabulary if len(term) > SHARED_LETTERS + 2 and abs(len(term) - len(own)) <= 2)
    return tuple(sorted(term for term in near if distance(own, term) <= 2))


def other_spellings(word: str, text: str, vocabulary: Collection[str], *, named: bool = False) -> tuple[str, ...]:
    """Return the terms of a small vocabulary that a word of a text may stand for, as a search finds them.

    The vocabulary does not have the word; `named` as in `may_be_mistyped`.
    """
    if particles := terms_with_other_particles(word):
        return first_found([particles], vocabulary.__contains__)
    if not may_be_mistyped(word, text, named=named):
        return ()
    near = first_found(likely_terms(word), vocabulary.__contains__)
    beginning = stem(word)[:SHARED_LETTERS]
    return near or terms_two_edits_away(word, (term for term in vocabulary if term.startswith(beginning)))


def distance(one: str, other: str) -> int:
    """Return how many edits make one word of another; a swap of two neighbouring letters is one."""
    before: list[int] = []
    row = list(range(len(other) + 1))
    for at, letter in enumerate(one, start=1):
        oldest, before, row = before, row, [at]
        for place, against in enumerate(other, start=1):
            cost = min(before[place] + 1, row[place - 1] + 1, before[place - 1] + (letter != against))
            if at > 1 and place > 1 and letter == other[place - 2] and one[at - 2] == against:
                cost = min(cost, oldest[place - 2] + 1)
            row.append(cost)
    return row[-1]


@lru_cache(maxsize=256)
def terms_with_other_particles(word: str) -> tuple[str, ...]:
    """Return the Korean terms that are a word's noun with other particles or with none; none for other scripts."""
    if not _HANGUL.fullmatch(word):
        return ()
    particles = Language("ko").words("particles.noun")
    nouns = {word, *(word.removesuffix(particle) for particle in particles)} - {""}
    return tuple(sorted({noun + particle for noun in nouns for particle in ("", *particles)} - {word}))
