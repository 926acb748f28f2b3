"""Score evimem on a labelled data set of yours: retrieval, answers, abstentions, speed.

Each conversation is ingested into a temporary memory of its own.

  locomo       LoCoMo's file. Its official score wants the shortest span: without a model, benchmarks.span reads it.
  longmemeval  a file of LongMemEval (s, m or oracle): one memory a question.
  chats        a folder of pairs NAME.turns.jsonl and NAME.questions.jsonl, asked as `evimem ask` does.
  synthetic    conversations from a seed; no PATH.
  report       a Markdown file: makes the tables and charts between its marks again, from what --result wrote.
  all          every figure of the project's pages; no PATH. See `python -m benchmarks all --help`.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from benchmarks.data_sets import check_present
from evimem.cli.arguments import (
    MODEL_OPTIONS,
    Exit,
    Parser,
    add_model_options,
    check_model_options,
    output_options,
    parse_and_run,
    parse_prices,
)
from evimem.cli.page import Screen, make_line
from evimem.db.atomic_files import replace_with
from evimem.db.connection import check_replaceable
from evimem.errors import InvalidQuery
from evimem.loops import LOOPS, VARIANTS

from . import figures
from .scoring.answer_judge import STRICT
from .scoring.judge_option import add_judges
from .scoring.left_out import REPEATED
from .scoring.mailbox import Mailbox
from .scoring.named_runs import SHOWN, run_named, settings
from .scoring.provenance import digest, provenance
from .scoring.readme_report import render
from .scoring.result_file import ResultFile, as_json, write_result
from .scoring.result_view import result_page

_BENCHMARKS = ("locomo", "longmemeval", "chats", "synthetic", "report")
_ONLY = {  # options of some of the benchmarks
    "registers": ("chats",),
    "adapter": ("chats", "synthetic"),
    "sample": ("locomo",),
    "without": ("locomo",),
    "wide": ("locomo",),
    "processes": ("locomo",),
    "bert_score": ("locomo",),
    "enrich": ("locomo",),
    "judge": ("locomo", "longmemeval"),
    "check": ("report",),
}


def main(argv: Sequence[str] | None = None) -> int:
    """Run a benchmark; return its exit code."""
    words = list(sys.argv[1:] if argv is None else argv)
    if words[:1] == ["all"]:
        return figures.main(words[1:])
    return parse_and_run(_options, argv)


def _options(words: Sequence[str]) -> argparse.Namespace:
    parser = Parser(
        prog="python -m benchmarks",
        description=__doc__,
        parents=[output_options()],
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    _add_arguments(parser)
    options = parser.parse_args(words, argparse.Namespace(words=list(words), run=_run))
    if wrong := _misused(options) or check_model_options(options):
        parser.error(wrong)
    return options


def _add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("benchmark", choices=_BENCHMARKS, help="the data set, or `report`")
    parser.add_argument("file", metavar="PATH", nargs="?", type=Path, help="the data set: a file, or a folder of chats")
    parser.add_argument("--offline", action="store_true", help="use no model; the default without --llm")
    parser.add_argument("--limit", type=int, metavar="N", help="ask only the first N questions of each conversation")
    parser.add_argument(
        "--loop", default="iris", metavar="NAME", help=f"the retrieval loop: {', '.join(sorted(LOOPS))} (default: iris)"
    )
    parser.add_argument(
        "--variant",
        choices=tuple(VARIANTS),
        metavar="NAME",
        help=f"in the place of --loop, one with parts left out, or as published: {', '.join(VARIANTS)}",
    )
    parser.add_argument("--sha256", metavar="HEX", help="refuse a PATH that has not this SHA-256, as a result names it")
    parser.add_argument("--result", metavar="FILE", type=Path, help="also write the result that --json prints to FILE")
    _add_of_one(parser)
    _add_long_runs(parser)
    add_model_options(parser)


def _add_of_one(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("of one benchmark")
    group.add_argument(
        "--without",
        metavar="FILE",
        help="locomo: leave out the questions that FILE lists, a line each, such as `conv-26 12` for the thirteenth; "
        f"or {REPEATED}: those that stand twice in a conversation",
    )
    group.add_argument("--sample", action="store_true", help=f"locomo: also print {SHOWN} answers, always the same")
    group.add_argument(
        "--wide",
        action="store_true",
        help="locomo: ask answerable questions again with 20 turns per search, to score the confidence in the evidence",
    )
    group.add_argument(
        "--processes",
        type=int,
        metavar="N",
        help="locomo, without a model: N conversations at a time (default: one for each processor)",
    )
    group.add_argument(
        "--bert-score",
        metavar="FOLDER",
        type=Path,
        help="locomo: also BERTScore, by the model.onnx and tokenizer.json in FOLDER (extra [bertscore])",
    )
    group.add_argument("--enrich", action="store_true", help="locomo, with a model: it first extracts facts")
    add_judges(
        group,
        says="locomo, longmemeval, with a model: it also marks the answers, strictly if nothing else is named "
        "(longmemeval: by its own rubrics); locomo: g-eval, alone or besides, grades them from 1 to 5",
    )
    group.add_argument(
        "--marking-model", metavar="NAME", help="use another model for --judge than those that are asked (--llm)"
    )
    group.add_argument(
        "--registers",
        metavar="FILE",
        type=Path,
        help="chats: a JSON object of lists of conversations by register (default: registers.json in the folder)",
    )
    group.add_argument(
        "--adapter",
        metavar="MODULE:FUNCTION",
        help="chats, synthetic: score another memory, by a function from an empty folder to it "
        "(benchmarks/scoring/scored_memory.py); benchmarks.scoring.scored_memory:PlainBm25 is BM25 that quotes",
    )
    group.add_argument(
        "--seed", type=int, default=0, metavar="N", help="synthetic: of the first of 3 conversations (0)"
    )
    group.add_argument("--turns", type=int, default=200, metavar="N", help="synthetic: turns of each (200)")
    group.add_argument("--depth", type=int, default=3, metavar="N", help="synthetic: turns of the longest chain (3)")
    group.add_argument("--check", action="store_true", help="report: write nothing, fail if something would change")


def _add_long_runs(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("long runs", "a question that the model fails counts as wrong and ends no run")
    group.add_argument(
        "--checkpoint",
        metavar="FILE",
        type=Path,
        help="keep each result in FILE, and with --enrich the memories in FILE.memories; ask only what they lack",
    )
    group.add_argument(
        "--dollars",
        type=float,
        metavar="N",
        help="ask no more once N dollars are spent: by all requests, failed ones and those of --enrich and --judge "
        "too, and by earlier runs with the same --checkpoint (--price, --price-of)",
    )
    group.add_argument(
        "--mailbox",
        metavar="DIR",
        type=Path,
        help="be the model yourself: requests are files in DIR/requests; write each reply to DIR/replies, "
        "the name ending in .txt, and run the command again",
    )


def _misused(options: argparse.Namespace) -> str | None:
    """Return what is wrong with the options; None if nothing is."""
    for name, benchmarks in _ONLY.items():
        if getattr(options, name) and options.benchmark not in benchmarks:
            return f"--{name.replace('_', '-')} is of `{' and '.join(benchmarks)}` only"
    if (options.file is None) != (options.benchmark == "synthetic"):
        return "`synthetic` takes no PATH" if options.file else f"`{options.benchmark}` needs a PATH"
    return _misused_model(options)


def _misused_model(options: argparse.Namespace) -> str | None:
    models = {"--llm": options.llm, "--mailbox": options.mailbox, "--offline": options.offline}
    used = [name for name, value in models.items() if value]
    if len(used) > 1:
        return f"{used[0]} and {used[1]} exclude each other"
    if options.adapter and (used or any(getattr(options, name, None) for name in MODEL_OPTIONS)):
        return "--adapter names another memory, for which the options of evimem's model mean nothing"
    if options.dollars is not None and (unknown := _unpriced(options)):
        return f"--dollars needs the price of {unknown}: --price of --model, --price-of NAME IN OUT of another"
    return _misused_judge(options)


def _misused_judge(options: argparse.Namespace) -> str | None:
    if options.marking_model and not (options.llm and options.judge):
        return "--marking-model marks for --judge, at the endpoint of --llm; add both"
    if options.judge not in (None, [STRICT]) and options.benchmark != "locomo":
        return f"--judge {' '.join(options.judge)} is of `locomo` only: LongMemEval has rubrics of its own"
    needing = [name for name in ("enrich", "judge") if getattr(options, name)]
    if needing and not (options.llm or options.mailbox):
        return f"--{needing[0]} needs a model: --llm or --mailbox"
    return None


def _unpriced(options: argparse.Namespace) -> str:
    """Return the models without a price; "the model" where none is named."""
    roles = ("model", "judge_model", "answer_model", "marking_model", *(("extract_model",) if options.enrich else ()))
    named = {name for role in roles if (name := getattr(options, role))}
    return ", ".join(sorted(named - parse_prices(options).keys())) or ("" if options.model else "the model")


def _run(options: argparse.Namespace, screen: Screen) -> Exit:
    if options.file is not None:
        check_present(options.benchmark, options.file)
        _check_pinned(options)
    return _report(options, screen) if options.benchmark == "report" else _score(options, screen)


def _check_pinned(options: argparse.Namespace) -> None:
    """Raise InvalidQuery where the data set is another than the one that is asked for."""
    if options.sha256 and (found := digest(options.file)) != options.sha256.lower():
        raise InvalidQuery(f"{str(options.file)!r} has the SHA-256 {found}, not {options.sha256}; give that data set")


def _score(options: argparse.Namespace, screen: Screen) -> Exit:
    if options.result is not None and options.result.exists():
        check_replaceable(options.result)  # before hours of questions
    started = time.perf_counter()
    ran = run_named(options, screen)
    data = [options.file] if options.file else []
    made = provenance(["python", "-m", "benchmarks", *options.words], data, time.perf_counter() - started)
    result = ResultFile(options.benchmark, made, settings(options), ran.tables, ran.charts)
    if options.result is not None:
        write_result(result, options.result)
    screen.print_page_or_json([*result_page(result.tables), *ran.page], as_json(result))
    if ran.failed:
        why, many = Counter(ran.failed).most_common(1)[0]
        screen.print_note(
            f"evimem: {len(ran.failed):,} questions got no answer, which count as wrong; {many:,} of them: {why}"
        )
    if options.mailbox and (waiting := Mailbox(options.mailbox).waiting()):
        screen.print_note(
            f"evimem: {waiting:,} requests wait in {options.mailbox / 'requests'}; write the reply to NAME.json there "
            f"to {options.mailbox / 'replies'}/NAME.txt, and run the same command again"
        )
    return Exit.MODEL if ran.failed else Exit.OK


def _report(options: argparse.Namespace, screen: Screen) -> Exit:
    page: Path = options.file
    rendered = render(page.read_text(encoding="utf-8"), page.parent)
    wanted = {page: rendered.text, **{page.parent / place: drawn for place, drawn in rendered.charts.items()}}
    changed = [path for path, now in wanted.items() if not path.exists() or path.read_text(encoding="utf-8") != now]
    if not options.check:
        for path in changed:
            path.parent.mkdir(parents=True, exist_ok=True)
            with replace_with(path) as file:
                file.write(wanted[path].encode())
    verb = "differs" if options.check else "written"
    named = [str(path.relative_to(page.parent)) for path in changed]
    screen.print_page_or_json(
        [make_line(f"{verb}  {name}") for name in named] or [make_line("nothing changed")], {verb: named}
    )
    return Exit.INPUT if options.check and changed else Exit.OK


if __name__ == "__main__":
    sys.exit(main())
