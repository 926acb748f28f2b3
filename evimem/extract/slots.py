"""Slots: an attribute of an owner with its value, read from a fact or asked for by a question (`slots.toml`).

"I live in Leeds" fills the slot home of its speaker. A noun of somebody's that no row has fills a slot of its own where
its value is a name, a number or another literal: "my locker code is 4417".
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache, lru_cache

from ..lang import ENGLISH
from ..text.terms import stem
from ..times.lexicon import FULL_MONTHS, SIMPLE_NUMBERS
from ..types.stored import BY_RULE
from ..types.values import Fact
from .tagging import lemma

USER = ""
"""The first of the owner of a slot that a question asks for, where it is whoever asks."""

_POSSESSIVES = ENGLISH.words("word_classes.pronouns.possessive")
_MINE = frozenset(("my", "our"))
_SELF = frozenset(("i", "me", "we", "us", "myself"))
PEOPLE_AND_PETS = frozenset(ENGLISH.words("people.named"))
_LOOSE = frozenset(ENGLISH.words("slots.nouns.no_difference")) | {"own", "the", "my"}
_UNSTATED = frozenset(("plan", "statement", "image", "report"))  # kinds of facts that state nothing of now
_IS = frozenset(("is", "are", "is now", "are now", "has become", "is called", "is now called", "is named"))
_WAS = frozenset(("was", "were", "used to be"))
_NO_ROOT = frozenset(ENGLISH.words("predicates.topics.unnamed_subjects")) | _SELF | {"and"}
_LONGEST = 200  # characters of a question that these patterns are tried on
_MOST_LITERAL = 40  # characters: what is longer describes, and is no code, number or name

_CAPITAL = r"[A-Z\u00c0-\u00de][\w'\u2019.&-]*"
_NAME = rf"(?:(?:Dr|Mr|Mrs|Ms|Prof)\.? )?{_CAPITAL}(?: {_CAPITAL}){{0,2}}"
_JOINED = rf"{_CAPITAL}(?:(?: |, )(?:of |on |de |la |the |upon |und |& )?{_CAPITAL})*"
_PLACE = rf"(?:the )?{_JOINED}(?: {ENGLISH.any_of('slots.nouns.places')})?"
_NO_PLACE = ENGLISH.any_of("slots.nouns.no_place")
_COLOURS = ENGLISH.any_of("word_classes.colours.basic", "word_classes.colours.other")
_NUMBER = rf"(?:\d{{1,3}}|{'|'.join(word for word in SIMPLE_NUMBERS if word != 'one')})"
_MONTH = rf"(?:{'|'.join(month.capitalize() for month in FULL_MONTHS)})"
_DAY = r"\d{1,2}(?:st|nd|rd|th)?"
VALUES = {
    "{place}": rf"(?P<value>{_PLACE})",
    "{name}": rf"(?P<value>{_NAME})",
    "{where}": rf"(?P<value>{_PLACE}|the (?!{_NO_PLACE}\b)[a-z-]{{4,}})",
    "{capital}": rf"(?!I\b|\w+days?\b|{_MONTH}|{_NO_PLACE}){_CAPITAL}",
    "{number}": rf"(?P<value>{_NUMBER})",
    "{digits}": _NUMBER,
    "{date}": rf"(?P<value>(?:{_DAY}(?: of)? {_MONTH}|{_MONTH} {_DAY})(?:,? \d{{4}})?)",
    "{words}?": r"(?P<value>[\w'\u2019&./+-]+(?: [\w'\u2019&./+-]+){0,5}?)",
    "{words}": r"(?P<value>[\w'\u2019&./+-]+(?:,? [\w'\u2019&./+-]+){0,6}?)",
    "{trade}": rf"(?P<value>(?:[\w-]+ ){{0,2}}?(?:{'|'.join(ENGLISH.words('word_classes.trades.named'))}))",
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
_OWNED = PEOPLE_AND_PETS.union(ENGLISH.words("predicates.topics.things"))
_HAS = re.compile(ENGLISH.any_of("slots.nouns.having"))
_SOME = re.compile(rf"(?:an?|another|{_NUMBER}) (?:[\w-]+ ){{0,2}}[\w-]+$")


@dataclass(frozen=True, slots=True)
class Attribute:
    """An attribute: how facts state it, how it is called and asked for, and what may speak of it (`slots.toml`)."""

    name: str
    gap: str
    one: bool
    of_things: bool
    now: bool
    search: str
    kinds: frozenset[str]
    states: tuple[re.Pattern[str], ...]
    former: tuple[re.Pattern[str], ...]
    asked: tuple[re.Pattern[str], ...]
    words: frozenset[str]
    changes: re.Pattern[str] | None
    looks: re.Pattern[str] | None


@dataclass(frozen=True, slots=True)
class StatedSlot:
    """An attribute of an owner with its value; `over` is whether it only held once.

    `owner` is a name in lower case, then nouns of what is theirs: ("user", "sister").
    """

    owner: tuple[str, ...]
    name: str
    value: str
    over: bool = False


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


def _question(pattern: str) -> re.Pattern[str]:
    return re.compile(_LEAD + _filled(pattern, _MARKS).replace(" ", r"\s+") + _END, re.IGNORECASE)


def _row(name: str, table: Mapping[str, object]) -> Attribute:
    def listed(key: str) -> tuple[str, ...]:
        return ENGLISH.words(f"slots.rows.{name}.{key}") if key in table else ()

    def anywhere(key: str, flags: int = 0) -> re.Pattern[str] | None:
        return (
            re.compile(rf"(?<!\w)(?:{_filled('|'.join(listed(key)), VALUES)})(?!\w)", flags) if key in table else None
        )

    states, former = ([re.compile(_filled(one, VALUES) + _TAIL) for one in listed(key)] for key in ("states", "former"))
    return Attribute(
        name,
        str(table.get("gap", name)),
        bool(table.get("one")),
        bool(table.get("of_things")),
        bool(table.get("now")),
        str(table.get("search", "")),
        frozenset(listed("kinds")),
        tuple(states),
        tuple(former),
        tuple(map(_question, listed("asked"))),
        frozenset(map(stem, listed("words"))),
        anywhere("changes", re.IGNORECASE),
        anywhere("looks"),
    )


@cache
def rows() -> Mapping[str, Attribute]:
    """Return the rows of the table by name; their patterns take a quarter of a second to compile, so not at import."""
    return {name: _row(name, table) for name, table in _TABLE.items()}


@cache
def _asked_nouns() -> tuple[re.Pattern[str], ...]:
    return tuple(map(_question, _ASKED_NOUN))


@lru_cache(maxsize=1 << 13)
def slots_of(fact: Fact) -> tuple[StatedSlot, ...]:
    """Return the slots that a fact fills; none for what is planned, reported, or of nobody in particular."""
    owner = None if fact.kind in _UNSTATED else owner_of(fact.subject)
    return () if owner is None else tuple(dict.fromkeys(_read(owner, fact)))


def _read(owner: tuple[str, ...], fact: Fact) -> Iterator[StatedSlot]:
    said = f"{fact.predicate} {fact.object}".strip()
    found = list(_by_noun(owner, fact)) if len(owner) > 1 else []
    yield from found
    for row in rows().values():
        if (found and not row.of_things) or (fact.kind == "opinion" and "opinion" not in row.kinds):
            continue  # "my shoe size is 43" states no age, but "my car is a red Fiat" a colour
        if row.now and fact.event is not None and fact.predicate in _IS:
            continue  # "I'm thirty in August"
        if row.of_things and len(owner) == 1:
            continue  # "Gran Hettie is black", of a cat, and "we're golden"
        for patterns, over in ((row.states, False), (row.former, True)):
            match = next((one for pattern in patterns if (one := pattern.fullmatch(said))), None)
            if match is not None:
                yield StatedSlot(owner, row.name, match["value"], over)
                break
    called = _CALLED.fullmatch(said)
    if called is not None:
        yield StatedSlot((*owner, called["noun"]), "name", called["value"])
    alias = _TITLE.match(_POSSESSOR.split(fact.subject.strip())[-1]) if len(owner) > 1 else None
    if alias is not None and owner[-1] in PEOPLE_AND_PETS:
        yield StatedSlot(owner, "name", alias["name"])


def _by_noun(owner: tuple[str, ...], fact: Fact) -> Iterator[StatedSlot]:
    """Yield the slot that the last noun of a subject names: the code of "my locker code is 4417"."""
    *of, noun = owner
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
    plain = " ".join(word for word in kept if word not in _LOOSE).replace("favorite", "favourite")
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
    told = [slot for slot in slots_of(fact) if slot.value in fact.object]  # not "my sister Ruth phoned"
    if told:
        return all(slot.name not in _LIKES or _KIND_OF_THING.fullmatch(slot.value) for slot in told)
    if fact.kind not in _KINDS or owner_of(fact.subject) is None or _HAS.fullmatch(fact.predicate) is None:
        return False
    return _SOME.match(fact.object) is not None and lemma(fact.object.split()[-1].casefold()) in _OWNED
