"""The statements of a tagged sentence: each clause that asserts something as subject, predicate and object."""

from __future__ import annotations

import re
from collections.abc import Sequence

from ..lang import ENGLISH
from .fact_draft import Statement
from .fact_text import Voice
from .grammar import ClauseSpan, find_clauses
from .lead_in import tells_fiction
from .links import Link, links
from .sentence_reader import SentenceReader
from .tag_letters import Tag, TagSet, letters, tag_pattern
from .tagging import Tagged
from .verb_senses import THINK, head
from .verbs import lemma

# verbs that open a statement of the speaker though they have the form of a request: "Love the new flat"
_OPENING = frozenset(ENGLISH.words("predicates.senses.opening"))
# after "let's": a verb, and later something it is about
_PROPOSAL = re.compile(
    tag_pattern(".. [BASE BASE_OR_NOUN PAST_OR_PARTICIPLE] (?= .* [NOUNS ADJECTIVE BASE_OR_NOUN TIME])")
)
_TRAILING_DOUBTS = frozenset(ENGLISH.words("grammar.trailing_doubts"))
_MENDED = re.compile(rf"\b{ENGLISH.any_of('grammar.self_corrections')} , i mean\b")
_TRAILING = 2  # tokens at the end that may take back the sentence
_FINITE = letters("AUXILIARIES NOT GERUND")
_BEFORE_OPENING = letters("ADVERB INTERJECTION SYMBOL COMMA AND SO QUOTE")


def read(sentence: Tagged, voice: Voice, limit: int | None = None) -> list[Statement]:
    """Return what the sentence (its first `limit` tokens) states, in order."""
    if _is_taken_back(sentence):
        return []
    tags = sentence.tags if limit is None else sentence.tags[:limit]
    if sentence.words[:2] == ["let", "'s"]:
        return _proposed(sentence, tags, voice)
    if tags.lstrip(_BEFORE_OPENING)[:1] == Tag.QUESTION_WORD:  # "where you gonna go"
        return []
    clauses = find_clauses(tags)
    if not clauses or tells_fiction(sentence, clauses[0].subject):
        return []
    if clauses[0].role == "dropped" and not _is_about_speaker(sentence, clauses[0]):
        return []
    return statements_from(sentence, tags, clauses, links(sentence, tags, clauses), voice)


def _is_taken_back(sentence: Tagged) -> bool:
    """Return whether a sentence ends in doubt or mends itself: "or he left idk", "90 pounds, sorry, I mean euros"."""
    if not _TRAILING_DOUBTS.isdisjoint(sentence.words[-_TRAILING:]):
        return True
    return "mean" in sentence.words and _MENDED.search(" ".join(sentence.words)) is not None


def statements_from(
    sentence: Tagged, tags: str, clauses: Sequence[ClauseSpan], connections: Sequence[Link], voice: Voice
) -> list[Statement]:
    """Return what clauses state, given how each is connected to what precedes it."""
    return SentenceReader(sentence, tags, clauses, connections, voice).statements()


def _is_about_speaker(sentence: Tagged, clause: ClauseSpan) -> bool:
    """Return whether a verb without a subject is the speaker's ("Went home", "Hope it works") and not a request."""
    tags = sentence.tags
    verb = lemma(sentence.words[clause.verb])
    if tags[clause.verb] in _FINITE:
        return tags[clause.verb] != Tag.BE or sentence.words[clause.verb] in ("been", "was")
    if verb != sentence.words[clause.verb] or head(sentence, clause) != sentence.words[clause.end - 1]:
        return True
    is_clause = tags[clause.end : clause.end + 1] in (*TagSet.PERSONS, Tag.IT, Tag.THAT, *TagSet.DETERMINERS)
    return verb in _OPENING and (verb not in THINK or is_clause)


def _proposed(sentence: Tagged, tags: str, voice: Voice) -> list[Statement]:
    """Return what "Let's meet at the station on Friday" proposes; nothing for one without an object: "Let's go!"."""
    found = _PROPOSAL.match(tags)
    if found is None:
        return []
    made = statements_from(sentence, tags, [ClauseSpan("dropped", 0, 2, found.end())], ["main"], voice)
    return [
        statement._replace(predicate=_suggested(statement.predicate), kind="plan")
        for statement in made
        if statement.object
    ]


def _suggested(predicate: str) -> str:
    verb, *rest = predicate.split(" ")
    return " ".join(["suggests to", lemma(verb), *rest])
