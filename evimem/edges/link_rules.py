"""Which facts are linked, and how much an edge weighs: pure functions and constants, the same for every store."""

from __future__ import annotations

from dataclasses import dataclass

from ..types.values import EdgeKind

PER_FACT = 4  # most `similar` edges from a fact to earlier ones; later facts may add theirs to it
# A fact is compared with so many before and after it, by arrival, and with so many each way in each of its cells among
# the others (`alike_cells`): up to `WINDOW` facts with all, and beyond it at a cost that does not grow with the memory.
WINDOW = 8_192
IN_A_CELL = 64
NEXT_WEIGHT = 0.5  # of the turns before and after one in its dialogue; EviMem keeps edges from 0.5 on (E5)
UPDATE_WEIGHT = 1.0
PAPER_THRESHOLD = 0.7  # E4, for the embedding of the paper
THRESHOLDS = {"static-minilm-256": 0.7}  # calibrated per embedder (`python -m benchmarks.links`)


def threshold(embedder: str) -> float:
    """Return the least cosine of a `similar` edge, in [-1, 1], for an embedder of this name."""
    return THRESHOLDS.get(embedder, PAPER_THRESHOLD)


@dataclass(frozen=True, slots=True)
class Link:
    """One edge between two turns, by sequence number, in the direction of an expansion; `weight` is in (0, 1]."""

    source: int
    target: int
    kind: EdgeKind
    weight: float


def ranked(seeds: list[int], links: list[Link], limit: int) -> list[tuple[Link, float]]:
    """Score each target by its seed's rank and the edge's weight; return the best `limit`, each target once.

    The score is weight / (1 + r / 10) for a seed at rank r from 0: half at rank 10, so that the order of the seeds
    matters but a late seed is not lost. Seeds are never targets. Ties go to the better seed, then to the earlier turn.
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
