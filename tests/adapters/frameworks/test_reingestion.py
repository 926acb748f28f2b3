"""Fifty messages through an adapter are fifty turns, though each time what was recalled goes along. See mem0#4573."""

from __future__ import annotations

import asyncio
import re
from pathlib import Path
from typing import Any

from langchain_core.messages import AIMessage, HumanMessage
from llama_index.core.llms import ChatMessage
from llama_index.core.memory import Memory
from pydantic_ai import Agent
from pydantic_ai.messages import ModelResponse, TextPart, ToolCallPart
from pydantic_ai.models.function import FunctionModel

import evimem
from evimem.adapters.langchain import EvimemChatMessageHistory
from evimem.adapters.langgraph import EvimemStore
from evimem.adapters.llama_index import EvimemBlock
from evimem.adapters.openai_agents import EvimemSession
from evimem.adapters.pydantic_ai import memory_toolset

QUESTION = "What is the heron called?"


def said(number: int) -> str:
    return f"Heron number {number} is called Ajax the {number}."


def assert_only_what_was_said(memory: evimem.Memory, expected: int) -> None:
    texts = [turn.text for turn in memory.turns()]
    assert len([text for text in texts if text != "[recalled from memory]"]) == expected
    assert [text for text in texts if ">" in text] == []
    assert len([hit for hit in memory.search(said(7), 50) if hit.turn.text.strip() == said(7)]) == 1


async def test_an_openai_session_with_the_results_of_recalling_among_its_items(tmp_path: Path) -> None:
    async with evimem.open_async(tmp_path / "m.evimem") as memory:
        session = EvimemSession("s", memory)
        for number in range(50):
            block = (await memory.block(QUESTION, tokens=200)).text
            recalled = {"type": "function_call_output", "call_id": "c", "output": block or "nothing"}
            await session.add_items([{"role": "user", "content": said(number)}, *([recalled] if block else [])])
    with evimem.open(tmp_path / "m.evimem") as memory:
        assert_only_what_was_said(memory, 50)


def test_a_langchain_history_whose_messages_hold_the_block(tmp_path: Path) -> None:
    with evimem.open(tmp_path / "m.evimem") as memory:
        history = EvimemChatMessageHistory("s", memory)
        for number in range(25):
            block = memory.block(QUESTION, tokens=200).text
            history.add_messages([HumanMessage(f"{block}\n\n{said(number)}".strip()), AIMessage(f"Noted: {number}.")])
        assert len(history.messages) == 50
        assert_only_what_was_said(memory, 50)


def test_a_langgraph_store_into_which_an_agent_puts_what_it_recalled(tmp_path: Path) -> None:
    with evimem.open(tmp_path / "m.evimem") as memory:
        store = EvimemStore(memory)
        for number in range(50):
            block = memory.block(QUESTION, tokens=200).text
            store.put(("mira",), f"k{number}", {"text": f"{block}\n{said(number)}"})
        assert memory.stats().turns == 50
        assert len([hit for hit in memory.search(said(7), 50) if said(7) in hit.turn.text]) == 1


def test_a_llama_index_memory_that_flushes_what_it_was_given(tmp_path: Path) -> None:
    async def run(memory: evimem.Memory) -> None:
        theirs = Memory.from_defaults(
            "s",
            memory_blocks=[EvimemBlock(memory=memory, tokens=200)],
            token_limit=3000,
            token_flush_size=20,
            chat_history_token_ratio=0.01,
            tokenizer_fn=re.compile(r"\w+|[^\w\s]").findall,
        )
        for number in range(25):
            await theirs.aput(ChatMessage(role="user", content=said(number)))
            for message in await theirs.aget(input=QUESTION):
                if "<memory" in (message.content or ""):
                    await theirs.aput(message)  # as an agent that keeps its whole prompt does
            await theirs.aput(ChatMessage(role="assistant", content=f"Noted: {number}."))

    with evimem.open(tmp_path / "m.evimem") as memory:
        asyncio.run(run(memory))
        texts = [turn.text for turn in memory.turns()]
        assert len(texts) == len(set(texts)) <= 50
        assert len(texts) > 30
        assert [text for text in texts if ">" in text] == []


async def test_notes_of_a_pydantic_agent_that_notes_what_it_recalled(tmp_path: Path) -> None:
    async with evimem.open_async(tmp_path / "m.evimem") as memory:
        for number in range(50):
            await Agent(FunctionModel(noting(number)), toolsets=[memory_toolset(memory, tokens=200)]).run(QUESTION)
    with evimem.open(tmp_path / "m.evimem") as memory:
        assert_only_what_was_said(memory, 50)


def noting(number: int) -> Any:
    """A model that recalls, notes what it recalled and what was said, and ends."""

    def reply(messages: list[Any], info: Any) -> ModelResponse:
        done = [part for message in messages for part in message.parts if part.part_kind == "tool-return"]
        if not done:
            return ModelResponse(parts=[ToolCallPart("recall", {"question": QUESTION})])
        if len(done) == 1:
            recalled = done[0].content if "<memory" in str(done[0].content) else ""
            return ModelResponse(parts=[ToolCallPart("note", {"text": f"{recalled}\n{said(number)}".strip()})])
        return ModelResponse(parts=[TextPart("Done.")])

    return reply
