"""Questions of a chatbot user, in chats of our own: few short answers, and right ones; else a quotation or a reason."""

from __future__ import annotations

import pytest

from benchmarks.chats import PARTS, Outcome, ask, chats, read


@pytest.fixture(scope="module")
def outcomes() -> list[Outcome]:
    return [outcome for chat in chats("develop") for outcome in ask(chat)]


def test_nearly_all_short_answers_are_right_and_what_is_stated_is_seldom_refused(outcomes: list[Outcome]) -> None:
    stated = [outcome for outcome in outcomes if outcome.answerable]
    short = [outcome.right for outcome in outcomes if outcome.answer.kind == "answer"]
    assert len(short) >= 0.15 * len(stated)
    assert sum(short) >= 0.95 * len(short)
    assert sum(outcome.answer.abstained for outcome in stated) <= 0.15 * len(stated)


def test_most_questions_without_a_stated_answer_are_refused_with_a_reason(outcomes: list[Outcome]) -> None:
    unstated = [outcome for outcome in outcomes if not outcome.answerable]
    assert sum(outcome.right for outcome in unstated) >= 0.6 * len(unstated)
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
