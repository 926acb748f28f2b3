"""Where in a clause the predicate ends and the object stands, without the fillers and time expressions around it."""

from __future__ import annotations

import re
from typing import NamedTuple

from ..lang import ENGLISH
from .grammar import ClauseSpan
from .tag_letters import Tag, TagSet, letters, tag_pattern
from .tagging import Tagged
from .verb_senses import GERUND

NOT_ITS_TIME = frozenset(ENGLISH.words("grammar.not_its_time"))
"""Words before a time at which a clause did not happen: "until Friday"."""
_FILLERS = frozenset(ENGLISH.words("grammar.filler_adverbs"))
_PUNCTUATION = frozenset(letters("COMMA BREAK END SYMBOL AND"))
_BEFORE_OBJECT = frozenset(letters("ADVERB INTERJECTION COMMA BREAK END SYMBOL AND SO"))
_AFTER_OBJECT = frozenset(letters("COMMA BREAK END SYMBOL AND INTERJECTION QUESTION_WORD SUBORDINATOR SO"))
_CLOSING_WORDS = frozenset(ENGLISH.words("grammar.closing_words"))
_ADDRESSED = re.compile(tag_pattern("COMMA NAME+ [END INTERJECTION SYMBOL]* $"))  # "That is a good idea, Ben!"
_TIME_AFTER = re.compile(
    tag_pattern(
        """
        [COMMA ADVERB]* (?: [PREPOSITION PREPOSITION_OR_CONJUNCTION TO] [DETERMINER IT]? )? TIME+
        (?: PREPOSITION [DETERMINER IT]? TIME+ )* [ADVERB COMMA END SYMBOL]* $
        """
    )
)
_PREPOSITIONS = letters("PREPOSITION TO")
_GRADED = frozenset(letters("ADJECTIVE ADVERB PARTICIPLES NOUN"))
_NOT_AN_OBJECT = letters("END COMMA BREAK AND SUBORDINATOR QUESTION_WORD GERUND THAT")
_MAX_PREPOSITIONS = 2
_NEGATED_BEFORE = 3  # tokens before an adverb in which a "not" denies it: "is not really happy"


class Range(NamedTuple):
    """A half-open range of tokens."""

    start: int
    end: int


def object_range(sentence: Tagged, tags: str, start: int, end: int) -> Range:
    """Return tokens [start, end) without the fillers, punctuation and time expressions around them."""
    words = sentence.words
    while start < end and _is_before_object(sentence, tags, start, end):
        start += 1
    addressed = _ADDRESSED.search(tags, start, end)
    end = end if addressed is None or Tag.COMMA in tags[start : addressed.start()] else addressed.start()
    while end > start and (tags[end - 1] in _AFTER_OBJECT or words[end - 1] in _CLOSING_WORDS):
        end -= 1
    if Tag.TIME not in tags[start:end]:
        return Range(start, end)
    after = _TIME_AFTER.search(tags, start, end)
    if after is not None and not NOT_ITS_TIME.isdisjoint(words[after.start() : after.end()]):
        return Range(start, end)  # "better than yesterday", "away until Friday"
    if after is not None:
        return object_range(sentence, tags, start, after.start())
    while start < end and tags[start] == Tag.TIME:
        start += 1
    if tags[start : start + 1] == Tag.APOSTROPHE:  # "today's workshop"
        start += 1
    return Range(start, start if tags[start : start + 1] == Tag.COMMA else end)


def _is_before_object(sentence: Tagged, tags: str, at: int, end: int) -> bool:
    """Return whether a token stands before the object and is no part of it: "really" in "I am really tired".

    Adverbs of manner and degree are part of it: "well at the launch", "nearly 400 euros", "not very happy".
    """
    if _is_degree(sentence, tags, at, end):
        return False
    if tags[at] != Tag.ADVERB:
        return tags[at] in _BEFORE_OBJECT
    if sentence.words[at] not in _FILLERS or Tag.NOT in tags[max(0, at - _NEGATED_BEFORE) : at]:
        return at + 1 < end and tags[at + 1] == Tag.TIME
    return True


def _is_degree(sentence: Tagged, tags: str, at: int, end: int) -> bool:
    """Return whether "so" or "too" says how far: "never so tired", "too hot to think", "so hard that it broke"."""
    if tags[at] != Tag.SO or tags[at + 1 : at + 2] not in _GRADED:
        return False
    is_measured = Tag.TO in tags[at + 2 : end] or Tag.THAT in tags[at + 2 : end]
    return sentence.words[at] == "too" or is_measured or Tag.NOT in tags[max(0, at - _NEGATED_BEFORE) : at]


def whole_range(sentence: Tagged, tags: str, start: int, end: int) -> Range:
    """Return tokens [start, end) without the punctuation around them; adverbs and times stay: "late", "last week"."""
    while start < end and tags[start] in _PUNCTUATION:
        start += 1
    while end > start and (tags[end - 1] in _PUNCTUATION or sentence.words[end - 1] in _CLOSING_WORDS):
        end -= 1
    return Range(start, end)


def with_time(tags: str, start: int, end: int) -> int:
    """Return the end of the time expression that starts at `start` and reaches to `end`, or else `start`."""
    after = _TIME_AFTER.match(tags, start, end)
    last = after.end() if after is not None else start
    while last > start and tags[last - 1] in _PUNCTUATION:
        last -= 1
    return last


def predicate_end(sentence: Tagged, tags: str, clause: ClauseSpan, verb: str, end: int) -> int:
    """Return where the predicate ends: after a gerund, particles, and the prepositions before the object."""
    at = clause.end
    following = tags[at : at + 1]
    is_gerund = following == Tag.GERUND and verb in GERUND and _has_complement(tags, at + 1, verb)
    is_passive = following in tuple(TagSet.PARTICIPLES) and verb == "get"
    if is_gerund or is_passive:
        at += 1
    if tags[at - 1] != Tag.BE:
        while at < end and tags[at] == Tag.PARTICLE:
            at += 1
        if tags[at - 1] == Tag.PARTICLE and verb == "end" and tags[at : at + 1] == Tag.GERUND:  # "ended up staying"
            at += 1
    after = at  # the prepositions
    while after < end and after - at < _MAX_PREPOSITIONS and _is_preposition(sentence, tags, after):
        after += 1
    if after >= end or _is_time(tags, after) or tags[after] in _NOT_AN_OBJECT:
        return at
    return after


def _is_preposition(sentence: Tagged, tags: str, at: int) -> bool:
    return tags[at] in _PREPOSITIONS or sentence.words[at] == "as"


def _is_time(tags: str, at: int) -> bool:
    """Return whether a time expression starts here, with or without a determiner."""
    determiner = tags[at : at + 1] in (Tag.DETERMINER, Tag.IT)
    return tags[at : at + 1] == Tag.TIME or (determiner and tags[at + 1 : at + 2] == Tag.TIME)


def _has_complement(tags: str, at: int, verb: str) -> bool:
    """Return whether something follows a gerund, so that it is not itself the object: "started learning Greek"."""
    following = tags[at : at + 1]
    return following not in ("", Tag.END) and (verb == "go" or following not in (Tag.COMMA, Tag.AND, Tag.TIME))
