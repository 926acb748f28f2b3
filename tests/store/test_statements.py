"""Statements do not grow with the batch: a call is as many for 256 turns as for 8.

A statement that runs over rows is one. Those of a segment are its own: it is sealed once for 2,048 rows.
"""

from collections.abc import Callable
from contextlib import closing
from datetime import datetime, timedelta
from typing import Any

import pytest

from evimem import Turn
from evimem.embedding.static_embedder import StaticEmbedder
from evimem.extract.rule_extractor import RuleExtractor
from evimem.index.document import embedding_texts
from evimem.raw.validate import TurnValidator
from evimem.store.sqlite import SqliteStore
from evimem.types.stored import Entry
from evimem.types.values import Query
from tests.copies import copied

EMBEDDER, EXTRACTOR = StaticEmbedder(), RuleExtractor()
NOON = datetime(2024, 3, 12, 12)
FEW, MANY = 8, 256
SAID = ("I moved to Porto, house {}.", "My phone is model {}.", "I quit job {} on 3 May 2024.", "Does {} like tea?")


def entries(first: int, count: int) -> list[Entry]:
    """Turns with vectors and facts, among them such as replace one another, in sessions of 16."""
    turns = [
        TurnValidator()(Turn(f"t{n}", f"s{n // 16}", "Mira", SAID[n % 4].format(n), NOON + timedelta(minutes=n)))
        for n in range(first, first + count)
    ]
    facts = [EXTRACTOR.extract(turn) for turn in turns]
    return [
        Entry(
            turn,
            some,
            EMBEDDER.embed(embedding_texts(turn)),
            EMBEDDER.embed([fact.text for fact in some]),
            ("extract",),
        )
        for turn, some in zip(turns, facts, strict=True)
    ]


def ids(count: int) -> list[str]:
    return [f"t{n}" for n in range(count)]


def query(count: int) -> Query:
    return Query("Where did Mira move?", count, EMBEDDER.embed(["Where did Mira move?"])[0])


READS: dict[str, Callable[[SqliteStore, int], object]] = {
    "recall": lambda store, count: store.recall(query(count)),
    "recall_facts": lambda store, count: store.recall_facts(query(count)),
    "nearest_facts": lambda store, count: store.nearest_facts(query(count)),
    "linked_facts": lambda store, count: store.linked_facts([fact.id for fact in store.facts(ids(count))]),
    "facts": lambda store, count: store.facts(ids(count)),
    "expand": lambda store, count: store.expand(ids(count), count),
    "contexts": lambda store, count: store.contexts(ids(count), 2, 2),
    "find": lambda store, count: store.find([*ids(count), "unknown"]),
    "known": lambda store, count: store.known([entry.turn for entry in entries(0, count)]),
    "about": lambda store, count: store.about("Mira", count),
    "holding": lambda store, count: store.holding(["porto"], count),
    "mentions": lambda store, count: store.mentions(["porto"], count, 1000),
    "waiting": lambda store, count: store.turns_with_pending_job("extract", ids(count)),
    "due": lambda store, count: store.due("extract", count),
}
WRITES: dict[str, Callable[[SqliteStore, int], object]] = {
    "new": lambda store, count: store.write(entries(1000, count)),
    "known": lambda store, count: store.write(entries(0, count)),
    "queued": lambda store, count: store.write([Entry(entry.turn) for entry in entries(1000, count)]),
    "lease": lambda store, count: store.lease("extract", count, 60.0),
    "hold": lambda store, count: store.hold("extract", ids(count), "busy", 60.0),
    "forget": lambda store, count: store.forget(ids(count)),
}


@pytest.fixture(scope="module")
def template(tmp_path_factory):
    path = tmp_path_factory.mktemp("statements") / "m.evimem"
    with closing(SqliteStore(path, EMBEDDER.name, EMBEDDER.dimension, segment=512)) as made:
        for first in (0, 256):  # a sealed segment
            made.write(entries(first, 256))
    return path


@pytest.fixture
def store(template, tmp_path):
    with closing(SqliteStore(copied(template, tmp_path / "m.evimem"), EMBEDDER.name, EMBEDDER.dimension)) as made:
        made.recall(query(1))  # what is resident is read once
        made.recall_facts(query(1))
        made.expand(ids(1), 1)
        made.holding(["porto"], 1)
        yield made


def statements(store: SqliteStore, call: Callable[[], object]) -> list[str]:
    """The statements that a call runs, in order."""
    found: list[str] = []
    for name in ("rows", "execute", "executemany"):
        honest = getattr(type(store.db), name)

        def counted(sql: str, args: Any = (), honest: Any = honest) -> Any:
            found.append(sql)
            return honest(store.db, sql, args)

        setattr(store.db, name, counted)
    call()
    for name in ("rows", "execute", "executemany"):
        delattr(store.db, name)
    return found


@pytest.mark.parametrize("name", READS)
def test_a_read_of_many_turns_takes_as_many_statements_as_one_of_few(store, name):
    few = statements(store, lambda: READS[name](store, FEW))
    assert statements(store, lambda: READS[name](store, MANY)) == few
    assert few


@pytest.mark.parametrize("name", WRITES)
def test_a_write_of_many_turns_takes_as_many_statements_as_one_of_few(store, tmp_path, name):
    other = tmp_path / "other.evimem"
    store.backup(other)
    few = statements(store, lambda: WRITES[name](store, FEW))
    with closing(SqliteStore(other, EMBEDDER.name, EMBEDDER.dimension)) as whole:
        whole.recall(query(1))
        assert statements(whole, lambda: WRITES[name](whole, MANY)) == few
    assert few
