"""Sentences that state nothing: greetings, thanks, reactions, encouragement, and questions."""

from __future__ import annotations

import re
from itertools import product

from ..lang import ENGLISH
from .tag_letters import Tag, letters, tag_pattern
from .tagging import Tagged

_EMPTY_WORDS = frozenset(ENGLISH.words("small_talk.empty_words"))
_INTENSIFIERS = frozenset(ENGLISH.words("small_talk.intensifiers"))
_BARE_CLAUSES = frozenset(ENGLISH.words("small_talk.bare_clauses"))
_BARE_CLAUSE_WORDS = 3  # that a sentence may have at most, to be one of them
_MAX_EMPTY = 12  # tokens of a sentence of empty words, or of its opening

_SKIPPED = letters("END COMMA BREAK QUOTE SYMBOL")
_MARKS = letters("END COMMA BREAK SYMBOL INTERJECTION")
_BEFORE_CALLED_NAME = letters("COMMA INTERJECTION NAME")
_BEFORE_QUESTION = letters("INTERJECTION COMMA AND ADVERB SYMBOL SO QUOTE")
_BEFORE_STATEMENT = letters("INTERJECTION COMMA AND ADVERB SYMBOL")
_OPENS_QUESTION = frozenset(letters("MODAL DO BE HAVE QUESTION_WORD PREPOSITION"))

# calls before the sentence proper: "Oh, hey Ben,"
_CALL = re.compile(
    tag_pattern(
        """
        (?: [INTERJECTION ADVERB SYMBOL COMMA END] | [NAME NOUN] (?=[COMMA END])
        | (?<=INTERJECTION) [NAME NOUN] (?=[INTERJECTION COMMA END]) )*
        """
    )
)
# "What dog do you", "did Ben"
_INVERTED = re.compile(
    tag_pattern(
        """
        [INTERJECTION COMMA AND SYMBOL SO QUOTE]*
        (?: PREPOSITION? QUESTION_WORD [NOUNS ADJECTIVE DETERMINER]{0,3} ADVERB? )?
        AUXILIARIES NOT? (?: [PERSONS IT THAT THERE] | DETERMINERS [NOUN_PHRASE APOSTROPHE]+ | [NOUN NAME] )
        """
    )
)
_QUESTION_AFTER_COMMA = re.compile(
    tag_pattern(
        """
        [COMMA BREAK] [AND ADVERB SO INTERJECTION]* (?:
            AUXILIARIES NOT? [PERSONS IT THAT] | QUESTION_WORD | BASES
            | [AND ADVERB ADJECTIVE INTERJECTION] END | SECOND_PERSON [BASE BASE_OR_NOUN] END
        )
        """
    )
)
_CLOSING = "\"')*_ \u2019\u201d"


def _by_first_word() -> dict[str, tuple[str, ...]]:
    """Return the openings by their first word, each with a space at its end, so that it matches whole words only."""
    praise = ENGLISH.words("small_talk.praise")
    leads = ("", *(f"{lead} " for lead in ENGLISH.words("small_talk.meeting_leads")))
    meetings, praised = ENGLISH.words("small_talk.meetings"), ENGLISH.words("small_talk.praised")
    phrases = set(ENGLISH.words("small_talk.openings"))
    phrases |= {f"{lead}{good} {meeting}" for lead, good, meeting in product(leads, praise, meetings)}
    phrases |= {f"{good} {thing}" for good, thing in product(praise, praised)}
    found: dict[str, tuple[str, ...]] = {}
    for phrase in sorted(phrases):
        first = phrase.split(" ", 1)[0]
        found[first] = (*found.get(first, ()), phrase + " ")
    return found


_OPENINGS_BY_WORD = _by_first_word()


def is_empty(sentence: Tagged) -> bool:
    """Return whether a sentence is only greeting, thanks, reaction or encouragement."""
    tags = sentence.tags
    called = _CALL.match(tags)
    start = called.end() if called is not None else 0
    words = [
        word
        for word, tag in zip(sentence.words[start : start + _MAX_EMPTY], tags[start:], strict=False)
        if tag not in _SKIPPED and word not in _INTENSIFIERS
    ]
    if _EMPTY_WORDS.issuperset(words) or (len(words) <= _BARE_CLAUSE_WORDS and " ".join(words) in _BARE_CLAUSES):
        return len(tags) <= start + _MAX_EMPTY
    openings = _OPENINGS_BY_WORD.get(words[0])
    if openings is not None and f"{' '.join(words)} ".startswith(openings):
        return True
    return Tag.NAME in tags and _only_calls(sentence, start)


def _only_calls(sentence: Tagged, start: int) -> bool:
    """Return whether a sentence consists of empty words and called names: "That's great, Ben!"."""
    tags = sentence.tags
    return all(
        word in _EMPTY_WORDS
        or tags[index] in _MARKS
        or (
            tags[index] == Tag.NAME
            and (tags[index - 1] in _BEFORE_CALLED_NAME or tags[index + 1 : index + 2] == Tag.COMMA)
        )
        for index, word in enumerate(sentence.words)
        if index >= start
    )


def is_question(sentence: Tagged, start: int, end: int) -> bool:
    """Return whether a sentence is a question, by its question mark or its word order."""
    if sentence.text[start:end].rstrip(_CLOSING).endswith(("?", "\uff1f")):
        return True
    if _INVERTED.match(sentence.tags) is None or sentence.words[-1] == "!":
        return False
    return sentence.tags.lstrip(_BEFORE_QUESTION)[:1] in _OPENS_QUESTION


def statement_end(sentence: Tagged) -> int | None:
    """Return where the question in "I got a puppy, want to see her?" starts, None where all of the sentence asks."""
    tags = sentence.tags
    if _INVERTED.match(tags) is not None or tags.lstrip(_BEFORE_STATEMENT)[:1] in (
        Tag.QUESTION_WORD,
        Tag.SECOND_PERSON,
    ):
        return None
    found = _QUESTION_AFTER_COMMA.search(tags)
    return None if found is None else found.start()
