"""Retrieval metrics of a ranking of distinct turns, with binary relevance."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from math import log2


def recall(ranked: Sequence[str], gold: Collection[str], k: int) -> float:
    """Return recall@k = |gold in the first k| / |gold|."""
    return len(set(gold).intersection(ranked[:k])) / len(set(gold))


def hit(ranked: Sequence[str], gold: Collection[str], k: int) -> float:
    """Return hit@k: 1 when any gold turn is among the first k, else 0."""
    return float(not set(gold).isdisjoint(ranked[:k]))


def found_all(ranked: Sequence[str], gold: Collection[str], k: int) -> float:
    """Return all@k: 1 when every gold turn is among the first k, else 0."""
    return float(set(gold).issubset(ranked[:k]))


def ndcg(ranked: Sequence[str], gold: Collection[str], k: int) -> float:
    """Return nDCG@k = sum of 1 / log2(rank + 1) over the gold ranks up to k, over the same sum of an ideal ranking.

    The ideal ranking begins with min(|gold|, k) gold turns (Jarvelin and Kekalainen 2002, binary relevance).
    """
    gain = sum(1 / log2(rank + 1) for rank, turn_id in enumerate(ranked[:k], start=1) if turn_id in gold)
    return gain / sum(1 / log2(rank + 1) for rank in range(1, min(len(set(gold)), k) + 1))


def first_two_ndcg(ranked: Sequence[str], gold: Collection[str], k: int) -> float:
    """Return nDCG@k in the older form, in which the first two ranks weigh the same: rel_1 + sum of rel_i / log2(i).

    It is LongMemEval's, and of Jarvelin and Kekalainen (2002) with base 2.
    """
    gain = sum(1 / log2(max(rank, 2)) for rank, turn_id in enumerate(ranked[:k], start=1) if turn_id in gold)
    return gain / sum(1 / log2(max(rank, 2)) for rank in range(1, min(len(set(gold)), k) + 1))
