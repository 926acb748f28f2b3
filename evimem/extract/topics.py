"""Attributes with one value at a time (home, job, partner, the date of an appointment) that a fact gives a value."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import lru_cache
from itertools import takewhile
from typing import NamedTuple, TypeAlias

from ..lang import ENGLISH
from ..types.values import Fact
from .predicates import Sense, predicate_class, sense
from .tag_letters import letters
from .word_tags import TAGS

THINGS = frozenset(ENGLISH.words("predicates.topics.things"))
ENDING_VERBS = frozenset(ENGLISH.words("predicates.topics.ending_verbs"))
ENDING = "*"
"""The name of the topic of a fact that ends states of its owner: quit, sold, moved out of."""
ENDABLE = THINGS.union(ENGLISH.words("predicates.topics.endable"))
"""The names of the topics that an ending can end. An age or a habit has no such end."""
UNSETTLED = frozenset(("plan", "statement", "image"))
"""Kinds of facts that neither replace others nor are replaced."""

_MOVED_AWAY = ENGLISH.words("predicates.topics.moved_away")
_ATTRIBUTES = THINGS.union(ENGLISH.words("predicates.topics.attributes"))
_APPOINTMENTS = frozenset(ENGLISH.words("predicates.topics.appointments"))
_APPOINTMENT_VERBS = frozenset(ENGLISH.words("predicates.topics.appointment_verbs"))
_DATING = "dating"  # the relationship where no status is stated
_STATUS_BY_VERB = {
    verb: status for status, verbs in ENGLISH.lists("predicates.relationship_by_verb").items() for verb in verbs
}
_STATUS_WORDS = frozenset(ENGLISH.words("predicates.cues.relationship.words")) - {_DATING}
_WORK_PREPOSITIONS = frozenset(ENGLISH.words("predicates.topics.work_prepositions"))
_HOME_PREPOSITIONS = frozenset(ENGLISH.words("predicates.topics.home_prepositions"))
_INDISTINCT = frozenset(ENGLISH.words("predicates.topics.indistinct"))
_UNNAMED = frozenset(ENGLISH.words("predicates.topics.unnamed_subjects"))
_WORD = re.compile("[^\\W_]+(?:['\u2019][^\\W_]+)?")
_NEW = re.compile(r"\bnew\b")
_ENDS_PHRASE = frozenset(letters("PREPOSITION PREPOSITION_OR_CONJUNCTION TO THAT QUESTION_WORD AND"))
_ONE_MORE = frozenset(ENGLISH.words("predicates.topics.one_more"))
_NUMEROUS = frozenset(ENGLISH.words("predicates.topics.numerous"))
_WORKPLACE = re.compile(r"\b(at|with|for|as)\s+(.+)")
_HABITS = frozenset(("state", "opinion", "event"))
_MAX_HABIT = 3  # words of an object; a longer one describes one occasion, not a habit


class AttributeSlot(NamedTuple):
    """An attribute with one value at a time: the words of its owner, its name, and the value."""

    owner: frozenset[str]
    name: str
    value: str


class Topic(NamedTuple):
    """What a fact is about: the words of an owner, and an attribute or `ENDING`.

    Facts replace one another only within a topic, but an `ENDING` also replaces facts of its owner's other topics.
    """

    owner: str
    name: str


def topic_of(fact: Fact) -> Topic | None:
    """Return the topic of a fact; None for most, which neither replace others nor are replaced."""
    if fact.kind in UNSETTLED:
        return None
    parsed = sense(fact.predicate)
    if is_ending(parsed) and not parsed.negative:
        return None if _is_unnamed(fact.subject) else Topic(" ".join(sorted(words_of(fact.subject))), ENDING)
    slot = slot_of(fact, parsed)
    if slot is None:
        return None
    if slot.name == "when":  # "the interview" and "her interview" are one appointment
        return Topic(min(slot.owner & _APPOINTMENTS, default=""), slot.name)
    return Topic(" ".join(sorted(slot.owner)), slot.name)


def slot_of(fact: Fact, parsed: Sense) -> AttributeSlot | None:
    """Return the attribute that a fact gives a value, or None."""
    owner = words_of(fact.subject)
    if parsed.verb in _APPOINTMENT_VERBS:
        appointment = _appointment(fact, parsed, owner)
        if appointment:
            return AttributeSlot(appointment, "when", fact.object)
    if _is_unnamed(fact.subject):
        return None
    verb_class = predicate_class(fact.predicate, fact.object, fact.subject)
    find = _BY_CLASS.get(verb_class)
    found = find(fact, parsed) if find is not None else None
    if found is not None:
        return AttributeSlot(owner, *found)
    return _habit(fact, owner, verb_class)


def is_ending(parsed: Sense) -> bool:
    """Return whether a predicate ends a state: quit, sold, moved out of."""
    return parsed.verb in ENDING_VERBS or (parsed.verb == "move" and parsed.particle in _MOVED_AWAY)


@lru_cache(maxsize=1 << 14)
def words_of(text: str) -> frozenset[str]:
    """Return the words that distinguish one thing from another: case folded, without articles, "new" and the like."""
    words = (word.casefold().removesuffix("'s").removesuffix("\u2019s") for word in _WORD.findall(text))
    return frozenset(words) - _INDISTINCT


def is_named(value: str) -> bool:
    """Return whether a value contains a name: "Porto", not "a bigger flat"."""
    return any(word[0].isupper() for word in _WORD.findall(value) if not word.endswith(("'s", "\u2019s")))


def _is_unnamed(subject: str) -> bool:
    return subject.casefold() in _UNNAMED


def _appointment(fact: Fact, parsed: Sense, owner: frozenset[str]) -> frozenset[str]:
    """Return the words of an appointment that a fact dates: "the interview is on", "rescheduled the interview to"."""
    if fact.event is None or fact.event.start is None:
        return frozenset()
    if owner & _APPOINTMENTS:
        return owner
    named = words_of(fact.object) - words_of(fact.event.text)
    return named if parsed.verb != "be" and named & _APPOINTMENTS else frozenset()


_NameAndValue: TypeAlias = "tuple[str, str] | None"


def _home(fact: Fact, parsed: Sense) -> _NameAndValue:
    if parsed.particle in _HOME_PREPOSITIONS or parsed.verb in ("relocate", "move"):
        return "live", fact.object.rpartition(" to ")[2]
    return None


def _job(fact: Fact, parsed: Sense) -> _NameAndValue:
    if parsed.particle in _WORK_PREPOSITIONS:
        return "role" if parsed.particle == "as" else "work", fact.object
    place = _WORKPLACE.search(fact.object)
    return None if place is None else ("role" if place.group(1) == "as" else "work", place.group(2))


def _partner(fact: Fact, parsed: Sense) -> _NameAndValue:
    stated = sorted(words_of(fact.object) & _STATUS_WORDS)
    status = _STATUS_BY_VERB.get(parsed.verb) or (stated[0] if stated else _DATING)
    return "relationship", f"{status} {fact.object}".strip()


def _thing(fact: Fact, _parsed: Sense) -> _NameAndValue:
    """Return a thing that people own one of; its value is what distinguishes it, or at least that it is new."""
    words = [word.casefold() for word in _WORD.findall(fact.object)]
    phrase = list(takewhile(lambda word: TAGS.get(word) not in _ENDS_PHRASE, words))
    name = phrase[-1] if phrase else ""
    if name not in THINGS or name in _NUMEROUS or not _ONE_MORE.isdisjoint(phrase):
        return None  # "a car seat", "a second car", "an email from Ana"
    value = " ".join(sorted(words_of(fact.object) - {name}))
    return name, value or ("new" if _NEW.search(fact.object) else "")


def _attribute(fact: Fact, _parsed: Sense) -> _NameAndValue:
    return ("is", fact.object) if fact.object and words_of(fact.subject) & _ATTRIBUTES else None


_BY_CLASS: dict[str, Callable[[Fact, Sense], _NameAndValue]] = {
    "live": _home,
    "work": _job,
    "relationship": _partner,
    "own": _thing,
    "be": _attribute,
    "age": lambda fact, _: ("age", fact.object),
    "name": lambda fact, _: ("name", fact.object),
}


def _habit(fact: Fact, owner: frozenset[str], verb_class: str) -> AttributeSlot | None:
    """Return what its owner does or likes, which a later denial may end: "drinks coffee", "stopped drinking coffee"."""
    words = words_of(fact.object)
    if fact.kind not in _HABITS or verb_class in _BY_CLASS or not 0 < len(words) <= _MAX_HABIT:
        return None
    verb = "like" if verb_class == "dislike" else verb_class
    return AttributeSlot(owner, " ".join((verb, *sorted(words))), fact.object)
