"""The memory service in ADK's own runner, with its tools, beside its in-memory service and after a restart."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Iterator
from pathlib import Path
from typing import Any

import pytest
from google.adk.agents import LlmAgent
from google.adk.events import Event
from google.adk.memory import InMemoryMemoryService
from google.adk.memory.memory_entry import MemoryEntry
from google.adk.models import BaseLlm, LlmRequest, LlmResponse
from google.adk.runners import Runner
from google.adk.sessions import InMemorySessionService, Session
from google.adk.tools import load_memory
from google.genai import types

import evimem
from evimem import InvalidQuery, InvalidTurn, UnknownTurn
from evimem.adapters.adk import EvimemMemoryService

MIRA = {"app_name": "birds", "user_id": "mira"}


def event(id: str, author: str, *texts: str, at: float = 1_710_267_600.0, **part: Any) -> Event:
    parts = [types.Part(text=text, **part) for text in texts]
    return Event(id=id, author=author, timestamp=at, content=types.Content(role="user", parts=parts), invocation_id="i")


def session(*events: Event, user: str = "mira", id: str = "s1") -> Session:
    return Session(id=id, app_name="birds", user_id=user, events=list(events))


@pytest.fixture
def service(tmp_path: Path) -> Iterator[EvimemMemoryService]:
    with evimem.MemoryPool(tmp_path) as pool:
        yield EvimemMemoryService(pool)


async def texts(service: Any, query: str, **of: str) -> list[str]:
    found = await service.search_memory(**{**MIRA, **of}, query=query)
    return [entry.content.parts[0].text for entry in found.memories]


SAID = (event("e1", "user", "My heron is called Ajax."), event("e2", "helper", "A fine name for a heron."))


async def test_a_session_may_be_added_again_and_again_and_is_there_after_a_restart(tmp_path: Path) -> None:
    with evimem.MemoryPool(tmp_path) as pool:
        service, theirs = EvimemMemoryService(pool), InMemoryMemoryService()
        for _ in range(3):
            for one in (service, theirs):
                await one.add_session_to_memory(session(*SAID))
        later = event("e3", "user", "It rains on the heron.")
        await service.add_session_to_memory(session(*SAID, later))
    with evimem.MemoryPool(tmp_path) as pool:
        service = EvimemMemoryService(pool)
        async with service.memory_of(**MIRA) as memory:
            assert [turn.id for turn in await memory.turns(session="s1")] == ["e1", "e2", "e3"]
        found = (await service.search_memory(**MIRA, query="What is my heron called?")).memories[0]
        (like,) = (one for one in (await theirs.search_memory(**MIRA, query="called")).memories if one.id == "e1")
        assert (found.id, found.author, found.content.role) == (like.id, like.author, "user")
        assert found.content.parts == like.content.parts
        assert found.timestamp == "2024-03-12T18:20:00+00:00"


async def test_an_entry_is_said_by_its_author_or_the_assistant_at_its_time_or_now(service: EvimemMemoryService) -> None:
    content = types.Content(role="user", parts=[types.Part(text="My heron is called Ajax.")])
    own = MemoryEntry(content=content, author="user", timestamp="2024-03-12T18:20:00+00:00")
    await service.add_memory(**MIRA, memories=[own, MemoryEntry(content=content)], custom_metadata={"a": 1})
    found = (await service.search_memory(**MIRA, query="heron")).memories
    assert sorted((one.author, one.timestamp[:4] == "2024") for one in found) == [
        ("assistant", False), ("user", True),
    ]  # fmt: skip
    assert [one.custom_metadata for one in found] == [{"a": 1}] * 2


async def test_users_and_apps_never_meet(service: EvimemMemoryService) -> None:
    await service.add_session_to_memory(session(*SAID))
    assert len(await texts(service, "heron")) == 2
    assert await texts(service, "heron", user_id="tomas") == []
    assert await texts(service, "heron", app_name="fish") == []


async def test_what_is_deleted_is_erased_and_does_not_come_back_with_its_session(tmp_path: Path) -> None:
    with evimem.MemoryPool(tmp_path) as pool:
        service, theirs = EvimemMemoryService(pool), InMemoryMemoryService()
        for one in (service, theirs):
            await one.add_session_to_memory(session(*SAID))
            await one.delete_memory(**MIRA, memory_id="e1")
            await one.add_session_to_memory(session(*SAID))
            assert await texts(one, "heron") == ["A fine name for a heron."]
        async with service.memory_of(**MIRA) as memory:
            assert (await memory.turn("e1")).text == "[deleted]"
        with pytest.raises(UnknownTurn):
            await service.delete_memory(**MIRA, memory_id="e9")
        with pytest.raises(InvalidQuery):
            await service.delete_memory(**MIRA)
    assert [path for path in tmp_path.rglob("*") if path.is_file() and b"Ajax" in path.read_bytes()] == []


async def test_parts_without_text_and_thoughts_are_left_out_and_what_cannot_be_stored_is_said(
    service: EvimemMemoryService,
) -> None:
    call = types.Part(function_call=types.FunctionCall(name="f", args={}))
    silent = event("e4", "helper")
    silent.content = types.Content(parts=[call])
    thought = event("e5", "helper", "Hm, herons.", thought=True)
    nothing = Event(id="e6", author="helper", invocation_id="i")
    await service.add_session_to_memory(session(*SAID, silent, thought, nothing))
    async with service.memory_of(**MIRA) as memory:
        assert [turn.id for turn in await memory.turns()] == ["e1", "e2"]
        block = (await memory.block("What is my heron called?")).text
    await service.add_events_to_memory(**MIRA, events=[event("e7", "helper", block)], custom_metadata={"a": 1})
    assert len(await texts(service, "heron")) == 2
    with pytest.raises(InvalidTurn, match="cannot be stored"):
        await service.add_session_to_memory(session(event("e8", "x" * 600, "Hello.")))


class Scripted(BaseLlm):
    """A model that calls `load_memory`, then answers with what it was given."""

    model: str = "scripted"

    async def generate_content_async(
        self, llm_request: LlmRequest, stream: bool = False
    ) -> AsyncGenerator[LlmResponse, None]:
        replies = [part.function_response for part in llm_request.contents[-1].parts or [] if part.function_response]
        if replies:
            part = types.Part(text=str(replies[0].response))
        else:
            part = types.Part(function_call=types.FunctionCall(name="load_memory", args={"query": "heron called"}))
        yield LlmResponse(content=types.Content(role="model", parts=[part]))


async def test_an_agent_recalls_with_adks_own_tool_what_an_earlier_session_said(service: EvimemMemoryService) -> None:
    sessions = InMemorySessionService()
    await service.add_session_to_memory(session(*SAID, id="old"))
    agent = LlmAgent(name="helper", model=Scripted(), tools=[load_memory])
    runner = Runner(app_name="birds", agent=agent, session_service=sessions, memory_service=service)
    made = await sessions.create_session(**MIRA)
    asked = types.Content(role="user", parts=[types.Part(text="What is my heron called?")])
    said = [one async for one in runner.run_async(user_id="mira", session_id=made.id, new_message=asked)]
    assert "My heron is called Ajax." in said[-1].content.parts[0].text
    await service.add_session_to_memory(await sessions.get_session(**MIRA, session_id=made.id))
    async with service.memory_of(**MIRA) as memory:
        assert (await memory.stats()).turns == 4  # two of old, the question and the answer; no call


async def test_fifty_events_are_fifty_turns(service: EvimemMemoryService) -> None:
    events: list[Event] = []
    for number in range(50):
        events.append(event(f"e{number}", "user", f"Heron number {number}.", at=1_710_267_600.0 + number))
        await service.add_session_to_memory(session(*events))
    async with service.memory_of(**MIRA) as memory:
        assert (await memory.stats()).turns == 50
