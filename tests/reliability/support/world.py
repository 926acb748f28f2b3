"""Test data of the gates: an embedder of words, an extractor with predictable facts, turns, and small thresholds."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import datetime, timedelta
from pathlib import Path
from random import Random
from typing import Any
from unittest.mock import patch

import evimem.edges.fact_vectors
import evimem.index.fact_table
import evimem.store.erase
import evimem.store.handle
import evimem.store.writes
from evimem import Fact, Memory, Turn
from evimem.api.core import Core
from evimem.extract.statements import fact_id
from evimem.store.sqlite import SqliteStore
from tests.doubles import WordEmbedder

NOON = datetime(2024, 3, 12, 12)
EMBEDDER = WordEmbedder(16)
SPEAKERS = ("Mira", "Tomas", "Ines")
WORDS = (
    "puppy harbour violin lantern orchard kettle marble thunder ribbon canyon pepper saddle velvet meadow copper "
    "glacier walnut anchor bonfire cinnamon"
).split()


class SayingExtractor:
    """Finds one fact in each of the first two words: (speaker, says, word)."""

    name = "says"

    def extract(self, turn: Turn) -> tuple[Fact, ...]:
        found = []
        start = 0
        for word in turn.text.split(" ")[:2]:
            span = (start, start + len(word))
            start += len(word) + 1
            if word.strip():
                identity = fact_id(turn.id, self.name, span, turn.speaker, "says", word)
                found.append(Fact(identity, turn.id, turn.speaker, "says", word, None, span, "state", self.name))
        return tuple(found)


class Unreachable(WordEmbedder):
    """The same embedder while its server is down, so that vectors stay queued."""

    def embed(self, texts: Sequence[str]) -> Any:
        raise ConnectionError(f"the embedding server is down, {len(texts)} text(s) were not embedded")


EXTRACTOR = SayingExtractor()


def damage(memory: Memory, extractor: Any = EXTRACTOR) -> list[str]:
    """What the check finds, without what `health` adds to it."""
    return [found for found in memory._core.store.find_damage(extractor) if isinstance(found, str)]


def open_memory(path: Path, *, embedder: Any = EMBEDDER, **options: Any) -> Memory:
    """Open a memory of this world; `options` are those of `SqliteStore`."""
    return Memory(Core(SqliteStore(path, embedder.name, embedder.dimension, **options), embedder, None, EXTRACTOR))


def said(number: int, *, random: Random | None = None, session_size: int = 7) -> Turn:
    """Return turn `number` of an endless conversation, always the same one for the same number."""
    words = random or Random(number)
    text = " ".join(words.choice(WORDS) for _ in range(2 + number % 9))
    return Turn(
        f"t{number}",
        f"s{number // session_size}",
        SPEAKERS[number % 3],
        f"{text} {number}",
        NOON + timedelta(minutes=number),
    )


@contextmanager
def small_thresholds() -> Iterator[None]:
    """Seal segments, write marks, defer links, index vectors and number rows anew after a few turns.

    Only large memories do so otherwise.
    """
    with (
        patch.dict(SqliteStore.__init__.__kwdefaults__, segment=8, index_from=24),
        patch.object(evimem.index.fact_table, "REACH_TURNS", 2),
        patch.object(evimem.edges.fact_vectors, "PER_FACT", 2),
        patch.object(evimem.store.handle, "COMMITS_PER_MARK", 5),
        patch.object(evimem.store.handle, "LINK_NOW", 40),
        patch.object(evimem.store.erase, "SPARE_ROWS", 12),
    ):
        yield
