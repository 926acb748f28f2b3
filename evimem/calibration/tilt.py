"""Probabilities tilted and shifted on the scale of log-odds, so that they fit labels (Platt 1999): two numbers."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

_MARGIN = 0.005  # probabilities are clipped to this distance from 0 and 1: log-odds must stay finite
_MIN_SLOPE = 0.05  # the map must rise, also where few labels say otherwise
_MAX_STEPS, _TOLERANCE = 50, 1e-9  # Newton converges in about five steps
Array = NDArray[np.float64]
_UNCHANGED: Array = np.array([1.0, 0.0])  # slope and shift
_PRECISION: Array = np.array([2.0, 0.5])  # of the Gaussian prior around `_UNCHANGED`: few labels change little


def tilt(probabilities: Sequence[float], labels: Sequence[bool]) -> Callable[[float], float]:
    """Return the map from a probability to the tilted and shifted one, fitted to the labels."""
    odds = np.array([_log_odds(p) for p in probabilities])
    rows = np.stack([odds, np.ones(len(odds))], axis=1)
    slope, shift = _fitted(rows, np.array(labels, float))
    slope = max(slope, _MIN_SLOPE)
    return lambda p: 1 / (1 + math.exp(-(slope * _log_odds(p) + shift)))


def _fitted(rows: Array, labels: Array) -> tuple[float, float]:
    """Return slope and shift of maximum posterior: Newton's method, each step halved until it does not lose."""
    found = _UNCHANGED
    for _ in range(_MAX_STEPS):
        predicted = 1 / (1 + np.exp(-(rows @ found)))
        gradient = rows.T @ (labels - predicted) - _PRECISION * (found - _UNCHANGED)
        curvature = (rows * (predicted * (1 - predicted))[:, None]).T @ rows + np.diag(_PRECISION)
        step = np.linalg.solve(curvature, gradient)
        reached = _log_posterior(rows, labels, found)
        while np.abs(step).max() > _TOLERANCE and _log_posterior(rows, labels, found + step) < reached:
            step = step / 2
        found = found + step
        if np.abs(step).max() <= _TOLERANCE:
            break
    return float(found[0]), float(found[1])


def _log_posterior(rows: Array, labels: Array, found: Array) -> float:
    """Return the log-likelihood of the labels plus the log-prior, up to a constant."""
    odds = rows @ found
    likelihood = labels * odds - np.logaddexp(0, odds)
    return float(likelihood.sum() - (_PRECISION * (found - _UNCHANGED) ** 2).sum() / 2)


def _log_odds(p: float) -> float:
    clipped = min(max(p, _MARGIN), 1 - _MARGIN)
    return math.log(clipped / (1 - clipped))
