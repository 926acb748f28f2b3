"""Short answers with the place they stand in: dates, lengths, numbers, yes and no, and plain words."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from datetime import datetime

import pytest

from benchmarks.span import SPAN, answer_reader
from evimem.extract import RuleExtractor
from evimem.judging.evidence import Draft, View


def read(view: View) -> Draft:
    return answer_reader.read(view, SPAN.word, RuleExtractor())


See = Callable[..., View]
FRIENDS = [
    ("Mira", "We adopted a puppy last Friday. She is called Juno."),
    ("Tomas", "Lovely! I sold nine pieces at the craft fair, and the van cost £2,900."),
    ("Mira", "I have played the cello for six years, my teacher is Mrs. Okafor."),
    ("Tomas", "Katrin was offered a post in Rotterdam. I never went to Norway."),
    ("Mira", "I swim twice a week, and I moved to Sheffield in May 2021."),
    ("Tomas", "I started at the workshop two weeks ago."),
    ("Katrin", "I won my fourth tournament on Sunday!"),
]


def quoted(draft: Draft) -> str:
    citation = draft.citations[0]
    text = dict((f"s1:{place}", said) for place, (_, said) in enumerate(FRIENDS, 1))[citation.turn_id]
    assert citation.span is not None
    assert text[citation.span[0] : citation.span[1]] == citation.quote
    return citation.quote


def test_a_date_is_rendered_and_is_data_too(see: See) -> None:
    draft = read(see("When did Mira adopt her puppy?", FRIENDS))
    assert draft.text == "8 March 2024"
    assert draft.time is not None
    assert (draft.time.start, draft.time.end) == (datetime(2024, 3, 8), datetime(2024, 3, 9))
    assert quoted(draft) == "last Friday"


def test_a_date_is_given_as_coarsely_as_it_is_asked_for(see: See) -> None:
    assert read(see("In which year did Mira move to Sheffield?", FRIENDS)).text == "2021"
    assert read(see("In which month did Mira move to Sheffield?", FRIENDS)).text == "May 2021"


def test_without_a_stated_date_the_day_of_the_turn_is_given_as_such(see: See) -> None:
    draft = read(see("When did Tomas sell nine pieces?", FRIENDS[1:3]))
    assert draft.text == "12 March 2024"
    assert "told" in (draft.reason or "")


def test_a_future_event_is_not_dated_in_the_past(see: See) -> None:
    lines = [("Mira", "Last year I ran the marathon. I will run the marathon again in October.")]
    assert read(see("When will Mira run the marathon?", lines)).text == "October 2024"


@pytest.mark.parametrize(
    ("question", "text"),
    [
        ("How long has Mira played the cello?", "six years"),
        ("How many pieces did Tomas sell at the craft fair?", "nine"),
        ("How much did the van cost Tomas?", "£2,900"),
        ("How often does Mira swim?", "twice a week"),
        ("How many tournaments has Katrin won?", "four"),
        ("Where was Katrin offered a post?", "Rotterdam"),
        ("Who is Mira's cello teacher?", "Mrs. Okafor"),
        ("Did Tomas go to Norway?", "No"),
        ("Did Mira move to Sheffield?", "Yes"),
    ],
)
def test_short_answers(see: See, question: str, text: str) -> None:
    draft = read(see(question, FRIENDS))
    assert draft.text == text
    assert quoted(draft)


def test_how_long_ago_is_counted_from_today_where_no_phrase_says_it(see: See) -> None:
    lines = [("Mira", "I moved to Sheffield in March 2021.")]
    assert read(see("How long ago did Mira move to Sheffield?", lines)).text == "three years"


def test_the_distance_of_two_events_is_subtracted(see: See) -> None:
    lines = [("Mira", "We got the keys on 1 January 2024."), ("Mira", "We moved in on 29 January 2024.")]
    draft = read(see("How many weeks passed between getting the keys and moving in?", lines))
    assert draft.text == "four weeks"
    assert {citation.turn_id for citation in draft.citations} == {"s1:1", "s1:2"}


def test_an_either_or_question_is_answered_with_one_of_the_two(see: See) -> None:
    lines = [("Mira", "I drink tea all day, coffee gives me headaches.")]
    assert read(see("Does Mira drink tea or water?", lines)).text == "tea"


def test_a_guess_is_worded_as_one(see: See) -> None:
    lines = [("Mira", "I love hiking in the mountains every summer.")]
    assert read(see("Would Mira love hiking in the mountains?", lines)).text == "Likely yes"


def test_only_what_was_shown_is_cited(see: See) -> None:
    draft = read(see("When did Mira adopt her puppy?", FRIENDS, found=[3, 4]))
    assert {citation.turn_id for citation in draft.citations} <= {"s1:3", "s1:4"}


def test_nothing_shown_gives_no_answer(see: See) -> None:
    assert read(see("What is it?", [])).text is None


def test_what_was_replaced_answers_only_questions_about_the_past(see: See) -> None:
    lines = [("Mira", "I live in Leeds."), ("Tomas", "Nice."), ("Mira", "I live in Sheffield now.")]

    def replaced(view: View) -> View:
        old, new = view.evidence[0], view.evidence[2]
        facts = tuple(replace(fact, replaced_by=new.facts[0].id) for fact in old.facts)
        evidence = (replace(old, facts=facts), *view.evidence[1:])
        return replace(view, evidence=evidence, shown=evidence)

    assert read(replaced(see("Where does Mira live?", lines))).text == "Sheffield"
    assert read(replaced(see("Where did Mira live before?", lines))).text == "Leeds"


def test_a_number_in_a_weaker_sentence_is_better_than_no_number(see: See) -> None:
    lines = [
        ("Mira", "Elio opened his own bicycle workshop, and people came to the opening of Elio's bicycle workshop!"),
        ("Tomas", "Congratulations to him."),
        ("Mira", "Forty people sat there, mostly for the cake."),
    ]
    question = "How many people came to the opening of Elio's bicycle workshop?"
    assert (read(see(question, lines)).text or "").startswith("Forty")
    without = read(see(question, lines[:2]))
    assert without.reason == "no number is stated; this is the closest"


@pytest.mark.parametrize(
    ("question", "text"),
    [
        ("How old is Kit?", "nine"),
        ("How old is Mira's mother?", "seventy-six"),
        ("How old is the boat?", "twelve years old"),
        ("How big is the shed?", "12 metres long and five wide"),
        ("How far is the lake?", "six kilometres"),
    ],
)
def test_a_measure_is_a_number_of_its_kind(see: See, question: str, text: str) -> None:
    lines = [
        ("Mira", "My son Kit, who is nine, weighs thirty-one kilos and has four hamsters."),
        ("Tomas", "My boat is twelve years old and cost nine hundred pounds."),
        ("Mira", "The shed is 12 metres long and five wide, with two windows."),
        ("Tomas", "The lake is six kilometres from here."),
        ("Mira", "My mother turned seventy-six on the third."),
    ]
    assert read(see(question, lines)).text == text


def test_a_number_of_another_kind_is_no_measure(see: See) -> None:
    draft = read(
        see("How old is Agnes?", [("Tomas", "Agnes is one of my two neighbours, and smokes nine trout a week.")])
    )
    assert (draft.text, draft.reason) == (None, "no number of that kind is stated")
