"""Sentences as half-open ranges of characters: real ends, and marks that only look like one."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Iterable

from ..lang import ENGLISH

Range = tuple[int, int]
# These may be the last word of a sentence, so they bind only to a lower-case letter or a digit.
_ABBREVIATIONS = ENGLISH["terms.abbreviations_that_may_end"].union(ENGLISH.words("terms.abbreviations"))
# "St. Ives" and "Mt. Etna", but "on Elm St. Then": they bind unless a name stands before them
_I = re.compile("\\s{1,2}i(?=\\s|['\u2019](?:m|ve|d|ll)\\b)")  # begins a sentence as a capital does: "in dec. i own"

# The possible ends of a sentence: a line break, or marks and emoji, with the closing quotes and brackets after them.
_END = re.compile(
    "(?:\n+|[.!?\u2026\u3002\uff01\uff1f\u2600-\u27bf\U0001f300-\U0001faff])"
    "[.!?\u2026\u3002\uff01\uff1f\u2600-\u27bf\U0001f300-\U0001faff\ufe0f\u200d]*"
    "[\"'\u201d\u2019)\\]*_\u300d\u300f]*"
)

_LAST_WORD = re.compile(r"""[^\s(\["'\u201c\u2018]+$""")
_MARKER = re.compile(r"(?:[-*>\u2022\u2023\u25e6\u2013\u2014]|\(?\d{1,3}[.)]|#{1,6})\s+")
_LOOK_BACK = 16  # characters before a full stop that are searched for its word


def merge_ranges(ranges: Iterable[Range], gap: int = 0) -> list[Range]:
    """Return ranges in order, those that overlap or lie at most `gap` characters apart as one.

    >>> merged([(8, 9), (0, 3), (2, 6)], gap=1), merged([(8, 9), (0, 3), (2, 6)], gap=2)
    ([(0, 6), (8, 9)], [(0, 9)])
    """
    found: list[Range] = []
    for start, end in sorted(ranges):
        if found and start - found[-1][1] <= gap:
            found[-1] = (found[-1][0], max(end, found[-1][1]))
        else:
            found.append((start, end))
    return found


def scripts(text: str) -> Counter[str]:
    """Return how many letters of each script a text has, by the name that Unicode gives it ("LATIN", "DEVANAGARI")."""
    return Counter(unicodedata.name(letter, "").partition(" ")[0] for letter in text if letter.isalpha())


_MARKS, _FULL_WIDTH = frozenset(".!?\u2026"), frozenset("\u3002\uff01\uff1f")


def sentences(text: str) -> list[tuple[int, int]]:
    """Return the half-open character ranges of the sentences of a text, in order, without surrounding space.

    Every character that is not space lies in exactly one range, except the markers of list items.
    """
    ranges: list[tuple[int, int]] = []
    start = 0
    for found in _END.finditer(text):
        at, end = found.span()
        if _ends(text, at, end):
            _add(ranges, text, start, end)
            start = end
    _add(ranges, text, start, len(text))
    return ranges


def sentences_around(text: str, passage: tuple[int, int] | None, most: int) -> list[tuple[int, int]]:
    """Return the sentences among at most so many characters of a text, a passage of it among them if one is given.

    Without a passage, and where it lies near the beginning, these are the first characters.
    """
    start = 0 if passage is None or passage[1] <= most else passage[0] - most // 2
    found = [(start + begins, start + ends) for begins, ends in sentences(text[start : start + most])]
    return found[1:] if start else found  # the first may lack its beginning


def _ends(text: str, at: int, end: int) -> bool:
    """Return whether the marks at [at, end) end a sentence."""
    mark, after = text[at], text[end : end + 1]
    if mark == "\n" or mark in _FULL_WIDTH:
        return True
    if mark not in _MARKS:  # emoji stand between sentences, or inside one
        return text[at - 1 : at].isspace() and after.isspace() and _next(text, end).isupper()
    if not after:
        return True
    if not after.isspace():  # "What?!No way", "home.Then"
        missing_space = (
            end - at == 1 and text[at - 1 : at].islower() and after.isupper() and text[end + 1 : end + 2].islower()
        )
        return missing_space or (mark in "!?" and end - at > 1 and after.isalnum())
    if mark == "." and end - at == 1:
        return not _binds(text, at, end)
    return not (text.startswith(("..", "\u2026"), at) and _next(text, end).islower())  # "well... maybe" is one sentence


def _next(text: str, at: int) -> str:
    """Return the first character from `at` on, after at most two spaces; "" where there is none."""
    return text[at : at + 3].lstrip()[:1]


def _binds(text: str, at: int, end: int) -> bool:
    """Return whether the full stop at `at` is part of an abbreviation, an initial or the number of a list item."""
    following = _next(text, end)
    found = _LAST_WORD.search(text, max(0, at - _LOOK_BACK), at)
    if not following or found is None:
        return False
    word = found.group()
    if word.lower() in ENGLISH["terms.abbreviations_before_names"] and following.isupper():
        return not _has_name_before(text, found.start())
    if word.lower() in _ABBREVIATIONS:
        goes_on = following.isdigit() or (following.islower() and _I.match(text, end) is None)
        return goes_on or word.lower() not in ENGLISH["terms.abbreviations_that_may_end"]
    if word != "I" and all(len(letter) == 1 and letter.isupper() for letter in word.split(".")):
        return True  # "J. Smith", "J.K. Smith"
    return word.isdigit() and (found.start() == 0 or text[found.start() - 1] == "\n")  # "2. Preheat"


def _has_name_before(text: str, at: int) -> bool:
    """Return whether the word before `at` is capitalised and does not open the text or a sentence: "Elm St."."""
    near = text[max(0, at - _LOOK_BACK) : at].rstrip()
    before = _LAST_WORD.search(near)
    if before is None or not before.group()[0].isupper() or before.group()[-1] in ".,;:!?":
        return False
    return at > _LOOK_BACK or before.group() != near.lstrip()


def _add(ranges: list[tuple[int, int]], text: str, start: int, end: int) -> None:
    """Append a range without the space around it and a list marker before it; nothing for an empty one."""
    while start < end and text[start].isspace():
        start += 1
    if start < end and text[start] in "-*(#>0123456789\u2022\u2023\u25e6\u2013\u2014":
        marker = _MARKER.match(text, start, end)
        start = start if marker is None else marker.end()
    while end > start and text[end - 1].isspace():
        end -= 1
    if start < end:
        ranges.append((start, end))
