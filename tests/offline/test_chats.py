"""Questions of a chatbot user, in chats of our own: few short answers, and right ones; else a quotation or a reason."""

from __future__ import annotations

import pytest

from benchmarks.chats import Outcome, ask, chats


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
