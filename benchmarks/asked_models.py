"""The options of a benchmark that may ask a chat model: which, who marks, what is kept, and for how much."""

from __future__ import annotations

import argparse
import os
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NoReturn

import evimem

from .endpoints import Endpoints, read_endpoints
from .scoring.answer_judge import STRICT
from .scoring.asking import Asker, Checkpoint
from .scoring.judge_identity import JudgeIdentity
from .scoring.judge_option import add_judges
from .scoring.mailbox import Mailbox
from .scoring.provenance import digest
from .scoring.spending import PaidModel, Spending

WORKERS = 8  # questions at a time, where an endpoint is asked


@dataclass(frozen=True, slots=True)
class AskedModels:
    """The model that is asked and its name, another one that marks, and who puts the questions.

    All are None without a model; `asker` is there with a checkpoint too, and then all runs in one process. `endpoints`
    are those of a settings file.
    """

    llm: Any = None
    named: str | None = None
    marker: Any = None
    judge: JudgeIdentity | None = None
    asker: Asker | None = None
    endpoints: Endpoints | None = None


def add_models(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    parser.add_argument("--model", help="a chat model; without one all is deterministic")
    parser.add_argument("--base-url", help="its endpoint")
    parser.add_argument(
        "--settings", type=Path, metavar="FILE", help="a model and endpoint for each role, an embedder: see papers.toml"
    )
    parser.add_argument(
        "--mailbox", type=Path, metavar="DIR", help="be the model: requests and replies are files in DIR"
    )
    add_judges(parser, says="how a model marks: strict (the default) or generous, and g-eval", default=[STRICT])
    parser.add_argument("--marking-model", metavar="NAME", help="another model to mark with (default: --model)")
    parser.add_argument(
        "--checkpoint", type=Path, metavar="FILE", help="keep results in FILE, and ask only what it lacks"
    )
    parser.add_argument(
        "--price",
        nargs=2,
        type=float,
        metavar=("IN", "OUT"),
        help="dollars per million input and output tokens of --model",
    )
    parser.add_argument("--dollars", type=float, metavar="N", help="ask no more once N dollars are spent (--price)")


def models_of(options: argparse.Namespace, refuse: Callable[[str], NoReturn]) -> AskedModels:
    """Return what the options name; `refuse` what makes no sense."""
    if wrong := _misused(options):
        refuse(wrong)
    spending = Spending(options.dollars)
    if options.settings:
        return _of_settings(options, spending, refuse)
    named = Mailbox.model if options.mailbox else options.model
    judge = JudgeIdentity.of(options.judge, options.marking_model or named) if named else None
    asker = _asker(options, spending, judge) if judge or options.checkpoint else None
    if options.mailbox or not options.model:
        return AskedModels(Mailbox(options.mailbox) if options.mailbox else None, named, None, judge, asker)
    prices = {options.model: tuple(options.price)} if options.price else {}
    endpoint = evimem.OpenAI(model=options.model, base_url=options.base_url, prices=prices)
    other = options.marking_model and replace(endpoint, model=options.marking_model)
    return AskedModels(PaidModel(endpoint, spending), named, other and PaidModel(other, spending), judge, asker)


def _of_settings(options: argparse.Namespace, spending: Spending, refuse: Callable[[str], NoReturn]) -> AskedModels:
    try:
        served = read_endpoints(options.settings, os.environ)
    except (OSError, ValueError, evimem.EvimemError) as error:
        refuse(f"--settings: {error}")
    named = served.llm.named
    judge = JudgeIdentity.of(options.judge, getattr(served.mark, "model", None) or served.llm.model)
    marker = None if served.mark is None else PaidModel(served.mark, spending)
    asker = _asker(options, spending, judge)
    return AskedModels(PaidModel(served.llm, spending), named, marker, judge, asker, served)


def _misused(options: argparse.Namespace) -> str | None:
    if len([one for one in (options.model, options.mailbox, options.settings) if one]) > 1:
        return "--settings, --model and --mailbox exclude each other"
    if options.marking_model and not options.model:
        return "--marking-model needs --model"
    if (
        options.dollars is not None
        and not options.settings
        and (options.marking_model or not (options.model and options.price))
    ):
        return "--dollars needs --model and its --price, and no --marking-model, of which no price is known"
    return None


def _asker(options: argparse.Namespace, spending: Spending, judge: JudgeIdentity | None) -> Asker:
    settings = options.settings and digest(options.settings)
    asked = {
        "model": options.model,
        "settings": settings,
        "mailbox": bool(options.mailbox),
        **(judge.options() if judge else {}),
    }
    known = {**asked, "data": digest(options.locomo), "every": options.every, "version": evimem.__version__}
    checkpoint = Checkpoint(options.checkpoint, known) if options.checkpoint else None
    return Asker(workers=WORKERS if options.model or options.settings else 1, checkpoint=checkpoint, spending=spending)
