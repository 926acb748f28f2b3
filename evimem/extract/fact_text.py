"""The text of facts: the first person becomes the speaker, contractions are spelled out, fillers are dropped."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from hashlib import blake2b
from typing import Literal, NamedTuple

from ..lang import ENGLISH
from .tagging import Tag, Tagged, TagSet, lemma, letters, third_person

Kind = Literal["event", "state", "opinion", "image"]

_KEPT_ADVERBS = frozenset(ENGLISH.words("grammar.kept_adverbs"))
_SPELLED_OUT = dict(ENGLISH.table("grammar.spelled_out"))
_THIRD_PERSON = dict(ENGLISH.table("grammar.third_person"))
_STATIVE = frozenset(ENGLISH.words("grammar.stative_participles"))
_FIRST_PERSON = ENGLISH.words("grammar.first_person")
_FIRST_PERSON_POSSESSIVE = ENGLISH.words("grammar.first_person_possessive")
# a capital on these only opens the sentence
_LOWERED = frozenset(
    letters(
        """
        DETERMINER IT THAT THERE THIRD_PERSON SECOND_PERSON ADVERB ADJECTIVE S_FORM_OR_PLURAL BASE_OR_NOUN GERUND PLURAL
        PAST_OR_PARTICIPLE
        """
    )
)
_UNREPLACED = letters("QUOTE NAME")
_LEADING_FILLERS = letters("ADVERB INTERJECTION SYMBOL COMMA")
_DROPPED_ADVERBS = letters("ADVERB SO TIME")
_BASES_OR_NOUN = letters("BASES NOUN")
_AFTER_HAVE = letters("PARTICIPLES BE")


def fact_id(turn_id: str, extractor: str, span: tuple[int, int], subject: str, predicate: str, obj: str) -> str:
    """Return 32 hex digits that name a fact."""
    content = "\x1f".join((turn_id, extractor, str(span[0]), str(span[1]), subject, predicate, obj))
    return blake2b(content.encode("utf-8", "surrogatepass"), digest_size=16).hexdigest()


class Statement(NamedTuple):
    """The texts of a fact, its characters (`span`), and those that may hold its time (`scope`).

    `elliptic` is one whose subject was left out: "Sold the car"; `verb` is the base of the verb that means.
    """

    subject: str
    predicate: str
    object: str
    span: tuple[int, int]
    scope: tuple[int, int]
    kind: Kind
    elliptic: bool = False
    verb: str = ""


def clean(text: str) -> str:
    """Return text with single spaces and without unprintable characters: control, format and surrogate."""
    if text.isprintable():
        return " ".join(text.split()) if "  " in text else text.strip()
    return " ".join(filter(None, ("".join(filter(str.isprintable, word)) for word in text.split())))


@lru_cache(maxsize=512)
def voice_of(speaker: str) -> Voice:
    """Return the voice of a speaker."""
    return Voice(speaker)


class Voice:
    """A speaker: writes ranges of their tokens in the third person."""

    __slots__ = ("_owner", "_replaced", "name")

    def __init__(self, name: str) -> None:
        self.name: str = clean(name) or "speaker"
        owner = self._owner = self.name + ("'" if self.name.endswith("s") else "'s")
        self._replaced = {
            **dict.fromkeys(_FIRST_PERSON, self.name),
            **dict.fromkeys(_FIRST_PERSON_POSSESSIVE, owner),
        }

    def owned(self, thing: str) -> str:
        """Return what is the speaker's: "Mira's sister"."""
        return f"{self._owner} {thing}"

    def phrase(self, sentence: Tagged, start: int, end: int) -> str:
        """Return tokens [start, end) with the first person replaced, except in quotations and in "some of us"."""
        if start >= end:
            return ""
        words, tags, ranges = sentence.words, sentence.tags, sentence.ranges
        pieces: list[str] = []
        kept = ranges[start][0]
        for index in range(start, end):
            new = self._replaced.get(words[index])
            if new is not None and tags[index] not in _UNREPLACED and words[index - 1 : index + 1] != ["of", "us"]:
                pieces += (sentence.text[kept : ranges[index][0]], new)
                kept = ranges[index][1]
        return clean("".join((*pieces, sentence.text[kept : ranges[end - 1][1]])))

    def subject(self, sentence: Tagged, start: int, end: int) -> str:
        """Return the subject in tokens [start, end), without the capital that only opens the sentence."""
        tags = sentence.tags
        while start < end - 1 and tags[start] in _LEADING_FILLERS:
            start += 1
        if end - start == 1 and tags[start] == Tag.FIRST_PERSON:
            return self.name
        phrase = self.phrase(sentence, start, end)
        possessive = tags[start] == Tag.POSSESSIVE and sentence.words[start] not in self._replaced
        lowers = tags[start] in _LOWERED or possessive
        return phrase[:1].lower() + phrase[1:] if lowers and not phrase[1:2].isupper() else phrase

    def predicate(self, sentence: Tagged, start: int, end: int, *, first: bool) -> str:
        """Return the verb group in tokens [start, end); `first` when its subject is the speaker."""
        words, tags = sentence.words, sentence.tags
        kept: list[str] = []
        finite = True
        for index in range(start, end):
            word, tag = words[index], tags[index]
            if tag in _DROPPED_ADVERBS:
                kept += [word] if word in _KEPT_ADVERBS else []
            elif tag == Tag.NOT:
                kept.append("not" if word == "n't" else word)
            else:
                if finite and word in ("'s", "'d"):
                    word = _ambiguous(word, tag, words[index + 1 : end], tags[index + 1 : end])
                elif finite and first and tag in _BASES_OR_NOUN:
                    word = third_person(lemma(word))
                else:
                    word = _spelled(word, first=first and finite)
                kept.append(word)
                finite = False
        return clean(" ".join(kept))


def _spelled(word: str, *, first: bool) -> str:
    return str((_THIRD_PERSON if first and word in _THIRD_PERSON else _SPELLED_OUT).get(word, word))


def _ambiguous(word: str, tag: str, words: Sequence[str], tags: str) -> str:
    """Return what 's or 'd stands for before the rest of its verb group."""
    verb = tags.lstrip(TagSet.QUALIFIERS)[:1]
    perfect = tag == Tag.HAVE or (verb != "" and verb in _AFTER_HAVE and _STATIVE.isdisjoint(words))
    return ("has" if perfect else "is") if word == "'s" else ("had" if perfect else "would")
