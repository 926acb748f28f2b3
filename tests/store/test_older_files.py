"""Memories written by earlier versions open, answer as before, and gain what is new by a rebuild."""

import gzip
from pathlib import Path

import pytest

from .test_sealing import TURNS, derived, found, opened

# Sixty turns in segments of 16, five of them long; the fourth and the fifty-first were forgotten.
VERSION_1 = Path(__file__).parent / "data" / "version_1.evimem.gz"
KEPT = [turn for at, turn in enumerate(TURNS[:60]) if at not in (3, 50)]


@pytest.fixture
def old(tmp_path):
    path = tmp_path / "old.evimem"
    path.write_bytes(gzip.decompress(VERSION_1.read_bytes()))
    return path


def test_an_older_memory_opens_whole_and_says_what_a_rebuild_would_give(old):
    with opened(old) as memory:
        assert [turn.text for turn in memory.turns()] == [turn.text for turn in KEPT]
        assert any("rebuild()" in note for note in memory.health().problems)
        long = next(turn for turn in KEPT if len(turn.text) > 480)
        hit = next(hit for hit in memory.search(long.text[:80], k=5) if hit.turn.id == long.id)
        assert hit.span == (0, len(long.text))


def test_an_older_memory_grows_and_forgets_before_it_is_rebuilt(old):
    with opened(old) as memory:
        memory.extend(TURNS[60:100])
        memory.forget(turns=[KEPT[5].id, KEPT[30].id, TURNS[70].id])
        found(memory)
        assert memory.stats().turns == len(KEPT) + 40 - 3
        memory.rebuild()
        assert memory.check().problems == ()


def test_a_rebuilt_older_memory_is_as_a_new_one(old, tmp_path):
    seen: list[int] = []
    with opened(old) as memory, opened(tmp_path / "new.evimem", segment=16) as new:
        memory.rebuild(progress=seen.append)
        new.extend(KEPT)
        assert sum(seen) == len(KEPT)
        assert memory.check().problems == memory.health().problems == ()
        assert found(memory) == found(new)
        names = ("passage", "fact", "edge", "fact_vector", "job")
        upgraded = derived(memory)
        assert {name: upgraded[name] for name in names} == {name: derived(new)[name] for name in names}
        memory.rebuild()
        assert derived(memory) == upgraded, "it is upgraded once"
