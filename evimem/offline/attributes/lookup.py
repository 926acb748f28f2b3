"""An attribute or a recommendation that the evidence states, or the gap where it states none."""

from __future__ import annotations

import re
from dataclasses import dataclass

from ...judging.evidence import View
from ...lang import ENGLISH
from ...protocols import Extractor
from ...types.stored import EVERYTHING
from .advice import advice
from .asked_attribute import Attribute
from .attribute_answer import stated

_STATED_AS = ENGLISH.table("attributes.stated_as")
_CHANGING = frozenset(ENGLISH.words("attributes.changing"))
_PAST_TENSE = re.compile(rf"\b{ENGLISH.any_of('attributes.past_tense')}\b", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Item:
    """Characters of a turn that answer."""

    text: str
    turn_id: str
    span: tuple[int, int]


@dataclass(frozen=True, slots=True)
class Lookup:
    """The result of a lookup: `outcome` is 1 for stated, -1 for not stated, 0 where no attribute was asked for.

    `items` are the stated values, `gap` says what is not stated, `query` is the next one to search for. `reports` are
    what others state of a participant who states a value too. `former` is whether what is stated held once, and the
    question asks for now.
    """

    outcome: float = 0.0
    items: tuple[Item, ...] = ()
    gap: str = ""
    query: str = ""
    reports: tuple[Item, ...] = ()
    former: bool = False


NOT_ASKED = Lookup()


def lookup(view: View, attribute: Attribute | None, extractor: Extractor) -> Lookup:
    """Return the recommendation or attribute asked for; the result of a check is kept for the answer."""
    key = ("attribute", view.iteration, tuple(item.turn.id for item in view.shown))
    return view.kept(key, lambda: _lookup(view, attribute, extractor))


def _lookup(view: View, attribute: Attribute | None, extractor: Extractor) -> Lookup:
    advised = advice(view)
    if advised is not None:
        if advised.turn is None:
            return Lookup(-1.0, gap="nothing of the kind was recommended")
        return Lookup(1.0, (Item(advised.text, advised.turn.id, advised.span),))
    if attribute is None:
        return NOT_ASKED
    found = stated(view, attribute, extractor)
    kind = attribute.kind
    query = f"{attribute.spoken} {_STATED_AS[kind]}" if kind in _STATED_AS else ""
    if found.outcome < 0:
        return Lookup(found.outcome, gap=found.gap, query=query)
    if not found.outcome:
        return NOT_ASKED
    items, reports = (
        tuple(Item(one.text, one.turn.id, one.span) for one in said) for said in (found.wording, found.reports)
    )
    asks_past = view.analysis.past or _PAST_TENSE.search(view.analysis.question) is not None
    # Where only some turns are asked, what replaced a value may be none of them.
    former = all(one.over for one in found.wording) and not asks_past and view.scope == EVERYTHING
    again = query if kind in _CHANGING else ""
    return Lookup(found.outcome, items, query=again, reports=reports, former=former)
