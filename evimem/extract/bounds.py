"""Where, among the tokens of a clause, the predicate ends and the object stands; what around an object is left out."""

from __future__ import annotations

import re
from typing import NamedTuple

from .grammar import Clause
from .tagging import Tagged
from .verb_senses import GERUND

_PUNCTUATION = frozenset(",;._C")
_LEFT, _RIGHT = frozenset("R!,;._Cs"), frozenset(",;._C!WBs")
_LAST_WORDS = frozenset("too also though anyway now".split())
_CALLED = re.compile(r",M+[.!_]*$")  # "That is a good idea, Ben!"
_TIME_AFTER = re.compile(r"[,R]*(?:[PQT][Dt]?)?~+(?:P[Dt]?~+)*[R,._]*$")


class Range(NamedTuple):
    """Tokens, half-open."""

    start: int
    end: int


def object_range(sentence: Tagged, tags: str, start: int, end: int) -> Range:
    """Return tokens [start, end) without the fillers, punctuation and time expressions around them."""
    words = sentence.words
    while start < end and tags[start] in _LEFT:
        start += 1
    called = _CALLED.search(tags, start, end)
    end = end if called is None or "," in tags[start : called.start()] else called.start()
    while end > start and (tags[end - 1] in _RIGHT or words[end - 1] in _LAST_WORDS):
        end -= 1
    if "~" not in tags[start:end]:
        return Range(start, end)
    after = _TIME_AFTER.search(tags, start, end)
    if after is not None:
        return object_range(sentence, tags, start, after.start())
    while start < end and tags[start] == "~":
        start += 1
    return Range(start, end)


def whole_range(sentence: Tagged, tags: str, start: int, end: int) -> Range:
    """Return tokens [start, end) without the punctuation around them, adverbs and times kept: "late", "last week"."""
    while start < end and tags[start] in _PUNCTUATION:
        start += 1
    while end > start and (tags[end - 1] in _PUNCTUATION or sentence.words[end - 1] in _LAST_WORDS):
        end -= 1
    return Range(start, end)


def with_time(tags: str, start: int, end: int) -> int:
    """Return where [start, end) stops after `start`: beyond the time expression that follows there."""
    after = _TIME_AFTER.match(tags, start, end)
    last = after.end() if after is not None else start
    while last > start and tags[last - 1] in _PUNCTUATION:
        last -= 1
    return last


def predicate_end(sentence: Tagged, tags: str, clause: Clause, verb: str, end: int) -> int:
    """Return where the predicate ends: after a gerund, a particle and the prepositions that the object follows."""
    at = clause.end
    following = tags[at : at + 1]
    if (following == "g" and verb in GERUND and _leads_on(tags, at + 1, verb)) or (
        following in tuple("kp") and verb == "get"
    ):
        at += 1
    if tags[at - 1] != "b":
        while at < end and tags[at] == "r":
            at += 1
        if tags[at - 1] == "r" and verb == "end" and tags[at : at + 1] == "g":  # "ended up staying"
            at += 1
    mark = at
    while mark < end and mark - at < 2 and (tags[mark] in "PT" or sentence.words[mark] == "as"):
        mark += 1
    dated = tags[mark : mark + 1] == "~" or (tags[mark : mark + 1] in ("D", "t") and tags[mark + 1 : mark + 2] == "~")
    return at if mark >= end or dated or tags[mark] in ".,;CBWgq" else mark


def _leads_on(tags: str, at: int, verb: str) -> bool:
    """Return whether something follows a gerund, so that it is not itself the object: "started learning Greek"."""
    following = tags[at : at + 1]
    return following not in ("", ".") and (verb == "go" or following not in (",", "C", "~"))
