"""Whether a message needs a memory: a probability from signals of the search, of the words and of their vector.

Arithmetic, small talk and questions of general knowledge need none; a request for advice, a plan or a text does, even
where nothing that was told resembles it. The constants are fitted by `python -m benchmarks.gate --write`.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np
import orjson
from numpy.typing import NDArray

from ..errors import or_else
from ..index.weights import WEIGHTS
from ..lang import ENGLISH
from ..lang.guess import LANGUAGES, guess_language
from ..query.analysis import answer_form, question_words
from ..text.misspellings import is_known_word
from ..text.terms import plain, terms, words
from ..types.vectors import Vectors
from .question import MAX_READ_CHARACTERS, Asked, BlockSearch

TENTH = 10
USUAL_SCORE = 0.2  # about the score of the tenth hit, where a memory has so many
TELLING_TERMS = 4  # of a message, enough to judge by their matches: "ok" is found in many a turn
LONG_WORDS = 20  # of a message that is as long as any other
KNOWN_ROLES = frozenset(("user", "assistant"))
GATE_FILE = Path(__file__).with_name("gate.json")
_FIRST_PERSON = re.compile(
    rf"\b{ENGLISH.any_of_source('word_classes.pronouns.first', 'word_classes.pronouns.first_plural')}\b", re.IGNORECASE
)
_DIGIT = re.compile(r"\d")
_QUOTES = re.compile('["\u201c\u201d]')


MIN_RELEVANCE = 0.5  # below it nothing is recalled: the models are shifted to it where they are fitted


@dataclass(frozen=True, slots=True)
class Gate:
    """Fitted constants of two logistic models: of English messages, and of those in other languages.

    Attributes:
        names: The signals, in the order of the weights.
        weights: Shape (2, signals + 1), the bias last.
        words: The weight of each dimension of an English message's vector by the shipped embedding, shape (dimension,).
        odds: By word, in any language, the logarithm of how much likelier it is in messages that need a memory.
    """

    names: tuple[str, ...]
    weights: NDArray[np.float64]
    words: NDArray[np.float32]
    odds: Mapping[str, float]


def relevance(asked: Asked, found: BlockSearch, vector: Vectors | None) -> float:
    """Return how far a reply to a message needs the memory, 0 to 1, not at all below `MIN_RELEVANCE`.

    `vector` is that of the message by the shipped embedding, shape (dimension,); None where another embedder is used.
    """
    if not found.hits:
        return 0.0
    gate, measured, read = load_gate(), gate_signals(asked, found), is_read(asked.text)
    *weights, total = gate.weights[0 if read else 1].tolist()
    total += sum(weight * measured[name] for name, weight in zip(gate.names, weights, strict=True))
    if vector is not None and read:
        total += float(gate.words @ np.asarray(vector, np.float32))
    least = MIN_RELEVANCE if measured["covered"] == 1.0 and _tells_more(asked, found) else 0.0
    return max(least, 1 / (1 + math.exp(-max(-30.0, min(30.0, total)))))


def _best_terms(found: BlockSearch) -> list[set[str]]:
    """Return the terms of each of the best hits, of long ones those of the passage that was found."""
    best = ((hit.turn.text, hit.span[0] if hit.span else 0) for hit in found.hits[:3])
    return [set(terms(text[start : start + MAX_READ_CHARACTERS])) for text, start in best]


def _tells_more(asked: Asked, found: BlockSearch) -> bool:
    """Return whether one of the best hits holds every word of a message and more: it does not only ask the same."""
    return any(set(terms(asked.text)) < one for one in _best_terms(found))


def matches_nothing(asked: Asked, found: BlockSearch) -> bool:
    """Return whether no word of a message is an English one or occurs in what was found: a probe, or a code.

    Its vector means nothing then, and what is nearest to it is as good as any turn. For the shipped embedding alone.
    """
    said = words(asked.text)
    if not said or found.hinted.times or not is_read(asked.text) or any(map(is_known_word, said)):
        return False
    return not any(hit.parts.get(part) for hit in found.hits for part in ("words", "related", "speaker"))


def is_read(text: str) -> bool:
    """Return whether the shipped embedding reads the language of a message."""
    return guess_language(text) not in LANGUAGES or guess_language(text) == "en"


def mean_odds(text: str, odds: Mapping[str, float]) -> float:
    """Return the mean of the odds of a message's words; a word that is not listed counts as 0."""
    said = words(text)
    return sum(odds.get(word, 0.0) for word in said) / max(1, len(said))


def gate_signals(asked: Asked, found: BlockSearch, odds: Mapping[str, float] | None = None) -> dict[str, float]:
    """Return the signals for recalling: how well the hits match, and the marks of requests and questions.

    `odds` are those of words; None takes the fitted ones.
    """
    asked_terms = set(terms(asked.text))
    telling, most = min(1.0, len(asked_terms) / TELLING_TERMS), max(2, len(asked_terms))
    scores = [hit.score for hit in found.hits[:TENTH]]
    foreign = question_words(asked.text)
    user = foreign.user if foreign else _FIRST_PERSON
    return {
        "covered": max(len(asked_terms & one) for one in _best_terms(found)) / most,
        "meaning": telling * max(hit.parts.get("meaning", 0.0) for hit in found.hits) / WEIGHTS.meaning,
        "above_tenth": telling * (scores[0] - (scores[-1] if len(scores) == TENTH else min(scores[-1], USUAL_SCORE))),
        "question_word": float(or_else("thing", answer_form, asked.text) != "thing"),
        "first_person": float(user.search(plain(asked.text)) is not None),
        "names": float(any(name.casefold() not in KNOWN_ROLES for name in found.hinted.names)),
        "recalls": float(found.hinted.recalls),
        "when": float(found.hinted.when),
        "digits": float(_DIGIT.search(asked.text) is not None),
        "quotes": float(_QUOTES.search(asked.text) is not None),
        "length": min(1.0, len(asked.text.split()) / LONG_WORDS),
        "refers": float(bool(asked.earlier)),
        "odds": mean_odds(asked.text, load_gate().odds if odds is None else odds),
    }


@cache
def load_gate() -> Gate:
    """Return the constants that ship."""
    stored = orjson.loads(GATE_FILE.read_bytes())
    words = np.array(stored["words"], np.float32)
    return Gate(tuple(stored["names"]), np.array(stored["weights"]), words, stored["odds"])
