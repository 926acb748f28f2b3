"""The result of adding turns to a memory, as a page."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from ...types.reports import AddReport
from ..exit_codes import Exit
from ..page import Block, Piece, field, line
from ..screen import Screen
from .wording import counted

_NAMED = 10  # refused items that are shown with their reason; the rest are counted


def added_page(path: str, report: AddReport, refused: Sequence[str], seconds: float) -> list[Block]:
    """Return the counts and the first refused items: those of the file, then turns."""
    total = report.added + report.existing + report.replaced
    rate = f", {total / seconds:,.0f}/s" if seconds >= 0.01 else ""
    already = f", {report.replaced:,} replaced" if report.replaced else ""
    already += f", {report.erased:,} of abandoned branches erased" if report.erased else ""
    already += f", {report.existing:,} were there already" if report.existing else ""
    page: list[Block] = [
        line(Piece(path, "strong")),
        line(
            f"{counted(report.added, 'turn')} added{already}, {counted(report.facts, 'fact')}",
            Piece(f"  {seconds:.1f} s{rate}", "dim"),
            indent=2,
        ),
    ]
    queued = Counter(kind for one in report.statuses for kind in one.pending)
    page += [
        field("pending", f"{counted(n, 'turn')}: {kind}; run `evimem enrich {path}` to process them")
        for kind, n in queued.items()
    ]
    if report.dropped:
        page.append(field("dropped", f"{counted(report.dropped, 'turn')}: nothing but a block that evimem wrote"))
    reasons = [*refused, *_refused_turns(report)]
    page += [field("refused", reason, style="warn") for reason in reasons[:_NAMED]]
    if len(reasons) > _NAMED:
        page.append(line(Piece(f"and {len(reasons) - _NAMED:,} more refused", "warn"), indent=2))
    return page


def code_of_refused(report: AddReport, refused: Sequence[str], screen: Screen) -> Exit:
    """Return the exit code of a command that added turns; where some were refused, note how many and the first why."""
    reasons = [*refused, *_refused_turns(report)]
    if not reasons:
        return Exit.OK
    done = f"{counted(report.added, 'turn')} added, {report.existing:,} there already"
    screen.note(f"evimem: {len(reasons):,} refused ({done}); the first: {reasons[0]}")
    return Exit.INPUT


def _refused_turns(report: AddReport) -> list[str]:
    return [f"turn {one.id!r}: {one.reason}" for one in report.statuses if one.outcome == "refused"]
