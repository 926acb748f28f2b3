"""How well each sentence of the evidence matches a question, and how far it is about the one who is asked about."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from ..embedding import StaticEmbedder
from ..judging.evidence import Analysis, View
from ..text.terms import stem, words
from ..types.values import Turn
from ..types.vectors import Vectors
from .sentence_units import Unit, addressee, units
from .word_rarity import rarity

TURN_SHARE = 0.5
HEARD_SHARE = 0.25
NEAR_SHARE = 0.25
RELATED = 0.5  # cosine from which two words count as related
COMMON = 0.15  # what the commonest word weighs
MOST_OF_A_TURN = 40  # sentences
SAID = 0.9  # how far a sentence is about its speaker when the question is what they said
_SAYING = re.compile(
    r"\b(?:suggest|recommend|advis|advice|offer|propos|compliment|encourag|congratulat)\w*\b", re.IGNORECASE
)
_REACH = 30.0  # characters
_WORD = re.compile(r"\w+")
_EMBEDDER = StaticEmbedder()
Array = NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class Match:
    """One sentence against the question.

    `coverage` is the share of the question's words that it says, by rarity; `window` the same with the dialogue
    around it; `cosine` compares meanings.
    `own` and `other` say how far it is about the target, and about somebody else; `outdated` whether it states what
    was not so at the time asked about.
    """

    unit: Unit
    shown: bool
    rank: int
    coverage: float
    cosine: float
    window: float
    score: float
    own: float
    other: float
    outdated: bool = False


@dataclass(frozen=True, slots=True)
class Matches:
    """All sentences of a view, best first, and what they were matched against."""

    analysis: Analysis
    target: str | None
    weights: Mapping[str, float]
    ranked: tuple[Match, ...]


def match(view: View, part: str | None = None) -> Matches:
    """Score every sentence of the shown evidence and of the dialogue around it, for the question or a part of it.

    What was scored for a check is kept for the answer that follows it.
    """
    key = ("matches", view.iteration, part, tuple(item.turn.id for item in view.shown))
    if key not in view.memo:
        view.memo[key] = _match(view, view.analysis if part is None else narrowed(view.analysis, part))
    matches: Matches = view.memo[key]
    return matches


def _match(view: View, analysis: Analysis) -> Matches:
    target = target_of(analysis)
    found = _all_units(view)
    shown = {item.turn.id for item in view.shown}
    ranks = {item.turn.id: rank for rank, item in enumerate(view.evidence)}
    weights = {word: COMMON + rarity(stem(word)) for word in analysis.keywords}
    if not found:
        return Matches(analysis, target, weights, ())
    spread = _Spread(view, found)
    said = said_words(analysis.keywords, found)
    share = np.array(list(weights.values()), np.float32)
    total = float(share.sum()) or 1.0
    coverage = share @ said / total
    cosine = np.maximum(_cosines(view, analysis, found), 0)
    around = np.maximum(said, spread.widened(said))
    window = share @ around / total
    score = coverage + cosine + spread.added(coverage + cosine)
    outdated = _outdated(view, found)
    matches = [
        Match(
            unit,
            unit.turn.id in shown,
            ranks.get(unit.turn.id, len(ranks)),
            float(coverage[index]),
            float(cosine[index]),
            float(window[index]),
            float(score[index]),
            *ownership(unit, analysis, target),
            outdated[index],
        )
        for index, unit in enumerate(found)
    ]
    return Matches(analysis, target, weights, tuple(sorted(matches, key=lambda item: -item.score)))


def narrowed(analysis: Analysis, part: str) -> Analysis:
    """Return the analysis of a question for a part of it: only its words."""
    said = {stem(word) for word in words(part)}
    keywords = tuple(word for word in analysis.keywords if stem(word) in said)
    return replace(analysis, question=part, keywords=keywords, terms=tuple(stem(word) for word in keywords))


def target_of(analysis: Analysis) -> str | None:
    """Return whom the question is about: a speaker it names, else the first other name."""
    if analysis.asked:
        return analysis.asked[0]
    return analysis.entities[0] if analysis.entities else None


def ownership(unit: Unit, analysis: Analysis, target: str | None) -> tuple[float, float]:
    """Return how far a sentence is about the target, and how far about somebody else."""
    if target is None:
        return 1.0, 0.0
    owners = unit.about
    asked = set(analysis.asked) or {target}
    named = [name for name in asked if name not in owners and mentions(unit.text, name)]
    own = max([*(weight for name, weight in owners.items() if name in asked), *(1.0 for _ in named), 0.0])
    if unit.turn.speaker in asked and not unit.asks and _SAYING.search(analysis.question):
        own = max(own, SAID)
    other = max([*(weight for name, weight in owners.items() if name not in asked), 0.0])
    return own, other * (0.3 if named else 1.0)


@lru_cache(maxsize=256)
def _named(name: str) -> re.Pattern[str]:
    return re.compile(rf"(?<!\w){re.escape(name)}(?!\w)", re.IGNORECASE)


def mentions(text: str, name: str) -> bool:
    """Whether a text says a name, as a whole word."""
    return _named(name).search(text) is not None


def strength(m: Match) -> float:
    """Return how far a sentence is the one that the question is about."""
    return m.score * (0.3 + m.own) * (0.6 if m.unit.asks else 1.0)


def nearness(matches: Matches, m: Match, begins: int, ends: int) -> float:
    """Return how close characters of a sentence stand to the words of the question, 1 when beside all of them."""
    stems = {stem(word) for word in matches.weights}
    close: dict[str, float] = {}
    for found in _WORD.finditer(m.unit.turn.text, *m.unit.span):
        said = stem(found[0].casefold())
        if said in stems:
            apart = max(begins - found.end(), found.start() - ends, 0)
            close[said] = max(close.get(said, 0.0), math.exp(-apart / _REACH))
    return sum(close.values()) / max(1, len(stems))


def said_words(keywords: Sequence[str], found: Sequence[Unit]) -> Array:
    """Return a row a keyword, a column a sentence: 1 where it is said, its cosine where a related word is, else 0."""
    vocabulary = {word: index for index, word in enumerate(dict.fromkeys(w for unit in found for w in unit.words))}
    if not keywords or not vocabulary:
        return np.zeros((len(keywords), len(found)), np.float32)
    rows = np.array([word_vector(word) for word in vocabulary], np.float32)
    asked = np.array([word_vector(word) for word in keywords], np.float32)
    alike = asked @ rows.T
    alike[alike < RELATED] = 0
    alike = np.minimum(alike, 0.9)
    stems = np.array([stem(word) for word in vocabulary])
    for index, word in enumerate(keywords):
        alike[index, stems == stem(word)] = 1
    nothing = len(vocabulary)
    padded = np.concatenate([alike, np.zeros((len(keywords), 1), np.float32)], axis=1)
    places = [[*(vocabulary[word] for word in unit.words), nothing] for unit in found]
    starts = np.cumsum([0, *(len(place) for place in places[:-1])])
    said: Array = np.maximum.reduceat(padded[:, [p for place in places for p in place]], starts, axis=1)
    return said


@lru_cache(maxsize=1 << 14)
def word_vector(word: str) -> Array:
    """Return a word's unit vector; zeros for one without."""
    row: Array = _EMBEDDER.embed([word])[0]
    return row


def _outdated(view: View, found: Sequence[Unit]) -> list[bool]:
    """Say which sentences state what a later fact replaced; or what replaced it, when the past is asked about."""
    facts = {item.turn.id: item.facts for item in view.evidence}
    newer = {fact.replaced_by for said in facts.values() for fact in said if fact.replaced_by}
    past = view.analysis.past

    def outdated(unit: Unit) -> bool:
        inside = [f for f in facts.get(unit.turn.id, ()) if f.span[0] < unit.span[1] and unit.span[0] < f.span[1]]
        return any(f.id in newer if past else f.replaced_by is not None for f in inside)

    return [bool(newer) and not unit.caption and outdated(unit) for unit in found]


class _Spread:
    """The dialogue around each sentence: its turn, the question that its turn answers, the turns beside it."""

    def __init__(self, view: View, found: Sequence[Unit]) -> None:
        ids = list(dict.fromkeys(unit.turn.id for unit in found))
        place = {turn_id: index for index, turn_id in enumerate(ids)}
        self._turn = np.array([place[unit.turn.id] for unit in found])
        self._size = len(ids)
        self._heard = np.full(len(ids), -1)
        self._near: list[tuple[int, int]] = []
        for dialogue in view.context.values():
            told = [turn for turn in dialogue if turn.id in place]  # of one that begins with a blank page, nothing is
            for before, after in pairwise(told):
                self._near.append((place[before.id], place[after.id]))
                if before.speaker != after.speaker and before.text.rstrip().endswith("?"):
                    self._heard[place[after.id]] = place[before.id]

    def added(self, own: Array) -> Array:
        """Return what the dialogue adds to each sentence's own score."""
        turn, heard, near = self._parts(own[None, :])
        added: Array = (TURN_SHARE * turn + HEARD_SHARE * heard + NEAR_SHARE * near)[0]
        return added

    def widened(self, said: Array) -> Array:
        """Return how far each word is said around each sentence."""
        turn, heard, near = self._parts(said)
        widened: Array = np.maximum(np.maximum(0.9 * turn, 0.8 * heard), 0.6 * near)
        return widened

    def _parts(self, values: Array) -> tuple[Array, Array, Array]:
        best = np.zeros((len(values), self._size + 1), np.float32)
        np.maximum.at(best.T, self._turn, values.T)
        near = np.zeros_like(best)
        for before, after in self._near:
            near[:, before] = np.maximum(near[:, before], best[:, after])
            near[:, after] = np.maximum(near[:, after], best[:, before])
        return best[:, self._turn], best[:, self._heard[self._turn]], near[:, self._turn]


def _all_units(view: View) -> list[Unit]:
    turns: dict[str, Turn] = {item.turn.id: item.turn for item in view.shown}
    spoken: dict[str, str | None] = {}
    for item in view.shown:
        dialogue = view.context.get(item.turn.id, (item.turn,))
        for turn in dialogue:
            turns.setdefault(turn.id, turn)
            if turn.id not in spoken or turn.id == item.turn.id:
                spoken[turn.id] = addressee(turn, dialogue)
    asked = {stem(word) for word in view.analysis.keywords}
    return [unit for turn in turns.values() for unit in _telling(_units(view, turn, spoken.get(turn.id)), asked)]


def _telling(found: Sequence[Unit], asked: set[str]) -> Sequence[Unit]:
    """Return the sentences of a turn; of a long one those that say most of the question's words, and the first."""
    if len(found) <= MOST_OF_A_TURN:
        return found
    said = [sum(stem(word) in asked for word in unit.words) for unit in found]
    best = sorted(range(len(found)), key=lambda place: -said[place])[:MOST_OF_A_TURN]
    return [found[place] for place in sorted(best)]


def _units(view: View, turn: Turn, to: str | None) -> tuple[Unit, ...]:
    key = ("units", turn.id, to)
    if key not in view.memo:
        view.memo[key] = units(turn, to)
    found: tuple[Unit, ...] = view.memo[key]
    return found


def _cosines(view: View, analysis: Analysis, found: Sequence[Unit]) -> Vectors:
    """Compare meanings, without the name of the one who is asked about: their own sentences say "I"."""
    asked = analysis.question
    for name in analysis.asked:
        asked = _named(name).sub("", asked)
    known: dict[str, Array] = view.memo.setdefault("vectors", {})
    new = [text for text in dict.fromkeys([asked, *(unit.text for unit in found)]) if text not in known]
    known.update(zip(new, _EMBEDDER.embed(new), strict=True))
    cosines: Vectors = np.stack([known[unit.text] for unit in found]) @ known[asked]
    return cosines
