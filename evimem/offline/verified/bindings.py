"""Values bound to what is asked, and the named checks that say how firmly."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from ...judging.evidence import View
from ...text.terms import stem, words
from ...types.values import TimeSpan
from ..match_sentences import Array, match, mentions
from ..sentence_units import is_assistant
from .asked_form import AskedForm, asked_kind
from .passages import Passage
from .polarity import UNSETTLED
from .typed_values import Value

_ABOUT = 0.5  # least weight with which a passage must be about the asked speaker
_WORD = re.compile(r"\w+")


@dataclass(frozen=True, slots=True)
class Binding:
    """A value in a passage, and how firmly it is bound to the question: named checks, each from 0 to 1."""

    value: Value
    passage: Passage
    checks: Mapping[str, float]
    time: TimeSpan | None = None


def is_about(asked: AskedForm, passage: Passage) -> bool:
    """Return whether a passage may state something of the subject: the user's own words, or words about the person."""
    if is_assistant(passage.turn) != asked.of_assistant:
        return False
    people = [name for name in asked.subject if name.casefold() not in ("user", "assistant")]
    if not people:
        return True
    return any(passage.unit.about.get(name, 0.0) >= _ABOUT or mentions(passage.text, name) for name in people)


def share(asked: AskedForm, bound: Array) -> float:
    """Return the share of the question's words that are bound, by weight."""
    weights = np.array(list(asked.weights.values()), np.float32)
    return float(weights @ bound / weights.sum())


def bind(view: View, asked: AskedForm, found: Sequence[tuple[Passage, Value, TimeSpan | None]]) -> list[Binding]:
    """Check how firmly each value is bound."""
    matches = {(m.unit.turn.id, m.unit.span): m for m in match(view).ranked if not m.unit.caption}
    top = max((m.score for m in matches.values()), default=1.0) or 1.0
    scores = {item.turn.id: item.score for item in view.evidence}
    best = max(scores.values(), default=1.0) or 1.0
    keys = [value.key for _, value, _ in found]
    said: list[Binding] = []
    for passage, value, time in found:
        m = matches.get((passage.turn.id, passage.unit.span))
        rarest = max(asked.weights, key=lambda term: asked.weights[term])
        row = list(asked.weights).index(rarest)
        same = [other for other, _, _ in found if other is passage]
        checks = {
            "own": share(asked, passage.own),
            "near": share(asked, passage.near),
            "wide": share(asked, passage.wide),
            "rarest": float(passage.wide[row]),
            "least": float(passage.wide.min()),
            "cosine": m.cosine if m else 0.0,
            "sentence": m.score / top if m else 0.0,
            "turn": scores.get(passage.turn.id, 0.0) / best,
            "beside": _beside(asked, passage, value),
            "sole": 1 / len(same),
            "few": 1 / len(set(keys)),
            "settled": float(UNSETTLED.search(passage.text) is None),
            "reply": _reply(asked, passage),
            "speaker": float(passage.turn.speaker in asked.subject),
            "fits": value.fits,
            "role": value.role,
            "name": float(value.text[:1].isupper()),
            "words": 1 / len(value.text.split()),
            "opens": float(passage.place == 0),
            "short": 1 / (1 + len(passage.text.split()) / 8),
        }
        said.append(Binding(value, passage, checks, time))
    return said


def _beside(asked: AskedForm, passage: Passage, value: Value) -> float:
    """Return how close a value stands to the words of the question in its sentence: 1 next to one, down to 0."""
    begins, ends = value.span
    near = 0.0
    for found in _WORD.finditer(passage.turn.text, *passage.unit.span):
        if stem(found[0].casefold()) in asked.weights and not begins <= found.start() < ends:
            near = max(near, math.exp(-max(begins - found.end(), found.start() - ends, 0) / 30))
    return near


def _reply(asked: AskedForm, passage: Passage) -> float:
    """Return whether a passage replies to a question for the same form of answer."""
    if passage.question is None:
        return 0.0
    kind = asked_kind(passage.question.text)
    return float(kind == asked.form)
