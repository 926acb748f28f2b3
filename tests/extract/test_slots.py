"""The table of slots: each row's examples are read as it says, and its questions ask for it."""

from __future__ import annotations

from datetime import datetime
from typing import Any

import pytest

from evimem.extract.rule_extractor import RuleExtractor
from evimem.extract.slots import USER, StatedSlot, asked_slot, rows, slots_of
from evimem.lang import ENGLISH
from evimem.types.values import Turn

TABLE: dict[str, Any] = {name: dict(ENGLISH.table(f"slots.rows.{name}")) for name in rows()}
EXAMPLES = [(name, said, value) for name, row in TABLE.items() for said, value in row["examples"].items()]


def read(said: str, speaker: str = "user") -> list[StatedSlot]:
    facts = RuleExtractor().extract(Turn("1", "1", speaker, said, datetime(2024, 3, 12)))
    return [slot for fact in facts for slot in slots_of(fact)]


@pytest.mark.parametrize(("name", "said", "value"), EXAMPLES)
def test_an_example_fills_the_slot_of_its_row(name: str, said: str, value: str) -> None:
    assert [slot.value for slot in read(said) if slot.name == name][:1] == ([value] if value else [])


@pytest.mark.parametrize("name", rows())
def test_a_row_has_a_statement_and_a_question(name: str) -> None:
    row = rows()[name]
    assert row.asked
    assert row.states or "nouns" in TABLE[name]
    assert any(TABLE[name]["examples"].values())


@pytest.mark.parametrize(
    ("said", "owner", "name", "value"),
    [
        ("My brother's daughter is called Zoe.", ("user", "brother", "daughter"), "name", "Zoe"),
        ("My son Levi is 7.", ("user", "son"), "age", "7"),
        ("My locker code is 4417 now.", ("user",), "locker code", "4417"),
        ("My favorite film is Heat.", ("user",), "favourite film", "Heat"),
        ("My gp is Dr Amara at the Quay practice.", ("user", "gp"), "name", "Dr Amara"),
    ],
)
def test_a_slot_has_its_owner(said: str, owner: tuple[str, ...], name: str, value: str) -> None:
    assert StatedSlot(owner, name, value) in read(said)


@pytest.mark.parametrize(
    "said",
    [
        "I might move to Lisbon.", "Tomas said he lives in Porto.", "He lives in Porto.", "My mood is good.",
        "I used to have a dog.", "If I moved to Bristol, I would rent.", 'Translate "I live in Rome" please.',
    ],
)  # fmt: skip
def test_what_is_planned_reported_or_of_nobody_sure_fills_none(said: str) -> None:
    assert read(said) == []


def test_what_held_once_is_over() -> None:
    assert read("I used to live in Leeds.") == [StatedSlot(("user",), "home", "Leeds", over=True)]


@pytest.mark.parametrize(
    ("question", "owner", "name"),
    [
        ("Where do I live now?", ("",), "home"),
        ("Where did Marko live before Rijeka?", ("marko",), "home"),
        ("What is my sister's dog called?", ("", "sister", "dog"), "name"),
        ("Can you remind me, who is my dentist?", ("", "dentist"), "name"),
        ("What's our wifi password?", ("",), "wifi password"),
        ("What car do I drive?", ("",), "car"),
        ("Which tattoo do I have?", ("",), "tattoo"),
    ],
)
def test_a_question_asks_for_a_slot_of_an_owner(question: str, owner: tuple[str, ...], name: str) -> None:
    asked = asked_slot(question)
    assert asked is not None
    assert (asked.owner, asked.name) == (owner, name)


@pytest.mark.parametrize("question", ["Why did we move?", "When did we move?", "What is his name?"])
def test_other_questions_ask_for_none(question: str) -> None:
    assert asked_slot(question) is None


@pytest.mark.parametrize("question", ["Who is my favorite player?", "What's my favourite player?"])
def test_who_a_favourite_is_may_be_asked_as_what_it_is(question: str) -> None:
    asked = asked_slot(question)
    assert asked is not None
    assert (asked.owner, asked.name) == ((USER,), "favourite player")
