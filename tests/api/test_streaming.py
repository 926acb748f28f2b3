"""What a stream tells of an answer: its text once, and an announcement where a text turns out to be void."""

import asyncio
import gc

import pytest

import evimem
from evimem.openai import OpenAI
from evimem.testing import ScriptedModel
from evimem.types.trace import Complete
from tests.model_server import Fault, ModelServer
from tests.statements.conftest import draft, verdict

QUESTION = "When did Mira adopt her puppy?"


@pytest.fixture
def path(tmp_path):
    with evimem.open(tmp_path / "m.evimem") as memory:
        memory.add("Mira", "We adopted a puppy last Friday.", time="2024-03-12T18:20", id="puppy")
    return tmp_path / "m.evimem"


def told(path, replies, way):
    """Return the texts and announcements of a stream, in order."""

    async def gathered():
        async with evimem.open_async(path, llm=ScriptedModel(replies)) as memory:
            return [item async for item in memory.ask(QUESTION, stream=True)]

    if way == "async":
        items = asyncio.run(gathered())
    else:
        with evimem.open(path, llm=ScriptedModel(replies)) as memory:
            items = list(memory.ask(QUESTION, stream=True))
    *_, answer = items
    return [item for item in items if isinstance(item, str | evimem.Restarted)], answer


@pytest.mark.parametrize("way", ["sync", "async"])
def test_a_repaired_reply_is_announced(path, way):
    items, answer = told(path, [verdict(), draft("in Lisbon", "e99"), draft("8 March 2024", "e1")], way)
    at = items.index(evimem.Restarted())
    assert (
        ("".join(items[:at]), "".join(items[at + 1 :])) == ("in Lisbon", "8 March 2024") == ("in Lisbon", answer.text)
    )


@pytest.mark.parametrize("way", ["sync", "async"])
def test_a_text_that_finds_no_answer_is_taken_back(path, way):
    items, answer = told(path, [verdict(), draft("Not mentioned.", "e1")], way)
    assert answer.kind == "quote"
    assert items[-2:] == [evimem.Restarted(), answer.text]


@pytest.mark.parametrize("way", ["sync", "async"])
def test_a_stream_without_a_reply_is_a_failure_of_the_model(path, way, monkeypatch):
    whole = ScriptedModel.stream
    monkeypatch.setattr(ScriptedModel, "stream", lambda self, asked: iter([*whole(self, asked)][:-1]))
    with pytest.raises(evimem.ModelError, match="without its reply"):
        told(path, [verdict(), draft("8 March 2024", "e1")], way)


def test_a_cancelled_call_leaves_no_exception_behind(caplog):
    async def cancelled(model):
        task = asyncio.ensure_future(model.as_async().complete(Complete("judge", "Judge.", "Is it enough?")))
        await asyncio.sleep(0.3)
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
        await asyncio.sleep(0.2)

    with ModelServer(Fault("hang")) as server:
        model = OpenAI("small", base_url=server.url, deadline=20.0)
        asyncio.run(cancelled(model))
        gc.collect()
        model.close()
    gc.collect()
    assert [record.message for record in caplog.records if "never retrieved" in record.message] == []


@pytest.mark.parametrize("wrong", [7, "", object(), OpenAI, ["gpt-4o-mini"], OpenAI("m", api_key="k").as_async()])
def test_what_is_no_model_is_a_typed_error(tmp_path, wrong):
    for opened in (evimem.open, evimem.open_async):
        with pytest.raises(evimem.InvalidQuery, match="llm is a"):
            opened(tmp_path / "m.evimem", llm=wrong)
    with pytest.raises(evimem.InvalidQuery):
        evimem.MemoryPool(tmp_path / "pool", llm=wrong)
    assert not (tmp_path / "m.evimem").exists()


def test_a_model_may_be_named(tmp_path, monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "k")
    with evimem.open(tmp_path / "m.evimem", llm="gpt-4o-mini") as memory:
        assert memory._model.model == "gpt-4o-mini"
