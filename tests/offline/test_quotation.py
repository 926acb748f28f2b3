"""Quotations: what most probably holds the answer, in dialogue order, cited to the character."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

import pytest

from evimem.judging.evidence import View
from evimem.offline.constants import SHIPPED
from evimem.offline.matching import match
from evimem.offline.quotation import Quotation, asked_form, quote, turn_signals
from evimem.offline.signals import attribution, meaning, of_another

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
MOVES: Lines = [
    ("Mira", "My studio is in Porto and I love it."),
    ("Tomas", "Lucky you."),
    ("Mira", "My studio is in Braga and I love it."),
]
PUPILS = "Five classes, about 130 pupils in all."
CHATTER = " ".join(f"It rained on day {day}." for day in "abcdefghij")


def quoted(view: View) -> Quotation:
    found = quote(view, match(view), SHIPPED.likely)
    assert found is not None
    return found


def signals(view: View, name: str) -> list[float]:
    found = turn_signals(view, match(view))
    return [found[f"s1:{place}"][name] for place in range(1, len(view.shown) + 1)]


def about_another(view: View) -> float:
    matches = match(view)
    return of_another(view, matches, next(m for m in matches.ranked if m.unit.text == PUPILS))


def test_a_line_says_who_said_it_and_when_and_where_the_turn_goes_on(see: See) -> None:
    long = f"{CHATTER} We adopted a puppy last Friday. {CHATTER}"
    lines = quoted(see("When did Mira adopt her puppy?", [("Mira", long)])).text.splitlines()
    assert lines == ['Mira, 12 March 2024: "... We adopted a puppy last Friday. ..."']


@pytest.mark.parametrize(
    ("said", "question"),
    [
        ("we got a cat!! a rescue, 2 years old, called Biscuit", "my cat's name?"),
        ("The van is sold. We got 2,900 pounds for it.", "How much did the van sell for?"),
    ],
)
def test_a_short_turn_is_quoted_whole(see: See, said: str, question: str) -> None:
    assert [one.quote for one in quoted(see(question, [("user", said)])).citations] == [said]


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
    assert [one.quote for one in found.citations] == [said]


def test_a_short_reply_is_quoted_with_its_question(see: See) -> None:
    found = quoted(see("What is Mira's puppy Juno called?", FRIENDS, found=[3]))
    assert [one.turn_id for one in found.citations] == ["s1:2", "s1:3"]
    assert found.text.endswith('What is she called?"\nMira, 12 March 2024: "Juno."')


def test_a_question_is_quoted_with_its_reply(see: See) -> None:
    found = quoted(see("What is she called?", FRIENDS, found=[2]))
    assert [one.quote for one in found.citations] == ["No! What is she called?", "Juno."]


def test_citations_are_the_quoted_characters_in_dialogue_order(see: See) -> None:
    view = see("How much did the van cost when Mira adopted the puppy?", FRIENDS, found=[4, 1])
    found = quoted(view)
    assert [one.turn_id for one in found.citations] == ["s1:1", "s1:4"]
    texts = {item.turn.id: item.turn.text for item in view.evidence}
    assert all(one.span and texts[one.turn_id][slice(*one.span)] == one.quote for one in found.citations)


def test_at_most_three_places_are_quoted_however_many_fit(see: See) -> None:
    lines = [("Mira" if n % 2 else "Tomas", f"The puppy ate shoe number {n} today.") for n in range(8)]
    assert len(quoted(see("Which shoe did the puppy eat?", lines)).citations) == 3


def test_a_long_sentence_is_cut_and_a_whole_turn_is_not(see: See) -> None:
    lines = [("Mira", "The puppy " + "slept and slept " * 35 + "at last.")]
    found = quoted(see("What did the puppy do?", lines))
    assert len(found.text) < 450
    assert found.text.endswith(' ..."')
    assert "..." not in quoted(see("What did the puppy do?", [("Mira", "The puppy slept.")])).text


def test_nothing_shown_is_nothing_to_quote(see: See) -> None:
    view = see("What is it?", [])
    assert quote(view, match(view), SHIPPED.likely) is None


def test_what_is_counted_is_quoted_and_not_counted(see: See) -> None:
    lines = [("Mira", f"{which} run this month, in the rain.") for which in ("First", "Second", "Third")]
    assert len(quoted(see("How many runs did Mira do in March?", lines)).citations) == 3


@pytest.mark.parametrize(
    ("question", "form"),
    [
        ("What did the mechanic charge us?", "money"),
        ("remind me what the rent is", "money"),
        ("do you know the exact date of the operation?", "date"),
        ("What was the deadline for the visa form?", "date"),
        ("how many weeks did it take?", "duration"),
        ("at what age did Mira learn to swim?", "age"),
        ("what's the number of guests now?", "count"),
        ("how come he left the band", "reason"),
        ("Who came?", "person"),
        ("Did Mira pay?", "yes_no"),
        ("What did Tomas hang on the wall?", ""),
    ],
)
def test_a_question_asks_for_a_form_however_it_is_put(question: str, form: str) -> None:
    assert asked_form(question) == form


def test_a_turn_with_a_value_of_the_asked_form_is_quoted_first(see: See) -> None:
    view = see("How much was Mira's kiln repair?", MONEY)
    assert signals(view, "typed") == [0.0, 0.0, 1.0]
    assert quoted(view).best.unit.turn.id == "s1:3"


def test_words_that_look_like_the_asked_form_count_half(see: See) -> None:
    lines = [("Mira", "She met the painter Leonor in the harbour."), ("Mira", "She met the painter in the harbour.")]
    assert signals(see("Who met Mira in the harbour?", lines), "typed") == [0.5, 0.0]


def test_a_turn_about_the_asked_person_is_quoted_first(see: See) -> None:
    lines = [("Tomas", "I adopted a cat in spring."), ("Mira", "I adopted a cat in spring.")]
    view = see("What did Mira adopt?", lines, found=[1, 2])
    assert signals(view, "about") == [0.0, 1.0]
    assert quoted(view).best.unit.turn.id == "s1:2"


def test_the_later_turn_is_likelier_only_where_what_holds_now_is_asked(see: See) -> None:
    assert signals(see("Where is Mira's studio now?", MOVES), "newer") == [0.0, 0.5, 1.0]
    assert signals(see("Where was Mira's studio?", MOVES), "newer") == [0.0, 0.0, 0.0]


def test_what_a_turn_replies_to_counts_nearly_as_said_by_it(see: See) -> None:
    lines = [("Tomas", "What colour is the kiln?"), ("Mira", "Blue.")]
    question = "What colour is Mira's kiln?"
    assert signals(see(question, lines), "near")[1] > 0.8


def test_what_no_search_for_the_question_found_has_no_search_score(see: See) -> None:
    view = see("How much was Mira's kiln repair?", MONEY)
    assert signals(view, "search")[0] == 1.0
    linked = (replace(view.shown[0], path="edge"), *view.shown[1:])
    assert signals(replace(view, shown=linked, memo={}), "search")[:2] == [0.0, 1.0]


def test_nothing_shown_has_no_signals(see: See) -> None:
    assert signals(see("What is it?", []), "near") == []


def test_in_a_small_memory_the_nearest_turns_are_averaged_over_those_there_are(see: See) -> None:
    view = see("Where is Mira's studio now?", MOVES)
    near = tuple(replace(item, parts={"meaning": 0.5}) for item in view.evidence)
    assert meaning(replace(view, evidence=near, memo={}))["meaning_ten"] == 0.5


def test_what_is_said_of_others_counts_against_only_beyond_what_is_said_of_the_asked_one(see: See) -> None:
    lines = [("Mira", "I live in Leeds."), ("Tomas", "I live in Porto.")]
    alike, other = see("Where does Mira live?", lines), see("Where does Mira live?", lines, found=[2])
    assert attribution(alike, match(alike))["facts_against"] == 0.0
    assert attribution(other, match(other))["facts_against"] == 1.0


def test_a_fact_that_names_the_asked_one_is_not_against_it(see: See) -> None:
    lines = [("Mira", "I have a cat called Juno."), ("Tomas", "I have a boat.")]
    view = see("What colour is Juno?", lines)
    assert attribution(view, match(view))["facts_other"] == 0.5
    assert attribution(view, match(view))["facts_against"] == 0.0


def test_where_nobody_is_asked_about_no_fact_is_against(see: See) -> None:
    view = see("How much was the van?", [("Mira", "I sold the van.")])
    assert attribution(view, match(view))["facts_other"] > 0.0
    assert attribution(view, match(view))["facts_against"] == 0.0


def test_nothing_that_a_user_says_is_about_the_assistant(see: See) -> None:
    reply = "Well done."
    assert about_another(see("How many pupils do I have?", [("user", PUPILS), ("assistant", reply)])) == 0.0
    assert about_another(see("How many pupils does Mira have?", [("Mira", PUPILS), ("Tomas", reply)])) == 0.3
