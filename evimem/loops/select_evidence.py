"""Which evidence a judge sees: what the latest iteration found first, within a token budget, with shares (E6)."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence

from ..embedding import count_tokens
from ..judging.evidence import Evidence
from ..judging.shown_passages import most_shown

EDGE_SHARE = 0.15  # of the token budget, for turns that edges brought, where they are unranked
RAW_SHARE = 0.15  # for turns without facts
EARLIER_SHARE = 0.35  # for the best turns of earlier iterations
FRAME_TOKENS = 16  # of the label, date and speaker around a turn


def tokens(evidence: Evidence) -> int:
    """Return how many tokens a turn takes in a view: its words, or the passages of a long one, and the frame."""
    turn, most = evidence.turn, most_shown(evidence.turn)
    return FRAME_TOKENS + count_tokens(" ".join((turn.speaker, turn.text[:most], (turn.caption or "")[:most])))


def select(
    evidence: Sequence[Evidence],
    budget: int,
    *,
    iteration: int,
    witnesses: Collection[str] = (),
    cost: Callable[[Evidence], int] = tokens,
    edge_share: float = 0.0,
) -> tuple[Evidence, ...]:
    """Return what fits: what is new in this iteration, then the witnesses, then the rest, each best first.

    Reserved shares keep turns without facts and the best earlier turns from being crowded out; what a share leaves
    unused goes to the others. What edges brought has its rank among the others: where there is little room, a share of
    its own costs gold (benchmarks/RESEARCH.md, "With a model"). `budget` and `cost` are in tokens.
    """
    costs = {item.turn.id: cost(item) for item in evidence}
    ordered = _newest_first(evidence, iteration, frozenset(witnesses))
    shares: tuple[tuple[float, Iterable[Evidence]], ...] = (
        (edge_share, (item for item in ordered if item.path.startswith("edge:"))),
        (RAW_SHARE, (item for item in ordered if not item.facts)),
        (EARLIER_SHARE, (item for item in ordered if item.iteration < iteration)),
    )
    taken: set[str] = set()
    for share, items in shares:
        _take(items, int(budget * share), costs, taken)
    _take(ordered, budget - sum(costs[turn_id] for turn_id in taken), costs, taken)
    return tuple(item for item in ordered if item.turn.id in taken)


def _newest_first(evidence: Sequence[Evidence], iteration: int, witnesses: frozenset[str]) -> list[Evidence]:
    def group(item: Evidence) -> int:
        if item.iteration == iteration:
            return 0
        return 1 if item.turn.id in witnesses else 2

    return sorted(evidence, key=group)


def _take(items: Iterable[Evidence], budget: int, costs: Mapping[str, int], taken: set[str]) -> None:
    """Take what fits into a budget of its own, in order."""
    left = budget
    for item in items:
        cost = costs[item.turn.id]
        if item.turn.id not in taken and cost <= left:
            taken.add(item.turn.id)
            left -= cost
