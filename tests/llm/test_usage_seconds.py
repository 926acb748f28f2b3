"""`Answer.usage.seconds`: the wall-clock time of the whole question, on every kind of answer."""

import json
from functools import partial

import pytest

import evimem
from evimem import loops
from evimem.testing import ScriptedModel
from tests.doubles import FakeClock
from tests.replies import SUPPORTED

QUESTION = "When did Mira adopt her puppy?"
EMPTY = {"requirements": [], "gaps": [], "next_query": "", "reason": ""}
EXACT = json.dumps({"tier": "exact", "confidence": 0.9, **EMPTY, "requirements": SUPPORTED})
NONE = json.dumps({"tier": "none", "confidence": 0.1, **EMPTY})
DRAFT = json.dumps({"steps": [], "answer": "8 March 2024", "citations": [{"id": "e1", "quote": ""}]})
OUTCOMES = {
    "answer": ([EXACT, DRAFT], 4.0),
    "abstention": ([NONE], 2.0),
    "partial result": ([EXACT, evimem.ModelTimeout("late")], 4.0),
}


class SlowModel(ScriptedModel):
    """A scripted model whose every request takes two seconds of a clock."""

    def __init__(self, replies, clock):
        super().__init__(replies)
        self._clock = clock

    def complete(self, request):
        self._clock.advance(2.0)
        return super().complete(request)


@pytest.fixture
def clock(monkeypatch):
    clock = FakeClock(1e6)
    monkeypatch.setattr(loops, "Task", partial(loops.Task, clock=clock))
    return clock


@pytest.fixture
def path(tmp_path):
    with evimem.open(tmp_path / "m.evimem") as memory:
        memory.add("Mira", "We adopted a puppy last Friday.", time="2024-03-12T18:20", id="p")
    return tmp_path / "m.evimem"


def ask(path, model, *, streamed):
    with evimem.open(path, llm=model) as memory:
        options = {"budget": evimem.Budget(iterations=1)}
        return [*memory.ask(QUESTION, stream=True, **options)][-1] if streamed else memory.ask(QUESTION, **options)


@pytest.mark.parametrize("streamed", [False, True])
@pytest.mark.parametrize("outcome", OUTCOMES)
def test_the_seconds_of_a_question_are_counted_by_the_clock(path, clock, outcome, streamed):
    replies, seconds = OUTCOMES[outcome]
    try:
        answer = ask(path, SlowModel(replies, clock), streamed=streamed)
    except evimem.ModelTimeout as error:
        answer = error.partial
    assert (answer.text is None, answer.abstained) == (outcome != "answer", outcome == "abstention")
    assert answer.usage.seconds == seconds


def test_the_seconds_take_no_part_in_equality_and_a_replay_has_none(path, clock):
    answer = ask(path, SlowModel([EXACT, DRAFT], clock), streamed=False)
    with evimem.open(path) as memory:
        again = evimem.replay(answer.trace, memory)
    assert again == answer
    assert (answer.usage.seconds, again.usage.seconds) == (4.0, 0.0)


@pytest.mark.parametrize("loop", ["iris", "single_pass"])
def test_an_offline_answer_has_its_seconds_too(path, loop):
    with evimem.open(path) as memory:
        assert memory.ask(QUESTION, loop).usage.seconds > 0
