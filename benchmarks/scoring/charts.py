"""The charts of a run: reliability, and risk or precision against coverage."""

from __future__ import annotations

from collections.abc import Sequence

from evimem.calibration.charts import COVERAGE, reliability_chart, risk_chart
from evimem.calibration.curves import Point
from evimem.calibration.svg_plot import COLOURS, Chart, Curve

from .run_locomo import Run
from .selective import ProbabilityScores, answering, sufficiency

_ROOM = 0.02  # free height below the lowest point, for the legend


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
