"""Find the keywords of a memory that a question matches, in the words that people wrote."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import replace

from ..text.terms import terms, words
from ..types.stored import Keyword
from .session import Session


def question_keywords(session: Session) -> tuple[Keyword, ...]:
    """Return the keywords that the names and words of the question match, each in a word that a turn has of it.

    A word of a time matches only itself: nothing of March is meant by a question about February.
    """
    analysis, task = session.analysis, session.task
    found = task.store.keywords((*analysis.entities, *analysis.keywords), task.scope)
    of_time = frozenset(word for span in analysis.times for word in words(span.text))
    listed = [one for one in found if is_own(one) or of_time.isdisjoint(words(one.word))]
    held = {one.term: task.store.holding((one.term,), 1, task.scope).turn_ids for one in listed if not is_own(one)}
    turns = task.store.find([turn_id for ids in held.values() for turn_id in ids])
    written = written_words(f"{turn.speaker} {turn.text} {turn.caption or ''}" for turn in turns if turn is not None)
    return tuple(replace(one, written=one.word if is_own(one) else written.get(one.term, "")) for one in listed)


def is_own(keyword: Keyword) -> bool:
    """Return whether a keyword is the stem of the word that it was found by, and no other of nearly its meaning."""
    return keyword.term in terms(keyword.word)


def written_words(texts: Iterable[str]) -> dict[str, str]:
    """Return a word of some texts for each stem in them, the first that has it."""
    written: dict[str, str] = {}
    for word in dict.fromkeys(word for text in texts for word in re.findall(r"\w+", text)):
        if len(found := terms(word)) == 1:
            written.setdefault(found[0], word)
    return written
