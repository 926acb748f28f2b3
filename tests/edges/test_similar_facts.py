"""Similar facts: the blocked search equals comparing each fact with each other, and the check sees every wrong edge."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from random import Random

import numpy as np
import pytest

import evimem
from evimem.edges import fact_vectors
from evimem.edges.fact_vectors import PER_FACT, CellIndex, FactMatrix, SimilarFacts
from evimem.store import handle
from evimem.types.vectors import Vectors, pack

NOON = datetime(2024, 3, 12, 12)
Search = Callable[[FactMatrix, Sequence[int], float], Iterator[SimilarFacts]]


def matrix(count: int, *, in_order: bool, spread: float = 1.0, seed: int = 0) -> FactMatrix:
    random = np.random.default_rng(seed)
    vectors = spread * random.normal(size=(count, 16)) + 4 * random.normal(size=(12, 16))[random.integers(0, 12, count)]
    packed = [pack((row / np.linalg.norm(row)).astype(np.float32)) for row in vectors]
    quantized, scales = np.stack([one for one, _ in packed]), np.array([scale for _, scale in packed])
    instants = np.arange(count) // 3 if in_order else random.integers(0, count, count)
    rows = np.cumsum(random.integers(1, 4, count))
    turns = random.integers(0, count, count)
    return FactMatrix(rows, np.sort(turns) if in_order else turns, instants, quantized, scales)


def one_by_one(known: FactMatrix, position: int, least: float, *, window: int | None = None) -> list[tuple[int, float]]:
    found = []
    for other in range(len(known)):
        if window is not None and abs(known.rows[other] - known.rows[position]) > window:
            continue
        earlier = (known.instants[other], known.turns[other]) < (known.instants[position], known.turns[position])
        if earlier and known.turns[other] != known.turns[position]:
            dot = int(known.quantized[other].astype(int) @ known.quantized[position].astype(int))
            cosine = dot * float(known.scales[other] * known.scales[position])
            found += [(other, min(1.0, cosine))] if cosine >= least else []
    return sorted(found, key=lambda one: (-one[1], known.turns[one[0]], one[0]))[:PER_FACT]


@pytest.mark.parametrize("in_order", [True, False])
@pytest.mark.parametrize("search", [FactMatrix.find_similar, FactMatrix.find_similar_in_window])
def test_similar_facts_are_those_of_comparing_each_with_each(monkeypatch, in_order, search):
    monkeypatch.setattr(fact_vectors, "_BLOCK_FACTS", 7)
    known = matrix(180, in_order=in_order)
    found = list(search(known, range(180), 0.7))
    assert sum(len(one.links) for one in found) > 300
    for one in found:
        assert list(one.links) == one_by_one(known, one.position, 0.7)


@pytest.mark.parametrize("search", [FactMatrix.find_similar, FactMatrix.find_similar_in_window])
def test_of_facts_that_are_all_the_same_the_oldest_are_kept(search):
    """Stored vectors are not quite of length one: their products exceed 1 by more or less, and count as 1."""
    known = matrix(60, in_order=True, spread=0.001)
    known = replace(known, scales=known.scales * np.random.default_rng(2).uniform(1.0, 1.002, 60))
    for one in search(known, range(60), 0.7):
        assert list(one.links) == one_by_one(known, one.position, 0.7)


@pytest.mark.parametrize("in_order", [True, False])
def test_nearby_facts_are_those_whose_rows_are_near(monkeypatch, in_order):
    monkeypatch.setattr(fact_vectors, "_BLOCK_FACTS", 7)
    monkeypatch.setattr(fact_vectors, "WINDOW_FACTS", 30)
    known = matrix(180, in_order=in_order)
    for one in known.find_similar_in_window(range(180), 0.7):
        assert list(one.links) == one_by_one(known, one.position, 0.7, window=30)


@pytest.mark.parametrize("in_order", [True, False])
def test_beyond_the_window_cells_find_nearly_what_comparing_all_would(monkeypatch, in_order):
    monkeypatch.setattr(fact_vectors, "WINDOW_FACTS", 40)
    monkeypatch.setattr(fact_vectors, "IN_A_CELL", 20)
    known = matrix(400, in_order=in_order)
    cells = CellIndex()
    cells.extend(known.quantized.astype(np.float32))
    wanted = found = windowed = 0
    for one in replace(known, cells=cells).find_similar(range(400), 0.7):
        every = one_by_one(known, one.position, 0.7)
        wanted += len(every)
        found += len(set(every) & set(one.links))
        windowed += sum(abs(at - one.position) <= 40 for at, _ in every)
    assert windowed < 0.3 * wanted
    assert found > 0.93 * wanted


def test_a_fact_is_compared_with_no_more_others_in_a_larger_memory(monkeypatch):
    monkeypatch.setattr(fact_vectors, "WINDOW_FACTS", 30)
    monkeypatch.setattr(fact_vectors, "IN_A_CELL", 2)
    compared: list[int] = []
    honest = FactMatrix._floats

    def counting(self: FactMatrix, which: slice) -> Vectors:
        found = honest(self, which)
        compared.append(len(found))
        return found

    monkeypatch.setattr(FactMatrix, "_floats", counting)
    for count in (300, 3_000):
        known, cells = matrix(count, in_order=True), CellIndex()
        cells.extend(known.quantized.astype(np.float32))
        compared.clear()
        list(replace(known, cells=cells).find_similar([count - 1], 0.7))
        list(known.find_similar_in_window([count - 1], 0.7))
        assert sum(compared) <= 2 * (30 + 2) + 2 * 2 * len(fact_vectors._PAIRS), "more facts are compared"


def test_a_cell_holds_the_vectors_that_two_hashes_take_for_alike():
    vectors = matrix(150, in_order=True).quantized.astype(np.float32)
    whole, parts = CellIndex(), CellIndex()
    whole.extend(vectors)
    parts.extend(vectors[:100])
    parts.extend(vectors[100:])
    hashes = fact_vectors._hash_rows(vectors)
    for position in range(150):
        alike = hashes == hashes[position]
        shared = np.zeros(150, bool)
        for one, two in fact_vectors._PAIRS:
            shared |= alike[:, one] & alike[:, two]
        assert (
            whole.positions_sharing_a_cell(position, 150).tolist()
            == parts.positions_sharing_a_cell(position, 150).tolist()
            == np.flatnonzero(shared).tolist()
        )
        assert len(whole.positions_sharing_a_cell(position, 1)) <= 1 + 2 * len(fact_vectors._PAIRS)


@pytest.fixture
def linked(memory):
    for number, place in enumerate(("Porto", "Leeds", "Porto", "Leeds", "Porto") * 4):
        memory.add("Mira", f"I like the old harbour in {place}.", time=NOON + timedelta(minutes=number))
    assert memory.stats().edges["similar"] > 10
    return memory


@pytest.mark.parametrize("window", [8_192, 6])
@pytest.mark.parametrize(
    "damage",
    [
        "UPDATE edge SET weight = weight * 0.999 WHERE target = (SELECT max(target) FROM edge)",
        "UPDATE edge SET weight = weight * 0.999 WHERE source = (SELECT min(source) FROM edge)",
        "UPDATE edge SET source = 2 WHERE (source, target) = (SELECT min(source), max(target) FROM edge)",
        "DELETE FROM edge WHERE target = (SELECT max(target) FROM edge)",
        "DELETE FROM edge",
        "DELETE FROM fact_vector",
    ],
)
def test_the_check_sees_edges_that_the_vectors_do_not_give(linked, monkeypatch, window, damage):
    monkeypatch.setattr(fact_vectors, "WINDOW_FACTS", window)
    assert linked.check().problems == ()
    db = linked._core.store.db
    with db.writing():
        db.execute(damage)
    assert "other edges than their vectors give" in " ".join(linked.check().problems)


@pytest.mark.parametrize("in_order", [True, False])
def test_a_memory_beyond_the_window_checks_clean_after_late_turns_and_forgetting(tmp_path, monkeypatch, in_order):
    monkeypatch.setattr(fact_vectors, "WINDOW_FACTS", 9)
    monkeypatch.setattr(fact_vectors, "IN_A_CELL", 2)
    minutes = list(range(45)) if in_order else Random(3).sample(range(45), 45)
    with evimem.open(tmp_path / "m.evimem") as memory:
        for number, minute in enumerate(minutes):
            place = ("Porto", "Leeds", "Lyon", "Ghent", "Turku")[number * number % 11 % 5]
            said = f"I like the old harbour in {place}, number {number % 7}."
            memory.add("Mira", said, time=NOON + timedelta(minutes=minute), id=f"{number}")
            memory.enrich()
            if number % 15 == 14:
                assert memory.check().problems == ()
        for first in (0, 15, 30):
            memory.forget(turns=[str(number) for number in range(first, first + 12, 2)])
            assert memory.check().problems == ()
        db = memory._core.store.db
        far = db.read_value("SELECT count(*) FROM edge WHERE target - source > 9")
    assert far > 0, "cells found nothing beyond the window"


def test_edges_across_blocks_survive_forgetting(tmp_path, monkeypatch):
    monkeypatch.setattr(fact_vectors, "_BLOCK_FACTS", 3)
    with evimem.open(tmp_path / "m.evimem") as memory:
        for number in range(12):
            memory.add(
                "Mira",
                f"I like the harbour number {number % 3}.",
                time=NOON - timedelta(minutes=number),
                id=f"{number}",
            )
        memory.forget(turns=["3", "7"])
        assert memory.check().problems == ()


def test_a_fact_that_lost_a_link_is_linked_again_and_no_other_is(monkeypatch, tmp_path):
    """In a memory whose links are queued, forgetting one of many that say the same costs as much as it queues."""
    monkeypatch.setattr(handle, "LINK_NOW", 4)
    with evimem.open(tmp_path / "m.evimem") as memory:
        said = [(f"I bought a red bike on day {number}.", NOON + timedelta(days=number)) for number in range(40)]
        memory.extend([evimem.Turn(f"t{at.day}-{at.month}", "s", "Mira", text, at) for text, at in said])
        memory.enrich()
        compared, similar = list[int](), FactMatrix.find_similar
        monkeypatch.setattr(
            FactMatrix, "find_similar", lambda known, some, least: compared.extend(some) or similar(known, some, least)
        )
        memory.forget(turns=["t12-3"])
        queued = memory.health().pending["link"]
        memory.enrich()
        assert 0 < len(compared) <= queued
        assert memory.check().status == "ok"
