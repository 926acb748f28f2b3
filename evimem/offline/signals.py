"""Measure named signals of a view, and read probabilities from them by fitted models.

The models are linear, with maps from a score to a probability. `fitted.toml` holds their weights, the data that chose
them and the commands that fit them again.
"""

from __future__ import annotations

import math
import re
import sys
from bisect import bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from itertools import groupby
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from ..judging.evidence import View
from ..lang import ENGLISH
from ..text.terms import words
from .matching import Match, Matches, is_assistant

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

MIN_LABELLED_SCORES = 50  # a map of fewer does not hold for new questions
_MIN_PROBABILITY = 0.005
_KNOT_RISE = 0.002  # added from knot to knot: a higher score never gets the same probability

C = TypeVar("C", bound="Constants")
_CANDIDATE_SCORE_SHARE = 0.75  # of the best score, from which a sentence is a candidate
_COMPARED_TURNS = 10  # best turns of the first search
_SPREAD_EXPONENT = 8.0  # how strongly differences of scores count in `spread`
LIST_QUESTION = re.compile(
    r"\b(?:what|which|whose)\s+(?:(?:are|were|do|does|did|other|some|all|kinds?\s+of|types?\s+of|two|three)\s+)*"
    rf"[a-z-]*[a-rt-z]s\b|\bhow\s+many\b|\bwhat\s+(?:are|were)\b|\b(?:{'|'.join(ENGLISH.words('questions.listed_nouns'))})\b",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Monotone:
    """A monotone map by straight lines between knots (score, probability), both rising.

    A score beyond the first or last knot gets the probability of that knot.
    """

    knots: tuple[tuple[float, float], ...]

    def __call__(self, score: float) -> float:
        """Return the probability of a score."""
        place = bisect_right([knot for knot, _ in self.knots], score)
        if place == 0:
            return self.knots[0][1]
        if place == len(self.knots):
            return self.knots[-1][1]
        (left, low), (right, high) = self.knots[place - 1 : place + 1]
        return low + (high - low) * (score - left) / (right - left)


@dataclass(frozen=True, slots=True)
class Linear:
    """A logistic model: named weights and a bias."""

    weights: Mapping[str, float]
    bias: float

    def score(self, signals: Mapping[str, float]) -> float:
        """Return the log-odds; a missing signal counts as zero."""
        return self.bias + sum(weight * signals.get(name, 0.0) for name, weight in self.weights.items())

    def probability(self, signals: Mapping[str, float]) -> float:
        """Return the probability."""
        return 1 / (1 + math.exp(-max(-30.0, min(30.0, self.score(signals)))))

    def probabilities(self, columns: Mapping[str, NDArray[np.float32]]) -> NDArray[np.float32]:
        """Return a float32 probability for each row of named columns."""
        total = sum(
            (np.float32(weight) * columns[name] for name, weight in self.weights.items()), np.float32(self.bias)
        )
        return np.asarray(1 / (1 + np.exp(-total)), np.float32)


@dataclass(frozen=True, slots=True)
class Constants:
    """Every number that was fitted to labelled questions.

    `answerable` scores whether anything near the question was told, in log-odds; `calibrated` maps the score to a
    probability. `sufficient` gives the probability that the view holds all the evidence.

    `likely` gives the probability that a turn of the view holds the answer, `holds` that of a quotation to hold it: it
    takes the log-odds of the calibrated probability as its signal "told", so that it follows a calibration of your own.

    Below the probability `abstain_below` nothing is given. From `exact` on, 19 of 20 views hold all of the evidence;
    `inferrable` is the lower bound of that tier.
    """

    answerable: Linear
    calibrated: Monotone
    sufficient: Linear
    likely: Linear
    holds: Linear
    abstain_below: float
    exact: float
    inferrable: float

    @classmethod
    def of(cls: type[C], table: Mapping[str, Any]) -> C:
        """Return the constants of a table as `fitted.toml` has them."""
        return cls(**{field.name: _read_value(table[field.name]) for field in fields(cls)})

    def score(self, signals: Mapping[str, float]) -> float:
        """Return the log-odds, not yet calibrated, that the memory answers the question."""
        return self.answerable.score(signals)

    def probability(self, signals: Mapping[str, float]) -> float:
        """Return the probability that the memory answers the question."""
        return self.calibrated(self.score(signals))


def log_odds(probability: float) -> float:
    """Return the log-odds of a probability, clipped to .005 and .995: they must stay finite."""
    clipped = min(max(probability, _MIN_PROBABILITY), 1 - _MIN_PROBABILITY)
    return math.log(clipped / (1 - clipped))


def pooled_map(scores: Sequence[float], labels: Sequence[float], bins: int) -> Monotone:
    """Fit a monotone map of scores to labels; a label between 0 and 1 is the probability that it holds."""
    ordered = _average_ties(scores, labels)
    size = len(ordered) / bins
    parts = [ordered[round(n * size) : round((n + 1) * size)] for n in range(bins)]
    middles = [sum(score for score, _ in part) / len(part) for part in parts]
    rates = _pool_rates([sum(rate for _, rate in part) / len(part) for part in parts])
    raised = [rate + _KNOT_RISE * n * (1 - rate) for n, rate in enumerate(rates)]
    knots = dict(zip(middles, raised, strict=True))
    return Monotone(tuple((round(score, 3), round(rate, 4)) for score, rate in knots.items()))


def _average_ties(scores: Sequence[float], labels: Sequence[float]) -> list[tuple[float, float]]:
    """Return scores in order with their labels; equal scores share the mean of theirs, as a bin may part them."""
    groups = groupby(sorted(zip(scores, labels, strict=True)), key=lambda pair: pair[0])
    tied = [(score, [label for _, label in pairs]) for score, pairs in groups]
    return [(score, sum(same) / len(same)) for score, same in tied for _ in same]


def _pool_rates(rates: Sequence[float]) -> list[float]:
    """Return the closest rates that never fall (pool adjacent violators)."""
    pools: list[tuple[float, int]] = []
    for rate in rates:
        pools.append((rate, 1))
        while len(pools) > 1 and pools[-2][0] > pools[-1][0]:
            (later, many), (earlier, few) = pools.pop(), pools.pop()
            pools.append(((later * many + earlier * few) / (many + few), many + few))
    return [rate for rate, count in pools for _ in range(count)]


def _read_value(value: Any) -> Any:
    if isinstance(value, Mapping):
        return Linear(dict(value["weights"]), value["bias"])
    if isinstance(value, list):
        return Monotone(tuple((score, probability) for score, probability in value))
    return value


def _load_fitted() -> Mapping[str, Any]:
    with (Path(__file__).parent / "fitted.toml").open("rb") as file:
        return tomllib.load(file)


FITTED = _load_fitted()
SHIPPED = Constants.of(FITTED)


def signals_of(view: View, matches: Matches) -> dict[str, float]:
    """Return the signals of a view that holds a sentence, each roughly between -1 and 1.

    `fall` is how the best scores of the question's search fall off, `spread` the share of the others that score nearly
    as high as the best, `words` how well the best turn matches by words, `meaning_ten` how near in meaning the ten
    nearest turns come on average. `window` is how far the best sentence has the question's words with the dialogue
    around it; `sessions` is a fifth of the number of sessions with good sentences.
    `length`, `listed`, `timed` and `guess` describe the form of the question. `absent` is the share of its words, by
    weight, that no sentence has, where there are several such or one of a name: another may be told in other words.
    """
    analysis = matches.analysis
    total = sum(matches.weights.values()) or 1.0
    absent = matches.absent
    counts = len(absent) > 1 or any(word in words(name) for name in analysis.entities for word in absent)
    own = [m.score * m.own for m in matches.ranked]
    best = max(own)
    good = [m for m in matches.ranked if m.score * m.own > _CANDIDATE_SCORE_SHARE * best]
    found = [item for item in view.evidence if item.for_question]
    near = sorted((item.parts.get("meaning", 0.0) for item in found), reverse=True)[:_COMPARED_TURNS]
    # Of the first iteration, or of the one search that rounds among keywords share out.
    first = sorted((i for i in found if i.iteration == 1 or i.path == "keyword"), key=lambda item: -item.score)
    scores = [item.score for item in first[:_COMPARED_TURNS]] or [0.0]
    return {
        "fall": scores[0] - scores[-1],
        "spread": (sum(math.exp(_SPREAD_EXPONENT * (score - scores[0])) for score in scores) - 1) / _COMPARED_TURNS,
        "words": first[0].parts.get("words", 0.0) if first else 0.0,
        "meaning_ten": sum(near) / max(1, len(near)),
        "window": matches.ranked[own.index(best)].window,
        "sessions": len({m.unit.turn.session for m in good}) / 5,
        "length": len(matches.weights) / 5,
        "listed": float(LIST_QUESTION.search(analysis.question) is not None),
        "timed": float(analysis.wants == "time"),
        "guess": float(analysis.wants in {"yes_no", "choice"}),
        "absent": counts * sum(matches.weights[word] for word in absent) / total,
    }


def rate_other_owner(view: View, matches: Matches, best: Match) -> float:
    """Return the weight (0 to 1) by which a sentence is about a participant other than the target.

    A user's sentence is never about the assistant that hears it.
    """
    asked = matches.analysis.asked
    turns = (*view.turns_around.values(), *(item.turn for item in view.shown))
    heard = {turn.speaker for turn in turns if is_assistant(turn)} - {best.unit.turn.speaker}
    others = [weight for name, weight in best.unit.about.items() if name not in asked and name not in heard]
    return min(best.other, max(others, default=0.0))
