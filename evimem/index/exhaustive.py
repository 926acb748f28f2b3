"""The slow and obvious ranking, one turn at a time: what the fast one is held to."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import numpy as np

from .corpus import Corpus
from .dialogue import NONE
from .filters import overlaps
from .kernel import fade
from .lexicon import Asked, asked_terms
from .question import Question, Ranked
from .scoring import DAY, quantized
from .weights import WEIGHTS, Weights


@dataclass(frozen=True, slots=True)
class Share:
    """A turn that counts in another's score, and how much."""

    position: int
    share: float


def rank_all(question: Question, corpus: Corpus, k: int, weights: Weights = WEIGHTS) -> list[Ranked]:
    """Score every living turn in plain loops; return the k best eligible ones, best first, ties by arrival."""
    living = [position for position in range(len(corpus)) if corpus.alive[position]]
    asked = asked_terms(question, corpus)
    counts = {term.name: _counts(corpus, term.name) for term in asked.terms}
    near = {position: list(shares(corpus, position, weights)) for position in living}
    content = {
        position: _lexical(asked, counts, corpus, near[position], weights)
        | {"meaning": weights.meaning * _cosine(question, corpus, near[position])}
        for position in living
    }
    best: dict[int, float] = {}
    for position in living:
        name = int(corpus.session[position])
        best[name] = max(best.get(name, -math.inf), _sum(content[position]))
    found = []
    for position in living:
        if not is_eligible(question, corpus, position):
            continue
        session = weights.session * best[int(corpus.session[position])]
        parts = content[position] | {"session": session} | _priors(question, corpus, position, weights)
        others = tuple(share.position for share in near[position][1:])
        found.append(Ranked(position, _sum(parts), {name: part for name, part in parts.items() if part}, others))
    return sorted(found, key=lambda ranked: (-ranked.score, ranked.position))[:k]


def is_eligible(question: Question, corpus: Corpus, position: int) -> bool:
    """Return whether the hard filters let a turn through."""
    said = int(corpus.time[position])
    happens = corpus.events(position) or ((said, said + 1),)
    return (
        position not in question.exclude
        and question.speaker in (None, int(corpus.speaker[position]))
        and question.session in (None, int(corpus.session[position]))
        and any(overlaps(interval, question) for interval in happens)
    )


def shares(corpus: Corpus, position: int, weights: Weights) -> Iterator[Share]:
    """Return the turn itself, then who counts before it, then who counts after it, nearest first."""
    yield Share(position, 1.0)
    for links, backward in ((corpus.dialogue.before, True), (corpus.dialogue.after, False)):
        here, distance, changes = position, 0.0, 0
        for _ in range(weights.steps):
            there = int(links[here])
            if there == NONE:
                break
            change = int(corpus.speaker[there] != corpus.speaker[here])
            changes += change
            distance += change or weights.burst
            if distance > weights.reach:
                break
            share = fade(distance, weights)
            if backward and changes == 1 and corpus.hands_over[there]:
                share *= 1 + weights.flow / weights.spread
            yield Share(there, share)
            here = there


def _counts(corpus: Corpus, term: str) -> dict[int, int]:
    posting = corpus.posting(term)
    return dict(zip(posting.positions.tolist(), posting.counts.tolist(), strict=True))


def _lexical(
    asked: Asked, counts: dict[str, dict[int, int]], corpus: Corpus, near: list[Share], weights: Weights
) -> dict[str, float]:
    length = _sum_of(share.share * int(corpus.length[share.position]) for share in near)
    average = (corpus.words / corpus.turns if corpus.words else 1.0) * _sum_of(share.share for share in near)
    room = weights.k1 * (1 - weights.b + weights.b * length / average)
    sums = {"words": 0.0, "related": 0.0}
    for term in asked.terms:
        frequency = _sum_of(share.share * counts[term.name].get(share.position, 0) for share in near)
        sums[term.part] += term.weight * (frequency * (weights.k1 + 1) / (frequency + room))
    scale = weights.words / (asked.total * (weights.k1 + 1)) if asked.total else 0.0
    return {name: scale * part for name, part in sums.items()}


def _cosine(question: Question, corpus: Corpus, near: list[Share]) -> float:
    asked = quantized(question, corpus.dimension)
    if asked is None:
        return 0.0
    along = 0.0
    smooth = np.zeros(corpus.dimension, np.float32)
    for share in near:
        row = corpus.vectors[share.position].astype(np.float32)
        scale = float(corpus.scale[share.position])
        along += share.share * (float(row @ asked) * scale)
        smooth += np.float32(share.share * scale) * row
    norm = math.sqrt(float(np.square(smooth).sum(dtype=np.float64))) * math.sqrt(float(np.square(asked).sum()))
    return along / norm if norm > 0 else 0.0


def _priors(question: Question, corpus: Corpus, position: int, weights: Weights) -> dict[str, float]:
    parts = {"asks": -weights.asks * float(corpus.asks[position])}
    if len(question.names) == 1:
        parts["speaker"] = weights.speaker * (int(corpus.speaker[position]) in question.names)
    if question.times:
        parts["date"] = weights.date * _closeness(question, corpus, position, weights)
    if question.when:
        parts["when"] = weights.when * bool(corpus.temporal[position])
    return parts


def _closeness(question: Question, corpus: Corpus, position: int, weights: Weights) -> float:
    said = int(corpus.time[position])
    intervals = [(said, said + 1)]
    if happens := corpus.events(position):
        intervals.append((min(start for start, _ in happens), max(end for _, end in happens)))
    gaps = (max(first - end, start - last, 0) for start, end in intervals for first, last in question.times)
    return max(1 / (1 + (gap / DAY / weights.days) ** 2) for gap in gaps)


def _sum(parts: dict[str, float]) -> float:
    return _sum_of(parts.values())


def _sum_of(values: Iterable[float]) -> float:
    """Add from the left; the built-in sum compensates for rounding from Python 3.12 on."""
    total = 0.0
    for value in values:
        total += value
    return total
