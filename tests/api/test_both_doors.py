"""Whatever is called, the async door returns what the other does, and leaves the same turns and jobs."""

import asyncio
import inspect
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import evimem
from evimem import AsyncMemory, Memory, Trace, Turn
from tests.copies import copied
from tests.doubles import WordEmbedder

ASKED = "When did Mira adopt her puppy?"
WITHIN: dict[str, Any] = {"session": "s1", "speaker": "Mira", "role": "user"}
AT = "2030-01-01T00:00"
Call = Callable[[Any, Path], Any]
CALLS: dict[str, Call] = {
    "add": lambda m, _: m.add("Mira", "One more.", time=AT, id="more"),
    "extend": lambda m, _: m.extend([Turn("s1:1", "s1", "Mira", "Other.", AT)], replace=True),
    "remember": lambda m, _: m.remember(
        [{"role": "user", "content": "Hello.", "id": "hello"}], session="chat", time=AT
    ),
    "update": lambda m, _: m.update("s1:4", "I stayed where I was."),
    "search": lambda m, _: m.search("puppy", 5, **WITHIN),
    "search over": lambda m, _: m.search("puppy", 5, over="both"),
    "search_facts": lambda m, _: m.search_facts("puppy", about="Mira", during="March 2024", **WITHIN),
    "ask": lambda m, _: m.ask(ASKED),
    "ask within": lambda m, _: m.ask(ASKED, "memr3", where={"none": 1}),
    "ask as a stream": lambda m, _: m.ask(ASKED, stream=True),
    "block": lambda m, _: m.block(ASKED, tokens=300, exclude=["s1:1"]),
    "profile": lambda m, _: m.profile(tokens=200, speaker="Mira"),
    "forget": lambda m, _: m.forget(speaker="Mira"),
    "enrich": lambda m, _: m.enrich(),
    "estimate": lambda m, _: m.estimate((1.0, 2.0)),
    "calibration": lambda m, _: m.calibration(),
    "rebuild": lambda m, _: m.rebuild(),
    "reembed": lambda m, _: m.reembed(WordEmbedder(16)),
    "turn": lambda m, _: m.turn("s1:4"),
    "context": lambda m, _: m.context("s1:4", 2, 1),
    "neighbours": lambda m, _: m.neighbours("s1:4"),
    "facts": lambda m, _: m.facts(["s1:4"]),
    "facts about": lambda m, _: m.facts(about="Mira", current=True),
    "turns": lambda m, _: m.turns(limit=3, newest=True, **WITHIN),
    "now": lambda m, _: m.now(),
    "keep_trace": lambda m, _: m.keep_trace(Trace("where?", "iris")),
    "health": lambda m, _: m.health(),
    "check": lambda m, _: m.check(),
    "export": lambda m, folder: m.export(folder / "export"),
    "backup": lambda m, folder: m.backup(folder / "backup"),
}


def told(result: Any) -> Any:
    return list(result) if inspect.isgenerator(result) else result


async def told_async(result: Any) -> Any:
    return [one async for one in result] if inspect.isasyncgen(result) else await result


@pytest.mark.parametrize("name", CALLS)
def test_the_async_door_returns_what_the_other_does(friends_file, tmp_path, name):
    paths = [tmp_path / one / "m.evimem" for one in ("sync", "async")]
    for path in paths:
        path.parent.mkdir()
        copied(friends_file, path)
    options: dict[str, Any] = {"clock": lambda: 1.7e9}

    async def away() -> tuple[Any, list[Turn], Any]:
        async with evimem.open_async(paths[1], **options) as memory:
            result = await told_async(CALLS[name](memory, paths[1].parent))
            return result, await memory.turns(), (await memory.health()).pending

    with evimem.open(paths[0], **options) as memory:
        result = told(CALLS[name](memory, paths[0].parent))
        expected = result, list(memory.turns()), memory.health().pending
    assert asyncio.run(away()) == expected


def test_the_doors_have_the_same_methods_with_the_same_parameters():
    def surface(door: type) -> dict[str, list[str]]:
        methods = inspect.getmembers(door, inspect.isfunction)
        return {name: list(inspect.signature(method).parameters) for name, method in methods if name[0] != "_"}

    both = surface(AsyncMemory)
    both.pop("end_worker")
    assert both == surface(Memory)
    left_out = {
        "calibrate",
        "close",
        "enrich_batch",
        "import_",
        "rekey",
        "stats",
        "trace",
    }  # which the tests of each ask for
    assert {name.partition(" ")[0] for name in CALLS} == both.keys() - left_out


def test_the_turns_of_an_event_loop_are_described_as_the_list_that_they_are() -> None:
    assert inspect.signature(evimem.AsyncMemory.turns).return_annotation == "list[Turn]"
    assert inspect.signature(evimem.Memory.turns).return_annotation == "Iterator[Turn]"
