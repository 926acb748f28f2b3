"""Small corpora for property tests: few words, few speakers, many ties, turns that arrive late."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from hypothesis import strategies as st

from evimem.index.corpus import Corpus, IndexRow
from evimem.index.document import Document
from evimem.index.postings import packed
from evimem.index.prepared_query import IndexQuery

DIMENSION = 8
WORDS = ("tea", "piano", "instrument", "boat", "river", "cake", "letter", "garden", "choir")


@dataclass(frozen=True)
class Said:
    """A turn of a test: the words that it states and asks, and its position."""

    stated: tuple[str, ...]
    asked: tuple[str, ...] = ()
    session: int = 0
    speaker: int = 0
    time: int = 0
    seed: int | None = 0
    events: tuple[tuple[int, int], ...] = ()
    temporal: bool = False


def row(said: Said) -> IndexRow:
    counts = {
        word: packed(said.stated.count(word), said.asked.count(word)) for word in sorted({*said.stated, *said.asked})
    }
    length = len(said.stated) + len(said.asked)
    asks = float(np.float32(len(said.asked) / length)) if length else 0.0
    document = Document(counts, length, asks, said.temporal)
    vector, scale = (None, 0.0) if said.seed is None else _vector(said.seed)
    return IndexRow(document, said.session, said.speaker, said.time, vector, scale, said.events)


def corpus_of(turns: Iterable[Said]) -> Corpus:
    corpus = Corpus(DIMENSION)
    for said in turns:
        corpus.append(row(said))
    return corpus


def _vector(seed: int) -> tuple[np.ndarray, float]:
    vector = np.random.default_rng(seed).integers(-127, 128, DIMENSION).astype(np.int8)
    return vector, float(np.float32(1 / max(1.0, float(np.sqrt(np.square(vector.astype(float)).sum())))))


def direction(seed: int) -> np.ndarray:
    return np.random.default_rng(seed).normal(size=DIMENSION).astype(np.float32)


_words = st.lists(st.sampled_from(WORDS), max_size=4).map(tuple)
_interval = st.tuples(st.integers(0, 40), st.integers(1, 9)).map(lambda pair: (pair[0], pair[0] + pair[1]))
turns = st.builds(
    Said,
    stated=_words,
    asked=_words,
    session=st.integers(0, 2),
    speaker=st.integers(0, 2),
    time=st.integers(0, 30),
    seed=st.none() | st.integers(0, 3),
    events=st.lists(_interval, max_size=2).map(tuple),
    temporal=st.booleans(),
)
corpora = st.lists(turns, min_size=1, max_size=24)
questions = st.builds(
    IndexQuery,
    text=st.lists(st.sampled_from((*WORDS, "instruments", "sailing")), max_size=4).map(" ".join),
    vector=st.none() | st.integers(0, 3).map(direction),
    names=st.frozensets(st.integers(0, 2), max_size=2),
    times=st.lists(_interval, max_size=2).map(tuple),
    when=st.booleans(),
    before=st.none() | st.integers(0, 40),
    after=st.none() | st.integers(0, 40),
    speaker=st.none() | st.integers(0, 2),
    session=st.none() | st.integers(0, 2),
    exclude=st.frozensets(st.integers(0, 24), max_size=3),
)
