"""What the index stores of a turn: for each passage its terms, the share of it that asks, whether it mentions time."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass

import numpy as np

from ..lang import ENGLISH
from ..text.terms import plainest, terms
from ..times import mentions_time
from ..types.attempt import Attempt, attempt
from ..types.values import Turn
from .passages import SENTENCE, parts_of
from .postings import packed

_QUESTION_MARKS = re.compile(r"[?\uff1f\u061f\u037e]")
_STANDING = re.compile(
    rf"(?:^|[.!?\n])[\s*\->\u2022]*(?:{'|'.join(map(re.escape, ENGLISH.words('questions.standing')))})\b", re.IGNORECASE
)
LONGEST_INSTRUCTION = 1_000  # characters of a turn that may set a standing instruction; what is longer is pasted text


@dataclass(frozen=True, slots=True)
class Document:
    """What a passage is found by.

    `terms` holds for each stem how often it stands in a statement and how often in a question (see `postings.packed`);
    speaker and caption count as statements. `length` is the number of stems, `asks` the share of them in questions,
    `temporal` whether the text mentions time.
    """

    terms: dict[str, int]
    length: int
    asks: float
    temporal: bool


def documents(turn: Turn, count: int | None = None) -> tuple[Document, ...]:
    """Return what each passage of a turn is found by, in time linear in its text.

    `count` is the number of rows that the turn is stored in; None for a turn that is about to be stored.
    """
    texts = _texts(turn, count)
    return tuple(_document(f"{turn.speaker} {shown}", text) for text, shown in texts)


def found_by(turn: Turn, count: int | None = None, *, plainly: bool = False) -> Attempt[tuple[Document, ...]]:
    """Return `documents`; where they cannot be read, or `plainly`, the words of the turn as they stand."""
    if plainly:
        return Attempt(_plain_documents(turn, count))
    read = attempt(None, documents, turn, count)
    return Attempt(read.value or _plain_documents(turn, count), read.error)


def _plain_documents(turn: Turn, count: int | None) -> tuple[Document, ...]:
    whole = [(turn.text, turn.caption or "")]
    found = [plainest(f"{turn.speaker} {text} {shown}") for text, shown in attempt(whole, _texts, turn, count).value]
    return tuple(Document(packed(Counter(words), Counter()), len(words), 0.0, temporal=False) for words in found)


def embedding_texts(turn: Turn, count: int | None = None) -> tuple[str, ...]:
    """Return the texts that are embedded for a turn, one a passage: who says what, and what the picture shows."""
    return tuple(f"{turn.speaker}: {text} {shown}".rstrip() for text, shown in _texts(turn, count))


def sets_rule(turn: Turn) -> bool:
    """Return whether a user's turn tells an assistant what to do from now on ("Always give me metric units")."""
    return turn.role == "user" and len(turn.text) < LONGEST_INSTRUCTION and _STANDING.search(turn.text) is not None


def _texts(turn: Turn, count: int | None) -> list[tuple[str, str]]:
    """Return the text of each passage with the caption that it carries: the last one carries the turn's."""
    texts = [(turn.text[start:end], "") for start, end in parts_of(turn.text, count)]
    texts[-1] = (texts[-1][0], turn.caption or "")
    return texts


def _document(stated_too: str, text: str) -> Document:
    stated, asked = Counter(terms(stated_too)), Counter[str]()
    if _QUESTION_MARKS.search(text):
        for sentence in SENTENCE.findall(text):
            (asked if _QUESTION_MARKS.search(sentence) else stated).update(terms(sentence))
    else:
        stated.update(terms(text))
    length = stated.total() + asked.total()
    asks = float(np.float32(asked.total() / length)) if length else 0.0
    return Document(packed(stated, asked), length, asks, mentions_time(text))
