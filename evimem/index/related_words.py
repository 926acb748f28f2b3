"""Words that mean what a query says: the nearest ones in the shipped embedding, and the instances of a kind.

The nearest ones are computed once by scripts/relate_words.py: the table holds, for each piece of the vocabulary that is
a word, up to WIDTH others and their cosines. It serves every memory alike, whichever embedder gives its vectors.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from ..embedding.static_embedder import SHIPPED, VOCABULARY
from ..lang import ENGLISH
from ..text.terms import STOP_WORDS, stem, terms, vocabulary_stems
from ..types.stored import Keyword

TABLE = Path(__file__).with_name("data") / "related.bin"
WIDTH = 8
ENTRY = np.dtype([("piece", "<u2"), ("cosine", "u1")])  # cosine in 255ths; 0 where there is no further word


@lru_cache(maxsize=1 << 14)
def meant_by(word: str) -> tuple[tuple[str, float], ...]:
    """Return the stems that mean a word: the nearest ones with their cosines, and the instances of a kind with 1."""
    return (*related(word), *((term, 1.0) for term in instances(stem(word))))


def related(word: str) -> tuple[tuple[str, float], ...]:
    """Return the stems nearest to a word, each with its cosine, nearest first; nothing for an unknown word."""
    number = _numbers().get(word) if is_word(word) else None
    if number is None:
        return ()
    stems = vocabulary_stems()
    return tuple((stems[entry["piece"]], int(entry["cosine"]) / 255) for entry in _table()[number] if entry["cosine"])


def relate(pieces: tuple[str, ...], vectors: NDArray[np.float32]) -> NDArray[np.void]:
    """Compute the table: for each word, the nearest of the words with other stems, one a stem."""
    words = [number for number, piece in enumerate(pieces) if is_word(piece)]
    rows = vectors[words]
    rows = rows / np.maximum(np.sqrt(np.square(rows).sum(axis=1, keepdims=True)), np.finfo(np.float32).tiny)
    stems = [stem(pieces[number]) for number in words]
    table = np.zeros((len(pieces), WIDTH), ENTRY)
    for start in range(0, len(words), 512):
        cosines = rows[start : start + 512] @ rows.T
        for offset, near in enumerate(np.argsort(-cosines, axis=1, kind="stable")[:, : 8 * WIDTH]):
            others: dict[str, int] = {}
            for at in near.tolist():
                others.setdefault(stems[at], at)
            others.pop(stems[start + offset], None)
            for slot, at in enumerate(list(others.values())[:WIDTH]):
                level = max(0, round(255 * float(cosines[offset, at])))
                table[words[start + offset], slot] = (words[at], level)
    return table


def is_word(piece: str) -> bool:
    """Return whether a piece of the vocabulary is a word of its own that carries meaning."""
    return len(piece) > 2 and piece.isascii() and piece.isalpha() and piece not in STOP_WORDS


@lru_cache(maxsize=1)
def _numbers() -> dict[str, int]:
    lines = SHIPPED.with_name(VOCABULARY).read_text(encoding="utf-8").split("\n")
    return dict(zip(lines, range(len(lines)), strict=True))


@lru_cache(maxsize=1)
def _table() -> NDArray[np.void]:
    return np.frombuffer(TABLE.read_bytes(), ENTRY).reshape(-1, WIDTH)


def instances(term: str) -> tuple[str, ...]:
    """Return the stems of the instances of a kind ("instrument": "piano"), or nothing where the term names no kind."""
    return tuple(dict.fromkeys(map(stem, _kinds().get(term, ()))))


@lru_cache(maxsize=1)
def _kinds() -> dict[str, tuple[str, ...]]:
    kinds: dict[str, tuple[str, ...]] = {}
    for names, members in ENGLISH.lists("kinds.instances").items():
        for name in map(stem, names.split()):
            kinds[name] = (*kinds.get(name, ()), *members)
    return kinds


MOST_NEAR = 3  # keywords that stand for a word which no turn has


def match_keywords(words: Sequence[str], turns_with: Callable[[str], int]) -> tuple[Keyword, ...]:
    """Return the keywords that words match, each once; `turns_with` counts the turns that have a term."""
    found: dict[str, Keyword] = {}
    for word in words:
        for keyword in _matches(word, turns_with):
            known = found.get(keyword.term)
            if known is None or known.closeness < keyword.closeness:
                found[keyword.term] = keyword
    return tuple(found.values())


def _matches(word: str, turns_with: Callable[[str], int]) -> list[Keyword]:
    own = [Keyword(word, term, count) for term in dict.fromkeys(terms(word)) if (count := turns_with(term))]
    return own or list(_near(word, turns_with))[:MOST_NEAR]


def _near(word: str, turns_with: Callable[[str], int]) -> Iterator[Keyword]:
    nearest: dict[str, float] = {}
    for term, closeness in meant_by(word.casefold()):
        nearest[term] = max(closeness, nearest.get(term, 0.0))
    for term, closeness in sorted(nearest.items(), key=lambda pair: (-pair[1], pair[0])):
        if count := turns_with(term):
            yield Keyword(word, term, count, closeness)
