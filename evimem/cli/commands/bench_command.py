"""Score evimem on a labelled data set of yours: retrieval, answers, abstentions, speed.

Each conversation is ingested into a temporary memory of its own. `locomo` takes LoCoMo's file, whose official score
wants the shortest span: without a model it is read with reader="span". `chats` takes a folder of pairs
NAME.turns.jsonl and NAME.questions.jsonl, and asks as `evimem ask` does. `report` takes a Markdown file and makes the
tables and charts between its marks again, from the files that --result wrote.
"""

from __future__ import annotations

import argparse
from dataclasses import replace
from pathlib import Path

from ...bench.charts import locomo_charts
from ...bench.chat_tables import chat_tables
from ...bench.locomo_tables import locomo_tables
from ...bench.provenance import Provenance, provenance
from ...bench.readme_report import render
from ...bench.result_file import ResultFile, as_json, write_result
from ...bench.run_chats import run_chats
from ...bench.run_locomo import question_count, run_locomo
from ...db.atomic_files import replace_with
from ...errors import InvalidQuery
from ...loaders.data_sets import check_present
from ...loaders.labelled_chats import read_chats
from ...loaders.locomo_format import known_file, read_locomo
from ...loops import LOOPS, VARIANTS
from ...types.budget import Budget
from ..exit_codes import Exit
from ..open_memory import add_model, model
from ..page import BLANK, Block, line
from ..screen import Screen
from ..views.bench_view import answers_page, result_page

_SHOWN = 20  # sample answers that --sample prints


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of `bench`."""
    parser.add_argument("benchmark", choices=tuple(_RUNS), help="the data set, or `report`")
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
    parser.add_argument("--result", metavar="FILE", type=Path, help="also write the result that --json prints to FILE")
    parser.add_argument(
        "--sample", action="store_true", help=f"locomo: also print {_SHOWN} answers, drawn once and for all"
    )
    parser.add_argument(
        "--wide",
        action="store_true",
        help="locomo: ask answerable questions again with 20 turns per search, to score the confidence in the evidence",
    )
    parser.add_argument(
        "--registers",
        metavar="FILE",
        type=Path,
        help="chats: a JSON object of lists of conversations by register (default: registers.json in the folder)",
    )
    parser.add_argument("--check", action="store_true", help="report: write nothing, fail if something would change")
    add_model(parser)


_ONLY = {"registers": "chats", "sample": "locomo", "wide": "locomo", "check": "report"}


def misused(options: argparse.Namespace) -> str | None:
    """Return what is wrong with the options; None if nothing is."""
    for name, benchmark in _ONLY.items():
        if getattr(options, name) and options.benchmark != benchmark:
            return f"--{name} is of `bench {benchmark}` only"
    return "--offline and --llm exclude each other" if options.offline and options.llm else None


def run(options: argparse.Namespace, screen: Screen) -> Exit:
    """Run the benchmark."""
    check_present(options.benchmark, options.file)
    return _RUNS[options.benchmark](options, screen)


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
    return _finish(options, screen, ResultFile("chats", _made(options), _settings(options), chat_tables(results)))


def _run_locomo(options: argparse.Namespace, screen: Screen) -> Exit:
    if known_file(options.file) is None:
        screen.note(
            f"evimem: {options.file} is none of the LoCoMo files known by digest; its figures may not be comparable"
        )
    samples = list(read_locomo(options.file))
    total = question_count(samples, options.limit, wide=options.wide)
    _check_total(options, total)
    with screen.progress("asking", "questions", total) as progress:
        ran = run_locomo(
            samples,
            llm=model(options),
            loop=options.loop,
            budget=replace(VARIANTS.get(options.variant, Budget()), reader="span"),
            limit=options.limit,
            wide=options.wide,
            progress=progress,
        )
    result = ResultFile("locomo", _made(options), _settings(options), locomo_tables(ran), locomo_charts(ran))
    # The sample is printed and never kept: its texts belong to the data set.
    return _finish(options, screen, result, [BLANK, *answers_page(ran.asked, _SHOWN)] if options.sample else [])


def _run_report(options: argparse.Namespace, screen: Screen) -> Exit:
    text = options.file.read_text(encoding="utf-8")
    rendered = render(text, options.file.parent)
    wanted = {options.file: rendered.text}
    wanted |= {options.file.parent / place: drawn for place, drawn in rendered.charts.items()}
    changed = [path for path, now in wanted.items() if not path.exists() or path.read_text(encoding="utf-8") != now]
    if not options.check:
        for path in changed:
            path.parent.mkdir(parents=True, exist_ok=True)
            with replace_with(path) as file:
                file.write(wanted[path].encode())
    verb = "differs" if options.check else "written"
    named = [str(path.relative_to(options.file.parent)) for path in changed]
    screen.show([line(f"{verb}  {name}") for name in named] or [line("nothing changed")], {verb: named})
    return Exit.INPUT if options.check and changed else Exit.OK


_RUNS = {"locomo": _run_locomo, "chats": _run_chats, "report": _run_report}


def _check_total(options: argparse.Namespace, total: int) -> None:
    if not total:
        raise InvalidQuery(
            f"{str(options.file)!r} with --limit {options.limit} leaves no question to ask; give another file or limit"
        )


def _finish(options: argparse.Namespace, screen: Screen, result: ResultFile, more: list[Block] | None = None) -> Exit:
    if options.result is not None:
        write_result(result, options.result)
    screen.show([*result_page(result.tables), *(more or [])], as_json(result))
    return Exit.OK


def _made(options: argparse.Namespace) -> Provenance:
    return provenance(["evimem", *options.words], [options.file])


def _settings(options: argparse.Namespace) -> dict[str, object]:
    names = ("loop", "variant", "limit", "model", "judge_model", "answer_model")
    return {name: getattr(options, name) for name in names}
