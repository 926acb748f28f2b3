"""Noun phrases of a passage, as answers to "which", "what", "who" and "where"."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from ...extract.tag_letters import Tag, TagSet
from ...extract.tagging import Tagged, lowered, tagged
from ...text.terms import STOP_WORDS, words

_INSIDE = frozenset(TagSet.NOUN_PHRASE + Tag.APOSTROPHE + TagSet.DETERMINERS + Tag.QUOTE)
_HEADS = frozenset(TagSet.NOUNS + Tag.BASE_OR_NOUN + Tag.S_FORM_OR_PLURAL + Tag.GERUND + Tag.QUOTE)
_LEADING = frozenset(TagSet.DETERMINERS)
_LONGEST = 6  # words


@dataclass(frozen=True, slots=True)
class NounPhrase:
    """A noun phrase: its characters, its head, the words before it, and whether it is written as a name."""

    text: str
    span: tuple[int, int]
    head: str
    named: bool
    before: str
    verb: str


def noun_phrases(text: str, start: int, end: int) -> Iterator[NounPhrase]:
    """Yield the noun phrases of the sentence text[start:end], without the determiner that opens them."""
    sentence = tagged(text, lowered(text), start, end)
    tags = sentence.tags
    place = 0
    verb = ""
    while place < len(tags):
        if tags[place] not in _INSIDE:
            if tags[place] in TagSet.FULL_VERBS:
                verb = sentence.words[place]
            place += 1
            continue
        last = place
        while last < len(tags) and tags[last] in _INSIDE and (last == place or tags[last] not in _LEADING or tags[last - 1] in _LEADING):
            last += 1
        if (found := _phrase(sentence, place, last, verb)) is not None:
            yield found
        place = last


def _phrase(sentence: Tagged, first: int, last: int, verb: str) -> NounPhrase | None:
    before = sentence.words[first - 1] if first else ""
    while first < last and sentence.tags[first] in _LEADING:
        first += 1
    while last > first and sentence.tags[last - 1] not in _HEADS:
        last -= 1
    if first >= last or last - first > _LONGEST:
        return None
    span = (sentence.ranges[first][0], sentence.ranges[last - 1][1])
    spoken = sentence.text[slice(*span)].strip("\"'\u201c\u201d*_ ")
    if not spoken or set(words(spoken)) <= STOP_WORDS:
        return None
    named = all(sentence.text[sentence.ranges[n][0]].isupper() for n in range(first, last) if sentence.tags[n] != Tag.APOSTROPHE)
    at = sentence.text.find(spoken, span[0])
    return NounPhrase(spoken, (at, at + len(spoken)), sentence.words[last - 1], named, before, verb)
