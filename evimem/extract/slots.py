"""Slots: an attribute of an owner with its value, read from a fact or asked for by a question (`slots.toml`).

"I live in Leeds" fills the slot home of its speaker. A noun of somebody's that no row has fills a slot of its own where
its value is a name, a number or another literal: "my locker code is 4417". What replaced what, what a profile holds and
which detail a question asks for are said in slots.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache, lru_cache
from typing import NamedTuple

from ..lang import ENGLISH
from ..text.terms import stem
from ..times.lexicon import FULL_MONTHS, SIMPLE_NUMBERS
from ..types.stored import BY_RULE, LABEL
from ..types.values import Fact
from .tagging import TAGS, TagSet, guess, lemma

USER = ""
"""The first of the owner of a slot that a question asks for, where it is whoever asks."""

_POSSESSIVES = ENGLISH.words("word_classes.pronouns.possessive")
_MINE = frozenset(("my", "our"))
_SELF = frozenset(("i", "me", "we", "us", "myself"))
PEOPLE_AND_PETS = frozenset(ENGLISH.words("people.named"))
_LOOSE = frozenset(ENGLISH.words("slots.nouns.no_difference")) | {"own", "the", "my"}
_UNSTATED = frozenset(("plan", "statement", "image", "report", LABEL))  # kinds of facts that state nothing of now
_IS = frozenset(("is", "are", "is now", "are now", "has become", "is called", "is now called", "is named"))
_WAS = frozenset(("was", "were", "used to be"))
_NO_ROOT = frozenset(ENGLISH.words("slots.nouns.unnamed")) | _SELF | {"and"}
_LONGEST = 200  # characters of a question that these patterns are tried on
_MOST_LITERAL = 40  # characters: what is longer describes, and is no code, number or name

_CAPITAL = r"[A-Z\u00c0-\u00de][\w'\u2019.&-]*"
_NAME = rf"(?:(?:Dr|Mr|Mrs|Ms|Prof)\.? )?{_CAPITAL}(?: {_CAPITAL}){{0,2}}"
_JOINED = rf"{_CAPITAL}(?:(?: |, )(?:of |on |de |la |the |upon |und |& )?{_CAPITAL})*"
_PLACE = rf"(?:the )?{_JOINED}(?: {ENGLISH.any_of('slots.nouns.places')})?"
_NO_PLACE = ENGLISH.any_of("slots.nouns.no_place")
_COLOURS = ENGLISH.any_of("word_classes.colours.basic", "word_classes.colours.other")
_TRADES = "|".join(ENGLISH.words("word_classes.trades.named"))
_NUMBER = rf"(?:\d{{1,3}}|{'|'.join(word for word in SIMPLE_NUMBERS if word != 'one')})"
_MONTH = rf"(?:{'|'.join(month.capitalize() for month in FULL_MONTHS)})"
_DAY = r"\d{1,2}(?:st|nd|rd|th)?"
VALUES = {
    "{own}": r"(?:(?:the|an?|[\w .-]+['\u2019]s?) )?",
    "{place}": rf"(?P<value>{_PLACE})",
    "{name}": rf"(?P<value>{_NAME})",
    "{where}": rf"(?P<value>{_PLACE}|the (?!{_NO_PLACE}\b)[a-z-]{{4,}})",
    "{capital}": rf"(?!I\b|\w+days?\b|{_MONTH}|{_NO_PLACE}){_CAPITAL}",
    "{number}": rf"(?P<value>{_NUMBER})",
    "{digits}": _NUMBER,
    "{date}": rf"(?P<value>(?:{_DAY}(?: of)? {_MONTH}|{_MONTH} {_DAY})(?:,? \d{{4}})?)",
    "{words}?": r"(?P<value>[\w'\u2019&./+-]+(?: [\w'\u2019&./+-]+){0,5}?)",
    "{words}": r"(?P<value>[\w'\u2019&./+-]+(?:,? [\w'\u2019&./+-]+){0,6}?)",
    "{kind}": r"(?!(?:the|an?|number|on|up|used) )(?P<value>[\w'\u2019&./+-]+(?:,? [\w'\u2019&./+-]+){0,6}?)",
    "{trade}": rf"(?!no |only )(?P<value>(?:[\w-]+ ){{0,2}}?(?:{_TRADES}))",
    "{colour}": rf"(?P<value>(?:{ENGLISH.any_of('word_classes.colours.shades')}[ -])?{_COLOURS}(?: and {_COLOURS})?)",
}
# What may follow a value and is no part of it.
_GOES_ON = "|".join(ENGLISH.words("slots.nouns.goes_on"))
_TAIL = rf"(?:,? {ENGLISH.any_of('slots.nouns.trailing')}\b)*(?:,? (?:{_GOES_ON})\b.*)?[.!]*"
_BE = r"(?:\s+(?:is|are|was|were|am)|['\u2019]s|['\u2019]re)"
_WHO = r"(?P<of>[^?]+?)"
_MARKS = {
    "{be}": _BE,
    "{owner}": rf"(?:{_WHO}['\u2019]s?|(?P<poss>{'|'.join(word for word in _POSSESSIVES if word != 'its')}))",
    "{who}": _WHO,
    "{names}": r"[\w .-]+['\u2019]s",
}
_LEAD = rf"^\W*(?:(?:{'|'.join(ENGLISH.words('slots.nouns.lead_ins'))})\b[\s,:]*)*"
_END = rf"(?:\s+(?:{ENGLISH.any_of('slots.nouns.asked_at')}|before\s+(?-i:[A-Z])\w*))*\s*[?!.]*\s*$"

_LITERAL = re.compile(r"(?:[#+\u2212$\u20ac\u00a3-]{0,2}(?:[A-Z]|[^\W\d_]*\d)|[\w.+-]+@).*")
_NOT_LITERAL = re.compile(
    rf"\b(?:{'|'.join((*FULL_MONTHS, 'today', 'tomorrow', 'yesterday'))}|\w+day)\b", re.IGNORECASE
)
_CALLED = re.compile(
    rf"{ENGLISH.any_of('slots.nouns.having')} (?:an?|one|the) (?:[\w-]+ ){{0,3}}?(?P<noun>[\w-]+),? (?:called|named) "
    rf"{VALUES['{name}']}{_TAIL}"
)
_POSSESSOR = re.compile(r"['\u2019]s\s+|(?<=s)['\u2019]\s+")
_TITLE = re.compile(rf"^(?P<noun>[a-z][a-z -]*?),? (?P<name>{_NAME}),?$")
_ROOT = re.compile(r"[\w .'-]{1,60}")
_TABLE = ENGLISH.table("slots.rows")
_BY_NOUN = {
    noun.replace("_", " "): name for name, table in _TABLE.items() for noun in str(table.get("nouns", "")).split()
}
_LITERAL_ROWS = frozenset(ENGLISH.words("slots.nouns.any_value"))  # whose value may be any words
_ASKED_NOUN = (
    r"(?:what|which|who){be} {owner} (?P<noun>[a-z-]+(?: [a-z-]+){0,2}?)(?: called| named)?",
    r"(?:what|which) (?P<noun>[a-z-]+(?: [a-z-]+)?) (?:do|does|did) {who} (?:have|own|wear|use|keep|do|play)",
)

_LIKES = frozenset(("like", "dislike"))
_KIND_OF_THING = re.compile(
    rf"(?!(?:an?|the|u|when|every|all|any)\b|.*\b{ENGLISH.any_of('slots.nouns.points_back')}\b)"
    r"[a-z][\w'\u2019-]+(?: [a-z][\w-]+){0,3}"
)
_KINDS = frozenset(("state", "event"))
_APPOINTMENTS = frozenset(ENGLISH.words("slots.nouns.appointments"))
_DATED = re.compile(r"(?:is|are|is now|(?:was|got|has been|is) (?:moved|put back|rescheduled|postponed)(?: to)?) .+")
_INDISTINCT = frozenset(ENGLISH.words("slots.nouns.indistinct"))
_WORD = re.compile("[^\\W_]+(?:['\u2019][^\\W_]+)?")
DATE = "date"
"""The slot of an appointment."""
_OWNED = PEOPLE_AND_PETS.union(ENGLISH.words("slots.nouns.things"))
_HAS = re.compile(ENGLISH.any_of("slots.nouns.having"))
_FURTHER = re.compile(r",? (?:in|with|at|of|from|for|called|named|on|near)\b")
_JOINED_BY = re.compile(r",? and |, ")
_SOME = re.compile(rf"(?:an?|another|{_NUMBER}) (?:[\w-]+ ){{0,2}}[\w-]+$")


class Form:
    """A pattern of the table, compiled when a text has the words around its marks: all at once take 60 ms."""

    __slots__ = ("_compiled", "_may", "_text")

    def __init__(self, may: str, text: str, flags: int = 0) -> None:
        self._may, self._text = re.compile(may, flags | re.DOTALL), (text, flags)
        self._compiled: re.Pattern[str] | None = None

    def match(self, text: str) -> re.Match[str] | None:
        """Match the pattern at the beginning of a text."""
        if self._may.search(text) is None:
            return None
        if self._compiled is None:
            self._compiled = re.compile(*self._text)
        return self._compiled.match(text)


@dataclass(frozen=True, slots=True)
class Attribute:
    """An attribute: how facts state it, how it is called and asked for, and what may speak of it (`slots.toml`)."""

    name: str
    gap: str
    topic: str
    one: bool
    of_things: bool
    search: str
    states: tuple[Form, ...]
    former: tuple[Form, ...]
    ends: tuple[Form, ...]
    asked: tuple[Form, ...]
    words: frozenset[str]

    @property
    def changes(self) -> re.Pattern[str] | None:
        """What shows a change of it by itself."""
        return _anywhere(f"slots.rows.{self.name}.changes", re.IGNORECASE) if "changes" in _TABLE[self.name] else None

    @property
    def looks(self) -> re.Pattern[str] | None:
        """What may be a value of it."""
        return _anywhere(f"slots.rows.{self.name}.looks") if "looks" in _TABLE[self.name] else None


@dataclass(frozen=True, slots=True)
class StatedSlot:
    """An attribute of an owner with its value.

    `owner` is a name in lower case, then nouns of what is theirs: ("user", "sister"). `over` is whether it only held
    once, `ends` whether it is said to hold no more; what ends may leave the value out: "quit my job".
    """

    owner: tuple[str, ...]
    name: str
    value: str
    over: bool = False
    ends: bool = False

    @property
    def topic(self) -> str:
        """What slots share whose values may replace or end one another: a job and its employer."""
        row = rows().get(self.name)
        return self.name if row is None else row.topic


@dataclass(frozen=True, slots=True)
class AskedSlot:
    """The slot that a question asks for. `spoken` is the phrase for its owner, `noun` what narrows it."""

    owner: tuple[str, ...]
    name: str
    spoken: str
    noun: str = ""
    plural: bool = False

    @property
    def row(self) -> Attribute | None:
        """The row of the table; None for a noun that it does not have."""
        return rows().get(self.name)


def _filled(pattern: str, parts: Mapping[str, str]) -> str:
    for mark, part in parts.items():
        pattern = pattern.replace(mark, part)
    return pattern


def _form(pattern: str, parts: Mapping[str, str], before: str, after: str, flags: int = 0) -> Form:
    return Form(_filled(pattern, dict.fromkeys(parts, ".*")), before + _filled(pattern, parts) + after, flags)


def _question(pattern: str) -> Form:
    return _form(pattern.replace(" ", r"\s+"), _MARKS, _LEAD, _END, re.IGNORECASE)


@cache
def _anywhere(words: str, flags: int = 0) -> re.Pattern[str]:
    return re.compile(rf"(?<!\w)(?:{_filled('|'.join(ENGLISH.words(words)), VALUES)})(?!\w)", flags)


def _row(name: str, table: Mapping[str, object]) -> Attribute:
    def listed(key: str) -> tuple[str, ...]:
        return ENGLISH.words(f"slots.rows.{name}.{key}") if key in table else ()

    def stated(key: str) -> tuple[Form, ...]:
        return tuple(_form(one, VALUES, "", rf"{_TAIL}\Z") for one in listed(key))

    return Attribute(
        name,
        str(table.get("gap", name)),
        str(table.get("topic", name)),
        bool(table.get("one")),
        bool(table.get("of_things")),
        str(table.get("search", "")),
        stated("states"),
        stated("former"),
        stated("ends"),
        tuple(map(_question, listed("asked"))),
        frozenset(map(stem, listed("words"))),
    )


@cache
def rows() -> Mapping[str, Attribute]:
    """Return the rows of the table by name; their patterns take a while to compile, so not at import."""
    return {name: _row(name, table) for name, table in _TABLE.items()}


@cache
def _asked_nouns() -> tuple[Form, ...]:
    return tuple(map(_question, _ASKED_NOUN))


@lru_cache(maxsize=1 << 13)
def slots_of(fact: Fact) -> tuple[StatedSlot, ...]:
    """Return the slots that a fact fills; none for what is planned, reported, or of nobody in particular."""
    return tuple(slot for slot in _slots(fact) if not slot.ends)


@lru_cache(maxsize=1 << 13)
def _slots(fact: Fact) -> tuple[StatedSlot, ...]:
    owner = None if fact.kind in _UNSTATED else owner_of(fact.subject)
    return () if owner is None else tuple(dict.fromkeys(_read(owner, fact)))


def _read(owner: tuple[str, ...], fact: Fact) -> Iterator[StatedSlot]:
    said = f"{fact.predicate} {fact.object}".strip()
    found = list(_by_noun(owner, fact)) if len(owner) > 1 else []
    yield from found
    for row in rows().values():
        if (found and not row.of_things) or (row.of_things and len(owner) == 1):
            continue  # "my shoe size is 43" states no age, but "my car is a red Fiat" a colour, and "we're golden" none
        for patterns, over, ends in ((row.states, False, False), (row.former, True, False), (row.ends, True, True)):
            match = next((one for pattern in patterns if (one := pattern.match(said))), None)
            if match is not None:
                yield StatedSlot(owner, row.name, match.groupdict().get("value") or "", over, ends)
                break
    called = _CALLED.fullmatch(said)
    if called is not None:
        yield StatedSlot((*owner, called["noun"]), "name", called["value"])
    alias = _TITLE.match(_POSSESSOR.split(fact.subject.strip())[-1]) if len(owner) > 1 else None
    if alias is not None:
        yield StatedSlot(owner, "name", alias["name"])


def _by_noun(owner: tuple[str, ...], fact: Fact) -> Iterator[StatedSlot]:
    """Yield the slot that the last noun of a subject names: the code of "my locker code is 4417"."""
    *of, noun = owner
    said = f"{fact.predicate} {fact.object}"
    if noun.rpartition(" ")[2] in _APPOINTMENTS:
        if fact.event is not None and fact.event.start is not None and _DATED.fullmatch(said):
            yield StatedSlot(owner, DATE, fact.event.text)
        return
    if fact.predicate not in _IS | _WAS or not fact.object:
        return
    value, over = re.sub(r"^(?:an?|the|on) ", "", fact.object), fact.predicate in _WAS
    value = re.sub(rf"{_TAIL}$", "", value) or value
    if noun in PEOPLE_AND_PETS:  # and not "my therapist is a Signe"
        if value == fact.object and (named := re.match(rf"{_NAME}(?= at | from | in |$)", value)):
            yield StatedSlot(owner, "name", named[0], over)
        return
    name = _BY_NOUN.get(noun)
    favourite = name is None and noun.startswith("favourite ")
    literal = len(value) <= _MOST_LITERAL and _LITERAL.fullmatch(value) is not None and not _NOT_LITERAL.search(value)
    if favourite or name in _LITERAL_ROWS or literal:
        yield StatedSlot(tuple(of), name or noun, value, over)


@lru_cache(maxsize=1 << 14)
def owner_of(phrase: str) -> tuple[str, ...] | None:
    """Return the owner that a phrase names, ("user", "sister") for "user's sister Ruth"; None for nobody sure."""
    root, *nouns = _POSSESSOR.split(phrase.strip())
    plain = root.casefold().strip()
    if not _ROOT.fullmatch(root) or not _NO_ROOT.isdisjoint(plain.split()) or len(plain.split()) > 3:
        return None
    if plain != "user" and not root[:1].isupper():
        return None
    path = [plain, *map(noun_of, nouns)]
    return tuple(path) if all(path) else None


def noun_of(part: str) -> str:
    """Return a noun without its name and without words that tell nothing apart: "sister" of "new sister, Ruth,"."""
    found = _TITLE.match(part)
    kept = [word.casefold() for word in (found["noun"] if found else part).split()]
    plain = " ".join(word for word in kept if word not in _LOOSE)
    plain = plain.replace("favorite", "favourite").replace("color", "colour")
    return plain if re.fullmatch(r"[\w-]+(?: [\w-]+){0,2}", plain) and not {"and", "or", "who"} & set(kept) else ""


@lru_cache(maxsize=256)
def asked_slot(question: str) -> AskedSlot | None:
    """Return the slot that a question asks for; None for a question of another shape."""
    text = question.strip()
    if len(text) > _LONGEST:
        return None
    for row in rows().values():
        for pattern in row.asked:
            if (found := pattern.match(text)) is not None:
                return _asked(row.name, found)
    found = next((one for pattern in _asked_nouns() if (one := pattern.match(text))), None)
    noun = noun_of(found["noun"]) if found is not None else ""
    return _asked(_BY_NOUN.get(noun, noun), found) if found is not None and noun else None


def _asked(name: str, found: re.Match[str]) -> AskedSlot | None:
    groups = found.groupdict()
    spoken = (groups.get("of") or groups.get("poss") or "").strip()
    owner = _asked_owner(spoken, possessive=not groups.get("of"))
    if owner is None:
        return None
    if name == "name" and owner[-1].startswith("favourite "):  # "who is my favourite player", as what is
        owner, name = owner[:-1], owner[-1]
    plural = owner[-1].endswith("s") and not owner[-1].endswith("ss")
    return AskedSlot(owner, name, spoken, groups.get("noun") or "", plural)


def _asked_owner(spoken: str, *, possessive: bool) -> tuple[str, ...] | None:
    """Return whose slot is asked for."""
    plain = spoken.casefold()
    if plain in _SELF or (possessive and plain in _MINE):
        return (USER,)
    first, _, rest = spoken.partition(" ")
    if first.casefold() in _MINE and rest:
        parts = [noun_of(part) for part in _POSSESSOR.split(rest)]
        return (USER, *parts) if all(parts) else None
    if first.casefold() in _POSSESSIVES:
        return None
    return owner_of(spoken)


def is_of_profile(fact: Fact) -> bool:
    """Return whether a fact is one of a profile: by rule, what fills a slot, and whom or what somebody has.

    Likes are of kinds of things: "I love Gemma", "I like a door that shuts" and "I hate it" are of the moment. What
    another extractor than the rules found is of a profile: it chose it.
    """
    if fact.extractor != BY_RULE:
        return True
    told = [slot for slot in slots_of(fact) if slot.value in fact.object and slot.name != DATE]
    if told:  # and not "my sister Ruth phoned"
        return all(slot.name not in _LIKES or _KIND_OF_THING.fullmatch(slot.value) for slot in told)
    return has_something(fact)


def has_something(fact: Fact) -> bool:
    """Return whether a fact says whom or what somebody has: "has two cats"."""
    if fact.kind not in _KINDS or owner_of(fact.subject) is None or _HAS.fullmatch(fact.predicate) is None:
        return False
    things = _FURTHER.split(fact.object)[0]
    return all(_SOME.match(one) and lemma(one.split()[-1].casefold()) in _OWNED for one in _JOINED_BY.split(things))


class Topic(NamedTuple):
    """What a fact is about: an owner, and what of them. Facts replace one another only within a topic."""

    owner: str
    name: str


def topic_of(fact: Fact) -> Topic | None:
    """Return the topic of a fact; None for most, which neither replace others nor are replaced."""
    told = f"{fact.predicate} {fact.object}"
    slots = (slot for slot in _slots(fact) if slot.value in told or slot.name == DATE)
    slot = next((slot for slot in slots if slot.ends or not slot.over), None)
    return None if slot is None else Topic(" ".join(slot.owner), slot.topic)


def replaces(newer: Fact, older: Fact) -> bool:
    """Return whether a fact, stated later, makes an earlier one outdated: another value of what has one, or its end.

    Facts of two topics (`topic_of`) never replace one another. Nor do facts of one turn by two extractors: a model's
    misreading must not mark what was said as outdated.
    """
    if _read_twice(newer, older):
        return False
    held = [slot for slot in _slots(older) if not slot.over]
    return any(_excludes(new, old) for new in _slots(newer) for old in held if new.owner == old.owner)


def _read_twice(one: Fact, other: Fact) -> bool:
    """Return whether two extractors read these facts from one turn."""
    return one.turn_id == other.turn_id and one.extractor != other.extractor


def _excludes(new: StatedSlot, old: StatedSlot) -> bool:
    if new.ends:
        if not new.value:
            return new.topic == old.topic
        return new.name == old.name and may_be_same(new.value, old.value)
    row = rows().get(old.name)
    has_one = row is None or row.one
    return has_one and not new.over and new.name == old.name and not may_be_same(new.value, old.value)


def outranks(own: Fact, said_by: str, reported_by: str) -> bool:
    """Return whether a fact is a person's own word, which what somebody else reports neither replaces nor ends.

    A person's own word is about its speaker or what is theirs. The date of an appointment is not theirs alone: whoever
    moves it may say so.
    """
    if said_by == reported_by or not may_be_same(own.subject, said_by):
        return False
    topic = topic_of(own)
    return topic is None or topic.name != DATE


def contradicts(report: Fact, reported_by: str, own: Fact, said_by: str) -> bool:
    """Return whether a later report would replace a person's own word, had the person said it."""
    return outranks(own, said_by, reported_by) and replaces(report, own)


def class_of(fact: Fact) -> str:
    """Return the class of what a fact says: the slot that it fills, else the base of its verb."""
    slot = next(iter(_slots(fact)), None)
    if slot is not None:
        return slot.name
    said = fact.predicate.casefold().split()
    verbs = [word for word in said if (TAGS.get(word) or guess(word)) in TagSet.FULL_VERBS]
    return lemma(verbs[0]) if verbs else "be" if said else fact.kind


@lru_cache(maxsize=1 << 14)
def words_of(text: str) -> frozenset[str]:
    """Return the words that distinguish one thing from another: case folded, without articles, "new" and the like."""
    words = (word.casefold().removesuffix("'s").removesuffix("\u2019s") for word in _WORD.findall(text))
    return frozenset(words) - _INDISTINCT


def is_named(value: str) -> bool:
    """Return whether a value contains a name: "Porto", not "a bigger flat"."""
    return any(word[0].isupper() for word in _WORD.findall(value) if not word.endswith(("'s", "\u2019s")))


def may_be_same(value: str, other: str) -> bool:
    """Return whether two values may be the same: all words of one are in the other ("Porto", "a flat in Porto")."""
    words, others = words_of(value), words_of(other)
    return bool(words) and bool(others) and (words <= others or others <= words)
