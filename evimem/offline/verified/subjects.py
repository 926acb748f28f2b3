"""Whether the subject of a clause is the one that is asked about: not "my brother has a boat" for me."""

from __future__ import annotations

from ...extract.grammar import ClauseSpan
from ...extract.tag_letters import Tag, TagSet
from ...extract.tagging import Tagged
from ...text.terms import stem
from .asked_form import AskedForm
from .candidate_passages import Passage


def is_subject(asked: AskedForm, passage: Passage, sentence: Tagged, clause: ClauseSpan) -> bool:
    """Return whether a clause is about the asked subject; a pronoun may mean it."""
    subject = sentence.words[clause.subject : clause.verb]
    tags = sentence.tags[clause.subject : clause.verb]
    if not subject or clause.role != "main" or Tag.FIRST_PERSON in tags:
        return not asked.subject or passage.turn.speaker in asked.subject
    if any(tag in TagSet.PERSONS + Tag.IT for tag in tags):
        return True
    return any(stem(word) in asked.weights or word in asked.people for word in subject)
