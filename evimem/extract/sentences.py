"""Sentences by their character ranges: what ends one, and what only looks as if it did."""

from __future__ import annotations

import re

_ABBREVIATIONS = frozenset(
    """
    dr mr mrs ms prof st sr jr vs etc e.g i.e eg ie approx dept fig no vol inc ltd co corp mt ave blvd apt ca cf al
    gen col sgt capt lt rev hon a.m p.m jan feb mar apr jun jul aug sep sept oct nov dec mon tue wed thu fri sat sun
    u.s u.k min max tel ext
    """.split()
)
# these may well be the last word of a sentence, so they bind only to what goes on in lower case or with a digit
_MAY_END = frozenset("etc inc ltd co corp a.m p.m u.s u.k jr sr al ave no st mon tue wed thu fri sat sun max".split())

_BREAK = re.compile(
    r"""(?<![.!?\u2026])[.!?\u2026]+["'\u201d\u2019)\]*_]*(?=\s|$)  # a mark, what closes with it, then space
    |(?<![!?])[!?]{2,}(?=\w)                   # "What?!No way"
    |[\u3002\uff01\uff1f]+[\u300d\u300f\u201d]*   # full-width marks need no space
    |(?<=[a-z)])[.!?](?=[A-Z][a-z])            # "home.Then": a space forgotten
    |\n\s*                                     # a line break
    |(?<=\s)[\U0001F300-\U0001FAFF\u2600-\u27BF\uFE0F\u200D]+(?=\s+[A-Z"\u201c])  # emoji between sentences
    """,
    re.VERBOSE,
)
_LAST_WORD = re.compile(r"""[^\s(\["'\u201c\u2018]+$""")
_MARKER = re.compile(r"(?:[-*>\u2022\u2023\u25e6\u2013\u2014]|\(?\d{1,3}[.)]|#{1,6})\s+")
_MARKERS = frozenset("-*(#>0123456789\u2022\u2023\u25e6\u2013\u2014")
_TRAILING_OFF = ("..", "\u2026")
_LOOK_BACK = 16


def sentences(text: str) -> list[tuple[int, int]]:
    """Return the half-open ranges of the sentences of a text, in order, without the space around them.

    Every character that is not space lies in exactly one range, but for the markers of list items.
    """
    ranges: list[tuple[int, int]] = []
    start = 0
    for found in _BREAK.finditer(text):
        at, end = found.span()
        mark = text[at]
        if mark == "." and end - at == 1 and _binds(text, at, end):
            continue
        if text[at:end].startswith(_TRAILING_OFF) and _next(text, end).islower():
            continue  # "well... maybe" goes on
        _add(ranges, text, start, at if mark.isspace() else end)
        start = end
    _add(ranges, text, start, len(text))
    return ranges


def _next(text: str, at: int) -> str:
    """Return the character that a space or two after `at` is followed by."""
    return text[at : at + 3].lstrip()[:1]


def _binds(text: str, at: int, end: int) -> bool:
    """Return whether the full stop at `at` belongs to an abbreviation, an initial or the number of a list item."""
    upcoming = _next(text, end)
    found = _LAST_WORD.search(text, max(0, at - _LOOK_BACK), at)
    if not upcoming or found is None:
        return False
    word = found.group()
    if word.lower() in _ABBREVIATIONS:
        return word.lower() not in _MAY_END or upcoming.islower() or upcoming.isdigit()
    if len(word) == 1 and word.isupper() and word != "I":
        return True  # "J. Smith"
    return word.isdigit() and (found.start() == 0 or text[found.start() - 1] == "\n")  # "2. Preheat"


def _add(ranges: list[tuple[int, int]], text: str, start: int, end: int) -> None:
    while start < end and text[start].isspace():
        start += 1
    if start < end and text[start] in _MARKERS:
        marker = _MARKER.match(text, start, end)
        start = start if marker is None else marker.end()
    while end > start and text[end - 1].isspace():
        end -= 1
    if start < end:
        ranges.append((start, end))
