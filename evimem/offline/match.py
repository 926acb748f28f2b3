"""How well each sentence of the evidence matches a question, and how far it is about the one who is asked about."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import pairwise

import numpy as np

from ..embedding import StaticEmbedder
from ..evidence import Analysis, View
from ..protocols import Vectors
from ..types import Turn
from .rarity import rarity
from .units import Unit, addressee, units

TURN_SHARE = 0.5
HEARD_SHARE = 0.5
NEAR_SHARE = 0.25
_EMBEDDER = StaticEmbedder()


@dataclass(frozen=True, slots=True)
class Match:
    """One sentence against the question: word coverage, cosine, both again with its surroundings, and ownership."""

    unit: Unit
    shown: bool
    rank: int
    coverage: float
    cosine: float
    score: float
    own: float
    other: float


@dataclass(frozen=True, slots=True)
class Matches:
    """All sentences of a view, best first, and what they were matched against."""

    analysis: Analysis
    target: str | None
    weights: Mapping[str, float]
    ranked: tuple[Match, ...]


def match(view: View) -> Matches:
    """Score every sentence of the shown evidence and of the dialogue around it."""
    analysis = view.analysis
    target = target_of(analysis)
    weights = {term: 0.15 + rarity(term) for term in analysis.terms}
    found = _all_units(view)
    ranks = {item.turn.id: rank for rank, item in enumerate(view.shown)}
    lexical = np.array([_coverage(unit, weights) for unit in found], np.float32)
    lexical = np.maximum(lexical, 0)
    dense = _cosines(analysis, found)
    around = _surroundings(view, found, lexical, dense, weights)
    score = lexical + dense + around
    matches = [
        Match(
            unit,
            unit.turn.id in ranks,
            ranks.get(unit.turn.id, len(ranks)),
            float(lexical[index]),
            float(dense[index]),
            float(score[index]),
            *ownership(unit, analysis, target),
        )
        for index, unit in enumerate(found)
    ]
    return Matches(analysis, target, weights, tuple(sorted(matches, key=lambda item: -item.score)))


def target_of(analysis: Analysis) -> str | None:
    """Return whom the question is about: a speaker it names, else the first other name."""
    if analysis.asked:
        return analysis.asked[0]
    return analysis.entities[0] if analysis.entities else None


def ownership(unit: Unit, analysis: Analysis, target: str | None) -> tuple[float, float]:
    """Return how far a sentence is about the target, and how far about somebody else."""
    if target is None:
        return 1.0, 0.0
    owners = dict(unit.about)
    asked = set(analysis.asked) or {target}
    named = [name for name in asked if name not in owners and mentions(unit.text, name)]
    own = max([*(weight for name, weight in owners.items() if name in asked), *(1.0 for _ in named), 0.0])
    other = max([*(weight for name, weight in owners.items() if name not in asked), 0.0])
    return own, other * (0.3 if named else 1.0)


@cache
def _named(name: str) -> re.Pattern[str]:
    return re.compile(rf"(?<!\w){re.escape(name)}(?!\w)", re.IGNORECASE)


def mentions(text: str, name: str) -> bool:
    """Whether a text says a name, as a whole word."""
    return _named(name).search(text) is not None


def _all_units(view: View) -> list[Unit]:
    turns: dict[str, Turn] = {item.turn.id: item.turn for item in view.shown}
    spoken: dict[str, str | None] = {}
    for item in view.shown:
        dialogue = view.context.get(item.turn.id, (item.turn,))
        for turn in dialogue:
            turns.setdefault(turn.id, turn)
            if turn.id not in spoken or turn.id == item.turn.id:
                spoken[turn.id] = addressee(turn, dialogue)
    return [unit for turn in turns.values() for unit in units(turn, spoken.get(turn.id))]


def _coverage(unit: Unit, weights: Mapping[str, float]) -> float:
    total = sum(weights.values())
    return sum(weight for term, weight in weights.items() if term in unit.terms) / total if total else 0.0


def _cosines(analysis: Analysis, found: Sequence[Unit]) -> Vectors:
    asked = analysis.question
    for name in analysis.asked:
        asked = _named(name).sub("", asked)
    rows = _EMBEDDER.embed([asked, *(unit.text for unit in found)])
    cosines: Vectors = rows[1:] @ rows[0]
    return cosines


def _surroundings(
    view: View, found: Sequence[Unit], lexical: Vectors, dense: Vectors, weights: Mapping[str, float]
) -> Vectors:
    """Return what the rest of its turn, and the question it answers, add to each sentence's score."""
    best: dict[str, float] = {}
    for index, unit in enumerate(found):
        own = float(lexical[index] + dense[index])
        best[unit.turn.id] = max(best.get(unit.turn.id, 0.0), own)
    heard = _heard(view)
    near = _near(view)
    return np.array(
        [
            TURN_SHARE * best[unit.turn.id]
            + HEARD_SHARE * best.get(heard.get(unit.turn.id, ""), 0.0)
            + NEAR_SHARE * max([best.get(other, 0.0) for other in near.get(unit.turn.id, ())] or [0.0])
            for unit in found
        ],
        np.float32,
    )


def _heard(view: View) -> dict[str, str]:
    """Map each turn to the one just before it, where that was somebody else's and ended with a question."""
    heard: dict[str, str] = {}
    for dialogue in view.context.values():
        for before, after in pairwise(dialogue):
            if before.speaker != after.speaker and before.text.rstrip().endswith("?"):
                heard[after.id] = before.id
    return heard


def _near(view: View) -> dict[str, tuple[str, ...]]:
    near: dict[str, set[str]] = {}
    for dialogue in view.context.values():
        for before, after in pairwise(dialogue):
            near.setdefault(after.id, set()).add(before.id)
            near.setdefault(before.id, set()).add(after.id)
    return {turn_id: tuple(others) for turn_id, others in near.items()}
