"""The files of an HNSW index: one that is damaged, foreign or newer than the memory is not used."""

import os
import random
import threading
from dataclasses import replace

import numpy as np
import pytest

from evimem.index.hnsw import HnswIndex, SearchWidth
from evimem.index.saved_index import Origin, description_path, load_index, save_index

pytest.importorskip("hnswlib", reason="an extra without wheels")

DIMENSION = 16
ORIGIN = Origin("store-1", "static-minilm-256", DIMENSION)
COUNT = 300
FILES = ["m.evimem.ann", "m.evimem.ann.json"]


def vectors(count=COUNT):
    rows = np.random.default_rng(1).normal(size=(count, DIMENSION)).astype(np.float32)
    return rows / np.linalg.norm(rows, axis=1, keepdims=True)


def exact(positions):
    return np.where(positions % 2, -1, 1)[:, None] * vectors()[positions // 2]


def loaded(path, origin=ORIGIN, positions=2 * COUNT):
    return load_index(path, origin, positions, exact)


def built():
    index = HnswIndex(DIMENSION, exact)
    index.add(np.arange(0, 2 * COUNT, 2), vectors())
    index.effort = SearchWidth(77, 120)
    return index


@pytest.fixture
def path(tmp_path):
    path = tmp_path / "m.evimem.ann"
    save_index(path, built(), ORIGIN)
    return path


@pytest.fixture
def native(monkeypatch):
    """The files that native code was given to read."""
    given = []
    monkeypatch.setattr(HnswIndex, "load", lambda self, path: given.append(path))
    return given


def test_what_was_saved_is_found_again_with_its_effort(path):
    index, expected = loaded(path), built()
    assert len(index) == COUNT
    assert index.effort == SearchWidth(77, 120)
    assert list(index.positions()) == list(range(0, 2 * COUNT, 2))
    for query in vectors(9):
        assert list(index.search(query, 10).positions) == list(expected.search(query, 10).positions)


def test_a_loaded_index_grows_on(path):
    index = loaded(path, positions=10 * COUNT)
    index.add(range(1, 2 * COUNT, 2), -vectors())
    assert index.search(-vectors()[4], 1).positions[0] == 9
    assert len(index) == 2 * COUNT


def test_a_file_older_than_the_memory_lacks_only_what_came_since(path):
    index = loaded(path, positions=10 * COUNT)
    assert set(range(2 * COUNT)) - set(index.positions()) == set(range(1, 2 * COUNT, 2))


def test_an_empty_index_comes_back_empty_or_not_at_all(tmp_path):
    save_index(tmp_path / "ann", HnswIndex(DIMENSION, exact), ORIGIN)
    assert not loaded(tmp_path / "ann")


@pytest.mark.parametrize(
    ("origin", "positions", "reason"),
    [
        (replace(ORIGIN, store="store-2"), 2 * COUNT, "store"),
        (replace(ORIGIN, embedder="other"), 2 * COUNT, "embedder"),
        (replace(ORIGIN, dimension=8), 2 * COUNT, "dimension"),
        (ORIGIN, 2 * COUNT - 2, "position 598, expected 598 positions"),
        (ORIGIN, 0, "position"),
    ],
)
def test_an_index_of_another_memory_or_newer_than_this_one_is_not_used(path, origin, positions, reason, caplog):
    assert loaded(path, origin, positions) is None
    assert reason in caplog.text
    assert "m.evimem" not in caplog.text


def test_an_index_that_another_library_wrote_is_not_used(path, caplog):
    index = built()
    index.library = "voyager 2"
    save_index(path, index, ORIGIN)
    assert loaded(path) is None
    assert "its library is another" in caplog.text


@pytest.mark.parametrize("name", FILES)
def test_every_truncation_is_noticed_before_native_code(path, native, name):
    file = path.with_name(name)
    data = file.read_bytes()
    for length in {*range(100), *range(100, len(data), 509), len(data) - 1}:
        file.write_bytes(data[:length])
        assert loaded(path) is None, length
    assert native == []


@pytest.mark.parametrize("name", FILES)
def test_a_flipped_bit_is_noticed_before_native_code(path, native, name):
    file = path.with_name(name)
    data, chance = file.read_bytes(), random.Random(7)
    for bit in chance.sample(range(len(data) * 8), 300):
        flipped = bytearray(data)
        flipped[bit // 8] ^= 1 << bit % 8
        file.write_bytes(flipped)
        assert loaded(path) is None, bit
    assert native == []


@pytest.mark.parametrize("name", FILES)
@pytest.mark.parametrize(
    "damage",
    [
        lambda data: b"",
        lambda data: bytes(len(data)),
        lambda data: data + b"\0",
        lambda data: data + data,
        lambda data: data[: len(data) // 2] + bytes(40) + data[len(data) // 2 + 40 :],
        lambda data: b"[]",
        lambda data: b"{}",
        lambda data: b'{"checksum": null}',
        lambda data: random.Random(3).randbytes(20_000),
    ],
)
def test_zeroed_doubled_and_invented_files_are_noticed_before_native_code(path, native, name, damage):
    file = path.with_name(name)
    file.write_bytes(damage(file.read_bytes()))
    assert loaded(path) is None
    assert native == []


def test_a_graph_without_its_description_is_none(path, native, caplog):
    description_path(path).unlink()
    assert loaded(path) is None
    assert native == []
    assert caplog.text == "", "it is built again, as where there was none"


def test_the_graph_of_another_build_does_not_fit_the_description(path, native, caplog):
    old = path.read_bytes()
    index = built()
    index.add([1], -vectors()[:1])
    save_index(path, index, ORIGIN)
    path.write_bytes(old)
    assert loaded(path) is None
    assert "checksum" in caplog.text
    assert native == []


def test_whole_files_reach_native_code(path, native):
    loaded(path)
    assert native == [path]


def test_a_graph_that_the_library_cannot_read_is_a_reason_too(path, monkeypatch, caplog):
    def write(self, path):
        self._graph.save_index(str(path))
        path.write_bytes(path.read_bytes() + bytes(8))
        return path.stat().st_size

    monkeypatch.setattr(HnswIndex, "save", write)
    save_index(path, built(), ORIGIN)
    assert loaded(path) is None
    assert "cannot be read" in caplog.text


def test_a_graph_that_is_replaced_while_it_is_read_is_not_used(path, monkeypatch, caplog):
    load = HnswIndex.load

    def replaced(self, path):
        save_index(path, built(), ORIGIN)
        load(self, path)

    monkeypatch.setattr(HnswIndex, "load", replaced)
    assert loaded(path) is None
    assert "replaced" in caplog.text


@pytest.mark.parametrize("written", [0, 4096])
def test_a_save_that_is_cut_short_leaves_the_old_files_and_nothing_else(path, monkeypatch, written):
    before = path.read_bytes()
    save = HnswIndex.save

    def cut(self, path):
        size = save(self, path)
        os.truncate(path, written)
        return size

    monkeypatch.setattr(HnswIndex, "save", cut)
    with pytest.raises(OSError, match="No space"):
        save_index(path, built(), ORIGIN)
    assert path.read_bytes() == before
    assert sorted(os.listdir(path.parent)) == FILES
    assert len(loaded(path)) == COUNT


def test_saving_leaves_no_copies_and_searches_go_on(path, tmp_path):
    index, failures, done = built(), [], threading.Event()

    def search():
        while not done.is_set():
            if index.search(vectors()[5], 1).positions[0] != 10:
                failures.append(1)

    thread = threading.Thread(target=search, daemon=True)
    thread.start()
    for _ in range(5):
        save_index(path, index, ORIGIN)
    done.set()
    thread.join(timeout=60)
    assert failures == []
    assert sorted(os.listdir(tmp_path)) == FILES
    assert loaded(path) is not None


@pytest.mark.parametrize("dimension", [2, 256])
def test_a_graph_takes_little_more_room_than_its_vectors(path, dimension):
    rows = np.random.default_rng(1).normal(size=(2_000, dimension)).astype(np.float32)
    index = HnswIndex(dimension, lambda positions: rows[positions])
    index.add(range(2_000), rows)
    save_index(path, index, replace(ORIGIN, dimension=dimension))
    assert path.stat().st_size < 2_000 * (4 * dimension + 512)
