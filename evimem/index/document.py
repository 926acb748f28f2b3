"""A turn as the index sees it: its terms, how much of it asks, whether it speaks of time."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass

from ..terms import terms, words
from ..types import Turn

_SENTENCE = re.compile(r"[^.!?\u2026\u3002\uff01\uff1f\n]+[.!?\u2026\u3002\uff01\uff1f\n]*")
_QUESTION_MARKS = re.compile(r"[?\uff1f\u061f\u037e]")
_TIME = re.compile(
    r"\b(?:yesterday|today|tonight|tomorrow|ago|last|next|week(?:end)?s?|months?|years?|recently|lately|since"
    r"|mon|tues|wednes|thurs|fri|satur|sunday|january|february|march|april|may|june|july|august|september|october"
    r"|november|december|summer|winter|spring|autumn|(?:19|20)\d\d|(?:this|the other) (?:day|morning|week|month|year))"
    r"(?:day)?\b",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Document:
    """What a turn is found by.

    `terms` counts the stems of speaker, text and caption, `length` is their sum, `asks` the share of the text's words
    that stand in a question, `hands_over` whether the turn ends with one, `temporal` whether it speaks of time.
    """

    terms: dict[str, int]
    length: int
    asks: float
    hands_over: bool
    temporal: bool


def document(turn: Turn) -> Document:
    """Return what a turn is found by; the work grows with its text and with nothing else."""
    counts = Counter(terms(f"{turn.speaker} {turn.text} {turn.caption or ''}"))
    asks, hands_over = _asking(turn.text)
    return Document(dict(counts), counts.total(), asks, hands_over, _TIME.search(turn.text) is not None)


def embedding_text(turn: Turn) -> str:
    """Return the text that is embedded for a turn: who says what, and what the picture shows."""
    return f"{turn.speaker}: {turn.text} {turn.caption or ''}".rstrip()


def _asking(text: str) -> tuple[float, bool]:
    """Return the share of words in sentences that end with a question mark, and whether the last one does."""
    if not _QUESTION_MARKS.search(text):
        return 0.0, False
    asked = told = 0
    asking = False
    for sentence in _SENTENCE.findall(text):
        size = len(words(sentence))
        if size:
            asking = _QUESTION_MARKS.search(sentence) is not None
            asked, told = (asked + size, told) if asking else (asked, told + size)
    return (asked / (asked + told) if asked else 0.0), asking
