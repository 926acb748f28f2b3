"""Classes of words: a colour, a trade, a person, something alive; by lists, and by cosine to examples."""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from ...extract.verbs import lemma
from ...lang import ENGLISH
from ...text.terms import stem
from ..match_sentences import Array, word_vector
from ..signals import contrasted, synonyms


def _words(*names: str) -> frozenset[str]:
    return frozenset(word for name in names for word in ENGLISH.words(name))


_COLOURS = ENGLISH.words("word_classes.colours.basic")
_OTHER_COLOURS = _words("word_classes.colours.other")
_NO_COLOURS = _words("word_classes.colours.itself")
_SHADES = _words("word_classes.colours.shades")
_TRADES = ENGLISH.words("word_classes.trades.examples")
_TRADE_ENDINGS = ENGLISH.words("word_classes.trades.endings")
_NO_TRADE_ENDINGS = ENGLISH.words("word_classes.trades.no_endings")
_RELATIVES = _words("word_classes.relatives.male", "word_classes.relatives.female", "word_classes.relatives.either")
_OTHER_PEOPLE = _words(
    "word_classes.acquaintances.male", "word_classes.acquaintances.female", "word_classes.acquaintances.either"
)
_PEOPLE = _RELATIVES | _OTHER_PEOPLE | _words("word_classes.acquaintances.by_trade")
_NARROWER = {
    **ENGLISH.lists("word_classes.relatives.narrower"),
    "partner": ENGLISH.lists("kinds.instances")["spouse partner"],
}
_HE = _words("word_classes.relatives.male", "word_classes.acquaintances.male", "word_classes.titles.male")
_SHE = _words("word_classes.relatives.female", "word_classes.acquaintances.female", "word_classes.titles.female")
_ALIVE = ENGLISH.words("word_classes.examples.alive")
_LIFELESS = ENGLISH.words("word_classes.examples.lifeless")
_MATTER = ENGLISH.words("word_classes.examples.matter")
_NEAR_COLOUR, _NEAR_TRADE, _NEAR_AGENT, _NEAR_ALIVE = 0.5, 0.2, 0.34, 0.3  # least cosines to the mean example
_SLACK = 0.06  # a word with the ending of a trade may be this much nearer to lifeless things
AKIN = 0.45  # cosine from which one noun may be said for another


@lru_cache(maxsize=4096)
def is_colour(word: str) -> bool:
    """Return whether a word names a colour."""
    if word in _OTHER_COLOURS or word in _NO_COLOURS:
        return word in _OTHER_COLOURS
    return float(word_vector(word) @ _middle(_COLOURS)) >= _NEAR_COLOUR


def is_shade(word: str) -> bool:
    """Return whether a word tells shades of a colour apart."""
    return word in _SHADES


@lru_cache(maxsize=4096)
def is_trade(word: str) -> bool:
    """Return whether a noun names a trade."""
    if word in _RELATIVES or word in _OTHER_PEOPLE:
        return False
    vector = word_vector(word)
    trade = float(vector @ _middle(_TRADES))
    other = max(float(vector @ _middle(_LIFELESS)), float(vector @ _middle(_MATTER)))
    if word.endswith(_TRADE_ENDINGS) and len(word) > 4 and not word.endswith(_NO_TRADE_ENDINGS):
        return trade >= other - _SLACK
    return trade >= _NEAR_TRADE and trade > other


@lru_cache(maxsize=4096)
def is_trade_of(verb: str) -> bool:
    """Return whether a verb is the work of a trade: who teaches is a teacher."""
    base = lemma(verb)
    agents = [base + "r" if base.endswith("e") else base + "er", base + base[-1:] + "er"]
    return any(float(word_vector(agent) @ _middle(_TRADES)) >= _NEAR_AGENT for agent in agents)


@lru_cache(maxsize=4096)
def is_person(noun: str) -> bool:
    """Return whether a noun names a person, by a relation or a trade."""
    singular = lemma(noun)
    return noun in _PEOPLE or singular in _PEOPLE or is_trade(singular)


@lru_cache(maxsize=4096)
def is_alive(noun: str) -> bool:
    """Return whether a noun is of a living being, as far as its meaning tells."""
    if is_person(noun):
        return True
    vector = word_vector(noun)
    alive = float(vector @ _middle(_ALIVE))
    return alive > _NEAR_ALIVE and alive > float(vector @ _middle(_LIFELESS))


def gender(noun: str) -> str:
    """Return "he" or "she" where a noun says which, else nothing."""
    bare = noun.removesuffix(".")  # "Mr."
    return "he" if bare in _HE else "she" if bare in _SHE else ""


def same_noun(asked: str, said: str) -> bool:
    """Return whether two nouns are one word, or stand for the same."""
    return not meanings(asked).isdisjoint(stems(said))


@lru_cache(maxsize=1 << 13)
def stems(noun: str) -> frozenset[str]:
    """Return the stems that a noun is known by."""
    return frozenset((stem(noun), stem(lemma(noun))))


@lru_cache(maxsize=1 << 13)
def meanings(noun: str) -> frozenset[str]:
    """Return the stems of what a noun that is asked for may be called."""
    narrower = (stem(word) for word in _NARROWER.get(singular(noun), ()))
    return frozenset((*stems(noun), *synonyms(stem(noun)), *narrower))


@lru_cache(maxsize=1 << 14)
def akin(asked: str, said: str) -> bool:
    """Return whether a noun may be said for another, as the more special one: a labrador for a dog."""
    if same_noun(asked, said):
        return True
    if is_person(asked) or is_person(said) or contrasted([stem(asked)], [stem(said)]):
        return False
    return float(word_vector(asked) @ word_vector(said)) >= AKIN


def singular(noun: str) -> str:
    """Return a noun without the plural's ending."""
    return lemma(noun) if noun.endswith("s") and not noun.endswith("ss") else noun


@lru_cache(maxsize=8)
def _middle(examples: tuple[str, ...]) -> Array:
    total: Array = np.sum([word_vector(word) for word in examples], axis=0)
    return total / np.float32(np.linalg.norm(total))
