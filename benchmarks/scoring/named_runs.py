"""The runs of `python -m benchmarks`: each reads its data set, asks, and returns the tables."""

from __future__ import annotations

import argparse
import importlib
import os
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any

from benchmarks.data_sets import known_file, read_locomo, read_longmemeval
from benchmarks.scoring.svg_plot import Chart
from evimem import __version__
from evimem.cli.arguments import model_from_options
from evimem.cli.page import BLANK, Block, Screen
from evimem.errors import InvalidQuery
from evimem.loops import VARIANTS

from .answer_overlap import bert_score_by
from .asking import Approach, Asker, Checkpoint
from .charts import locomo_charts
from .chat_tables import chat_tables
from .judge_identity import OF_TYPES, JudgeIdentity, grades, rubric_of
from .labelled_chats import LabelledChat, read_chats
from .left_out import REPEATED, left_out
from .locomo_tables import locomo_tables
from .longmemeval_tables import longmemeval_tables
from .mailbox import Mailbox
from .provenance import digest
from .result_file import ResultTable
from .result_view import answers_page
from .run_chats import ChatResult, run_chats
from .run_locomo import question_count, run_locomo
from .run_longmemeval import run_longmemeval
from .scored_memory import Factory, OwnMemory
from .spending import PaidModel, Spending
from .synthetic import synthetic_chat

SHOWN = 20  # sample answers that --sample prints
_CONCURRENCY = 8
_DECIDES_NOTHING = ("limit", "wide", "bert_score")


@dataclass(frozen=True, slots=True)
class Finished:
    """What came of a run. `failed` says why each question that failed did; `page` is printed and never kept."""

    tables: tuple[ResultTable, ...]
    failed: Sequence[str]
    charts: Mapping[str, Chart] = field(default_factory=dict)
    page: Sequence[Block] = ()


def run_named(options: argparse.Namespace, screen: Screen) -> Finished:
    """Run the benchmark that the options name."""
    runs: Mapping[str, Callable[[argparse.Namespace, Screen], Finished]] = {
        "locomo": _locomo,
        "longmemeval": _longmemeval,
        "chats": _chats,
        "synthetic": _synthetic,
    }
    return runs[options.benchmark](options, screen)


def settings(options: argparse.Namespace) -> dict[str, Any]:
    """Return the options that decide the figures of a run."""
    names = (
        "benchmark", "loop", "variant", "limit", "adapter", "enrich", "wide", "seed", "turns", "depth", "model",
        "judge_model", "answer_model", "extract_model", "marking_model",
    )  # fmt: skip
    found = {name: getattr(options, name) for name in names} | {"mailbox": options.mailbox is not None}
    if options.without:
        found["without"] = REPEATED if options.without == REPEATED else digest(Path(options.without))
    if options.bert_score:
        found["bert_score"] = digest(options.bert_score / "model.onnx")
    judge = _judge(options)
    return found | (judge.options() if judge else {})


def _judge(options: argparse.Namespace) -> JudgeIdentity | None:
    if not options.judge:
        return None
    named = Mailbox.model if options.mailbox else options.marking_model or options.judge_model or options.model
    variants = [OF_TYPES] if options.benchmark == "longmemeval" else options.judge
    return JudgeIdentity.of(variants, named)


def _judge_notes(options: argparse.Namespace) -> tuple[str, ...]:
    judge = _judge(options)
    return (judge.note(),) if judge else ()


def _locomo(options: argparse.Namespace, screen: Screen) -> Finished:
    if known_file(options.file) is None:
        screen.print_note(
            f"evimem: {options.file} is none of the LoCoMo files known by digest; its figures may not be comparable"
        )
    further = {"BERTScore": bert_score_by(options.bert_score)} if options.bert_score else {}
    samples = list(left_out(read_locomo(options.file), options.without))
    spending = Spending(options.dollars)
    how = _approach(options, spending)
    total = _checked(options, question_count(samples, options.limit, wide=options.wide))
    with screen.start_progress("asking", "questions", total) as progress:
        ran = run_locomo(
            samples,
            replace(how, spans=True),
            limit=options.limit,
            wide=options.wide,
            asker=_asker(options, spending, progress),
            processes=_processes(options),
        )
    page = [BLANK, *answers_page(ran.asked, SHOWN)] if options.sample else []
    tables = locomo_tables(ran, further, _judge_notes(options))
    return Finished(tables, _failed((*ran.asked, *ran.wide)), locomo_charts(ran), page)


def _longmemeval(options: argparse.Namespace, screen: Screen) -> Finished:
    cases = (case for number, case in enumerate(read_longmemeval(options.file)) if number < (options.limit or 1 << 30))
    if not options.sha256:
        screen.print_note(
            "evimem: no SHA-256 of LongMemEval's files is known here; this one has "
            f"{digest(options.file)}, to which --sha256 holds later runs"
        )
    spending = Spending(options.dollars)
    with screen.start_progress("asking", "questions") as progress:
        asker = _asker(options, spending, progress)
        results = run_longmemeval(cases, _approach(options, spending), asker)
    _checked(options, len(results))
    return Finished(longmemeval_tables(results, asker.dollars, _judge_notes(options)), _failed(results))


def _chats(options: argparse.Namespace, screen: Screen) -> Finished:
    return _ask_chats(read_chats(options.file, options.registers), options, screen)


def _synthetic(options: argparse.Namespace, screen: Screen) -> Finished:
    chats = [synthetic_chat(options.seed + number, turns=options.turns, depth=options.depth) for number in range(3)]
    return _ask_chats(chats, options, screen)


def _ask_chats(chats: Iterable[LabelledChat], options: argparse.Namespace, screen: Screen) -> Finished:
    some = [replace(chat, questions=chat.questions[: options.limit]) for chat in chats]
    total = _checked(options, sum(len(chat.questions) for chat in some))
    spending = Spending(options.dollars)
    make = _adapter(options.adapter) if options.adapter else partial(OwnMemory, how=_approach(options, spending))
    with screen.start_progress("asking", "questions", total) as progress:
        asker = _asker(options, spending, progress)
        results: list[ChatResult] = run_chats(some, make, asker)
    return Finished(chat_tables(results, asker.dollars), _failed(results))


def _adapter(named: str) -> Factory:
    module, colon, function = named.partition(":")
    if "" not in sys.path:
        sys.path.insert(0, os.getcwd())  # the adapter stands in the folder where the command runs
    try:
        found: Factory = getattr(importlib.import_module(module), function)
    except (ImportError, AttributeError, ValueError) as error:
        raise InvalidQuery(f"--adapter {named!r} cannot be imported ({error}); expected MODULE:FUNCTION") from error
    if not colon or not callable(found):
        raise InvalidQuery(f"--adapter is {named!r}; expected MODULE:FUNCTION, a function from a folder to a memory")
    return found


def _asker(options: argparse.Namespace, spending: Spending, progress: Callable[[int], None]) -> Asker:
    checkpoint = Checkpoint(options.checkpoint, _decisive(options)) if options.checkpoint else None
    workers = (options.concurrency or _CONCURRENCY) if options.llm else 1
    return Asker(workers=workers, checkpoint=checkpoint, spending=spending, progress=progress)


def _decisive(options: argparse.Namespace) -> dict[str, Any]:
    """Return what decides the result of a question: what only chooses questions, or scores them later, is left out."""
    decides = {name: value for name, value in settings(options).items() if name not in _DECIDES_NOTHING}
    data = digest(options.file) if options.file else ""
    return decides | {"version": __version__, "data": data}


def _processes(options: argparse.Namespace) -> int:
    """Return how many conversations run at a time: one where a model or a file of kept results is shared."""
    if options.llm or options.mailbox or options.checkpoint:
        return 1
    return options.processes or os.cpu_count() or 1


def _approach(options: argparse.Namespace, spending: Spending) -> Approach:
    how = Approach(None, VARIANTS.get(options.variant, options.loop))
    endpoint = model_from_options(options)
    if not (options.mailbox or endpoint):
        return how
    marks = replace(how, enrich=options.enrich, rubric=rubric_of(options.judge), grade=grades(options.judge))
    if endpoint is None:
        return replace(marks, llm=Mailbox(options.mailbox))
    marker = options.marking_model and replace(endpoint, model=options.marking_model, judge_model=None)
    return replace(marks, llm=PaidModel(endpoint, spending), marker=marker and PaidModel(marker, spending))


def _failed(results: Sequence[Any]) -> list[str]:
    return [one.failed for one in results if one.failed]


def _checked(options: argparse.Namespace, total: int) -> int:
    if not total:
        raise InvalidQuery(
            f"{str(options.file)!r} with --limit {options.limit} leaves no question to ask; give another file or limit"
        )
    return total
