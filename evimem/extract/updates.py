"""Which facts take the place of earlier ones: where she lives now, not where she lived before."""

from __future__ import annotations

import re
from datetime import datetime
from typing import NamedTuple

from ..types import Fact
from .predicates import Sense, predicate_class, sense

_THINGS = frozenset(
    "car phone laptop computer bike apartment flat house number address boss roommate landlord email".split()
)
_ATTRIBUTES = _THINGS | frozenset(
    "name nickname job age size weight height favorite favourite salary rent password goal deadline".split()
)
_SCHEDULED = frozenset(
    "appointment meeting interview exam flight wedding party trip concert surgery class game match dinner lunch call deadline recital "
    "tournament race visit checkup reservation event ceremony show audition session launch opening test".split()
)
_WHEN = frozenset("be schedule reschedule move postpone push delay take set book start begin happen".split())
_ENDINGS = frozenset("quit leave resign retire lose break split divorce sell donate fire lay separate".split())
_CHANGES = frozenset(
    "move relocate settle resettle immigrate emigrate start get become marry adopt buy purchase join begin land turn switch change accept "
    "name rename wed engage schedule reschedule postpone push delay book inherit".split()
)
_STATUSES = {
    **dict.fromkeys(("marry", "wed"), "married"),
    **dict.fromkeys(("engage", "engaged"), "engaged"),
    **dict.fromkeys(("date", "see"), "dating"),
    **dict.fromkeys(("break", "split", "separate"), "single"),
    "divorce": "divorced",
}
_WORD = re.compile(r"[^\W_]+(?:['’][^\W_]+)?")
_LIGHT = frozenset(
    "a an the my his her our their its this that new old current former another brand to in at on as of for with from now again "
    "anymore longer any more both and".split()
)
_ANOTHER = re.compile(r"\b(?:new|another)\b")
_WORK_PLACES = frozenset(("at", "for", "in", "with", "as"))
_HOMES = frozenset(("in", "at", "to", "into", "back", "near", "down"))
_UNSETTLED = frozenset(("plan", "statement", "image"))


class _Slot(NamedTuple):
    """A place that holds one value: whose it is, and what fills it."""

    name: str
    owner: frozenset[str]
    value: str


def replaces(newer: Fact, older: Fact) -> bool:
    """Return whether `newer`, said after `older`, takes its place.

    It does when both give the same thing a value of which there is only one at a time (home, job, relationship, age, name, a
    car, the date of an appointment) and the values differ, and when the newer ends or denies what the older states. What is
    only past ("used to live in Porto"), planned or possible replaces nothing and is not replaced.
    """
    if newer.kind in _UNSETTLED or older.kind in _UNSETTLED:
        return False
    new, old = sense(newer.predicate), sense(older.predicate)
    if new.modal or old.modal or new.used or _is_over(old) or _is_over(new):
        return False
    if _owner(newer.subject) == _owner(older.subject) and (
        _denies(newer, older, new, old) or _ends(newer, older, new, old)
    ):
        return True
    if new.negative or old.negative or new.verb in _ENDINGS - {"break", "split", "divorce"} or old.verb in _ENDINGS:
        return False
    slot, before = _slot(newer, new), _slot(older, old)
    if slot is None or before is None or slot.name != before.name or not _same_owner(slot, before):
        return False
    if slot.name == "when":
        return _moment(newer) != _moment(older)
    if slot.name == "relationship":
        return not _overlap(slot.value, before.value)
    return bool(slot.value) and not _overlap(slot.value, before.value) and _comparable(slot.value, before.value, new)


def _denies(newer: Fact, older: Fact, new: Sense, old: Sense) -> bool:
    """Return whether one says of the same thing that it is so, and the other that it is not: stopped drinking coffee."""
    if new.negative == old.negative or not _same_class(newer, older):
        return False
    return not newer.object or not older.object or _overlap(newer.object, older.object)


def _ends(newer: Fact, older: Fact, new: Sense, old: Sense) -> bool:
    """Return whether the newer brings the older to an end: quit the job, left Porto, sold the car."""
    if new.verb not in _ENDINGS and not (new.verb == "move" and new.particle in ("out", "away", "from")):
        return False
    if new.negative or old.negative or old.verb in _ENDINGS:
        return False
    slot = _slot(older, old)
    if slot is None:
        return False
    if slot.name == "relationship":
        return new.verb in ("break", "split", "divorce", "separate", "leave") and (
            not newer.object or _overlap(newer.object, slot.value) or not slot.value
        )
    if slot.name in _THINGS:
        return slot.name in _words(newer.object)
    if slot.name == "work" and predicate_class(newer.predicate, newer.object) == "work" and not _named(newer.object):
        return True
    return slot.name in ("work", "live") and _overlap(newer.object, slot.value)


def _slot(fact: Fact, said: Sense) -> _Slot | None:  # noqa: PLR0911
    """Return the one-valued place that a fact fills, or None."""
    kind = predicate_class(fact.predicate, fact.object, fact.subject)
    owner, subject, value = _owner(fact.subject), _words(fact.subject), fact.object
    if said.verb in _WHEN:
        thing = (
            subject
            if subject & _SCHEDULED
            else _words(value)
            if said.verb != "be" and _words(value) & _SCHEDULED
            else None
        )
        if thing is not None and fact.event is not None and fact.event.start is not None:
            return _Slot("when", thing - _words(fact.event.text), value)
    if kind == "live":
        return (
            _Slot(kind, owner, value.rpartition(" to ")[2])
            if said.particle in _HOMES or said.verb in ("relocate", "move")
            else None
        )
    if kind == "work":
        if said.particle in _WORK_PLACES:
            return _Slot("role" if said.particle == "as" else kind, owner, value)
        place = re.search(r"\b(at|with|for|as)\s+(.+)", value)
        return _Slot("role" if place.group(1) == "as" else kind, owner, place.group(2)) if place is not None else None
    if kind == "relationship":
        return _Slot(kind, owner, f"{_status(fact, said)} {fact.object}".strip())
    if kind in ("age", "name"):
        return _Slot(kind, owner, value)
    if kind == "own":
        held = sorted(_words(value) & _THINGS)
        return _Slot(held[0], owner, _described(value, held[0])) if held else None
    if kind == "be" and subject & _ATTRIBUTES and value:
        return _Slot("is", owner, value)
    return None


def _described(value: str, thing: str) -> str:
    """Return what tells one car from another: its name, or at least that it is new."""
    words = sorted(_words(value) - {thing})
    return " ".join(words) or ("another" if _ANOTHER.search(value) else "")


def _status(fact: Fact, said: Sense) -> str:
    words = _words(fact.object) & {"single", "married", "engaged", "divorced", "widowed", "separated"}
    return _STATUSES.get(said.verb) or (sorted(words)[0] if words else "dating")


def _moment(fact: Fact) -> datetime | None:
    return fact.event.start if fact.event is not None else None


def _is_over(said: Sense) -> bool:
    """Return whether a predicate only tells of a state that is past: "lived in", "was dating"."""
    return said.used or (said.past and not said.begun and said.verb not in _CHANGES and said.verb not in _ENDINGS)


def _same_class(newer: Fact, older: Fact) -> bool:
    return predicate_class(newer.predicate, newer.object, newer.subject) == predicate_class(
        older.predicate, older.object, older.subject
    )


def _words(text: str) -> frozenset[str]:
    return frozenset(word.casefold().removesuffix("'s").removesuffix("’s") for word in _WORD.findall(text)) - _LIGHT


def _owner(subject: str) -> frozenset[str]:
    return _words(subject)


def _same_owner(slot: _Slot, before: _Slot) -> bool:
    """Return whether two slots belong to one thing: the same words, or for an appointment the same kind of it."""
    if slot.name == "when":
        return slot.owner <= before.owner or before.owner <= slot.owner
    return slot.owner == before.owner


def _overlap(value: str, other: str) -> bool:
    """Return whether two values may be one: all the words of one are in the other ("Porto", "a flat in Porto")."""
    words, others = _words(value), _words(other)
    return bool(words) and bool(others) and (words <= others or others <= words)


def _named(value: str) -> bool:
    return any(word[0].isupper() for word in _WORD.findall(value) if not word.endswith(("'s", "’s")))


def _comparable(value: str, other: str, new: Sense) -> bool:
    """Return whether values are of one sort, so that one excludes the other: "a flat" may be in "Lisbon"."""
    return (new.verb in _CHANGES and new.verb != "move") or _named(value) == _named(other)


class Topic(NamedTuple):
    """What a fact is about where only one value holds at a time: whose it is, and which of their things.

    A fact that only ends something ("quit", "sold") has the name `ENDING`: it may replace any topic of its owner.
    """

    owner: str
    name: str


ENDING = "*"


def topic_of(fact: Fact) -> Topic | None:
    """Return what a fact may replace, or be replaced in; None for most. `replaces` holds within one owner only."""
    if fact.kind in _UNSETTLED:
        return None
    said = sense(fact.predicate)
    slot = _slot(fact, said)
    if slot is not None and slot.name == "when":  # "the interview" and "her interview" are one appointment
        return Topic(min(slot.owner & _SCHEDULED, default=""), slot.name)
    owner = " ".join(sorted(_owner(fact.subject)))
    if slot is not None:
        return Topic(owner, slot.name)
    ends = said.verb in _ENDINGS or (said.verb == "move" and said.particle in ("out", "away", "from"))
    return Topic(owner, ENDING) if ends else None
