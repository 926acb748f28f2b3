"""Similar facts: the blocked search equals comparing each fact with each other, and the check sees every wrong edge."""

from __future__ import annotations

from datetime import datetime, timedelta
from pathlib import Path

import numpy as np
import pytest

import evimem
from evimem import Memory
from evimem.edges import edge_table, fact_vectors
from evimem.edges.fact_vectors import FactMatrix
from evimem.edges.link_rules import PER_FACT
from evimem.embedding.quantize import pack

NOON = datetime(2024, 3, 12, 12)


def matrix(count: int, *, in_order: bool, seed: int = 0) -> FactMatrix:
    random = np.random.default_rng(seed)
    vectors = random.normal(size=(count, 16)) + 4 * random.normal(size=(12, 16))[random.integers(0, 12, count)]
    packed = [pack((row / np.linalg.norm(row)).astype(np.float32)) for row in vectors]
    quantized, scales = np.stack([one for one, _ in packed]), np.array([scale for _, scale in packed])
    instants = np.arange(count) // 3 if in_order else random.integers(0, count, count)
    rows = np.cumsum(random.integers(1, 4, count))
    floats = (quantized * scales[:, None]).astype(np.float32)
    return FactMatrix(rows, random.integers(0, count, count), instants, floats, quantized, scales)


def one_by_one(known: FactMatrix, position: int, least: float) -> list[tuple[int, float]]:
    found = []
    for other in range(len(known)):
        earlier = (known.instants[other], known.rows[other]) < (known.instants[position], known.rows[position])
        if earlier and known.turns[other] != known.turns[position]:
            dot = int(known.quantized[other].astype(int) @ known.quantized[position].astype(int))
            cosine = dot * float(known.scales[other] * known.scales[position])
            found += [(other, min(1.0, cosine))] if cosine >= least else []
    return sorted(found, key=lambda one: (-one[1], one[0]))[:PER_FACT]


@pytest.mark.parametrize("in_order", [True, False])
@pytest.mark.parametrize("only_earlier", [True, False])
def test_similar_facts_are_those_of_comparing_each_with_each(
    monkeypatch: pytest.MonkeyPatch, in_order: bool, only_earlier: bool
) -> None:
    monkeypatch.setattr(fact_vectors, "_BLOCK", 7)
    monkeypatch.setattr(fact_vectors, "_TILE", 50)
    known = matrix(180, in_order=in_order)
    found = list(known.similar(range(180), 0.7, only_earlier=only_earlier))
    assert sum(len(one.links) for one in found) > 300
    for one in found:
        assert list(one.links) == one_by_one(known, one.position, 0.7)


@pytest.fixture
def linked(memory: Memory) -> Memory:
    for number, place in enumerate(("Porto", "Leeds", "Porto", "Leeds", "Porto") * 4):
        memory.add("Mira", f"I like the old harbour in {place}.", time=NOON + timedelta(minutes=number))
    assert memory.stats().edges["similar"] > 10
    return memory


@pytest.mark.parametrize("exact", [True, False], ids=["all facts", "a sample"])
@pytest.mark.parametrize(
    "damage",
    [
        "UPDATE edge SET weight = weight * 0.999 WHERE target = (SELECT max(target) FROM edge)",
        "UPDATE edge SET weight = weight * 0.999 WHERE source = (SELECT min(source) FROM edge)",
        "DELETE FROM edge",
    ],
)
def test_the_check_sees_edges_that_the_vectors_do_not_give(
    linked: Memory, monkeypatch: pytest.MonkeyPatch, exact: bool, damage: str
) -> None:
    if not exact:
        monkeypatch.setattr(edge_table, "EXACT", 4)
        monkeypatch.setattr(edge_table, "SAMPLE", 3)
    assert linked.check().problems == ()
    db = linked._core.store._handle.db
    with db.writing():
        db.execute(damage)
    assert "other edges than their vectors give" in " ".join(linked.check().problems)


def test_edges_across_blocks_survive_forgetting(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fact_vectors, "_TILE", 3)
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
