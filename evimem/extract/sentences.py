"""Sentences by their character ranges: what ends one, and what only looks as if it did."""

from __future__ import annotations

import re

_ABBREVIATIONS = frozenset(
    "dr mr mrs ms prof st sr jr vs etc e.g i.e eg ie approx dept fig no vol inc ltd co corp mt ave blvd apt ca cf al gen col sgt capt "
    "lt rev hon a.m p.m jan feb mar apr jun jul aug sep sept oct nov dec mon tue wed thu fri sat sun u.s u.k min max tel ext".split()
)
# these may well be the last word of a sentence, so they only bind to what continues in lower case or with a digit
_MAY_END = frozenset("etc inc ltd co corp a.m p.m u.s u.k jr sr al ave no st mon tue wed thu fri sat sun max".split())

_BREAK = re.compile(
    r"""[.!?…]+["'”’)\]*]*(?=\s|$)      # a mark, whatever closes with it, then space
    |[!?]{2,}(?=\w)                     # "What?!No way"
    |[。！？]+[」』”]*                   # full-width marks need no space
    |(?<=[a-z)])[.!?](?=[A-Z][a-z])     # "home.Then": a missing space
    |[^\S\n]*\n\s*                      # a line break
    |(?<=\s)[\U0001F300-\U0001FAFF\u2600-\u27BF\uFE0F\u200D]+(?=\s+[A-Z"“])   # emoji between two sentences
    """,
    re.VERBOSE,
)
_LAST_WORD = re.compile(r"""([^\s(\["“'‘]+)$""")
_BULLET = re.compile(r"(?:[-*•‣◦–—]|\(?\d{1,3}[.)]|#{1,6}|>)\s+")
_SPACE = re.compile(r"\s*")
_LOOK_BACK = 16


def _binds(text: str, mark: int, after: int) -> bool:
    """Return whether the full stop at `mark` belongs to an abbreviation, an initial or a list number."""
    found = _LAST_WORD.search(text, max(0, mark - _LOOK_BACK), mark)
    if found is None:
        return False
    word = found.group(1).lower().rstrip(".")
    following = _SPACE.match(text, after)
    upcoming = text[following.end() : following.end() + 1] if following is not None else ""
    if not upcoming:
        return False
    if word in _ABBREVIATIONS:
        return word not in _MAY_END or upcoming.islower() or upcoming.isdigit()
    if len(word) == 1 and found.group(1).isupper() and word != "i":
        return True  # "J. Smith"
    return word.isdigit() and text[found.start() - 1 : found.start()] in ("", "\n")  # "2. Preheat"


def sentences(text: str) -> list[tuple[int, int]]:
    """Return the half-open ranges of the sentences of a text, in order, without the space around them.

    Every character that is not space lies in exactly one range, but for the markers of list items.
    """
    ranges: list[tuple[int, int]] = []
    start = 0
    for found in _BREAK.finditer(text):
        mark = found.group()
        newline = "\n" in mark
        if mark[0] == "." and len(mark) == 1 and _binds(text, found.start(), found.end()):
            continue
        if mark[0] in ".…" and len(mark) > 1 and mark[1] in ".…" and text[found.end() :].lstrip(" ")[:1].islower():
            continue  # "well... maybe" goes on
        _add(ranges, text, start, found.start() if newline else found.end())
        start = found.end()
    _add(ranges, text, start, len(text))
    return ranges


def _add(ranges: list[tuple[int, int]], text: str, start: int, end: int) -> None:
    while start < end and text[start].isspace():
        start += 1
    bullet = _BULLET.match(text, start, end)
    if bullet is not None:
        start = bullet.end()
    while end > start and text[end - 1].isspace():
        end -= 1
    if start < end:
        ranges.append((start, end))
