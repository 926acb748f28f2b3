"""The places that hold one value at a time, and which of them a fact fills: a home, a job, a partner, a date."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import lru_cache
from typing import NamedTuple

from ..types.values import Fact
from .predicates import Sense, predicate_class, sense

THINGS = frozenset(
    "car phone laptop computer bike apartment flat house number address boss roommate landlord email".split()
)
ENDING_VERBS = frozenset("quit leave resign retire lose break split divorce sell donate fire lay separate".split())
ENDING = "*"
ENDABLE = THINGS | {"live", "work", "relationship"}  # what an ending can end; nobody quits their age or their coffee

_ATTRIBUTES = THINGS | frozenset(
    "name nickname job age size weight height favorite favourite salary rent password goal deadline".split()
)
_SCHEDULED = frozenset(
    """
    appointment meeting interview exam flight wedding party trip concert surgery class game match dinner lunch call
    deadline recital tournament race visit checkup reservation event ceremony show audition session launch opening
    test
    """.split()
)
_WHEN = frozenset("be schedule reschedule move postpone push delay take set book start begin happen".split())
_STATUSES = {
    **dict.fromkeys(("marry", "wed"), "married"),
    **dict.fromkeys(("break", "split", "separate"), "single"),
    "engage": "engaged",
    "divorce": "divorced",
}
_STATUS_WORDS = frozenset("single married engaged divorced widowed separated".split())
_WORK_PLACES = frozenset(("at", "for", "in", "with", "as"))
_HOMES = frozenset(("in", "at", "to", "into", "back", "near", "down"))
_WORD = re.compile("[^\\W_]+(?:['\u2019][^\\W_]+)?")
_LIGHT = frozenset(
    """
    a an the my his her our their its this that new old current former another brand to in at on as of for with from
    now again anymore longer any more both and
    """.split()
)
_NOBODY = frozenset(
    "he she they it this that these those there here you everyone somebody someone nobody who which one".split()
)
_ANOTHER = re.compile(r"\b(?:new|another)\b")
_PLACE = re.compile(r"\b(at|with|for|as)\s+(.+)")
_UNSETTLED = frozenset(("plan", "statement", "image"))
_HABITS = frozenset(("state", "opinion", "event"))
_LONGEST_HABIT = 3  # words of an object; longer ones are told once, not held


class Slot(NamedTuple):
    """A place that holds one value: whose it is, which of theirs, and what fills it."""

    owner: frozenset[str]
    name: str
    value: str


class Topic(NamedTuple):
    """Where a fact may replace another or be replaced: only within one topic, and by an `ENDING` of the same owner."""

    owner: str
    name: str


def topic_of(fact: Fact) -> Topic | None:
    """Return the topic of a fact, None for the many that neither replace nor are replaced."""
    if fact.kind in _UNSETTLED:
        return None
    said = sense(fact.predicate)
    if is_ending(said) and not said.negative:
        return None if _is_nobody(fact.subject) else Topic(" ".join(sorted(words_of(fact.subject))), ENDING)
    slot = slot_of(fact, said)
    if slot is None:
        return None
    if slot.name == "when":  # "the interview" and "her interview" are one appointment
        return Topic(min(slot.owner & _SCHEDULED, default=""), slot.name)
    return Topic(" ".join(sorted(slot.owner)), slot.name)


def slot_of(fact: Fact, said: Sense) -> Slot | None:
    """Return the one-valued place that a fact fills, or None."""
    owner = words_of(fact.subject)
    if said.verb in _WHEN:
        thing = _scheduled(fact, said, owner)
        if thing:
            return Slot(thing, "when", fact.object)
    if _is_nobody(fact.subject):
        return None
    kind = predicate_class(fact.predicate, fact.object, fact.subject)
    find = _BY_CLASS.get(kind)
    found = find(fact, said) if find is not None else None
    if found is not None:
        return Slot(owner, *found)
    return _habit(fact, owner, kind)


def is_ending(said: Sense) -> bool:
    """Return whether a predicate ends a state: quit, sold, moved out of."""
    return said.verb in ENDING_VERBS or (said.verb == "move" and said.particle in ("out", "away", "from"))


@lru_cache(maxsize=1 << 14)
def words_of(text: str) -> frozenset[str]:
    """Return the words that tell one thing from another, without case, articles and "new"."""
    words = (word.casefold().removesuffix("'s").removesuffix("\u2019s") for word in _WORD.findall(text))
    return frozenset(words) - _LIGHT


def is_named(value: str) -> bool:
    """Return whether a value holds a name: "Porto", not "a bigger flat"."""
    return any(word[0].isupper() for word in _WORD.findall(value) if not word.endswith(("'s", "\u2019s")))


def _is_nobody(subject: str) -> bool:
    return subject.casefold() in _NOBODY


def _scheduled(fact: Fact, said: Sense, owner: frozenset[str]) -> frozenset[str]:
    """Return the words of an appointment that a fact dates: "the interview is on", "rescheduled the interview to"."""
    if fact.event is None or fact.event.start is None:
        return frozenset()
    if owner & _SCHEDULED:
        return owner
    thing = words_of(fact.object) - words_of(fact.event.text)
    return thing if said.verb != "be" and thing & _SCHEDULED else frozenset()


Found = tuple[str, str] | None


def _home(fact: Fact, said: Sense) -> Found:
    if said.particle in _HOMES or said.verb in ("relocate", "move"):
        return "live", fact.object.rpartition(" to ")[2]
    return None


def _job(fact: Fact, said: Sense) -> Found:
    if said.particle in _WORK_PLACES:
        return "role" if said.particle == "as" else "work", fact.object
    place = _PLACE.search(fact.object)
    return None if place is None else ("role" if place.group(1) == "as" else "work", place.group(2))


def _partner(fact: Fact, said: Sense) -> Found:
    told = sorted(words_of(fact.object) & _STATUS_WORDS)
    status = _STATUSES.get(said.verb) or (told[0] if told else "dating")
    return "relationship", f"{status} {fact.object}".strip()


def _thing(fact: Fact, _said: Sense) -> Found:
    """Return a thing that people own one of, told from another by its name, or at least by being new."""
    words = words_of(fact.object)
    held = sorted(words & THINGS)
    if not held:
        return None
    told = " ".join(sorted(words - {held[0]}))
    return held[0], told or ("another" if _ANOTHER.search(fact.object) else "")


def _attribute(fact: Fact, _said: Sense) -> Found:
    return ("is", fact.object) if fact.object and words_of(fact.subject) & _ATTRIBUTES else None


_BY_CLASS: dict[str, Callable[[Fact, Sense], Found]] = {
    "live": _home,
    "work": _job,
    "relationship": _partner,
    "own": _thing,
    "be": _attribute,
    "age": lambda fact, _: ("age", fact.object),
    "name": lambda fact, _: ("name", fact.object),
}


def _habit(fact: Fact, owner: frozenset[str], kind: str) -> Slot | None:
    """Return what somebody does or likes, which a later denial may end: "drinks coffee", "stopped drinking coffee"."""
    words = words_of(fact.object)
    if fact.kind not in _HABITS or kind in _BY_CLASS or not 0 < len(words) <= _LONGEST_HABIT:
        return None
    verb = "like" if kind == "dislike" else kind
    return Slot(owner, " ".join((verb, *sorted(words))), fact.object)
