"""What a thing of somebody's is said to be, in the characters it is said in: "my locker code is 4417"."""

from __future__ import annotations

import re
from collections.abc import Iterator

from ...extract.tag_letters import Tag
from ...lang import ENGLISH
from ...times import find_times
from .entities import StatedValue
from .phrases import LOOSE
from .statement import Clause, characters
from .tag_sets import BEFORE_COMPLEMENT, COPULA, NOUN_PHRASE_WORDS

_MOST = 40  # characters: what is longer describes, and is no code, number or name; chosen by no data
_WORD = r"(?!I\b)[A-Z\d][\w-]*"
_ADDED = rf" {_WORD}(?: {_WORD}){{0,2}}(?:[.,;!?\n]|$)"  # what a comma does not end: "12 Elm Road, Leeds"
_ENDS = re.compile(rf",(?!{_ADDED})|[;!?()\n\u2014]|\.(?=\s|$)|\s(?i:{ENGLISH.any_of('attributes.after_literal')})\b")
_SIGNS = "#+-\u2212$\u20ac\u00a3\u00a5"
# A capital, a digit in the first word, or an address.
_BEGINS = re.compile(rf"[{re.escape(_SIGNS)}]{{0,2}}(?:[A-Z]|[^\W\d_]*\d|[\w.+-]+@)")


def literals(clause: Clause) -> Iterator[StatedValue]:
    """Read a code, number or name that a noun of somebody's is said to be; its kind has the noun: "is phone number".

    An adjective ("my budget is tight") is none: what it says depends on the rest of the sentence.
    """
    sentence, first = clause.sentence, clause.first
    while first < clause.last and sentence.tags[first] in BEFORE_COMPLEMENT and sentence.tags[first] != Tag.TIME:
        first += 1
    plain = clause.fact.kind == "state" and clause.sense.verb == "be" and not clause.sense.negative  # not hedged
    if not plain or first >= clause.last or sentence.tags[first] == Tag.TIME:
        return
    noun = _owned_noun(clause)
    start, end = characters(sentence, first, clause.last)
    while clause.turn.text[start - 1] in _SIGNS:
        start -= 1
    text = clause.turn.text[start:end]
    found = _ENDS.search(text)
    text = (text[: found.start()] if found else text).rstrip()
    literal = noun and len(text) <= _MOST and _BEGINS.match(text)
    if literal and not find_times(text, clause.turn.time):  # a time means something only with the day it was said on
        yield StatedValue(f"is {noun}", text, clause.turn, (start, start + len(text)), clause.over)


def noun_of(words: str) -> str:
    """Return a noun without words that distinguish nothing: "phone number" of "new phone number"."""
    return " ".join(word for word in words.split() if word not in LOOSE)


def _owned_noun(clause: Clause) -> str:
    """Return the noun before the verb where an owner stands before it; "" where it is nobody's."""
    tags, said = clause.sentence.tags, clause.sentence.words
    last = clause.first
    while last and tags[last - 1] in COPULA:
        last -= 1
    first = last
    while first and (tags[first - 1] in NOUN_PHRASE_WORDS or tags[first - 1] == Tag.NAME):
        first -= 1
    owned = first > 0 and tags[first - 1] in (Tag.POSSESSIVE, Tag.APOSTROPHE)
    return noun_of(" ".join(said[first:last])) if owned else ""
