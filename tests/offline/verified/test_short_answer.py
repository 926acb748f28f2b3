"""A short answer is a value that the evidence states of what was asked."""

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
