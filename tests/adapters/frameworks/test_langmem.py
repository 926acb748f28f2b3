"""LangMem's two tools over the store, unchanged: what one run manages another finds, after a restart."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from langmem import create_manage_memory_tool, create_search_memory_tool

import evimem
from evimem.adapters.langgraph import EvimemStore

NAMESPACE = ("memories", "{user}")


def config(user: str) -> Any:
    return {"configurable": {"user": user}}


def test_a_memory_is_created_updated_found_and_deleted_for_its_user_only(tmp_path: Path) -> None:
    with evimem.open(tmp_path / "m.evimem") as memory:
        manage = create_manage_memory_tool(NAMESPACE, store=EvimemStore(memory))
        created = manage.invoke({"content": "Mira's heron is called Juno.", "action": "create"}, config("mira"))
        id = created.rpartition(" ")[2]
        changed = {"content": "Mira's heron is called Ajax.", "action": "update", "id": id}
        assert "updated" in manage.invoke(changed, config("mira"))
    with evimem.open(tmp_path / "m.evimem") as memory:
        store = EvimemStore(memory)
        search = create_search_memory_tool(NAMESPACE, store=store)
        (found,) = json.loads(search.invoke({"query": "heron"}, config("mira")))
        assert found["value"]["content"] == "Mira's heron is called Ajax."
        assert json.loads(search.invoke({"query": "heron"}, config("tomas"))) == []
        create_manage_memory_tool(NAMESPACE, store=store).invoke({"action": "delete", "id": id}, config("mira"))
        assert json.loads(search.invoke({"query": "heron"}, config("mira"))) == []
        assert memory.stats().turns == 0
