"""The named signals that probabilities are read from: attribution, coverage, and how the scores fall off."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence

from ..judging.evidence import View
from ..text.terms import STOP_WORDS, stem, words
from .false_premise import altered
from .match_sentences import Match, Matches

_DEEP = 4  # sentences that a gap is averaged over
_GOOD = 0.75  # of the best score: sentences that count as candidates
_SHAPE = 10  # turns of the first search whose scores are compared
_SHARP = 8.0  # how strongly the spread of the scores tells their ranks apart
LISTED = re.compile(
    r"\b(?:what|which|whose)\s+(?:(?:are|were|do|does|did|other|some|all|kinds?\s+of|types?\s+of|two|three)\s+)*"
    r"[a-z-]*[a-rt-z]s\b|\bhow\s+many\b|\bwhat\s+(?:are|were)\b|\b(?:activities|hobbies|things|ways|events|both)\b",
    re.IGNORECASE,
)


def features(view: View, matches: Matches) -> dict[str, float]:
    """Return the signals of a view that holds a sentence, each roughly between -1 and 1."""
    best = max(matches.ranked, key=lambda m: m.score * m.own)
    return {
        **attribution(view, matches),
        "window": best.window,
        "altered": float(bool(altered(view, matches))),
        "margin": _margin([m.score * m.own for m in matches.ranked]),
        **shape(view),
        **form(matches),
        "sessions": _sessions(matches) / 5,
    }


def attribution(view: View, matches: Matches) -> dict[str, float]:
    """Return how much better the sentences about the target match than those about others.

    `gap` averages over the best few, `gap_best` compares the best two; both weigh only what the question itself
    found at first, for later searches look for the target and would tip the scale. `facts_own` and `facts_other` are
    the share of the question's words in the best fact about the target, and about another speaker.
    """
    first = _found_first(view)
    weighed = [m for m in matches.ranked if m.unit.turn.id in first] or matches.ranked
    own = [m.score * m.own for m in weighed]
    other = [m.score * m.other for m in weighed]
    facts = _facts(view, matches)
    return {
        "gap": _top(own) - _top(other),
        "gap_best": max(own) - max(other),
        "facts_own": facts[0],
        "facts_other": facts[1],
    }


def shape(view: View) -> dict[str, float]:
    """Return how the best scores of the first search fall off, and how well its best turn matches by words.

    `spread` is the share of the others that are nearly as good as the best.
    """
    first = [item for item in view.evidence if item.path == "anchor" and item.iteration == 1]
    first.sort(key=lambda item: -item.score)
    if not first:
        return {"fall": 0.0, "spread": 0.0, "words": 0.0}
    scores = [item.score for item in first[:_SHAPE]]
    weights = [math.exp(_SHARP * (score - scores[0])) for score in scores]
    return {
        "fall": scores[0] - scores[-1],
        "spread": (sum(weights) - 1) / _SHAPE,
        "words": first[0].parts.get("words", 0.0),
    }


def form(matches: Matches) -> dict[str, float]:
    """Return what the question's own form says about how much evidence it needs."""
    analysis = matches.analysis
    return {
        "length": len(matches.weights) / 5,
        "listed": float(LISTED.search(analysis.question) is not None),
        "timed": float(analysis.wants == "time"),
        "guess": float(analysis.wants in {"yes_no", "choice"}),
    }


def _found_first(view: View) -> frozenset[str]:
    """Return the turns of the first iteration, with the dialogue around them."""
    found = [item.turn.id for item in view.evidence if item.iteration == 1]
    around = (turn.id for turn_id in found for turn in view.context.get(turn_id, ()))
    return frozenset(found).union(around)


def _facts(view: View, matches: Matches) -> tuple[float, float]:
    target = {name.casefold() for name in matches.analysis.asked or matches.analysis.entities[:1]}
    speakers = {name.casefold() for name in view.speakers}
    asked = {stem(word) for word in matches.weights}
    own = other = 0.0
    for item in view.evidence:
        for fact in item.facts:
            subject = fact.subject.casefold()
            about = any(subject.startswith(name) for name in target)
            if not asked or not (about or subject in speakers):
                continue
            stems = {stem(word) for word in words(f"{fact.predicate} {fact.object}") if word not in STOP_WORDS}
            share = len(stems & asked) / len(asked)
            own, other = (max(own, share), other) if about else (own, max(other, share))
    return own, other


def _sessions(matches: Matches) -> int:
    """Return over how many sessions the good candidates lie: many for an answer that must be put together."""
    best = max(m.score * m.own for m in matches.ranked)
    return len({m.unit.turn.session for m in matches.ranked if m.score * m.own > _GOOD * best})


def _margin(own: Sequence[float]) -> float:
    """Return how far the best sentence stands out from the tenth."""
    ordered = sorted(own, reverse=True)
    return ordered[0] - ordered[min(9, len(ordered) - 1)]


def _top(values: Sequence[float]) -> float:
    return sum(sorted(values, reverse=True)[:_DEEP]) / _DEEP


def missing(matches: Matches, best: Match) -> tuple[str, ...]:
    """Return the words of the question that the best sentence does not say, the rarest first."""
    said = {stem(word) for word in best.unit.words}
    weights: Mapping[str, float] = matches.weights
    return tuple(sorted((word for word in weights if stem(word) not in said), key=lambda word: -weights[word]))
