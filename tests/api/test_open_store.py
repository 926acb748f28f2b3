"""A memory over a store that is open already, in the place of a path."""

import asyncio

import pytest

import evimem
from evimem.store.sqlite import SqliteStore
from tests.doubles import WordEmbedder

NOON = "2024-03-12T12:00"
EMBEDDER = WordEmbedder(16)


def small_segments(path):
    return SqliteStore(path, EMBEDDER.name, EMBEDDER.dimension, segment=4)


def test_a_memory_over_an_open_store_uses_it_and_closes_it(tmp_path):
    store = small_segments(tmp_path / "m.evimem")
    with evimem.open(store=store, embedder=EMBEDDER) as memory:
        memory.add("Mira", "The lantern is green.", time=NOON)
    assert not store.usable
    with evimem.open(tmp_path / "m.evimem", embedder=EMBEDDER) as memory:
        assert [turn.text for turn in memory.turns()] == ["The lantern is green."]
        assert memory._core.store.segments.size == 4


def test_a_memory_of_an_event_loop_over_an_open_store(tmp_path):
    async def texts():
        async with evimem.open_async(store=small_segments(tmp_path / "m.evimem"), embedder=EMBEDDER) as memory:
            await memory.add("Mira", "The lantern is green.", time=NOON)
            return [turn.text for turn in await memory.turns()]

    assert asyncio.run(texts()) == ["The lantern is green."]


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({}, "neither path nor store is given"),
        ({"path": "x.evimem", "timezone": "Europe/Madrid", "store": True}, "path, timezone and store are given"),
        ({"user": "mira", "store": True}, "user and store are given"),
        ({"store": "m.evimem"}, "store is a str; expected an open Keeper"),
    ],
)
def test_what_is_not_one_store_is_refused(tmp_path, given, said):
    store = small_segments(tmp_path / "m.evimem")
    given = {**given, "store": store} if given.get("store") is True else given
    with pytest.raises(evimem.InvalidQuery, match=said):
        evimem.open(**given, embedder=EMBEDDER)
    store.close()


class Renamed(WordEmbedder):
    name = "another"


@pytest.mark.parametrize(
    ("other", "refused"), [(WordEmbedder(8), evimem.DimensionMismatch), (Renamed(16), evimem.EmbedderMismatch)]
)
def test_another_embedder_than_that_of_the_store_is_refused(tmp_path, other, refused):
    store = small_segments(tmp_path / "m.evimem")
    with pytest.raises(refused):
        evimem.open(store=store, embedder=other)
    store.close()
