"""Whether something that could be the attribute asked for occurs near its owner, though nothing attributes it.

Where it does, rules alone cannot decide that the attribute is not stated.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from typing import TypeAlias

from ...extract.verbs import lemma
from ...judging.evidence import View
from ...lang import ENGLISH
from ...text.terms import words
from ...times.lexicon import SIMPLE_NUMBERS
from ...types.values import Turn
from ..dates_and_numbers import MONEY, SIZE
from ..match_sentences import mentions
from ..sentence_units import is_assistant
from .asked_attribute import Attribute
from .entities import People, Thing
from .phrases import LOOSE, Phrase, names_of
from .tag_sets import TRADES
from .tagged_turn import TaggedTurn, extent, reading
from .word_classes import akin, is_colour, is_trade, same_noun, singular


def _any(name: str) -> str:
    return "|".join(ENGLISH.words(name))


_PLACE_BEFORE = frozenset(ENGLISH.words("attributes.before_indirect_place"))
_LIKED = rf"\b(?:{_any('attributes.liking')}|(?:bear|stand)\b)\w*"
_LIKING = re.compile(rf"{_LIKED}|\bbest\b|\btop\s+pick", re.IGNORECASE)
_AROUND = frozenset(ENGLISH.words("attributes.around"))
_IN_SESSION = frozenset(ENGLISH.words("attributes.in_session"))
_STATUSES = frozenset(ENGLISH.words("predicates.cues.relationship.words"))
_IS_A = frozenset(ENGLISH.words("attributes.copulas"))
_NO_USE = frozenset(ENGLISH.words("attributes.no_use_verbs"))
_NUMBER = re.compile(r"\d{1,3}$")
_AGES = frozenset(SIMPLE_NUMBERS) - {"one"}  # "one" is mostly a pronoun


Finder: TypeAlias = Callable[[TaggedTurn, Attribute], Iterator[str]]


def is_hinted(view: View, attribute: Attribute, people: People, owners: Sequence[Thing]) -> bool:
    """Return whether a shown turn that speaks of the owner holds what could be the attribute of nothing else."""
    find = _FINDERS.get(attribute.kind)
    if find is None:
        return False
    taken = {
        (one.turn.id, word)
        for thing in people.things
        if thing not in owners
        for one in thing.said
        for word in words(one.text)
    }
    called = {name.casefold() for thing in people.things for full in thing.names for name in full.split()}
    if attribute.kind == "kind" and not attribute.noun:
        return bool(owners)
    if attribute.kind == "who" and attribute.of.name:
        return any(mentions(item.turn.text, attribute.of.name) for item in view.shown)
    for item in view.shown:
        if is_assistant(item.turn) or not _speaks_of(attribute, item.turn, view):
            continue
        for word in find(reading(view, item.turn), attribute):
            plain = word.casefold()
            known = attribute.kind == "name" and plain in called
            if (item.turn.id, plain) not in taken and not known and not mentions(attribute.spoken, word):
                return True
    return False


def _speaks_of(attribute: Attribute, turn: Turn, view: View) -> bool:
    """Return whether a turn says a phrase's noun or name; one's own turns speak of oneself."""
    phrase = attribute.of
    if phrase.pronoun or (phrase.name and not phrase.words and phrase.name in view.speakers):
        return turn.speaker in view.analysis.asked
    if attribute.kind == "size":  # "It is 200 square metres" is not of the tree that is mentioned next
        return _size_near(phrase, reading(view, turn))
    near = view.context.get(turn.id, (turn,)) if attribute.kind in _AROUND else (turn,)
    if attribute.kind in _IN_SESSION:
        near = tuple(item.turn for item in view.shown if item.turn.session == turn.session)
    text = " ".join(f"{other.text} {other.caption or ''}" for other in near)
    if phrase.name:
        return mentions(text, phrase.name)
    whose = phrase.owner.name if phrase.owner is not None and attribute.kind == "price" else ""
    if whose and mentions(text, whose):
        return True
    asked = [word for word in phrase.words if word not in LOOSE]
    return any(mentions(text, one) or any(same_noun(one, word) for word in words(text)) for one in asked)


def _size_near(phrase: Phrase, turn: TaggedTurn) -> bool:
    """Return whether a size stands in a sentence that says a phrase's noun or name, or in the one after it."""
    for place, sentence in enumerate(turn.sentences):
        text = turn.turn.text[slice(*extent(sentence))]
        says = mentions(text, phrase.name) if phrase.name else any(same_noun(phrase.head, w) for w in sentence.words)
        after = turn.sentences[place : place + 2]
        if says and any(SIZE.search(turn.turn.text, *extent(one)) for one in after):
            return True
    return False


def _names(turn: TaggedTurn, _attribute: Attribute) -> Iterator[str]:
    for sentence in turn.sentences:
        yield from names_of(sentence)


def _led(leads: frozenset[str]) -> Finder:
    def find(turn: TaggedTurn, _attribute: Attribute) -> Iterator[str]:
        for sentence in turn.sentences:
            for name in names_of(sentence):
                place = sentence.words.index(name.casefold()) if name.casefold() in sentence.words else 0
                if leads & set(sentence.words[max(0, place - 3) : place]):
                    yield name

    return find


def _words(fits: Callable[[str], bool]) -> Finder:
    def find(turn: TaggedTurn, _attribute: Attribute) -> Iterator[str]:
        return (word for word in words(turn.turn.text) if fits(word))

    return find


def _ages(turn: TaggedTurn, _attribute: Attribute) -> Iterator[str]:
    return (word for word in words(turn.turn.text) if _NUMBER.match(word) or word in _AGES)


def _pattern(form: str) -> Finder:
    pattern = re.compile(form, re.IGNORECASE)

    def find(turn: TaggedTurn, _attribute: Attribute) -> Iterator[str]:
        return (found[0] for found in pattern.finditer(turn.turn.text))

    return find


def _trades(turn: TaggedTurn, _attribute: Attribute) -> Iterator[str]:
    """Yield nouns of trades after a form of "be" or "as"."""
    for sentence in turn.sentences:
        for place, word in enumerate(sentence.words):
            if (
                sentence.tags[place] in TRADES
                and _IS_A & set(sentence.words[max(0, place - 5) : place])
                and is_trade(word)
            ):
                yield word


def _favourites(turn: TaggedTurn, attribute: Attribute) -> Iterator[str]:
    """Yield words of liking from sentences that speak of what is asked for."""
    asked = [singular(word) for word in words(attribute.noun)]
    for sentence in turn.sentences:
        if any(akin(noun, singular(word)) for noun in asked for word in sentence.words):
            yield from (found[0] for found in _LIKING.finditer(turn.turn.text, *extent(sentence)))


def _attributes(turn: TaggedTurn, attribute: Attribute) -> Iterator[str]:
    """Yield what names an attribute within a sentence, all its nouns: "shoe size" by "size 44 shoes"."""
    nouns = [singular(word) for word in words(attribute.noun)]
    for sentence in turn.sentences:
        said = [singular(word) for word in sentence.words]
        if "status" in nouns:
            yield from (word for word in said if word in _STATUSES)
        if all(any(akin(noun, word) for word in said) for noun in nouns):
            yield attribute.noun


def _akin(turn: TaggedTurn, attribute: Attribute) -> Iterator[str]:
    noun = singular(attribute.noun.split()[-1]) if attribute.noun else ""
    verb = attribute.verb if attribute.verb not in _NO_USE else ""
    for word in words(turn.turn.text):
        if (noun and akin(noun, singular(word))) or (verb and lemma(word) == verb):
            yield word


_FINDERS: dict[str, Finder] = {
    "name": _names,
    "who": _names,
    "brand": _names,
    "age": _ages,
    "colour": _words(is_colour),
    "job": _trades,
    "title": _trades,
    "live": _led(_PLACE_BEFORE),
    "work": _pattern(rf"\b(?:{_any('attributes.work_words')})\b"),
    "from": _led(_PLACE_BEFORE),
    "allergy": _pattern(rf"\b(?:{_any('attributes.allergy_words')})\b"),
    "like": _pattern(_LIKED),
    "dislike": _pattern(_LIKED),
    "price": _pattern(MONEY.pattern),
    "weight": _pattern(rf"\d|\b(?:{_any('attributes.weight_words')})\b"),
    "size": _pattern(SIZE.pattern),
    "birth": _pattern(rf"\b(?:{_any('attributes.birth_words')}|turn(?:ed|s)?\s+\w+)\b"),
    "favourite": _favourites,
    "attribute": _attributes,
    "have": _akin,
    "kind": _akin,
}
