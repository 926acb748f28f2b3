"""The two conversations that ship, asked from end to end without a model."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

import evimem
from evimem.bench.answer_f1 import f1
from evimem.examples import EXAMPLES, ExampleQuestion, load_example, load_questions
from evimem.judging.evidence import View
from evimem.judging.tracker import replay_trace
from evimem.offline.offline_judge import OfflineJudge
from evimem.types.trace import Trace

SEVERAL = {"list", "inference"}


@pytest.fixture(scope="module", params=EXAMPLES)
def asked(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[list[tuple[ExampleQuestion, evimem.Answer]]]:
    path: Path = tmp_path_factory.mktemp("examples") / "m.evimem"
    with evimem.open(path) as memory:
        memory.extend(load_example(request.param))
        yield [(question, memory.ask(question.text)) for question in load_questions(request.param)]


@pytest.fixture(scope="module")
def friends(tmp_path_factory: pytest.TempPathFactory) -> Iterator[evimem.Memory]:
    with evimem.open(tmp_path_factory.mktemp("friends") / "m.evimem") as memory:
        memory.extend(load_example("friends"))
        yield memory


def test_most_of_what_was_told_is_answered_and_well(asked: list[tuple[ExampleQuestion, evimem.Answer]]) -> None:
    told = [(q, a) for q, a in asked if q.answer is not None and q.kind not in SEVERAL]
    assert sum(not a.abstained for _, a in told) >= 0.8 * len(told)
    assert sum(f1(a.text or "", q.answer or "") for q, a in told) >= 0.35 * len(told)


def test_what_was_not_told_is_refused_more_often_than_what_was(
    asked: list[tuple[ExampleQuestion, evimem.Answer]],
) -> None:
    told = [a.abstained for q, a in asked if q.answer is not None]
    untold = [a.abstained for q, a in asked if q.answer is None]
    assert sum(untold) / len(untold) >= sum(told) / len(told) + 0.25


def test_every_answer_cites_characters_of_turns_and_every_refusal_has_a_reason(
    asked: list[tuple[ExampleQuestion, evimem.Answer]],
) -> None:
    for _, answer in asked:
        assert 0 <= answer.confidence <= 1
        if answer.abstained:
            assert answer.text is None
            assert answer.reason
        else:
            assert answer.citations
            assert all(citation.quote for citation in answer.citations)


def test_every_trace_replays(asked: list[tuple[ExampleQuestion, evimem.Answer]]) -> None:
    for _, answer in asked:
        assert Trace.from_json(answer.trace.to_json()) == answer.trace
        state = replay_trace(answer.trace)
        assert all(set(witnesses) <= state.shown for witnesses in state.supported.values())
        assert answer.usage.requests == 0


@pytest.mark.parametrize(
    ("question", "text"),
    [
        ("When did Mira adopt her puppy?", "8 March 2024"),
        ("How many pieces did Tomas sell at the craft fair?", "nine"),
        ("Where was Katrin offered a post?", "Rotterdam"),
        ("How many days a week does Mira work at the hospital?", "four"),
        ("Does Mira like coriander?", "No"),
    ],
)
def test_answers_are_short(friends: evimem.Memory, question: str, text: str) -> None:
    assert friends.ask(question).text == text


def test_what_is_true_of_somebody_else_is_refused_by_name(friends: evimem.Memory) -> None:
    answer = friends.ask("What is Tomas allergic to?")
    assert answer.abstained
    assert answer.reason == "the evidence is about Mira, not Tomas"


def test_the_same_question_has_the_same_answer(friends: evimem.Memory) -> None:
    first, second = (friends.ask("When did Elio propose?") for _ in range(2))
    assert first == second


def test_the_offline_mind_asks_for_nothing(friends: evimem.Memory) -> None:
    views: list[View] = []

    class Watching(OfflineJudge):
        def judge(self, view: View):  # type: ignore[no-untyped-def]
            views.append(view)
            return super().judge(view)

    friends._core.judge = Watching()
    friends.ask("When did Elio propose?")
    assert views
    assert list(OfflineJudge().judge(views[0])) == []
