"""Quotations: the lines that most probably hold the answer, best first, dated, cited to the character."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

import evimem
from evimem.judging.evidence import View
from evimem.offline.matching import match_sentences
from evimem.offline.quotation import MAX_LINES, Quotation, asked_form, likely_turns, quote, turn_signals
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
    likely = likely_turns(view, match_sentences(view), SHIPPED.likely)
    assert likely is not None
    return quote(view, likely)


def cited(found: Quotation) -> list[Citation]:
    return [one.citation for line in found.lines for one in line.extracts]


def text(found: Quotation) -> str:
    return "\n".join(line.text for line in found.lines)


def signals(view: View, name: str) -> list[float]:
    found = turn_signals(view, match_sentences(view))
    return [found[f"s1:{place}"][name] for place in range(1, len(view.shown) + 1)]


def test_a_line_says_who_said_it_and_when_and_where_the_turn_goes_on(see: See) -> None:
    long = f"{CHATTER} We adopted a puppy last Friday. {CHATTER}"
    lines = text(quoted(see("When did Mira adopt her puppy?", [("Mira", long)]))).splitlines()
    assert lines == ['Mira, 12 March 2024: "... We adopted a puppy last Friday. ..." ("last Friday": 8 March 2024)']


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
    assert text(found) == 'Tomas, 12 March 2024: "No! What is she called?" / Mira: "Juno."'


def test_a_question_is_quoted_with_its_reply(see: See) -> None:
    found = quoted(see("What is she called?", FRIENDS, found=[2]))
    assert [one.quote for one in cited(found)] == ["No! What is she called?", "Juno."]


def test_citations_are_the_quoted_characters_of_the_lines_in_order(see: See) -> None:
    view = see("How much did the van cost when Mira adopted the puppy?", FRIENDS, found=[4, 1])
    found = quoted(view)
    assert [one.turn_id for one in cited(found)] == ["s1:1", "s1:4"]
    texts = {item.turn.id: item.turn.text for item in view.evidence}
    assert all(one.span and texts[one.turn_id][slice(*one.span)] == one.quote for one in cited(found))


def test_at_most_five_lines_are_quoted_however_many_fit(see: See) -> None:
    lines = [("Mira" if n % 2 else "Tomas", f"The puppy ate shoe number {n} today.") for n in range(8)]
    assert len(quoted(see("Which shoe did the puppy eat?", lines)).lines) == MAX_LINES


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
    assert cited(quoted(view))[0].turn_id == "s1:3"


def test_a_turn_about_the_asked_person_is_quoted_first(see: See) -> None:
    lines = [("Tomas", "I adopted a cat in spring."), ("Mira", "I adopted a cat in spring.")]
    view = see("What did Mira adopt?", lines, found=[1, 2])
    assert signals(view, "about") == [0.0, 1.0]
    assert cited(quoted(view))[0].turn_id == "s1:2"


@pytest.mark.parametrize(
    ("said", "dates"),
    [
        ("The plumber comes Saturday at 11:30.", '("Saturday at 11:30": 16 March 2024)'),
        ("We sold the van two weeks ago.", '("two weeks ago": the week of 26 February 2024)'),
        ("On a vendu la voiture avant-hier.", '("avant-hier": 10 March 2024)'),
        ("The van goes to Ben on the 25th.", ""), ("At Christmas the van was full.", ""),
        ("In 2019 the van was new.", ""), ("The van is for sale since summer.", ""),
        ("On 5 March 2024 the van was sold.", ""), ("The van plays Manic Monday all day.", ""),
        ("I drove the van for two weeks.", ""),
    ],
)  # fmt: skip
def test_a_date_stands_only_beside_a_phrase_that_must_be_computed(see: See, said: str, dates: str) -> None:
    line = quoted(see("What about the van?", [("Mira", said)])).lines[0].text
    assert line == f'Mira, 12 March 2024: "{said}"' + (f" {dates}" if dates else "")


def test_what_came_of_a_thing_stands_after_the_best_line(tmp_path: Path) -> None:
    with evimem.open(tmp_path / "m.evimem") as memory:
        memory.add("user", "My dog is called Rex, he is a beagle.", time="2023-05-01T10:00", id="told")
        for day in range(1, 29):
            memory.add(
                "user", f"Dinner on day {day} was rice with dog-eared cook books.", time=f"2023-06-{day:02}T10:00"
            )
        memory.add("user", "We had Rex put to sleep this morning.", time="2024-02-01T10:00", id="since")
        answer = memory.ask("What is my dog called?")
        assert answer.citations[0].turn_id == "told"
        assert "since" in {one.turn_id for one in answer.citations}
        assert evimem.replay(answer.trace, memory) == answer
