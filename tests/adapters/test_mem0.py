"""The calls of mem0's `Memory`: programs written for them work, keep users apart, and are told what evimem has not."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from evimem import InvalidQuery, InvalidTurn, MemoryPool, UnknownTurn
from evimem.adapters.mem0 import AsyncMemory, Memory

CHAT = [
    {"role": "user", "content": "My heron is called Ajax."},
    {"role": "assistant", "content": "A fine name for a heron."},
]


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[Memory]:
    made = Memory(tmp_path / "users")
    yield made
    made.close()


def texts(found: dict[str, Any]) -> list[str]:
    return [entry["memory"] for entry in found["results"]]


def test_the_quickstart_of_a_chat_with_memories_works_and_stores_no_memory_twice(memory: Memory) -> None:
    def chat_with_memories(message: str, reply: str, user_id: str) -> str:
        relevant = memory.search(query=message, filters={"user_id": user_id}, top_k=3)
        remembered = "\n".join(f"- {entry['memory']}" for entry in relevant["results"])
        messages = [{"role": "system", "content": f"You are helpful. Memories:\n{remembered}"}]
        messages.append({"role": "user", "content": message})
        prompt = messages[0]["content"]
        messages.append({"role": "assistant", "content": reply})
        memory.add(messages, user_id=user_id)
        return prompt

    assert "Ajax" not in chat_with_memories("My heron is called Ajax.", "A fine name.", "mira")
    assert "- My heron is called Ajax." in chat_with_memories("What is my heron called?", "Ajax.", "mira")
    assert "Ajax" not in chat_with_memories("What is my heron called?", "I do not know.", "tomas")
    assert texts(memory.get_all(filters={"user_id": "mira"})) == [
        "My heron is called Ajax.", "A fine name.", "What is my heron called?", "Ajax.",
    ]  # fmt: skip


def test_what_is_added_comes_back_with_its_scopes_and_metadata(memory: Memory) -> None:
    added = memory.add(CHAT, user_id="mira", run_id="r1", metadata={"topic": "pets"})
    assert [entry["event"] for entry in added["results"]] == ["ADD", "ADD"]
    first = memory.get(added["results"][0]["id"])
    assert first is not None
    assert (first["memory"], first["role"], first["user_id"], first["run_id"]) == (
        "My heron is called Ajax.", "user", "mira", "r1",
    )  # fmt: skip
    assert first["metadata"] == {"topic": "pets"}
    (best,) = memory.search("heron called", filters={"user_id": "mira"}, top_k=1)["results"]
    assert best == {**first, "score": best["score"]}


def test_a_message_was_said_at_its_own_time_else_at_the_timestamp_of_the_call(memory: Memory) -> None:
    dated = {"role": "user", "content": "I planted an olive tree.", "created_at": "2023-06-01T10:00:00Z"}
    memory.add([dated, {"role": "user", "content": "I planted a fig tree."}], user_id="eva", timestamp=1672531200)
    entries = memory.get_all(user_id="eva")["results"]
    assert [(one["memory"], one["created_at"]) for one in entries] == [
        ("I planted a fig tree.", "2023-01-01T00:00:00+00:00"),
        ("I planted an olive tree.", "2023-06-01T10:00:00+00:00"),
    ]  # fmt: skip
    spring = {"user_id": "eva", "created_at": {"gte": "2023-05-01T00:00:00Z", "lte": "2023-07-01T00:00:00Z"}}
    assert texts(memory.search("tree", filters=spring)) == ["I planted an olive tree."]
    for wrong in ("2023-01-01", 1 << 60):
        with pytest.raises(InvalidQuery, match="timestamp"):
            memory.add("I planted a tree.", user_id="eva", timestamp=wrong)  # type: ignore[arg-type]


def test_a_scope_that_is_named_too_narrows_what_is_found(memory: Memory) -> None:
    memory.add("I like tea.", user_id="mira", agent_id="a")
    memory.add("I like coffee.", user_id="mira", agent_id="b")
    memory.add("I like milk.", agent_id="b")
    assert set(texts(memory.search("I like", filters={"user_id": "mira"}))) == {"I like tea.", "I like coffee."}
    assert texts(memory.search("I like", user_id="mira", agent_id="b")) == ["I like coffee."]
    assert texts(memory.search("I like", filters={"agent_id": "b"})) == ["I like milk."]
    memory.delete_all(user_id="mira", agent_id="b")
    assert texts(memory.get_all(user_id="mira")) == ["I like tea."]
    memory.delete_all(user_id="mira")
    assert memory.get_all(user_id="mira") == {"results": []}
    assert texts(memory.get_all(agent_id="b")) == ["I like milk."]


def test_filters_go_by_metadata_and_are_refused_where_they_would_mean_something_else(memory: Memory) -> None:
    for year in (2022, 2023, 2024):
        memory.add(f"I went to Porto in {year}.", user_id="mira", metadata={"year": year, "with": "Tomas"})

    def found(**filters: Any) -> list[str]:
        return sorted(text[-5:-1] for text in texts(memory.search("Porto", filters={"user_id": "mira", **filters})))

    assert found(year=2023) == ["2023"]
    assert found(year={"gte": 2023}, **{"with": "Tomas"}) == ["2023", "2024"]
    assert found(AND=[{"year": {"in": [2022, 2024]}}, {"with": {"ne": "Kit"}}]) == ["2022", "2024"]
    for wrong in (
        {"OR": [{"year": 1}]},
        {"year": "*"},
        {"year": {"contains": "2"}},
        {"AND": [{"year": 1}, {"year": 2}]},
    ):
        with pytest.raises(InvalidQuery, match="filter"):
            found(**wrong)


def test_an_entry_is_changed_and_deleted_by_its_id_alone(memory: Memory) -> None:
    added = memory.add("I live in Leeds.", user_id="a/b c", metadata={"sure": True})
    (id,) = (entry["id"] for entry in added["results"])
    memory.update(id, "I live in Porto.")
    changed = memory.get(id)
    assert changed is not None
    assert (changed["memory"], changed["metadata"]) == ("I live in Porto.", {"sure": True})
    assert changed["updated_at"] > changed["created_at"]
    memory.update(id, metadata={"sure": False})
    assert [entry["metadata"] for entry in memory.get_all(user_id="a/b c")["results"]] == [{"sure": False}]
    memory.delete(id)
    assert memory.get(id) is None
    memory.delete(id)  # once more, as after a reply that was lost
    for call in (lambda: memory.delete("nobody"), lambda: memory.update(id, "x")):
        with pytest.raises(UnknownTurn):
            call()


def test_without_a_scope_nothing_is_done_and_what_evimem_has_not_is_named(memory: Memory) -> None:
    for call in (lambda: memory.add("x"), memory.delete_all, lambda: memory.search("x"), memory.get_all):
        with pytest.raises(InvalidQuery, match="user_id, agent_id, run_id"):
            call()
    with pytest.raises(InvalidQuery, match="expiration_date"):
        memory.add("x", user_id="mira", expiration_date="2030-01-01")
    with pytest.raises(InvalidTurn, match="cannot be stored"):
        memory.add([CHAT[0], 7], user_id="mira")
    assert memory.get_all(user_id="mira") == {"results": []}


def test_fifty_messages_are_fifty_entries_and_blocks_of_memory_are_none(memory: Memory) -> None:
    for number in range(25):
        memory.add([{"role": "user", "content": "Yes."}, {"role": "assistant", "content": f"{number}"}], user_id="mira")
    with memory.pool.open("user_id=mira") as own:
        block = own.block("What did I say?").text
    assert memory.add([{"role": "user", "content": block}, {"role": "tool", "content": block}], user_id="mira") == {
        "results": []
    }
    assert len(memory.get_all(user_id="mira", top_k=1000)["results"]) == 50


def test_looking_for_somebody_makes_no_file(tmp_path: Path) -> None:
    with MemoryPool(tmp_path) as pool:
        memory = Memory(pool)
        memory.search("x", filters={"user_id": "nobody"})
        memory.get_all(user_id="nobody")
        memory.get("user_id=nobody/t1")
        memory.delete_all(user_id="nobody", run_id="r")
        memory.close()
        assert pool.count() == 0


def test_filters_of_created_at_are_about_when_it_was_said(memory: Memory) -> None:
    memory.add(CHAT[:1], user_id="mira")
    at = memory.get_all(filters={"user_id": "mira"})["results"][0]["created_at"]
    for wanted, found in (({"gte": at}, 1), ({"lte": at}, 1), (at, 1), ({"gt": at}, 0), ({"lt": "2020-01-01"}, 0)):
        filters = {"user_id": "mira", "created_at": wanted}
        assert len(memory.get_all(filters=filters)["results"]) == found
        assert len(memory.search("heron", filters=filters)["results"]) == found
    with pytest.raises(InvalidQuery, match="created_at"):
        memory.search("heron", filters={"user_id": "mira", "created_at": {"near": at}})


def test_the_calls_for_an_event_loop_are_the_same(tmp_path: Path) -> None:
    async def calls() -> None:
        async with AsyncMemory(tmp_path / "users") as memory:
            added = await memory.add(CHAT, user_id="mira")
            first = added["results"][0]["id"]
            assert texts(await memory.search("What is my heron called?", filters={"user_id": "mira"}, top_k=1)) == [
                CHAT[0]["content"]
            ]
            await memory.update(first, "My heron is called Juno.")
            assert (await memory.get(first) or {})["memory"] == "My heron is called Juno."
            await memory.delete(first)
            assert len((await memory.get_all(filters={"user_id": "mira"}))["results"]) == 1
            await memory.delete_all(user_id="mira")

    asyncio.run(calls())
    with Memory(tmp_path / "users") as same:
        assert same.get_all(filters={"user_id": "mira"}) == {"results": []}


def test_two_bounds_of_one_name_hold_together_and_one_operator_twice_is_refused(tmp_path: Path) -> None:
    with Memory(tmp_path) as memory:
        memory.add("I moved to Porto.", user_id="mira", metadata={"rank": 3})
        within = [
            {"user_id": "mira"},
            {"rank": {"gte": 1}},
            {"rank": {"lt": 5}},
            {"created_at": {"gte": "2020-01-01T00:00:00Z"}},
        ]
        assert len(memory.search("Porto", filters={"AND": within})["results"]) == 1
        assert memory.search("Porto", filters={"AND": [*within, {"rank": 2}]})["results"] == []
        with pytest.raises(InvalidQuery, match="two conditions lt"):
            memory.search("Porto", filters={"AND": [*within, {"rank": {"lt": 4}}]})
