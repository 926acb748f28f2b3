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


def test_an_unknown_example_is_refused_with_the_names_there_are():
    with pytest.raises(ValueError, match="no example 'colleagues'; expected one of 'friends', 'assistant'"):
        load_example("colleagues")
