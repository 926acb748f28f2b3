"""Signals of whom the evidence is about, by which a span is refused."""

from __future__ import annotations

from collections.abc import Sequence

from evimem.judging.evidence import Evidence, View
from evimem.offline.matching import Matches, has_name
from evimem.text.terms import stem

_DEEP = 4  # sentences that a gap is averaged over
_TENTH = 9  # the place of the sentence that the best one is compared with
_OF_ONESELF = 1.0  # how far a sentence must be about its speaker to be said of oneself


def told_signals(view: View, matches: Matches) -> dict[str, float]:
    """Return how much better the sentences about the target match than those about others.

    `gap` averages over the best few, `gap_best` compares the best two; both use only what the question itself found
    at first, because later searches look for the target and would bias the comparison. `told_own` and `told_other`
    are the share of the question's words in the best statement about the target, and about another speaker.
    """
    first = _found_first(view)
    weighed = [m for m in matches.ranked if m.unit.turn.id in first] or matches.ranked
    own = [m.score * m.own for m in weighed]
    other = [m.score * m.other for m in weighed]
    told_own, told_other = _shares(matches)
    return {
        "gap": _top(own) - _top(other),
        "gap_best": max(own) - max(other),
        "told_own": told_own,
        "told_other": told_other,
        "margin": _margin([m.score * m.own for m in matches.ranked]),
    }


def _found_first(view: View) -> frozenset[str]:
    """Return the turns of the first search, with the dialogue around them."""
    found = [item.turn.id for item in view.evidence if _is_of_first_search(item)]
    around = (turn.id for turn_id in found for turn in view.context.get(turn_id, ()))
    return frozenset(found).union(around)


def _is_of_first_search(item: Evidence) -> bool:
    """Return whether a turn is of the first iteration, or of the one search that rounds among keywords share out."""
    return item.iteration == 1 or item.path == "keyword"


def _shares(matches: Matches) -> tuple[float, float]:
    """Compare what is said of the target, by itself or by name, and what others say of themselves."""
    target = set(matches.analysis.asked or matches.analysis.entities[:1])
    asked = {stem(word) for word in matches.weights}
    own, other = [0.0], [0.0]
    for m in matches.ranked:
        unit, speaker = m.unit, m.unit.turn.speaker
        of_oneself = unit.about.get(speaker, 0.0) >= _OF_ONESELF
        if unit.asks or unit.caption or not asked:
            continue
        share = len(asked.intersection(map(stem, unit.words))) / len(asked)
        if (of_oneself and speaker in target) or any(has_name(unit.text, name) for name in target):
            own.append(share)
        elif of_oneself:
            other.append(share)
    return max(own), max(other)


def _margin(own: Sequence[float]) -> float:
    """Return how far the best sentence scores above the tenth."""
    ordered = sorted(own, reverse=True)
    return ordered[0] - ordered[min(_TENTH, len(ordered) - 1)]


def _top(values: Sequence[float]) -> float:
    return sum(sorted(values, reverse=True)[:_DEEP]) / _DEEP
