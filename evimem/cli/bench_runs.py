"""The runs of `evimem bench`: each reads its data set, asks, and returns the tables."""

from __future__ import annotations

import argparse
import importlib
import os
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache, partial
from pathlib import Path
from typing import Any

from ..bench.answer_judge import prompt_digest
from ..bench.asking import Approach, Asker, Checkpoint
from ..bench.charts import locomo_charts
from ..bench.chat_tables import chat_tables
from ..bench.locomo_tables import locomo_tables
from ..bench.longmemeval_tables import longmemeval_tables
from ..bench.mailbox import Mailbox
from ..bench.provenance import digest
from ..bench.result_file import ResultTable
from ..bench.run_chats import ChatResult, run_chats
from ..bench.run_locomo import question_count, run_locomo
from ..bench.run_longmemeval import run_longmemeval
from ..bench.scored_memory import Factory, OwnMemory
from ..bench.svg_plot import Chart
from ..bench.synthetic import synthetic_chat
from ..errors import InvalidQuery
from ..loaders.labelled_chats import LabelledChat, read_chats
from ..loaders.locomo_format import known_file, read_locomo
from ..loaders.longmemeval_format import read_longmemeval
from ..loops import LITERAL, VARIANTS
from ..types.budget import Budget
from .open_memory import model
from .page import BLANK, Block
from .screen import Screen
from .views.bench_view import answers_page

SHOWN = 20  # sample answers that --sample prints
_CONCURRENCY = 8


@dataclass(frozen=True, slots=True)
class Finished:
    """What came of a run. `failed` counts the questions that the model failed; `page` is printed and never kept."""

    tables: tuple[ResultTable, ...]
    failed: int
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
        "judge_model", "answer_model", "extract_model",
    )  # fmt: skip
    found = {name: getattr(options, name) for name in names} | {"mailbox": options.mailbox is not None}
    if options.bert_score:
        found["bert_score"] = digest(options.bert_score / "model.onnx")
    return found | ({"judge": options.judge, "judge_prompt": prompt_digest()} if options.judge else {})


def chat_model(options: argparse.Namespace) -> Any:
    """Return the chat model of the run: an endpoint, a mailbox, or None."""
    return Mailbox(options.mailbox) if options.mailbox else model(options)


def _locomo(options: argparse.Namespace, screen: Screen) -> Finished:
    if known_file(options.file) is None:
        screen.note(
            f"evimem: {options.file} is none of the LoCoMo files known by digest; its figures may not be comparable"
        )
    further = _bert_score(options.bert_score) if options.bert_score else {}
    samples = list(read_locomo(options.file))
    how = _approach(options)
    total = _checked(options, question_count(samples, options.limit, wide=options.wide))
    with screen.progress("asking", "questions", total) as progress:
        ran = run_locomo(
            samples,
            replace(how, budget=replace(how.budget, reader="span")),
            limit=options.limit,
            wide=options.wide,
            asker=_asker(options, progress),
            processes=_processes(options),
        )
    page = [BLANK, *answers_page(ran.asked, SHOWN)] if options.sample else []
    return Finished(locomo_tables(ran, further), _failed(ran.asked), locomo_charts(ran), page)


def _longmemeval(options: argparse.Namespace, screen: Screen) -> Finished:
    cases = (case for number, case in enumerate(read_longmemeval(options.file)) if number < (options.limit or 1 << 30))
    with screen.progress("asking", "questions") as progress:
        results = run_longmemeval(cases, _approach(options), _asker(options, progress))
    _checked(options, len(results))
    return Finished(longmemeval_tables(results), _failed(results))


def _chats(options: argparse.Namespace, screen: Screen) -> Finished:
    return _ask_chats(read_chats(options.file, options.registers), options, screen)


def _synthetic(options: argparse.Namespace, screen: Screen) -> Finished:
    chats = [synthetic_chat(options.seed + number, turns=options.turns, depth=options.depth) for number in range(3)]
    return _ask_chats(chats, options, screen)


def _ask_chats(chats: Iterable[LabelledChat], options: argparse.Namespace, screen: Screen) -> Finished:
    some = [replace(chat, questions=chat.questions[: options.limit]) for chat in chats]
    total = _checked(options, sum(len(chat.questions) for chat in some))
    make = _adapter(options.adapter) if options.adapter else partial(OwnMemory, how=_approach(options))
    with screen.progress("asking", "questions", total) as progress:
        results: list[ChatResult] = run_chats(some, make, _asker(options, progress))
    return Finished(chat_tables(results), _failed(results))


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


def _asker(options: argparse.Namespace, progress: Callable[[int], None]) -> Asker:
    checkpoint = Checkpoint(options.checkpoint, settings(options)) if options.checkpoint else None
    workers = (options.concurrency or _CONCURRENCY) if options.llm else 1
    return Asker(workers=workers, checkpoint=checkpoint, dollars=options.dollars, progress=progress)


def _bert_score(folder: Path) -> dict[str, Callable[[str, str], float]]:
    """Return the score by the model in a folder, each pair of texts scored once."""
    from ..bench.token_vectors import TokenVectors  # noqa: PLC0415 - needs an extra

    return {"BERTScore": cache(TokenVectors(folder).score)}


def _processes(options: argparse.Namespace) -> int:
    """Return how many conversations run at a time: one where a model or a file of kept results is shared."""
    if options.llm or options.mailbox or options.checkpoint:
        return 1
    return options.processes or os.cpu_count() or 1


def _approach(options: argparse.Namespace) -> Approach:
    budget = {**VARIANTS, **LITERAL}.get(options.variant, Budget())
    return Approach(chat_model(options), options.loop, budget, options.enrich, options.judge or "")


def _failed(results: Sequence[Any]) -> int:
    return sum(bool(one.failed) for one in results)


def _checked(options: argparse.Namespace, total: int) -> int:
    if not total:
        raise InvalidQuery(
            f"{str(options.file)!r} with --limit {options.limit} leaves no question to ask; give another file or limit"
        )
    return total
