"""An embedder of bags of words, an extractor of homes, and a clock that a test advances."""

from collections.abc import Sequence
from dataclasses import replace
from zlib import crc32

import numpy as np

from evimem.extract.rule_extractor import RuleExtractor
from evimem.types.values import Fact, Turn
from evimem.types.vectors import Vectors


class HomeExtractor(RuleExtractor):
    """An extractor of a caller, by which somebody lives in one place at a time: a later home replaces another."""

    name = "homes"

    def extract(self, turn: Turn) -> tuple[Fact, ...]:
        """Return the facts that rules find, those of a home with this attribute."""
        return tuple(
            replace(fact, extractor=self.name, attribute="home" * fact.predicate.startswith(("lives in", "moved to")))
            for fact in super().extract(turn)
        )


class WordEmbedder:
    """An `Embedder` of hashed bags of words: texts are similar where they share words."""

    def __init__(self, dimension: int = 64) -> None:
        """Take the width of the vectors, at least 1; with few dimensions different words share one."""
        self.dimension = dimension

    @property
    def name(self) -> str:
        """The name, which differs by dimension."""
        return f"words-{self.dimension}"

    def embed(self, texts: Sequence[str]) -> Vectors:
        """Return the texts' unit vectors, float32 of shape (len(texts), dimension); zeros for a text without words."""
        vectors = np.zeros((len(texts), self.dimension), dtype=np.float32)
        for row, text in zip(vectors, texts, strict=True):
            for word in text.lower().split():
                row[crc32(word.encode("utf-8", "replace")) % self.dimension] += 1
        norms = np.linalg.norm(vectors, axis=1, keepdims=True)
        return np.asarray(vectors / np.where(norms == 0, 1, norms), dtype=np.float32)


class FakeClock:
    """A clock that only moves when a test advances it; call it for the time in seconds."""

    def __init__(self, now: float = 0.0) -> None:
        """Take the time to start at, in seconds."""
        self.now: float = now

    def __call__(self) -> float:
        """Return the time in seconds."""
        return self.now

    def advance(self, seconds: float) -> None:
        """Move the clock by so many seconds; negative ones set it back."""
        self.now += seconds
