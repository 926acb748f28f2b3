"""A sentence as tokens with one tag each (see `tag_letters.Tag`)."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache
from itertools import islice
from typing import NamedTuple

from ..lang import ENGLISH
from .tag_letters import Tag, letters, tag_pattern
from .word_tags import SPLITS, TAGS, guess

MAX_TOKENS = 80  # of a sentence; what follows stays searchable as raw text

_ABBREVIATIONS = frozenset(ENGLISH.words("terms.abbreviations"))
_TITLES = "|".join(title for title in ENGLISH.words("people.honorifics") if title in _ABBREVIATIONS)
_WORD = r"[^\W_]+(?:[.&/-][^\W_]+)*"
_TITLE = rf"\b(?:{_TITLES})\.(?=\s)"
_OTHER = r"--+|\.\.+|[^\s\w]|_"
_PLAIN = re.compile(rf"{_TITLE}|{_WORD}|{_OTHER}")
# for a sentence with an apostrophe: "don't" is do + n't, "I'm" is I + 'm, "o'clock" stays one word
_CLITIC = f"'(?:{'|'.join(ENGLISH.words('grammar.clitics'))})\\b"
_WITH_CLITICS = re.compile(rf"{_TITLE}|[^\W_]+?(?=n't\b)|n't\b|{_CLITIC}|{_WORD}(?:(?!{_CLITIC})'[^\W_]+)?|{_OTHER}")

_APOSTROPHE = re.compile(Tag.APOSTROPHE)
_QUOTED = re.compile(tag_pattern("QUOTE [^QUOTE]* QUOTE"))
_OWNED = re.compile(tag_pattern("(?<=[DETERMINERS APOSTROPHE]) S_FORM"))  # "their lives": a plural noun
_NOUN_NOT = re.compile(tag_pattern("NOUN NOT"))  # "ai n't"
_NO_LONGER = re.compile(tag_pattern("DETERMINER ADVERB"))

# tags that a capital does not change to a name
_NEVER_NAMES = frozenset(
    letters(
        """
        PERSONS IT THAT THERE OBJECT DETERMINERS PREPOSITION PREPOSITION_OR_CONJUNCTION TO AND SUBORDINATOR
        QUESTION_WORD NOT MODAL BE HAVE DO ADVERB APOSTROPHE INTERJECTION SO PARTICLE LIKE END COMMA BREAK SYMBOL QUOTE
        """
    )
)
_NEVER_TIMES = letters("APOSTROPHE END COMMA BREAK")
# "'s" is a verb after these, and before these
_BEFORE_IS = letters("THIRD_PERSON THAT THERE SECOND_PERSON QUESTION_WORD")
_PRONOUNS_BEFORE_IS = frozenset(ENGLISH.words("grammar.clitic_pronouns"))
_AFTER_IS = letters("DETERMINERS ADVERB PREPOSITION NOT SO TO BE IT")
_ADJECTIVAL = frozenset(letters("ADJECTIVE PARTICIPLES"))
_AFTER_ADJECTIVE = frozenset(("", *letters("END COMMA AND PREPOSITION TO")))
_AFTER_SUBJECT_GERUND = frozenset(letters("S_FORM BE PASTS"))


class Tagged(NamedTuple):
    """The tokens of one sentence: lower-case words, their ranges in the text, and one tag each."""

    text: str
    words: Sequence[str]
    ranges: Sequence[tuple[int, int]]
    tags: str


def lowered(text: str) -> str:
    """Return the text in lower case with straight apostrophes, character by character, so that positions stay."""
    low = text.lower()
    if len(low) != len(text):
        low = "".join(letter if len(letter.lower()) != 1 else letter.lower() for letter in text)
    return low.replace("\u2019", "'")


@lru_cache(maxsize=8192)
def _tag(word: str) -> str:
    return TAGS.get(word) or guess(word)


def tagged(text: str, low: str, start: int, end: int, times: Sequence[tuple[int, int]] = ()) -> Tagged:
    """Tag the sentence text[start:end]; `low` is `lowered(text)`, `times` are the ranges of its time expressions."""
    pattern = _WITH_CLITICS if low.find("'", start, end) >= 0 else _PLAIN
    found = islice(pattern.finditer(low, start, end), MAX_TOKENS)
    ranges = [token.span() for token in found]
    words = [low[first:last] for first, last in ranges]
    if not SPLITS.keys().isdisjoint(words):
        words, ranges = _divided(words, ranges)
    tags = [_tag(word) for word in words]
    if not text[start + 1 : end].islower():
        _tag_names(tags, text, ranges)
    for since, until in times:
        for index, (first, _) in enumerate(ranges):
            if since <= first < until and tags[index] not in _NEVER_TIMES:
                tags[index] = Tag.TIME
    return Tagged(text, words, ranges, _resolved("".join(tags), words))


def _tag_names(tags: list[str], text: str, ranges: Sequence[tuple[int, int]]) -> None:
    """Change to names the tags of capitalised words inside the sentence, unless all of it is in capitals."""
    capitals = [index for index, (start, _) in enumerate(ranges) if text[start].isupper()]
    if len(capitals) > 3 and text[ranges[0][0] : ranges[-1][1]].isupper():
        return
    for index in capitals:
        if index and tags[index] not in _NEVER_NAMES:
            tags[index] = Tag.NAME


def _divided(words: list[str], ranges: list[tuple[int, int]]) -> tuple[list[str], list[tuple[int, int]]]:
    """Divide contractions without an apostrophe: dont, gonna."""
    new_words: list[str] = []
    new_ranges: list[tuple[int, int]] = []
    for word, (start, end) in zip(words, ranges, strict=True):
        split = SPLITS.get(word)
        if split is None:
            new_words.append(word)
            new_ranges.append((start, end))
        else:
            new_words += split.words
            new_ranges += ((start, start + split.at), (start + split.at, end))
    return new_words, new_ranges


def _resolved(tags: str, words: Sequence[str]) -> str:
    """Resolve tags that depend on other words: 's, quotations, "no longer"."""
    if Tag.APOSTROPHE in tags:
        tags = _APOSTROPHE.sub(lambda found: _clitic(tags, words, found.start()), tags)
    if Tag.NOUN + Tag.NOT in tags and "ai" in words:
        tags = _NOUN_NOT.sub(lambda found: Tag.BE + Tag.NOT if words[found.start()] == "ai" else found.group(), tags)
    if Tag.S_FORM in tags:
        tags = _OWNED.sub(Tag.PLURAL, tags)
    if Tag.QUOTE in tags:
        tags = _QUOTED.sub(lambda found: Tag.QUOTE * len(found.group()), tags)
    if Tag.DETERMINER + Tag.ADVERB in tags and "longer" in words:
        tags = _NO_LONGER.sub(
            lambda found: Tag.NOT + Tag.ADVERB if words[found.start() + 1] == "longer" else found.group(), tags
        )
    return tags


def _clitic(tags: str, words: Sequence[str], index: int) -> str:
    """Return the tag of "'s": `BE` where it is short for "is" or "has", else `APOSTROPHE`."""
    before, after, second = tags[index - 1 : index], tags[index + 1 : index + 2], tags[index + 2 : index + 3]
    if before and (before in _BEFORE_IS or words[index - 1] in _PRONOUNS_BEFORE_IS):
        return Tag.BE
    if after and after in _AFTER_IS:
        return Tag.BE
    if after in _ADJECTIVAL and second in _AFTER_ADJECTIVE:
        return Tag.BE
    return Tag.BE if after == Tag.GERUND and second not in _AFTER_SUBJECT_GERUND else Tag.APOSTROPHE
