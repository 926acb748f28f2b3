"""Noun phrases of a tagged sentence: owner, words, name, and place."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass, replace

from ...extract.tag_letters import Tag, TagSet
from ...extract.tagging import Tagged
from ...lang import ENGLISH
from ...text.terms import stem
from ...times.lexicon import FULL_MONTHS, FULL_WEEKDAYS
from ..match_sentences import rarity
from .tag_sets import (
    BEFORE_DETERMINER,
    FINITE_VERBS,
    NOT_NAMES,
    NOUN_PHRASE,
    NOUN_PHRASE_START,
    NOUN_PHRASE_WORDS,
    PRONOUNS,
)

POSSESSIVE = ENGLISH.table("word_classes.pronouns.possessive")
_SPOKEN = ENGLISH.table("word_classes.pronouns.object")
_PERSONS = frozenset(ENGLISH.words("word_classes.pronouns.persons"))
JOINS = frozenset(ENGLISH.words("attributes.phrase_joins"))
_BEFORE_NAMES = frozenset(ENGLISH.words("attributes.before_names"))
LOOSE = frozenset(ENGLISH.words("attributes.no_difference"))
"""Words that distinguish no two things: "my new boss" may be mentioned as "my boss"."""
_LINKS = frozenset(ENGLISH.words("attributes.name_links"))
_INTRODUCING = frozenset(ENGLISH.words("attributes.introducing"))
_PRO_NOUNS = frozenset(ENGLISH.words("attributes.pro_nouns"))
_MONTHS = FULL_MONTHS.keys() - {"may"}  # May is a first name
_NO_NAMES = FULL_WEEKDAYS.keys() | _MONTHS | set(ENGLISH.words("attributes.not_names"))
_FINITE = frozenset(FINITE_VERBS)
_RARE = 0.75  # a word that opens a sentence without an article, and is as rare as this, is a name
_TITLES = frozenset(f"{title}{dot}" for title in ENGLISH.words("people.honorifics") for dot in ("", "."))


@dataclass(frozen=True, slots=True)
class Phrase:
    """A noun phrase. A `pronoun` is the whole phrase; `owner` is the phrase of the possessor; `name` is as in the text.

    `words` are in lower case without determiners, the head last; `new` is whether it introduces what it names ("a");
    [`first`, `last`) are tokens, `name_at` the characters of the name.
    """

    owner: Phrase | None = None
    pronoun: str = ""
    words: tuple[str, ...] = ()
    name: str = ""
    new: bool = False
    plural: bool = False
    first: int = 0
    last: int = 0
    name_at: tuple[int, int] = (0, 0)

    @property
    def head(self) -> str:
        """The noun, or nothing where there is only a name."""
        return self.words[-1] if self.words else ""


def phrases(sentence: Tagged, first: int, last: int, names: Collection[str] = ()) -> Iterator[Phrase]:
    """Yield the noun phrases among tokens [first, last), in order."""
    tags = sentence.tags
    place = first
    while place < last:
        tag = tags[place]
        if sentence.words[place] in _NO_NAMES:
            place += 1
        elif tag in PRONOUNS:
            spoken = _pronoun(sentence.words[place])
            if spoken:
                yield Phrase(pronoun=spoken, first=place, last=place + 1)
            place += 1
        elif tag == Tag.QUOTE:
            end = _run(tags, place, last, Tag.QUOTE)
            yield _quoted(sentence, place, end)
            place = end
        elif tag in NOUN_PHRASE_START:
            end = _extent(sentence, place, last)
            while end > place + 1 and tags[end - 1] == Tag.ADVERB:
                end -= 1
            if (found := _phrase(sentence, place, end, names)) is not None:
                yield found
            place = end
        else:
            place += 1


def is_name(sentence: Tagged, place: int, names: Collection[str]) -> bool:
    """Return whether a token is written as a name; the first word of a sentence only where it is known as one."""
    if sentence.tags[place] == Tag.NAME:
        return True
    at, to = sentence.ranges[place]
    if not sentence.text[at].isupper() or sentence.tags[place] in NOT_NAMES:
        return False
    if place and sentence.words[place] in _BEFORE_NAMES:
        return True
    if place and sentence.tags[place] == Tag.ADVERB and len(sentence.words[place]) > 3:
        return True  # "Ledgerly" is spelled like an adverb
    if sentence.tags[place] == Tag.DETERMINER:
        return False
    return sentence.text[at:to] in names or sentence.words[place] in _TITLES


def names_of(sentence: Tagged) -> Iterator[str]:
    """Yield the words of a sentence that are written as names."""
    tags = sentence.tags
    opens = (
        tags[:1] in (Tag.NOUN, Tag.PLURAL) and tags[1:2] in _FINITE and sentence.text[sentence.ranges[0][0]].isupper()
    )
    if opens and rarity(stem(sentence.words[0])) >= _RARE:
        yield sentence.text[slice(*sentence.ranges[0])]
    for place in range(1, len(tags)):
        if is_name(sentence, place, ()) and sentence.words[place] not in _NO_NAMES:
            yield sentence.text[slice(*sentence.ranges[place])]


def _pronoun(word: str) -> str:
    spoken = _SPOKEN.get(word, word)
    return ("she" if spoken == "her" else spoken) if spoken in _PERSONS else ""


def _run(tags: str, place: int, last: int, tag: str) -> int:
    while place < last and tags[place] == tag:
        place += 1
    return place


def _extent(sentence: Tagged, place: int, last: int) -> int:
    """Return where the phrase that opens at a token ends: a determiner begins another, unless it counts ("my two")."""
    tags = sentence.tags
    end = place + 1
    while end < last:
        tag = tags[end]
        joins = sentence.words[end] in JOINS and tags[end - 1] == Tag.NAME and tags[end + 1 : end + 2] == Tag.NAME
        if (not joins and tag not in NOUN_PHRASE) or sentence.words[end] in _NO_NAMES:
            break
        if (
            tag in TagSet.DETERMINERS
            and tags[end - 1] not in BEFORE_DETERMINER
            and sentence.words[end] not in _PRO_NOUNS
        ):
            break
        end += 1
    return end


def _quoted(sentence: Tagged, place: int, end: int) -> Phrase:
    at, to = sentence.ranges[place][0], sentence.ranges[end - 1][1]
    text = sentence.text[at:to]
    inner = text.strip('"\u201c\u201d ,.!?')
    start = at + text.find(inner)
    return Phrase(name=inner, first=place, last=end, name_at=(start, start + len(inner)))


def _phrase(sentence: Tagged, first: int, last: int, names: Collection[str]) -> Phrase | None:
    """Return the phrase of a run of tokens; what stands before 's is its owner."""
    owner: Phrase | None = None
    place = first
    while Tag.APOSTROPHE in sentence.tags[place:last]:
        mark = sentence.tags.index(Tag.APOSTROPHE, place, last)
        owner = _part(sentence, place, mark, names, owner)
        place = mark + 1
    found = _part(sentence, place, last, names, owner)
    return None if found is None else replace(found, first=first)


def _part(sentence: Tagged, first: int, last: int, names: Collection[str], owner: Phrase | None) -> Phrase | None:
    words: list[str] = []
    named: list[int] = []
    new = plural = False
    for place in range(first, last):
        word, tag = sentence.words[place], sentence.tags[place]
        if tag == Tag.POSSESSIVE:
            owner = Phrase(pronoun=POSSESSIVE.get(word, ""), first=place, last=place + 1)
        elif is_name(sentence, place, names) or (word in JOINS and named):
            named.append(place)
        elif tag == Tag.DETERMINER and not sentence.text[sentence.ranges[place][0]].isdigit():
            new = new or word in _INTRODUCING
            words += [word] if word in _PRO_NOUNS else []
        elif tag in NOUN_PHRASE_WORDS and word not in _LINKS:
            words.append(word)
            plural = tag == Tag.PLURAL
    if not words and not named:
        return None
    at = (sentence.ranges[named[0]][0], sentence.ranges[named[-1]][1]) if named else (0, 0)
    return Phrase(owner, "", tuple(words), sentence.text[at[0] : at[1]], new, plural, first, last, at)
