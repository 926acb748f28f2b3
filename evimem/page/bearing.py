"""Search for statements that bear on a request: "suggest a dinner" is near "the epipen is in my other bag".

No word leads from one to the other, and no word vector. Two linear models over the shipped embedding do: one tells the
topics of a request, the other the direction in which statements on each topic lie. The vector of a request is moved
towards those, so that one search finds both what its words are near to and what bears on it. Two more tell statements
that last from requests and questions, and requests from questions that ask for a value that was told.

`python -m benchmarks.bearing --write` fits them on requests, details and questions that were written for it.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass, fields
from functools import cache
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from ..embedding.static_embedder import StaticEmbedder
from ..errors import or_else
from ..lang import ENGLISH
from ..query.analysis import answer_form, question_words
from ..text.terms import plain
from ..types.vectors import Vectors
from .question import ENDS_ASKING

EMBEDDER_NAME = "static-minilm-256"  # the embedder whose vectors the models read
SHIFT_LENGTH = 1.0  # length of the move towards what bears on a request, in lengths of its own vector
UNFOUND_PLACE = 120  # that a turn which is no hit counts as
OPENING_WORDS = 3  # of a message, that tell the kind of a question ("where were we", "how much is", "what should I")
BEARING_FILE = Path(__file__).with_name("bearing.npy")  # one record, a field for each of `Bearing`
_FIRST_PERSON = re.compile(
    rf"\b(?:{ENGLISH.any_of_source('word_classes.pronouns.first', 'word_classes.pronouns.first_plural')}|im|ive)\b",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Bearing:
    """The fitted models.

    Attributes:
        requests: Weights of each topic over a request's vector, the bias last, shape (topics, dimension + 1).
        statements: The direction of statements on each topic, shape (topics, dimension).
        lasting: Weights over a sentence's vector and marks, the bias last, of a statement that lasts,
            shape (dimension + marks + 1,).
        requesting: Weights over the readings of a message (`read_message`), the bias last, of a request, and not of a
            question that asks for one value that was told, shape (2 dimension + marks + 1,).
        needed: Weights over `need_signals`, the bias last, of a line that the reply to a request needs.
    """

    requests: NDArray[np.float32]
    statements: NDArray[np.float32]
    lasting: NDArray[np.float32]
    requesting: NDArray[np.float32]
    needed: NDArray[np.float32]

    @property
    def any_topic(self) -> Vectors:
        """The unit vector in whose direction statements of any topic lie, shape (dimension,)."""
        lengths = np.linalg.norm(self.statements, axis=1, keepdims=True)
        total = (self.statements / np.maximum(lengths, 1e-9)).sum(axis=0)
        return np.asarray(total / max(float(np.linalg.norm(total)), 1e-9), np.float32)

    def move(self, vector: Vectors) -> Vectors:
        """Return the unit vector to search with for a request, of its own unit vector, shape (dimension,)."""
        probabilities = 1 / (1 + np.exp(-(self.requests[:, :-1] @ vector + self.requests[:, -1])))
        towards = probabilities @ self.statements
        moved = vector + SHIFT_LENGTH * towards / max(float(np.linalg.norm(towards)), 1e-9)
        return np.asarray(moved / max(float(np.linalg.norm(moved)), 1e-9), np.float32)

    def lasting_odds(self, vectors: Vectors, marks: NDArray[np.float32]) -> NDArray[np.float32]:
        """Return the logarithm of the odds that sentences are statements that last.

        `vectors` are their unit vectors, shape (n, dimension), `marks` those of `sentence_marks`, shape (n, marks).
        """
        return np.asarray(np.c_[vectors, marks] @ self.lasting[:-1] + self.lasting[-1], np.float32)

    def request_probability(self, message: str, vector: Vectors) -> float:
        """Return how likely a message asks for advice, a plan, a text or the state of things, and not for one value.

        `vector` is that of the message by the shipped embedding, shape (dimension,).
        """
        total = read_message(message, vector) @ self.requesting[:-1] + self.requesting[-1]
        return float(1 / (1 + np.exp(-total)))

    def need_odds(self, signals: NDArray[np.float32]) -> NDArray[np.float32]:
        """Return the logarithm of the odds that a reply needs each of some turns.

        `signals` are those of `need_signals`, shape (n, signals).
        """
        return np.asarray(signals @ self.needed[:-1] + self.needed[-1], np.float32)


def need_signals(
    place: int | None, score: float, statement: tuple[float, float] | None, request: float
) -> tuple[float, ...]:
    """Return what tells how likely a reply needs a turn, shape (signals,).

    `place` is its rank among the hits, from 0, and `score` its score; None and 0.0 where it was not found. `statement`
    is how likely its best sentence lasts, as a logarithm, and what that is worth for the message; None where none was
    read. `request` is the probability that the message is a request.
    """
    rank = -math.log1p(UNFOUND_PLACE if place is None else place)
    told = (0.0, 0.0, 0.0) if statement is None else (1.0, *statement)
    return (rank, float(place is None), score, *told, request * rank, *(request * one for one in told))


def read_message(message: str, vector: Vectors) -> Vectors:
    """Return what tells requests from questions for a value, shape (2 dimension + marks,).

    These are the vectors of the message and of its first words, which tell the kind of a question, and its marks.
    """
    (opening,) = StaticEmbedder().embed([" ".join(message.split()[:OPENING_WORDS])])
    return np.asarray(np.r_[vector, opening, sentence_marks(message)], np.float32)


def sentence_marks(sentence: str) -> tuple[float, ...]:
    """Return marks that tell statements from requests, beside their vectors: first person, question, length."""
    return (
        float(or_else(None, speaks_of_self, sentence) or False),
        float(or_else("thing", answer_form, sentence) != "thing"),
        float(sentence.rstrip().endswith(ENDS_ASKING)),
        min(1.0, len(sentence.split()) / 20),
    )


def speaks_of_self(sentence: str) -> bool:
    """Return whether a sentence has a word by which its speaker means themselves."""
    foreign = question_words(sentence)
    return (foreign.user if foreign else _FIRST_PERSON).search(plain(sentence)) is not None


@cache
def load_bearing() -> Bearing:
    """Return the models that ship."""
    stored = np.load(BEARING_FILE, allow_pickle=False)
    return Bearing(*(stored[one.name].astype(np.float32) for one in fields(Bearing)))
