"""Sayings: sentences that were not understood as more than something a person said, and what an assistant did."""

from __future__ import annotations

import re

from ..lang import ENGLISH
from .fact_draft import Statement
from .fact_text import Voice, clean
from .tag_letters import Tag, letters, tag_pattern
from .tagging import Tagged

MAX_STATEMENT = 240  # characters of a sentence that is kept whole
MAX_FRAGMENT = 14  # tokens of a sentence that names no time, for it to be one whole thought

# verbs of unclear form that open a request: "walk the dog"
_REQUEST = re.compile(
    tag_pattern(
        """
        [BASE_OR_NOUN PAST_OR_PARTICIPLE HAVE]
        [PARTICLE DETERMINERS OBJECT PREPOSITION IT THAT TO PERSONS GERUND APOSTROPHE NOUNS BASE_OR_NOUN]
        """
    )
)
_OPENS_REQUEST = (Tag.BASE, Tag.DO, Tag.SUBORDINATOR, Tag.QUESTION_WORD, Tag.SECOND_PERSON, Tag.LIKE)
_BEFORE_VERB = letters("ADVERB INTERJECTION COMMA SYMBOL SO QUOTE AND")
_CONTENT = letters("NOUNS DETERMINER BASE_OR_NOUN S_FORM_OR_PLURAL GERUND PAST_OR_PARTICIPLE ADJECTIVE TIME")
# a sentence with one of these, unread, is no fragment but a clause that was not understood
_CLAUSAL = frozenset(letters("AUXILIARIES PAST S_FORM PERSONS QUESTION_WORD SUBORDINATOR BASE OBJECT"))
# words that address somebody, and foreign ones: a fragment of the latter may still look English
_NO_FRAGMENT = frozenset((*ENGLISH.words("grammar.addressing"), *ENGLISH.words("grammar.foreign_words")))
_CODE = re.compile(r"[{}<>=|\\`\[\]@;_~^]|\w\(|://")


def content(tags: str) -> int:
    """Return how many content words a sentence has, 1 for a heading."""
    return sum(tag in _CONTENT for tag in tags) if tags[-1] != Tag.BREAK else 1


def is_request(tags: str) -> bool:
    """Return whether a sentence without a subject is a request: "Check it out", "If you like, call me"."""
    opening = tags.lstrip(_BEFORE_VERB)
    return opening.startswith(_OPENS_REQUEST) or _REQUEST.match(opening) is not None


def quotation(sentence: Tagged, start: int, end: int, voice: Voice, *, dated: bool) -> list[Statement]:
    """Return a sentence that no rule understood as a saying: a fragment without a verb, or one that names a time."""
    tags = sentence.tags
    if not content(tags) or tags[-1] == Tag.BREAK or is_request(tags) or sentence.words[0] in ("dear", "let"):
        return []
    if not _NO_FRAGMENT.isdisjoint(sentence.words):
        return []
    is_fragment = len(tags) <= MAX_FRAGMENT and _CLAUSAL.isdisjoint(tags)
    if not (is_fragment or dated) or _CODE.search(sentence.text, start, end):
        return []
    start = max(start, sentence.ranges[0][0])
    end = min(end, start + MAX_STATEMENT)
    said = clean(sentence.text[start:end].replace("**", "")).strip(".!,;*_# ")
    return [Statement(voice.name, "said", said, (start, end), (start, end), "statement")] if said else []


def is_own_act(statement: Statement, voice: Voice) -> bool:
    """Return whether an assistant states what it did itself; its advice, samples and opinions are no facts."""
    return statement.kind == "event" and statement.subject == voice.name and not statement.elliptic
