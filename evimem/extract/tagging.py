"""A sentence as tokens with one tag each, so that the grammar can be regular expressions over the string of tags.

i I we   y you   e he she they   t it this   q that   x there   o me him   D a the   S my   ' possessive 's
N noun or unknown   M name   U plural   J adjective   g -ing   w noun or verb   z its third person or plural
v verb   Z third person   f past   k past or participle   p participle   b be   h have   d do   m modal   n not
L like   R adverb   s so   P preposition   Q preposition or conjunction   T to   r particle   C and   B because
W who   ! interjection   ~ time expression   , comma or dash   ; other break   " quoted   . end   _ symbol
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache
from itertools import islice
from typing import NamedTuple

from .function_words import SPLITS, TAGS, guess

MAX_TOKENS = 80  # of a sentence; what follows stays searchable as raw text

_WORD = r"[^\W_]+(?:[.&/-][^\W_]+)*"
_TITLE = r"\b(?:dr|mr|mrs|ms|prof)\.(?=\s)"
_PLAIN = re.compile(rf"{_TITLE}|{_WORD}|--+|\.\.+|[^\s\w]|_")
# with an apostrophe about: "don't" is do + n't, "I'm" is I + 'm, "o'clock" stays one word
_CLITIC = "'(?:s|m|re|ve|ll|d)\\b"
_CLITICS = re.compile(
    rf"{_TITLE}|[^\W_]+?(?=n't\b)|n't\b|{_CLITIC}|{_WORD}(?:(?!{_CLITIC})'[^\W_]+)?|--+|\.\.+|[^\s\w]|_"
)
_QUOTED = re.compile(r'"[^"]*"')
_PLURAL_AFTER_ALL = re.compile("(?<=[DS'])Z")  # "their lives"
_AIN_T = re.compile("Nn")
_APOSTROPHE = re.compile("'")
_NO_LONGER = re.compile(r"DR")
_UNNAMED = frozenset("iyetqxoDSPQTCBWnmbhdR'!srL.,;_\"")  # tags that a capital does not turn into a name
_PRONOUNS = frozenset(("it", "this", "here"))
_split_words = SPLITS.keys()


class Tagged(NamedTuple):
    """The tokens of one sentence: lower-cased words, their ranges in the text, and one tag each."""

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
    pattern = _CLITICS if low.find("'", start, end) >= 0 else _PLAIN
    found = islice(pattern.finditer(low, start, end), MAX_TOKENS)
    ranges = [token.span() for token in found]
    words = [low[at:to] for at, to in ranges]
    if not _split_words.isdisjoint(words):
        words, ranges = _divided(words, ranges)
    tags = [_tag(word) for word in words]
    if not text[start + 1 : end].islower():
        _name(tags, text, ranges)
    for since, until in times:
        for index, (at, _) in enumerate(ranges):
            if since <= at < until and tags[index] not in "'.,;":
                tags[index] = "~"
    return Tagged(text, words, ranges, _settled("".join(tags), words))


def _name(tags: list[str], text: str, ranges: Sequence[tuple[int, int]]) -> None:
    """Tag what a capital inside the sentence shows to be a name, unless all of it shouts."""
    capitals = [index for index, (at, _) in enumerate(ranges) if text[at].isupper()]
    if len(capitals) > 3 and text[ranges[0][0] : ranges[-1][1]].isupper():
        return
    for index in capitals:
        if index and tags[index] not in _UNNAMED:
            tags[index] = "M"


def _divided(words: list[str], ranges: list[tuple[int, int]]) -> tuple[list[str], list[tuple[int, int]]]:
    """Return the tokens with the contractions divided that no apostrophe shows: dont, gonna."""
    new_words: list[str] = []
    new_ranges: list[tuple[int, int]] = []
    for word, (at, to) in zip(words, ranges, strict=True):
        split = SPLITS.get(word)
        if split is None:
            new_words.append(word)
            new_ranges.append((at, to))
        else:
            new_words += split.words
            new_ranges += ((at, at + split.at), (at + split.at, to))
    return new_words, new_ranges


def _settled(tags: str, words: Sequence[str]) -> str:
    """Resolve what one word alone does not show: 's, quotations, "no longer"."""
    if "'" in tags:
        tags = _APOSTROPHE.sub(lambda found: _clitic(tags, words, found.start()), tags)
    if "Nn" in tags and "ai" in words:
        tags = _AIN_T.sub(lambda found: "bn" if words[found.start()] == "ai" else "Nn", tags)
    if "Z" in tags:
        tags = _PLURAL_AFTER_ALL.sub("U", tags)
    if '"' in tags:
        tags = _QUOTED.sub(lambda found: '"' * len(found.group()), tags)
    if "DR" in tags and "longer" in words:
        tags = _NO_LONGER.sub(lambda found: "nR" if words[found.start() + 1] == "longer" else found.group(), tags)
    return tags


def _clitic(tags: str, words: Sequence[str], index: int) -> str:
    """Return b where 's is short for "is" or "has", ' where it is a possessive."""
    before, after, beyond = tags[index - 1 : index], tags[index + 1 : index + 2], tags[index + 2 : index + 3]
    if before and (before in "eqxyW" or words[index - 1] in _PRONOUNS):
        return "b"
    if after and after in "DSRPnsTbt":
        return "b"
    if after in ("J", "p", "k") and beyond in ("", ".", ",", "C", "P", "T"):
        return "b"
    return "b" if after == "g" and beyond not in ("Z", "b", "f", "k") else "'"
