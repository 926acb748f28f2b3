"""Noun phrases of a tagged sentence: whose it is, its words, its name, and where it stands."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass, replace

from ...extract.tagging import Tagged
from ...text.terms import stem
from ..word_rarity import rarity

_PRONOUNS = frozenset("iyeot")
_OPENS = frozenset("DSJNMUwkpgR")
_INSIDE = frozenset("DSJNMUwzkpgR'")
_DETERMINERS = frozenset("DS")
_WORDS = frozenset("JNUwzkpg")
POSSESSIVE = {
    "my": "i", "our": "i", "your": "you", "his": "he", "her": "she", "its": "it", "their": "they",
}  # fmt: skip
_SPOKEN = {
    "me": "i", "we": "i", "us": "i", "myself": "i", "him": "he", "them": "they", "em": "they", "ya": "you",
}  # fmt: skip
_PERSONS = frozenset("i you he she it they her".split())
_JOINS = frozenset(("&", "-"))
_ORDINALS = frozenset(("first", "second", "third", "another"))
LOOSE = frozenset("new old late current own former last first eldest little".split())
"""Words that tell no two things apart: "my new boss" may be told of as "my boss"."""
_LINKS = frozenset(("own", "called", "named"))
_CALENDAR = frozenset(
    """
    monday tuesday wednesday thursday friday saturday sunday january february march april june july august september
    october november december mondays tuesdays wednesdays thursdays fridays saturdays sundays christmas easter today
    tomorrow yesterday tonight last next
    """.split()
)
_FINITE = frozenset("bhZzfkdm")
_RARE = 0.75  # a word that opens a sentence without an article, and is as rare as this, is a name
_TITLES = frozenset("mr. mrs. ms. dr. prof. mr mrs ms dr prof".split())


@dataclass(frozen=True, slots=True)
class Phrase:
    """A noun phrase. A `pronoun` is all there is to it; `owner` is whose it is; `name` is spelled as in the text.

    `words` are in lower case without determiners, the head last; `new` is whether it introduces what it names ("a");
    `first` and `last` are tokens, half-open, `name_at` the characters of the name.
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
        if sentence.words[place] in _CALENDAR:
            place += 1
        elif tag in _PRONOUNS:
            spoken = _pronoun(sentence.words[place])
            if spoken:
                yield Phrase(pronoun=spoken, first=place, last=place + 1)
            place += 1
        elif tag == '"':
            end = _run(tags, place, last, '"')
            yield _quoted(sentence, place, end)
            place = end
        elif tag in _OPENS:
            end = _extent(sentence, place, last)
            while end > place + 1 and tags[end - 1] == "R":
                end -= 1
            if (found := _phrase(sentence, place, end, names)) is not None:
                yield found
            place = end
        else:
            place += 1


def is_name(sentence: Tagged, place: int, names: Collection[str]) -> bool:
    """Return whether a token is written as a name; the first word of a sentence only where it is known as one."""
    if sentence.tags[place] == "M":
        return True
    at, to = sentence.ranges[place]
    if not sentence.text[at].isupper() or sentence.tags[place] in "SiyetoWdhbmPC!":
        return False
    if place and sentence.words[place] in _ORDINALS:
        return True
    if place and sentence.tags[place] == "R" and len(sentence.words[place]) > 3:
        return True  # "Ledgerly" is spelled like an adverb
    if sentence.tags[place] == "D":
        return False
    return sentence.text[at:to] in names or sentence.words[place] in _TITLES


def names_of(sentence: Tagged) -> Iterator[str]:
    """Yield the words of a sentence that are written as names."""
    tags = sentence.tags
    opens = tags[:1] in ("N", "U") and tags[1:2] in _FINITE and sentence.text[sentence.ranges[0][0]].isupper()
    if opens and rarity(stem(sentence.words[0])) >= _RARE:
        yield sentence.text[slice(*sentence.ranges[0])]
    for place in range(1, len(tags)):
        if is_name(sentence, place, ()) and sentence.words[place] not in _CALENDAR:
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
        joins = sentence.words[end] in _JOINS and tags[end - 1] == "M" and tags[end + 1 : end + 2] == "M"
        if (not joins and tag not in _INSIDE) or sentence.words[end] in _CALENDAR:
            break
        if tag in _DETERMINERS and tags[end - 1] not in "DSJR'" and sentence.words[end] not in ("one", "ones"):
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
    while "'" in sentence.tags[place:last]:
        mark = sentence.tags.index("'", place, last)
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
        if tag == "S":
            owner = Phrase(pronoun=POSSESSIVE.get(word, ""), first=place, last=place + 1)
        elif is_name(sentence, place, names) or (word in _JOINS and named):
            named.append(place)
        elif tag == "D" and not sentence.text[sentence.ranges[place][0]].isdigit():
            new = new or word in ("a", "an", "another", "two", "three")
            words += [word] if word in ("one", "ones") else []
        elif tag in _WORDS and word not in _LINKS:
            words.append(word)
            plural = tag == "U"
    if not words and not named:
        return None
    at = (sentence.ranges[named[0]][0], sentence.ranges[named[-1]][1]) if named else (0, 0)
    return Phrase(owner, "", tuple(words), sentence.text[at[0] : at[1]], new, plural, first, last, at)
