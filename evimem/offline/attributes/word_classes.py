"""What a word can stand for: a colour, a trade, a person, something alive; by examples and nearness of meaning."""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from ...extract.verbs import lemma
from ...text.terms import stem
from ..contrast_sets import contrasted, synonyms
from ..match_sentences import Array, word_vector

_COLOURS = "red blue green yellow brown black white grey orange pink purple"
_ODD_COLOURS = frozenset(
    """
    ginger brindle tabby tortoiseshell chestnut gold golden silver navy maroon scarlet crimson cream tan khaki teal
    turquoise beige ivory bronze copper blond blonde auburn violet lilac indigo magenta cyan olive mauve gray
    """.split()
)
_SHADES = frozenset("light dark pale bright deep".split())
_TRADES = "nurse plumber teacher engineer lawyer accountant chef driver doctor dentist musician"
_TRADE_ENDINGS = ("er", "or", "ist", "ian", "man", "woman", "smith", "wright")
_KIN = frozenset(
    """
    mother mom mum mama mommy father dad daddy papa parent sister brother sibling son daughter child kid baby uncle aunt
    nephew niece cousin husband wife grandmother grandma granny grandfather grandpa boyfriend girlfriend fiance fiancee
    stepmother stepfather twin grandson granddaughter grandchild missus ex-husband ex-wife partner spouse in-law ex
    """.split()
)
_TIES = frozenset(
    """
    friend mate neighbour neighbor colleague coworker flatmate roommate classmate teammate boss manager landlord
    landlady tutor coach teacher pupil student tenant assistant man woman boy girl lady guy people person
    """.split()
)
_NARROWER = {
    "child": "children kid kids son daughter baby toddler".split(),
    "children": "child kid kids son daughter baby toddler".split(),
    "kid": "child children son daughter baby toddler".split(),
    "parent": "mother mom mum father dad".split(),
    "sibling": "brother sister".split(),
    "spouse": "husband wife".split(),
    "partner": "husband wife boyfriend girlfriend fiance fiancee".split(),
    "pet": "dog cat puppy kitten rabbit parrot hamster fish bird turtle".split(),
}
_HE = frozenset(
    "father dad daddy papa brother son uncle nephew husband grandfather grandpa boyfriend stepfather grandson "
    "ex-husband man boy guy landlord mr. mr".split()
)
_SHE = frozenset(
    "mother mom mum mama mommy sister daughter aunt niece wife grandmother grandma granny girlfriend stepmother missus "
    "granddaughter ex-wife woman girl lady landlady mrs. mrs ms. ms".split()
)
_ALIVE = "dog cat rabbit horse bird puppy parrot hamster kitten"
_LIFELESS = "book table car house bicycle phone job garden bread idea shoe oven"
_MATTER = "paper number letter dinner water flower river summer colour office weather"
_NEAR_COLOUR, _NEAR_TRADE = 0.5, 0.2
_SLACK = 0.06  # a word with the ending of a trade may be this much nearer to lifeless things
AKIN = 0.45  # cosine from which one noun may be said for another


@lru_cache(maxsize=4096)
def is_colour(word: str) -> bool:
    """Return whether a word names a colour."""
    return word in _ODD_COLOURS or (float(word_vector(word) @ _middle(_COLOURS)) >= _NEAR_COLOUR and word not in (
        "colour", "color", "colours", "colors", "coloured", "colored",
    ))  # fmt: skip


def is_shade(word: str) -> bool:
    """Return whether a word tells shades of a colour apart."""
    return word in _SHADES


@lru_cache(maxsize=4096)
def is_trade(word: str) -> bool:
    """Return whether a noun names what somebody does for a living."""
    if word in _KIN or word in _TIES - {"teacher", "coach", "manager", "assistant", "tutor"}:
        return False
    vector = word_vector(word)
    trade = float(vector @ _middle(_TRADES))
    other = max(float(vector @ _middle(_LIFELESS)), float(vector @ _middle(_MATTER)))
    if word.endswith(_TRADE_ENDINGS) and len(word) > 4 and not word.endswith("tarian"):
        return trade >= other - _SLACK
    return trade >= _NEAR_TRADE and trade > other


@lru_cache(maxsize=4096)
def is_trade_of(verb: str) -> bool:
    """Return whether a verb is what somebody does for a living: who teaches is a teacher."""
    base = lemma(verb)
    agents = [base + "r" if base.endswith("e") else base + "er", base + base[-1:] + "er"]
    return any(float(word_vector(agent) @ _middle(_TRADES)) >= 0.34 for agent in agents)


@lru_cache(maxsize=4096)
def is_person(noun: str) -> bool:
    """Return whether a noun is of people by what they are to somebody, or by their trade."""
    singular = lemma(noun)
    return noun in _KIN | _TIES or singular in _KIN | _TIES or is_trade(singular)


@lru_cache(maxsize=4096)
def is_alive(noun: str) -> bool:
    """Return whether a noun is of a living being, as far as its meaning tells."""
    if is_person(noun):
        return True
    vector = word_vector(noun)
    alive = float(vector @ _middle(_ALIVE))
    return alive > 0.3 and alive > float(vector @ _middle(_LIFELESS))


def gender(noun: str) -> str:
    """Return "he" or "she" where a noun says which, else nothing."""
    return "he" if noun in _HE else "she" if noun in _SHE else ""


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
def _middle(examples: str) -> Array:
    total: Array = np.sum([word_vector(word) for word in examples.split()], axis=0)
    return total / np.float32(np.linalg.norm(total))
