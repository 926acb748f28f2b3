"""A turn as the index sees it: its terms, how much of it asks, whether it speaks of time."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass

import numpy as np

from ..text.terms import terms
from ..times import mentions_time
from ..types.values import Turn
from .postings import packed

_SENTENCE = re.compile(r"[^.!?\u2026\u3002\uff01\uff1f\n]+[.!?\u2026\u3002\uff01\uff1f\n]*")
_QUESTION_MARKS = re.compile(r"[?\uff1f\u061f\u037e]")


@dataclass(frozen=True, slots=True)
class Document:
    """What a turn is found by.

    `terms` holds for each stem how often the turn tells it and how often it asks it (see `postings.packed`); speaker
    and caption are told. `length` is the number of stems, `asks` the share of them that stand in a question,
    `temporal` whether the text speaks of time.
    """

    terms: dict[str, int]
    length: int
    asks: float
    temporal: bool


def document(turn: Turn) -> Document:
    """Return what a turn is found by; the work grows with its text and with nothing else."""
    told, asked = Counter(terms(f"{turn.speaker} {turn.caption or ''}")), Counter[str]()
    if _QUESTION_MARKS.search(turn.text):
        for sentence in _SENTENCE.findall(turn.text):
            (asked if _QUESTION_MARKS.search(sentence) else told).update(terms(sentence))
    else:
        told.update(terms(turn.text))
    counts = {term: packed(told[term], asked[term]) for term in told | asked}
    length = told.total() + asked.total()
    asks = float(np.float32(asked.total() / length)) if length else 0.0
    return Document(counts, length, asks, mentions_time(turn.text))


def embedding_text(turn: Turn) -> str:
    """Return the text that is embedded for a turn: who says what, and what the picture shows."""
    return f"{turn.speaker}: {turn.text} {turn.caption or ''}".rstrip()
