"""The named signals that a probability is read from: coverage, attribution, form of the answer, shape of the scores."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from .match import Match, Matches

_DEEP = 4  # sentences that a gap is averaged over


def features(matches: Matches, *, typed: float) -> dict[str, float]:
    """Return the signals of a view, each roughly between -1 and 1.

    `typed` says how well the best sentences hold an answer of the asked form.
    """
    ranked = matches.ranked
    if not ranked:
        return {}
    own = [m.score * m.own for m in ranked]
    other = [m.score * m.other for m in ranked]
    said = [m for m in ranked if not m.unit.asks]
    best = ranked[0]
    best_own = max(ranked, key=lambda m: m.score * m.own)
    return {
        "gap": _top(own) - _top(other),
        "gap_max": max(own) - max(other),
        "gap_words": _top([m.coverage * m.own for m in ranked]) - _top([m.coverage * m.other for m in ranked]),
        "gap_meaning": _top([m.cosine * m.own for m in ranked]) - _top([m.cosine * m.other for m in ranked]),
        "own_best": max(own),
        "own_words": max(m.coverage * m.own for m in ranked),
        "own_meaning": max(m.cosine * m.own for m in ranked),
        "own_asks": float(best_own.unit.asks),
        "best_own": best.own,
        "covered": _covered(matches, [m for m in ranked if m.own > 0.5]),
        "covered_all": _covered(matches, ranked),
        "missing": _rarest_missing(matches, said),
        "margin": own_margin(own),
        "typed": typed,
    }


def own_margin(own: Sequence[float]) -> float:
    """Return how far the best sentence stands out from the tenth."""
    ordered = sorted(own, reverse=True)
    return ordered[0] - ordered[min(9, len(ordered) - 1)]


def _top(values: Sequence[float]) -> float:
    best = sorted(values, reverse=True)[:_DEEP]
    return sum(best) / _DEEP


def _covered(matches: Matches, found: Sequence[Match]) -> float:
    """Return the share of the question's words, by rarity, that the best five sentences say."""
    said = frozenset[str]().union(*(m.unit.terms for m in found[:5])) if found else frozenset[str]()
    return _share(matches.weights, said)


def _rarest_missing(matches: Matches, found: Sequence[Match]) -> float:
    """Return the weight of the rarest word of the question that no sentence states."""
    said = frozenset[str]().union(*(m.unit.terms for m in found)) if found else frozenset[str]()
    return max([weight for term, weight in matches.weights.items() if term not in said], default=0.0)


def _share(weights: Mapping[str, float], said: frozenset[str]) -> float:
    total = sum(weights.values())
    return sum(weight for term, weight in weights.items() if term in said) / total if total else 0.0
