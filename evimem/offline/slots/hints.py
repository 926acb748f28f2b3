"""Whether something that could be the attribute asked for stands near its owner, though nothing attributes it.

Where it does, nobody can say from rules alone that the attribute is untold.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence

from ...evidence import View
from ...extract.sentences import sentences
from ...extract.tags import Tagged, lowered, tagged
from ...extract.verbs import lemma
from ...terms import words
from ...types import Turn
from ..match import mentions
from ..numbers import MONEY, SIZE
from ..units import is_assistant
from .attribute import Attribute
from .forms import akin, is_colour, is_trade, same_noun, singular
from .phrases import names_of
from .things import People, Thing

_PLACE_BEFORE = frozenset("in at to into near from on".split())
_WORK_BEFORE = frozenset(("at", "for"))
_LIKED = r"\b(?:lik|lov|enjoy|ador|hat|dislik|prefer|despis|favou?rit|fond|(?:bear|stand)\b)\w*"
_LIKING = re.compile(_LIKED + r"|\bbest\b|\btop\s+pick", re.IGNORECASE)
_AROUND = frozenset(("price", "size", "weight", "birth"))  # what is often said in the turn after
_IS_A = frozenset("am is was are were be been become became as 'm 's".split())
_NUMBER = re.compile(r"\d{1,3}$")
_SMALL = frozenset(
    "two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen "
    "nineteen twenty thirty forty fifty sixty seventy eighty ninety".split()
)


Finder = Callable[[Turn, Attribute], Iterator[str]]


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
    if (attribute.kind == "kind" and not attribute.noun) or (attribute.kind == "who" and attribute.of.name):
        return bool(owners)
    for item in view.shown:
        if is_assistant(item.turn) or not _speaks_of(attribute, item.turn, view):
            continue
        for word in find(item.turn, attribute):
            plain = word.casefold()
            known = attribute.kind == "name" and plain in called
            if (item.turn.id, plain) not in taken and not known and not mentions(attribute.spoken, word):
                return True
    return False


def _speaks_of(attribute: Attribute, turn: Turn, view: View) -> bool:
    """Whether a turn says a phrase's noun or name; one's own turns speak of oneself."""
    phrase = attribute.of
    if phrase.pronoun or (phrase.name and not phrase.words and phrase.name in view.speakers):
        return turn.speaker in view.analysis.asked
    near = view.context.get(turn.id, (turn,)) if attribute.kind in _AROUND else (turn,)
    text = " ".join(other.text for other in near)
    if phrase.name:
        return mentions(text, phrase.name)
    return any(same_noun(phrase.head, word) for word in words(text))


def _tagged(turn: Turn) -> Iterator[Tagged]:
    low = lowered(turn.text)
    for start, end in sentences(turn.text):
        yield tagged(turn.text, low, start, end)


def _names(turn: Turn, _attribute: Attribute) -> Iterator[str]:
    for sentence in _tagged(turn):
        yield from names_of(sentence)


def _led(leads: frozenset[str]) -> Finder:
    def find(turn: Turn, _attribute: Attribute) -> Iterator[str]:
        for sentence in _tagged(turn):
            for name in names_of(sentence):
                place = sentence.words.index(name.casefold()) if name.casefold() in sentence.words else 0
                if leads & set(sentence.words[max(0, place - 3) : place]):
                    yield name

    return find


def _words(fits: Callable[[str], bool]) -> Finder:
    def find(turn: Turn, _attribute: Attribute) -> Iterator[str]:
        return (word for word in words(turn.text) if fits(word))

    return find


def _ages(turn: Turn, _attribute: Attribute) -> Iterator[str]:
    return (word for word in words(turn.text) if _NUMBER.match(word) or word in _SMALL)


def _pattern(form: str) -> Finder:
    pattern = re.compile(form, re.IGNORECASE)

    def find(turn: Turn, _attribute: Attribute) -> Iterator[str]:
        return (found[0] for found in pattern.finditer(turn.text))

    return find


def _trades(turn: Turn, _attribute: Attribute) -> Iterator[str]:
    """Yield nouns of trades that somebody is, was or works as."""
    for sentence in _tagged(turn):
        for place, word in enumerate(sentence.words):
            if (
                sentence.tags[place] in "NwM"
                and _IS_A & set(sentence.words[max(0, place - 5) : place])
                and is_trade(word)
            ):
                yield word


def _favourites(turn: Turn, attribute: Attribute) -> Iterator[str]:
    """Yield words of liking from sentences that speak of what is asked for."""
    asked = [singular(word) for word in words(attribute.noun)]
    for start, end in sentences(turn.text):
        said = words(turn.text[start:end])
        if any(akin(noun, singular(word)) for noun in asked for word in said):
            yield from (found[0] for found in _LIKING.finditer(turn.text, start, end))


def _attributes(turn: Turn, attribute: Attribute) -> Iterator[str]:
    noun = singular(attribute.noun.split()[-1])
    return (word for word in words(turn.text) if akin(noun, singular(word)))


def _akin(turn: Turn, attribute: Attribute) -> Iterator[str]:
    noun = singular(attribute.noun.split()[-1]) if attribute.noun else ""
    verb = attribute.verb if attribute.verb not in ("have", "own", "use", "keep") else ""
    for word in words(turn.text):
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
    "work": _led(_WORK_BEFORE),
    "from": _led(_PLACE_BEFORE),
    "allergy": _pattern(r"\ballerg(?:y|ies|ic)\b"),
    "like": _pattern(_LIKED),
    "dislike": _pattern(_LIKED),
    "price": _pattern(MONEY.pattern),
    "weight": _pattern(r"\d|\b(?:kilos?|pounds?|kg|weigh\w*)\b"),
    "size": _pattern(SIZE.pattern),
    "birth": _pattern(r"\b(?:born|birthday|turn(?:ed|s)?\s+\w+)\b"),
    "favourite": _favourites,
    "attribute": _attributes,
    "have": _akin,
    "kind": _akin,
}
