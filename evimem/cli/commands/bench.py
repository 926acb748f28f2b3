"""Score evimem on a labelled data set that you have: retrieval, answers, abstentions, speed.

Each conversation goes into a memory of its own, which is deleted afterwards.
"""

from __future__ import annotations

import argparse
from dataclasses import asdict
from pathlib import Path

from ...bench.locomo import run_locomo
from ...bench.summary import summarize
from ...errors import InvalidQuery
from ...loaders.locomo import known_file, read_locomo
from ...loops import VARIANTS
from ...types import Budget
from ..exit_codes import Exit
from ..opening import add_model, model
from ..screen import Screen
from ..views.bench import summary_page


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of `bench`."""
    parser.add_argument("benchmark", choices=("locomo",), help="which data set the file is of")
    parser.add_argument("file", metavar="FILE", type=Path, help="the data set")
    parser.add_argument("--offline", action="store_true", help="without a model, as is the default; excludes --llm")
    parser.add_argument("--limit", type=int, metavar="N", help="only the first questions of each conversation")
    parser.add_argument("--loop", default="iris", metavar="NAME", help="how to look for evidence (iris)")
    parser.add_argument(
        "--variant",
        choices=tuple(VARIANTS),
        metavar="NAME",
        help=f"a row of EviMem's ablations: {', '.join(VARIANTS)}",
    )
    add_model(parser)


def misused(options: argparse.Namespace) -> str | None:
    """Say what is wrong with the options."""
    return "--offline and --llm exclude each other" if options.offline and options.llm else None


def run(options: argparse.Namespace, screen: Screen) -> Exit:
    """Run the benchmark."""
    which = known_file(options.file)
    if which is None:
        screen.note(f"evimem: {options.file} is none of the LoCoMo files known by digest; figures may not compare")
    samples = list(read_locomo(options.file))
    total = sum(len(sample.questions[: options.limit]) for sample in samples)
    if not total:
        raise InvalidQuery(f"{str(options.file)!r} with --limit {options.limit} leaves no question to ask")
    with screen.progress("asking", "questions", total) as progress:
        result = run_locomo(
            samples,
            llm=model(options),
            loop=options.loop,
            budget=VARIANTS.get(options.variant, Budget()),
            limit=options.limit,
            progress=progress,
        )
    summary = summarize(result)
    screen.show(
        summary_page(summary), {"file": which, "loop": options.loop, "variant": options.variant, **asdict(summary)}
    )
    return Exit.OK
