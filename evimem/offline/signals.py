"""The named signals that probabilities are read from, and the fitted numbers over them.

The numbers are linear models, and maps from a score to a probability. All there is to them can be read in
`fitted.toml`: names and weights, with the data that chose them and the commands that fit them again. A premise is false
where a question names one thing and the evidence has another of its kind in its place: it asks about a brother where a
sister is mentioned.
"""

from __future__ import annotations

import math
import re
import sys
from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from datetime import datetime, timedelta
from itertools import groupby
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from ..judging.evidence import Evidence, View
from ..lang import ENGLISH
from ..text.grounding import contrasted
from ..text.terms import stem
from .matching import Match, Matches, is_assistant, mentions

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

LEAST = 50  # labelled scores; from fewer, a map does not hold for new questions
_MARGIN = 0.005
_RISE = 0.002  # added from knot to knot, so that two scores in order never get one probability

C = TypeVar("C", bound="Constants")
_DEEP = 4  # sentences that a gap is averaged over
_GOOD = 0.75  # share of the best score from which a sentence counts as a candidate
_SHAPE = 10  # turns of the first search whose scores are compared
_SHARP = 8.0  # factor of the exponent: how strongly differences of scores count in `spread`
_TENTH = 9  # the place of the sentence that the best one is compared with
LISTED = re.compile(
    r"\b(?:what|which|whose)\s+(?:(?:are|were|do|does|did|other|some|all|kinds?\s+of|types?\s+of|two|three)\s+)*"
    rf"[a-z-]*[a-rt-z]s\b|\bhow\s+many\b|\bwhat\s+(?:are|were)\b|\b(?:{'|'.join(ENGLISH.words('questions.listed_nouns'))})\b",
    re.IGNORECASE,
)
_TURNS = 3  # best turns that are searched for a contradicting word
_SLACK = timedelta(days=183)  # events are mentioned for half a year after, and planned half a year before
_OF_ONESELF = 1.0  # how far a sentence must be about its speaker to be said of oneself
_SENTENCES = 2  # to each side of the best one, that may have the contradicting word


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
        """Return the log-odds; a signal that is not there counts as zero."""
        return self.bias + sum(weight * signals.get(name, 0.0) for name, weight in self.weights.items())

    def probability(self, signals: Mapping[str, float]) -> float:
        """Return the probability."""
        return 1 / (1 + math.exp(-max(-30.0, min(30.0, self.score(signals)))))

    def probabilities(self, columns: Mapping[str, NDArray[np.float32]]) -> NDArray[np.float32]:
        """Return a probability a row of named columns."""
        total = sum(
            (np.float32(weight) * columns[name] for name, weight in self.weights.items()), np.float32(self.bias)
        )
        return np.asarray(1 / (1 + np.exp(-total)), np.float32)


@dataclass(frozen=True, slots=True)
class Constants:
    """Every number that was fitted to labelled questions.

    `answerable` scores whether the memory answers the question, in log-odds. The score is at most `not_stated` where
    what is asked for is of a kind that is looked up and is not stated. `calibrated` maps the score to a probability.
    `sufficient` gives the probability that the view holds all the evidence.

    `likely` gives the probability that a turn of the view holds the answer. `right` gives the probability that a short
    answer is right, `holds` that a quotation holds the answer; both take the log-odds of the calibrated probability as
    their signal "told", so that they follow a calibration of one's own.

    Below the probability `abstain_below` nothing is given. A short answer is given from the probability `answer_from`
    on, else a quotation. From `exact` on, 19 of 20 views hold all of the evidence; `inferrable` is the lower bound of
    that tier.
    """

    answerable: Linear
    not_stated: float
    calibrated: Monotone
    sufficient: Linear
    likely: Linear
    right: Linear
    holds: Linear
    abstain_below: float
    answer_from: float
    exact: float
    inferrable: float

    @classmethod
    def of(cls: type[C], table: Mapping[str, Any]) -> C:
        """Return the constants of a table as `fitted.toml` has them."""
        return cls(**{field.name: _value(table[field.name]) for field in fields(cls)})

    def score(self, signals: Mapping[str, float]) -> float:
        """Return how far the memory seems to answer the question, as log-odds that are not yet calibrated."""
        score = self.answerable.score(signals)
        return min(score, self.not_stated) if signals.get("stated", 0.0) < 0 else score

    def probability(self, signals: Mapping[str, float]) -> float:
        """Return the probability that the memory answers the question."""
        return self.calibrated(self.score(signals))


def log_odds(probability: float) -> float:
    """Return the log-odds of a probability, clipped to .005 and .995: they must stay finite."""
    clipped = min(max(probability, _MARGIN), 1 - _MARGIN)
    return math.log(clipped / (1 - clipped))


def pooled_map(scores: Sequence[float], labels: Sequence[float], bins: int) -> Monotone:
    """Fit a map to however many scores; a label between 0 and 1 says how probably it holds."""
    ordered = _untied(scores, labels)
    size = len(ordered) / bins
    parts = [ordered[round(n * size) : round((n + 1) * size)] for n in range(bins)]
    middles = [sum(score for score, _ in part) / len(part) for part in parts]
    rates = _pooled([sum(rate for _, rate in part) / len(part) for part in parts])
    raised = [rate + _RISE * n * (1 - rate) for n, rate in enumerate(rates)]
    knots = dict(zip(middles, raised, strict=True))
    return Monotone(tuple((round(score, 3), round(rate, 4)) for score, rate in knots.items()))


def _untied(scores: Sequence[float], labels: Sequence[float]) -> list[tuple[float, float]]:
    """Return scores in order with their labels: equal scores share it, wherever a bin parts them."""
    groups = groupby(sorted(zip(scores, labels, strict=True)), key=lambda pair: pair[0])
    tied = [(score, [label for _, label in pairs]) for score, pairs in groups]
    return [(score, sum(same) / len(same)) for score, same in tied for _ in same]


def _pooled(rates: Sequence[float]) -> list[float]:
    """Return the closest rates that never fall."""
    pools: list[tuple[float, int]] = []
    for rate in rates:
        pools.append((rate, 1))
        while len(pools) > 1 and pools[-2][0] > pools[-1][0]:
            (later, many), (earlier, few) = pools.pop(), pools.pop()
            pools.append(((later * many + earlier * few) / (many + few), many + few))
    return [rate for rate, count in pools for _ in range(count)]


def _value(value: Any) -> Any:
    if isinstance(value, Mapping):
        return Linear(dict(value["weights"]), value["bias"])
    if isinstance(value, list):
        return Monotone(tuple((score, probability) for score, probability in value))
    return value


def _fitted() -> Mapping[str, Any]:
    with (Path(__file__).parent / "fitted.toml").open("rb") as file:
        return tomllib.load(file)


FITTED = _fitted()
SHIPPED = Constants.of(FITTED)


@dataclass(frozen=True, slots=True)
class Altered:
    """A word of the question, and the word of its kind that the evidence has in its place."""

    asked: str
    stated: str


def signals_of(view: View, matches: Matches) -> dict[str, float]:
    """Return the signals of a view that holds a sentence, each roughly between -1 and 1."""
    best = max(matches.ranked, key=lambda m: m.score * m.own)
    return {
        **attribution(view, matches),
        "window": best.window,
        "altered": float(bool(altered(view, matches))),
        "margin": _margin([m.score * m.own for m in matches.ranked]),
        **shape(view),
        **meaning(view),
        **form(matches),
        "sessions": _sessions(matches) / 5,
    }


def attribution(view: View, matches: Matches) -> dict[str, float]:
    """Return how much better the sentences about the target match than those about others.

    `gap` averages over the best few, `gap_best` compares the best two; both use only what the question itself found
    at first, because later searches look for the target and would bias the comparison. `told_own` and `told_other`
    are the share of the question's words in the best statement about the target, and about another speaker;
    `told_against` is how much more the best of another has that does not name the target: "I have a cat, Juno" says
    nothing against Juno. Where nobody is asked about, nothing is against.
    """
    first = _found_first(view)
    weighed = [m for m in matches.ranked if m.unit.turn.id in first] or matches.ranked
    own = [m.score * m.own for m in weighed]
    other = [m.score * m.other for m in weighed]
    told = _shares(matches)
    return {
        "gap": _top(own) - _top(other),
        "gap_best": max(own) - max(other),
        "told_own": told.own,
        "told_other": told.other,
        "told_against": max(0.0, told.foreign - told.own),
    }


def of_another(view: View, matches: Matches, best: Match) -> float:
    """Return how far a sentence is about a participant who is not asked about, 0 to 1.

    Nothing that a user says is about the assistant that hears it.
    """
    asked = matches.analysis.asked
    turns = (*view.around.values(), *(item.turn for item in view.shown))
    heard = {turn.speaker for turn in turns if is_assistant(turn)} - {best.unit.turn.speaker}
    others = [weight for name, weight in best.unit.about.items() if name not in asked and name not in heard]
    return min(best.other, max(others, default=0.0))


def shape(view: View) -> dict[str, float]:
    """Return how the best scores of the first search fall off, and how well its best turn matches by words.

    `spread` is the share of the others that score nearly as high as the best.
    """
    first = [item for item in view.evidence if item.for_question and _is_of_first_search(item)]
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


def meaning(view: View) -> dict[str, float]:
    """Return how near in meaning the nearest turn comes to the question, and the ten nearest on average."""
    found = sorted((item.parts.get("meaning", 0.0) for item in view.evidence if item.for_question), reverse=True)
    first = found[:_SHAPE]
    return {"meaning": sum(first[:1]), "meaning_ten": sum(first) / max(1, len(first))}


def form(matches: Matches) -> dict[str, float]:
    """Return what the form of the question says about how much evidence it needs."""
    analysis = matches.analysis
    return {
        "length": len(matches.weights) / 5,
        "listed": float(LISTED.search(analysis.question) is not None),
        "timed": float(analysis.wants == "time"),
        "guess": float(analysis.wants in {"yes_no", "choice"}),
    }


def missing(matches: Matches, best: Match) -> tuple[str, ...]:
    """Return the words of the question that the best sentence does not have, the rarest first."""
    said = {stem(word) for word in best.unit.words}
    weights: Mapping[str, float] = matches.weights
    return tuple(sorted((word for word in weights if stem(word) not in said), key=lambda word: -weights[word]))


def altered(view: View, matches: Matches) -> tuple[Altered, ...]:
    """Return the words of the question in whose place the best turns about the target have another.

    Such a word does not occur around those turns while the best one has another of its kind, or it occurs nowhere in
    the evidence while one of them has another. A time that the question names counts like a word.
    """
    stating = [m for m in matches.ranked if not m.unit.asks] or list(matches.ranked)
    best: dict[str, Match] = {}
    for m in sorted(stating, key=lambda m: -m.score * m.own):
        best.setdefault(m.unit.turn.id, m)
    turns = list(best)[:_TURNS]
    by_turn = _words_by_turn(matches)
    near = {stem(word) for turn_id in _around(view, turns) for word in by_turn.get(turn_id, ())}
    anywhere = {stem(word) for said in by_turn.values() for word in said}
    found: dict[str, Altered] = {}
    for held, where in ((near, turns[:1]), (anywhere, turns[1:])):
        asked = {stem(word): word for word in matches.weights if stem(word) not in held}
        stated = {stem(word): word for turn_id in where for word in _words_near(matches, best[turn_id])}
        for one, other in contrasted(asked, stated).items():
            found.setdefault(one, Altered(asked[one], stated[other]))
    return (*found.values(), *_other_time(view, turns))


def in_words(found: Altered) -> str:
    """Return why a question with a false premise cannot be answered."""
    return f"the evidence says {found.stated!r}, not {found.asked!r}"


def _found_first(view: View) -> frozenset[str]:
    """Return the turns of the first search, with the dialogue around them."""
    found = [item.turn.id for item in view.evidence if _is_of_first_search(item)]
    around = (turn.id for turn_id in found for turn in view.context.get(turn_id, ()))
    return frozenset(found).union(around)


def _is_of_first_search(item: Evidence) -> bool:
    """Return whether a turn is of the first iteration, or of the one search that rounds among keywords share out."""
    return item.iteration == 1 or item.path == "keyword"


@dataclass(frozen=True, slots=True)
class _Shares:
    """The share of the question's words in the best statement about the target, another speaker, and one without it."""

    own: float
    other: float
    foreign: float


def _shares(matches: Matches) -> _Shares:
    """Compare what people say of themselves, and what is said of the target by name."""
    target = set(matches.analysis.asked or matches.analysis.entities[:1])
    asked = {stem(word) for word in matches.weights}
    own, other, foreign = [0.0], [0.0], [0.0]
    for m in matches.ranked:
        unit, speaker = m.unit, m.unit.turn.speaker
        of_oneself = unit.about.get(speaker, 0.0) >= _OF_ONESELF
        if unit.asks or unit.caption or not asked:
            continue
        share = len(asked.intersection(map(stem, unit.words))) / len(asked)
        if (of_oneself and speaker in target) or any(mentions(unit.text, name) for name in target):
            own.append(share)
        elif of_oneself:
            other.append(share)
            foreign.append(share if target else 0.0)
    return _Shares(max(own), max(other), max(foreign))


def _sessions(matches: Matches) -> int:
    """Return over how many sessions the candidates lie: many where an answer must be put together."""
    best = max(m.score * m.own for m in matches.ranked)
    return len({m.unit.turn.session for m in matches.ranked if m.score * m.own > _GOOD * best})


def _margin(own: Sequence[float]) -> float:
    """Return how far the best sentence scores above the tenth."""
    ordered = sorted(own, reverse=True)
    return ordered[0] - ordered[min(_TENTH, len(ordered) - 1)]


def _top(values: Sequence[float]) -> float:
    return sum(sorted(values, reverse=True)[:_DEEP]) / _DEEP


def _words_near(matches: Matches, best: Match) -> list[str]:
    """Return the words of the best sentence and those around it; a whole long message has some word of every kind."""
    unit = best.unit
    turn = sorted((m.unit for m in matches.ranked if m.unit.turn.id == unit.turn.id), key=lambda one: one.span)
    place = turn.index(unit)
    return [word for one in turn[max(0, place - _SENTENCES) : place + _SENTENCES + 1] for word in one.words]


def _other_time(view: View, turns: Sequence[str]) -> Iterator[Altered]:
    """Yield the time that a question names, where none of these turns was said near it or has an event near it."""
    shown = {item.turn.id: item for item in view.evidence}
    best = [shown[turn_id] for turn_id in turns if turn_id in shown]
    for span in view.analysis.times:
        if best and span.start and span.end and not any(_is_near(span.start, span.end, item) for item in best):
            yield Altered(span.text, f"{best[0].turn.time:%B %Y}")


def _is_near(start: datetime, end: datetime, item: Evidence) -> bool:
    events = ((f.event.start, f.event.end) for f in item.facts if f.event and f.event.start and f.event.end)
    times = ((item.turn.time, item.turn.time), *events)
    # Differences, because a sum may lie beyond the years 1 to 9999.
    return any(since - end <= _SLACK and start - until <= _SLACK for since, until in times)


def _words_by_turn(matches: Matches) -> dict[str, tuple[str, ...]]:
    found: dict[str, tuple[str, ...]] = {}
    for m in matches.ranked:
        found[m.unit.turn.id] = (*found.get(m.unit.turn.id, ()), *m.unit.words)
    return found


def _around(view: View, turns: list[str]) -> set[str]:
    """Return the turns of every dialogue that holds one of these."""
    dialogues = [{turn.id for turn in dialogue} for dialogue in view.context.values()]
    return set(turns).union(*(ids for ids in dialogues if not ids.isdisjoint(turns)))
