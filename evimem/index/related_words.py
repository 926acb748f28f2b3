"""Words that mean what others say: the nearest by the shipped embedding, and the instances of kinds."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache
from itertools import islice
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


def nearest_stems(*words: str) -> dict[str, float]:
    """Return the stems that mean one of some words, each with its largest closeness."""
    near: dict[str, float] = {}
    for word in words:
        for term, closeness in meant_by(word):
            near[term] = max(near.get(term, 0.0), closeness)
    return near


MOST_NEAR = 3  # keywords that stand for a word which no turn has


def match_keywords(words: Sequence[str], turns_with: Callable[[str], int]) -> tuple[Keyword, ...]:
    """Return the keywords that words match, each once; `turns_with` counts the turns that have a term.

    For a word that no turn has stand the `MOST_NEAR` nearest to it that some turn has.
    """
    found: dict[str, Keyword] = {}
    for word in words:
        own = [Keyword(word, term, count) for term in dict.fromkeys(terms(word)) if (count := turns_with(term))]
        near = [] if own else sorted(nearest_stems(word.casefold()).items(), key=lambda pair: (-pair[1], pair[0]))
        others = (Keyword(word, term, count, close) for term, close in near if (count := turns_with(term)))
        for keyword in own or islice(others, MOST_NEAR):
            known = found.get(keyword.term)
            if known is None or known.closeness < keyword.closeness:
                found[keyword.term] = keyword
    return tuple(found.values())
