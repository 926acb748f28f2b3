"""Which facts replace earlier ones: where she lives now, not where she lived before."""

from __future__ import annotations

from ..lang import ENGLISH
from ..types.values import Fact
from .predicates import Sense, predicate_class, sense
from .topics import ENDING_VERBS, THINGS, UNSETTLED, AttributeSlot, is_ending, is_named, slot_of, words_of

_CHANGES = frozenset(ENGLISH.words("predicates.topics.changes"))
_DISPOSALS = frozenset(ENGLISH.words("predicates.topics.disposals"))
_JOB_WORDS = frozenset(ENGLISH.words("predicates.topics.jobs"))
_RECURRING = frozenset(ENGLISH.words("predicates.topics.recurring"))
_PARTINGS = frozenset(ENGLISH.words("predicates.topics.partings"))


def replaces(newer: Fact, older: Fact) -> bool:
    """Return whether `newer`, said after `older`, replaces it.

    It does when both give different values to one attribute that has one value at a time (home, job, relationship,
    age, name, a car, the date of an appointment), and when the newer fact ends or denies what the older one states.
    Facts that are only past ("used to live in Porto"), planned or possible neither replace nor are replaced. Facts of
    two topics (`topic_of`) never replace one another. Nor do facts of one turn by two extractors: a model's misreading
    must not mark what was said as outdated.
    """
    if newer.kind in UNSETTLED or older.kind in UNSETTLED or _read_twice(newer, older):
        return False
    new, old = sense(newer.predicate), sense(older.predicate)
    old_slot = slot_of(older, old)
    if old_slot is None or new.modal or old.modal or _is_over(new) or _is_over(old):
        return False
    if is_ending(new) and not new.negative and old_slot.owner == words_of(newer.subject):
        return _ends(newer, new, older, old, old_slot)
    slot = slot_of(newer, new)
    if slot is None or slot.name != old_slot.name or not _same_owner(slot, old_slot):
        return False
    if _polarity(newer, new) != _polarity(older, old):
        return _denies(newer, new, older)
    return not new.negative and old.verb not in ENDING_VERBS and _differs(newer, new, slot, older, old_slot)


def outranks(own: Fact, said_by: str, reported_by: str) -> bool:
    """Return whether a fact is a person's own word, which what somebody else reports neither replaces nor ends.

    A person's own word is about its speaker or what is theirs. The date of an appointment is not theirs alone: whoever
    moves it may say so.
    """
    if said_by == reported_by or not may_be_same(own.subject, said_by):
        return False
    slot = slot_of(own, sense(own.predicate))
    return slot is None or slot.name != "when"


def contradicts(report: Fact, reported_by: str, own: Fact, said_by: str) -> bool:
    """Return whether a later report would replace a person's own word, had the person said it."""
    return outranks(own, said_by, reported_by) and replaces(report, own)


def _denies(newer: Fact, new: Sense, older: Fact) -> bool:
    """Return whether the newer fact denies the older one for good: not "I am not drinking coffee today"."""
    if newer.event is not None and newer.event.start is not None and not new.begun:
        return False
    return not newer.object or not older.object or may_be_same(newer.object, older.object)


def _read_twice(one: Fact, other: Fact) -> bool:
    """Return whether two extractors read these facts from one turn."""
    return one.turn_id == other.turn_id and one.extractor != other.extractor


def _differs(newer: Fact, new: Sense, slot: AttributeSlot, older: Fact, old_slot: AttributeSlot) -> bool:
    """Return whether two values of one attribute exclude each other."""
    if slot.name == "when":
        if new.verb == "be" and not slot.owner.isdisjoint(_RECURRING):
            return False  # another dinner, not the same one moved
        return newer.event is not None and older.event is not None and newer.event.start != older.event.start
    if slot.name == "relationship":
        return not may_be_same(slot.value, old_slot.value)
    if " " in slot.name or not slot.value or may_be_same(slot.value, old_slot.value):
        return False
    changes = new.verb in _CHANGES and new.verb != "move"
    return changes or is_named(slot.value) == is_named(old_slot.value)  # "a bigger flat" may be in "Lisbon"


def _ends(newer: Fact, new: Sense, older: Fact, old: Sense, old_slot: AttributeSlot) -> bool:
    """Return whether the newer fact ends the older one: quit the job, left Porto, sold the car."""
    if old.negative or old.verb in ENDING_VERBS:
        return False
    if old_slot.name == "relationship":
        return new.verb in _PARTINGS and (
            not newer.object or not older.object or may_be_same(newer.object, old_slot.value)
        )
    if old_slot.name in THINGS:  # "left my car at home" gives nothing away
        return new.verb in _DISPOSALS and old_slot.name in words_of(newer.object)
    if old_slot.name == "work" and _ends_any_job(newer, new):
        return True
    is_left = new.verb != "leave" or old_slot.name == "work"  # who leaves Porto in the morning may live there
    return old_slot.name in ("work", "live") and is_left and may_be_same(newer.object, old_slot.value)


def _ends_any_job(newer: Fact, new: Sense) -> bool:
    """Return whether a fact ends a job, whichever it was: "quit my job", but not "left work early"."""
    is_job = predicate_class(newer.predicate, newer.object) == "work" and not is_named(newer.object)
    return is_job and (new.verb != "leave" or not _JOB_WORDS.isdisjoint(words_of(newer.object)))


def _is_over(parsed: Sense) -> bool:
    """Return whether a predicate only states something past: "lived in", "was dating"."""
    return parsed.used or (parsed.past and not parsed.begun and parsed.verb not in _CHANGES and not is_ending(parsed))


def _polarity(fact: Fact, parsed: Sense) -> bool:
    return parsed.negative != (predicate_class(fact.predicate) == "dislike")


def _same_owner(slot: AttributeSlot, old_slot: AttributeSlot) -> bool:
    """Return whether two slots have one owner: the same words; for appointments, one set of words within the other."""
    if slot.name == "when":
        return slot.owner <= old_slot.owner or old_slot.owner <= slot.owner
    return slot.owner == old_slot.owner


def may_be_same(value: str, other: str) -> bool:
    """Return whether two values may be the same: all words of one are in the other ("Porto", "a flat in Porto")."""
    words, others = words_of(value), words_of(other)
    return bool(words) and bool(others) and (words <= others or others <= words)
