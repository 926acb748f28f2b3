"""The context provider in agents of Microsoft's framework: what a run is given, what is stored, and what is not."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pytest
from agent_framework import Agent, BaseChatClient, ChatResponse, InMemoryHistoryProvider, Message

import evimem
from evimem.adapters.agent_framework import EvimemContext


class Scripted(BaseChatClient):
    """A chat client that gives scripted replies and keeps what it was asked."""

    def __init__(self, *replies: str | Exception) -> None:
        super().__init__()
        self.replies = list(replies)
        self.asked: list[list[Message]] = []

    async def _inner_get_response(
        self, *, messages: Sequence[Message], stream: bool, options: Mapping[str, Any], **kwargs: Any
    ) -> ChatResponse:
        self.asked.append(list(messages))
        reply = self.replies.pop(0)
        if isinstance(reply, Exception):
            raise reply
        return ChatResponse(messages=[Message("assistant", [reply])], response_id="r")


async def test_a_run_is_given_what_an_earlier_session_said_in_a_user_message(async_memory: evimem.AsyncMemory) -> None:
    client = Scripted("A fine name.", "Ajax.")
    agent = Agent(client, "You help.", name="helper", context_providers=[EvimemContext(async_memory)])
    await agent.run("My heron is called Ajax.", session=agent.create_session(session_id="old"))
    done = await agent.run("What is my heron called?", session=agent.create_session(session_id="new"))
    assert done.text == "Ajax."
    quoting = [message for message in client.asked[1] if ": My heron is called Ajax." in message.text]
    assert [message.role for message in quoting] == ["user"]
    assert client.asked[1][-1].text == "What is my heron called?"
    stored = await async_memory.turns()
    assert [turn.text for turn in stored] == [
        "My heron is called Ajax.", "A fine name.", "What is my heron called?", "Ajax.",
    ]  # fmt: skip
    assert [turn.session for turn in stored] == ["old", "old", "new", "new"]
    assert [turn.role for turn in stored] == ["user", "assistant", "user", "assistant"]


async def test_what_the_history_shows_already_is_not_quoted_again(async_memory: evimem.AsyncMemory) -> None:
    client = Scripted("A fine name.", "Ajax.")
    providers = [InMemoryHistoryProvider(), EvimemContext(async_memory)]
    agent = Agent(client, name="helper", context_providers=providers)
    session = agent.create_session(session_id="one")
    await agent.run("My heron is called Ajax.", session=session)
    await agent.run("What is my heron called?", session=session)
    told = "\n".join(message.text for message in client.asked[1])
    assert told.count("My heron is called Ajax.") == 1


async def test_a_run_that_fails_stores_nothing(async_memory: evimem.AsyncMemory) -> None:
    agent = Agent(Scripted(RuntimeError("no such model")), context_providers=[EvimemContext(async_memory)])
    with pytest.raises(RuntimeError):
        await agent.run("My heron is called Ajax.")
    assert (await async_memory.stats()).turns == 0


async def test_fifty_messages_are_fifty_turns_and_what_was_quoted_is_none(async_memory: evimem.AsyncMemory) -> None:
    client = Scripted(*("Noted." for _ in range(25)))
    agent = Agent(client, context_providers=[EvimemContext(async_memory, tokens=200)])
    for number in range(25):
        await agent.run(f"My heron number {number} is called Ajax.")
    assert (await async_memory.stats()).turns == 50
    assert [turn.text for turn in await async_memory.turns() if ">" in turn.text] == []
    assert any(": My heron" in message.text for message in client.asked[-1])
