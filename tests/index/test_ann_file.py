"""The file of an HNSW index: what is damaged, foreign or newer than the memory never reaches native code."""

import os
import random
import struct
import threading
from dataclasses import replace

import numpy as np
import pytest

from evimem.errors import StoreError
from evimem.index import ann_file
from evimem.index.ann_file import Origin, load, save
from evimem.index.graphs import HnswlibGraph, VoyagerGraph
from evimem.index.hnsw import HnswIndex, SearchWidth

DIMENSION = 16
ORIGIN = Origin("store-1", "static-minilm-256", DIMENSION)
COUNT = 300


def vectors(count=COUNT):
    rows = np.random.default_rng(1).normal(size=(count, DIMENSION)).astype(np.float32)
    return rows / np.linalg.norm(rows, axis=1, keepdims=True)


def exact(positions):
    return np.where(positions % 2, -1, 1)[:, None] * vectors()[positions // 2]


def loaded(path, origin=ORIGIN, positions=2 * COUNT):
    return load(path, origin, positions, exact)


def built():
    index = HnswIndex(DIMENSION, exact)
    index.add(np.arange(0, 2 * COUNT, 2), vectors())
    index.effort = SearchWidth(77, 120)
    return index


@pytest.fixture
def path(tmp_path):
    path = tmp_path / "m.evimem-ann"
    save(path, built(), ORIGIN)
    return path


@pytest.fixture
def native(monkeypatch):
    """What native code was given to read."""
    given = []
    monkeypatch.setattr(HnswIndex, "load", lambda self, file, effort: given.append(file.read()))
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
    save(tmp_path / "ann", HnswIndex(DIMENSION, exact), ORIGIN)
    assert not loaded(tmp_path / "ann")


@pytest.mark.parametrize(
    ("origin", "positions", "reason"),
    [
        (replace(ORIGIN, store="store-2"), 2 * COUNT, "store"),
        (replace(ORIGIN, embedder="other"), 2 * COUNT, "embedder"),
        (replace(ORIGIN, dimension=8), 2 * COUNT, "dimension"),
        (ORIGIN, 2 * COUNT - 2, "position 598, expected 300 below 598"),
        (ORIGIN, 0, "position"),
    ],
)
def test_an_index_of_another_memory_or_newer_than_this_one_is_not_used(path, origin, positions, reason, caplog):
    assert loaded(path, origin, positions) is None
    assert reason in caplog.text
    assert "m.evimem-ann" not in caplog.text


def test_an_index_that_another_library_wrote_is_not_used(path, monkeypatch, caplog):
    other = property(lambda self: "voyager-9", lambda self, kind: None)
    monkeypatch.setattr(VoyagerGraph, "kind", other, raising=False)
    save(path, HnswIndex(DIMENSION, exact, VoyagerGraph(DIMENSION)), ORIGIN)
    monkeypatch.undo()
    assert loaded(path) is None
    assert "its kind is another" in caplog.text


def test_every_truncation_is_noticed_before_native_code(path, native):
    data = path.read_bytes()
    header = data.index(b"}") + 60
    for length in {*range(header), *range(header, len(data), 509), len(data) - 1}:
        path.write_bytes(data[:length])
        assert loaded(path) is None, length
    assert native == []


def test_a_flipped_bit_in_any_byte_of_the_header_and_anywhere_else_is_noticed_before_native_code(path, native):
    data, chance = path.read_bytes(), random.Random(7)
    header = data.index(b"}") + 60
    flips = [8 * byte + chance.randrange(8) for byte in range(header)]
    flips += chance.sample(range(header * 8, len(data) * 8), 300)
    for bit in flips:
        flipped = bytearray(data)
        flipped[bit // 8] ^= 1 << bit % 8
        path.write_bytes(flipped)
        assert loaded(path) is None, bit
    assert native == []


@pytest.mark.parametrize(
    "damage",
    [
        lambda data: b"",
        lambda data: bytes(len(data)),
        lambda data: data + b"\0",
        lambda data: data + data,
        lambda data: data[:4096] + bytes(4096) + data[8192:],
        lambda data: data[:4096] + data[8192:12288] + data[4096:8192] + data[12288:],
        lambda data: data[:8] + struct.pack("<I", 1 << 31) + data[12:],
        lambda data: random.Random(3).randbytes(20_000),
    ],
)
def test_zeroed_swapped_doubled_and_invented_files_are_noticed_before_native_code(path, native, damage):
    path.write_bytes(damage(path.read_bytes()))
    assert loaded(path) is None
    assert native == []


def test_a_whole_file_reaches_native_code(path, native):
    loaded(path)
    assert len(native) == 1


def test_what_a_library_cannot_read_is_a_reason_too(path, monkeypatch, caplog):
    monkeypatch.setattr(VoyagerGraph, "save", lambda self, file: file.write(b"not a graph"))
    save(path, HnswIndex(DIMENSION, exact, VoyagerGraph(DIMENSION)), ORIGIN)
    monkeypatch.setattr("evimem.index.graphs.find_spec", lambda name: None)
    assert loaded(path) is None
    assert "could not read" in caplog.text


def test_a_graph_that_is_not_what_the_header_counts_is_not_used(path, monkeypatch, caplog):
    monkeypatch.setattr(HnswIndex, "__len__", lambda self: COUNT + 1)
    save(path, built(), ORIGIN)
    monkeypatch.undo()
    assert loaded(path) is None
    assert "expected 301" in caplog.text


def test_a_save_that_fails_leaves_the_old_file_and_nothing_else(path, monkeypatch):
    before = path.read_bytes()

    def fail(self, file):
        file.write(b"half")
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(HnswIndex, "save", fail)
    with pytest.raises(OSError, match="No space"):
        save(path, built(), ORIGIN)
    assert path.read_bytes() == before
    assert os.listdir(path.parent) == [path.name]


def test_saving_leaves_no_copies_and_searches_go_on(path, tmp_path):
    index, failures, done = built(), [], threading.Event()

    def search():
        while not done.is_set():
            if index.search(vectors()[5], 1).positions[0] != 10:
                failures.append(1)

    thread = threading.Thread(target=search, daemon=True)
    thread.start()
    for _ in range(5):
        save(path, index, ORIGIN)
    done.set()
    thread.join(timeout=60)
    assert failures == []
    assert os.listdir(tmp_path) == [path.name]
    assert loaded(path) is not None


class Runaway(VoyagerGraph):
    def save(self, file):
        for _ in range(2_000):
            file.write(bytes(4_096))


@pytest.mark.parametrize("dimension", [2, 256])
@pytest.mark.parametrize("library", [VoyagerGraph, HnswlibGraph])
def test_a_graph_that_writes_far_too_much_is_cut_off_and_the_old_one_stays(path, dimension, library):
    rows = np.random.default_rng(1).normal(size=(COUNT, dimension)).astype(np.float32)
    index = HnswIndex(dimension, lambda positions: rows[positions], Runaway(dimension))
    index.add(range(COUNT), rows)
    with pytest.raises(StoreError, match="grew beyond"):
        save(path, index, replace(ORIGIN, dimension=dimension))
    assert len(loaded(path)) == COUNT
    assert list(path.parent.iterdir()) == [path]
    if library is HnswlibGraph:
        pytest.importorskip("hnswlib", reason="an extra without wheels")
    honest = HnswIndex(dimension, lambda positions: rows[positions], library(dimension))
    honest.add(range(COUNT), rows)
    save(path, honest, ORIGIN)
    assert path.stat().st_size < ann_file.most_bytes(COUNT, dimension) / 2 + 65_536
