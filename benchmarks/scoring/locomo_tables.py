"""The tables of a LoCoMo run: retrieval, answers and abstentions by category, probabilities, and what it cost."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from statistics import fmean

from .answer_f1 import ADVERSARIAL
from .answer_overlap import bleu_1, meteor, rouge_2, rouge_l
from .bootstrap import percentile
from .cost_rows import cost_rows
from .estimates import rows_of
from .g_eval import LOWEST
from .result_file import Cell, ResultTable
from .retrieval_metrics import first_two_ndcg, found_all, hit, ndcg, recall
from .run_locomo import QuestionResult, Run
from .selective import MEASURES, ProbabilityScores, answering, measured, sufficiency

CATEGORIES = {1: "multi-hop", 2: "temporal", 3: "open-domain", 4: "single-hop", 5: "adversarial"}
ANSWERABLE = "1 to 4"
_DEPTHS = (5, 10, 20)
_Measure = Callable[[QuestionResult], float]


def locomo_tables(
    run: Run, overlap: Mapping[str, Callable[[str, str], float]] = {}, notes: Sequence[str] = ()
) -> tuple[ResultTable, ...]:
    """Return the tables of a run of at least one question.

    `overlap` has further scores of an answer and its gold, `notes` what stands under the table of the answers.
    """
    scored = {"there is an answer": answering(run.asked), "all evidence was seen": sufficiency(run.wide or run.asked)}
    probabilities = [_quality(name, scores) for name, scores in scored.items() if scores is not None]
    return (
        _retrieval(run.asked),
        _answers(run.asked, OVERLAP | {name: overlap_of(measure) for name, measure in overlap.items()}, notes),
        *([_probabilities(probabilities)] if probabilities else []),
        _cost(run),
    )


def category_name(number: int) -> str:
    """Return a category by its number in the file and its true name."""
    return f"{number} {CATEGORIES.get(number, 'unknown')}"


def by_category(asked: Sequence[QuestionResult]) -> dict[str, Sequence[QuestionResult]]:
    """Return the questions in groups: all, those of each category, and those that have an answer."""
    named = {category_name(number): [one for one in asked if one.category == number] for number in CATEGORIES}
    return {"all": asked, **named, ANSWERABLE: [one for one in asked if one.category != ADVERSARIAL]}


def _columns(groups: Mapping[str, object]) -> tuple[str, ...]:
    return ("", *groups)


def _sample(one: QuestionResult) -> str:
    return one.sample


def _retrieval(asked: Sequence[QuestionResult]) -> ResultTable:
    groups = by_category([one for one in asked if one.gold])
    measures: dict[str, _Measure] = {}
    for name, score in (("R", recall), ("nDCG", ndcg), ("Hit", hit), ("All", found_all)):
        for k in _DEPTHS:
            measures[f"{name}@{k}"] = lambda one, score=score, k=k: score(one.ranked, one.gold, k)  # type: ignore[misc]
    measures["nDCG@10, first two ranks alike"] = lambda one: first_two_ndcg(one.ranked, one.gold, 10)
    return ResultTable(
        "retrieval",
        "Retrieval, by turn",
        _columns(groups),
        rows_of(measures, groups, _sample),
        ("R@k is the share of the gold turns among the first k, over the questions that have any.",),
        ("all",),
    )


def _answers(asked: Sequence[QuestionResult], overlap: Mapping[str, _Measure], notes: Sequence[str]) -> ResultTable:
    groups = by_category(asked)
    answered = {name: [one for one in some if not one.abstained] for name, some in groups.items()}
    return ResultTable(
        "answers",
        "Answers",
        _columns(groups),
        (
            *rows_of({"official F1, where answered": lambda one: one.f1}, answered, _sample)[:-1],
            *rows_of(overlap, by_category(told_of(asked)), _sample)[:-1],
            *rows_of(answer_measures(asked), groups, _sample),
        ),
        (
            "Official F1 of an adversarial question is 1 where it was abstained from; the other scores are over "
            "questions with an answer, 0 where it was abstained from. METEOR is without synonyms.",
            *notes,
        ),
        ("all",),
    )


def answer_measures(asked: Sequence[QuestionResult]) -> dict[str, _Measure]:
    """Return the scores that every answer and abstention has, with a model's marks where it gave any."""
    found: dict[str, _Measure] = {"official F1": lambda one: one.f1, "abstained": lambda one: one.abstained}
    if any(one.correct is not None for one in asked):
        found["judged correct"] = lambda one: bool(one.correct)
    if any(one.grade is not None for one in asked):
        found["G-Eval, 1 to 5"] = lambda one: LOWEST if one.grade is None else one.grade
        found["of it, by probabilities"] = lambda one: one.weighted
    return found


def told_of(asked: Sequence[QuestionResult]) -> list[QuestionResult]:
    """Return the questions that have an answer, which the overlap with it is measured over."""
    return [one for one in asked if one.wanted is not None]


def overlap_of(measure: Callable[[str, str], float]) -> _Measure:
    """Return the score of a result's answer beside its gold form, by a measure of two texts."""
    return lambda one: measure(one.text or "", one.wanted or "")


def _quality(name: str, one: ProbabilityScores) -> tuple[Cell, ...]:
    marked = (1 - one.marked.risk, one.marked.coverage) if one.marked else (None, None)
    return (name, one.questions, one.base, *measured(one.items), *marked)


def _probabilities(rows: Sequence[tuple[Cell, ...]]) -> ResultTable:
    columns = ("probability that", "n", "share", *MEASURES, "EXACT precision", "EXACT coverage")
    return ResultTable("probabilities", "Quality of the probabilities", columns, tuple(rows), (), MEASURES)


def _cost(run: Run) -> ResultTable:
    searches, asks = ([getattr(one, name) * 1000 for one in run.asked] for name in ("search_seconds", "ask_seconds"))
    new = [one for one in run.ingested if not one.kept]
    rate = sum(one.turns for one in new) / max(sum(one.seconds for one in new), 1e-9) if new else None
    turns, facts = (sum(getattr(one, name) for one in run.ingested) for name in ("turns", "facts"))
    unread = sum(one.read.unread for one in run.ingested)
    rows: tuple[tuple[Cell, ...], ...] = (
        ("turns", turns),
        ("facts", facts),
        *([("turns whose facts the model did not give", unread)] if unread else []),
        ("ingest, turns/s", rate),
        *((f"search, ms, {name}", percentile(searches, share)) for name, share in _SHARES),
        *((f"ask, ms, {name}", percentile(asks, share)) for name, share in _SHARES),
        ("checks per question", fmean(one.checks for one in run.asked)),
        *cost_rows(run.asked, run.dollars),
    )
    return ResultTable("cost", "What it cost", ("", "value"), rows, (_TIMES,))


OVERLAP = {
    name: overlap_of(measure)
    for name, measure in (("BLEU-1", bleu_1), ("ROUGE-L", rouge_l), ("ROUGE-2", rouge_2), ("METEOR", meteor))
}
_SHARES = (("p50", 0.5), ("p95", 0.95))
_TIMES = "Times are of a processor; those of asking, with the wait for the model."
