"""What stands before the subject of a clause: where and why, and words that take back certainty."""

from __future__ import annotations

import re
from typing import NamedTuple

from ..lang import ENGLISH
from .grammar import ClauseSpan
from .tag_letters import tag_pattern
from .tagging import Tagged
from .verb_senses import Kind

_PHRASE_WORDS = frozenset(ENGLISH.words("grammar.phrase_words"))
_FICTION = frozenset(ENGLISH.words("grammar.fiction"))
_POSSIBLE = frozenset(ENGLISH.words("grammar.hedges.possible"))
_HEARSAY = frozenset(ENGLISH.words("grammar.hedges.hearsay"))
_HEDGES = _POSSIBLE | _HEARSAY
# "In Porto,", "After my holiday,"
_LEADING_PHRASE = re.compile(
    tag_pattern(
        """
        [ADVERB INTERJECTION COMMA AND]* [PREPOSITION PREPOSITION_OR_CONJUNCTION] DETERMINERS?
        [NOUNS ADJECTIVE BASE_OR_NOUN GERUND APOSTROPHE]{1,5} COMMA? [ADVERB COMMA]* $
        """
    )
)


class Hedge(NamedTuple):
    """A word that takes back certainty, and the kind of fact that it makes."""

    word: str
    kind: Kind


def _hedge(word: str) -> Hedge:
    return Hedge(word, "report" if word in _HEARSAY else "plan")


def is_hedged(sentence: Tagged) -> bool:
    """Return whether a sentence has a word that takes back certainty."""
    return not _HEDGES.isdisjoint(sentence.words)


def hedge_before(sentence: Tagged, start: int, clause: ClauseSpan) -> Hedge | None:
    """Return the hedge between token `start` and the verb group of a clause: "Maybe my sister will come"."""
    found = _HEDGES.intersection(sentence.words[start : clause.verb])
    return _hedge(min(found)) if found else None


def hedge_in(predicate: str) -> Hedge | None:
    """Return the hedge in a predicate: "probably lost"."""
    found = _HEDGES.intersection(predicate.split(" "))
    return _hedge(min(found)) if found else None


def has_leading_phrase(sentence: Tagged, tags: str, start: int, end: int) -> bool:
    """Return whether tokens [start, end) say where or why, before the subject: "In Porto," but not "By the way,"."""
    found = _LEADING_PHRASE.match(tags[start:end])
    return found is not None and _PHRASE_WORDS.isdisjoint(sentence.words[start:end])


def tells_fiction(sentence: Tagged, end: int) -> bool:
    """Return whether tokens [0, end) place what follows in a dream or a story: "In the dream I was married"."""
    words = sentence.words[:end]
    return "in" in words and not _FICTION.isdisjoint(words[words.index("in") + 1 : words.index("in") + 5])
