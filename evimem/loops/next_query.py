"""How the next query is made: a strategy by (temporal, iteration), and a composer that never repeats itself."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from ..judging.evidence import Analysis
from ..types.values import Gap

_STRATEGIES = {
    True: ("dates and words of time", "date formats and what came before or after", "milestones around it"),
    False: ("keywords and names", "a different angle", "synonyms and what is implied"),
}
_ANGLES = {
    True: ("when date", "before after", "last next week month year"),
    False: ("", "about", "like favourite plan"),
}


def strategy(*, temporal: bool, iteration: int) -> str:
    """Return the name of the strategy for an iteration, the last one for all that follow."""
    return _STRATEGIES[temporal][min(iteration, 3) - 1]


def fresh(query: str, earlier: Iterable[str]) -> bool:
    """Whether a query says something and was not asked before, whatever its case and spacing."""
    words = _normal(query)
    return bool(words) and all(words != _normal(other) for other in earlier)


def compose(analysis: Analysis, gaps: Sequence[Gap], earlier: Sequence[str], iteration: int) -> str:
    """Return a query from the worst gap whose query is new, or an empty one when every gap was already tried."""
    for gap in (*gaps, Gap("none", "", "")):
        query = _for_gap(analysis, gap, iteration)
        if fresh(query, earlier):
            return query
    return ""


def _for_gap(analysis: Analysis, gap: Gap, iteration: int) -> str:
    angle = _ANGLES[analysis.temporal][min(iteration, 3) - 1]
    names = " ".join(analysis.entities)
    terms = " ".join(analysis.keywords)
    if gap.kind in {"entity", "attribution"}:
        return _joined(gap.about, terms)
    if gap.kind in {"time", "granularity"}:
        return _joined(names, terms, "when date")
    if gap.kind in {"attribute", "conflict"}:
        return _joined(gap.about or terms, angle)
    return _joined(names, terms, angle)


def _joined(*parts: str) -> str:
    return " ".join(part for part in parts if part)


def _normal(query: str) -> str:
    return " ".join(query.casefold().split())
