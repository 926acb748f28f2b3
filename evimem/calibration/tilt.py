"""Probabilities tilted and shifted on the scale of log-odds, so that they fit labels (Platt 1999): two numbers."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

_NEARLY = 0.005  # no probability is taken to be surer than this
_LEAST = 0.05  # the map must rise
_STEPS, _CLOSE = 50, 1e-9
Array = NDArray[np.float64]
_UNCHANGED: Array = np.array([1.0, 0.0])  # slope and shift
_BELIEF: Array = np.array([2.0, 0.5])  # how strongly it is believed that nothing need be changed


def tilt(probabilities: Sequence[float], labels: Sequence[bool]) -> Callable[[float], float]:
    """Return the map from a probability to a better one."""
    odds = np.array([_log_odds(p) for p in probabilities])
    rows = np.stack([odds, np.ones(len(odds))], axis=1)
    steep, shift = _fitted(rows, np.array(labels, float))
    steep = max(steep, _LEAST)
    return lambda p: 1 / (1 + math.exp(-(steep * _log_odds(p) + shift)))


def _fitted(rows: Array, wanted: Array) -> tuple[float, float]:
    """Return slope and shift of the best fit: Newton's method, each step halved until it is a gain."""
    found = _UNCHANGED
    for _ in range(_STEPS):
        guessed = 1 / (1 + np.exp(-(rows @ found)))
        gradient = rows.T @ (wanted - guessed) - _BELIEF * (found - _UNCHANGED)
        curvature = (rows * (guessed * (1 - guessed))[:, None]).T @ rows + np.diag(_BELIEF)
        step = np.linalg.solve(curvature, gradient)
        while np.abs(step).max() > _CLOSE and _gain(rows, wanted, found + step) < _gain(rows, wanted, found):
            step = step / 2
        found = found + step
        if np.abs(step).max() <= _CLOSE:
            break
    return float(found[0]), float(found[1])


def _gain(rows: Array, wanted: Array, found: Array) -> float:
    """Return the log-likelihood of the labels, less what departing from the belief costs."""
    odds = rows @ found
    told = wanted * odds - np.logaddexp(0, odds)
    return float(told.sum() - (_BELIEF * (found - _UNCHANGED) ** 2).sum() / 2)


def _log_odds(p: float) -> float:
    held = min(max(p, _NEARLY), 1 - _NEARLY)
    return math.log(held / (1 - held))
