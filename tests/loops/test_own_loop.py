"""A loop of one's own: asked through both doors, replayed, put over a searcher; and what is no loop is refused."""

from __future__ import annotations

import asyncio
import json
import runpy
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import evimem
from evimem.flow import Flow
from evimem.loops import Loop, Search, Session, Task, abstain_without_evidence, as_loop
from evimem.testing import ScriptedModel
from evimem.types.trace import FALL_BACK, Called

OWN: Loop = runpy.run_path(str(Path(__file__).parents[2] / "examples" / "own_loop.py"))["in_other_words"]
QUESTION = "Who minds the hound?"
WORDS = "Who looks after the dog?"
VERDICT = {"tier": "exact", "confidence": 0.9, "requirements": [], "gaps": [], "next_query": "", "reason": ""}
DRAFT = json.dumps({"steps": [], "answer": "Tomas", "citations": [{"id": "e1", "quote": ""}]})
REPLIES = (WORDS, json.dumps(VERDICT), DRAFT)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    with evimem.open(tmp_path / "m.evimem") as memory:
        memory.add("Mira", "Tomas looks after the dog this week.", time="2024-03-12T18:20", id="dog")
        memory.add("Tomas", "The bread was too salty.", time="2024-03-12T18:21", id="bread")
    return tmp_path / "m.evimem"


def check(answer: evimem.Answer) -> None:
    assert (answer.text, answer.trace.loop, answer.usage.requests) == ("Tomas", "in other words", 3)
    assert [event.query for event in answer.trace if event.kind == "query"] == [QUESTION, WORDS]
    assert [event.role for event in answer.trace if isinstance(event, Called)] == ["paraphrase", "judge", "answer"]
    assert [citation.turn_id for citation in answer.citations] == ["dog"]


def test_a_loop_is_a_function_and_a_replay_is_given_the_same(path: Path) -> None:
    with evimem.open(path, llm=ScriptedModel(REPLIES)) as memory:
        answer = memory.ask(QUESTION, OWN)
        check(answer)
        check(evimem.replay(answer.trace, memory, OWN))
        with pytest.raises(evimem.InvalidQuery, match="there is no loop 'in other words'"):
            evimem.replay(answer.trace, memory)


def test_an_event_loop_asks_with_it_too(path: Path) -> None:
    async def asked() -> None:
        async with evimem.open_async(path, llm=ScriptedModel(REPLIES)) as memory:
            check(await memory.ask(QUESTION, OWN))

    asyncio.run(asked())


def test_a_loop_that_asks_a_model_says_by_type_that_there_is_none(path: Path) -> None:
    with evimem.open(path) as memory:
        with pytest.raises(evimem.NoModel, match="llm="):
            memory.ask(QUESTION, OWN)
        with pytest.raises(evimem.NoModel):
            list(memory.ask(QUESTION, OWN, stream=True))
    assert issubclass(evimem.NoModel, evimem.InvalidQuery)


def test_so_it_does_on_an_event_loop_and_over_a_searcher(path: Path) -> None:
    async def asked() -> None:
        async with evimem.open_async(path) as memory:
            with pytest.raises(evimem.NoModel):
                await memory.ask(QUESTION, OWN)

    class Later:
        async def search(self, query: str, k: int, exclude: object = ()) -> list[evimem.Hit]:
            return []

    with pytest.raises(evimem.InvalidQuery, match="must be awaited"):
        evimem.ask_searcher(QUESTION, Later(), loop=OWN)  # type: ignore[arg-type]

    asyncio.run(asked())
    with evimem.open(path) as memory, pytest.raises(evimem.NoModel):
        evimem.ask_searcher(QUESTION, memory, loop=OWN)


def test_a_memory_is_a_searcher(path: Path) -> None:
    with evimem.open(path) as memory:
        answer = evimem.ask_searcher(WORDS, memory, budget=evimem.Budget(abstain_below=0.0))
    assert answer.citations[0].turn_id == "dog"


def test_where_the_model_fails_the_offline_judge_is_asked_by_the_same_loop(path: Path) -> None:
    failing = ScriptedModel([WORDS, evimem.ModelTimeout("slow"), WORDS])
    with evimem.open(path, llm=failing, on_model_error="offline") as memory:
        trace = memory.ask(WORDS, OWN).trace
    assert trace.loop == "in other words"
    assert [event.action for event in trace if event.kind == "action"].count(FALL_BACK) == 1


@as_loop("by keywords")
def by_keywords(session: Session) -> Flow[evimem.Answer]:
    yield from ()
    session.task.store.keywords(["dog"])
    return abstain_without_evidence(session, 1)


def test_a_loop_that_reads_more_than_a_searcher_has_is_refused(path: Path) -> None:
    with evimem.open(path) as memory:
        assert memory.ask(QUESTION, by_keywords).abstained
        with pytest.raises(evimem.InvalidQuery, match="'keywords', which a searcher has not"):
            evimem.ask_searcher(QUESTION, memory, loop=by_keywords)


def no_answer(task: Task) -> Flow[Any]:
    yield from ()
    return task.question


@pytest.mark.parametrize("loop", ["iriss", 7, None, Session, lambda task: None, no_answer, lambda task: task.question])
def test_what_is_no_loop_is_refused(path: Path, loop: Callable[..., Any]) -> None:
    with evimem.open(path) as memory, pytest.raises(evimem.InvalidQuery, match="expected"):
        memory.ask(QUESTION, loop)


def test_an_error_of_the_loop_itself_comes_unchanged(path: Path) -> None:
    @as_loop("broken")
    def broken(session: Session) -> Flow[evimem.Answer]:
        yield from session.search(Search("x"), 3, path="anchor", iteration=1)
        raise ZeroDivisionError(session.task.question)

    with evimem.open(path) as memory, pytest.raises(ZeroDivisionError, match="hound"):
        memory.ask(QUESTION, broken)
