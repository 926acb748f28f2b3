"""LongMemEval's own retrieval metrics (Wu et al. 2025), whose definitions differ from the usual ones.

As in its code, a ranking is a list of positions in a list of ids; `gold` holds the relevant ids (L2).
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from math import log2


@dataclass(frozen=True, slots=True)
class Scores:
    """recall_any@k, recall_all@k and ndcg_any@k."""

    any: float
    all: float
    ndcg: float


def scores(ranking: Sequence[int], gold: Collection[str], ids: Sequence[str], k: int) -> Scores:
    """Return the scores of the first k. Without gold they are 0, 1 and 0; leave such a case out of averages.

    DCG = rel_1 + sum of rel_i / log2(i) from i = 2: the older form, in which the first two ranks weigh the same. The
    ideal ranking is taken over all ids, with repetitions.
    """
    first = {ids[place] for place in ranking[:k]}
    wanted = set(gold)
    gains = [float(ids[place] in wanted) for place in ranking[:k]]
    ideal = sorted((float(id_ in wanted) for id_ in ids), reverse=True)[:k]
    best = _dcg(ideal)
    return Scores(
        any=float(bool(wanted & first)),
        all=float(wanted <= first),
        ndcg=_dcg(gains) / best if best else 0.0,
    )


def session_scores(ranking: Sequence[int], gold: Collection[str], ids: Sequence[str], k: int) -> Scores:
    """Return the scores by session of a ranking of turns, with ids of the form <session>_<number>.

    The cut-off grows until k distinct sessions are seen; each turn counts as its session, with repetitions.
    """
    sessions = [_session(id_) for id_ in ids]
    reach = k
    while len({sessions[place] for place in ranking[:reach]}) < k and reach < len(ids):
        reach += 1
    return scores(ranking, {_session(id_) for id_ in gold}, sessions, reach)


def _session(turn_id: str) -> str:
    return turn_id.rpartition("_")[0]


def _dcg(gains: Sequence[float]) -> float:
    return sum(gain / log2(max(rank, 2)) for rank, gain in enumerate(gains, start=1))
