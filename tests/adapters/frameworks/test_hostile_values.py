"""Every adapter with any value: its result, an EvimemError, or what the framework itself raises for such a value."""

from __future__ import annotations

import asyncio
import traceback
from collections.abc import Awaitable, Callable
from contextlib import suppress
from datetime import datetime
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from agent_framework import Message
from google.adk.events import Event
from google.genai import types
from langchain_core.messages import AIMessage, HumanMessage
from langgraph.store.base import GetOp, ListNamespacesOp, MatchCondition, PutOp, SearchOp
from llama_index.core.llms import ChatMessage
from llama_index.core.schema import QueryBundle

import evimem
from evimem import EvimemError, Turn
from evimem.adapters.adk import EvimemMemoryService
from evimem.adapters.agent_framework import EvimemContext
from evimem.adapters.langchain import EvimemChatMessageHistory, EvimemRetriever
from evimem.adapters.langgraph import EvimemStore
from evimem.adapters.llama_index import EvimemBlock, EvimemNodeRetriever
from evimem.adapters.pydantic_ai import memory_toolset
from tests.api.test_hostile_arguments import VALUES, OwnError

NOON = datetime(2024, 3, 12, 12)
OURS = str(Path(evimem.__file__).parent)
OWN = ("Hello.", "7", "[]", '{"langchain": 7}', '{"langchain": {"type": "human"}}', '{"langchain": {}}', 7, None)

Sync = Callable[[evimem.Memory, Any], object]
Async = Callable[[evimem.AsyncMemory, Any], Awaitable[object]]


def is_ours(error: BaseException) -> bool:
    """Return whether evimem raised an error, itself or through the standard library, and not the framework."""
    files = [frame.filename for frame in traceback.extract_tb(error.__traceback__)]
    packages = [file for file in files if file.startswith(OURS) or "site-packages" in file]
    return bool(packages) and packages[-1].startswith(OURS)


def event(**fields: Any) -> Event:
    said = types.Content(role="user", parts=[types.Part(text="We had tea.")])
    return Event(**{"author": "user", "content": said, "id": "e1"} | fields)


def context(**fields: Any) -> Any:
    given = {"input_messages": [Message("user", ["We had tea."])], "context_messages": {}, "session_id": "s"}
    return SimpleNamespace(**given | {"response": None, "extend_messages": lambda *_: None} | fields)


def history(memory: evimem.Memory, session: Any = "s") -> EvimemChatMessageHistory:
    return EvimemChatMessageHistory(session, memory)


# Of LangGraph the operations, which a store performs.
OPERATIONS: dict[str, Callable[[Any], Any]] = {
    "an operation": lambda value: value,
    "a namespace": lambda value: PutOp(value, "a", {"a": 1}),
    "a key": lambda value: PutOp(("a",), value, {"a": 1}),
    "a value": lambda value: PutOp(("a",), "a", value),
    "a part of a value": lambda value: PutOp(("a",), "a", {"a": value}),
    "an index": lambda value: PutOp(("a",), "a", {"a": "b"}, value),
    "a namespace to get": lambda value: GetOp(value, "a"),
    "a key to get": lambda value: GetOp(("a",), value),
    "a prefix": SearchOp,
    "a filter": lambda value: SearchOp((), value),
    "a query": lambda value: SearchOp((), None, 10, 0, value),
    "a limit": lambda value: SearchOp((), None, value),
    "an offset": lambda value: SearchOp((), None, 10, value),
    "conditions": ListNamespacesOp,
    "a path": lambda value: ListNamespacesOp((MatchCondition("prefix", value),)),
    "a depth": lambda value: ListNamespacesOp(None, value),
    "namespaces": lambda value: ListNamespacesOp(None, None, value),
}


def performed(name: str) -> Sync:
    return lambda memory, value: EvimemStore(memory).batch([OPERATIONS[name](value)])


def put(memory: evimem.Memory, *messages: Any) -> None:
    asyncio.run(EvimemBlock(memory=memory).aput(list(messages)))


def given(tokens: int, memory: evimem.Memory) -> Any:
    return asyncio.run(EvimemBlock(memory=memory, tokens=tokens).aget([ChatMessage(content="Where was the tea?")]))


SYNC: dict[str, Sync] = {
    "langchain, a query": lambda memory, value: EvimemRetriever(memory=memory).invoke(value),
    "langchain, k": lambda memory, value: EvimemRetriever(memory=memory).invoke("tea", k=value),
    "langchain, a filter": lambda memory, value: EvimemRetriever(memory=memory).invoke("tea", session=value),
    "langchain, a session": lambda memory, value: history(memory, value).messages,
    "langchain, a session to clear": lambda memory, value: history(memory, value).clear(),
    "langchain, messages": lambda memory, value: history(memory).add_messages(value),
    "langchain, a message": lambda memory, value: history(memory).add_messages([value]),
    "langchain, content": lambda memory, value: history(memory).add_messages([HumanMessage(value)]),
    "langchain, a field": lambda memory, value: history(memory).add_messages(
        [AIMessage("Tea.", additional_kwargs={"a": value})]
    ),
    "langgraph, operations": lambda memory, value: EvimemStore(memory).batch(value),
    **{f"langgraph, {name}": performed(name) for name in OPERATIONS},
    "llama_index, a query": lambda memory, value: EvimemNodeRetriever(memory).retrieve(value),
    "llama_index, a query's text": lambda memory, value: EvimemNodeRetriever(memory).retrieve(QueryBundle(value)),
    "llama_index, k": lambda memory, value: EvimemNodeRetriever(memory, value).retrieve("tea"),
    "llama_index, tokens": lambda memory, value: given(value, memory),
    "llama_index, messages": lambda memory, value: asyncio.run(EvimemBlock(memory=memory).aput(value)),
    "llama_index, content": lambda memory, value: put(memory, ChatMessage(content=value)),
    "llama_index, a session": lambda memory, value: put(
        memory, ChatMessage(content="Tea.", additional_kwargs={"session_id": value})
    ),
}


async def before(memory: evimem.AsyncMemory, tokens: int = 1500, **fields: Any) -> None:
    await EvimemContext(memory, tokens=tokens).before_run(agent=None, session=None, context=context(**fields), state={})


async def after(memory: evimem.AsyncMemory, **fields: Any) -> None:
    await EvimemContext(memory).after_run(agent=None, session=None, context=context(**fields), state={})


ASYNC: dict[str, Async] = {
    "agent-framework, a question": lambda memory, value: before(memory, input_messages=[Message("user", [value])]),
    "agent-framework, a session": lambda memory, value: after(memory, session_id=value),
    "agent-framework, content": lambda memory, value: after(memory, input_messages=[Message("user", [value])]),
    "agent-framework, an author": lambda memory, value: after(
        memory, input_messages=[Message("user", ["Tea."], author_name=value)]
    ),
    "agent-framework, tokens": before,
    "pydantic-ai, a question": lambda memory, value: memory_toolset(memory).tools["ask"].function(value),
    "pydantic-ai, what is recalled": lambda memory, value: memory_toolset(memory).tools["recall"].function(value),
    "pydantic-ai, a note": lambda memory, value: memory_toolset(memory).tools["note"].function(value),
    "pydantic-ai, tokens": lambda memory, value: (
        memory_toolset(memory, tokens=value).tools["recall"].function("Where was the tea?")
    ),
}
USER = {"app_name": "app", "user_id": "mira"}
OF_SERVICE: dict[str, Callable[[EvimemMemoryService, Any], Awaitable[object]]] = {
    "an app": lambda service, value: service.search_memory(app_name=value, user_id="mira", query="tea"),
    "a user": lambda service, value: service.search_memory(app_name="app", user_id=value, query="tea"),
    "a query": lambda service, value: service.search_memory(**USER, query=value),
    "events": lambda service, value: service.add_events_to_memory(**USER, events=value),
    "an event's time": lambda service, value: service.add_events_to_memory(**USER, events=[event(timestamp=value)]),
    "an event's author": lambda service, value: service.add_events_to_memory(**USER, events=[event(author=value)]),
    "an event's id": lambda service, value: service.add_events_to_memory(**USER, events=[event(id=value)]),
    "a session": lambda service, value: service.add_events_to_memory(**USER, events=[event()], session_id=value),
    "metadata": lambda service, value: service.add_events_to_memory(**USER, events=[event()], custom_metadata=value),
    "a part of metadata": lambda service, value: service.add_events_to_memory(
        **USER, events=[event(id="e2")], custom_metadata={"a": value}
    ),
    "an entry": lambda service, value: service.delete_memory(**USER, memory_id=value),
}


def faults(call: Callable[[Any], object]) -> list[str]:
    """Return what a call raised for odd values that is neither typed nor the framework's."""
    found = []
    for make in VALUES:
        value = make()
        try:
            call(value)
        except (EvimemError, OwnError):
            pass
        except Exception as error:  # noqa: BLE001 - collected, to be shown all at once
            if is_ours(error):
                with suppress(Exception):
                    found.append(f"{value!r:.60}: {error!r:.200}")
                    continue
                found.append(f"a {type(value).__name__}: {type(error).__name__}")
    return found


@pytest.mark.parametrize("name", SYNC)
def test_an_adapter_raises_nothing_of_its_own_but_typed_errors(name: str, tmp_path: Path) -> None:
    with evimem.open(tmp_path / "m.evimem") as memory:
        memory.add("Mira", "We had tea in Porto.", time=NOON)
        assert faults(lambda value: SYNC[name](memory, value)) == []


@pytest.mark.parametrize("name", ASYNC)
def test_an_async_adapter_raises_nothing_of_its_own_but_typed_errors(name: str, tmp_path: Path) -> None:
    def call(value: Any) -> None:
        async def run() -> None:
            async with evimem.open_async(tmp_path / "m.evimem") as memory:
                await ASYNC[name](memory, value)

        asyncio.run(run())

    assert faults(call) == []


@pytest.mark.parametrize("name", OF_SERVICE)
def test_a_service_over_a_pool_raises_nothing_of_its_own_but_typed_errors(name: str, tmp_path: Path) -> None:
    async def run(pool: evimem.MemoryPool, value: Any) -> None:
        await OF_SERVICE[name](EvimemMemoryService(pool), value)

    with evimem.MemoryPool(tmp_path / "users", wait_seconds=0.1) as pool:
        assert faults(lambda value: asyncio.run(run(pool, value))) == []


def test_metadata_of_an_application_breaks_no_history_and_no_store(tmp_path: Path) -> None:
    items: tuple[dict[str, Any], ...] = (
        {"ns": ["a"]},
        {"ns": []},
        {"ns": ["a"], "key": "a", "value": 7, "created_at": 7},
        {"ns": [["a"]], "key": "a", "value": {}, "created_at": "now"},
    )
    with evimem.open(tmp_path / "m.evimem") as memory:
        metadata = (*({"message": own} for own in OWN), *(one | {"indexed": True} for one in items))
        for number, own in enumerate(metadata):
            speaker = "langgraph" if "ns" in own else "Mira"
            memory.extend([Turn(f"t{number}", "s", speaker, f"Tea {number}.", NOON, metadata=own)], strict=True)
        said = [message.content for message in history(memory).messages]
        assert said == [f"Tea {number}." for number in range(len(metadata))]
        store = EvimemStore(memory)
        assert store.search((), query="tea") == store.search(("a",)) == store.list_namespaces() == []
