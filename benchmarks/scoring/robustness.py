"""EviMem's tables 10 and 11: the same loop with another model or another embedder, marked by two judges."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TypeAlias

from .estimates import estimate
from .locomo_tables import by_category
from .result_file import Cell
from .run_locomo import QuestionResult

Runs: TypeAlias = Mapping[str, Sequence[QuestionResult]]
ROBUSTNESS = ("", "judge", "second judge", "less than the first row", "by the second judge", "they agree")
JUDGES = {"judge": "correct", "second judge": "second"}


def robustness(runs: Runs, _: object = ()) -> Iterator[tuple[Cell, ...]]:
    """Yield what each judge finds right of each row, what that loses against the first, and how often they agree."""
    first: Sequence[QuestionResult] = next(iter(runs.values()), ())
    for name, asked in runs.items():
        lost = (_lost(first, asked, mark) for mark in JUDGES.values())
        yield (
            name,
            *(_right(asked, mark) for mark in JUDGES.values()),
            *(lost if asked is not first else (None, None)),
            estimate(asked, lambda one: bool(one.correct) == bool(one.second), _sample),
        )


def by_judge(runs: Runs, _: object = ()) -> Iterator[tuple[Cell, ...]]:
    """Yield what each judge finds right of each row, by category."""
    for judge, mark in JUDGES.items():
        for name, asked in runs.items():
            yield (f"{name}, {judge}", *(_right(some, mark) for some in by_category(asked).values()))


def _lost(first: Sequence[QuestionResult], asked: Sequence[QuestionResult], mark: str) -> Cell:
    pairs = list(zip(first, asked, strict=True))

    def difference(pair: tuple[QuestionResult, QuestionResult]) -> float:
        return float(bool(getattr(pair[0], mark)) - bool(getattr(pair[1], mark)))

    return estimate(pairs, difference, lambda pair: pair[0].sample)


def _right(asked: Sequence[QuestionResult], mark: str) -> Cell:
    return estimate(asked, lambda one: bool(getattr(one, mark)), _sample)


def _sample(one: QuestionResult) -> str:
    return one.sample
