"""Which facts take the place of earlier ones: where she lives now, not where she lived before."""

from __future__ import annotations

from ..types.values import Fact
from .predicates import Sense, predicate_class, sense
from .topics import ENDING_VERBS, THINGS, Slot, is_ending, is_named, slot_of, words_of

_CHANGES = frozenset(
    """
    move relocate settle resettle immigrate emigrate start get become marry adopt buy purchase join begin land turn
    switch change accept name rename wed engage schedule reschedule postpone push delay book inherit
    """.split()
)
_PARTINGS = frozenset(("break", "split", "divorce", "separate", "leave"))
_UNSETTLED = frozenset(("plan", "statement", "image"))


def replaces(newer: Fact, older: Fact) -> bool:
    """Return whether `newer`, said after `older`, takes its place.

    It does when both give one thing a value of which there is only one at a time (home, job, relationship, age, name, a
    car, the date of an appointment) and the values differ, and when the newer ends or denies what the older states.
    What is only past ("used to live in Porto"), planned or possible replaces nothing and is not replaced. Facts of two
    topics (`topic_of`) never replace one another. Nor do two readings of one turn, by the rules and by a model: what a
    model misread must not make what was said look withdrawn.
    """
    if newer.kind in _UNSETTLED or older.kind in _UNSETTLED or _read_twice(newer, older):
        return False
    new, old = sense(newer.predicate), sense(older.predicate)
    before = slot_of(older, old)
    if before is None or new.modal or old.modal or _is_over(new) or _is_over(old):
        return False
    if is_ending(new) and not new.negative and before.owner == words_of(newer.subject):
        return _ends(newer, new, older, old, before)
    slot = slot_of(newer, new)
    if slot is None or slot.name != before.name or not _same_owner(slot, before):
        return False
    if _polarity(newer, new) != _polarity(older, old):
        return not newer.object or not older.object or _overlap(newer.object, older.object)
    return not new.negative and old.verb not in ENDING_VERBS and _differs(newer, new, slot, older, before)


def _read_twice(one: Fact, other: Fact) -> bool:
    return one.turn_id == other.turn_id and one.extractor != other.extractor


def _differs(newer: Fact, new: Sense, slot: Slot, older: Fact, before: Slot) -> bool:
    """Return whether two values of one place exclude each other."""
    if slot.name == "when":
        return newer.event is not None and older.event is not None and newer.event.start != older.event.start
    if slot.name == "relationship":
        return not _overlap(slot.value, before.value)
    if " " in slot.name or not slot.value or _overlap(slot.value, before.value):
        return False
    changes = new.verb in _CHANGES and new.verb != "move"
    return changes or is_named(slot.value) == is_named(before.value)  # "a bigger flat" may be in "Lisbon"


def _ends(newer: Fact, new: Sense, older: Fact, old: Sense, before: Slot) -> bool:
    """Return whether the newer brings the older to an end: quit the job, left Porto, sold the car."""
    if old.negative or old.verb in ENDING_VERBS:
        return False
    if before.name == "relationship":
        return new.verb in _PARTINGS and (not newer.object or not older.object or _overlap(newer.object, before.value))
    if before.name in THINGS:
        return before.name in words_of(newer.object)
    if (
        before.name == "work"
        and predicate_class(newer.predicate, newer.object) == "work"
        and not is_named(newer.object)
    ):
        return True
    return before.name in ("work", "live") and _overlap(newer.object, before.value)


def _is_over(said: Sense) -> bool:
    """Return whether a predicate only tells of a state that is past: "lived in", "was dating"."""
    return said.used or (said.past and not said.begun and said.verb not in _CHANGES and not is_ending(said))


def _polarity(fact: Fact, said: Sense) -> bool:
    return said.negative != (predicate_class(fact.predicate) == "dislike")


def _same_owner(slot: Slot, before: Slot) -> bool:
    """Return whether two slots belong to one thing: the same words, or for an appointment the same kind of it."""
    if slot.name == "when":
        return slot.owner <= before.owner or before.owner <= slot.owner
    return slot.owner == before.owner


def _overlap(value: str, other: str) -> bool:
    """Return whether two values may be one: all the words of one are in the other ("Porto", "a flat in Porto")."""
    words, others = words_of(value), words_of(other)
    return bool(words) and bool(others) and (words <= others or others <= words)
