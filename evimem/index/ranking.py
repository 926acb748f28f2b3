"""The best turns for a query, each by its best passage: candidates first, then the full score on them only."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ..protocols import VectorIndex
from .candidates import SEARCH_EFFORT, SearchEffort, candidates
from .corpus import NEVER, SYSTEM, Corpus, Interval
from .dialogue_order import NONE
from .prepared_query import IndexQuery, PreparedQuery, Ranked, prepare
from .scoring import Scored, best_of_each, score
from .weights import WEIGHTS, Weights


def rank(
    query: IndexQuery,
    corpus: Corpus,
    k: int,
    weights: Weights = WEIGHTS,
    nearest: VectorIndex | None = None,
    effort: SearchEffort = SEARCH_EFFORT,
) -> list[Ranked]:
    """Return the k best eligible turns, best first, ties by arrival; fewer only where there are fewer."""
    return rank_prepared(prepare(query, corpus, weights), eligible(query, corpus), k, nearest, effort)


def rank_prepared(
    prepared: PreparedQuery,
    allowed: NDArray[np.bool_],
    k: int,
    nearest: VectorIndex | None = None,
    effort: SearchEffort = SEARCH_EFFORT,
) -> list[Ranked]:
    """Return the k best turns for a query that was looked up, as `rank` does; `allowed` says by position which may be.

    Up to `effort.whole` eligible rows are all scored. Of more, candidates are; without a vector index the nearest of
    them are found by comparing with all.
    """
    corpus = prepared.corpus
    if np.count_nonzero(allowed) <= effort.whole:
        return _best(score(prepared, np.flatnonzero(allowed).astype(np.int32)), corpus.turn, k)
    positions = candidates(prepared, k, allowed, nearest, effort)
    return _best(score(prepared, positions, max(effort.final, 10 * k), k), corpus.turn, k)


def _best(scored: Scored, turns: NDArray[np.int32], k: int) -> list[Ranked]:
    """Return the k best turns; positions are ascending, so equal ones keep their order of arrival."""
    total = scored.total
    chosen = best_of_each(turns[scored.positions], total)
    if len(chosen) > k:
        best = total[chosen]
        chosen = chosen[best >= np.partition(best, len(best) - k)[len(best) - k]]
    chosen = chosen[np.argsort(-total[chosen], kind="stable")][:k]
    there = scored.neighbours.positions[1:, chosen]
    around = np.where(there == NONE, NONE, turns[there]).T.tolist()
    rows = zip(scored.positions[chosen].tolist(), total[chosen].tolist(), around, strict=True)
    parts = [(name, part[chosen].tolist()) for name, part in scored.parts.items()]
    found = []
    for at, (position, value, near) in enumerate(rows):
        turn = int(turns[position])
        others = tuple(other for other in dict.fromkeys(near) if other not in (NONE, turn))
        found.append(Ranked(turn, position, value, {name: part[at] for name, part in parts if part[at]}, others))
    return found


def eligible(query: IndexQuery, corpus: Corpus) -> NDArray[np.bool_]:
    """Return for every position whether it may be returned; instructions of a system only where they are asked for."""
    mask = corpus.alive.copy()
    if query.speaker is not None:
        mask &= corpus.speaker == query.speaker
    if query.session is not None:
        mask &= corpus.session == query.session
    mask &= corpus.role != SYSTEM if query.role is None else corpus.role == query.role
    if query.among is not None:
        mask &= np.isin(corpus.turn, query.among)
    if query.before is not None or query.after is not None:
        mask &= _in_time(query, corpus)
    if query.holding:
        mask &= np.isin(corpus.turn, corpus.turns_with(query.holding))
    if query.any_of:
        named = np.zeros(len(mask), np.bool_)
        named[np.concatenate([corpus.posting(term).positions for term in query.any_of])] = True
        mask &= named
    if query.exclude:
        mask[corpus.rows_of(query.exclude)] = False
    return mask


def _in_time(query: IndexQuery, corpus: Corpus) -> NDArray[np.bool_]:
    """Event time where the turn's facts have one, said time otherwise; an interval counts when it overlaps."""
    has_event = corpus.event_start != NEVER
    start = np.where(has_event, corpus.event_start, corpus.time)
    end = np.where(has_event, corpus.event_end, corpus.time + 1)
    mask = np.ones(len(corpus), np.bool_)
    if query.before is not None:
        mask &= start < query.before
    if query.after is not None:
        mask &= end > query.after
    for position in corpus.scattered:
        mask[position] = any(overlaps(event, query) for event in corpus.events(int(position)))
    return mask


def overlaps(interval: Interval, query: IndexQuery) -> bool:
    """Return whether a half-open interval meets after <= t < before."""
    start, end = interval
    return (query.before is None or start < query.before) and (query.after is None or end > query.after)
