"""Which rows of a large corpus get the full score: those with the words, the meaning or the date of the query.

Rare words and close vectors choose seeds; the rows around a seed share its words and vectors through smoothing, so
they are candidates too. The work is bounded by postings read, seeds followed and candidates kept.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..protocols import VectorIndex
from .dialogue_smoothing import around, decay, distinct
from .prepared_query import UNIT, PreparedQuery
from .scoring import first_of_each, largest

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


def candidates(
    prepared: PreparedQuery, k: int, allowed: Mask, nearest: VectorIndex | None, effort: SearchEffort
) -> Positions:
    """Return positions, ascending, among which those of the k best turns are expected.

    They are of at least k turns, where so many are allowed.
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
