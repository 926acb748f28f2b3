"""Facts for a query: those whose words and vectors are near it, and those of the turns that are."""

from __future__ import annotations

from collections.abc import Sequence
from operator import itemgetter

import numpy as np

from ..index.prepared_query import PreparedQuery, prepare
from ..index.ranking import eligible, rank
from ..text.names import names
from ..text.terms import terms
from ..times import render
from ..types.attempt import without
from ..types.stored import ANY_FACT, FactFilter
from ..types.values import Fact, FactHit, Query, TimeSpan, Turn
from .handle import StoreHandle
from .layers import Layers
from .reads import ABOUT, resolve_query, seqs_naming

WORDS, MEANING, TURN = 0.3, 0.4, 0.3  # of what a fact's words, its vector and its turn tell
LEAST, EACH = 64, 8  # turns and vectors that are looked at, and for each fact that is wanted
WITHIN = 8  # times as many where facts are wanted of an interval, which turns and vectors know nothing of


def recall_facts(handle: StoreHandle, query: Query, only: FactFilter = ANY_FACT) -> tuple[FactHit, ...]:
    """See `Store.recall_facts`.

    A fact that nothing of the query is near is found where its turn is. With a name, the facts of the newest turns that
    name it (see `reads.about`) are all looked at.
    """
    layers = handle.layers
    with layers.db.reading():
        corpus = handle.corpus()
        resolved = resolve_query(query, layers.raw, layers.segments.dimension)
        if resolved is None:
            return ()
        index = handle.ann.nearest(corpus, handle.ann_origin()) if len(corpus) >= handle.ann.min_rows else None
        most = max(LEAST, EACH * query.k) * (WITHIN if only.during else 1)
        fitting = {one.turn: one.score for one in rank(resolved, corpus, most, resolved.weights, index)}
        allowed = np.unique(corpus.turn[eligible(resolved, corpus)]).tolist()
        if only.about is None:
            near = [] if resolved.vector is None else layers.edges.nearest(resolved.vector, allowed, most)
            rows = {*near, *layers.facts.rows_of(fitting)}
        else:
            rows = {*layers.facts.rows_of(_turns_about(handle, only.about, allowed))}
        found = layers.facts.read(sorted(rows))
        turns = dict(zip((seqs := sorted({seq for _, seq, _ in found})), layers.raw.read(seqs), strict=True))
        kept = [(row, seq, fact) for row, seq, fact in found if _is_wanted(fact, turns[seq], only)]
        cosines = {} if resolved.vector is None else layers.edges.cosines(resolved.vector, [row for row, *_ in kept])
        asked = prepare(resolved, corpus, resolved.weights)
        hits = [
            (sum(parts.values()), fact, turns[seq], parts)
            for row, seq, fact in kept
            for parts in [_parts(asked, fact, turns[seq], cosines.get(row, 0.0), fitting.get(seq, 0.0))]
        ]
        best = sorted(hits, key=itemgetter(0), reverse=True)[: query.k]
        replaced = _replaced_by(layers, [fact.id for _, fact, *_ in best])
    return tuple(FactHit(fact, turn, total, parts, replaced.get(fact.id, ())) for total, fact, turn, parts in best)


def _turns_about(handle: StoreHandle, entity: str, allowed: Sequence[int]) -> set[int]:
    """Return those of some turns that name an entity, the newest, and those in which a model found more of it."""
    within = set(allowed)
    naming = [seq for seq in seqs_naming(handle, entity) if seq in within][-ABOUT:]
    return {*naming, *(seq for seq in handle.layers.facts.of_a_model_after(naming) if seq in within)}


def _parts(asked: PreparedQuery, fact: Fact, turn: Turn, cosine: float, fitting: float) -> dict[str, float]:
    """Return the summands of a fact's score."""
    date = f" {render(fact.event, turn.time)}" if fact.event else ""
    said = frozenset(without([], terms, fact.text + date))
    words = sum(term.weight for term in asked.terms if term.name in said) / (asked.total or 1.0)
    parts = {"words": WORDS * words, "meaning": MEANING * cosine, "turn": TURN * fitting}
    return {name: part for name, part in parts.items() if part}


def _is_wanted(fact: Fact, turn: Turn, only: FactFilter) -> bool:
    about = only.about
    if only.current and fact.replaced_by:
        return False
    if about is not None and not (names(fact.subject, about) or names(fact.object, about)):
        return False
    return only.during is None or _is_during(fact, turn, only.during)


def _is_during(fact: Fact, turn: Turn, during: TimeSpan) -> bool:
    """Return whether a fact happened in an interval; one without a date, whether it was said in it."""
    event = fact.event
    if during.start is None or during.end is None:
        return True
    if event is None or event.start is None or event.end is None:
        return during.start <= turn.time < during.end
    return event.start < during.end and during.start < event.end


def _replaced_by(layers: Layers, ids: Sequence[str]) -> dict[str, tuple[Fact, ...]]:
    """Return, by the id of each of these facts, those that it replaced."""
    found: dict[str, tuple[Fact, ...]] = {}
    for _, _, fact in layers.facts.read(layers.facts.rows_replaced_by(ids)):
        found[fact.replaced_by or ""] = (*found.get(fact.replaced_by or "", ()), fact)
    return found
