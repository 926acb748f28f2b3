"""Quotations: what most probably holds the answer, in dialogue order, cited to the character."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import pytest

from evimem.judging.evidence import View
from evimem.offline.matching import match
from evimem.offline.quotation import Quotation, asked_form, quote, turn_signals
from evimem.offline.signals import SHIPPED
from evimem.types.results import Citation

See = Callable[..., View]
Lines = Sequence[tuple[str, str]]
FRIENDS = [
    ("Mira", "We adopted a puppy last Friday. She sleeps all day."),
    ("Tomas", "No! What is she called?"),
    ("Mira", "Juno."),
    ("Tomas", "The van cost me 2,900 pounds, and the clutch is gone."),
]


MONEY: Lines = [
    ("Mira", "The kiln repair is done at last, what a relief."),
    ("Tomas", "Good! Mine is at the workshop too."),
    ("Mira", "The kiln repair came to 240 pounds."),
]
CHATTER = " ".join(f"It rained on day {day}." for day in "abcdefghij")


def quoted(view: View) -> Quotation:
    found = quote(view, match(view), SHIPPED.likely)
    assert found is not None
    return found


def cited(found: Quotation) -> list[Citation]:
    return [one.citation for one in found.extracts]


def text(found: Quotation) -> str:
    return "\n".join(one.line for one in found.extracts)


def signals(view: View, name: str) -> list[float]:
    found = turn_signals(view, match(view))
    return [found[f"s1:{place}"][name] for place in range(1, len(view.shown) + 1)]


def test_a_line_says_who_said_it_and_when_and_where_the_turn_goes_on(see: See) -> None:
    long = f"{CHATTER} We adopted a puppy last Friday. {CHATTER}"
    lines = text(quoted(see("When did Mira adopt her puppy?", [("Mira", long)]))).splitlines()
    assert lines == ['Mira, 12 March 2024: "... We adopted a puppy last Friday. ..."']


@pytest.mark.parametrize(
    ("said", "question"),
    [
        ("we got a cat!! a rescue, 2 years old, called Biscuit", "my cat's name?"),
        ("The van is sold. We got 2,900 pounds for it.", "How much did the van sell for?"),
    ],
)
def test_a_short_turn_is_quoted_whole(see: See, said: str, question: str) -> None:
    assert [one.quote for one in cited(quoted(see(question, [("user", said)])))] == [said]


@pytest.mark.parametrize(
    ("said", "question"),
    [
        ("We sold the old van at last. They gave us 2,900 pounds.", "How much did the old van sell for?"),
        ("They gave us 2,900 pounds. That is what the old van sold for.", "How much did the old van sell for?"),
        ("The dentist gave me an appointment. It is on 5 May at 10:30.", "What time is my dentist appointment?"),
    ],
)
def test_of_a_long_turn_a_sentence_is_quoted_with_the_one_beside_it_that_has_the_value(
    see: See, said: str, question: str
) -> None:
    found = quoted(see(question, [("user", f"{CHATTER} {said} {CHATTER}")]))
    assert [one.quote for one in cited(found)] == [said]


def test_a_short_reply_is_quoted_with_its_question(see: See) -> None:
    found = quoted(see("What is Mira's puppy Juno called?", FRIENDS, found=[3]))
    assert [one.turn_id for one in cited(found)] == ["s1:2", "s1:3"]
    assert text(found).endswith('What is she called?"\nMira, 12 March 2024: "Juno."')


def test_a_question_is_quoted_with_its_reply(see: See) -> None:
    found = quoted(see("What is she called?", FRIENDS, found=[2]))
    assert [one.quote for one in cited(found)] == ["No! What is she called?", "Juno."]


def test_citations_are_the_quoted_characters_in_dialogue_order(see: See) -> None:
    view = see("How much did the van cost when Mira adopted the puppy?", FRIENDS, found=[4, 1])
    found = quoted(view)
    assert [one.turn_id for one in cited(found)] == ["s1:1", "s1:4"]
    texts = {item.turn.id: item.turn.text for item in view.evidence}
    assert all(one.span and texts[one.turn_id][slice(*one.span)] == one.quote for one in cited(found))


def test_at_most_three_places_are_quoted_however_many_fit(see: See) -> None:
    lines = [("Mira" if n % 2 else "Tomas", f"The puppy ate shoe number {n} today.") for n in range(8)]
    assert len(cited(quoted(see("Which shoe did the puppy eat?", lines)))) == 3


def test_a_long_sentence_is_cut_and_a_whole_turn_is_not(see: See) -> None:
    lines = [("Mira", "The puppy " + "slept and slept " * 35 + "at last.")]
    found = quoted(see("What did the puppy do?", lines))
    assert len(text(found)) < 450
    assert text(found).endswith(' ..."')
    assert "..." not in text(quoted(see("What did the puppy do?", [("Mira", "The puppy slept.")])))


@pytest.mark.parametrize(
    ("question", "form"),
    [
        ("What did the mechanic charge us?", "money"), ("remind me what the rent is", "money"),
        ("do you know the exact date of the operation?", "date"),
        ("What was the deadline for the visa form?", "date"), ("how many weeks did it take?", "duration"),
        ("at what age did Mira learn to swim?", "age"), ("what's the number of guests now?", "count"),
        ("how come he left the band", "reason"), ("Who came?", "person"), ("Did Mira pay?", "yes_no"),
        ("What did Tomas hang on the wall?", ""),
    ],
)  # fmt: skip
def test_a_question_asks_for_a_form_however_it_is_put(question: str, form: str) -> None:
    assert asked_form(question) == form


def test_a_turn_with_a_value_of_the_asked_form_is_quoted_first(see: See) -> None:
    view = see("How much was Mira's kiln repair?", MONEY)
    assert signals(view, "typed") == [0.0, 0.0, 1.0]
    assert quoted(view).best.unit.turn.id == "s1:3"


def test_a_turn_about_the_asked_person_is_quoted_first(see: See) -> None:
    lines = [("Tomas", "I adopted a cat in spring."), ("Mira", "I adopted a cat in spring.")]
    view = see("What did Mira adopt?", lines, found=[1, 2])
    assert signals(view, "about") == [0.0, 1.0]
    assert quoted(view).best.unit.turn.id == "s1:2"
