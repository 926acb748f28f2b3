"""The figures of a benchmark as tables."""

from __future__ import annotations

from ...bench.summary import Row, Summary
from ..page import BLANK, Block, line, table
from .words import counted

_RETRIEVAL = ("category", "n", "R@5", "R@10", "R@20", "nDCG@10", "Hit@10", "All@10")
_ANSWERS = ("category", "n", "F1", "answered", "abstained")


def summary_page(summary: Summary) -> list[Block]:
    """Return the tables of a run."""
    rows = [*summary.rows, summary.answerable, summary.overall]
    low, high = summary.recall_10_interval.low, summary.recall_10_interval.high
    f1_low, f1_high = summary.f1_interval.low, summary.f1_interval.high
    rate = summary.turns / max(summary.ingest_seconds, 1e-9)
    return [
        table(_RETRIEVAL, [_retrieval(row) for row in rows], right=_RETRIEVAL[1:], title="Retrieval, by turn"),
        line(f"R@10 over all: 95 % between {low:.3f} and {high:.3f} (bootstrap over conversations)"),
        BLANK,
        table(_ANSWERS, [_answers(row) for row in rows], right=_ANSWERS[1:], title="Answers, official F1"),
        line(f"F1 over all: 95 % between {f1_low:.3f} and {f1_high:.3f}; adversarial counts 1 when abstained"),
        line(f"adversarial caught {summary.caught:.1%} at {summary.false_abstentions:.1%} false abstentions elsewhere"),
        BLANK,
        line(f"ingest  {counted(summary.turns, 'turn')}, {counted(summary.facts, 'fact')}, {rate:,.0f} turns/s"),
        line(f"search  p50 {_ms(summary.search_p50)}, p95 {_ms(summary.search_p95)}"),
        line(f"ask     p50 {_ms(summary.ask_p50)}, p95 {_ms(summary.ask_p95)}, {summary.requests:.2f} model requests"),
    ]


def _retrieval(row: Row) -> tuple[str, ...]:
    figures = (row.recall_5, row.recall_10, row.recall_20, row.ndcg_10, row.hit_10, row.all_10)
    return (row.name, f"{row.with_gold:,}", *(f"{figure:.3f}" for figure in figures))


def _answers(row: Row) -> tuple[str, ...]:
    answered = row.questions - round(row.questions * row.abstained)
    return (row.name, f"{row.questions:,}", f"{row.f1:.3f}", f"{answered:,}", f"{row.abstained:.1%}")


def _ms(seconds: float) -> str:
    return f"{seconds * 1000:.1f} ms"
