"""The best turns for a query, each by its best passage: candidates first, then the full score on them only."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..protocols import VectorIndex
from .corpus import NEVER, SYSTEM, Corpus, Interval
from .dialogue_order import NONE
from .dialogue_smoothing import around, decay, distinct
from .prepared_query import UNIT, IndexQuery, PreparedQuery, Ranked, prepare
from .scoring import Scored, best_of_each, first_of_each, largest, score
from .weights import WEIGHTS, Weights

Positions = NDArray[np.int32]
Mask = NDArray[np.bool_]
_HOPS = 4  # rows before and after a seed that are candidates with it
_MOST = 0.9  # share of rows that a filter must let through for the ANN index, which knows no filters, to be used
_SKETCHED = 64  # of so many rows one is compared by its vector, the others by their sketches only


@dataclass(frozen=True, slots=True)
class SearchEffort:
    """The bounds of a search in a large corpus, in rows unless said otherwise."""

    whole: int = 4_096  # up to so many turns are all scored
    entries: int = 200_000  # postings read, the terms with the largest weight first
    seeds: int = 1_500  # rows with words whose neighbours are looked at
    nearest: int = 100  # rows with close vectors
    compared: int = 4_096  # vectors up to which sketches save nothing
    sketched: int = 2_048  # of more, those with the nearest sketches are compared
    dated: int = 500  # rows said or happening when the question says
    kept: int = 500  # candidates for their words
    final: int = 200  # candidates whose vectors are smoothed


SEARCH_EFFORT = SearchEffort()


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


def candidates(
    prepared: PreparedQuery, k: int, allowed: Mask, nearest: VectorIndex | None, effort: SearchEffort
) -> Positions:
    """Return positions, ascending, among which those of the k best turns are expected.

    Rare words and close vectors choose seeds; the rows around a seed share its words and vectors through smoothing, so
    they are candidates too. They are of at least k turns, where so many are allowed.
    """
    found = [
        _by_words(prepared, allowed, max(effort.kept, 10 * k), effort),
        _by_meaning(prepared, allowed, nearest, effort),
    ]
    if prepared.query.times:
        found.append(_by_date(prepared, allowed, effort))
    positions = distinct(np.concatenate(found), len(prepared.corpus))
    positions = positions[allowed[positions]]
    turns = prepared.corpus.turn
    missing = k - len(first_of_each(turns[positions]))
    if missing > 0:
        others = np.flatnonzero(allowed)
        others = others[~np.isin(turns[others], turns[positions])]
        others = others[first_of_each(turns[others])][:missing]
        positions = np.union1d(positions, others.astype(np.int32))
    return positions


def _by_words(prepared: PreparedQuery, allowed: Mask, kept: int, effort: SearchEffort) -> Positions:
    corpus = prepared.corpus
    members = [(term.weight, term.posting) for term in prepared.terms]
    members += [(term.weight * one.share / UNIT, one.posting) for term in prepared.terms for one in term.related]
    weight_of = np.zeros(len(corpus) + 1, np.float32)  # one more element: NONE (-1) points to the last
    read: list[Positions] = []
    left = effort.entries
    for weight, posting in sorted(members, key=lambda member: -member[0]):
        if len(posting) <= left:
            left -= len(posting)
            weight_of[posting.positions] += weight
            read.append(posting.positions)
    if not read:
        return np.zeros(0, np.int32)
    touched = np.concatenate(read)
    seeds = distinct(touched[largest(weight_of[touched], effort.seeds)], len(corpus))
    near = around(corpus.dialogue, seeds, _HOPS)
    fading = [prepared.weights.spread * decay(hop, prepared.weights) for hop in range(1, _HOPS + 1)]
    reaching = weight_of[seeds][:, None] * np.array([1.0, *fading, *fading], np.float32)
    # Counted from 1, so that NONE (-1) is counted apart.
    spread = np.bincount(near.reshape(-1) + 1, reaching.reshape(-1), len(corpus) + 1)[1:].astype(np.float32)
    reached = distinct(near, len(corpus))
    reached = reached[allowed[reached]]
    return reached[largest(spread[reached], kept)]


def _by_meaning(prepared: PreparedQuery, allowed: Mask, nearest: VectorIndex | None, effort: SearchEffort) -> Positions:
    """Seeds by vector. The ANN index knows no filters: it serves where most turns are allowed; else all are scanned."""
    corpus, direction, projections = prepared.corpus, prepared.direction, prepared.projections
    if direction is None or projections is None:
        return np.zeros(0, np.int32)
    if nearest is not None and np.count_nonzero(allowed) >= _MOST * corpus.rows:
        seeds = nearest.search(direction, math.ceil(effort.nearest / _MOST)).positions.astype(np.int32)
        return around(corpus.dialogue, seeds[seeds < len(corpus)], _HOPS).reshape(-1)
    comparable = allowed & (corpus.scale > 0)
    count = int(np.count_nonzero(comparable))
    if count <= effort.compared:
        positions = np.flatnonzero(comparable).astype(np.int32)
    else:
        most = max(effort.sketched, count // _SKETCHED)
        positions = corpus.sketches.nearest(corpus.stored, direction, comparable, most)
    seeds = positions[largest(projections.at(positions), effort.nearest)]
    return around(corpus.dialogue, seeds, _HOPS).reshape(-1)


def _by_date(prepared: PreparedQuery, allowed: Mask, effort: SearchEffort) -> Positions:
    corpus = prepared.corpus
    found = []
    for first, last in prepared.query.times:
        said = (corpus.time >= first) & (corpus.time < last)
        happens = (corpus.event_start < last) & (corpus.event_end > first)
        found.append(np.flatnonzero((said | happens) & allowed)[: effort.dated].astype(np.int32))
    return np.concatenate(found)
