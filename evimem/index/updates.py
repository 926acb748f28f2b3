"""Which facts replace which: none by rule.

A model, or an extractor of the caller's, says of a fact that its subject has one value of an `attribute` at a time. A
later fact of the same subject and attribute with another object replaces it. A report about another person
never replaces that person's own word.
"""

from __future__ import annotations

from typing import NamedTuple

from ..types.values import Fact


class Topic(NamedTuple):
    """The common topic of facts that replace one another: a subject, case folded, and an attribute of it."""

    owner: str
    name: str


def topic_of(fact: Fact) -> Topic | None:
    """Return the topic of a fact; None for one that neither replaces a fact nor is replaced."""
    return Topic(fact.subject.casefold(), fact.attribute) if fact.attribute else None


def replaces(newer: Fact, older: Fact) -> bool:
    """Return whether a fact, stated later, replaces an earlier one of its topic.

    Facts of one turn by two extractors never do: a misreading must not mark a statement as outdated.
    """
    if _read_twice(newer, older):
        return False
    return topic_of(newer) == topic_of(older) is not None and newer.object.casefold() != older.object.casefold()


def _read_twice(one: Fact, other: Fact) -> bool:
    """Return whether two extractors read these facts from one turn."""
    return one.turn_id == other.turn_id and one.extractor != other.extractor


def outranks(own: Fact, said_by: str, reported_by: str) -> bool:
    """Return whether a fact is its speaker's own word, which no report of another speaker replaces."""
    return said_by != reported_by and own.subject.casefold() == said_by.casefold()
