"""The documents of the index for a turn: passages with their terms, the share that asks, and mentions of time.

A short turn is one row of the index, a long one a row for each passage.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from ..errors import Attempt, try_read
from ..lang import ENGLISH
from ..text.terms import plainest, terms
from ..times import mentions_time
from ..types.values import Turn

# Chosen on user-assistant chats with replies of 2-9 kB; our own chats and LoCoMo have few turns that are longer than
# WHOLE, and do not tell these apart.
MAX_WHOLE_CHARACTERS = 480  # characters of a turn that stays one passage
PASSAGE_WORDS = 60  # words that a passage of a longer turn is filled up to
MAX_SENTENCE_WORDS = 120  # words of a sentence that stays whole
MAX_PASSAGES = 400  # passages of a turn; a longer one has longer passages
_WORD_CHARACTERS = 8  # characters that count as a word where nothing separates words

Span = tuple[int, int]

SENTENCE = re.compile(r"[^.!?\u2026\u3002\uff01\uff1f\n]+[.!?\u2026\u3002\uff01\uff1f\n]*")
_RUN = re.compile(rf"\S{{1,{PASSAGE_WORDS * _WORD_CHARACTERS}}}\s*")


def passages(text: str) -> tuple[Span, ...]:
    """Return the half-open character ranges of a text's passages: in order, without gaps, at least one."""
    if len(text) <= MAX_WHOLE_CHARACTERS:
        return ((0, len(text)),)
    bounds = [0, *_passage_boundaries(text), len(text)]
    together = -(-(len(bounds) - 1) // MAX_PASSAGES)
    bounds = [*bounds[:-1:together], len(text)]
    return tuple(pairwise(bounds))


def passages_by_count(text: str, count: int | None) -> tuple[Span, ...]:
    """Return the passages of a turn that is stored in `count` rows; None for a turn that is about to be stored.

    A turn that is stored in one row is one passage, however long: so are those of memories that knew no passages.
    """
    return ((0, len(text)),) if count == 1 else passages(text)


def passage(text: str, part: int, count: int) -> Span:
    """Return passage number `part`, from 0, of a turn that is stored in `count` rows, without the space around it."""
    return trim_range(text, passages_by_count(text, count)[part])


def trim_range(text: str, span: Span) -> Span:
    """Return a range without the space around it; an empty range where there is nothing else."""
    start, end = span
    inside = text[start:end]
    start += len(inside) - len(inside.lstrip())
    return start, max(start, end - (len(inside) - len(inside.rstrip())))


def _passage_boundaries(text: str) -> Iterator[int]:
    """Yield where one passage ends and the next begins."""
    filled = 0
    for sentence in SENTENCE.finditer(text):
        size = _size(sentence[0])
        if size > MAX_SENTENCE_WORDS:
            if filled:
                yield sentence.start()
            filled = 0
            at = sentence.end() - len(sentence[0].lstrip())
            for length in map(len, _RUN.findall(text, at, sentence.end())):  # runs without gaps
                here = length // _WORD_CHARACTERS or 1  # as `_size` of one word
                if filled and filled + here > PASSAGE_WORDS:
                    yield at
                    filled = 0
                filled += here
                at += length
        else:
            if filled and filled + size > PASSAGE_WORDS:
                yield sentence.start()
                filled = 0
            filled += size


def _size(text: str) -> int:
    """Return the number of words; more than that of a text with few spaces."""
    return max(len(text.split()), len(text) // _WORD_CHARACTERS)


_MAX_TERM_COUNT = 255  # of either kind; BM25 saturates long before


def pack_counts(stated: Mapping[str, int], asked: Mapping[str, int]) -> dict[str, int]:
    """Return two counts of each term as one number: in statements in the low byte, in questions in the high one."""
    counts = {term: count if count < _MAX_TERM_COUNT else _MAX_TERM_COUNT for term, count in stated.items()}
    for term, count in asked.items():
        counts[term] = counts.get(term, 0) | min(count, _MAX_TERM_COUNT) << 8
    return counts


_QUESTION_MARKS = re.compile(r"[?\uff1f\u061f\u037e]")
_STANDING = re.compile(
    rf"(?:^|[.!?\n])[\s*\->\u2022]*(?:{'|'.join(map(re.escape, ENGLISH.words('questions.standing')))})\b", re.IGNORECASE
)


@dataclass(frozen=True, slots=True)
class Document:
    """The indexed values of a passage.

    `terms` holds for each stem how often it stands in a statement and how often in a question (see `pack_counts`);
    speaker and caption count as statements. `length` is the number of stems, `asks` the share of them in questions,
    `temporal` whether the text mentions time.
    """

    terms: dict[str, int]
    length: int
    asks: float
    temporal: bool


def documents(turn: Turn, count: int | None = None) -> tuple[Document, ...]:
    """Return the document of each passage of a turn, in time linear in its text.

    `count` is the number of rows that the turn is stored in; None for a turn that is about to be stored.
    """
    texts = _passage_texts_with_captions(turn, count)
    return tuple(_document(f"{turn.speaker} {shown}", text, turn.text) for text, shown in texts)


def derive_documents(turn: Turn, count: int | None = None, *, plainly: bool = False) -> Attempt[tuple[Document, ...]]:
    """Return `documents`; where they cannot be read, or `plainly`, the words of the turn as they stand."""
    if plainly:
        return Attempt(_plain_documents(turn, count))
    read = try_read(None, documents, turn, count)
    return Attempt(read.value or _plain_documents(turn, count), read.error)


def _plain_documents(turn: Turn, count: int | None) -> tuple[Document, ...]:
    whole = [(turn.text, turn.caption or "")]
    found = [
        plainest(f"{turn.speaker} {text} {shown}")
        for text, shown in try_read(whole, _passage_texts_with_captions, turn, count).value
    ]
    return tuple(Document(pack_counts(Counter(words), Counter()), len(words), 0.0, temporal=False) for words in found)


def embedding_texts(turn: Turn, count: int | None = None) -> tuple[str, ...]:
    """Return the texts to embed for a turn, one a passage: the speaker, the text, and the caption of the picture."""
    return tuple(
        f"{turn.speaker}: {text} {shown}".rstrip() for text, shown in _passage_texts_with_captions(turn, count)
    )


def sets_rule(turn: Turn) -> bool:
    """Return whether a user's turn instructs an assistant from now on ("Always give me metric units")."""
    # A turn of over 1,000 characters is pasted text, not a standing instruction.
    return turn.role == "user" and len(turn.text) < 1_000 and _STANDING.search(turn.text) is not None


def _passage_texts_with_captions(turn: Turn, count: int | None) -> list[tuple[str, str]]:
    """Return the text of each passage with the caption that it carries: the last one carries the turn's."""
    texts = [(turn.text[start:end], "") for start, end in passages_by_count(turn.text, count)]
    texts[-1] = (texts[-1][0], turn.caption or "")
    return texts


def _document(stated_too: str, text: str, whole: str) -> Document:
    stated, asked = terms(stated_too), list[str]()
    if _QUESTION_MARKS.search(text):
        for sentence in SENTENCE.findall(text):
            (asked if _QUESTION_MARKS.search(sentence) else stated).extend(terms(sentence))
    else:
        stated += terms(text)
    length = len(stated) + len(asked)
    asks = float(np.float32(len(asked) / length)) if asked else 0.0
    return Document(pack_counts(Counter(stated), Counter(asked)), length, asks, mentions_time(text, whole))
