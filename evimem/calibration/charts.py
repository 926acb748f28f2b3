"""The charts of a calibration: predicted against observed probability, and risk against coverage."""

from __future__ import annotations

from collections.abc import Sequence
from math import sqrt

from .curves import Bin, Point
from .svg_plot import COLOURS, Chart, Curve

_DOT = 11.0  # radius of a dot that stands for all questions
_GREY = "#9aa5b1"
COVERAGE = "coverage: share of the questions"
_RISK = "risk: share of those that have no answer"
_FOOT = 0.22  # share of the height for the bars that show counts


def reliability_chart(title: str, bins: Sequence[Bin], note: str) -> Chart:
    """Return predicted against observed probability; dots and bars grow with the number of questions."""
    most = max(one.count for one in bins)
    total = sum(one.count for one in bins)
    observed = Curve(
        "observed (dots: by number of questions)",
        tuple((one.predicted, one.observed) for one in bins),
        tuple(3 + (_DOT - 3) * sqrt(one.count / total) for one in bins),
    )
    ideal = Curve("what was predicted", ((0.0, 0.0), (1.0, 1.0)), dashed=True, colour=_GREY)
    bars = tuple((_tenth(one), _tenth(one) + 0.1, _FOOT * one.count / most) for one in bins)
    return Chart(title, note, "predicted probability", "observed share", (ideal, observed), bars)


def risk_chart(title: str, curves: Sequence[tuple[str, Sequence[Point]]], note: str, base: float) -> Chart:
    """Return risk against coverage for some curves, with the risk of answering at random."""
    lines = [Curve("at random", ((0.0, base), (1.0, base)), dashed=True, colour=_GREY)]
    for (name, points), colour in zip(curves, COLOURS, strict=False):
        lines.append(Curve(name, tuple((point.coverage, point.risk) for point in points), colour=colour))
    top = max(y for line in lines for _, y in line.points)
    return Chart(title, note, COVERAGE, _RISK, tuple(lines), height=(0.0, _round_up(top * 1.25)))


def _tenth(one: Bin) -> float:
    return min(int(one.predicted * 10), 9) / 10


def _round_up(value: float) -> float:
    return next(top for top in (0.1, 0.25, 0.5, 1.0) if top >= min(value, 1.0))
