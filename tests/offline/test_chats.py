"""Questions of a chatbot user, in chats of our own: answered where proven, else quoted, or refused with a reason."""

from __future__ import annotations

import pytest

from benchmarks.chats import PARTS, Outcome, ask, chats, read


@pytest.fixture(scope="module")
def outcomes() -> list[Outcome]:
    return [outcome for chat in chats("develop") for outcome in ask(chat)]


def test_most_stated_answers_are_given_shortly_and_nearly_all_of_those_are_right(outcomes: list[Outcome]) -> None:
    stated = [outcome for outcome in outcomes if outcome.answerable]
    short = [outcome.right for outcome in stated if outcome.answer.kind == "answer"]
    assert len(short) >= 0.6 * len(stated)
    assert sum(short) >= 0.95 * len(short)


def test_an_unstated_answer_is_never_given_shortly(outcomes: list[Outcome]) -> None:
    assert all(outcome.answer.kind != "answer" for outcome in outcomes if not outcome.answerable)


def test_most_questions_without_a_stated_answer_are_refused_with_a_reason(outcomes: list[Outcome]) -> None:
    unstated = [outcome for outcome in outcomes if not outcome.answerable]
    assert sum(outcome.right for outcome in unstated) >= 0.88 * len(unstated)
    assert all(outcome.answer.reason for outcome in unstated if outcome.right)


@pytest.mark.parametrize("part", PARTS)
def test_half_of_the_questions_have_no_stated_answer(part: str) -> None:
    asked = [question for chat in chats(part) for question in chat.questions]
    unstated = sum(not question.accepted for question in asked)
    assert len(asked) >= 150
    assert 0.45 <= unstated / len(asked) <= 0.55


def test_an_answer_is_right_when_it_has_an_accepted_one_and_few_other_words() -> None:
    (chat, unsaid) = read(
        "a", "== 2024-01-01 10:00\nuser: I live in York.\n? Where? = York | in York\n? Why? = -"
    ).questions
    assert chat.is_right("a house in York")
    assert not chat.is_right("Leeds")
    assert not chat.is_right(None)
    assert not chat.is_right("York is where I went on a day in spring with all of them")
    assert unsaid.is_right(None)
    assert not unsaid.is_right("York")
