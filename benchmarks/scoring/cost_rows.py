"""What the questions of a run cost: rows of a table that every benchmark has."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import fmean
from typing import Protocol

from .result_file import Cell


class Costed(Protocol):
    """The result of a question: its requests to a model, their tokens, and why there is no answer, if it failed."""

    @property
    def requests(self) -> int: ...

    @property
    def input_tokens(self) -> int: ...

    @property
    def output_tokens(self) -> int: ...

    @property
    def failed(self) -> str: ...


def cost_rows(results: Sequence[Costed], dollars: float | None) -> tuple[tuple[Cell, ...], ...]:
    """Return what the questions cost, and `dollars`, what all requests of the run did; None for an unknown price."""
    return (
        ("questions that failed", sum(bool(one.failed) for one in results)),
        ("model requests per question", fmean(one.requests for one in results)),
        ("input tokens per question", fmean(one.input_tokens for one in results)),
        ("output tokens per question", fmean(one.output_tokens for one in results)),
        ("dollars in all, failures included", dollars),
    )
