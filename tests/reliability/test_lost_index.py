"""The vector index is a cache: without it every turn is found, and a rebuilt one finds the same."""

from collections.abc import Sequence
from pathlib import Path
from random import Random
from zlib import crc32

import numpy as np
import pytest

from evimem import Memory
from evimem.types.vectors import Vectors
from tests.sizes import sizes

from .support.world import open_memory, said

pytest.importorskip("hnswlib", reason="an extra without wheels")
DIMENSION = 384
LIKE_EXACT, LIKE_BEFORE = 0.95, 0.99  # the least shares of the ten nearest
PROBES = 200


class Scattered:
    """Embeds each text near the direction of its last word before the number."""

    name, dimension = "rows_with_several_times", DIMENSION

    def embed(self, texts: Sequence[str]) -> Vectors:
        rows = np.stack([_direction(text.split()[-2]) + 0.8 * _direction(text) for text in texts])
        return np.asarray(rows / np.linalg.norm(rows, axis=1, keepdims=True), dtype=np.float32)


def _direction(text: str) -> Vectors:
    row = np.random.default_rng(crc32(text.encode())).normal(size=DIMENSION)
    return np.asarray(row / np.linalg.norm(row), dtype=np.float32)


EMBEDDER = Scattered()


def opened(path: Path, least: int) -> Memory:
    return open_memory(path, embedder=EMBEDDER, index_from=least)


def nearest(memory: Memory, probes: Vectors) -> list[set[int]]:
    """Return the ten nearest to each probe by the vector index of the memory."""
    store = memory._core.store
    with store.db.reading():
        index = store.ann.complete_index(store.corpus(), store.ann_origin())
        assert index is not None, "there is no index"
        return [set(index.search(probe, 10).positions.tolist()) for probe in probes]


def compared(memory: Memory, probes: Vectors) -> list[set[int]]:
    """Return the ten nearest to each probe by exact comparison with every stored vector."""
    store = memory._core.store
    with store.db.reading():
        corpus = store.corpus()
        rows = corpus.vectors[: len(corpus)] * corpus.scale[: len(corpus), None]
    norms = np.linalg.norm(rows, axis=1)
    scores = probes @ (rows / np.where(norms == 0, 1, norms)[:, None]).T
    return [set(order[:10].tolist()) for order in np.argsort(-scores, axis=1)]


def shared(one: list[set[int]], other: list[set[int]]) -> float:
    return float(np.mean([len(mine & theirs) / 10 for mine, theirs in zip(one, other, strict=True)]))


@pytest.mark.parametrize("count", sizes(1_000, nightly=20_000, reduced=500))
def test_a_lost_index_is_rebuilt_and_finds_the_same(disk, seed, count, tell):
    random, path = Random(seed), disk / "m.evimem"
    asked = [said(random.randrange(count)).text.rpartition(" ")[0] for _ in range(PROBES)]
    probes = EMBEDDER.embed([f"{text} {count + number}" for number, text in enumerate(asked)])
    with opened(path, 500) as memory:
        memory.extend([said(number) for number in range(count)], strict=True)
        memory.enrich()
        exact, before = compared(memory, probes), nearest(memory, probes)
        found = [hit.turn.id for hit in memory.search(said(17).text, k=10)]
    with opened(path, 500) as memory:
        assert nearest(memory, probes) == before, "opened again, it finds something else"
        assert [hit.turn.id for hit in memory.search(said(17).text, k=10)] == found
    (disk / "m.evimem.ann").unlink()
    with opened(path, 500) as memory:
        assert memory.stats().turns == count
        assert memory.search(said(17).text, k=1)[0].turn.id == "t17"
        assert compared(memory, probes) == exact, "with the index, vectors were lost"
        memory.enrich()
        again = nearest(memory, probes)
    like_exact, like_before = shared(before, exact), shared(again, before)
    assert like_exact >= LIKE_EXACT
    assert like_before >= LIKE_BEFORE
    tell(f"{count} vectors of {DIMENSION}: recall@10 {like_exact:.3f} of comparing all; built again, {like_before:.3f}")
