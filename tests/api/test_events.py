"""`on_event=`: each event of a trace is heard as it happens, and what the listener raises comes out as it is."""

import asyncio
from datetime import datetime, timezone

import pytest

import evimem
from evimem import ModelTimeout
from evimem.testing import ScriptedModel
from evimem.types.trace import Acted, Event, Found, Queried

QUESTION = "What did Mira adopt?"


@pytest.fixture
def path(tmp_path):
    with evimem.open(tmp_path / "m.evimem") as memory:
        memory.add("Mira", "We adopted a puppy last Friday.", time="2024-03-12T18:20", id="a", session="s")
        memory.add("Tomas", "What is she called?", time="2024-03-12T18:21", id="b", session="s")
    return tmp_path / "m.evimem"


@pytest.fixture
def memory(path):
    with evimem.open(path) as memory:
        yield memory


@pytest.mark.parametrize("loop", ["iris", "memr3", "single_pass"])
def test_every_event_of_the_trace_is_heard_once_and_in_order(memory, loop):
    heard: list[Event] = []
    answer = memory.ask(QUESTION, loop, on_event=heard.append)
    assert tuple(heard) == answer.trace.events
    assert answer == memory.ask(QUESTION, loop)


def test_a_search_tells_what_it_looks_for_and_what_it_found(memory):
    heard: list[Event] = []
    hits = memory.search("puppy", 1, on_event=heard.append)
    queried, found = heard
    assert queried == Queried(0, "search", "puppy", 1)
    assert found == Found(0, "search", ("a",), tuple(fact.id for fact in hits[0].facts))


class Refused(ModelTimeout):
    """Of a listener: it must not be taken for a failure of the model."""

    def __init__(self) -> None:
        Exception.__init__(self, "refused")
        self.partial = None
        self.calls = ()


@pytest.mark.parametrize("error", [ValueError, KeyError, Refused, KeyboardInterrupt])
@pytest.mark.parametrize("stream", [False, True])
def test_what_the_listener_raises_ends_the_question_as_it_is(path, error, stream):
    raised = error()

    heard: list[Event] = []

    def listen(event: Event) -> None:
        heard.append(event)
        if isinstance(event, Found) and sum(isinstance(one, Found) for one in heard) == 1:
            raise raised  # once: a second try, or the offline judge, would come to an answer

    model = ScriptedModel([])
    for options in ({}, {"llm": model, "on_model_error": "offline"}):
        with evimem.open(path, **options) as memory:
            with pytest.raises(type(raised)) as caught:
                list(memory.ask(QUESTION, stream=stream, on_event=listen))
            assert caught.value is raised
            heard.clear()
            with pytest.raises(type(raised)):
                memory.search("puppy", on_event=listen)
            heard.clear()
            assert memory.ask("Who?", asked_at="now", loop="single_pass").trace if not options else True
            assert memory.search("puppy")[0].turn.id == "a"


def test_the_async_door_tells_its_listener_on_the_event_loop(path):
    async def told() -> None:
        heard: list[Event] = []
        running = asyncio.get_running_loop()

        def listen(event: Event) -> None:
            assert asyncio.get_running_loop() is running
            heard.append(event)

        async with evimem.open_async(path) as memory:
            answer = await memory.ask(QUESTION, on_event=listen)
            assert tuple(heard) == answer.trace.events
            heard.clear()
            assert [one async for one in memory.ask(QUESTION, stream=True, on_event=listen)][-1] == answer
            assert tuple(heard) == answer.trace.events
            await memory.search("puppy", on_event=listen)
            assert isinstance(heard[-1], Found)
            with pytest.raises(ZeroDivisionError):
                await memory.ask(QUESTION, on_event=lambda event: 1 / 0)

    asyncio.run(told())


def today(answer: evimem.Answer) -> str:
    analysis = next(event for event in answer.trace if isinstance(event, Acted) and event.action == "analyse")
    return str(analysis.detail["asked_at"])


def test_now_is_the_wall_clock_for_a_question(path):
    at = datetime(2024, 3, 13, 9, tzinfo=timezone.utc).timestamp()
    with evimem.open(path, clock=lambda: at, timezone="Europe/Madrid") as memory:
        assert today(memory.ask(QUESTION, asked_at="now")) == "2024-03-13T10:00:00"
        assert today(memory.ask(QUESTION)) == "2024-03-12T18:21:00"
        said = memory.search("What did we adopt last week?", 1, asked_at="now")
        assert said == memory.search("What did we adopt last week?", 1, asked_at="2024-03-13T10:00")
        assert memory.block(QUESTION, asked_at="now") == memory.block(QUESTION, asked_at=memory.now())

    async def asked() -> evimem.Answer:
        async with evimem.open_async(path, clock=lambda: at) as memory:
            return await memory.ask(QUESTION, asked_at="now")

    assert today(asyncio.run(asked())) == "2024-03-13T10:00:00"
