"""The session of the OpenAI Agents SDK is a protocol: it needs no package to be tested as a log of items."""

import asyncio
import json
from base64 import b64encode
from collections.abc import Awaitable, Callable
from datetime import timezone
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

import evimem
from evimem.adapters.openai_agents import EvimemSession, recall_of

SAID = {"role": "user", "content": "What is the weather in Porto?"}
CALLED = {"type": "function_call", "call_id": "c1", "name": "get_weather", "arguments": '{"city": "Porto"}'}
RETURNED = {"type": "function_call_output", "call_id": "c1", "output": "Sunny, 31 degrees."}
THOUGHT = {"type": "reasoning", "id": "r1", "summary": []}
ITEMS = [SAID, CALLED, RETURNED, THOUGHT, SAID]


def hold(path: Path, session: Callable[[evimem.AsyncMemory], Awaitable[None]], **settings: Any) -> None:
    async def run() -> None:
        async with evimem.open_async(path, **settings) as memory:
            await session(memory)

    asyncio.run(run())


def held(session: Callable[[evimem.AsyncMemory], Awaitable[None]]) -> Callable[[Path], None]:
    """Make a test of what is done with an empty memory."""
    return lambda tmp_path: hold(tmp_path / "m.evimem", session)


def test_items_come_back_as_they_were_given_also_after_reopening(tmp_path):
    async def write(memory: evimem.AsyncMemory) -> None:
        session = EvimemSession("s", memory)
        await session.add_items(ITEMS[:2])
        await session.add_items(ITEMS[2:])
        await EvimemSession("other", memory).add_items([SAID])

    async def read(memory: evimem.AsyncMemory) -> None:
        session = EvimemSession("s", memory)
        assert await session.get_items() == ITEMS
        assert await session.get_items(2) == ITEMS[-2:]
        assert await session.get_items(0) == []
        assert await EvimemSession("s", memory, SimpleNamespace(limit=3)).get_items() == ITEMS[-3:]
        assert [await session.pop_item() for _ in range(6)] == [*reversed(ITEMS), None]
        await session.clear_session()
        assert await EvimemSession("other", memory).get_items() == [SAID]

    hold(tmp_path / "m.evimem", write)
    hold(tmp_path / "m.evimem", read)


@held
async def test_what_was_said_is_found_and_a_call_reads_as_one_would_write_it(memory):
    await EvimemSession("s", memory).add_items(ITEMS)
    texts = {hit.turn.text: hit.turn.role for hit in await memory.search("weather in Porto", 5)}
    assert texts == {
        SAID["content"]: "user", 'get_weather({"city": "Porto"})': "assistant", RETURNED["output"]: "tool",
        "[reasoning]": "assistant",
    }  # fmt: skip


@held
async def test_what_was_recalled_comes_back_to_the_agent_and_is_never_found_again(memory):
    log = EvimemSession("s", memory)
    await log.add_items([{"role": "user", "content": "My heron is called Ajax."}])
    block = (await memory.block("What is my heron called?")).text
    recalled = {"type": "function_call_output", "call_id": "c1", "output": block}
    await log.add_items([recalled, {"role": "user", "content": f"{block}\nIs that right?"}])
    assert (await log.get_items())[1:] == [recalled, {"role": "user", "content": f"{block}\nIs that right?"}]
    assert [hit.turn.text for hit in await memory.search("Ajax the heron", 5) if "Ajax" in hit.turn.text] == [
        "My heron is called Ajax."
    ]


@held
async def test_a_picture_comes_back_as_a_text_part_that_names_it_and_the_rest_as_given(memory):
    url = f"data:image/png;base64,{b64encode(bytes(2_000_000)).decode()}"
    looked = {"type": "input_image", "image_url": url, "detail": "auto"}
    named = {"type": "input_text", "text": "[picture, image/png, 2.0 MB]"}
    asked = {"role": "user", "content": [{"type": "input_text", "text": "What is this?"}, looked]}
    drawn = {"type": "image_generation_call", "id": "i1", "status": "completed", "result": url.partition(",")[2]}
    log = EvimemSession("s", memory)
    await log.add_items([asked, drawn, THOUGHT])
    assert await log.get_items() == [
        {"role": "user", "content": [asked["content"][0], named]},
        {"role": "assistant", "content": "image_generation_call() -> [picture, 2.0 MB]"},
        THOUGHT,
    ]


@pytest.mark.parametrize(
    ("item", "role", "text"),
    [
        (THOUGHT, "assistant", "[no text]"),
        ({"role": "user", "content": [{"type": "input_image", "image_url": "https://x.example"}]}, "user", "[image]"),
        ({"role": "assistant", "content": "Wait.", "tool_calls": [{"function": {"name": "f"}}]}, "assistant", "Wait."),
    ],
)
def test_an_item_whose_turn_has_only_its_words_comes_back_as_it_was_given(tmp_path, item, role, text):
    """Turns that were stored earlier lack the calls beside the words, and have other stand-ins."""

    async def session(memory: evimem.AsyncMemory) -> None:
        time = (await memory.now()).astimezone(timezone.utc)
        kept = {"message": json.dumps(item)}
        await memory.extend([evimem.Turn("t", "s", role, text, time, role=role, metadata=kept)], strict=True)
        assert await EvimemSession("s", memory).get_items() == [item]

    hold(tmp_path / "m.evimem", session)


def test_the_order_holds_when_the_clock_is_set_back(tmp_path):
    seconds = iter([2e9, 1e9, 1.5e9])

    async def session(memory: evimem.AsyncMemory) -> None:
        log = EvimemSession("s", memory)
        for number in range(3):
            await log.add_items([{"role": "user", "content": f"{number}"}])
        assert [item["content"] for item in await log.get_items()] == ["0", "1", "2"]

    hold(tmp_path / "m.evimem", session, clock=lambda: next(seconds, 3e9))


@held
async def test_turns_that_came_another_way_are_messages_and_never_those_of_a_system(memory):
    now = (await memory.now()).astimezone(timezone.utc)
    for role in ("system", "assistant", "tool"):
        await memory.add("x", f"from the {role}", time=now, session="s", role=role)
    assert [item["role"] for item in await EvimemSession("s", memory).get_items()] == ["user", "assistant", "user"]


@held
async def test_the_tool_recalls_for_any_question_and_leaves_out_the_one_that_the_session_stored(memory):
    log = EvimemSession("s", memory)
    told = {"role": "user", "content": "My heron is called Ajax."}
    await log.add_items([told, {"role": "assistant", "content": "Noted."}])
    await log.add_items([{"role": "user", "content": "So what was my heron called again?"}])
    recalled = await recall_of(memory, 500)("heron")
    assert told["content"] in recalled, "a model decided to call it"
    assert "So what was" not in recalled
