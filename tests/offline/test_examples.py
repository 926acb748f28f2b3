"""The two conversations that ship, asked from end to end without a model."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import pytest

import evimem
from benchmarks.scoring.answer_f1 import f1
from benchmarks.span import SpanJudge
from evimem.loaders.examples import EXAMPLES, ExampleQuestion, load_example, load_questions
from evimem.types.trace import Trace
from tests.reference.replayed_tracker import replay_trace

SEVERAL = {"list", "inference"}
Asked = list[tuple[ExampleQuestion, evimem.Answer]]
Example = tuple[evimem.Memory, Sequence[ExampleQuestion]]
EVERY = [(name, 4) for name in EXAMPLES]  # every fourth question, and at night all of them
NIGHTLY = [pytest.param((name, 1), marks=pytest.mark.nightly) for name in EXAMPLES]


@pytest.fixture(scope="module", params=[*EVERY, *NIGHTLY], ids="{0[0]}-{0[1]}".format)
def example(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Example]:
    name, every = request.param
    with evimem.open(tmp_path_factory.mktemp("examples") / "m.evimem") as memory:
        memory.extend(load_example(name))
        yield memory, load_questions(name)[::every]


@pytest.fixture(scope="module")
def asked(example: Example) -> Asked:
    memory, questions = example
    return [(question, memory.ask(question.text)) for question in questions]


@pytest.fixture(scope="module")
def spans(example: Example) -> Asked:
    memory, questions = example
    own, memory._core.offline = memory._core.offline, SpanJudge(extractor=memory._core.extractor)
    try:
        return [(question, memory.ask(question.text)) for question in questions]
    finally:
        memory._core.offline = own


@pytest.mark.nightly
def test_the_reader_for_research_gives_most_stated_answers_with_a_good_f1(spans: Asked) -> None:
    stated = [(q, a) for q, a in spans if q.answer is not None and q.kind not in SEVERAL]
    assert sum(not a.abstained for _, a in stated) >= 0.8 * len(stated)
    assert sum(f1(a.text or "", q.answer or "") for q, a in stated) >= 0.35 * len(stated)


@pytest.mark.nightly
def test_the_reader_for_research_marks_its_answers_as_unproven(spans: Asked) -> None:
    assert all(a.kind in {"answer", "abstained"} and a.reason for _, a in spans)


def test_nothing_is_asserted(asked: Asked) -> None:
    assert {a.kind for _, a in asked} <= {"quote", "abstained"}


def test_most_quotations_and_answers_cite_a_turn_that_states_the_answer(asked: Asked) -> None:
    cited = [{c.turn_id for c in a.citations} & {*q.evidence} for q, a in asked if q.answer and not a.abstained]
    assert sum(map(bool, cited)) >= 0.7 * len(cited)


@pytest.mark.nightly
def test_unstated_answers_are_refused_more_often_than_stated_ones(spans: Asked) -> None:
    stated = [a.abstained for q, a in spans if q.answer is not None]
    unstated = [a.abstained for q, a in spans if q.answer is None]
    assert sum(unstated) / len(unstated) >= sum(stated) / len(stated) + 0.25


def test_every_answer_cites_characters_of_turns_and_every_refusal_has_a_reason(asked: Asked) -> None:
    for _, answer in asked:
        assert 0 <= answer.confidence <= 1
        if answer.abstained:
            assert answer.text is None
            assert answer.reason
        else:
            assert answer.citations
            assert all(citation.quote for citation in answer.citations)


def test_every_trace_replays(asked: Asked) -> None:
    for _, answer in asked:
        assert Trace.from_json(answer.trace.to_json()) == answer.trace
        state = replay_trace(answer.trace)
        assert all(set(witnesses) <= state.shown for witnesses in state.supported.values())
        assert answer.usage.requests == 0


def test_the_first_line_holds_a_date_and_a_count(friends: evimem.Memory) -> None:
    first = (friends.ask("When did Mira adopt her puppy?").text or "").splitlines()[0]
    assert '("last Friday": 8 March 2024)' in first
    counted = (friends.ask("How many pieces did Tomas sell at the craft fair?").text or "").splitlines()[0]
    assert "I sold nine pieces!" in counted
