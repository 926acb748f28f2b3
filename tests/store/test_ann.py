"""The vector index of a large memory: a cache that may be missing, stale or damaged, without forgotten turns."""

import contextlib
import subprocess
import sys
from pathlib import Path

import pytest

from evimem import Memory, StoreReadOnly
from evimem.api.core import Core
from evimem.db.atomic_files import create_temporary
from evimem.embedding.static_embedder import StaticEmbedder
from evimem.loaders.examples import load_example
from evimem.store import handle, nearest
from evimem.store.sqlite import SqliteStore

pytest.importorskip("hnswlib", reason="an extra without wheels")

TURNS = load_example("friends")
EMBEDDER = StaticEmbedder()


def opened(folder: Path) -> Memory:
    store = SqliteStore(folder / "m.evimem", EMBEDDER.name, EMBEDDER.dimension, index_from=50)
    return Memory(Core(store, EMBEDDER))


def indexed(memory: Memory) -> int:
    store = memory._core.store
    index = store.ann.load_index(store.corpus(), store.ann_origin())
    return 0 if index is None else len(index)


@pytest.fixture
def folder(tmp_path):
    with opened(tmp_path) as memory:
        memory.extend(TURNS[:120])
        memory.enrich()
    return tmp_path


def test_the_index_is_loaded_and_extended(folder):
    with opened(folder) as memory:
        assert indexed(memory) == 120
        memory.extend(TURNS[120:130])
        assert indexed(memory) == 120
        assert [hit.turn.id for hit in memory.search(TURNS[125].text, k=1)] == [TURNS[125].id]
        memory.enrich()
        assert indexed(memory) == 130


def test_without_hnswlib_all_is_searched_and_forgetting_deletes_the_index_all_the_same(folder, monkeypatch):
    for module in (nearest, handle):
        monkeypatch.setattr(module, "has_hnswlib", lambda: False)
    with opened(folder) as memory:
        memory.enrich()
        assert indexed(memory) == 0
        assert memory.search(TURNS[5].text, k=1)[0].turn.id == TURNS[5].id
        assert memory._core.store.fact_graph is memory._core.store.fact_sketches
        memory.forget(turns=[TURNS[3].id])
        assert list(folder.glob("*.ann*")) == []


def test_a_graph_that_a_killed_process_was_writing_is_deleted_at_the_next_opening(folder):
    killed = "import os, hnswlib; hnswlib.Index.save_index = lambda self, path: os.kill(os.getpid(), 9)"
    saves = (
        "from tests.store.test_ann import TURNS, opened; from pathlib import Path; memory = opened(Path(sys.argv[1]))"
    )
    rest = "memory.extend(TURNS[120:]); memory.enrich()"
    subprocess.run([sys.executable, "-c", f"import sys; {killed}\n{saves}\n{rest}", str(folder)], check=False)
    assert [one.name.count(".") for one in folder.glob("*.tmp")] == [5]  # m.evimem.ann.<process>.<thread>.tmp
    with opened(folder):
        assert list(folder.glob("*.tmp")) == []


@pytest.mark.parametrize("name", ["m.evimem.ann", "m.evimem.ann.json"])
def test_search_works_with_a_damaged_index_file(folder, name):
    file = folder / name
    damaged = bytearray(file.read_bytes())
    damaged[len(damaged) // 2] ^= 1
    file.write_bytes(damaged)
    with opened(folder) as memory:
        assert indexed(memory) == 0
        assert len(memory.search("puppy")) == 10
        memory.enrich()
        assert indexed(memory) == 120


def test_forgetting_deletes_the_index_file(folder):
    with opened(folder) as memory:
        memory.forget(turns=[TURNS[3].id])
        assert list(folder.glob("*.ann*")) == []
        assert indexed(memory) == 0
        memory.enrich()
        assert indexed(memory) == 119


def test_forgetting_fails_whole_if_the_index_file_cannot_be_deleted(folder):
    with opened(folder) as memory:
        (folder / "m.evimem.ann").unlink()
        (folder / "m.evimem.ann").mkdir()
        with pytest.raises(StoreReadOnly, match="nothing was forgotten"):
            memory.forget(turns=[TURNS[3].id])
        assert memory.turn(TURNS[3].id).text == TURNS[3].text
        memory.extend(TURNS[120:])
        with pytest.raises(StoreReadOnly, match="searched without it"):
            memory.enrich()
        assert memory.search(TURNS[125].text, k=1)[0].turn.id == TURNS[125].id
    assert list(folder.glob("*.tmp")) == []


def test_forgetting_nothing_keeps_the_index_file(folder):
    with opened(folder) as memory:
        assert memory.forget(session="never heard of").turns == 0
        assert indexed(memory) == 120


def test_turns_forgotten_during_a_build_are_in_no_index_file(folder):
    with opened(folder) as memory:
        memory.extend(TURNS[120:])
        store = memory._core.store
        assert list(store.ann.extend_index(store.corpus(), store.ann_origin(), lambda: False)) == []
        assert not (folder / "m.evimem.ann").exists()
        assert indexed(memory) == 0


def test_vectors_missing_from_the_index_are_found(folder):
    with opened(folder) as memory:
        memory.extend(TURNS[120:])
        store = memory._core.store
        index = store.ann.complete_index(store.corpus(), store.ann_origin())
        assert index is not None
        direction = EMBEDDER.embed([f"{TURNS[150].speaker}: {TURNS[150].text}"])[0]
        assert index.search(direction, 3).positions[0] == 150


@pytest.mark.parametrize("how", ["opening", "forgetting"])
def test_temporary_files_of_killed_processes_are_deleted_and_locked_ones_stay(folder, how):
    """Found by killing processes while a user is erased: half an index was left, with vectors of forgotten turns."""
    left, busy = folder / "m.evimem.ann.123.456.tmp", folder / "m.evimem.ann.789.456.tmp"
    with contextlib.ExitStack() as stack:
        memory = stack.enter_context(opened(folder)) if how == "forgetting" else None
        left.write_bytes(b"half an index")
        writer = stack.enter_context(create_temporary(busy))
        if memory is None:
            memory = stack.enter_context(opened(folder))
        else:
            memory.forget(turns=[TURNS[3].id])
        assert (left.exists(), busy.exists()) == (False, True)
        writer.close()
        memory.forget(turns=[TURNS[4].id])
        assert not busy.exists()


def test_a_description_that_a_killed_process_was_writing_is_deleted_at_the_next_opening(folder):
    left = folder / "m.evimem.ann.json.123.456.tmp"
    left.write_bytes(b"{")
    with opened(folder) as memory:
        assert not left.exists()
        assert indexed(memory) == 120
