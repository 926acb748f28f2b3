from collections import Counter

import pytest

from evimem.loaders.examples import EXAMPLES, load_example, load_questions

UNANSWERABLE = {"other_person", "false_premise", "not_mentioned"}


@pytest.mark.parametrize("name", EXAMPLES)
def test_ids_are_unique_and_time_never_runs_backwards(name):
    turns = load_example(name)
    assert len({turn.id for turn in turns}) == len(turns)
    assert [turn.time for turn in turns] == sorted(turn.time for turn in turns)


@pytest.mark.parametrize("name", EXAMPLES)
def test_every_question_rests_on_turns_that_exist(name):
    ids = {turn.id for turn in load_example(name)}
    assert all(set(question.evidence) <= ids for question in load_questions(name))


@pytest.mark.parametrize("name", EXAMPLES)
def test_a_question_lacks_an_answer_exactly_when_its_kind_says_so(name):
    for question in load_questions(name):
        assert (question.answer is None) == (question.kind in UNANSWERABLE), question
        assert question.evidence or question.kind == "not_mentioned", question


@pytest.mark.parametrize("name", EXAMPLES)
def test_no_question_is_asked_twice(name):
    assert max(Counter(question.text for question in load_questions(name)).values()) == 1


@pytest.mark.parametrize("name", EXAMPLES)
def test_a_time_names_the_year_in_which_its_interval_starts(name):
    for question in load_questions(name):
        if question.start:
            assert question.end > question.start
            assert str(question.start.year) in question.answer


def test_the_friends_talk_over_a_year_with_pictures():
    turns = load_example("friends")
    assert len(turns) >= 140
    assert len({turn.session for turn in turns}) >= 10
    assert (turns[-1].time - turns[0].time).days > 300
    assert sum(turn.caption is not None for turn in turns) >= 10


def test_the_assistant_is_asked_and_answers_at_length():
    turns = load_example("assistant")
    assert {turn.role for turn in turns} == {"user", "assistant"}
    assert max(len(turn.text.split()) for turn in turns) > 200


def test_an_unknown_example_is_refused_with_the_names_there_are():
    with pytest.raises(ValueError, match="no example 'colleagues'; expected one of 'friends', 'assistant'"):
        load_example("colleagues")
