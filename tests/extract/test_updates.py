"""Which facts replace earlier ones, and which stay."""

from dataclasses import replace
from datetime import datetime, timedelta

import pytest

from evimem import Fact, Turn
from evimem.extract.rule_extractor import RuleExtractor
from evimem.extract.slots import contradicts, outranks, replaces, topic_of

MARCH = datetime(2024, 3, 1)
REPLACED = [
    ("I live in Porto.", "I moved to Lisbon last month."),
    ("I moved to Porto in May.", "I relocated to Lisbon."),
    ("My sister lives in Rome.", "My sister moved to Paris."),
    ("I work at Acme.", "I started a new job at Globex."),
    ("I work at Acme.", "I quit my job."),
    ("I work at Acme.", "I no longer work at Acme."),
    ("I work at Acme.", "I left Acme last week."),
    ("I'm dating Tom.", "We broke up."),
    ("I'm dating Tom.", "I broke up with Tom."),
    ("I'm dating Tom.", "I'm single now."),
    ("I'm engaged to Tom.", "I'm married to Tom."),
    ("I'm 34 years old.", "I turned 35 yesterday."),
    ("My car is a Honda.", "My new car is a Tesla."),
    ("I have an old Honda car.", "I bought a new car."),
    ("I have an old Honda car.", "I sold my car."),
    ("My phone number is 12345.", "My new phone number is 67890."),
    ("My favorite color is blue.", "My favorite color is green now."),
    ("My boss is Carla.", "My new boss is Dmitri."),
    ("My dentist appointment is on Thursday.", "My dentist appointment was moved to Monday."),
    ("My wedding is on June 5.", "My wedding is on July 7."),
    ("I like olives.", "I don't like olives anymore."),
    ("I like olives.", "I hate olives."),
    ("I drink coffee.", "I stopped drinking coffee."),
    ("My dog is called Biscuit.", "My dog is called Waffle."),
    ("Ben lives in Porto.", "Ben lives in Lisbon now."),
]
KEPT = [
    ("I live in Lisbon.", "I used to live in Porto."),
    ("I live in Lisbon.", "I lived in Porto as a child."),
    ("I live in Lisbon.", "I used to move to Porto every summer."),
    ("I live in Porto.", "I could move to Lisbon."),
    ("I live in Porto.", "I might move to Lisbon."),
    ("I live in Porto.", "I want to move to Lisbon."),
    ("I live in Porto.", "My brother moved to Lisbon."),
    ("I live in Porto.", "I moved into a bigger flat."),
    ("I moved to Porto in May.", "I live in Porto now."),
    ("I lived in Porto.", "I live in Lisbon."),
    ("She lives in Porto.", "She moved to Lisbon."),
    ("I work at Acme.", "I work as a nurse."),
    ("I work at Acme.", "I worked at Globex once."),
    ("I left Acme.", "I work at Globex."),
    ("I'm dating Tom.", "My sister is dating Ben."),
    ("I have a dog.", "I bought a car."),
    ("I have a dog.", "I adopted a cat."),
    ("I like tea.", "I love coffee."),
    ("I like tea.", "I love tea."),
    ("I read a book.", "I read another book."),
    ("My dentist appointment is on Friday.", "The concert is on Monday."),
    ("My sister is a nurse.", "My sister is tall."),
    ("I have an old Honda car.", "I bought a car seat."),
    ("I have an old Honda car.", "I left my car at the station."),
    ("I have an old Honda car.", "I bought a second car."),
    ("I work at Acme.", "I left work early."),
    ("I live in Porto.", "I left Porto at six."),
    ("I drink coffee.", "I'm not drinking coffee today."),
    ("The dinner is on Friday.", "The dinner is on 20 May."),
]


def facts(text: str, at: datetime = MARCH, **more: str) -> tuple[Fact, ...]:
    return RuleExtractor().extract(Turn(f"t{at:%j}", "s", more.get("speaker", "Mira"), text, at, role=more.get("role")))


def is_replaced(before: str, after: str) -> bool:
    return any(replaces(newer, older) for newer in facts(after, MARCH + timedelta(days=30)) for older in facts(before))


@pytest.mark.parametrize(("before", "after"), REPLACED)
def test_a_new_value_an_end_or_a_denial_replaces(before: str, after: str) -> None:
    assert facts(before)
    assert is_replaced(before, after)


@pytest.mark.parametrize(("before", "after"), KEPT)
def test_a_fact_that_is_past_possible_or_about_another_owner_replaces_nothing(before: str, after: str) -> None:
    assert not is_replaced(before, after)


@pytest.mark.parametrize(("before", "after"), REPLACED)
def test_a_replacing_fact_has_the_same_topic(before: str, after: str) -> None:
    for newer in facts(after, MARCH + timedelta(days=30)):
        for older in facts(before):
            assert not replaces(newer, older) or topic_of(newer) == topic_of(older) is not None


def test_an_assistants_or_tools_turn_replaces_nothing_that_a_user_said() -> None:
    for role in ("assistant", "tool"):
        for newer in facts(
            "Mira moved to Lisbon. The user moved to Lisbon. I moved to Lisbon.", speaker=role, role=role
        ):
            assert not any(replaces(newer, older) for older in facts("I live in Porto."))


def test_a_fact_of_the_same_turn_by_another_extractor_replaces_nothing() -> None:
    """A model reply that contradicted its turn marked what the turn said as outdated."""
    (likes,) = facts("I like coffee.")
    misread = replace(likes, id="0", predicate="no longer likes", extractor="llm")
    assert not replaces(misread, likes)
    assert replaces(replace(misread, turn_id="later"), likes)


@pytest.mark.parametrize("own", ["I live in Porto.", "My dog is called Biscuit."])
def test_what_people_say_of_themselves_or_theirs_outranks_what_others_say(own: str) -> None:
    (said,) = facts(own)
    assert outranks(said, "Mira", "Tomas")
    assert not outranks(said, "Mira", "Mira")
    assert not outranks(said, "Ana", "Tomas")


def test_a_report_contradicts_an_own_word_that_it_would_replace() -> None:
    (own,) = facts("I live in Porto.")
    (report,) = facts("Mira lives in Graz.", MARCH + timedelta(days=30), speaker="Tomas")
    assert contradicts(report, "Tomas", own, "Mira")
    assert not contradicts(own, "Mira", own, "Mira")
    assert not contradicts(report, "Tomas", report, "Tomas")
