"""Facts in an HNSW index: as good as comparing all, through growth and forgetting."""

from dataclasses import replace

import numpy as np
import pytest

from evimem.edges.fact_vectors import FactMatrix, vectors_of_rows
from evimem.index import hnsw
from evimem.index import sketches as sketches_of_vectors
from evimem.store import nearest
from evimem.store.nearest import FactGraph, FactSketches
from evimem.types.vectors import pack
from tests.reference.flat_index import FlatIndex

DIMENSION = 32
COUNT = 3_000
needs_hnswlib = pytest.mark.skipif(not hnsw.has_hnswlib(), reason="an extra without wheels")


@pytest.fixture(scope="module")
def known():
    rng = np.random.default_rng(3)
    centres = rng.normal(size=(100, DIMENSION))
    vectors = centres[rng.integers(100, size=COUNT)] + 0.6 * rng.normal(size=(COUNT, DIMENSION))
    packed = [pack((row / np.linalg.norm(row)).astype(np.float32)) for row in vectors]
    places = np.arange(COUNT)
    return FactMatrix(
        2 * places, places, places, np.stack([one for one, _ in packed]), np.array([scale for _, scale in packed])
    )


def part(known, places):
    columns = (known.rows, known.turns, known.instants, known.quantized, known.scales)
    return FactMatrix(*(column[places] for column in columns))


def recall(graph, known, allowed=None):
    allowed = np.ones(COUNT, np.bool_) if allowed is None else allowed
    there = known.rows[allowed[known.turns]]
    oracle = FlatIndex(DIMENSION)
    oracle.add(there, vectors_of_rows(known, there))
    rng = np.random.default_rng(8)
    asked = vectors_of_rows(known, rng.choice(known.rows, 40)) + 0.3 * rng.normal(size=(40, DIMENSION)) / DIMENSION**0.5
    found = [
        len(set(graph.find_nearest(known, one, allowed, 10)) & set(oracle.search(one, 10).positions.tolist()))
        for one in asked.astype(np.float32)
    ]
    return sum(found) / (10 * len(found))


@needs_hnswlib
def test_it_grows_and_forgets_without_being_built_anew(known, monkeypatch):
    made = []
    monkeypatch.setattr(nearest, "HnswIndex", lambda *given: made.append(hnsw.HnswIndex(*given)) or made[-1])
    graph = FactGraph()
    assert recall(graph, part(known, np.arange(2_000))) >= 0.95
    assert recall(graph, known) >= 0.95
    left = np.flatnonzero(np.arange(COUNT) % 3 > 0)
    assert recall(graph, part(known, left)) >= 0.95
    assert len(made) == 1


@needs_hnswlib
def test_it_knows_filters(known):
    assert recall(FactGraph(), known, np.arange(COUNT) % 50 == 0) == 1.0


@needs_hnswlib
@pytest.mark.parametrize("change", ["another embedder", "half of it gone"])
def test_it_is_built_anew_for_other_vectors_and_where_half_is_gone(known, monkeypatch, change):
    made = []
    monkeypatch.setattr(nearest, "HnswIndex", lambda *given: made.append(hnsw.HnswIndex(*given)) or made[-1])
    graph = FactGraph()
    assert recall(graph, part(known, np.arange(900))) >= 0.95
    later = part(known, np.arange(900) if change == "another embedder" else np.arange(400))
    if change == "another embedder":
        later = replace(later, quantized=later.quantized[::-1], scales=later.scales[::-1])
    assert recall(graph, later) >= 0.95
    assert len(made) == 2


@pytest.mark.parametrize("nearest_by", [FactGraph, FactSketches])
def test_without_facts_nothing_is_near(known, nearest_by):
    none = part(known, np.arange(0))
    assert nearest_by().find_nearest(none, np.ones(DIMENSION, np.float32), np.ones(0, np.bool_), 3) == []


def made_small(monkeypatch):
    monkeypatch.setattr(nearest, "MAX_COMPARED_FACTS", 100)
    monkeypatch.setattr(nearest, "SKETCHED", 600)
    monkeypatch.setattr(sketches_of_vectors, "SAMPLE_VECTORS", 500)
    return FactSketches()


def test_sketches_find_what_comparing_all_finds_through_growth_and_forgetting(known, monkeypatch):
    sketches = made_small(monkeypatch)
    left = np.flatnonzero(np.arange(COUNT) % 3 > 0)
    for some in (part(known, np.arange(2_000)), known, part(known, left), known):
        assert recall(sketches, some) >= 0.95
    assert recall(sketches, known, np.arange(COUNT) % 50 == 0) == 1.0, "few are all compared"


def test_sketches_are_made_anew_for_other_vectors(known, monkeypatch):
    sketches = made_small(monkeypatch)
    assert recall(sketches, known) >= 0.95
    assert recall(sketches, replace(known, quantized=known.quantized[::-1], scales=known.scales[::-1])) >= 0.95
