"""`where=`: what it selects on every store is what a full listing, filtered by the definitions, gives."""

import json
from collections.abc import Callable, Mapping
from datetime import datetime, timedelta
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import apsw
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evimem import StoreCorrupt, Turn
from evimem.embedding.static_embedder import StaticEmbedder
from evimem.ingest.add import store_entries
from evimem.protocols import Store
from evimem.store.sqlite import SqliteStore
from evimem.types.stored import Entry, Listing, Scope
from evimem.types.values import Query, Where
from tests.reference.memory_store import MemoryStore

EMBEDDER = StaticEmbedder()
NOON = datetime(2024, 3, 12, 12)
KEYS = ("a", "b", "c")
SCALARS = [
    None, True, False, 0, 1, 2, -1, 1.0, 0.5, 0.1 + 0.2, 2**53 + 1, 2**63 - 1, float(2**53), -1e300,
    "", "a", "ab", "b", "1", 'a"b', "\u00e9", "\U0001f600x",
]  # fmt: skip
VALUES = st.recursive(
    st.sampled_from(SCALARS),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(KEYS), inner, max_size=2),
    max_leaves=4,
)
METADATA = st.dictionaries(st.sampled_from(KEYS), VALUES, max_size=3)
ORDERED = st.sampled_from([0, 1, 1.0, 0.5, 0.3, 2**53, 2**53 + 1, 2**63 - 1, 1e300, "", "a", "b"])
OPERATORS = st.one_of(
    st.fixed_dictionaries({"$eq": VALUES}),
    st.fixed_dictionaries({"$ne": VALUES}),
    st.fixed_dictionaries({"$in": st.lists(VALUES, max_size=3)}),
    st.fixed_dictionaries({"$prefix": st.sampled_from(["", "a", "ab", 'a"', "\u00e9", "\U0001f600"])}),
    st.fixed_dictionaries({"$prefix": st.lists(VALUES, max_size=2)}),
    st.fixed_dictionaries({"$gt": ORDERED}),
    st.fixed_dictionaries({"$gte": ORDERED, "$lt": ORDERED}),
    st.fixed_dictionaries({"$lte": ORDERED}),
)
PLAIN = VALUES.filter(lambda value: not isinstance(value, dict))
CONDITIONS = st.dictionaries(
    st.sampled_from(KEYS),
    st.one_of(PLAIN, OPERATORS, st.dictionaries(st.sampled_from(KEYS), PLAIN | OPERATORS, min_size=1, max_size=2)),
    min_size=1,
    max_size=2,
)


def same(value: Any, other: Any) -> bool:
    """Equality as a reader of JSON sees it: of the same type, part by part."""
    if type(value) is not type(other):
        return False
    if isinstance(value, dict):
        return value.keys() == other.keys() and all(same(value[key], other[key]) for key in value)
    if isinstance(value, list):
        return len(value) == len(other) and all(map(same, value, other))
    return bool(value == other)


def comparable(value: Any, other: Any) -> bool:
    kinds = [str if isinstance(one, str) else float for one in (value, other)]
    sorts = [isinstance(one, (str, int, float)) and not isinstance(one, bool) for one in (value, other)]
    return all(sorts) and kinds[0] is kinds[1]


def begins(value: Any, prefix: Any) -> bool:
    if isinstance(prefix, str):
        return isinstance(value, str) and value[: len(prefix)] == prefix
    return isinstance(value, list) and same(value[: len(prefix)], prefix)


TESTS: dict[str, Callable[[Any, Any], bool]] = {
    "$eq": same,
    "$in": lambda value, many: any(same(value, one) for one in many),
    "$prefix": begins,
    "$gt": lambda value, other: comparable(value, other) and value > other,
    "$gte": lambda value, other: comparable(value, other) and value >= other,
    "$lt": lambda value, other: comparable(value, other) and value < other,
    "$lte": lambda value, other: comparable(value, other) and value <= other,
}


def meets(metadata: Mapping[str, Any], where: Mapping[str, Any]) -> bool:
    """The definition, for every key in turn."""
    for key, wanted in where.items():
        there = key in metadata
        value = metadata.get(key)
        if not isinstance(wanted, dict):
            met = there and same(value, wanted)
        elif any(name.startswith("$") for name in wanted):
            met = all(
                (not there or not same(value, operand)) if name == "$ne" else there and TESTS[name](value, operand)
                for name, operand in wanted.items()
            )
        else:
            met = meets(value if isinstance(value, dict) else {}, wanted)
        if not met:
            return False
    return True


def sqlite(folder: Path) -> Store:
    return SqliteStore(folder / "m.evimem", EMBEDDER.name, EMBEDDER.dimension)


def in_memory(folder: Path) -> Store:
    return MemoryStore(EMBEDDER.name, EMBEDDER.dimension)


STORES: list[Callable[[Path], Store]] = [sqlite, in_memory]


def filled(make: Callable[[Path], Store], folder: Path, many: list[dict[str, Any]]) -> Store:
    store = make(folder)
    roles = ("user", "assistant")
    entries = (
        [
            Entry(
                Turn(
                    f"t{number}", f"s{number % 2}", "Mira", "We had tea.", NOON + timedelta(minutes=number),
                    role=roles[number % 3 == 0], metadata=metadata,
                )
            )
            for number, metadata in enumerate(many)
        ]
    )  # fmt: skip
    store_entries(store, entries)
    return store


@pytest.mark.parametrize("make", STORES, ids=lambda make: make.__name__)
@settings(max_examples=30)
@given(many=st.lists(METADATA, min_size=1, max_size=12), conditions=CONDITIONS, data=st.data())
def test_a_condition_selects_what_filtering_the_whole_listing_does(make, many, conditions, data):
    where = Where.read(conditions)
    with TemporaryDirectory() as folder:
        store = filled(make, Path(folder), many)
        wanted = [turn.id for turn in store.turns() if meets(turn.metadata, conditions)]
        assert [turn.id for turn in store.turns(Listing(where=where))] == wanted
        k = data.draw(st.integers(1, 12))
        found = [hit.turn.id for hit in store.recall(Query("tea", k, where=where))]
        assert len(found) == min(k, len(wanted))
        assert set(found) <= set(wanted)
        last = Listing("s1", role="user", limit=2, newest=True, where=where)
        within = [turn.id for turn in store.turns() if turn.id in wanted and Scope("s1", role="user").admits(turn)]
        assert [turn.id for turn in store.turns(last)] == within[-2:]
        assert store.about("Mira", 9, Scope(where=where)).total == 0
        assert store.forget_where(where=where).turns == len(wanted)
        assert [turn.id for turn in store.turns() if turn.id in wanted] == []


@settings(max_examples=100)
@given(METADATA, CONDITIONS)
def test_the_quick_test_of_the_text_leaves_out_nothing_that_meets_the_conditions(metadata, conditions):
    where = Where.read(conditions)
    assert where.meets(metadata) == meets(metadata, conditions)
    assert Where.read(json.loads(where.text)) == where
    text = json.dumps(metadata, sort_keys=True, separators=(",", ":"))
    if where.meets(metadata):
        assert all(any(part in text for part in parts) for parts in where.parts())


@pytest.mark.parametrize(
    ("conditions", "says"),
    [
        ({"a": {"$like": "x"}}, "no operator '\\$like'; expected one of \\$eq, \\$ne"),
        ({"a": {"$gt": 1, "b": 2}}, "no operator 'b'"),
        ({"$gt": 1}, "where a key of metadata is expected"),
        ({"a": {"$gt": None}}, "expected a number or a string"),
        ({"a": {"$lt": True}}, "expected a number or a string"),
        ({"a": {"$in": "abc"}}, "expected a list of values"),
        ({"a": {"$prefix": 7}}, "expected a string or a list"),
        ({"a": {}}, "'\\$eq': {}"),
        ({}, "not empty"),
        ([], "expected a mapping"),
        ({"a": object()}, "JSON values"),
        ({7: 1}, "strings"),
    ],
)
def test_what_is_no_condition_is_refused_and_says_what_is(conditions, says):
    with pytest.raises(ValueError, match=says):
        Where.read(conditions)


def test_values_are_compared_as_they_are_kept():
    where = Where.read({"said": NOON, "tags": ("a", "b")})
    assert where.meets({"said": "2024-03-12T12:00:00", "tags": ["a", "b"]})


NUMBERS = [0, 1, -1, 1.0, 0.5, 0.3, 0.1 + 0.2, 2**53, 2**53 + 1, float(2**53), 2**63 - 1, -(2**63), 1e300, -1e300]
ODD_KEYS = ["n", "n m", 'n"m', "n.m", "\u00f1"]


@pytest.mark.parametrize("make", STORES, ids=lambda make: make.__name__)
@pytest.mark.parametrize("key", ODD_KEYS)
def test_numbers_are_ordered_exactly_whatever_their_key(make, key, tmp_path):
    others = [None, True, False, "1", "", [1], {"n": 1}]
    held = [{"of": {key: value}} for value in (*NUMBERS, *others)] + [{"of": 1}, {}]
    store = filled(make, tmp_path, held)
    for order in ("$gt", "$gte", "$lt", "$lte"):
        for operand in NUMBERS:
            conditions = {"of": {key: {order: operand}}}
            wanted = [f"t{number}" for number, one in enumerate(held) if meets(one, conditions)]
            found = [turn.id for turn in store.turns(Listing(where=Where.read(conditions)))]
            assert found == wanted, conditions


def test_metadata_that_is_damaged_is_no_turn_that_does_not_match(tmp_path):
    store = filled(sqlite, tmp_path, [{"a": 1}, {"a": 2}])
    db = apsw.Connection(str(tmp_path / "m.evimem"))
    db.execute("UPDATE turn SET metadata = substr(metadata, 1, 6) WHERE id = 't0'")
    db.close()
    for conditions in ({"a": {"$gte": 2}}, {"a": 1}, {"a": {"$lt": 0.5}}):
        with pytest.raises(StoreCorrupt):
            store.recall(Query("tea", 3, where=Where.read(conditions)))
