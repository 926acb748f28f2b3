"""Facts for a query: those whose words and vectors are near it, and those of the turns that are."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from ..edges.edge_table import similarity_threshold
from ..edges.fact_vectors import find_similar_rows
from ..errors import or_else
from ..index.prepared_query import PreparedQuery
from ..index.ranking import rank
from ..text.names import is_named_in
from ..text.terms import terms
from ..times import render
from ..types.stored import ANY_FACT, EVERYTHING, OF_NO_STATEMENT, FactFilter, Scope
from ..types.values import Fact, FactHit, Query, Turn
from .handle import StoreHandle
from .reads import MAX_ABOUT_TURNS, prepare_query, seqs_naming

LEAST, EACH = 40, 4  # turns and vectors that are looked at, and for each fact that is wanted


def recall_facts(handle: StoreHandle, query: Query, only: FactFilter = ANY_FACT) -> tuple[FactHit, ...]:
    """See `Store.recall_facts`.

    A fact that nothing of the query is near is found where its turn is. With a name, the facts of the newest turns that
    name it (see `reads.about`) are all looked at.
    """
    with handle.db.reading():
        sought = prepare_query(handle, query)
        if sought is None:
            return ()
        vector = query.vector
        # Turns and vectors know nothing of an interval: look for eight times as many.
        most = max(LEAST, EACH * query.k) * (8 if only.during else 1)
        fitting = {one.turn: one.score for one in rank(sought, most)}
        allowed = _mask_admitted_turns(handle, sought)
        if only.about is None:
            known = handle.edges.read_fact_matrix()
            nearest = [] if vector is None else handle.fact_sketches.find_nearest(known, vector, allowed, most)
            rows = {*nearest, *handle.fact_table.rows_of(fitting)}
        else:
            naming = [seq for seq in seqs_naming(handle, only.about) if allowed[seq]][-MAX_ABOUT_TURNS:]
            told = (seq for seq in handle.fact_table.later_turns_with_model_facts(naming) if allowed[seq])
            rows = {*handle.fact_table.rows_of({*naming, *told})}
        found = handle.fact_table.read_facts(sorted(rows))
        turns = _read_turns(handle, {seq for _, seq, _ in found}) if only.during else {}
        kept = [(row, seq, fact) for row, seq, fact in found if passes_filter(fact, turns.get(seq), only)]
        cosines = {} if vector is None else handle.edges.read_fact_matrix().cosines(vector, [row for row, *_ in kept])
        scored = [
            (seq, fact, score_parts(sought, fact, cosines.get(row, 0.0), fitting.get(seq, 0.0)))
            for row, seq, fact in kept
        ]
        best = sorted(scored, key=lambda one: -sum(one[2].values()))[: query.k]
        turns = _read_turns(handle, {seq for seq, *_ in best})
        replaced = _read_replaced_facts(handle, [fact.id for _, fact, _ in best])
    return tuple(
        FactHit(fact, turns[seq], sum(parts.values()), parts, replaced.get(fact.id, ())) for seq, fact, parts in best
    )


def nearest_facts(handle: StoreHandle, query: Query) -> tuple[FactHit, ...]:
    """See `Store.nearest_facts`."""
    with handle.db.reading():
        sought = prepare_query(handle, query)
        if sought is None or query.vector is None:
            return ()
        known = handle.edges.read_fact_matrix()
        # Look for four times as many rows: a turn that a model labelled has a row that is no fact.
        rows = handle.fact_graph.find_nearest(known, query.vector, _mask_admitted_turns(handle, sought), 4 * query.k)
        cosines = known.cosines(query.vector, rows)
        return _make_fact_hits(handle, {row: {"meaning": cosines[row]} for row in rows})[: query.k]


def linked_facts(handle: StoreHandle, fact_ids: Sequence[str], scope: Scope = EVERYTHING) -> tuple[FactHit, ...]:
    """See `Store.linked_facts`."""
    with handle.db.reading():
        seeds = handle.fact_table.rows(fact_ids)
        beside = find_similar_rows(
            handle.edges.read_fact_matrix(), seeds, similarity_threshold(handle.db.read_meta_value("embedder") or "")
        )
        beside |= dict.fromkeys(handle.fact_table.rows_of(handle.fact_table.turns_of(seeds)), 1.0)
        linked = {row: {"edge": beside[row]} for row in sorted(beside.keys() - set(seeds))}
        return tuple(hit for hit in _make_fact_hits(handle, linked) if scope.admits(hit.turn))


def _make_fact_hits(handle: StoreHandle, parts: Mapping[int, Mapping[str, float]]) -> tuple[FactHit, ...]:
    """Return facts by row with their turns, in the order of the summands of each score; labels are none."""
    found = {
        row: (seq, fact)
        for row, seq, fact in handle.fact_table.read_facts(sorted(parts))
        if fact.kind not in OF_NO_STATEMENT
    }
    turns = _read_turns(handle, {seq for seq, _ in found.values()})
    stated = ((*found[row], of) for row, of in parts.items() if row in found)
    return tuple(FactHit(fact, turns[seq], sum(of.values()), of) for seq, fact, of in stated)


def _mask_admitted_turns(handle: StoreHandle, sought: PreparedQuery) -> NDArray[np.bool_]:
    """Return which turns a query lets through, by number."""
    allowed = np.zeros(handle.raw.highest_seq_given() + 1, np.bool_)
    allowed[sought.corpus.turn[sought.allowed]] = True
    return allowed


def _read_turns(handle: StoreHandle, seqs: Collection[int]) -> dict[int, Turn]:
    return dict(zip(seqs, handle.raw.read_turns(list(seqs)), strict=True))


def _read_replaced_facts(handle: StoreHandle, ids: Sequence[str]) -> dict[str, tuple[Fact, ...]]:
    """Return, by the id of each of these facts, those that it replaced."""
    found: dict[str, tuple[Fact, ...]] = {}
    for _, _, fact in handle.fact_table.read_facts(handle.fact_table.rows_replaced_by(ids)):
        found[fact.replaced_by or ""] = (*found.get(fact.replaced_by or "", ()), fact)
    return found


WORDS, MEANING, TURN = 0.3, 0.4, 0.3  # weights of a fact's words, its vector and its turn


def score_parts(asked: PreparedQuery, fact: Fact, cosine: float, fitting: float) -> dict[str, float]:
    """Return the summands of a fact's score: of its words and its date, its vector, its turn, and its replacement."""
    said = frozenset(or_else([], terms, f"{fact.text} {render(fact.event)}" if fact.event else fact.text))
    words = sum(term.weight for term in asked.terms if term.name in said) / (asked.total or 1.0)
    parts = {"words": WORDS * words, "meaning": MEANING * cosine, "turn": TURN * fitting}
    # Of two alike, the one that still holds comes first.
    parts["replaced"] = -0.05 if fact.replaced_by else 0.0
    return {name: part for name, part in parts.items() if part}


def passes_filter(fact: Fact, turn: Turn | None, only: FactFilter) -> bool:
    """Return whether a filter lets a fact through; its turn is needed where the filter has an interval."""
    if fact.kind in OF_NO_STATEMENT or (only.current and not fact.is_current):
        return False
    if only.about is not None and not is_named_in(fact, only.about):
        return False
    if only.during is None or turn is None or only.during.start is None or only.during.end is None:
        return True
    event, start, end = fact.event, only.during.start, only.during.end
    if event is None or event.start is None or event.end is None:
        return start <= turn.time < end  # it was said in the interval
    return event.start < end and start < event.end
