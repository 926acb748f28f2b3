"""The option by which the variants of the judge that marks answers are named."""

from __future__ import annotations

import argparse
from typing import Any

from .answer_judge import STRICT, VARIANTS
from .g_eval import VARIANT as G_EVAL


class _NamedJudges(argparse.Action):
    """Reads `--judge`: the variants that are named, strict if none is."""

    def __call__(self, parser: argparse.ArgumentParser, namespace: argparse.Namespace, values: Any, *_: Any) -> None:
        named = [*dict.fromkeys(values)] or [STRICT]
        if len([name for name in named if name != G_EVAL]) > 1:
            parser.error(f"--judge {' '.join(named)}: one run has one rubric; add {G_EVAL}, or run again")
        setattr(namespace, self.dest, named)


def add_judges(group: argparse._ActionsContainer, *, says: str, default: list[str] | None = None) -> None:
    """Add the option by which the variants of the judge are named."""
    choices = (*VARIANTS, G_EVAL)
    group.add_argument("--judge", nargs="*", choices=choices, action=_NamedJudges, default=default, help=says)
