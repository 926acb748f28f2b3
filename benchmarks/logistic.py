"""Fit a logistic model with named signals: ridge, Newton's method, and signs that a weight must have."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from evimem.offline.signals import MIN_LABELLED_SCORES, Linear, Monotone, pooled_map

Array = NDArray[np.float64]


def logistic(
    rows: Sequence[Mapping[str, float]],
    labels: Sequence[bool],
    signs: Mapping[str, int],
    weights: Sequence[float],
    ridge: float = 2.0,
) -> Linear:
    """Fit a ridge logistic model; a signal whose weight would have the wrong sign is left out."""
    names = list(signs)
    columns = np.array([[row.get(name, 0.0) for name in names] for row in rows])
    return fit_columns(columns, np.array(labels, float), names, signs, np.array(weights, float), ridge)


def fit_columns(
    rows: Array, labels: Array, names: Sequence[str], signs: Mapping[str, int], weights: Array, ridge: float = 2.0
) -> Linear:
    """Fit a ridge logistic model to rows of columns; 1 and -1 are the signs that a weight must have, 0 is either."""
    mean, scale = rows.mean(axis=0), rows.std(axis=0)
    scale[scale < 1e-9] = 1.0
    scaled = (rows - mean) / scale
    kept = list(range(len(names)))
    while True:
        beta = newton(scaled[:, kept], labels, weights, ridge)
        wrong = [(abs(b), i) for b, i in zip(beta, kept, strict=False) if signs.get(names[i], 0) * b < 0]
        if not wrong:
            break
        kept.remove(max(wrong)[1])
    slopes = {names[i]: float(b / scale[i]) for b, i in zip(beta, kept, strict=False)}
    bias = float(beta[-1] - sum(b * mean[i] / scale[i] for b, i in zip(beta, kept, strict=False)))
    return Linear({name: round(slope, 3) for name, slope in slopes.items()}, round(bias, 3))


def newton(rows: Array, labels: Array, weights: Array, ridge: float) -> Array:
    """Return the weights of a logistic model followed by its bias (Newton's method)."""
    full = np.c_[rows, np.ones(len(rows))]
    penalty = np.diag([ridge] * rows.shape[1] + [1e-6])
    beta = np.zeros(full.shape[1])
    for _ in range(60):
        p = 1 / (1 + np.exp(-np.clip(full @ beta, -30, 30)))
        gradient = full.T @ (weights * (labels - p)) - penalty @ beta
        curvature = (full * (weights * p * (1 - p))[:, None]).T @ full + penalty
        step = np.linalg.solve(curvature, gradient)
        beta += step
        if np.abs(step).max() < 1e-8:
            break
    return beta


def fit_monotone(scores: Sequence[float], labels: Sequence[bool], bins: int = 16) -> Monotone:
    """Fit a map to labelled scores: equal bins, neighbours pooled while they fall (isotonic regression).

    Raise ValueError for fewer than 50, or for labels that are all alike.
    """
    if len(scores) != len(labels) or len(scores) < MIN_LABELLED_SCORES or len(set(labels)) < 2:
        raise ValueError(
            f"calibration needs at least {MIN_LABELLED_SCORES} labelled scores of both kinds, got {len(scores)} scores "
            f"and {sum(labels)} positive of {len(labels)} labels; label more questions"
        )
    return pooled_map(scores, labels, bins)
