"""Small corpora for property tests: few words, few speakers, many ties, turns that arrive late."""

from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, replace

import numpy as np
from hypothesis import strategies as st

from evimem.index import ranking
from evimem.index.corpus import Corpus, RowBlock, Stored
from evimem.index.document import Document, pack_counts
from evimem.index.prepared_query import IndexQuery, Ranked, prepare
from evimem.index.ranking import SEARCH_EFFORT, SearchEffort
from evimem.protocols import VectorIndex

DIMENSION = 8
WORDS = ("tea", "piano", "instrument", "boat", "river", "cake", "letter", "garden", "choir")


@dataclass(frozen=True)
class Said:
    """A passage of a test: the words that it states and asks, and its place. One with a `part` continues a turn."""

    stated: tuple[str, ...]
    asked: tuple[str, ...] = ()
    session: int = 0
    speaker: int = 0
    time: int = 0
    seed: int | None = 0
    events: tuple[tuple[int, int], ...] = ()
    temporal: bool = False
    part: int = 0
    parts: int = 1
    role: int = 0
    rules: bool = False


def row(said: Said, turn: int) -> Stored:
    counts = pack_counts(Counter(sorted(said.stated)), Counter(sorted(said.asked)))
    length = len(said.stated) + len(said.asked)
    asks = float(np.float32(len(said.asked) / length)) if length else 0.0
    document = Document(counts, length, asks, said.temporal)
    place = {name: getattr(said, name) for name in ("session", "speaker", "time", "part", "parts", "role", "rules")}
    vector = None if said.seed is None else _vector(said.seed)
    return Stored.of(document, vector, said.events, turn=turn, **place)


def extend(corpus: Corpus, turns: Iterable[Said], missing: Collection[int] = ()) -> Corpus:
    """Add passages at once, each of the newest turn or of the next one; those at `missing` positions have no row."""
    first, turn, rows = len(corpus), int(corpus.turn[-1]) if len(corpus) else 0, {}
    for at, said in enumerate(turns, first):
        turn += said.part == 0
        rows[at + 1] = row(said, turn)
    left = {number: one for number, one in rows.items() if number - 1 not in missing}
    if left:
        corpus.extend(RowBlock.of(left, first, corpus.dimension))
    return corpus


def append(corpus: Corpus, said: Said) -> Corpus:
    """Add a passage: of the newest turn, or of the next one."""
    return extend(corpus, [said])


def corpus_of(turns: Iterable[Said], missing: Collection[int] = ()) -> Corpus:
    return extend(Corpus(DIMENSION), turns, missing)


def rank(
    question: IndexQuery,
    corpus: Corpus,
    k: int,
    effort: SearchEffort = SEARCH_EFFORT,
    nearest: VectorIndex | None = None,
) -> list[Ranked]:
    return ranking.rank(prepare(question, corpus, nearest), k, effort)


def first_rows(turns: Sequence[Said]) -> list[int]:
    """The positions at which turns begin."""
    return [position for position, said in enumerate(turns) if said.part == 0]


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
    role=st.sampled_from((0, 0, 0, 1)),
    rules=st.booleans(),
)
corpora = st.lists(turns, min_size=1, max_size=24)  # a passage each
_further = st.tuples(_words, _words, st.none() | st.integers(0, 3), st.booleans())


def _split(turn: Said, further: list[tuple[tuple[str, ...], tuple[str, ...], int | None, bool]]) -> list[Said]:
    texts = [(turn.stated, turn.asked, turn.seed, turn.temporal), *further]
    return [
        replace(turn, stated=stated, asked=asked, seed=seed, temporal=temporal, part=part, parts=len(texts))
        for part, (stated, asked, seed, temporal) in enumerate(texts)
    ]


passages = st.lists(st.builds(_split, turns, st.lists(_further, max_size=2)), min_size=1, max_size=14).map(
    lambda split: [said for turn in split for said in turn]
)
questions = st.builds(
    IndexQuery,
    text=st.lists(st.sampled_from((*WORDS, "instruments", "sailing")), max_size=4).map(" ".join),
    vector=st.none() | st.integers(0, 3).map(direction),
    names=st.frozensets(st.integers(0, 2), max_size=2),
    times=st.lists(_interval, max_size=2).map(tuple),
    when=st.booleans(),
    recalls=st.booleans(),
    several=st.booleans(),
    before=st.none() | st.integers(0, 40),
    after=st.none() | st.integers(0, 40),
    speaker=st.none() | st.integers(0, 2),
    session=st.none() | st.integers(0, 2),
    exclude=st.frozensets(st.integers(1, 25), max_size=3),
    holding=st.just(()) | st.lists(st.sampled_from(WORDS), max_size=2).map(tuple),
)
