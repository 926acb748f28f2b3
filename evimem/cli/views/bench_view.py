"""The figures of a benchmark as tables."""

from __future__ import annotations

import random
from collections.abc import Sequence

from ...bench.bootstrap import ConfidenceInterval
from ...bench.run_locomo import QuestionResult
from ...bench.selective import ProbabilityScores
from ...bench.summary import CATEGORIES, GroupScores, Summary
from ..page import BLANK, Block, Heading, Piece, field, line, table
from .wording import counted

_RETRIEVAL = ("category", "n", "R@5", "R@10", "R@20", "nDCG@10", "Hit@10", "All@10")
_PROBABILITIES = ("probability that", "n", "share", "AUROC", "ECE", "AURC", "EXACT precision", "EXACT coverage")
_SEED = 20  # fixed, so that every run shows the same sample
_ANSWERS = ("category", "n", "F1", "answered", "abstained")


def summary_page(summary: Summary) -> list[Block]:
    """Return the tables of a run."""
    rows = [*summary.rows, summary.answerable, summary.overall]
    rate = summary.turns / max(summary.ingest_seconds, 1e-9)
    asked = f"p50 {_ms(summary.ask_p50)}, p95 {_ms(summary.ask_p95)}"
    return [
        table(_RETRIEVAL, [_retrieval(row) for row in rows], right=_RETRIEVAL[1:], title="Retrieval, by turn"),
        line(f"R@10 over all: {_between(summary.recall_10_interval)}"),
        BLANK,
        table(_ANSWERS, [_answers(row) for row in rows], right=_ANSWERS[1:], title="Answers, official F1"),
        line(f"F1 over all: {_between(summary.f1_interval)}; adversarial counts 1 when abstained"),
        line(f"adversarial caught {_share(summary.caught)} at {_share(summary.false_abstentions)} false abstentions"),
        *_scores(summary),
        BLANK,
        line(f"ingest  {counted(summary.turns, 'turn')}, {counted(summary.facts, 'fact')}, {rate:,.0f} turns/s"),
        line(f"search  p50 {_ms(summary.search_p50)}, p95 {_ms(summary.search_p95)}"),
        line(f"ask     {asked}, {summary.requests or 0:.2f} model requests per question"),
        line(f"checks  {summary.checks:.2f} sufficiency checks per question"),
    ]


def answers_page(asked: Sequence[QuestionResult], many: int) -> list[Block]:
    """Return a fixed random sample of `many` answers, unedited, right and wrong ones."""
    drawn = random.Random(_SEED).sample(list(asked), min(many, len(asked)))
    page: list[Block] = [Heading(f"{counted(len(drawn), 'answer')}, unedited")]
    for one in drawn:
        name = CATEGORIES.get(one.category, str(one.category))
        page += [
            BLANK,
            line(Piece("? ", "dim"), Piece(one.question, "strong"), Piece(f"  {name}", "dim")),
            field("wanted", one.wanted or "(no answer)"),
            field("answer", one.text or "(abstains)", style="answer" if one.text else "warn"),
            field("from", one.quote or "-"),
            field("tier", f"{one.tier}, {one.confidence:.2f}; F1 {one.f1:.2f}"),
        ]
    return page


def _scores(summary: Summary) -> list[Block]:
    rows = [
        (name, f"{one.questions:,}", *map(_figure, (one.base, one.auroc, one.ece, one.aurc)), *_marked(one))
        for name, one in (("there is an answer", summary.answering), ("all evidence was seen", summary.sufficiency))
        if one is not None
    ]
    return (
        [BLANK, table(_PROBABILITIES, rows, right=_PROBABILITIES[1:], title="Quality of the probabilities")]
        if rows
        else []
    )


def _marked(one: ProbabilityScores) -> tuple[str, str]:
    if one.marked is None:
        return "-", "-"
    return _figure(1 - one.marked.risk), _figure(one.marked.coverage)


def _retrieval(row: GroupScores) -> tuple[str, ...]:
    figures = (row.recall_5, row.recall_10, row.recall_20, row.ndcg_10, row.hit_10, row.all_10)
    return (row.name, f"{row.with_gold:,}", *map(_figure, figures))


def _answers(row: GroupScores) -> tuple[str, ...]:
    answered = row.questions - round(row.questions * (row.abstained or 0.0))
    return (row.name, f"{row.questions:,}", _figure(row.f1), f"{answered:,}", _share(row.abstained))


def _between(interval: ConfidenceInterval | None) -> str:
    if interval is None:
        return "no question with evidence"
    return f"95 % between {interval.low:.3f} and {interval.high:.3f} (bootstrap over conversations)"


def _figure(value: float | None) -> str:
    return "-" if value is None else f"{value:.3f}"


def _share(value: float | None) -> str:
    return "-" if value is None else f"{value:.1%}"


def _ms(seconds: float) -> str:
    return f"{seconds * 1000:.1f} ms"
