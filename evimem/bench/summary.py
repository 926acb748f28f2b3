"""The figures of a run: retrieval, answers and abstentions by category."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from statistics import fmean

from .answer_f1 import ADVERSARIAL
from .bootstrap import ConfidenceInterval, cluster_bootstrap, percentile
from .retrieval_metrics import found_all, hit, ndcg, recall
from .run_locomo import QuestionResult, Run
from .selective import ProbabilityScores, answering, sufficiency

CATEGORIES = {1: "multi-hop", 2: "temporal", 3: "open-domain", 4: "single-hop", 5: "adversarial"}


@dataclass(frozen=True, slots=True)
class GroupScores:
    """The mean figures of a group of questions; None for a mean of nothing.

    Retrieval is measured on the `with_gold` questions that have evidence. `abstained` is a share: of adversarial
    questions the share that was caught, of others the share of false abstentions.
    """

    name: str
    questions: int
    with_gold: int
    recall_5: float | None
    recall_10: float | None
    recall_20: float | None
    ndcg_10: float | None
    hit_10: float | None
    all_10: float | None
    f1: float | None
    abstained: float | None


@dataclass(frozen=True, slots=True)
class Summary:
    """All figures of a run.

    Read `caught` together with `false_abstentions`: abstaining always would make it 1. `checks` is the mean number of
    verdicts per question; `answering` and `sufficiency` score the two probabilities.
    """

    rows: tuple[GroupScores, ...]
    answerable: GroupScores
    overall: GroupScores
    caught: float | None
    false_abstentions: float | None
    f1_interval: ConfidenceInterval | None
    recall_10_interval: ConfidenceInterval | None
    requests: float | None
    checks: float
    answering: ProbabilityScores | None
    sufficiency: ProbabilityScores | None
    search_p50: float
    search_p95: float
    ask_p50: float
    ask_p95: float
    turns: int
    facts: int
    ingest_seconds: float


def summarize(run: Run) -> Summary:
    """Return the figures of a run of at least one question."""
    groups = [(name, [one for one in run.asked if one.category == number]) for number, name in CATEGORIES.items()]
    answerable = [one for one in run.asked if one.category != ADVERSARIAL]
    adversarial = [one for one in run.asked if one.category == ADVERSARIAL]
    searches, asks = [one.search_seconds for one in run.asked], [one.ask_seconds for one in run.asked]
    return Summary(
        rows=tuple(_row(name, asked) for name, asked in groups if asked),
        answerable=_row("answerable", answerable),
        overall=_row("all", run.asked),
        caught=_mean([one.abstained for one in adversarial]),
        false_abstentions=_mean([one.abstained for one in answerable]),
        f1_interval=_interval(run.asked, lambda one: one.f1),
        recall_10_interval=_interval(
            [one for one in run.asked if one.gold], lambda one: recall(one.ranked, one.gold, 10)
        ),
        requests=_mean([one.requests for one in run.asked]),
        checks=fmean(one.checks for one in run.asked),
        answering=answering(run.asked),
        sufficiency=sufficiency(run.wide or run.asked),
        search_p50=percentile(searches, 0.5),
        search_p95=percentile(searches, 0.95),
        ask_p50=percentile(asks, 0.5),
        ask_p95=percentile(asks, 0.95),
        turns=sum(one.turns for one in run.ingested),
        facts=sum(one.facts for one in run.ingested),
        ingest_seconds=sum(one.seconds for one in run.ingested),
    )


def _row(name: str, asked: Sequence[QuestionResult]) -> GroupScores:
    gold = [one for one in asked if one.gold]
    return GroupScores(
        name=name,
        questions=len(asked),
        with_gold=len(gold),
        recall_5=_mean([recall(one.ranked, one.gold, 5) for one in gold]),
        recall_10=_mean([recall(one.ranked, one.gold, 10) for one in gold]),
        recall_20=_mean([recall(one.ranked, one.gold, 20) for one in gold]),
        ndcg_10=_mean([ndcg(one.ranked, one.gold, 10) for one in gold]),
        hit_10=_mean([hit(one.ranked, one.gold, 10) for one in gold]),
        all_10=_mean([found_all(one.ranked, one.gold, 10) for one in gold]),
        f1=_mean([one.f1 for one in asked]),
        abstained=_mean([one.abstained for one in asked]),
    )


def _mean(values: Sequence[float]) -> float | None:
    return fmean(values) if values else None


def _interval(asked: Sequence[QuestionResult], measure: Callable[[QuestionResult], float]) -> ConfidenceInterval | None:
    if not asked:
        return None
    samples = dict.fromkeys(one.sample for one in asked)
    return cluster_bootstrap([[measure(one) for one in asked if one.sample == sample] for sample in samples])
