"""One contract for every vector index, with the exact one as oracle; then what only HNSW promises."""

import threading
from functools import cache

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evimem.errors import DimensionMismatch, EmbedderError
from evimem.index.hnsw import HnswIndex, SearchWidth
from tests.reference.flat_index import FlatIndex

pytest.importorskip("hnswlib", reason="an extra without wheels")
DIMENSION = 32


class Kept(HnswIndex):
    """An index that ranks by the vectors that were given, as a store keeps them."""

    def __init__(self, dimension=DIMENSION, links=24):
        self.rows = np.zeros((10_000, dimension), np.float32)
        super().__init__(dimension, lambda positions: self.rows[positions], links)

    def add(self, positions, vectors):
        if np.shape(vectors) == (len(positions), self.dimension) and np.isfinite(vectors).all():
            lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
            self.rows[np.asarray(positions, np.int64)] = vectors / np.where(lengths, lengths, 1)
        super().add(positions, vectors)


def flat():
    return FlatIndex(DIMENSION)


@cache
def everything():
    """6,000 unit vectors in clusters of some 30, at positions 0 to 5,999."""
    rng = np.random.default_rng(11)
    vectors = rng.normal(size=(200, DIMENSION))[rng.integers(200, size=6000)] + rng.normal(size=(6000, DIMENSION)) * 0.6
    return (vectors / np.linalg.norm(vectors, axis=1, keepdims=True)).astype(np.float32)


def noise(count, seed=5, dimension=DIMENSION):
    vectors = np.random.default_rng(seed).normal(size=(count, dimension)).astype(np.float32)
    return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)


def filled(make, count=2500):
    index = make()
    index.add(range(count), everything()[:count])
    return index


@cache
def read_only(make, count=2500):
    """The same index for all tests that change none."""
    return filled(make, count)


every_index = pytest.mark.parametrize("make", [flat, Kept])


@every_index
def test_a_vector_is_its_own_nearest_with_cosine_one(make):
    index = read_only(make)
    found = index.search(everything()[77], 3)
    assert found.positions[0] == 77
    assert found.scores[0] == pytest.approx(1, abs=1e-5)
    assert list(found.scores) == sorted(found.scores, reverse=True)
    assert len(index) == 2500


@every_index
@pytest.mark.parametrize("count", [0, 1, 7, 1999, 2500])
def test_all_are_found_when_more_are_asked_for_than_there_are(make, count):
    index = read_only(make, count)
    found = index.search(everything()[0], count + 5)
    assert sorted(found.positions) == list(range(count))
    assert len(index.search(everything()[0], 0).positions) == 0


@every_index
@pytest.mark.parametrize("excluded", [range(2000), range(0, 2500, 2), [3, 3, 9_999_999, -4], range(2500), np.arange(9)])
def test_exactly_k_come_back_and_none_of_them_excluded(make, excluded):
    index, oracle = read_only(make), read_only(flat)
    for query in noise(5):
        found, expected = index.search(query, 10, excluded), oracle.search(query, 10, excluded)
        assert len(found.positions) == len(set(found.positions)) == len(expected.positions)
        assert not set(found.positions) & set(excluded)


@every_index
def test_equal_vectors_come_in_the_order_of_their_positions(make):
    index = make()
    index.add([5, 3, 9, 1], np.repeat(everything()[:1], 4, axis=0))
    assert list(index.search(everything()[0], 3).positions) == [1, 3, 5]


@every_index
def test_excluding_what_is_not_there_leaves_all_that_is(make):
    index = make()
    index.add(range(0, 2500, 2), everything()[0:2500:2])
    assert list(np.sort(index.search(everything()[0], 1250, {-1, -2500, *range(1, 3000, 2)}).positions)) == list(
        range(0, 2500, 2)
    )


@every_index
@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf, 0.0])
def test_what_has_no_direction_is_neither_added_nor_searched(make, bad):
    index = filled(make, 40)
    broken = everything()[40:43].copy()
    broken[1] = bad
    with pytest.raises(EmbedderError, match="zero or not finite"):
        index.add([40, 41, 42], broken)
    with pytest.raises(EmbedderError, match="zero or not finite"):
        index.search(broken[1], 3)
    assert len(index) == 40
    assert set(index.search(everything()[0], 99).positions) == set(range(40))


@every_index
def test_a_vector_of_another_width_is_a_dimension_mismatch(make):
    index = filled(make, 40)
    with pytest.raises(DimensionMismatch):
        index.add([40], np.ones((1, DIMENSION - 1), dtype=np.float32))
    with pytest.raises(DimensionMismatch):
        index.search(np.ones(DIMENSION + 1, dtype=np.float32), 3)


@every_index
@pytest.mark.parametrize("positions", [[7, 40], [41, 41], [-1, 41], [41]])
def test_a_position_that_is_held_repeated_negative_or_lacking_is_refused(make, positions):
    index = filled(make, 40)
    with pytest.raises(ValueError, match="position"):
        index.add(positions, everything()[40:42])
    assert len(index) == 40


@given(st.lists(st.integers(0, 59), max_size=40), st.integers(1, 70))
def test_a_small_hnsw_index_agrees_with_the_exact_one(excluded, k):
    index, oracle = _small_pair()
    found, expected = index.search(everything()[0], k, excluded), oracle.search(everything()[0], k, excluded)
    assert list(found.positions) == list(expected.positions)


@cache
def _small_pair():
    return read_only(Kept, 60), read_only(flat, 60)


def recall(index, oracle, queries, exclude=()):
    shares = []
    for query in queries:
        least = oracle.search(query, 10, exclude).scores[-1]
        shares.append((index.search(query, 10, exclude).scores >= least - 1e-5).mean())
    return np.mean(shares)


def test_recall_is_at_least_95_percent_of_the_exact_ones_as_the_index_grows():
    index, oracle = Kept(), flat()
    for start in range(0, 6000, 2000):
        added = np.arange(start, start + 2000)
        index.add(added, everything()[added])
        oracle.add(added, everything()[added])
        assert recall(index, oracle, noise(60)) >= 0.95
        assert recall(index, oracle, noise(60), exclude=range(0, 2000, 2)) >= 0.95


def test_recall_holds_for_noise_too_because_the_effort_is_measured():
    index, oracle = Kept(192), FlatIndex(192)
    for each in (index, oracle):
        each.add(range(6000), noise(6000, seed=1, dimension=192))
    queries = noise(60, dimension=192)
    assert recall(index, oracle, queries) >= 0.95
    assert 4000 <= index.effort.size <= 6000
    index.effort = SearchWidth(SearchWidth().ef, 6000)
    assert recall(index, oracle, queries) < 0.95


def test_effort_is_measured_on_its_own_vectors_when_they_come_one_by_one():
    index, oracle = Kept(links=2), flat()
    index.effort = SearchWidth(12, 1000)
    for place in range(1600):
        index.add([place], everything()[place : place + 1])
        oracle.add([place], everything()[place : place + 1])
    assert index.effort.size == 1500
    assert index.effort.ef > 12
    assert recall(index, oracle, everything()[1600:1700]) >= 0.95


def test_what_a_graph_does_not_reach_is_found_by_comparing_with_all():
    class Unconnected(Kept):
        def _query(self, query, k, ef):
            return None

    index, oracle = Unconnected(), filled(flat)
    index.add(range(2500), everything()[:2500])
    for exclude in ((), range(2495)):
        found, expected = index.search(noise(1)[0], 9, exclude), oracle.search(noise(1)[0], 9, exclude)
        assert list(found.positions) == list(expected.positions)


def test_searches_during_writes_are_served_and_correct():
    index, failures, served = filled(Kept, 1500), [], [0]
    done = threading.Event()

    def search():
        while not done.is_set():
            for place in (3, 700, 1400):
                if index.search(everything()[place], 5, {place + 1}).positions[0] != place:
                    failures.append(place)
                served[0] += 1

    threads = [threading.Thread(target=search, daemon=True) for _ in range(2)]
    for thread in threads:
        thread.start()
    for start in range(1500, 5500, 500):
        index.add(range(start, start + 500), everything()[start : start + 500])
    done.set()
    for thread in threads:
        thread.join(timeout=60)
    assert failures == []
    assert served[0] > 50
    assert len(index) == 5500
