"""A turn as the index stores it: its terms, the share of it that asks, whether it mentions time."""

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

    `terms` holds for each stem how often it stands in a statement and how often in a question (see `postings.packed`);
    speaker and caption count as statements. `length` is the number of stems, `asks` the share of them in questions,
    `temporal` whether the text mentions time.
    """

    terms: dict[str, int]
    length: int
    asks: float
    temporal: bool


def document(turn: Turn) -> Document:
    """Return what a turn is found by, in time linear in its text."""
    stated, asked = Counter(terms(f"{turn.speaker} {turn.caption or ''}")), Counter[str]()
    if _QUESTION_MARKS.search(turn.text):
        for sentence in _SENTENCE.findall(turn.text):
            (asked if _QUESTION_MARKS.search(sentence) else stated).update(terms(sentence))
    else:
        stated.update(terms(turn.text))
    counts = {term: packed(stated[term], asked[term]) for term in stated | asked}
    length = stated.total() + asked.total()
    asks = float(np.float32(asked.total() / length)) if length else 0.0
    return Document(counts, length, asks, mentions_time(turn.text))


def embedding_text(turn: Turn) -> str:
    """Return the text that is embedded for a turn: who says what, and what the picture shows."""
    return f"{turn.speaker}: {turn.text} {turn.caption or ''}".rstrip()
