"""The options of a chat model, and opening a memory with them."""

from __future__ import annotations

import argparse
import os
from typing import TYPE_CHECKING, Any, TypeAlias

import evimem

from ..errors import InvalidQuery

if TYPE_CHECKING:
    from pathlib import Path

MODEL_OPTIONS = (
    "model", "answer_model", "judge_model", "extract_model", "base_url", "key_from", "price", "price_of", "deadline",
    "concurrency", "on_model_error",
)  # fmt: skip


Settings: TypeAlias = dict[str, Any]  # of `evimem.open`: the model, and what to do where it fails


class _PriceOf(argparse.Action):
    """Collects the prices of models by their names."""

    def __call__(self, parser: argparse.ArgumentParser, namespace: argparse.Namespace, values: Any, *_: Any) -> None:
        name, *price = values
        try:
            sent, received = map(float, price)
        except ValueError:
            parser.error(f"--price-of {name}: {price} are no dollars; expected NAME IN OUT, such as gpt-4o 2.5 10")
        namespace.price_of = {**namespace.price_of, name: (sent, received)}


def add_model(parser: argparse.ArgumentParser, *, asks: bool = False) -> None:
    """Add the options of a chat model; where it `asks`, what to do when that fails on a question."""
    group = parser.add_argument_group("chat model", "optional; without --llm nothing leaves this machine")
    add = group.add_argument
    add("--llm", action="store_true", help="use a chat model behind an OpenAI-compatible endpoint")
    add("--model", metavar="NAME", help="the model, such as gpt-4o-mini; required with --llm")
    add("--answer-model", metavar="NAME", help="use another model for answering")
    add("--judge-model", metavar="NAME", help="use another model for judging the evidence")
    add("--extract-model", metavar="NAME", help="use another model for extracting facts, in `enrich`")
    add("--deadline", type=float, metavar="SECONDS", help="the longest that a request may take (60)")
    add("--concurrency", type=int, metavar="N", help="requests at the same time (8)")
    priced = "dollars per million input and output tokens of --model"
    add("--price", nargs=2, type=float, metavar=("IN", "OUT"), help=priced)
    others = "those of another model; may be given again"
    add("--price-of", nargs=3, action=_PriceOf, default={}, metavar=("NAME", "IN", "OUT"), help=others)
    add("--base-url", metavar="URL", help="the endpoint, such as http://localhost:8000/v1")
    key = "the environment variable that holds the API key (default: OPENAI_API_KEY)"
    add("--key-from", metavar="VARIABLE", help=key)
    if asks:
        fails = "where the model fails: exit with an error (raise, the default), or answer without it (offline)"
        add("--on-model-error", choices=("raise", "offline"), help=fails)


def existing(path: Path, **settings: Any) -> evimem.Memory:
    """Open an existing memory. Raise InvalidQuery if there is none: a command that reads must not create one."""
    from ..raw.commit_mark import mark_path  # noqa: PLC0415 - most of the package, which not every command needs

    if not path.exists() and not mark_path(path).exists():
        raise InvalidQuery(f"there is no memory at {str(path)!r}; `evimem ingest {path} FILE` creates one")
    return evimem.open(path, **settings)


def model_settings(options: argparse.Namespace) -> Settings:
    """Return what the options of a chat model say about opening a memory."""
    return {"llm": model(options), "on_model_error": getattr(options, "on_model_error", None) or "raise"}


def model(options: argparse.Namespace) -> evimem.OpenAI | None:
    """Return the chat model that the options name, if any."""
    if not getattr(options, "llm", False):
        return None
    return evimem.OpenAI(
        model=options.model,
        judge_model=options.judge_model,
        answer_model=options.answer_model,
        extract_model=options.extract_model,
        base_url=options.base_url,
        prices=prices(options),
        api_key=os.environ.get(options.key_from) if options.key_from else None,
        **{name: value for name in ("deadline", "concurrency") if (value := getattr(options, name)) is not None},
    )


def prices(options: argparse.Namespace) -> dict[str, tuple[float, float]]:
    """Return dollars per million input and output tokens by the name of a model, of those that are given."""
    found: dict[str, tuple[float, float]] = options.price_of
    return found | ({options.model: tuple(options.price)} if options.price else {})


def unpriced(options: argparse.Namespace, *roles: str) -> list[str]:
    """Return the models that the options name for these roles and for --model, and give no price of."""
    named = (getattr(options, role) for role in ("model", *roles))
    return sorted({name for name in named if name} - prices(options).keys())


def misused(options: argparse.Namespace) -> str | None:
    """Return what is wrong with the options of the chat model; None if nothing is."""
    named = [name for name in MODEL_OPTIONS if getattr(options, name, None) not in (None, {})]
    if (seconds := getattr(options, "deadline", None)) is not None and not seconds > 0:
        return f"--deadline is {seconds:g}; expected seconds above 0"
    if (places := getattr(options, "concurrency", None)) is not None and places < 1:
        return f"--concurrency is {places}; expected at least 1"
    if getattr(options, "llm", False):
        return None if options.model else "--llm needs --model NAME"
    return f"--{named[0].replace('_', '-')} needs --llm; add it, or leave the option out" if named else None
