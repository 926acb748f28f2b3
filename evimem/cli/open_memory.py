"""The memory that a command works on, and the chat model that it may use."""

from __future__ import annotations

import argparse
import os
from pathlib import Path

import evimem

from ..errors import InvalidQuery
from ..raw.commit_mark import mark_path


def add_path(parser: argparse.ArgumentParser) -> None:
    """Add the memory's path."""
    parser.add_argument("path", metavar="PATH", type=Path, help="the memory")


def add_model(parser: argparse.ArgumentParser) -> None:
    """Add the options of a chat model."""
    group = parser.add_argument_group("chat model", "without --llm nothing leaves this machine")
    group.add_argument("--llm", action="store_true", help="use a chat model behind an OpenAI-compatible endpoint")
    group.add_argument("--model", metavar="NAME", help="the model, such as gpt-4o-mini")
    group.add_argument("--answer-model", metavar="NAME", help="another model for answering")
    group.add_argument("--judge-model", metavar="NAME", help="another model for judging the evidence")
    group.add_argument(
        "--price",
        nargs=2,
        type=float,
        metavar=("IN", "OUT"),
        help="dollars per million tokens of --model",
    )
    group.add_argument("--base-url", metavar="URL", help="the endpoint, such as http://localhost:8000/v1")
    group.add_argument(
        "--key-from", metavar="VARIABLE", help="the environment variable that holds the key (OPENAI_API_KEY)"
    )


def existing(options: argparse.Namespace) -> evimem.Memory:
    """Open a memory that is there. Raise InvalidQuery for a path that holds none: only writing creates one."""
    path: Path = options.path
    if not path.exists() and not mark_path(path).exists():
        raise InvalidQuery(f"there is no memory at {str(path)!r}; `evimem ingest {path} FILE` makes one")
    return evimem.open(path, llm=model(options))


def model(options: argparse.Namespace) -> evimem.OpenAI | None:
    """Return the chat model that the options name, if any."""
    if not getattr(options, "llm", False):
        return None
    return evimem.OpenAI(
        model=options.model,
        judge_model=options.judge_model,
        answer_model=options.answer_model,
        base_url=options.base_url,
        prices={options.model: tuple(options.price)} if options.price else {},
        api_key=os.environ.get(options.key_from) if options.key_from else None,
    )


def misused(options: argparse.Namespace) -> str | None:
    """Say what is wrong with the options of a chat model."""
    named = [
        name
        for name in ("model", "answer_model", "judge_model", "base_url", "key_from", "price")
        if getattr(options, name, None)
    ]
    if getattr(options, "llm", False):
        return None if options.model else "--llm needs --model NAME"
    return f"--{named[0].replace('_', '-')} is for --llm" if named else None
