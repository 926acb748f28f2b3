"""Sketches find the nearest vectors: nearly all of them among many, and all that changed since."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from evimem.index import sketches
from evimem.index.corpus import COLUMNS, Corpus, RowBlock, Stored
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
    corpus.extend(RowBlock(columns, np.stack([row for row, _ in packed]), scales, {}))
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


def found(corpus: Corpus) -> list[list[int]]:
    return [corpus.sketches.nearest(corpus.stored, one, everyone(corpus), 5).tolist() for one in topical(9, 8)]


@pytest.mark.parametrize("sample", [20, 100])
@given(st.integers(1, 60))
def test_what_came_bit_by_bit_is_found_as_what_was_there_at_once(sample, first):
    vectors = topical(60, 6)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sketches, "SAMPLE_VECTORS", sample)
        bit_by_bit = filled(vectors[:first])
        for at in range(first, len(vectors)):
            found(bit_by_bit)
            place = dict.fromkeys(("session", "speaker", "part", "role", "rules"), 0)
            row = Stored.of(EMPTY, pack(vectors[at]), (), time=at, turn=at + 1, parts=1, **place)
            bit_by_bit.extend(RowBlock.of({at + 1: row}, at, DIMENSION))
        assert found(bit_by_bit) == found(filled(vectors))


def test_turns_with_queued_vectors_are_skipped():
    corpus = corpus_of(Said((), seed=None, session=at) for at in range(10))
    found = corpus.sketches.nearest(corpus.stored, np.ones(corpus.dimension, np.float32), everyone(corpus), 3)
    assert found.tolist() == []


@given(st.sets(st.integers(0, 59), min_size=1, max_size=20))
def test_after_forgetting_as_much_is_found_as_without_what_was_forgotten(gone):
    vectors = topical(60, 6)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sketches, "SAMPLE_VECTORS", 40)
        kept, made_anew = filled(vectors), filled(vectors)
        found(kept)
        for corpus in (kept, made_anew):
            corpus.erase(dict.fromkeys(gone, ()))
        assert found(kept) == found(made_anew)


def test_one_forgotten_vector_has_few_sketches_made_anew(monkeypatch):
    corpus = filled(topical(3_000, 7))
    monkeypatch.setattr(sketches, "SAMPLE_VECTORS", 2_000)
    found(corpus)
    sketched = list[int]()
    monkeypatch.setattr(sketches.Sketches, "_sketch", lambda of, vectors: sketched.append(len(vectors)))
    corpus.erase({5: ()})
    corpus.sketches._update_sketches(corpus.stored)
    assert sketched == []
