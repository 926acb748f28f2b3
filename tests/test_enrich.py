"""The durable queue, worked by a model: nothing is lost, nothing is asked twice, nothing holds up the rest."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest

import evimem
from evimem.flow import Complete
from evimem.testing import ModelServer, ScriptedModel


def facts_of(request: Complete) -> str:
    """Reply with one fact for each turn that mentions a kite, and with nothing usable for a poisoned one."""
    turn = request.prompt.rpartition("<turn")[2]
    if "poison" in turn:
        return "I would rather not."
    kite = {
        "subject": "Tomas",
        "predicate": "bought",
        "object": "a kite",
        "quote": "a kite",
        "kind": "event",
        "when": "",
    }
    return json.dumps({"facts": [kite] if "a kite" in turn else []})


TURNS = [
    evimem.Turn("k", "s1", "Tomas", "Guess what, a kite, red, from the harbour shop.", "2024-05-02T10:00"),  # type: ignore[arg-type]
    evimem.Turn("p", "s1", "Mira", "This one is poison to a model.", "2024-05-02T10:01"),  # type: ignore[arg-type]
    evimem.Turn("h", "s1", "Mira", "I painted the hall on Sunday.", "2024-05-02T10:02"),  # type: ignore[arg-type]
]


def by_model(memory: evimem.Memory, turn_id: str) -> list[str]:
    return [fact.text for fact in memory.facts([turn_id]) if fact.extractor == "llm"]


def test_turns_are_kept_at_once_and_read_by_the_model_later(tmp_path: Path) -> None:
    model = ScriptedModel(then=facts_of)
    with evimem.open(tmp_path / "m.evimem", llm=model) as memory:
        report = memory.extend(TURNS[:1])
        assert (report.statuses[0].pending, model.requests) == (("extract",), [])
        memory.enrich()
        assert by_model(memory, "k") == ["Tomas bought a kite"]
        assert memory.health().pending == {}
        memory.enrich()
        assert len(model.requests) == 1
        assert memory.check().problems == ()


def test_a_memory_built_without_a_model_is_read_when_there_is_one(tmp_path: Path) -> None:
    with evimem.open(tmp_path / "m.evimem") as memory:
        memory.extend(TURNS[:1])
        assert memory.enrich() == 0
    with evimem.open(tmp_path / "m.evimem", llm=ScriptedModel(then=facts_of)) as memory:
        memory.enrich()
        assert by_model(memory, "k") == ["Tomas bought a kite"]
        memory.rebuild()
        assert by_model(memory, "k") == ["Tomas bought a kite"]


def test_what_a_model_read_badly_can_be_dropped_and_is_owed_again(tmp_path: Path) -> None:
    with evimem.open(tmp_path / "m.evimem", llm=ScriptedModel(then=facts_of)) as memory:
        memory.extend(TURNS[:1])
        memory.enrich()
    with evimem.open(tmp_path / "m.evimem") as memory:
        memory.rebuild(reread=True)
        assert (by_model(memory, "k"), memory.health().pending) == ([], {"extract": 1})
        assert memory.check().problems == ()


def test_a_failure_does_not_undo_what_another_worker_has_done_meanwhile(tmp_path: Path) -> None:
    """Found by letting two workers overtake one another: the slower one owed the turn again, or gave it up."""
    path = tmp_path / "m.evimem"
    with evimem.open(path, llm=ScriptedModel(then=facts_of)) as other:

        def slow_and_bad(request: Complete) -> str:
            other.enrich()
            return "{"

        with evimem.open(path, llm=ScriptedModel(then=slow_and_bad)) as memory:
            memory.extend(TURNS[:1])
            memory.enrich()
            assert by_model(memory, "k") == ["Tomas bought a kite"]
            assert (memory.health().pending, memory.health().failed) == ({}, {})


@pytest.mark.parametrize("way", ["enrich", "enrich_batch"])
def test_a_turn_that_is_forgotten_while_work_on_it_is_offered_is_passed_over(tmp_path: Path, way: str) -> None:
    """Found by letting two workers overtake one another: the slower one raised UnknownTurn, and did no other turn."""
    path = tmp_path / "m.evimem"
    with (
        evimem.open(path) as other,
        evimem.open(path, llm=ScriptedModel(then=facts_of)) as memory,
    ):
        memory.extend(TURNS[:1])
        memory.add("Tomas", "Guess what, a kite again, blue.", time="2024-05-02T10:03", id="l")
        offered = memory._core.store.due

        def and_then_forgotten(*which: Any) -> Any:
            jobs = offered(*which)
            if any(job.turn.id == "k" for job in jobs):
                other.forget(turns=["k"])
            return jobs

        memory._core.store.due = and_then_forgotten  # type: ignore[method-assign]
        getattr(memory, way)()
        getattr(memory, way)()
        assert by_model(memory, "l") == ["Tomas bought a kite"]
        assert (memory.health().pending, memory.health().failed) == ({}, {})


def test_a_poisoned_turn_holds_up_no_other_and_ends_as_failed(tmp_path: Path) -> None:
    now = [1e9]
    with evimem.open(tmp_path / "m.evimem", llm=ScriptedModel(then=facts_of), clock=lambda: now[0]) as memory:
        memory.extend(TURNS)
        for _ in range(6):
            memory.enrich()
            now[0] += 3600
        assert memory.health().failed == {"extract": 1}
        assert memory.health().status == "degraded"
        assert by_model(memory, "k") == ["Tomas bought a kite"]
        assert memory.turn("p").text == TURNS[1].text


def test_a_model_that_is_away_raises_and_loses_nothing(tmp_path: Path) -> None:
    away = evimem.ModelUnavailable("nobody there", retryable=True)
    model = ScriptedModel([away], then=facts_of)
    now = [1e9]
    with evimem.open(tmp_path / "m.evimem", llm=model, clock=lambda: now[0]) as memory:
        memory.extend(TURNS[:1])
        with pytest.raises(evimem.ModelUnavailable):
            memory.enrich()
        assert memory.health().pending == {"extract": 1}
        now[0] += 3600
        memory.enrich()
        assert by_model(memory, "k") == ["Tomas bought a kite"]


def test_the_async_door_does_the_same(tmp_path: Path) -> None:
    async def away() -> list[str]:
        async with evimem.open_async(tmp_path / "m.evimem", llm=ScriptedModel(then=facts_of)) as memory:
            await memory.extend(TURNS[:1])
            await memory.enrich()
            return [fact.text for fact in await memory.facts(["k"]) if fact.extractor == "llm"]

    assert asyncio.run(away()) == ["Tomas bought a kite"]


def many(count: int) -> list[evimem.Turn]:
    return [
        evimem.Turn(f"t{n}", "s", "Mira", f"I painted room number {n} on Sunday.", f"2024-05-02T10:{n % 60:02}")  # type: ignore[arg-type]
        for n in range(count)
    ]


def test_turns_are_read_side_by_side_and_told_of_one_by_one(tmp_path: Path) -> None:
    told: list[int] = []
    with ModelServer(then='{"facts": []}', delay=0.05) as server:
        llm = evimem.OpenAI("small", base_url=server.url, deadline=10.0)
        with evimem.open(tmp_path / "m.evimem", llm=llm) as memory:
            memory.extend(many(24))
            assert memory.enrich(progress=told.append) == 24
        assert server.peak >= 4
    assert told[-24:] == [1] * 24


@pytest.mark.parametrize("asynchronous", [False, True])
def test_once_the_model_is_away_turns_that_had_not_begun_are_not_put_to_it(tmp_path: Path, asynchronous: bool) -> None:
    away = evimem.ModelUnavailable("nobody there", retryable=True)
    model = ScriptedModel(then=away)

    async def enrich() -> None:
        async with evimem.open_async(tmp_path / "m.evimem", llm=model) as memory:
            await memory.enrich()

    with evimem.open(tmp_path / "m.evimem", llm=model) as memory:
        memory.extend(many(64))
        with pytest.raises(evimem.ModelUnavailable):
            asyncio.run(enrich()) if asynchronous else memory.enrich()
        assert memory.health().pending == {"extract": 64}
        if not asynchronous:  # an event loop starts them all; the model's own limit holds them back
            assert len(model.requests) < 40
