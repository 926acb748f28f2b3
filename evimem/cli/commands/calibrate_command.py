"""Calibrate a memory's probabilities on labelled questions, and report their quality.

LABELLED has one JSON object per line: {"question": "When did we move?", "answer": "May 2023"}, with null if the memory
has no answer. Give at least 50 questions, 10 of each kind. The memory stores the fitted map, not the questions.
"""

from __future__ import annotations

import argparse
from dataclasses import asdict
from pathlib import Path

from ...calibration import Calibration, read_labelled
from ...calibration.charts import reliability_chart, risk_chart
from ...calibration.fit_map import FALSE_ABSTENTION
from ...calibration.svg_plot import svg
from ...db.atomic_files import replace_with
from ..exit_codes import Exit
from ..open_memory import add_model, add_path, existing
from ..screen import Screen
from ..views.calibration_view import calibration_page


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of `calibrate`."""
    add_path(parser)
    parser.add_argument(
        "labelled", metavar="LABELLED", type=Path, help="the labelled questions, one JSON object per line"
    )
    wanted = parser.add_mutually_exclusive_group()
    wanted.add_argument(
        "--false-abstention",
        type=float,
        default=FALSE_ABSTENTION,
        metavar="SHARE",
        help=f"share of the answerable questions that may be refused, 0 to 1 (default: {FALSE_ABSTENTION})",
    )
    wanted.add_argument(
        "--precision",
        type=float,
        metavar="SHARE",
        help="share of the answered questions that must be answerable, 0 to 1",
    )
    parser.add_argument("--dry-run", action="store_true", help="only report; do not change the memory")
    parser.add_argument(
        "--report",
        metavar="DIR",
        type=Path,
        help="also write plots of reliability and of risk against coverage to DIR, as SVG",
    )
    add_model(parser)


def run(options: argparse.Namespace, screen: Screen) -> Exit:
    """Calibrate, and print the quality of the result."""
    questions = list(read_labelled(options.labelled))
    with existing(options) as memory, screen.progress("asking", "questions", len(questions)) as progress:
        found = memory.calibrate(
            questions,
            false_abstention=options.false_abstention,
            precision=options.precision,
            keep=not options.dry_run,
            progress=progress,
        )
    if options.report is not None:
        draw(found, options.report)
    screen.show(calibration_page(found, kept=not options.dry_run), asdict(found))
    return Exit.OK


def draw(found: Calibration, folder: Path) -> None:
    """Write the plots of a calibration."""
    folder.mkdir(parents=True, exist_ok=True)
    note = f"{found.questions} questions, cross-validated"
    base = 1 - found.answerable / found.questions
    charts = {
        "reliability.svg": reliability_chart("Reliability", found.reliability, f"ECE {found.ece:.3f} over {note}"),
        "risk-coverage.svg": risk_chart(
            "Risk against coverage", [("by probability", found.curve)], f"AURC {found.aurc:.3f} over {note}", base
        ),
    }
    for name, chart in charts.items():
        with replace_with(folder / name) as file:
            file.write(svg(chart).encode())
