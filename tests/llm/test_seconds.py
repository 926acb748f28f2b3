"""Seconds: those of a budget bound the requests to the model and leave time for the answer; those of a question."""

import functools

import pytest

import evimem
from evimem import loops
from evimem.flow import run
from evimem.llm.llm_judge import LLMJudge
from evimem.loops import answer_question
from evimem.testing import ScriptedModel
from tests.doubles import FakeClock
from tests.statements.conftest import draft, partial, verdict

QUESTION = "When did Mira adopt her puppy?"


@pytest.fixture
def talk(memory):
    for day in range(1, 29):
        memory.add("Mira", f"On walk {day} I saw heron number {day} by the mill.", time=f"2024-03-{day:02}T08:00")
    memory.add("Mira", "We adopted a puppy last Friday.", time="2024-03-12T18:20", id="puppy")
    return memory


def asked(memory, replies, seconds, each):
    """Ask with a model that takes `each` seconds a request; return the answer and what each request was given."""
    clock, model, given = FakeClock(), ScriptedModel(replies), []

    def perform(effect):
        if not hasattr(effect, "prompt"):
            return memory._perform(effect)
        given.append(effect.seconds)
        clock.advance(each)
        return model.complete(effect)

    budget = evimem.Budget(seconds=seconds, tokens=600)
    flow = answer_question(loops.Task(QUESTION, LLMJudge(), memory._core.store, budget=budget, clock=clock))
    return run(flow, perform), given


def test_each_request_may_take_what_is_left_and_the_answer_at_least_a_quarter(talk):
    _, given = asked(talk, [partial("heron"), partial("mill"), partial("salt"), draft()], 20.0, 9.0)
    assert given == [20.0, 11.0, 2.0, 5.0]


def test_a_check_that_takes_too_long_leaves_the_answer_to_the_one_before(talk):
    answer, _ = asked(talk, [partial("heron"), evimem.ModelTimeout("late"), draft()], 20.0, 9.0)
    assert answer.text == "8 March 2024"
    assert [event.reason for event in answer.trace if event.kind == "stop"] == ["time used up"]


def test_a_first_check_that_takes_too_long_is_an_error(talk):
    with pytest.raises(evimem.ModelTimeout):
        asked(talk, [evimem.ModelTimeout("late")], 20.0, 30.0)


def test_without_seconds_a_request_has_no_limit_of_its_own(talk):
    _, given = asked(talk, [verdict(), draft()], None, 100.0)
    assert given == [None, None]


OUTCOMES = {
    "answer": ([verdict(), draft()], 4.0),
    "abstained": ([verdict("none", 0.1)], 2.0),
    "quote": ([verdict(), evimem.ModelTimeout("late")], 4.0),
}


@pytest.fixture
def slowly(talk, monkeypatch):
    """Ask with a model whose every request takes two seconds of a clock; return the answer, or what is known of it."""
    clock = FakeClock(1e6)
    monkeypatch.setattr(loops, "Task", functools.partial(loops.Task, clock=clock))

    class SlowModel(ScriptedModel):
        def complete(self, request):
            clock.advance(2.0)
            return super().complete(request)

    def ask(replies, *, streamed=False):
        with evimem.open(talk.stats().path, llm=SlowModel(replies)) as memory:
            options = {"budget": evimem.Budget(iterations=1)}
            try:
                return (
                    [*memory.ask(QUESTION, stream=True, **options)][-1] if streamed else memory.ask(QUESTION, **options)
                )
            except evimem.ModelTimeout as error:
                return error.partial

    return ask


@pytest.mark.parametrize("streamed", [False, True])
@pytest.mark.parametrize("outcome", OUTCOMES)
def test_the_seconds_of_a_question_are_counted_by_the_clock(slowly, outcome, streamed):
    replies, seconds = OUTCOMES[outcome]
    answer = slowly(replies, streamed=streamed)
    assert (answer.kind, answer.abstained) == (outcome, outcome == "abstained")
    assert answer.usage.seconds == seconds


def test_the_seconds_take_no_part_in_equality_and_a_replay_has_none(talk, slowly):
    answer = slowly(OUTCOMES["answer"][0])
    again = evimem.replay(answer.trace, talk)
    assert again == answer
    assert (answer.usage.seconds, again.usage.seconds) == (4.0, 0.0)


@pytest.mark.parametrize("loop", ["iris", "single_pass"])
def test_an_offline_answer_has_its_seconds_too(talk, loop):
    assert talk.ask(QUESTION, loop).usage.seconds > 0
