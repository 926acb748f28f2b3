"""An observer and the log hear of every call while it runs, of both doors, and the log tells nothing that was said."""

import asyncio
import logging
from collections.abc import Callable
from contextvars import ContextVar
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

import evimem
from evimem import EmbedderError, InvalidTurn, ModelTimeout, UnknownTurn
from evimem.api.observer import Operation, store_name
from evimem.api.pool import key_of
from evimem.flow import Embed
from evimem.testing import ScriptedModel
from evimem.types.trace import Complete, Event
from tests.doubles import WordEmbedder

SAID = "Xanthippe keeps a zibeline heron called Quorra."
ASKED = "What is the zibeline heron called?"
SECRETS = ("xanthippe", "zibeline", "quorra", "mira", "sitting", "number-7", "heron")
TURN = evimem.Turn("number-7", "sitting", "Mira", SAID, "2024-03-12T18:20")
CALLER: ContextVar[str] = ContextVar("CALLER", default="nobody")


@dataclass
class Seen:
    """What was heard of one call."""

    operation: Operation
    caller: str
    events: list[Event] = field(default_factory=list)
    asked: list[tuple[str, Any]] = field(default_factory=list)
    outcome: list[Any] = field(default_factory=list)

    def heard(self, event: Event) -> None:
        self.events.append(event)

    def asks(self, request: Complete | Embed) -> Callable[[Any], None]:
        return lambda reply: self.asked.append((type(request).__name__, reply))

    def ends(self, outcome: Any) -> None:
        self.outcome.append(outcome)


@dataclass
class Listener:
    calls: list[Seen] = field(default_factory=list)

    def begin(self, operation: Operation) -> Seen:
        self.calls.append(Seen(operation, CALLER.get()))
        return self.calls[-1]

    def take(self) -> list[Seen]:
        calls, self.calls = self.calls, []
        return calls


@pytest.fixture
def listener():
    return Listener()


@pytest.fixture
def memory(tmp_path, listener):
    with evimem.open(tmp_path / "mira.evimem", observer=listener) as memory:
        yield memory


def test_every_call_is_heard_of_with_what_it_comes_to(memory, listener):
    memory.extend([TURN])
    memory.extend([TURN], replace=True)
    memory.remember([{"role": "user", "content": SAID}], session="chat", time="2024-03-12T18:21")
    memory.update("number-7", f"{SAID} Yes.")
    hits = memory.search(ASKED, 3)
    answer = memory.ask(ASKED)
    block = memory.block(ASKED)
    report = memory.forget(speaker="Mira")
    calls = listener.take()
    names = ["add", "replace", "add", "update", "search", "ask", "block", "forget"]
    assert [call.operation.name for call in calls] == names
    assert [call.operation.query for call in calls] == ["", "", "", "", ASKED, ASKED, ASKED, ""]
    assert [len(call.outcome) for call in calls] == [1] * len(names)
    assert [call.outcome[0] for call in calls[4:]] == [hits, answer, block, report]
    assert calls[5].events == list(answer.trace.events)
    assert {kind for kind, _ in calls[5].asked} == {"Embed"}
    assert {call.operation.store for call in calls} == {store_name(Path(memory.stats().path))}


def test_a_stream_is_one_call_and_its_caller_may_leave(memory, listener):
    memory.extend([TURN])
    list(memory.ask(ASKED, stream=True))
    pieces = iter(memory.ask(ASKED, stream=True))
    next(pieces)
    pieces.close()
    _, whole, left = listener.take()
    assert whole.outcome[0].text
    assert [type(outcome) for outcome in left.outcome] == [GeneratorExit]


def test_what_an_observer_raises_ends_the_call(tmp_path, listener):
    class Refuses(Listener):
        def begin(self, operation: Operation) -> Seen:
            raise PermissionError(operation.name)

    with evimem.open(tmp_path / "m.evimem", observer=Refuses()) as memory, pytest.raises(PermissionError, match="add"):
        memory.extend([TURN])
    with evimem.open(tmp_path / "m.evimem") as memory:
        assert memory.stats().turns == 0
    with pytest.raises(evimem.InvalidQuery, match="observer"):
        evimem.open(tmp_path / "m.evimem", observer="loud")


class Odd:
    """An observer that begins what is no observation, or one that answers with what is no function."""

    def __init__(self, begun: object) -> None:
        self._begun = begun

    def begin(self, operation: Operation) -> Any:
        return self._begun

    def heard(self, event: Any) -> None: ...

    def ends(self, outcome: Any) -> None: ...

    def asks(self, request: Any) -> Any:
        return 7


@pytest.mark.parametrize("observer", [Odd(7), Odd(object()), Odd(Odd(None))])
def test_an_observer_that_is_none_is_refused_with_a_typed_error(tmp_path, observer):
    with evimem.open(tmp_path / "m.evimem", observer=observer) as memory:
        for call in (
            lambda: memory.add("Mira", "Hello.", time="2024-03-12T18:20"),
            lambda: memory.search("hello"),
            lambda: memory.ask("Who said hello?"),
        ):
            with pytest.raises(evimem.InvalidQuery, match=r"observer\.begin returned|asks of an observation"):
                call()
        assert memory.stats().turns == 0


def test_the_other_door_is_heard_of_on_behalf_of_its_caller(tmp_path, listener):
    async def run() -> None:
        with evimem.MemoryPool(tmp_path / "users", observer=listener) as pool:
            async with pool.open_async("mira") as memory:
                CALLER.set("a request")
                await memory.extend([TURN])
                await memory.ask(ASKED)
                await memory.forget(["number-7"])
            pool.erase("mira")

    asyncio.run(run())
    calls = listener.take()
    assert [call.operation.name for call in calls] == ["add", "ask", "forget", "erase"]
    assert {call.caller for call in calls} == {"a request"}
    assert {call.operation.store for call in calls} == {key_of("mira")}


def test_the_log_has_a_line_a_call_and_nothing_that_was_said(memory, caplog):
    with caplog.at_level(logging.DEBUG, "evimem"):
        memory.extend([TURN])
        memory.search(ASKED)
        memory.ask(ASKED)
        memory.block(ASKED)
        with pytest.raises(UnknownTurn):
            memory.forget(["number-7-of-mira"])
        memory.forget(session="sitting")
    lines = [record.getMessage() for record in caplog.records if record.name == "evimem"]
    assert [line.split()[0] for line in lines] == ["add", "search", "ask", "block", "forget", "forget"]
    assert "1 added" in lines[0]
    assert "ended by UnknownTurn" in lines[4]
    assert "1 turns and" in lines[5]
    assert [word for word in SECRETS for line in lines if word in line.lower()] == []


def test_the_log_is_silent_unless_the_program_listens(memory, capfd, monkeypatch):
    monkeypatch.setattr(logging.root, "handlers", [])
    logging.getLogger("evimem").warning("something")
    memory.extend([TURN])
    assert capfd.readouterr() == ("", "")


class Broken(WordEmbedder):
    """An embedder that fails for a while."""

    def embed(self, texts: Any) -> Any:
        raise EmbedderError("no such service")


def test_what_was_done_otherwise_than_asked_for_is_a_warning(tmp_path, caplog):
    model = ScriptedModel(then=ModelTimeout("it took too long"))
    with evimem.open(tmp_path / "m.evimem", llm=model, on_model_error="offline") as memory:
        memory.extend([TURN])
        memory.ask(ASKED)
    with evimem.open(tmp_path / "broken.evimem", embedder=Broken()) as memory:
        memory.extend([TURN])
    warned = [record.getMessage() for record in caplog.records if record.levelno == logging.WARNING]
    assert [line.partition(": ")[2] for line in warned] == [
        "the model failed, and the offline judge answered in its place",
        "the embedder failed; vectors wait for enrich()",
    ]


def test_a_call_that_fails_ends_with_its_exception(memory, listener):
    with pytest.raises(InvalidTurn):
        memory.add("", SAID, time="2024-03-12T18:20")
    with pytest.raises(UnknownTurn):
        memory.forget(["nobody's"])
    with pytest.raises(UnknownTurn):
        memory.update("nobody's", SAID)
    assert [type(call.outcome[0]) for call in listener.take()] == [InvalidTurn, UnknownTurn, UnknownTurn]


def test_requests_to_a_model_are_heard_of_with_their_replies(tmp_path, listener):
    late = ModelTimeout("it took too long")
    with evimem.open(tmp_path / "m.evimem", llm=ScriptedModel(then=late), observer=listener) as memory:
        memory.extend([TURN])
        with pytest.raises(ModelTimeout):
            memory.ask(ASKED)
        asked = listener.take()[-1].asked
    assert [one for one in asked if one[0] != "Embed"] == [("Complete", late)]
