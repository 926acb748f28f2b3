"""A memory with the real client and a real server: questions, enrichment and embeddings, with and without faults."""

import asyncio
import contextlib
import json
from dataclasses import replace
from unittest.mock import patch

import pytest

import evimem
import evimem.api.memory
from evimem.openai import OpenAI, OpenAIEmbedder
from tests.doubles import FakeClock
from tests.lateness import Lateness
from tests.model_server import FAULTS, Fault, ModelServer
from tests.replies import SUPPORTED
from tests.sizes import share

DEADLINE = 1.0
FORMS = 6  # of a request: four of the reply's format, and without each of two options that a server may not know
VERDICT = {"tier": "exact", "confidence": 0.9, "requirements": SUPPORTED, "gaps": [], "next_query": "", "reason": ""}
DRAFT = {"steps": [], "answer": "8 March 2024", "citations": [{"id": "e1", "quote": "last Friday"}]}
FACT = {
    "subject": "Mira", "predicate": "got", "object": "a puppy", "when": "last Friday", "quote": "a puppy",
    "kind": "event",
}  # fmt: skip


def reply(body):
    """Answer in each role by what its instructions ask for."""
    system = body["messages"][0]["content"]
    for field, said in (("tier", VERDICT), ("steps", DRAFT), ("facts", {"facts": [FACT]})):
        if field in system.splitlines()[0]:
            return json.dumps(said)
    raise AssertionError(system)


def client(server, **settings):
    return OpenAI(
        "small", **{"base_url": server.url, "api_key": "k", "deadline": DEADLINE, "max_retries": 0, **settings}
    )


@pytest.fixture(scope="module", autouse=True)
def warm(tmp_path_factory):
    """Ask and embed once before: imports and the first stemming of a vocabulary belong to no deadline."""
    with ModelServer(then=reply) as server:
        folder = tmp_path_factory.mktemp("warm")
        embedder = OpenAIEmbedder("words", 64, server.url)
        llm = OpenAI("small", base_url=server.url, api_key="k")
        with evimem.open(folder / "m.evimem", llm=llm, embedder=embedder) as memory:
            with_a_turn(memory).ask("When did Mira adopt her puppy?")
            memory.enrich()


def with_a_turn(memory):
    memory.add("Mira", "We adopted a puppy last Friday.", time="2024-03-12T18:20", id="p")
    return memory


def test_a_question_is_answered_and_accounted_for(tmp_path):
    with ModelServer(then=reply) as server:
        llm = client(server, answer_model="large", prices={"small": (1.0, 2.0), "large": (10.0, 20.0)})
        with evimem.open(tmp_path / "m.evimem", llm=llm) as memory:
            answer = with_a_turn(memory).ask("When did Mira adopt her puppy?")
    assert (answer.text, answer.citations[0].quote) == ("8 March 2024", "last Friday")
    assert answer.usage.requests == 2
    said = [message["content"] for received in server.received for message in received.body["messages"]]
    assert answer.usage.input_tokens == sum(len(text.split()) for text in said)
    assert [received.body["model"] for received in server.received] == ["small", "large"]
    assert [call.cost for call in answer.trace if call.kind == "call"] == [
        pytest.approx(c, abs=1e-2) for c in (5e-4, 5e-3)
    ]


def opened(folder, **options):
    return evimem.open(folder / "m.evimem", clock=FakeClock(1.7e9), **options)


# A sixth of the faults each; all of them at the usual size.
@pytest.mark.parametrize("fault", share(sorted(FAULTS), 6, "a question"))
def test_a_fault_ends_a_question_as_an_error_and_never_as_an_abstention(tmp_path, fault):
    with (
        ModelServer(then=Fault(fault)) as server,
        opened(tmp_path, llm=client(server)) as memory,
        Lateness() as lateness,
    ):
        with pytest.raises(evimem.ModelError) as caught:
            with_a_turn(memory).ask("When did Mira adopt her puppy?")
        assert memory.turn("p").text == "We adopted a puppy last Friday."
        assert len(server.received) <= FORMS  # one, and where its form is refused, one in each other form
    lateness.check(len(server.received) * DEADLINE)
    partial = caught.value.partial
    assert (partial.text, partial.abstained) == (None, False)


@pytest.mark.parametrize("fault", share(sorted(FAULTS), 6, "reading"))
def test_a_fault_while_reading_a_turn_loses_neither_the_turn_nor_the_work(tmp_path, fault):
    with ModelServer(then=Fault(fault)) as server, opened(tmp_path, llm=client(server)) as memory:
        with_a_turn(memory)
        with Lateness() as lateness, contextlib.suppress(evimem.ModelError):  # a turn's own fault is kept in the queue
            memory.enrich()
        lateness.check(len(server.received) * DEADLINE)
        assert len(server.received) <= FORMS
        health = memory.health()
        assert {**health.pending, **health.failed}.get("extract") == 1
        assert health.status == "degraded"
        assert [hit.turn.id for hit in memory.search("puppy")] == ["p"]
        given = len(server.received)
        with contextlib.suppress(evimem.ModelError):
            memory.enrich()
        assert len(server.received) == given, "asked again at once, instead of later"


@pytest.mark.parametrize("fault", share(sorted(FAULTS), 6, "while embedding"))
def test_a_fault_while_embedding_loses_neither_the_turn_nor_the_work(tmp_path, fault):
    with ModelServer(then=Fault(fault)) as server:
        embedder = OpenAIEmbedder("words", 64, server.url, deadline=DEADLINE, max_retries=0)
        with opened(tmp_path, embedder=embedder) as memory:
            with_a_turn(memory)
            with Lateness() as lateness, contextlib.suppress(evimem.EmbedderError):
                memory.enrich()
            lateness.check(len(server.received) * DEADLINE)
            assert len(server.received) <= 2  # for the turn and, where the fault may be the text's, for its facts
            assert memory.health().pending["vector"] == 1
            assert memory.health().status == "degraded"
            assert memory.turn("p").text == "We adopted a puppy last Friday."


@pytest.mark.parametrize("seconds", [3_600, 59])
def test_a_server_that_asks_for_a_pause_gets_it_and_all_queued_jobs_wait(tmp_path, seconds):
    clock = FakeClock(1.7e9)
    with (
        ModelServer(Fault("429", retry_after=str(seconds)), then=reply) as server,
        evimem.open(tmp_path / "m.evimem", llm=client(server), clock=clock) as memory,
    ):
        with_a_turn(memory)
        memory.extend([replace(memory.turn("p"), id=f"p{number}") for number in range(30)])
        one_at_a_time = patch.object(evimem.api.core, "MAX_MODEL_REQUESTS", 1)
        with Lateness() as lateness, one_at_a_time, pytest.raises(evimem.ModelError):
            memory.enrich()
        lateness.check(DEADLINE)
        clock.advance(seconds - 1)
        assert memory.enrich().done == 0
        assert len(server.received) == 1
        clock.advance(2)
        with one_at_a_time:  # sixteen at once may miss their deadline on a busy machine
            memory.enrich()
        assert memory.health().pending == {}


@pytest.mark.parametrize("door", ["sync", "async"])
def test_events_and_words_of_an_answer_come_before_the_answer_itself(tmp_path, door):
    async def streamed(path, llm):
        async with evimem.open_async(path, llm=llm) as memory:
            return [piece async for piece in memory.ask("When did Mira adopt her puppy?", stream=True)]

    with ModelServer(then=reply) as server:
        path = tmp_path / "m.evimem"
        with evimem.open(path, llm=client(server)) as memory:
            with_a_turn(memory)
            plain = memory.ask("When did Mira adopt her puppy?")
            if door == "sync":
                pieces = list(memory.ask("When did Mira adopt her puppy?", stream=True))
        if door == "async":
            pieces = asyncio.run(streamed(path, client(server)))
    words = [piece for piece in pieces if isinstance(piece, str)]
    assert len(words) > 1
    assert "".join(words) == plain.text == "8 March 2024"
    assert pieces[0].kind == "action"
    assert any(getattr(piece, "kind", "") == "judgement" for piece in pieces[: pieces.index(words[0])])
    assert (pieces[-1].text, pieces[-1].citations) == (plain.text, plain.citations)
