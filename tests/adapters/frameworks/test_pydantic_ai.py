"""The toolset in an agent of Pydantic AI, with its own scripted model."""

from __future__ import annotations

from typing import Any

from pydantic_ai import Agent
from pydantic_ai.messages import ModelMessage, ModelResponse, TextPart, ToolCallPart, ToolReturnPart
from pydantic_ai.models.function import AgentInfo, FunctionModel

import evimem
from evimem.adapters.pydantic_ai import memory_toolset


def scripted(*parts: Any) -> tuple[FunctionModel, list[AgentInfo]]:
    left, seen = list(parts), []

    def respond(messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
        seen.append(info)
        return ModelResponse(parts=[left.pop(0)])

    return FunctionModel(respond), seen


def returned(messages: list[ModelMessage]) -> list[Any]:
    return [part.content for message in messages for part in message.parts if isinstance(part, ToolReturnPart)]


async def test_an_agent_takes_a_note_recalls_it_and_asks(async_memory: evimem.AsyncMemory) -> None:
    await async_memory.add("Mira", "I adopted a puppy called Juno.", time=await async_memory.now(), session="s1")
    model, seen = scripted(
        ToolCallPart("note", {"text": "Mira wants short answers."}),
        ToolCallPart("recall", {"question": "What does Mira want?"}),
        ToolCallPart("ask", {"question": "What is Mira's puppy called?"}),
        ToolCallPart("ask", {"question": "When did Tomas adopt a puppy?"}),
        TextPart("Juno."),
    )
    done = await Agent(model, toolsets=[memory_toolset(async_memory)]).run("Hello.")
    note, recalled, asked, abstained = returned(done.all_messages())
    assert {tool.name for tool in seen[0].function_tools} == {"recall", "ask", "note"}
    assert done.output == "Juno."
    assert note == "added"
    assert "assistant: Mira wants short answers." in recalled
    assert "Juno" in asked["citations"][0]["quote"] + (asked["answer"] or "")
    assert (abstained["kind"], abstained["answer"]) == ("abstained", None)


async def test_a_toolset_that_only_reads_has_no_note(async_memory: evimem.AsyncMemory) -> None:
    model, seen = scripted(ToolCallPart("recall", {"question": "Who is Mira?"}), TextPart("I do not know."))
    done = await Agent(model, toolsets=[memory_toolset(async_memory, read_only=True)]).run("Who is Mira?")
    assert {tool.name for tool in seen[0].function_tools} == {"recall", "ask"}
    assert "say that you do not know" in returned(done.all_messages())[0]
