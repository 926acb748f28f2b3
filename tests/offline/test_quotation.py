"""Quotations: the best sentences in dialogue order, as who said them and when, cited to the character."""

from __future__ import annotations

from collections.abc import Callable

from evimem.extract import RuleExtractor
from evimem.judging.evidence import View
from evimem.offline.choose_answer import quoted as best_sentences
from evimem.offline.constants import SHIPPED
from evimem.offline.quotation import Quotation

See = Callable[..., View]
FRIENDS = [
    ("Mira", "We adopted a puppy last Friday. She sleeps all day."),
    ("Tomas", "No! What is she called?"),
    ("Mira", "Juno."),
    ("Tomas", "The van cost me 2,900 pounds, and the clutch is gone."),
]


def quoted(view: View) -> Quotation:
    found = best_sentences(view, SHIPPED, RuleExtractor())
    assert found is not None
    return found


def test_a_line_says_who_said_it_and_when_and_where_the_turn_goes_on(see: See) -> None:
    lines = quoted(see("When did Mira adopt her puppy?", FRIENDS)).text.splitlines()
    assert lines[0] == 'Mira, 12 March 2024: "We adopted a puppy last Friday. ..."'


def test_a_short_reply_is_quoted_with_its_question(see: See) -> None:
    found = quoted(see("What is Mira's puppy Juno called?", FRIENDS, found=[3]))
    assert [one.turn_id for one in found.citations] == ["s1:2", "s1:3"]
    assert found.text.endswith('What is she called?"\nMira, 12 March 2024: "Juno."')


def test_a_question_is_quoted_with_its_reply(see: See) -> None:
    found = quoted(see("What is she called?", FRIENDS, found=[2]))
    assert [one.quote for one in found.citations] == ["What is she called?", "Juno."]


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
    assert best_sentences(view, SHIPPED, RuleExtractor()) is None
