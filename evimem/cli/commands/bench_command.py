"""Score evimem on a labelled data set of yours: retrieval, answers, abstentions, speed.

Each conversation is ingested into a temporary memory of its own. `locomo` takes LoCoMo's file, whose official score
wants the shortest span: without a model it is read with reader="span". `chats` takes a folder of pairs
NAME.turns.jsonl and NAME.questions.jsonl, and asks as `evimem ask` does.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import asdict, replace
from pathlib import Path

from ...bench.charts import report_charts
from ...bench.chat_scores import summarize_chats
from ...bench.run_chats import run_chats
from ...bench.run_locomo import question_count, run_locomo
from ...bench.summary import Summary, summarize
from ...bench.svg_plot import svg
from ...db.atomic_files import replace_with
from ...errors import InvalidQuery
from ...loaders.labelled_chats import read_chats
from ...loaders.locomo_format import known_file, read_locomo
from ...loops import LOOPS, VARIANTS
from ...types.budget import Budget
from ..exit_codes import Exit
from ..markdown import text_of
from ..open_memory import add_model, model
from ..page import BLANK, Block
from ..screen import Screen
from ..views.bench_view import answers_page, summary_page
from ..views.chats_view import chats_page

_SHOWN = 20  # sample answers that --report prints


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of `bench`."""
    parser.add_argument("benchmark", choices=("locomo", "chats"), help="the format of the data set")
    parser.add_argument("file", metavar="PATH", type=Path, help="the data set: a file, or a folder of chats")
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
    parser.add_argument(
        "--registers",
        metavar="FILE",
        type=Path,
        help="chats: a JSON object of lists of conversations by register (default: registers.json in the folder)",
    )
    add_model(parser)


def misused(options: argparse.Namespace) -> str | None:
    """Return what is wrong with the options; None if nothing is."""
    if options.registers is not None and options.benchmark != "chats":
        return "--registers is of `bench chats` only"
    if options.report is not None and options.benchmark != "locomo":
        return "--report is of `bench locomo` only"
    return "--offline and --llm exclude each other" if options.offline and options.llm else None


def run(options: argparse.Namespace, screen: Screen) -> Exit:
    """Run the benchmark."""
    return _run_chats(options, screen) if options.benchmark == "chats" else _run_locomo(options, screen)


def _run_chats(options: argparse.Namespace, screen: Screen) -> Exit:
    chats = [
        replace(chat, questions=chat.questions[: options.limit]) for chat in read_chats(options.file, options.registers)
    ]
    total = sum(len(chat.questions) for chat in chats)
    _check_total(options, total)
    with screen.progress("asking", "questions", total) as progress:
        results = run_chats(
            chats,
            llm=model(options),
            loop=options.loop,
            budget=VARIANTS.get(options.variant, Budget()),
            progress=progress,
        )
    summary = summarize_chats(results)
    screen.show(chats_page(summary), {"loop": options.loop, "variant": options.variant, **asdict(summary)})
    return Exit.OK


def _check_total(options: argparse.Namespace, total: int) -> None:
    if not total:
        raise InvalidQuery(
            f"{str(options.file)!r} with --limit {options.limit} leaves no question to ask; give another file or limit"
        )


def _run_locomo(options: argparse.Namespace, screen: Screen) -> Exit:
    which = known_file(options.file)
    if which is None:
        screen.note(
            f"evimem: {options.file} is none of the LoCoMo files known by digest; its figures may not be comparable"
        )
    samples = list(read_locomo(options.file))
    wide = options.report is not None
    total = question_count(samples, options.limit, wide=wide)
    _check_total(options, total)
    with screen.progress("asking", "questions", total) as progress:
        result = run_locomo(
            samples,
            llm=model(options),
            loop=options.loop,
            budget=replace(VARIANTS.get(options.variant, Budget()), reader="span"),
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
