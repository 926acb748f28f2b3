"""The words of a score: BM25 over what a turn and its neighbours say (Robertson and Zaragoza 2009)."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from .dialogue_smoothing import Neighbourhood
from .prepared_query import Inquiry
from .query_terms import UNIT, Related

_ASKED_BITS = 32  # counts are summed as told + asked << _ASKED_BITS
_TOLD = (1 << _ASKED_BITS) - 1
Scores = NDArray[np.float64]


def lexical(inquiry: Inquiry, near: Neighbourhood) -> dict[str, Scores]:
    """Return the parts `words` and `related`: related words count as fewer of the term they stand for."""
    weights, asked = inquiry.weights, inquiry.asked
    counting = _Counting(inquiry, near)
    room = _room(inquiry, near)
    sums = {"words": np.zeros(len(room)), "related": np.zeros(len(room))}
    for term in asked.terms:
        own = counting.frequency([Related(term.posting, UNIT)])
        words = _saturated(own, room)
        sums["words"] = sums["words"] + term.weight * words
        if term.related:
            whole = own + counting.frequency(term.related)
            sums["related"] = sums["related"] + term.weight * (_saturated(whole, room) - words)
    scale = weights.words / asked.total if asked.total else 0.0
    return {name: scale * part for name, part in sums.items()}


class _Counting:
    """Counts terms in turns with their neighbours' shares."""

    def __init__(self, inquiry: Inquiry, near: Neighbourhood) -> None:
        weights = inquiry.weights
        self._near = near
        self._asking = weights.asking * near.shares + weights.answering * near.answers

    def frequency(self, members: Sequence[Related]) -> Scores:
        """Return how often the turns have a term that these members stand for."""
        counts = np.zeros(len(self._near.places) + 1, np.int64)
        for member in members:
            slots = self._near.slots[member.posting.positions]
            found = member.posting.counts.astype(np.int64)
            counts[slots] += member.share * ((found & 0xFF) + ((found >> 8) << _ASKED_BITS))  # slot 0: of no interest
        counts = counts[1:]
        frequency: Scores = np.zeros(len(self._near.positions))
        for column, rows in enumerate(self._near.rows.T):
            here = counts[rows]
            told, asking = self._near.shares[:, column], self._asking[:, column]
            frequency = frequency + (told * (here & _TOLD) + asking * (here >> _ASKED_BITS))
        return frequency / UNIT


def _room(inquiry: Inquiry, near: Neighbourhood) -> Scores:
    """Return BM25's length term: k1 for a turn of average length with average neighbours."""
    corpus, weights = inquiry.corpus, inquiry.weights
    length, whole = np.zeros(len(near.positions)), np.zeros(len(near.positions))
    for column, places in enumerate(near.positions.T):
        share = near.shares[:, column]
        told = corpus.length[places] * (1 - corpus.asks[places].astype(np.float64))
        asking = weights.asking * share + weights.answering * near.answers[:, column]
        length = length + (share * told + asking * (corpus.length[places] - told))
        whole = whole + share
    average = corpus.words / corpus.turns if corpus.words else 1.0
    room: Scores = weights.k1 * (1 - weights.b + weights.b * length / (average * whole))
    return room


def _saturated(frequency: Scores, room: Scores) -> Scores:
    """Return BM25's share of a term: 1 where a turn has nothing else."""
    share: Scores = frequency / (frequency + room)
    return share
