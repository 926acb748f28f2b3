"""Which facts get linked, and how much a link is worth: pure rules, the same for every store."""

from __future__ import annotations

from dataclasses import dataclass

from ..types.values import EdgeKind

PER_FACT = 4  # `similar` links a fact makes to what was said before it
NEXT_WEIGHT = 0.5  # what lies beside a turn in its dialogue; EviMem keeps edges from 0.5 on (E5)
UPDATE_WEIGHT = 1.0
PAPER_THRESHOLD = 0.7  # E4, for the embedding of the paper
THRESHOLDS = {"static-minilm-256": 0.7}  # calibrated per embedder: see `evimem bench edges`


def threshold(embedder: str) -> float:
    """Return the cosine from which two facts of an embedder count as similar."""
    return THRESHOLDS.get(embedder, PAPER_THRESHOLD)


@dataclass(frozen=True, slots=True)
class Link:
    """One edge between turns, as an expansion sees it: where it starts, where it leads, what it is worth."""

    source: int
    target: int
    kind: EdgeKind
    weight: float


def ranked(seeds: list[int], links: list[Link], limit: int) -> list[tuple[Link, float]]:
    """Score each target by its seed's rank and the edge's weight; return the best `limit`, each target once.

    A seed at rank r counts 1 / (1 + r / 10), so the order of the seeds matters but a late seed is not lost. Seeds
    are never targets. Ties go to the better seed, then to the earlier turn.
    """
    rank = {seed: index for index, seed in enumerate(seeds)}
    best: dict[int, tuple[Link, float]] = {}
    for link in links:
        if link.target in rank:
            continue
        score = link.weight / (1 + rank[link.source] / 10)
        kept = best.get(link.target)
        if kept is None or (score, -rank[link.source]) > (kept[1], -rank[kept[0].source]):
            best[link.target] = (link, score)
    order = sorted(best.values(), key=lambda item: (-item[1], rank[item[0].source], item[0].target))
    return order[:limit]
