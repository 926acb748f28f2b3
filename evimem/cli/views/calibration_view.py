"""The quality of a calibration, as a page."""

from __future__ import annotations

from ...calibration import Calibration
from ..page import BLANK, Block, field, line, table
from .wording import counted

_BAR = 20  # characters of a bar that stands for 100 %
_COLUMNS = ("predicted", "observed", "n", "")


def calibration_page(found: Calibration, *, kept: bool) -> list[Block]:
    """Return a calibration with reliability as bars: filled up to the observed share, "|" at the predicted one."""
    rows = [
        (f"{one.predicted:.2f}", f"{one.observed:.2f}", f"{one.count:,}", _bar(one.observed, one.predicted))
        for one in found.reliability
    ]
    counts = f"{found.answerable:,} with an answer, {found.questions - found.answerable:,} without"
    return [
        line(f"{counted(found.questions, 'question')}: {counts}; judge {found.judge}, embedder {found.embedder}"),
        BLANK,
        table(_COLUMNS, rows, right=_COLUMNS[:3], title="Reliability"),
        line(f"ECE {found.ece:.3f}, before {found.ece_before:.3f}; AUROC {found.auroc:.3f}, AURC {found.aurc:.3f}"),
        BLANK,
        line(
            f"Below a probability of {found.abstain_below:.3f} evimem abstains: on {found.caught:.1%} of the questions "
            f"without an answer, and on {found.false_abstention:.1%} of those with one."
        ),
        line(_precise(found)),
        line("All figures are cross-validated (five folds)."),
        BLANK,
        field("stored" if kept else "not stored", _kept(kept=kept), width=12),
    ]


def _precise(found: Calibration) -> str:
    if found.precise is None:
        return f"No threshold reaches a precision of {found.precision:.0%}."
    point = found.precise
    return (
        f"A precision of {found.precision:.0%} needs a threshold of {point.threshold:.3f}, which answers "
        f"{point.coverage:.0%} of the questions."
    )


def _kept(*, kept: bool) -> str:
    if kept:
        return "ask uses it as long as judge and embedder stay the same"
    return "this was a dry run; the memory is unchanged"


def _bar(observed: float, predicted: float) -> str:
    filled, mark = round(observed * _BAR), min(round(predicted * _BAR), _BAR - 1)
    return "".join("|" if at == mark else "#" if at < filled else "." for at in range(_BAR))
