"""Facts by the provider's Batch API: handed in, remembered in the memory, collected by a later call, paid for once."""

import json
from collections.abc import Mapping
from typing import Any

import pytest

import evimem
from evimem import BatchReport
from evimem.testing import ScriptedModel
from evimem.types.trace import Complete
from tests.model_server import Fault, ModelServer

TURNS = [
    evimem.Turn("k", "s1", "Tomas", "Guess what, a kite, red, from the harbour shop.", "2024-05-02T10:00"),
    evimem.Turn("p", "s1", "Mira", "This one is poison to a model.", "2024-05-02T10:01"),
    evimem.Turn("t", "s1", "Mira", "Thanks!", "2024-05-02T10:02"),
]
KITE = {"subject": "Tomas", "predicate": "bought", "object": "a kite", "quote": "a kite", "kind": "event", "when": ""}


def said_of(prompt: str) -> str:
    turn = prompt.rpartition("<turn")[2]
    return "No." if "poison" in turn else json.dumps({"facts": [KITE] if "a kite" in turn else []})


def scripted(request: Complete) -> str:
    return said_of(request.prompt)


def served(body: Mapping[str, Any]) -> str:
    return said_of(body["messages"][-1]["content"])


def by_model(memory: evimem.Memory, turn_id: str = "k") -> list[str]:
    return [fact.text for fact in memory.facts([turn_id]) if fact.extractor == "llm"]


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
    model = ScriptedModel(then=scripted)
    memory = opened(model)
    memory.extend(TURNS)
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
    memory = opened(ScriptedModel(then=scripted))
    memory.extend(TURNS)
    for _ in range(6):
        memory.enrich_batch()
        opened(None, later=3600.0)
    assert memory.health().failed == {"extract": 1}
    assert by_model(memory) == ["Tomas bought a kite"]


def test_over_http_a_batch_that_is_worked_on_is_waited_for(opened):
    with ModelServer(then=served) as server:
        memory = opened(evimem.OpenAI("small", base_url=server.url, deadline=5.0))
        memory.extend(TURNS)
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
    memory = opened(Forgetful(then=scripted))
    memory.extend(TURNS)
    assert memory.enrich_batch().handed_in == 2
    assert memory.enrich_batch() == BatchReport(collected=0, failed=0, handed_in=2, waiting=2)


def test_a_turn_that_was_forgotten_meanwhile_is_passed_over(opened):
    memory = opened(ScriptedModel(then=scripted))
    memory.extend(TURNS)
    memory.enrich_batch()
    memory.forget(turns=["k"])
    assert memory.enrich_batch().collected == 0
    assert memory.stats().turns == 2


def test_an_estimate_is_of_what_is_left_and_writes_nothing(opened):
    with ModelServer("unused", then=Fault("401")) as server:
        model = evimem.OpenAI("s", base_url=server.url, extract_model="x", prices={"x": (1.0, 2.0)})
        memory = opened(None)
        memory.extend(TURNS)
        offline = memory.estimate()
        assert (offline.turns, offline.requests, offline.cost) == (3, 2, None)
        assert memory.health().pending == {"facts": 3}
        told = opened(model).estimate()
        assert told.cost == pytest.approx((told.input_tokens + 2 * told.output_tokens) / 1e6)
        assert memory.estimate((1.0, 2.0)) == told
        assert server.received == []
    reading = opened(ScriptedModel(then=scripted))
    reading.enrich()
    assert reading.estimate().turns == 0  # the poisoned one waits
