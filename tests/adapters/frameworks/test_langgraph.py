"""The store against LangGraph's own SQLite store, in a compiled graph, and after a restart."""

from __future__ import annotations

import asyncio
import json
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from langgraph.graph import START, MessagesState, StateGraph
from langgraph.runtime import Runtime
from langgraph.store.base import GetOp, ListNamespacesOp, MatchCondition, PutOp, SearchOp
from langgraph.store.sqlite import SqliteStore

import evimem
from evimem.adapters.langgraph import EvimemStore

LABELS = st.sampled_from(["users", "mira", "é", "v1"])
SPACES = st.lists(LABELS, min_size=1, max_size=3).map(tuple)
KEYS = st.sampled_from(["a", "b/c", "é"])
VALUES = st.fixed_dictionaries({"kind": st.sampled_from(["fact", "note"]), "rank": st.integers(0, 3)})
FILTERS = st.sampled_from(
    [None, {"kind": "note"}, {"rank": 2}, {"rank": {"$gte": 1}}, {"rank": {"$lt": 2}, "kind": {"$ne": "note"}}]
)
PATHS = st.lists(st.one_of(LABELS, st.just("*")), min_size=1, max_size=2).map(tuple)
CONDITIONS = st.lists(st.builds(MatchCondition, st.sampled_from(["prefix", "suffix"]), PATHS), max_size=2).map(tuple)
OPS = st.one_of(
    st.builds(PutOp, SPACES, KEYS, st.one_of(VALUES, VALUES, st.none()), index=st.none(), ttl=st.none()),
    st.builds(GetOp, SPACES, KEYS),
    st.builds(lambda prefix, wanted: SearchOp(prefix, wanted, 100), st.lists(LABELS, max_size=2).map(tuple), FILTERS),
    st.builds(
        ListNamespacesOp,
        CONDITIONS,
        st.one_of(st.none(), st.integers(1, 3)),
        st.just(100),
        st.integers(0, 1),
    ),
)
REOPEN = st.just("reopen")


def plain(result: Any) -> Any:
    """What of a result must be equal: times differ, and so does the order of what was stored in one second."""
    if isinstance(result, list):
        return sorted(map(repr, map(plain, result)))
    if result is None or isinstance(result, tuple):
        return result
    return result.namespace, result.key, json.dumps(result.value, sort_keys=True)


@settings(max_examples=200, deadline=None)
@given(steps=st.lists(st.one_of(st.lists(OPS, min_size=1, max_size=3), REOPEN), max_size=12))
def test_random_batches_do_what_they_do_on_the_sqlite_store_of_langgraph(steps: list[Any]) -> None:
    with TemporaryDirectory() as folder, SqliteStore.from_conn_string(f"{folder}/theirs.db") as theirs:
        theirs.setup()
        memory = evimem.open(f"{folder}/ours.evimem")
        for step in steps:
            if step == "reopen":
                memory.close()
                memory = evimem.open(f"{folder}/ours.evimem")
            else:
                ours = EvimemStore(memory)
                assert [plain(one) for one in ours.batch(step)] == [plain(one) for one in theirs.batch(step)]
        everything = [SearchOp((), None, 1000), ListNamespacesOp(None, None, 1000)]
        ours = EvimemStore(memory)
        assert [plain(one) for one in ours.batch(everything)] == [plain(one) for one in theirs.batch(everything)]
        memory.close()


@pytest.fixture
def store(memory: evimem.Memory) -> EvimemStore:
    return EvimemStore(memory)


def test_items_are_found_by_what_they_say_within_a_namespace(store: EvimemStore) -> None:
    store.put(("mira", "pets"), "1", {"text": "Ajax is a heron."})
    store.put(("mira", "pets"), "2", {"text": "Juno is a puppy.", "hidden": "heron"}, index=["text"])
    store.put(("mira", "pets"), "3", {"text": "Another heron."}, index=False)
    store.put(("tomas",), "1", {"text": "Tomas keeps a heron."})
    assert [item.key for item in store.search(("mira",), query="heron", limit=1)] == ["1"]
    assert {item.key for item in store.search(("mira",), query="heron")} == {"1", "2"}
    assert {item.key for item in store.search(("mira",), filter={"text": "Another heron."})} == {"3"}
    assert (best := store.search(("tomas",), query="heron")[0]).score
    assert best.value == {"text": "Tomas keeps a heron."}


def test_a_put_replaces_and_keeps_when_the_item_was_created(store: EvimemStore) -> None:
    store.put(("mira",), "1", {"text": "She lives in Leeds."})
    first = store.get(("mira",), "1")
    store.put(("mira",), "1", {"text": "She lives in Porto."})
    second = store.get(("mira",), "1")
    assert first
    assert second
    assert second.value == {"text": "She lives in Porto."}
    assert second.created_at == first.created_at <= first.updated_at < second.updated_at
    assert store.memory.stats().turns == 1
    assert all("Leeds" not in hit.turn.text for hit in store.memory.search("Leeds"))
    store.delete(("mira",), "1")
    store.delete(("mira",), "1")
    assert store.get(("mira",), "1") is None


def test_a_graph_keeps_what_one_thread_says_for_another(store: EvimemStore) -> None:
    def listen(state: MessagesState, runtime: Runtime[None]) -> dict[str, Any]:
        assert runtime.store is not None
        said = str(state["messages"][-1].content)
        found = runtime.store.search(("mira",), query=said, limit=1)
        runtime.store.put(("mira",), str(len(said)), {"text": said})
        return {"messages": [("assistant", found[0].value["text"] if found else "I do not know.")]}

    builder = StateGraph(MessagesState)
    builder.add_node("listen", listen)
    builder.add_edge(START, "listen")
    graph = builder.compile(store=store)
    answers = [
        graph.invoke({"messages": [("user", said)]})["messages"][-1].content
        for said in ("My heron is called Ajax.", "What is my heron called?")
    ]
    assert answers == ["I do not know.", "My heron is called Ajax."]
    assert asyncio.run(store.aget(("mira",), "24"))
