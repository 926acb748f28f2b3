"""The durable queue, worked by a model, a turn at a time or by a Batch API: nothing is lost or paid for twice."""

import asyncio
import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from time import time
from typing import Any

import pytest

import evimem
from evimem import BatchReport
from evimem.errors import EmbedderError
from evimem.testing import ScriptedModel
from evimem.types.trace import Complete
from tests.doubles import FakeClock, WordEmbedder
from tests.model_server import Fault, ModelServer

KITE = {"subject": "Tomas", "predicate": "bought", "object": "a kite", "quote": "a kite", "kind": "event", "when": ""}
TURNS = [
    evimem.Turn("k", "s1", "Tomas", "Guess what, a kite, red, from the harbour shop.", "2024-05-02T10:00"),
    evimem.Turn("p", "s1", "Mira", "This one is poison to a model.", "2024-05-02T10:01"),
    evimem.Turn("t", "s1", "Mira", "And you?", "2024-05-02T10:02"),
    evimem.Turn("h", "s1", "Mira", "I painted the hall on Sunday.", "2024-05-02T10:02"),
]


def said_of(prompt: str) -> str:
    """Reply with one fact for a turn that mentions a kite, and with nothing usable for a poisoned one."""
    turn = prompt.rpartition("<turn")[2]
    return "No." if "poison" in turn else json.dumps({"facts": [KITE] if "a kite" in turn else []})


def facts_of(request: Complete) -> str:
    return said_of(request.prompt)


def served(body: Mapping[str, Any]) -> str:
    return said_of(body["messages"][-1]["content"])


def by_model(memory: evimem.Memory, turn_id: str = "k") -> list[str]:
    return [fact.text for fact in memory.facts([turn_id]) if fact.extractor == "llm"]


def test_a_memory_built_without_a_model_is_read_when_there_is_one(tmp_path):
    with evimem.open(tmp_path / "m.evimem") as memory:
        memory.extend(TURNS[:1])
        assert [memory.enrich().done for _ in range(2)] == [1, 0]
    with evimem.open(tmp_path / "m.evimem", llm=ScriptedModel(then=facts_of)) as memory:
        memory.enrich()
        assert by_model(memory, "k") == ["Tomas bought a kite"]
        memory.rebuild()
        assert by_model(memory, "k") == ["Tomas bought a kite"]


def test_facts_by_a_model_can_be_dropped_and_their_jobs_queued_again(tmp_path):
    with evimem.open(tmp_path / "m.evimem", llm=ScriptedModel(then=facts_of)) as memory:
        memory.extend(TURNS[:1])
        memory.enrich()
    with evimem.open(tmp_path / "m.evimem") as memory:
        memory.rebuild(reread=True)
        assert (by_model(memory, "k"), memory.health().pending) == ([], {"extract": 1})
        assert memory.check().problems == ()


def test_a_failure_does_not_undo_what_another_worker_has_done_meanwhile(tmp_path):
    """A slower worker whose lease has run out must not queue the turn again or record it as failed."""
    path, later = tmp_path / "m.evimem", FakeClock(time() + 2_000)
    with evimem.open(path, llm=ScriptedModel(then=facts_of), clock=later) as other:

        def slow_and_bad(request: Complete) -> str:
            other.enrich()
            return "{"

        with evimem.open(path, llm=ScriptedModel(then=slow_and_bad)) as memory:
            memory.extend(TURNS[:1])
            memory.enrich()
            assert by_model(memory, "k") == ["Tomas bought a kite"]
            assert (memory.health().pending, memory.health().failed) == ({}, {})


@pytest.mark.parametrize("way", ["enrich", "enrich_batch"])
def test_a_turn_that_is_forgotten_while_work_on_it_is_offered_is_passed_over(tmp_path, way):
    """Found by letting two workers overtake one another: the slower one raised UnknownTurn, and did no other turn."""
    path = tmp_path / "m.evimem"
    with evimem.open(path) as other, evimem.open(path, llm=ScriptedModel(then=facts_of)) as memory:
        memory.extend(TURNS[:1])
        memory.add("Tomas", "Guess what, a kite again, blue.", time="2024-05-02T10:03", id="l")
        name = "lease" if way == "enrich" else "due"
        offered = getattr(memory._core.store, name)

        def and_then_forgotten(*which: Any) -> Any:
            jobs = offered(*which)
            if any(job.turn.id == "k" for job in jobs):
                other.forget(turns=["k"])
            return jobs

        setattr(memory._core.store, name, and_then_forgotten)
        getattr(memory, way)()
        getattr(memory, way)()
        assert by_model(memory, "l") == ["Tomas bought a kite"]
        assert (memory.health().pending, memory.health().failed) == ({}, {})


def many(count: int) -> list[evimem.Turn]:
    return [
        evimem.Turn(f"t{n}", "s", "Mira", f"I painted room number {n} on Sunday.", f"2024-05-02T10:{n % 60:02}")
        for n in range(count)
    ]


@pytest.mark.parametrize("asynchronous", [False, True])
def test_once_the_model_is_away_turns_that_had_not_begun_are_not_put_to_it(tmp_path, asynchronous):
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


class Picky(WordEmbedder):
    """An embedder far away that is down, or that refuses a text with a word in it as a provider does."""

    remote = True

    def __init__(self) -> None:
        super().__init__(16)
        self.down: EmbedderError | None = None
        self.asked = 0

    def embed(self, texts: Sequence[str]) -> Any:
        self.asked += 1
        if self.down:
            raise self.down
        if any("poison" in text for text in texts):
            raise EmbedderError("no embeddings: status 400", retryable=False, of_texts=True)
        return super().embed(texts)


def test_a_text_that_an_embedder_refuses_costs_no_other_turn_its_vector(tmp_path):
    """Found by reading the queue for what an endpoint may do: one 400 gave up a page of 256 turns for good."""
    now, embedder = [1e9], Picky()
    with evimem.open(tmp_path / "m.evimem", embedder=embedder, clock=lambda: now[0]) as memory:
        memory.extend(
            [replace(TURNS[0], id=f"t{n}", text="This is poison." if n == 41 else f"Hi {n}") for n in range(200)]
        )
        memory.enrich()
        assert memory.health().pending["vector"] == 1
        assert embedder.asked < 60
        for _ in range(6):
            now[0] += 3600
            memory.enrich()
        assert (memory.health().failed["vector"], memory.health().status) == (1, "degraded")
        memory.forget(turns=["t41"])
        assert memory.check().problems == ()


@pytest.mark.parametrize("error", [EmbedderError("down"), EmbedderError("status 401", retryable=False)])
def test_an_embedder_that_is_down_for_days_costs_no_turn_its_vector(tmp_path, error):
    now, embedder = [1e9], Picky()
    embedder.down = error
    with evimem.open(tmp_path / "m.evimem", embedder=embedder, clock=lambda: now[0]) as memory:
        memory.extend(TURNS[3:])
        for _ in range(50):
            with pytest.raises(EmbedderError):
                memory.enrich()
            now[0] += 3600
        embedder.down = None
        memory.enrich()
        assert (memory.health().pending, memory.health().failed) == ({}, {})


def test_an_embedder_is_left_alone_for_as_long_as_it_asks(tmp_path):
    now, embedder = [1e9], Picky()
    embedder.down = EmbedderError("status 429", retry_after=3600.0)
    with evimem.open(tmp_path / "m.evimem", embedder=embedder, clock=lambda: now[0]) as memory:
        memory.extend(TURNS[3:])
        with pytest.raises(EmbedderError):
            memory.enrich()
        embedder.down, now[0] = None, now[0] + 3599
        assert (memory.enrich().done, embedder.asked) == (0, 1)
        now[0] += 2
        memory.enrich()
        assert memory.health().pending == {}


def test_what_a_model_found_is_kept_where_the_embedder_fails_then(tmp_path):
    embedder = Picky()

    def read(request: Complete) -> str:
        embedder.down = EmbedderError("down")
        return facts_of(request)

    with evimem.open(tmp_path / "m.evimem", embedder=embedder, llm=ScriptedModel(then=read)) as memory:
        memory.extend(TURNS[:1])
        memory.enrich()
        assert by_model(memory, "k") == ["Tomas bought a kite"]
        assert memory.health().pending == {"link": 1}
        embedder.down = None
        memory.enrich()
        assert (memory.health().pending, memory.check().problems) == ({}, ())


def test_turns_are_read_concurrently_and_reported_one_by_one(tmp_path):
    told: list[int] = []
    with ModelServer(then='{"facts": []}', delay=0.05) as server:
        llm = evimem.OpenAI("small", base_url=server.url, deadline=10.0)
        with evimem.open(tmp_path / "m.evimem", llm=llm) as memory:
            memory.extend(many(24))
            memory.stats()
            assert memory.enrich(progress=told.append).done == 24
        assert server.peak >= 4
    assert told[-24:] == [1] * 24


@pytest.fixture
def opened(tmp_path):
    now = [1e9]
    memories = []

    def open_it(llm: Any, later: float = 0.0) -> evimem.Memory:
        now[0] += later
        memories.append(evimem.open(tmp_path / "m.evimem", llm=llm, clock=lambda: now[0]))
        return memories[-1]

    yield open_it
    for memory in memories:
        memory.close()


def test_turns_are_handed_in_once_and_collected_by_a_later_process(opened):
    model = ScriptedModel(then=facts_of)
    memory = opened(model)
    memory.extend(TURNS[:3])
    assert memory.enrich_batch() == BatchReport(collected=0, failed=0, handed_in=2, waiting=2)
    (batch,) = model.batches
    assert len(batch) == 2  # nobody is asked about thanks
    assert not any(turn.id in batch for turn in TURNS)
    memory.close()
    memory = opened(model)
    assert memory.enrich().done == 0  # what is in a batch is not asked again
    report = memory.enrich_batch()
    assert (report.collected, report.failed, report.waiting) == (1, 1, 0)
    assert by_model(memory) == ["Tomas bought a kite"]
    assert [line for line in memory.check().problems if "enrich() tries again" not in line] == []


def test_a_turn_that_no_batch_can_read_ends_as_failed_and_holds_up_no_other(opened):
    memory = opened(ScriptedModel(then=facts_of))
    memory.extend(TURNS[:3])
    for _ in range(6):
        memory.enrich_batch()
        opened(None, later=3600.0)
    assert memory.health().failed == {"extract": 1}
    assert by_model(memory) == ["Tomas bought a kite"]


def test_over_http_a_batch_that_is_worked_on_is_waited_for(opened):
    with ModelServer(then=served) as server:
        memory = opened(evimem.OpenAI("small", base_url=server.url, deadline=5.0))
        memory.extend(TURNS[:3])
        server.batch_status = "in_progress"
        assert memory.enrich_batch().handed_in == 2
        assert memory.enrich_batch() == BatchReport(collected=0, failed=0, handed_in=0, waiting=2)
        server.batch_status = "completed"
        assert memory.enrich_batch().collected == 1
        uploads = [one for one in server.received if one.path.endswith("/files")]
        assert len(uploads) == 1
        assert by_model(memory) == ["Tomas bought a kite"]


class Forgetful(ScriptedModel):
    """A provider that no longer knows its batches."""

    def collect_batch(self, batch_id: str, requests: Mapping[str, Complete]) -> Any:
        raise evimem.ModelUnavailable("no such batch", retryable=False, status=404)


def test_a_batch_that_the_provider_lost_is_handed_in_again(opened):
    memory = opened(Forgetful(then=facts_of))
    memory.extend(TURNS[:3])
    assert memory.enrich_batch().handed_in == 2
    assert memory.enrich_batch() == BatchReport(collected=0, failed=0, handed_in=2, waiting=2)


def test_a_turn_that_was_forgotten_meanwhile_is_passed_over(opened):
    memory = opened(ScriptedModel(then=facts_of))
    memory.extend(TURNS[:3])
    memory.enrich_batch()
    memory.forget(turns=["k"])
    assert memory.enrich_batch().collected == 0
    assert memory.stats().turns == 2


def test_an_estimate_is_of_what_is_left_and_writes_nothing(opened):
    with ModelServer("unused", then=Fault("401")) as server:
        model = evimem.OpenAI("s", base_url=server.url, extract_model="x", prices={"x": (1.0, 2.0)})
        memory = opened(None)
        memory.extend(TURNS[:3])
        offline = memory.estimate()
        assert (offline.turns, offline.requests, offline.cost) == (3, 2, None)
        assert memory.health().pending == {"facts": 3}
        told = opened(model).estimate()
        assert told.cost == pytest.approx((told.input_tokens + 2 * told.output_tokens) / 1e6)
        assert memory.estimate((1.0, 2.0)) == told
        assert server.received == []
    reading = opened(ScriptedModel(then=facts_of))
    reading.enrich()
    assert reading.estimate().turns == 0  # the poisoned one waits
