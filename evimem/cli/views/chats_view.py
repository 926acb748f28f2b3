"""The figures of a run over labelled chats as tables."""

from __future__ import annotations

from collections.abc import Mapping

from ...bench.chat_scores import ChatScores, ChatSummary, Rate
from ..page import BLANK, Block, line, table

_FOUND = ("", "n", "told", "R@10", "BM25", "cites gold", "quote holds", "ms")
_GIVEN = (
    "",
    "given",
    "right",
    "yes/no",
    "given untold",
    "refused untold",
    "refused told",
    "ECE answer",
    "ECE quote",
)
_NOTES = (
    "told: questions with an answer; cites gold: of these, answers and quotations that cite a gold turn",
    "given: short answers, of the questions with an answer and of those without; right, yes/no: of short answers",
    "ECE: of the confidence in short answers and in quotations; 95 %: bootstrap over conversations",
)


def chats_page(summary: ChatSummary) -> list[Block]:
    """Return the tables of a run: by register with intervals for all, and by kind of question."""
    registers, kinds = [*summary.registers, summary.overall], list(summary.kinds)
    return [
        table(_FOUND, [_found(one) for one in registers], right=_FOUND[1:], title="Evidence, by register"),
        BLANK,
        table(_GIVEN, [_given(one) for one in registers], right=_GIVEN[1:], title="Answers, by register"),
        BLANK,
        table(_FOUND, [_found(one) for one in kinds], right=_FOUND[1:], title="Evidence, by kind of question"),
        BLANK,
        table(_GIVEN, [_given(one) for one in kinds], right=_GIVEN[1:], title="Answers, by kind of question"),
        BLANK,
        *(line(f"{name}: {_interval(rate)}") for name, rate in _rates(summary.overall).items() if rate),
        *(line(note) for note in _NOTES),
    ]


def _rates(one: ChatScores) -> Mapping[str, Rate | None]:
    return {
        "R@10": one.recall,
        "BM25 R@10": one.plain_recall,
        "short answers right": one.right,
        "short answers given, of told": one.given,
        "short answers given, of untold": one.false,
        "cites gold, of told": one.cites_gold,
        "refused, of untold": one.refused,
        "refused, of told": one.wrongly_refused,
    }


def _found(one: ChatScores) -> tuple[str, ...]:
    shares = map(_share, (one.recall, one.plain_recall, one.cites_gold, one.quote_holds))
    return (one.name, f"{one.questions:,}", f"{one.answerable:,}", *shares, f"{one.seconds * 1000:.0f}")


def _given(one: ChatScores) -> tuple[str, ...]:
    rates = (one.given, one.right, one.right_yes_no, one.false, one.refused, one.wrongly_refused)
    return (one.name, *map(_share, rates), *(_plain(one.ece.get(kind)) for kind in ("answer", "quote")))


def _share(rate: Rate | None) -> str:
    return _plain(rate.value if rate else None)


def _plain(value: float | None) -> str:
    return "-" if value is None else f"{value:.3f}"


def _interval(rate: Rate) -> str:
    low, high = rate.interval.low, rate.interval.high
    return f"{rate.value:.3f} (95 % {low:.3f} to {high:.3f}, n = {rate.count:,})"
