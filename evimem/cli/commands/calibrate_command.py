"""Fit a memory's probabilities to labelled questions, and say how far they hold.

LABELLED has a JSON object a line: {"question": "When did we move?", "answer": "May 2023"}, with null for an answer that
nobody told. From 50 questions on, 10 of either kind at least. The memory keeps the map, and no word of the questions.
"""

from __future__ import annotations

import argparse
from dataclasses import asdict
from pathlib import Path

from ...bench.charts import reliability_chart, risk_chart
from ...bench.svg_plot import svg
from ...calibration import Calibration, read_labelled
from ...calibration.fit_map import FALSE_ABSTENTION
from ...db.atomic_files import replace_with
from ..exit_codes import Exit
from ..open_memory import add_model, add_path, existing
from ..screen import Screen
from ..views.calibration_view import calibration_page


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of `calibrate`."""
    add_path(parser)
    parser.add_argument("labelled", metavar="LABELLED", type=Path, help="the questions, as lines of JSON")
    wanted = parser.add_mutually_exclusive_group()
    wanted.add_argument(
        "--false-abstention",
        type=float,
        default=FALSE_ABSTENTION,
        metavar="SHARE",
        help=f"how many of the questions that have an answer may be refused ({FALSE_ABSTENTION})",
    )
    wanted.add_argument("--precision", type=float, metavar="SHARE", help="how many of those answered must have one")
    parser.add_argument("--dry-run", action="store_true", help="only report; the memory is used as before")
    parser.add_argument("--report", metavar="DIR", type=Path, help="also draw reliability and risk-coverage, as SVG")
    add_model(parser)


def run(options: argparse.Namespace, screen: Screen) -> Exit:
    """Calibrate, and print what that is worth."""
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
    """Write the pictures of a calibration."""
    folder.mkdir(parents=True, exist_ok=True)
    told = f"{found.questions} questions that the map was not fitted on"
    base = 1 - found.answerable / found.questions
    charts = {
        "reliability.svg": reliability_chart("Reliability", found.reliability, f"ECE {found.ece:.3f} over {told}"),
        "risk-coverage.svg": risk_chart(
            "Risk against coverage", [("by probability", found.curve)], f"AURC {found.aurc:.3f} over {told}", base
        ),
    }
    for name, chart in charts.items():
        with replace_with(folder / name) as file:
            file.write(svg(chart).encode())
