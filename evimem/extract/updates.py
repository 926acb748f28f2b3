"""What a predicate means, the attributes that have one value at a time, and which facts replace earlier ones."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from functools import lru_cache
from itertools import takewhile
from typing import NamedTuple, TypeAlias

from ..lang import ENGLISH
from ..types.stored import LABEL
from ..types.values import Fact
from .clauses import HOPE, LIKE, SAY
from .tagging import TAGS, Tag, TagSet, guess, lemma, letters

_CLASS_BY_VERB = {verb: name for name, verbs in ENGLISH.lists("predicates.class_by_verb").items() for verb in verbs}
_CLASS_BY_PHRASE = {
    phrase: name for name, phrases in ENGLISH.lists("predicates.class_by_phrase").items() for phrase in phrases
}
_AGE_WORDS = frozenset(ENGLISH.words("predicates.age_words"))
_LIKED = LIKE.difference(ENGLISH.words("predicates.senses.not_liked"))
_INTENDED = HOPE.union(ENGLISH.words("predicates.senses.intended"))
_STOPS = frozenset(ENGLISH.words("predicates.senses.stop"))
_STARTS = frozenset(ENGLISH.words("predicates.senses.start"))
_VERBS = frozenset(letters("FULL_VERBS BE HAVE DO"))
_LIGHT_AUXILIARIES = letters("BE HAVE DO")
_AFTER_VERB = letters("PREPOSITION TO PARTICLE PREPOSITION_OR_CONJUNCTION")
_PERFECT = frozenset(("has", "have", "'s", "'ve"))
_PAST_AUXILIARIES = frozenset(("was", "were", "did", "had"))

THINGS = frozenset(ENGLISH.words("predicates.topics.things"))
ENDING_VERBS = frozenset(ENGLISH.words("predicates.topics.ending_verbs"))
ENDING = "*"
"""The name of the topic of a fact that ends states of its owner: quit, sold, moved out of."""
ENDABLE = THINGS.union(ENGLISH.words("predicates.topics.endable"))
"""The names of the topics that an ending can end. An age or a habit has no such end."""
UNSETTLED = frozenset(("plan", "statement", "image", LABEL))
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

_NameAndValue: TypeAlias = "tuple[str, str] | None"

_CHANGES = frozenset(ENGLISH.words("predicates.topics.changes"))
_DISPOSALS = frozenset(ENGLISH.words("predicates.topics.disposals"))
_JOB_WORDS = frozenset(ENGLISH.words("predicates.topics.jobs"))
_RECURRING = frozenset(ENGLISH.words("predicates.topics.recurring"))
_PARTINGS = frozenset(ENGLISH.words("predicates.topics.partings"))


class _Cue(NamedTuple):
    """The class of a colourless verb with one of these words in its object: "started a new job"."""

    name: str
    verbs: frozenset[str]
    words: frozenset[str]


def _cue(name: str) -> _Cue:
    lists = ENGLISH.lists(f"predicates.cues.{name}")
    return _Cue(name, frozenset(lists["verbs"]), frozenset(lists["words"]))


_CUES = tuple(map(_cue, ENGLISH.table("predicates.cues")))


class Sense(NamedTuple):
    """A predicate parsed: the lemma of its last verb, the word after that verb, tense, mood and polarity.

    `past` is a simple past, `used` a "used to", `modal` something possible, intended or suggested, `begun` a change
    ("started drinking"). A predicate that says that something stopped is negative.
    """

    verb: str
    particle: str
    negative: bool
    past: bool
    used: bool
    modal: bool
    begun: bool


@lru_cache(maxsize=8192)
def sense(predicate: str) -> Sense:
    """Return a predicate parsed."""
    words = predicate.casefold().replace("\u2019", "'").replace("n't", " not").split()
    tags = [TAGS.get(word) or guess(word) for word in words]
    verbs = [index for index, tag in enumerate(tags) if tag in _VERBS]
    if not verbs:
        return Sense(words[0] if words else "", "", False, False, False, Tag.MODAL in tags, False)  # noqa: FBT003
    if lemma(words[verbs[0]]) in SAY and len(verbs) > 1:  # "said he lost": only what was said counts
        return sense(" ".join(words[verbs[0] + 2 :]))
    full = [index for index in verbs if tags[index] not in _LIGHT_AUXILIARIES] or verbs[-1:]
    chain = [lemma(words[index]) for index in full]
    verb = "like" if chain[0] in _LIKED else "be" if tags[full[-1]] == Tag.BE else chain[-1]
    first = words[verbs[0]]
    used = "used to" in predicate
    stopped, begun = (len(chain) > 1 and chain[0] in steps for steps in (_STOPS, _STARTS))
    return Sense(
        verb=verb,
        particle=_particle(words, tags, full[-1]),
        negative=stopped != ("not" in words or "never" in words or "no longer" in predicate),
        past=first not in _PERFECT and (tags[verbs[0]] in TagSet.PASTS or first in _PAST_AUXILIARIES),
        used=used,
        modal=Tag.MODAL in tags or (len(full) > 1 and not used and chain[0] in _INTENDED),
        begun=stopped or begun,
    )


def _particle(words: Sequence[str], tags: Sequence[str], verb: int) -> str:
    """Return the first particle or preposition after a verb, "" without one."""
    after = range(verb + 1, len(words))
    return next((words[index] for index in after if tags[index] in _AFTER_VERB), "")


def predicate_class(predicate: str, obj: str = "", subject: str = "") -> str:
    """Return the class of a predicate, or the lemma of its verb; object and subject decide what it leaves open.

    Classes: live, origin, work, study, own, sell, like, dislike, relationship, feel, name, age; "be" for other copulas.
    """
    verb, particle, *_ = sense(predicate)
    by_phrase = _CLASS_BY_PHRASE.get(f"{verb} {particle}")
    if by_phrase is not None:
        return by_phrase
    words = frozenset(obj.casefold().replace(",", " ").split())
    for cue in _CUES:
        if verb in cue.verbs and not cue.words.isdisjoint(words):
            return cue.name
    if verb in ("be", "turn") and (obj.isdigit() or not _AGE_WORDS.isdisjoint(words)):
        return "age"
    if verb == "be" and subject.casefold().endswith("name"):
        return "name"
    return _CLASS_BY_VERB.get(verb, verb)


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
