"""The session against the SDK: its protocol, its own SQLite session as the reference, and a run of an agent."""

from __future__ import annotations

import asyncio
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from agents import Agent, ModelResponse, RunConfig, Runner, SQLiteSession, Usage
from agents.memory import Session
from agents.models.interface import Model
from hypothesis import given, settings
from hypothesis import strategies as st
from openai.types.responses import ResponseFunctionToolCall, ResponseOutputMessage, ResponseOutputText

import evimem
from evimem.adapters.openai_agents import EvimemSession, recall_tool

TEXTS = st.sampled_from(["Hello.", "Hello.", "I moved to Porto.", "", "é\n"])
ITEMS = st.one_of(
    st.builds(lambda text, role: {"role": role, "content": text}, TEXTS, st.sampled_from(["user", "assistant"])),
    st.builds(lambda text: {"role": "user", "content": [{"type": "input_text", "text": text}]}, TEXTS),
    st.builds(lambda text: {"type": "function_call", "call_id": "c", "name": "f", "arguments": text}, TEXTS),
    st.builds(lambda text: {"type": "function_call_output", "call_id": "c", "output": text}, TEXTS),
    st.builds(lambda text: {"type": "reasoning", "id": text, "summary": []}, TEXTS),
)
STEPS = st.lists(
    st.one_of(
        st.tuples(st.just("add_items"), st.lists(ITEMS, max_size=3)),
        st.tuples(st.just("get_items"), st.one_of(st.none(), st.integers(-1, 4))),
        st.tuples(st.sampled_from(["pop_item", "clear_session", "reopen"])),
    ),
    max_size=12,
)


@settings(max_examples=200, deadline=None)
@given(steps=STEPS)
def test_random_operations_do_what_they_do_on_the_sqlite_session_of_the_sdk(steps: list[tuple[Any, ...]]) -> None:
    async def run(folder: Path) -> None:
        theirs = SQLiteSession("s", folder / "theirs.db")
        memory = evimem.open_async(folder / "ours.evimem")
        for name, *arguments in steps:
            if name == "reopen":
                await memory.close()
                memory = evimem.open_async(folder / "ours.evimem")
                continue
            ours = EvimemSession("s", memory)
            assert await getattr(ours, name)(*arguments) == await getattr(theirs, name)(*arguments)
        assert await EvimemSession("s", memory).get_items() == await theirs.get_items()
        await memory.close()
        theirs.close()

    with TemporaryDirectory() as folder:
        asyncio.run(run(Path(folder)))


class Scripted(Model):
    """A model that gives scripted outputs and keeps what it was asked."""

    def __init__(self, *outputs: Any) -> None:
        self.outputs = list(outputs)
        self.asked: list[Any] = []

    async def get_response(self, system_instructions: Any, input: Any, *rest: Any, **named: Any) -> ModelResponse:
        self.asked.append(input)
        return ModelResponse(output=[self.outputs.pop(0)], usage=Usage(), response_id=None)

    def stream_response(self, *arguments: Any, **named: Any) -> Any:
        raise NotImplementedError


def text(words: str) -> ResponseOutputMessage:
    part = ResponseOutputText(annotations=[], text=words, type="output_text")
    return ResponseOutputMessage(id="m", content=[part], role="assistant", status="completed", type="message")


async def test_a_run_sees_the_turns_of_earlier_runs_and_recalls_those_of_other_sessions(
    async_memory: evimem.AsyncMemory,
) -> None:
    quiet = RunConfig(tracing_disabled=True)
    session = EvimemSession("today", async_memory)
    assert isinstance(session, Session)
    first = Scripted(text("Noted."))
    await Runner.run(
        Agent("Helper", model=first),
        "My heron is called Ajax.",
        session=EvimemSession("old", async_memory),
        run_config=quiet,
    )
    call = ResponseFunctionToolCall(
        arguments='{"question": "What is my heron called?"}', call_id="c1", name="recall", type="function_call"
    )
    second = Scripted(call, text("Ajax."))
    agent = Agent("Helper", model=second, tools=[recall_tool(async_memory)])
    done = await Runner.run(agent, "What is my heron called?", session=session, run_config=quiet)
    assert done.final_output == "Ajax."
    assert ": My heron is called Ajax." in second.asked[1][-1]["output"]
    third = Scripted(text("You asked for its name."))
    await Runner.run(Agent("Helper", model=third), "What did I ask?", session=session, run_config=quiet)
    kinds = [item.get("type", "message") for item in third.asked[0]]
    assert kinds == ["message", "function_call", "function_call_output", "message", "message"]
    assert [hit.turn.text for hit in await async_memory.search("heron Ajax", 9) if ">" in hit.turn.text] == []
