"""Score evimem on a labelled data set of yours: retrieval, answers, abstentions, speed.

Each conversation is ingested into a temporary memory of its own.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

from ...bench.charts import report_charts
from ...bench.run_locomo import question_count, run_locomo
from ...bench.summary import Summary, summarize
from ...bench.svg_plot import svg
from ...db.atomic_files import replace_with
from ...errors import InvalidQuery
from ...loaders.locomo_format import known_file, read_locomo
from ...loops import LOOPS, VARIANTS
from ...types.budget import Budget
from ..exit_codes import Exit
from ..markdown import text_of
from ..open_memory import add_model, model
from ..page import BLANK, Block
from ..screen import Screen
from ..views.bench_view import answers_page, summary_page

_SHOWN = 20  # sample answers that --report prints


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of `bench`."""
    parser.add_argument("benchmark", choices=("locomo",), help="the format of the data set")
    parser.add_argument("file", metavar="FILE", type=Path, help="the data set")
    parser.add_argument("--offline", action="store_true", help="use no model; the default without --llm")
    parser.add_argument("--limit", type=int, metavar="N", help="ask only the first N questions of each conversation")
    parser.add_argument(
        "--loop", default="iris", metavar="NAME", help=f"the retrieval loop: {', '.join(sorted(LOOPS))} (default: iris)"
    )
    parser.add_argument(
        "--variant",
        choices=tuple(VARIANTS),
        metavar="NAME",
        help=f"an ablation of the EviMem paper: {', '.join(VARIANTS)}",
    )
    parser.add_argument(
        "--report",
        metavar="DIR",
        type=Path,
        help="also write tables and plots to DIR, ask again with 20 turns per search, and print 20 sample answers",
    )
    add_model(parser)


def misused(options: argparse.Namespace) -> str | None:
    """Return what is wrong with the options; None if nothing is."""
    return "--offline and --llm exclude each other" if options.offline and options.llm else None


def run(options: argparse.Namespace, screen: Screen) -> Exit:
    """Run the benchmark."""
    which = known_file(options.file)
    if which is None:
        screen.note(
            f"evimem: {options.file} is none of the LoCoMo files known by digest; its figures may not be comparable"
        )
    samples = list(read_locomo(options.file))
    wide = options.report is not None
    total = question_count(samples, options.limit, wide=wide)
    if not total:
        raise InvalidQuery(
            f"{str(options.file)!r} with --limit {options.limit} leaves no question to ask; give another file or limit"
        )
    with screen.progress("asking", "questions", total) as progress:
        result = run_locomo(
            samples,
            llm=model(options),
            loop=options.loop,
            budget=VARIANTS.get(options.variant, Budget()),
            limit=options.limit,
            wide=wide,
            progress=progress,
        )
    summary = summarize(result)
    page = summary_page(summary)
    if options.report is not None:
        _write(options.report, page, summary)
        page += [
            BLANK,
            *answers_page(result.asked, _SHOWN),
        ]  # printed but not written to the report: the texts belong to the data set
    screen.show(page, {"file": which, "loop": options.loop, "variant": options.variant, **asdict(summary)})
    return Exit.OK


def _write(folder: Path, page: Sequence[Block], summary: Summary) -> None:
    """Write the tables and the plots of a run."""
    folder.mkdir(parents=True, exist_ok=True)
    plots = report_charts(summary)
    shown = "".join(f"\n![{chart.title}]({name})\n" for name, chart in plots.items())
    files = {name: svg(chart) for name, chart in plots.items()} | {"report.md": f"{text_of(page)}{shown}"}
    for name, text in files.items():
        with replace_with(folder / name) as file:
            file.write(text.encode())
