"""What a chatbot's user asks about himself and those he mentions, in chats of our own: told, or refused by name."""

from __future__ import annotations

import pytest

from benchmarks.chats import PARTS, Outcome, ask, chats, read


@pytest.fixture(scope="module")
def outcomes() -> list[Outcome]:
    return [outcome for chat in chats("develop") for outcome in ask(chat)]


def test_most_of_what_was_told_is_answered_right(outcomes: list[Outcome]) -> None:
    told = [outcome.right for outcome in outcomes if outcome.answerable]
    assert sum(told) >= 0.85 * len(told)


def test_most_of_what_was_never_told_is_refused_with_a_reason(outcomes: list[Outcome]) -> None:
    untold = [outcome for outcome in outcomes if not outcome.answerable]
    assert sum(outcome.right for outcome in untold) >= 0.88 * len(untold)
    assert all(outcome.answer.reason for outcome in untold if outcome.right)


@pytest.mark.parametrize("part", PARTS)
def test_half_of_the_questions_are_of_what_was_never_told(part: str) -> None:
    asked = [question for chat in chats(part) for question in chat.questions]
    untold = sum(not question.accepted for question in asked)
    assert len(asked) >= 150
    assert 0.45 <= untold / len(asked) <= 0.55


def test_an_answer_is_right_when_it_says_an_accepted_one_and_little_besides() -> None:
    (chat, unsaid) = read(
        "a", "== 2024-01-01 10:00\nuser: I live in York.\n? Where? = York | in York\n? Why? = -"
    ).questions
    assert chat.is_right("a house in York")
    assert not chat.is_right("Leeds")
    assert not chat.is_right(None)
    assert not chat.is_right("York is where I went on a day in spring with all of them")
    assert unsaid.is_right(None)
    assert not unsaid.is_right("York")
