"""The meaning of a score: the cosine of the question with a turn's vector, smoothed over its neighbours."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from .corpus import Corpus
from .dialogue_smoothing import Neighbourhood
from .prepared_query import Inquiry

_SLICE = 4_096  # rows turned into floats at once: what a core's cache holds
Scores = NDArray[np.float64]


def cosines(inquiry: Inquiry, near: Neighbourhood) -> Scores:
    """Return the cosine of the question with each turn's smoothed vector; 0 where either has none."""
    corpus, weights = inquiry.corpus, inquiry.weights
    along = np.zeros(len(near.positions))
    if inquiry.direction is None or not len(along):
        return along
    dots = projections(corpus, near.places, inquiry.direction)
    echoes = weights.echo * corpus.asks[near.places].astype(np.float64)
    shares = near.shares + near.answers * echoes[near.rows]
    for column, rows in enumerate(near.rows.T):
        along = along + shares[:, column] * dots[rows]
    norm = _norms(corpus, near, shares) * np.sqrt(float(np.square(inquiry.direction).sum()))
    cosine: Scores = np.divide(along, norm, out=np.zeros(len(along)), where=norm > 0)
    return cosine


def nearest_cosines(inquiry: Inquiry, near: Neighbourhood) -> Scores:
    """Return the largest cosine of the question with a turn or a neighbour: what smoothing stays close to, for less."""
    if inquiry.direction is None:
        return np.zeros(len(near.positions))
    dots = projections(inquiry.corpus, near.places, inquiry.direction)
    best = np.where(near.shares > 0, dots[near.rows], 0.0).max(axis=1)
    cosines: Scores = best / np.sqrt(float(np.square(inquiry.direction).sum()))
    return cosines


def projections(corpus: Corpus, positions: NDArray[np.int32], direction: NDArray[np.float32]) -> Scores:
    """Return the products of turns' vectors with a direction of whole numbers: below 2 ** 24, exact in any order.

    Positions are ascending and distinct.
    """
    dots = np.empty(len(positions), np.float32)
    everything = len(positions) == len(corpus)  # then the rows lie as they are wanted
    for start in range(0, len(positions), _SLICE):
        some = slice(start, start + _SLICE)
        rows = corpus.vectors[some] if everything else corpus.vectors.take(positions[some], axis=0, mode="wrap")
        np.einsum("ij,j->i", rows.astype(np.float32), direction, out=dots[some])  # BLAS would wake threads for it
    return dots.astype(np.float64) * corpus.scale[positions]


def _norms(corpus: Corpus, near: Neighbourhood, shares: Scores) -> Scores:
    """Return the lengths of smoothed vectors; those of an earlier question are remembered."""
    known = corpus.norms.of(corpus, near.weights)
    turns = near.positions[:, 0]
    missing = np.flatnonzero(np.isnan(known[turns]))
    for start in range(0, len(missing), _SLICE // 8):
        part = missing[start : start + _SLICE // 8]
        smooth = np.zeros((len(part), corpus.dimension), np.float32)
        for column, places in enumerate(near.positions[part].T):
            amount = (shares[part, column] * corpus.scale[places].astype(np.float64)).astype(np.float32)
            some = np.flatnonzero(amount)
            smooth[some] += amount[some, None] * corpus.vectors[places[some]].astype(np.float32)
        known[turns[part]] = np.sqrt(np.square(smooth).sum(axis=1, dtype=np.float64))
    lengths: Scores = known[turns]
    return lengths
