"""The tables of a LongMemEval run: retrieval in both ways of averaging, and answers by type of question."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from statistics import fmean

from .cost_rows import cost_rows
from .estimates import estimate
from .result_file import Cell, MeanScore, ResultTable
from .run_longmemeval import CUTS, TURN_CUTS, LongMemEvalResult

_PARTS = ("any", "all", "nDCG")
_RETRIEVAL_NOTE = (
    "Turns of the user only, nDCG with equal weight of the first two ranks, as in the benchmark's code. Its scripts "
    'average over the questions with an answer and a marked turn ("with target") or over all with an answer.',
)
_ANSWER_NOTE = (
    "agrees: by the rule of our own chats, which is no judge of the benchmark. A question that failed counts as wrong; "
    "coverage is the share of those that did not. Unanswerable questions are among their types too.",
)
_COLUMNS = ("", "n", "judged correct", "agrees", "abstained, answerable", "abstained, unanswerable", "coverage")


def longmemeval_tables(
    results: Sequence[LongMemEvalResult], dollars: float | None = None, notes: Sequence[str] = ()
) -> tuple[ResultTable, ...]:
    """Return the tables of a run of at least one question.

    `dollars` is what its requests cost, if that is known; `notes` stand under the table of the answers.
    """
    kinds = sorted({one.kind for one in results})
    types = [_answers(kind, [one for one in results if one.kind == kind]) for kind in kinds]
    untold = [one for one in results if not one.answerable]
    rows = (
        *types,
        *([_answers("unanswerable", untold)] if untold else []),
        ("mean of the types", len(results), _mean(types, 2), _mean(types, 3), None, None, None),
        _answers("all", results),
    )
    return (
        _retrieval(results),
        ResultTable("answers", "Answers, by type of question", _COLUMNS, rows, (*_ANSWER_NOTE, *notes), _COLUMNS[2:6]),
        ResultTable("cost", "What it cost", ("", "value"), cost_rows(results, dollars)),
    )


def _mean(rows: Sequence[Sequence[Cell]], column: int) -> Cell:
    """Return the mean of a column over the types, each alike."""
    found = [row[column] for row in rows]
    values = [cell.value for cell in found if isinstance(cell, MeanScore)]
    return fmean(values) if values else None


def _retrieval(results: Sequence[LongMemEvalResult]) -> ResultTable:
    told = [one for one in results if one.answerable and one.turns]
    groups = {"with target": [one for one in told if one.has_target], "all with an answer": told}
    rows: list[tuple[Cell, ...]] = []
    for unit, cuts in (("sessions", CUTS), ("turns", TURN_CUTS)):
        for k in cuts:
            for part, name in enumerate(_PARTS):
                measure = _cut(unit, k, part)
                cells = [estimate(some, measure, _case) for some in groups.values()]
                rows.append((f"{unit}, {name}@{k}", *cells))
    rows.append(("questions", *map(len, groups.values())))
    return ResultTable("retrieval", "Retrieval", ("", *groups), tuple(rows), _RETRIEVAL_NOTE, tuple(groups))


def _cut(unit: str, k: int, part: int) -> Callable[[LongMemEvalResult], float]:
    def measure(one: LongMemEvalResult) -> float:
        found: dict[str, tuple[float, float, float]] = getattr(one, unit)
        return found[str(k)][part]

    return measure


def _answers(name: str, results: Sequence[LongMemEvalResult]) -> tuple[Cell, ...]:
    told = [one for one in results if one.answerable]
    untold = [one for one in results if not one.answerable]
    return (
        name,
        len(results),
        _judged(results),
        estimate(told, lambda one: one.agrees, _case),
        estimate(told, lambda one: one.abstained, _case),
        estimate(untold, lambda one: one.abstained, _case),
        fmean(not one.failed for one in results),
    )


def _judged(results: Sequence[LongMemEvalResult]) -> Cell:
    """Return the share that a model marked correct, of all: one that failed is none; None if no model was asked."""
    if all(one.correct is None for one in results):
        return None
    return estimate(results, lambda one: bool(one.correct), _case)


def _case(one: LongMemEvalResult) -> str:
    return one.case
