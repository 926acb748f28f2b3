"""The figures of a benchmark as tables."""

from __future__ import annotations

from ...bench.interval import Interval
from ...bench.summary import Row, Summary
from ..page import BLANK, Block, line, table
from .words import counted

_RETRIEVAL = ("category", "n", "R@5", "R@10", "R@20", "nDCG@10", "Hit@10", "All@10")
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
        BLANK,
        line(f"ingest  {counted(summary.turns, 'turn')}, {counted(summary.facts, 'fact')}, {rate:,.0f} turns/s"),
        line(f"search  p50 {_ms(summary.search_p50)}, p95 {_ms(summary.search_p95)}"),
        line(f"ask     {asked}, {summary.requests or 0:.2f} model requests a question"),
    ]


def _retrieval(row: Row) -> tuple[str, ...]:
    figures = (row.recall_5, row.recall_10, row.recall_20, row.ndcg_10, row.hit_10, row.all_10)
    return (row.name, f"{row.with_gold:,}", *map(_figure, figures))


def _answers(row: Row) -> tuple[str, ...]:
    answered = row.questions - round(row.questions * (row.abstained or 0.0))
    return (row.name, f"{row.questions:,}", _figure(row.f1), f"{answered:,}", _share(row.abstained))


def _between(interval: Interval | None) -> str:
    if interval is None:
        return "no question with evidence"
    return f"95 % between {interval.low:.3f} and {interval.high:.3f} (bootstrap over conversations)"


def _figure(value: float | None) -> str:
    return "-" if value is None else f"{value:.3f}"


def _share(value: float | None) -> str:
    return "-" if value is None else f"{value:.1%}"


def _ms(seconds: float) -> str:
    return f"{seconds * 1000:.1f} ms"
