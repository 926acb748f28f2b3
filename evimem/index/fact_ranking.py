"""What a fact is worth for a query, and whether it may be returned at all."""

from __future__ import annotations

from ..text.names import is_named_in
from ..text.terms import terms
from ..times import render
from ..types.attempt import without
from ..types.stored import LABEL, FactFilter
from ..types.values import Fact, TimeSpan, Turn
from .prepared_query import PreparedQuery

WORDS, MEANING, TURN = 0.3, 0.4, 0.3  # of what a fact's words, its vector and its turn tell
REPLACED = -0.05  # of two alike, the one that still holds comes first


def parts_of(asked: PreparedQuery, fact: Fact, cosine: float, fitting: float) -> dict[str, float]:
    """Return the summands of a fact's score: of its words and its date, its vector, its turn, and what replaced it."""
    said = frozenset(without([], terms, f"{fact.text} {render(fact.event)}" if fact.event else fact.text))
    words = sum(term.weight for term in asked.terms if term.name in said) / (asked.total or 1.0)
    parts = {"words": WORDS * words, "meaning": MEANING * cosine, "turn": TURN * fitting}
    parts["replaced"] = REPLACED if fact.replaced_by else 0.0
    return {name: part for name, part in parts.items() if part}


def is_wanted(fact: Fact, turn: Turn | None, only: FactFilter) -> bool:
    """Return whether a filter lets a fact through; its turn is needed where the filter has an interval."""
    if fact.kind == LABEL or (only.current and fact.replaced_by):
        return False
    if only.about is not None and not is_named_in(fact, only.about):
        return False
    return only.during is None or turn is None or _is_during(fact, turn, only.during)


def _is_during(fact: Fact, turn: Turn, during: TimeSpan) -> bool:
    """Return whether a fact happened in an interval; one without a date, whether it was said in it."""
    event = fact.event
    if during.start is None or during.end is None:
        return True
    if event is None or event.start is None or event.end is None:
        return during.start <= turn.time < during.end
    return event.start < during.end and during.start < event.end
