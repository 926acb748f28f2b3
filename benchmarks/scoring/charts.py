"""The charts of a run: reliability, and risk or precision against coverage."""

from __future__ import annotations

from collections.abc import Sequence
from math import sqrt

from evimem.calibration import Bin, Point

from .run_locomo import Run
from .selective import ProbabilityScores, answering, sufficiency
from .svg_plot import COLOURS, Chart, Curve

_ROOM = 0.02  # free height below the lowest point, for the legend
_DOT = 11.0  # radius of a dot that stands for all questions
_GREY = "#9aa5b1"
COVERAGE = "coverage: share of the questions"
_RISK = "risk: share of those that have no answer"
_FOOT = 0.22  # share of the height for the bars that show counts


def locomo_charts(run: Run) -> dict[str, Chart]:
    """Return the charts of a run by name; none for a probability that could not be scored."""
    found: dict[str, Chart] = {}
    if (answered := answering(run.asked)) is not None:
        found |= _of_answering(answered)
    if (seen := sufficiency(run.wide or run.asked)) is not None:
        found |= _of_sufficiency(seen)
    return found


def _of_answering(scores: ProbabilityScores) -> dict[str, Chart]:
    note = f"{scores.questions:,} questions, AUROC {scores.auroc:.3f}"
    return {
        "reliability": reliability_chart(
            "Answer or abstain: reliability", scores.reliability, f"{note}, ECE {scores.ece:.3f}"
        ),
        "risk-coverage": risk_chart(
            "Answer or abstain: risk against coverage",
            [("by probability", scores.curve)],
            f"{note}, AURC {scores.aurc:.3f}",
            1 - scores.base,
        ),
    }


def _of_sufficiency(scores: ProbabilityScores) -> dict[str, Chart]:
    note = f"{scores.questions:,} questions, AUROC {scores.auroc:.3f}"
    return {
        "sufficiency-reliability": reliability_chart(
            "All evidence seen: reliability", scores.reliability, f"{note}, ECE {scores.ece:.3f}"
        ),
        "sufficiency": precision_chart("All evidence seen: precision", scores.curve, note, scores.marked),
    }


def precision_chart(title: str, points: Sequence[Point], note: str, marked: Point | None) -> Chart:
    """Return precision against coverage, with the point of a fixed threshold marked."""
    lines = [Curve("precision of the surest", tuple((point.coverage, 1 - point.risk) for point in points))]
    if marked is not None:
        place = (marked.coverage, 1 - marked.risk)
        lines.append(Curve("tier EXACT", (place,), (6.0,), colour=COLOURS[1]))
    low = max(_ROOM, min(1 - point.risk for point in points))
    foot = next(foot for foot in (0.9, 0.75, 0.5, 0.0) if foot <= low - _ROOM)
    return Chart(title, note, COVERAGE, "precision", tuple(lines), height=(foot, 1.0), legend="below")


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
