"""The state of a memory as a page: what it holds, and whether it is well."""

from __future__ import annotations

from ...types.reports import Health, Stats
from ..page import BLANK, Block, Piece, field, line
from .wording import counted, day, size


def stats_page(stats: Stats) -> list[Block]:
    """Return the counts of a memory."""
    edges = ", ".join(f"{count:,} {kind}" for kind, count in stats.edges.items()) or "none"
    period = "no turns yet"
    if stats.first and stats.last:
        period = f"{day(stats.first)} to {day(stats.last)}"
    return [
        line(Piece(stats.path, "strong"), Piece(f"  {size(stats.bytes)}, schema {stats.schema}", "dim")),
        field("turns", f"{stats.turns:,} in {counted(stats.sessions, 'session')}, {period}"),
        field("speakers", ", ".join(stats.speakers) or "none"),
        field("facts", f"{stats.facts:,}"),
        field("edges", edges),
        field("embedder", f"{stats.embedder}, {stats.dimension} dimensions"),
        BLANK,
    ]


def health_page(path: str, health: Health) -> list[Block]:
    """Return the health of a memory: queued and failed jobs, problems."""
    verdict = Piece("ok", "good") if health.status == "ok" else Piece(health.status, "bad")
    page: list[Block] = [line(Piece(path, "strong"), "  ", verdict), field("turns", f"{health.turns:,}")]
    for kind, count in health.pending.items():
        page.append(field("pending", f"{count:,} {kind}; run `evimem enrich {path}` to process them"))
    for kind, count in health.failed.items():
        page.append(field("failed", f"{count:,} {kind}"))
    page += [field("problem", problem, style="bad") for problem in health.problems]
    return [*page, BLANK]
