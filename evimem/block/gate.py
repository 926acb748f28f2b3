"""Whether a memory has anything to say to a message: a probability from signals of the search and of the words.

The constants are fitted by `python -m benchmarks.gate` on messages that need a memory and messages that do not.
"""

from __future__ import annotations

import math
import re
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from ..errors import without
from ..index.weights import WEIGHTS
from ..lang import ENGLISH
from ..query.analysis import form, question_words
from ..text.terms import plain, terms
from .question import ENDS_ASKING, Asked, Recollected

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

TENTH = 10
USUAL = 0.2  # about the score of the tenth hit, where a memory has so many
TELLING = 4  # terms of a message that are enough to judge by what matches them: "ok" is found in many a turn
ROLES = frozenset(("user", "assistant"))
_FIRST_PERSON = re.compile(
    rf"\b{ENGLISH.any_of('word_classes.pronouns.first', 'word_classes.pronouns.first_plural')}\b", re.IGNORECASE
)


@dataclass(frozen=True, slots=True)
class Gate:
    """Fitted constants: the bias and weights of a logistic model, and the number below which nothing is recalled."""

    bias: float
    least: float
    weights: Mapping[str, float]


def relevance(asked: Asked, found: Recollected) -> float:
    """Return how likely it is, 0 to 1, that the memory has something to say to a message."""
    if not found.hits:
        return 0.0
    gate, measured = fitted(), signals(asked, found)
    total = gate.bias + sum(weight * measured[name] for name, weight in gate.weights.items())
    likely = 1 / (1 + math.exp(-max(-30.0, min(30.0, total))))
    # So few turns are no background to tell what stands out from, and showing them costs little: a question opens.
    asks = measured["question_mark"] or measured["question_word"]
    return max(likely, gate.least) if asks and len(found.hits) < TENTH else likely


def signals(asked: Asked, found: Recollected) -> dict[str, float]:
    """Return what speaks for recalling: how well the hits match, and what questions about a memory are like."""
    telling = min(1.0, len(set(terms(asked.text))) / TELLING)
    scores = [hit.score for hit in found.hits[:TENTH]]
    foreign = question_words(asked.text)
    user = foreign.user if foreign else _FIRST_PERSON
    return {
        "words": telling * sum(hit.parts.get("words", 0.0) for hit in found.hits[:3]) / 3,
        "meaning": telling * max(hit.parts.get("meaning", 0.0) for hit in found.hits) / WEIGHTS.meaning,
        "above_tenth": telling * (scores[0] - (scores[-1] if len(scores) == TENTH else min(scores[-1], USUAL))),
        "question_mark": float(asked.text.rstrip().endswith(ENDS_ASKING)),
        "question_word": float(without("thing", form, asked.text) != "thing"),
        "first_person": float(user.search(plain(asked.text)) is not None),
        "names": float(any(name.casefold() not in ROLES for name in found.hinted.names)),
        "recalls": float(found.hinted.recalls),
        "when": float(found.hinted.when),
    }


@cache
def fitted() -> Gate:
    """Return the constants that ship."""
    values = tomllib.loads(Path(__file__).with_name("gate.toml").read_text(encoding="utf-8"))
    return Gate(values["bias"], values["least"], values["weights"])
