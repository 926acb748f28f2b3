"""The order of a search's hits by a reranker: the first so many of them, the rest behind in their own order."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from ..flow import Flow, Rerank
from ..types.values import Hit

PART = "rerank"  # of `Hit.parts`


def rerank_hits(query: str, hits: Sequence[Hit], depth: int) -> Flow[tuple[Hit, ...]]:
    """Return hits with the first `depth` in the order of the reranker, ties in their own order; with 0, as they are.

    The scores of these hits are dealt out again in the new order, so that the best hit has the highest one and scores
    stay comparable with those of the rest. `parts` tells how far the reranker moved each.
    """
    first = hits[:depth]
    if len(first) < 2:
        return tuple(hits)
    scores: Sequence[float] | None = yield Rerank(query, tuple(map(passage_text, first)))
    if scores is None:
        return tuple(hits)
    order = sorted(range(len(first)), key=lambda place: -scores[place])
    dealt = sorted((hit.score for hit in first), reverse=True)
    moved = (_with_score(first[place], score) for place, score in zip(order, dealt, strict=True))
    return (*moved, *hits[depth:])


def passage_text(hit: Hit) -> str:
    """Return the words of a hit that a reranker reads: who says the passage that was found, and its caption."""
    turn = hit.turn
    said = turn.text[slice(*hit.span)] if hit.span else turn.text
    return f"{turn.speaker}: {said} {turn.caption or ''}".rstrip()


def _with_score(hit: Hit, score: float) -> Hit:
    return replace(hit, score=score, parts={**hit.parts, PART: score - hit.score})
