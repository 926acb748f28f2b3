"""Sketches find the nearest vectors: nearly all of them among many, and all that changed since."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from evimem.index import sketches
from evimem.index.corpus import COLUMNS, Corpus, IndexRow, RowBlock
from evimem.index.document import Document
from evimem.types.vectors import pack

from .corpora import Said, corpus_of

DIMENSION = 96  # one and a half words
Vectors = NDArray[np.float32]


def unit(rows: Vectors) -> Vectors:
    return (rows / np.linalg.norm(rows, axis=1, keepdims=True)).astype(np.float32)


EMPTY = Document({}, 0, 0.0, temporal=False)


def topical(count: int, seed: int) -> Vectors:
    """Return vectors that share a direction, as sentences do, and lie in topics of some twenty."""
    chance = np.random.default_rng(seed)
    topics = chance.standard_normal((count // 20 + 1, DIMENSION))
    rows = 3 + topics[chance.integers(len(topics), size=count)] + 0.7 * chance.standard_normal((count, DIMENSION))
    return unit(rows)


def filled(vectors: Vectors) -> Corpus:
    corpus = Corpus(DIMENSION)
    count = len(vectors)
    columns = np.zeros(count, COLUMNS)
    columns["alive"], columns["parts"], columns["time"] = True, 1, np.arange(count)
    columns["turn"] = np.arange(1, count + 1)
    packed = [pack(vector) for vector in vectors]
    scales = np.array([scale for _, scale in packed], np.float32)
    corpus.load(RowBlock(columns, np.stack([row for row, _ in packed]), scales))
    return corpus


def everyone(corpus: Corpus) -> NDArray[np.bool_]:
    return corpus.scale > 0


def test_nearly_all_of_the_nearest_have_near_sketches():
    vectors = topical(30_000, 1)
    asked = unit(vectors[:200] + 0.05 * topical(200, 2))
    corpus = filled(vectors)
    found = [set(corpus.sketches.nearest(corpus.stored, one, everyone(corpus), 1_000).tolist()) for one in asked]
    nearest = [set(np.argsort(-(vectors @ one))[:10].tolist()) for one in asked]
    recall = np.mean([len(some & best) / 10 for some, best in zip(found, nearest, strict=True)])
    assert recall >= 0.95
    assert max(map(len, found)) < 2_000  # ties are few


def test_only_what_is_allowed_is_found():
    corpus = filled(topical(3_000, 3))
    allowed = everyone(corpus)
    allowed[::2] = False
    found = corpus.sketches.nearest(corpus.stored, topical(1, 4)[0], allowed, 100)
    assert len(found) >= 100
    assert (found % 2 == 1).all()


def test_a_vector_is_its_own_nearest_after_it_came_changed_or_others_went(monkeypatch):
    monkeypatch.setattr(sketches, "SAMPLE", 1_000)
    vectors = topical(2_500, 5)
    corpus = filled(vectors[:2_000])
    nearest = lambda one: corpus.sketches.nearest(corpus.stored, vectors[one], everyone(corpus), 1).tolist()  # noqa: E731
    assert 1_700 in nearest(1_700)
    for position in (1_700, 40):  # one outside of the sample and one in it
        corpus.set_vector(position, *pack(vectors[2_000 + position % 7]))
        assert position in nearest(2_000 + position % 7)
        assert position not in nearest(position)
    corpus.forget(900)
    assert 900 not in nearest(900)


def found(corpus: Corpus) -> list[list[int]]:
    return [corpus.sketches.nearest(corpus.stored, one, everyone(corpus), 5).tolist() for one in topical(9, 8)]


@pytest.mark.parametrize("sample", [20, 100])
@given(st.lists(st.integers(0, 59), max_size=6), st.integers(1, 60))
def test_what_came_and_changed_bit_by_bit_is_found_as_what_was_there_at_once(sample, changed, first):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sketches, "SAMPLE", sample)
        check_bit_by_bit(changed, first)


def check_bit_by_bit(changed: list[int], first: int) -> None:
    vectors, others = topical(60, 6), topical(60, 7)
    bit_by_bit = filled(vectors[:first])
    found(bit_by_bit)
    for row in vectors[first:]:
        vector, scale = pack(row)
        at = len(bit_by_bit)
        bit_by_bit.append(IndexRow(EMPTY, 0, 0, at, at + 1, vector=vector, scale=scale))
    for position in changed:
        bit_by_bit.set_vector(position, *pack(others[position]))
        found(bit_by_bit)
    vectors[changed] = others[changed]
    assert found(bit_by_bit) == found(filled(vectors))


def test_turns_with_queued_vectors_are_skipped():
    corpus = corpus_of(Said((), seed=None, session=at) for at in range(10))
    found = corpus.sketches.nearest(corpus.stored, np.ones(corpus.dimension, np.float32), everyone(corpus), 3)
    assert found.tolist() == []
