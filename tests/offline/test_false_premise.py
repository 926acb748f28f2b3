"""What a question takes for granted and the evidence has otherwise."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from benchmarks.span import SPAN
from evimem.judging.evidence import View
from evimem.offline.matching import match
from evimem.offline.signals import Altered, altered, in_words
from evimem.text.grounding import contrasted
from evimem.text.terms import stem

from .direct import judge

See = Callable[..., View]
LETTER = [
    ("Mira", "My sister sent me a long letter from Lisbon."),
    ("Tomas", "How nice! What did she write?"),
    ("Mira", "That she bought a red bicycle."),
]


def kinds(asked: str, said: str) -> dict[str, str]:
    return contrasted([stem(word) for word in asked.split()], [stem(word) for word in said.split()])


@pytest.mark.parametrize(
    ("asked", "said"), [("brother", "sister"), ("blue", "red"), ("paris", "lisbon"), ("trout", "sold bought")]
)
def test_a_word_is_excluded_by_another_of_its_kind_only(asked: str, said: str) -> None:
    assert kinds(asked, said) == ({} if asked == "trout" else {stem(asked): stem(said)})


def test_the_word_that_stands_in_the_place_of_another_is_named(see: See) -> None:
    view = see("What did Mira's brother send her from Lisbon?", LETTER)
    assert altered(view, match(view)) == (Altered("brother", "sister"),)
    assert in_words(Altered("brother", "sister")) == "the evidence says 'sister', not 'brother'"


def test_an_altered_premise_is_less_probable_and_gives_the_reason(see: See) -> None:
    right = judge(see("What did Mira's sister send her from Lisbon?", LETTER), SPAN)
    wrong = judge(see("What did Mira's brother send her from Lisbon?", LETTER), SPAN)
    assert right.probability is not None
    assert wrong.probability is not None
    assert wrong.probability < right.probability / 2
    assert wrong.reason == "the evidence says 'sister', not 'brother'"


def test_a_long_message_does_not_exclude_a_word_by_what_it_says_elsewhere(see: See) -> None:
    chatter = " ".join(f"It rained on day {day}." for day in range(9))
    question = "What red thing did Mira get from her brother in Lisbon?"
    far = see(question, [("Mira", f"My sister keeps bees. {chatter} I got a red bicycle in Lisbon.")])
    near = see(question, [("Mira", "My sister keeps bees. I got a red bicycle in Lisbon.")])
    assert altered(far, match(far)) == ()
    assert altered(near, match(near)) == (Altered("brother", "sister"),)


def test_evidence_of_another_year_than_the_one_asked_about_is_no_evidence(see: See) -> None:
    lines = [("Mira", "I ran the marathon in Leeds."), ("Mira", "It rained during the marathon.")]
    year = {text: see(f"How often did Mira run a marathon in {text}?", lines) for text in ("2019", "2024")}
    assert [one.asked for one in altered(year["2019"], match(year["2019"]))] == ["2019"]
    assert altered(year["2024"], match(year["2024"])) == ()
