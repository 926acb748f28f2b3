"""Where the model fails and the memory was opened with `on_model_error="offline"`, the offline judge is asked."""

import asyncio
import json
from collections.abc import Callable, Iterator
from dataclasses import fields
from pathlib import Path
from typing import Any

import pytest

import evimem
from evimem import Answer, Budget, InvalidQuery, ModelTimeout, ModelUnavailable
from evimem.errors import PromptTooLong
from evimem.loaders.examples import load_example
from evimem.openai import OpenAI
from evimem.testing import ScriptedModel
from tests.copies import copied
from tests.model_server import Fault, ModelServer
from tests.statements.conftest import draft, events, verdict

QUESTION = "When did Mira adopt her puppy?"
UNANSWERED = "When did Tomas adopt a puppy?"  # abstained from after three rounds
TIMEOUT = ModelTimeout("no answer within 60 s")
FAILURES: dict[str, tuple[list[Any], str]] = {
    "a timeout of the judge": ([TIMEOUT], "ModelTimeout: no answer within 60 s"),
    "a timeout of the answer": ([verdict(), TIMEOUT], "ModelTimeout"),
    "a refusal": ([ModelUnavailable("401 from host", retryable=False, status=401)], "ModelUnavailable: 401 from host"),
    "two unusable verdicts": (["a secret of the reply"] * 2, "ReplyError: the judge model's reply"),
    "two unusable answers": ([verdict(), "hm", "no"], "ReplyError: the answer model's reply"),
    "a prompt too long": ([PromptTooLong("too long", retryable=False)] * 9, "PromptTooLong: too long"),
}


@pytest.fixture(scope="module")
def path(tmp_path_factory, friends_file):
    return copied(friends_file, tmp_path_factory.mktemp("fall_back") / "m.evimem")


def offline(path: Path, question: str = QUESTION, loop: str = "iris", **budget: Any) -> Answer:
    with evimem.open(path) as memory:
        return memory.ask(question, loop, budget=Budget(**budget))


def asked(path: Path, replies: list[Any], question: str = QUESTION, loop: str = "iris", **budget: Any) -> Answer:
    with evimem.open(path, llm=ScriptedModel(replies), on_model_error="offline") as memory:
        return memory.ask(question, loop, budget=Budget(**budget))


def same_claim(answer: Answer, other: Answer) -> None:
    """Two answers say the same on the same grounds; how they came about may differ."""
    for name in {field.name for field in fields(Answer)} - {"trace", "usage", "reason"}:
        assert getattr(answer, name) == getattr(other, name), name


@pytest.mark.parametrize(
    ("question", "failure"), [*((QUESTION, name) for name in FAILURES), (UNANSWERED, "a timeout of the judge")]
)
def test_any_failure_of_the_model_leads_to_the_offline_answer_which_names_it(path, question, failure):
    replies, named = FAILURES[failure]
    answer, without = asked(path, replies, question), offline(path, question)
    same_claim(answer, without)
    assert answer.fell_back
    assert f"the model failed ({named}" in str(answer.reason)
    assert "secret" not in str(answer.reason)
    assert str(answer.reason).endswith(without.reason or "so the offline judge was asked")


def test_an_answer_of_a_model_that_works_is_not_marked(path):
    answer = asked(path, [verdict(), draft("8 March 2024", "e1")])
    assert (answer.fell_back, answer.reason, answer.usage.requests) == (False, None, 2)
    assert not offline(path).fell_back


def test_what_the_model_was_asked_stays_counted(path):
    answer = asked(path, [verdict(), "hm", "no"])
    calls = events(answer.trace, "call")
    assert [(call.role, call.outcome) for call in calls] == [
        ("judge", "ok"),
        ("answer", "ReplyError"),
        ("answer", "ReplyError"),
    ]
    assert (answer.usage.requests, answer.usage.failed, answer.usage.repairs) == (3, 2, 1)
    assert answer.usage.input_tokens == sum(call.input_tokens for call in calls) > 0
    assert answer.usage.output_tokens == sum(call.output_tokens for call in calls) > 2


def test_a_budget_that_is_used_up_leaves_one_look(path):
    with ModelServer(then=Fault("hang")) as server:
        llm = OpenAI("small", base_url=server.url, api_key="k", max_retries=0)
        with evimem.open(path, llm=llm, on_model_error="offline") as memory:
            answer = memory.ask(UNANSWERED, budget=Budget(seconds=0.3))
    first, second = (event.detail["budget"] for event in events(answer.trace, "action") if event.action == "analyse")
    assert (first["seconds"], second["seconds"]) == (0.3, 0.0)
    assert len(events(answer.trace, "stop")) == 1
    assert max(event.iteration for event in events(answer.trace, "query")) == 1


def test_a_deadline_leaves_the_quotation_that_is_given_without_a_model(path):
    with ModelServer(then=Fault("hang")) as server:
        llm = OpenAI("small", base_url=server.url, api_key="k", max_retries=0)
        with evimem.open(path, llm=llm) as memory, pytest.raises(ModelTimeout) as caught:
            memory.ask(QUESTION, budget=Budget(seconds=0.3))
    partial = caught.value.partial
    assert (partial.kind, partial.fell_back) == ("quote", True)
    assert "ModelTimeout" in str(partial.reason)
    same_claim(partial, offline(path, seconds=0.0))
    with evimem.open(path) as memory:
        same_claim(evimem.replay(partial.trace, memory), partial)


def test_a_refusal_leaves_the_evidence_and_no_quotation(path):
    refused = ModelUnavailable("401 from host", retryable=False, status=401)
    with evimem.open(path, llm=ScriptedModel([refused])) as memory, pytest.raises(ModelUnavailable) as caught:
        memory.ask(QUESTION)
    assert caught.value.partial.kind == "failed"


def interrupted(_: object) -> str:
    raise KeyboardInterrupt


def broken(_: object) -> str:
    raise ZeroDivisionError("a mistake in the caller's own model")


@pytest.mark.parametrize(("reply", "error"), [(interrupted, KeyboardInterrupt), (broken, ZeroDivisionError)])
def test_an_interrupt_or_a_mistake_in_a_model_is_no_failure_to_fall_back_from(path, reply, error):
    with pytest.raises(error):
        asked(path, [reply])


@pytest.mark.parametrize("stream", [False, True])
def test_a_cancelled_question_is_not_answered(path, stream):
    told: list[Any] = []

    async def ask(memory: evimem.AsyncMemory) -> None:
        if not stream:
            told.append(await memory.ask(QUESTION))
            return
        async for item in memory.ask(QUESTION, stream=True):
            told.append(item)

    async def cancelled(llm: OpenAI, server: ModelServer) -> None:
        async with evimem.open_async(path, llm=llm, on_model_error="offline") as memory:
            task = asyncio.ensure_future(ask(memory))
            while not server.received:
                await asyncio.sleep(0.01)
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task

    with ModelServer(then=Fault("hang")) as server:
        asyncio.run(cancelled(OpenAI("small", base_url=server.url, api_key="k"), server))
    assert not [item for item in told if isinstance(item, Answer) or getattr(item, "action", "") == "fall back"]


@pytest.mark.parametrize("wrong", ["", "Offline", "ignore", None, 7, True, ["offline"]])
def test_another_value_is_refused_before_anything_is_made(tmp_path, wrong):
    makers: list[Callable[..., Any]] = [evimem.open, evimem.open_async, evimem.MemoryPool]
    for make in makers:
        with pytest.raises(InvalidQuery, match=r"on_model_error is .*; expected one of 'raise', 'offline'"):
            make(tmp_path / "m", on_model_error=wrong)
    assert list(tmp_path.iterdir()) == []


def test_the_event_loop_and_the_pool_fall_back_too(path, tmp_path):
    async def away() -> Answer:
        async with evimem.open_async(path, llm=ScriptedModel([TIMEOUT]), on_model_error="offline") as memory:
            return await memory.ask(QUESTION)

    async def of_a_user(pool: evimem.MemoryPool) -> Answer:
        async with pool.open_async("mira") as memory:
            return await memory.ask(QUESTION)

    same_claim(asyncio.run(away()), offline(path))
    with evimem.MemoryPool(tmp_path, llm=ScriptedModel(then=TIMEOUT), on_model_error="offline") as pool:
        with pool.open("mira") as memory:
            memory.extend(load_example("friends"), strict=True)
            answers = [memory.ask(QUESTION)]
        answers.append(asyncio.run(of_a_user(pool)))
    for answer in answers:
        assert answer.fell_back
        same_claim(answer, offline(path))


def streamed(path: Path, llm: Any, way: str, question: str = QUESTION) -> Iterator[Any]:
    """Return all that a stream tells."""

    async def gathered() -> list[Any]:
        async with evimem.open_async(path, llm=llm, on_model_error="offline") as memory:
            return [item async for item in memory.ask(question, stream=True)]

    if way == "async":
        return iter(asyncio.run(gathered()))
    with evimem.open(path, llm=llm, on_model_error="offline") as memory:
        return iter(list(memory.ask(question, stream=True)))


def texts(items: list[Any]) -> str:
    """Return what a stream said; "|" where it took back what it had said before."""
    said = [item if isinstance(item, str) else "|" for item in items if isinstance(item, (str, evimem.Restarted))]
    return "".join(said)


@pytest.mark.parametrize("way", ["sync", "async"])
@pytest.mark.parametrize("question", [QUESTION, UNANSWERED])
def test_a_stream_that_breaks_off_takes_back_what_it_said(path, way, question):
    reply = json.dumps({"steps": [], "answer": "in Lisbon", "citations": [{"id": "e1", "quote": ""}]})
    with ModelServer(verdict(), Fault("truncated", text=reply)) as server:
        llm = OpenAI("small", base_url=server.url, api_key="k", max_retries=0)
        items = list(streamed(path, llm, way, question))
    answer = items[-1]
    assert texts(items) == f"in Lisbon|{answer.text or ''}"
    assert "ModelUnavailable" in answer.reason
    same_claim(answer, offline(path, question))
    assert [item for item in items[:-1] if not isinstance(item, (str, evimem.Restarted))] == list(answer.trace)


def test_by_default_a_failure_is_raised(path):
    for options in ({}, {"on_model_error": "raise"}):
        with evimem.open(path, llm=ScriptedModel([TIMEOUT]), **options) as memory, pytest.raises(ModelTimeout):
            memory.ask(QUESTION)


def test_reading_turns_still_raises(tmp_path):
    refused = ModelUnavailable("401 from host", retryable=False, status=401)
    with evimem.open(tmp_path / "m.evimem", llm=ScriptedModel(then=refused), on_model_error="offline") as memory:
        memory.add("Mira", "We adopted a puppy last Friday.", time="2024-03-12T18:20")
        with pytest.raises(ModelUnavailable):
            memory.enrich()


def test_the_offline_judge_has_what_is_left_of_a_budget(path):
    answer = asked(path, [TIMEOUT], seconds=3600, k=7)
    first, second = (event.detail["budget"] for event in events(answer.trace, "action") if event.action == "analyse")
    assert 3000 < second["seconds"] < first["seconds"] == 3600
    assert (first["k"], second["k"]) == (7, 7)
