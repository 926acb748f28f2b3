"""A sentence as tokens with one tag each (see `tag_letters.Tag`)."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache, lru_cache
from itertools import islice
from typing import NamedTuple

from ..lang import ENGLISH
from .tag_context import in_context
from .tag_letters import Tag, letters
from .word_tags import SPLITS, TAGS, guess

MAX_TOKENS = 80  # of a sentence; what follows stays searchable as raw text

_ABBREVIATIONS = sorted(
    (*ENGLISH.words("terms.abbreviations"), *ENGLISH.words("terms.abbreviations_that_may_end")), key=len, reverse=True
)
# a number with its sign, currency and unit: -120, $48,500, 3.5, 640€, 15%, 2nd, 3-year-old
_NUMBER = (
    r"(?<![\w.])[-+\u2212]?[$\u20ac\u00a3\u00a5\u20b9]?\d+(?:[.,:]\d+)*(?:[^\W\d_][^\W_]*)?(?:[.&/-][^\W_]+)*"
    r"(?:[%\u20ac\u00a3]|\u00b0[cfk]?)?"
)
_WORD = r"[^\W_]+(?:[.&/-][^\W_]+)*"
_SHORT = rf"\b(?:{'|'.join(map(re.escape, _ABBREVIATIONS))})\.(?=\s+\S)"  # "Dr." before a word
_UNPRINTABLE = r"\x00-\x1f\x7f\u200b-\u200f\u202a-\u202e\u2060\ufeff"  # no tokens: "I\u200b left"
_INITIALS = r"\b(?:[^\W\d_]\.){1,4}(?=\s+\S)"  # "J.K. Rowling"
_OTHER = rf"--+|\.\.+|[^\s\w{_UNPRINTABLE}]|_"
_CLITIC = f"'(?:{'|'.join(ENGLISH.words('grammar.clitics'))})\\b"
# for a sentence with an apostrophe: "don't" is do + n't, "I'm" is I + 'm, "o'clock" stays one word
_DIVIDED_WORD = rf"[^\W_]+?(?=n't\b)|n't\b|{_CLITIC}|{_WORD}(?:(?!{_CLITIC})'[^\W_]+)?"
_DIGIT = re.compile("[0-9]")


@cache
def _tokens(*, numbers: bool, abbreviations: bool, clitics: bool) -> re.Pattern[str]:
    """Return the pattern of tokens for a sentence with or without digits, full stops inside and apostrophes."""
    parts = [_NUMBER] * numbers + [_SHORT, _INITIALS] * abbreviations + [_DIVIDED_WORD if clitics else _WORD, _OTHER]
    return re.compile("|".join(parts))


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
# after these, or at the start, a capital may only open a clause
_BEFORE_OPENING = frozenset(letters("END COMMA BREAK QUOTE"))


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
    pattern = _tokens(
        numbers=_DIGIT.search(low, start, end) is not None,
        abbreviations=low.find(". ", start, end) >= 0,
        clitics=low.find("'", start, end) >= 0,
    )
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
    return Tagged(text, words, ranges, in_context("".join(tags), words))


def _tag_names(tags: list[str], text: str, ranges: Sequence[tuple[int, int]]) -> None:
    """Change to names the tags of capitalised words inside the sentence, unless all of it is in capitals."""
    capitals = [index for index, (start, _) in enumerate(ranges) if text[start].isupper()]
    if len(capitals) > 3 and text[ranges[0][0] : ranges[-1][1]].isupper():
        return
    for index in capitals:
        is_modal_name = tags[index] == Tag.MODAL and tags[index - 1] not in _BEFORE_OPENING  # "our son Will"
        if index and (tags[index] not in _NEVER_NAMES or is_modal_name):
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
