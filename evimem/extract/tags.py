"""A sentence as tokens with one tag each, so that the grammar can be regular expressions over the string of tags.

    i I we   y you   e he she they   t it this   q that   x there   o me him   D a the   S my   ' 's
    N noun or unknown   M name   U plural   J adjective   g -ing   w noun or verb   z its third person or plural
    v verb   Z third person   f past   k past or participle   p participle   b be   h have   d do   m modal   n not
    R adverb   s so   P preposition   Q preposition or conjunction   T to   r particle   C and   B because   W who
    ! interjection   ~ time expression   , comma or dash   ; other break   " quoted   . end   _ symbol
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

from .words import SPLITS, TAGS, guess

MAX_TOKENS = 80  # of a sentence; what follows stays searchable as raw text

_TOKEN = re.compile(r"[^\W_]+(?:['’.&/-][^\W_]+)*|['’](?:s|m|re|ve|ll|d)\b|--+|\.\.+|[^\s\w]|_")
_CLITIC = re.compile(r"(?:n['’]t|['’](?:s|m|re|ve|ll|d))$", re.IGNORECASE)
_QUOTED = re.compile(r'"[^"]*"')
_PUNCTUATION = {
    ",": ",", ";": ";", ":": ";", "-": ",", "--": ",", "–": ",", "—": ",", "(": ",", ")": ",", "...": ",", "…": ",", "..": ",",
    ".": ".", "!": ".", "?": ".", '"': '"', "“": '"', "”": '"', "&": "C", "[": ",", "]": ",", "*": "_", "。": ".", "，": ",",
}  # fmt: skip
_NOT_NAMES = frozenset("iyetqxoDSPQTCBWnmbhdR'!sr")  # tags that a capital does not turn into a name


@dataclass(frozen=True, slots=True)
class Tagged:
    """The tokens of one sentence: lower-cased words, their ranges in the text, and one tag each."""

    text: str
    words: Sequence[str]
    starts: Sequence[int]
    ends: Sequence[int]
    tags: str


@lru_cache(maxsize=8192)
def _tag(word: str) -> str:
    return TAGS.get(word) or guess(word)


def _split(raw: str, low: str) -> tuple[int, str, str] | None:
    """Return where a contraction divides, and its two words, or None."""
    if "'" in low or "’" in low:
        found = _CLITIC.search(low)
        if found is not None and found.start() > 0:
            return found.start(), low[: found.start()], found.group().replace("’", "'")
    known = SPLITS.get(low)
    return known if known is not None and len(low) == len(raw) else None


def tagged(text: str, start: int, end: int, times: Sequence[tuple[int, int]] = ()) -> Tagged:
    """Tag the sentence text[start:end]; `times` are the ranges of its time expressions."""
    words: list[str] = []
    starts: list[int] = []
    ends: list[int] = []
    tags: list[str] = []
    shouting = text[start:end].isupper()
    for token in _TOKEN.finditer(text, start, end):
        raw = token.group()
        at, to = token.span()
        low = raw.lower()
        if not (raw[0].isalnum() or len(raw) > 1):
            words.append(raw)
            tags.append(_PUNCTUATION.get(raw, "_"))
            starts.append(at)
            ends.append(to)
            continue
        parts = None if len(low) < 2 or (low in TAGS) else _split(raw, low)
        if parts is not None:
            cut, low, clitic = parts
            words += (low, clitic)
            tags += (_tag(low), _tag(clitic))
            starts += (at, at + cut)
            ends += (at + cut, to)
        else:
            tag = _PUNCTUATION.get(low) or _tag(low)
            words.append(low)
            tags.append("M" if raw[0].isupper() and len(words) > 1 and not shouting and tag not in _NOT_NAMES else tag)
            starts.append(at)
            ends.append(to)
        if len(words) >= MAX_TOKENS:
            break
    for since, until in times:
        for index, at in enumerate(starts):
            if since <= at < until and tags[index] != "'":
                tags[index] = "~"
    return Tagged(text, words, starts, ends, _settled("".join(tags), words))


_POSSESSIVE = re.compile(r"(?<=[NMUwzgkJ~])'(?=[DJNMUwzgk]|$)")
_IS_AFTER = re.compile(r"[gDSRPJpnksTi]")


def _settled(tags: str, words: Sequence[str]) -> str:
    """Resolve what one word alone does not show: 's, quotations, "no longer", "so that"."""
    if "'" in tags:
        tags = "".join(_clitic_s(tags, index) if tag == "'" else tag for index, tag in enumerate(tags))
    if '"' in tags:
        tags = _QUOTED.sub(lambda found: '"' * len(found.group()), tags)
    if "longer" in words:
        for index in range(1, len(words)):
            if words[index] == "longer" and words[index - 1] == "no":
                tags = tags[: index - 1] + "nR" + tags[index + 1 :]
    return tags


def _clitic_s(tags: str, index: int) -> str:
    """Return b when 's is short for "is" or "has", else ' for a possessive."""
    before = tags[index - 1] if index else ""
    if before in "etqxyW" and before:
        return "b"
    after = tags[index + 1 : index + 2]
    return "b" if after and after in "DSRPnsT" or after in ("J", "p") and tags[index + 2 : index + 3] in ("", ".", ",", "C", "P") else (
        "b" if after == "g" and tags[index + 2 : index + 3] not in ("Z", "b", "f", "k") else "'"
    )
