"""The first reader: an attribute or a recommendation that the evidence states, or the gap where it states none."""

from __future__ import annotations

from dataclasses import dataclass

from ...judging.evidence import View
from .advice import advice
from .attribute_answer import told

# how an attribute is told, as opposed to how it is asked for: what to look for next
_TELLING = {
    "live": "moved to, live in, a house or flat in",
    "work": "started a new job at, work for, left",
    "job": "is a, works as, trained as, new job",
    "title": "is a, works as, new job",
    "age": "turned years old birthday",
    "allergy": "allergic allergy",
    "name": "called named",
    "from": "is from, comes from, grew up in",
    "colour": "red blue green black white",
}
_CHANGES = frozenset(("live", "work", "job", "title"))  # of which a newer one may not have been found at once


@dataclass(frozen=True, slots=True)
class Item:
    """Characters of a turn that answer."""

    text: str
    turn_id: str
    span: tuple[int, int]


@dataclass(frozen=True, slots=True)
class Slot:
    """What a question of a known shape comes to: 1 told, -1 untold, 0 for one that is not of such a shape."""

    outcome: float = 0.0
    items: tuple[Item, ...] = ()
    gap: str = ""
    query: str = ""


def lookup(view: View) -> Slot:
    """Return what the evidence says of the one thing that is asked."""
    key = ("slot", view.iteration, tuple(item.turn.id for item in view.shown))
    if key not in view.memo:
        view.memo[key] = _lookup(view)
    found: Slot = view.memo[key]
    return found


def _lookup(view: View) -> Slot:
    advised = advice(view)
    if advised is not None:
        if advised.turn is None:
            return Slot(-1.0, gap="nothing of the kind was recommended")
        return Slot(1.0, (Item(advised.text, advised.turn.id, advised.span),))
    found = told(view)
    if found is None:
        return Slot()
    kind = found.attribute.kind
    query = f"{found.attribute.spoken} {_TELLING[kind]}" if kind in _TELLING else ""
    if found.outcome < 0:
        return Slot(found.outcome, gap=found.gap, query=query)
    if not found.outcome:
        return Slot()
    items = tuple(Item(one.text, one.turn.id, one.span) for one in found.wording)
    return Slot(found.outcome, items, query=query if kind in _CHANGES else "")
