"""One search for a message: the turns that match it."""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass
from datetime import datetime

from ..flow import Flow
from ..protocols import Store
from ..query.analysis import hints
from ..query.find_turns import QuestionVectors, query_of
from ..types.stored import Scope
from ..types.values import DateOrder, Hints, Hit, Query, Turn
from .question import Asked

LEAST, MOST = 24, 120  # turns that a search is asked for
A_TURN = 16  # tokens of a short line
Recalled = Callable[[Query], Flow[tuple[Hit, ...]]]  # the best turns for a query, with the facts that they state
ENDS_ASKING = ("?", "\uff1f", "\u061f")


@dataclass(frozen=True, slots=True)
class Recollected:
    """What a search brought: its hits, and what the message hints at."""

    hits: tuple[Hit, ...]
    hinted: Hints
    query: Query
    speakers: tuple[str, ...]
    date_order: DateOrder | None


def find_for(
    store: Store,
    recalled: Recalled,
    asked: Asked,
    tokens: int,
    asked_at: datetime | None,
    exclude: Collection[str],
    scope: Scope,
) -> Flow[Recollected]:
    """Search once for a message, with what it refers to."""
    known = store.roster()
    text = asked.searched
    hinted = hints(asked.text, known.speakers, asked_at or known.last, known.date_order)
    vector = yield from QuestionVectors().of(text)
    most = max(LEAST, min(MOST, tokens // A_TURN))
    query = query_of(text, most + len(asked.held), hinted, scope.query(exclude=exclude), vector)
    hits = yield from recalled(query)
    hits = tuple(hit for hit in hits if hit.turn.role != "system" and not asked.holds(hit.turn.text))
    return Recollected(hits[:most], hinted, query, tuple(known.speakers), known.date_order)


def asks(turn: Turn) -> bool:
    """Return whether a turn ends in a question."""
    return turn.text.rstrip(" \n\"')\u201d*").endswith(ENDS_ASKING)
