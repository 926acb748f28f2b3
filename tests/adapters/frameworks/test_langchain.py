"""The retriever in LangChain's own suite of tests, and the history in a chain of messages."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest
from langchain_core.language_models import FakeListChatModel
from langchain_core.messages import AIMessage, HumanMessage, SystemMessage, ToolMessage
from langchain_core.runnables.history import RunnableWithMessageHistory
from langchain_tests.integration_tests import RetrieversIntegrationTests

import evimem
from evimem.adapters.langchain import EvimemChatMessageHistory, EvimemRetriever
from evimem.adapters.openai_agents import EvimemSession

MESSAGES = [
    SystemMessage("Be brief."),
    HumanMessage("What is the weather in Porto?"),
    AIMessage("", tool_calls=[{"name": "get_weather", "args": {"city": "Porto"}, "id": "c1"}]),
    ToolMessage("Sunny.", tool_call_id="c1", name="get_weather"),
    AIMessage(
        [{"type": "text", "text": "It is sunny."}],
        usage_metadata={"input_tokens": 1, "output_tokens": 2, "total_tokens": 3},
    ),
    HumanMessage("What is the weather in Porto?", name="Mira", id="m1"),
]  # fmt: skip


class TestRetriever(RetrieversIntegrationTests):
    """LangChain's standard tests of a retriever."""

    kept: evimem.Memory

    @pytest.fixture(autouse=True)
    def _fill(self, memory: evimem.Memory) -> None:
        for number in range(5):
            memory.add("Mira", f"An example of herons, number {number}.", time="2024-03-12T18:20")
        type(self).kept = memory

    @property
    def retriever_constructor(self) -> type[EvimemRetriever]:
        return EvimemRetriever

    @property
    def retriever_constructor_params(self) -> dict[str, Any]:
        return {"memory": self.kept}

    @property
    def retriever_query_example(self) -> str:
        return "example herons"


def test_a_document_says_who_said_it_and_when_and_filters_are_those_of_search(memory: evimem.Memory) -> None:
    memory.add("Mira", "I adopted a puppy.", time="2024-03-12T18:20", session="s1", id="t1")
    memory.add("Tomas", "I adopted a puppy.", time="2024-03-12T18:20", session="s1", id="t2")
    (found,) = EvimemRetriever(memory=memory).invoke("puppy", speaker="Mira")
    assert (found.id, found.page_content) == ("t1", "I adopted a puppy.")
    assert found.metadata["speaker"] == "Mira"
    assert found.metadata["time"] == "2024-03-12T18:20:00"
    assert found.metadata["facts"]


def test_messages_come_back_equal_and_what_was_said_is_found(memory: evimem.Memory) -> None:
    history = EvimemChatMessageHistory("s", memory)
    history.add_messages(MESSAGES[:3])
    asyncio.run(history.aadd_messages(MESSAGES[3:]))
    EvimemChatMessageHistory("other", memory).add_messages(MESSAGES[:1])
    assert history.messages == MESSAGES
    assert asyncio.run(history.aget_messages()) == MESSAGES
    assert memory.search("sunny weather", 1, session="s")[0].turn.role in {"tool", "assistant"}
    history.clear()
    assert history.messages == []
    assert EvimemChatMessageHistory("other", memory).messages == MESSAGES[:1]


def test_a_session_of_the_openai_sdk_reads_what_langchain_wrote_and_the_other_way_round(tmp_path: Path) -> None:
    async def run() -> list[Any]:
        async with evimem.open_async(tmp_path / "s.evimem") as memory:
            session = EvimemSession("s", memory)
            await session.add_items([{"role": "user", "content": "I live in Porto."}])
            with evimem.open(tmp_path / "s.evimem") as same:
                history = EvimemChatMessageHistory("s", same)
                history.add_messages([AIMessage("Good.")])
                return [*(await session.get_items()), *history.messages]

    first, second, *messages = asyncio.run(run())
    assert (first, second) == (
        {"role": "user", "content": "I live in Porto."},
        {"role": "assistant", "content": "Good."},
    )
    assert [(message.type, message.content) for message in messages] == [("human", "I live in Porto."), ("ai", "Good.")]


def test_a_chain_with_history_keeps_what_was_said(memory: evimem.Memory) -> None:
    chain = RunnableWithMessageHistory(
        FakeListChatModel(responses=["Noted.", "Ajax."]), lambda session: EvimemChatMessageHistory(session, memory)
    )
    for said in ("My heron is called Ajax.", "What is it called?"):
        chain.invoke([HumanMessage(said)], {"configurable": {"session_id": "s"}})
    assert [message.content for message in EvimemChatMessageHistory("s", memory).messages] == [
        "My heron is called Ajax.", "Noted.", "What is it called?", "Ajax.",
    ]  # fmt: skip
