"""Facts replace one another only within an attribute that a model, or an extractor of the caller's, gave them."""

from dataclasses import replace

import pytest

from evimem.index.updates import outranks, replaces, topic_of
from evimem.types.values import Fact

LEEDS = Fact("a", "t1", "Mira", "lives in", "Leeds", None, (0, 5), "state", "llm", attribute="home")
YORK = replace(LEEDS, id="b", turn_id="t2", object="York")


def test_a_later_value_of_an_attribute_replaces_another() -> None:
    assert replaces(YORK, LEEDS)
    assert replaces(replace(YORK, subject="mira"), LEEDS)


@pytest.mark.parametrize("other", [{"attribute": ""}, {"attribute": "job"}, {"subject": "Tomas"}, {"object": "leeds"}])
def test_nothing_else_replaces(other: dict[str, str]) -> None:
    assert not replaces(replace(YORK, **other), LEEDS)


def test_a_fact_by_rule_has_no_topic() -> None:
    by_rule = replace(LEEDS, attribute="")
    assert topic_of(by_rule) is None
    assert not replaces(replace(YORK, attribute=""), by_rule)


def test_a_fact_of_the_same_turn_by_another_extractor_replaces_nothing() -> None:
    assert not replaces(replace(YORK, turn_id="t1", extractor="mine"), LEEDS)


def test_a_report_of_another_speaker_does_not_outrank_the_own_word() -> None:
    assert outranks(LEEDS, "Mira", "Tomas")
    assert not outranks(LEEDS, "Tomas", "Ben")
    assert not outranks(LEEDS, "Mira", "Mira")


@pytest.mark.parametrize(("attribute", "current"), [("home", True), ("", None)])
def test_whether_a_fact_holds_is_known_only_of_an_attribute(attribute: str, current: bool | None) -> None:
    assert replace(LEEDS, attribute=attribute).is_current is current
    assert replace(LEEDS, replaced_by="b").is_current is False
