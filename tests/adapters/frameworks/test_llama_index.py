"""The block in LlamaIndex's own `Memory`, which flushes to it, truncates it and places what it gives; the retriever."""

from __future__ import annotations

import asyncio
import re

from llama_index.core.llms import ChatMessage
from llama_index.core.memory import Memory

import evimem
from evimem.adapters.llama_index import EvimemBlock, EvimemNodeRetriever


def chat(block: EvimemBlock, token_limit: int, **settings: object) -> Memory:
    return Memory.from_defaults(
        "chat-1",
        memory_blocks=[block],
        token_limit=token_limit,
        tokenizer_fn=re.compile(r"\w+|[^\w\s]").findall,
        **settings,
    )


async def test_what_leaves_the_short_term_memory_is_stored_and_quoted_in_a_user_message(memory: evimem.Memory) -> None:
    theirs = chat(EvimemBlock(memory=memory), 3000, token_flush_size=20, chat_history_token_ratio=0.01)
    await theirs.aput(ChatMessage(role="user", content="My heron is called Ajax."))
    await theirs.aput(ChatMessage(role="assistant", content="A fine name for a heron."))
    for number in range(12):
        await theirs.aput(ChatMessage(role="user", content=f"The weather is number {number} today."))
        await theirs.aput(ChatMessage(role="assistant", content="Indeed it is."))
    stored = list(memory.turns(session="chat-1"))
    assert [turn.text for turn in stored[:2]] == ["My heron is called Ajax.", "A fine name for a heron."]
    assert [turn.role for turn in stored[:2]] == ["user", "assistant"]
    given = await theirs.aget(input="What is my heron called?")
    assert given[0].role.value == "user"
    assert ": My heron is called Ajax." in (given[0].content or "")
    assert [message for message in given if message.role.value == "system"] == []
    assert all(">" not in turn.text for turn in memory.turns())


def test_a_block_that_is_too_long_is_quoted_anew_with_a_closed_fence(memory: evimem.Memory) -> None:
    for number in range(40):
        text = f"My heron number {number} is called Ajax the {number}."
        memory.add("Mira", text, time="2024-03-12T18:20", id=f"t{number}")  # a digest has as many tokens as a sentence

    async def length(token_limit: int) -> int:
        theirs = chat(EvimemBlock(memory=memory), token_limit)
        given = await theirs.aget(input="What is my heron called?")
        text = (given[0].content or "") if given else ""
        assert text.endswith("</memory>") or not text
        return len(text.split())

    whole, less, nothing = (asyncio.run(length(limit)) for limit in (100_000, 300, 1))
    assert whole > 300 > less > 30
    assert nothing == 0


def test_the_retriever_returns_nodes_with_who_said_it(memory: evimem.Memory) -> None:
    memory.add("Mira", "My heron is called Ajax.", time="2024-03-12T18:20", session="s1", id="t1")
    memory.add("Tomas", "It rains.", time="2024-03-12T18:21", session="s1")
    (best,) = EvimemNodeRetriever(memory, k=1).retrieve("heron")
    assert (best.node.node_id, best.node.get_content()) == ("t1", "My heron is called Ajax.")
    assert best.node.metadata == {"speaker": "Mira", "session": "s1", "time": "2024-03-12T18:20:00"}
    assert asyncio.run(EvimemNodeRetriever(memory, k=1).aretrieve("heron"))[0].node.node_id == "t1"
