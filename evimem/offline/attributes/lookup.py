"""An attribute or a recommendation that the evidence states, or the gap where it states none."""

from __future__ import annotations

from dataclasses import dataclass

from ...judging.evidence import View
from ...lang import ENGLISH
from ...protocols import Extractor
from .advice import ASKED, advice
from .asked_attribute import PATTERNS
from .attribute_answer import stated

# The questions that may ask for an attribute or a recommendation; any other needs no lookup.
QUESTIONS = (*ASKED, *(pattern for _, pattern in PATTERNS))
_STATED_AS = ENGLISH.table("attributes.stated_as")
_CHANGING = frozenset(ENGLISH.words("attributes.changing"))


@dataclass(frozen=True, slots=True)
class Item:
    """Characters of a turn that answer."""

    text: str
    turn_id: str
    span: tuple[int, int]


@dataclass(frozen=True, slots=True)
class Lookup:
    """The result of a lookup: `outcome` is 1 for stated, -1 for not stated, 0 where no attribute was asked for.

    `items` are the stated values, `gap` says what is not stated, `query` is the next one to search for.
    """

    outcome: float = 0.0
    items: tuple[Item, ...] = ()
    gap: str = ""
    query: str = ""


NOT_ASKED = Lookup()


def lookup(view: View, extractor: Extractor) -> Lookup:
    """Return what the evidence states of the attribute asked for; the result of a check is kept for its answer."""
    key = ("attribute", view.iteration, tuple(item.turn.id for item in view.shown))
    if key not in view.memo:
        view.memo[key] = _lookup(view, extractor)
    found: Lookup = view.memo[key]
    return found


def _lookup(view: View, extractor: Extractor) -> Lookup:
    advised = advice(view)
    if advised is not None:
        if advised.turn is None:
            return Lookup(-1.0, gap="nothing of the kind was recommended")
        return Lookup(1.0, (Item(advised.text, advised.turn.id, advised.span),))
    found = stated(view, extractor)
    if found is None:
        return NOT_ASKED
    kind = found.attribute.kind
    query = f"{found.attribute.spoken} {_STATED_AS[kind]}" if kind in _STATED_AS else ""
    if found.outcome < 0:
        return Lookup(found.outcome, gap=found.gap, query=query)
    if not found.outcome:
        return NOT_ASKED
    items = tuple(Item(one.text, one.turn.id, one.span) for one in found.wording)
    return Lookup(found.outcome, items, query=query if kind in _CHANGING else "")
