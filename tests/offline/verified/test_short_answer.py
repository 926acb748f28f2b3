"""A short answer is a value that the evidence states of what was asked."""

import pytest

from evimem.extract import RuleExtractor
from evimem.offline.verified import ShortAnswer, short_answer


def test_an_attribute_is_answered_with_its_citation(see):
    view = see("Where does Ana live?", [("Ana", "I live in Leeds."), ("Bo", "Nice.")])
    found = short_answer(view, RuleExtractor())
    assert isinstance(found, ShortAnswer)
    assert found.text == "Leeds"
    assert found.citations[0].turn_id == "s1:1"


def test_nothing_is_answered_to_a_question_without_evidence(see):
    view = see("When did Ana move to Leeds?", [("Bo", "Nice weather.")])
    assert not isinstance(short_answer(view, RuleExtractor()), ShortAnswer)


SAID = [
    ("Ana", "We adopted a puppy last Friday."),
    ("Ana", "I started a pottery class on Monday."),
    ("Ana", "My dentist appointment is on 5 May."),
    ("Ana", "I paid 300 euros for the bike in April."),
]


@pytest.mark.parametrize("said", SAID)
@pytest.mark.parametrize(
    "question",
    [
        "When did Ana adopt a parrot?",
        "When did Ana adopt a horse?",
        "When did Ana buy a car?",
        "When did Ana start her yoga class?",
        "When did Ana finish her pottery class?",
        "When is Ana's doctor's appointment?",
        "How much did Ana pay for the car?",
    ],
)
def test_what_is_told_of_one_thing_answers_nothing_about_another(see, said, question):
    """In a memory of one sentence nothing else competes with it."""
    assert not isinstance(short_answer(see(question, [said]), RuleExtractor()), ShortAnswer)


@pytest.mark.parametrize(
    ("said", "question"),
    [
        (SAID[0], "When did Ana adopt her puppy?"),
        (SAID[1], "When did Ana start her pottery class?"),
        (SAID[2], "When is Ana's dentist appointment?"),
        (SAID[3], "How much did Ana pay for the bike?"),
    ],
)
def test_what_is_told_of_the_asked_thing_answers(see, said, question):
    assert isinstance(short_answer(see(question, [said]), RuleExtractor()), ShortAnswer)
