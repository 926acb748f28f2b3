"""What a question asks for, read without a model (fixtures F10-F12)."""

from datetime import datetime
from typing import Any

import pytest

from evimem.judging.evidence import Analysis
from evimem.query import analysis
from evimem.query.analysis import analyse, form
from evimem.times import find_times
from evimem.types.values import TimeSpan

TODAY = datetime(2024, 3, 12)


def ask(question: str, *speakers: str) -> Analysis:
    return analyse(question, speakers or ("Mira", "Tomas"), TODAY)


@pytest.mark.parametrize(
    ("question", "wants"),
    [
        ("When did Mira adopt her puppy?", "time"),
        ("In which month did Tomas move?", "time"),
        ("What year did they meet?", "time"),
        ("Since when does Tomas teach?", "time"),
        ("Do you know when the wedding is?", "time"),
        ("How long had Tomas and Katrin been together?", "duration"),
        ("How many weeks passed before the move?", "duration"),
        ("How many pieces did Tomas sell?", "count"),
        ("How much did the van cost?", "count"),
        ("How often does Kit stay with his dad?", "count"),
        ("How many days a week does Mira work?", "count"),
        ("Did Tomas go to Norway?", "yes_no"),
        ("Would Mira prefer tea or coffee?", "choice"),
        ("Who teaches Mira the cello?", "person"),
        ("Where does Tomas live now?", "place"),
        ("Which city did Katrin move to?", "place"),
        ("Why did Juno need an operation?", "reason"),
        ("What is Mira allergic to?", "thing"),
        ("What did Tomas do when he was sad?", "thing"),
        ("What time of day suits Mira?", "thing"),
    ],
)
def test_a_question_asks_for_one_form_of_answer(question, wants):
    assert form(question) == wants


@pytest.mark.parametrize(
    "question", ["In which month did Mira move?", "How many weeks did it take?", "Where was Mira in July 2022?"]
)
def test_times_asked_for_or_named_make_a_question_temporal(question):
    assert ask(question).temporal


def test_other_names_are_entities_too_and_question_words_are_not():
    assert ask("What did Mira's sister Nadia name the twins on Monday?").entities == ("Mira", "Nadia")
    assert ask("What is the plan?").entities == ()


@pytest.mark.parametrize(
    "question",
    [
        "Remind me how long the walk was.", "After the deposit, how much do we owe?",
        "Any idea where the keys are? Tell me.", "How much vitamin K is in it, and what do U think?",
        "Which European city, in the US or not?", "Name ONLY the colour. Answer in one word.",
        "Which race was it in Aug 2023?", "Reply in JSON only. Which colour was it?",
    ],
)  # fmt: skip
def test_letters_ordinary_words_and_adjectives_of_places_are_no_names(question):
    assert ask(question).entities == ()


def test_a_name_at_the_beginning_or_in_capitals_is_one():
    assert ask("Bartholomew's gift, who chose it?").entities == ("Bartholomew",)
    assert ask("Grace chose what?").entities == ("Grace",)
    assert ask("Did BARTHOLOMEW come?").entities == ("BARTHOLOMEW",)
    assert ask("Is Oscar Mira's cat?").entities == ("Mira", "Oscar")


def test_keywords_carry_the_property_and_no_names():
    assert ask("What colour is Tomas's old van?").keywords == ("colour", "old", "van")
    assert ask("How old is Mira's van?").keywords == ("van",)


def test_a_question_of_any_length_is_analysed_in_bounded_time():
    assert len(ask("puppy" + " and a kitten" * 100_000).question) == 2_000


def test_a_question_is_read_to_ask_of_so_many_names_only():
    people = [f"{first}{rest}" for first in "BCDFGKLMNPRSTV" for rest in ("ela", "iro")]
    analysed = ask(f"Who of {', '.join(people)} called?", "Mira", people[-1])
    assert analysed.entities == (people[-1], *people[:15])
    assert [need.about for need in analysed.requirements if need.kind == "entity"] == [*analysed.entities]


def test_the_times_of_a_question_are_read_once(monkeypatch):
    read: list[str] = []

    def counted(text: str, said_at: datetime, *more: Any) -> list[TimeSpan]:
        read.append(text)
        return find_times(text, said_at, *more)

    monkeypatch.setattr(analysis, "find_times", counted)
    assert len(ask("What did Mira do last Friday?").times) == 1
    assert read == ["What did Mira do last Friday?"]


def test_i_is_the_user_and_you_the_assistant_where_they_are_called_that():
    assert ask("What is my plant nursery called?", "user", "assistant").asked == ("user",)
    assert ask("What is the nursery called?", "user", "assistant").asked == ()
    assert ask("What did we name our nursery?", "user", "assistant").asked == ("user",)


def test_a_question_about_the_past_says_so():
    assert ask("Where did Tomas live before?").past
    assert ask("What did Mira use to do? I mean used to do.").past
    assert not ask("Where does Tomas live now?").past
