"""Attributes are looked up with their owner, the newest value first, and refused where they are not stated."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest

from evimem.judging.evidence import View
from evimem.offline.attributes.asked_attribute import attribute_of
from evimem.types.values import Tier

from .direct import judge, lookup

See = Callable[..., View]
HOME = [
    ("user", "I'm a night nurse at the Hill clinic, 34, and I live in Leeds with my wife Noor and our two kids."),
    ("assistant", "Nights are hard. Have you tried earplugs? I recommend the Softcap ones."),
    ("user", "Our dog Pickle wakes me up. He's a beagle."),
    ("user", "My sister Amal came by. Her own dog is a huge grey thing. She's a plumber, allergic to feathers."),
    ("user", "We moved to York last week. My bike is a red Trek, my sister's is fine."),
    ("assistant", "What is your favourite flower?"),
    ("user", "Peonies. I can't stand karaoke."),
]


def answer(see: See, question: str, lines: list[tuple[str, str]] = HOME) -> str | None:
    """Return the attribute looked up: None for a gap, a question mark where none is asked for."""
    found = lookup(see(question, lines))
    return None if found.outcome < 0 else ", ".join(item.text for item in found.items) or "?"


@pytest.mark.parametrize(
    ("question", "text"),
    [
        ("What is my wife called?", "Noor"),
        ("What's the name of my dog?", "Pickle"),
        ("What breed is my dog?", "beagle"),
        ("Where do I live?", "York"),
        ("Where did I live before?", "Leeds"),
        ("Where do I work?", "the Hill clinic"),
        ("What is my job?", "night nurse"),
        ("What does my sister do?", "plumber"),
        ("Who is Amal?", "My sister"),
        ("What is Amal allergic to?", "feathers"),
        ("What colour is my sister's dog?", "grey"),
        ("What colour is my bike?", "red"),
        ("What brand is my bike?", "Trek"),
        ("What is my favourite flower?", "Peonies"),
        ("What can't I stand?", "karaoke"),
        ("Which earplugs did you recommend?", "Softcap"),
    ],
)
def test_a_stated_attribute_is_quoted(see: See, question: str, text: str) -> None:
    assert answer(see, question) == text


@pytest.mark.parametrize(
    "question",
    [
        "What is my sister's dog called?",
        "What colour is my dog?",
        "What colour is my sister's bike?",
        "What is my brother's name?",
        "What is my cat called?",
        "What is Noor allergic to?",
        "What does my wife do?",
        "Where does my sister live?",
        "How old is my sister?",
        "What is my favourite film?",
        "What is my phone number?",
        "How much is my rent?",
        "Which film did you recommend?",
    ],
)
def test_an_attribute_stated_of_another_owner_or_not_at_all_is_refused(see: See, question: str) -> None:
    assert answer(see, question) is None


@pytest.mark.parametrize("question", ["Why did we move?", "What did Noor say about the move?", "When did we move?"])
def test_other_questions_are_left_to_the_reader(see: See, question: str) -> None:
    assert attribute_of(question) is None
    assert answer(see, question) == "?"


def test_an_attribute_that_is_not_stated_is_named_in_the_refusal(see: See) -> None:
    verdict = judge(see("What colour is my dog?", HOME))
    assert verdict.reason == "nothing says the colour of 'my dog'"
    assert (verdict.gaps[0].kind, verdict.gaps[0].text) == ("attribute", verdict.reason)
    assert verdict.probability is not None
    assert verdict.probability < 0.5
    assert verdict.tier is Tier.PARTIAL


@pytest.mark.parametrize(
    ("question", "gap"),
    [
        ("What is my favourite film?", "nothing says your favourite film"),
        ("What is Noor allergic to?", "nothing says the allergy of 'Noor'"),
        ("Which film did you recommend?", "nothing of the kind was recommended"),
    ],
)
def test_a_gap_is_named_in_plain_words(see: See, question: str, gap: str) -> None:
    assert lookup(see(question, HOME)).gap == gap


def test_what_was_given_up_is_no_answer(see: See) -> None:
    lines = [("user", "I drink coffee all day."), ("assistant", "A lot!"), ("user", "I've stopped drinking coffee.")]
    found = lookup(see("What do I drink?", lines))
    assert (found.outcome, found.gap) == (-1.0, "only what you gave up is stated: drinking coffee")


def test_what_may_have_changed_is_looked_for_once_more(see: See) -> None:
    verdict = judge(see("Where do I live?", HOME))
    assert "moved to" in verdict.query
    assert judge(see("What is my wife called?", HOME)).query == ""


def test_something_that_could_be_it_near_its_owner_is_no_refusal(see: See) -> None:
    lines = [("user", "The van is here. New to me, anyway: blue, nine years old.")]
    assert answer(see, "What colour is my van?", lines) == "?"
    assert answer(see, "What colour is my van?", [("user", "The van is here. New to me, anyway.")]) is None


def test_a_pronoun_refers_to_the_last_mention_that_fits(see: See) -> None:
    lines = [
        ("user", "My daughter Ruth gave me a kitten."),
        ("user", "She's ginger and I named her Marmalade."),
        ("user", "My partner is Lieve, and it's raining. She is a lawyer."),
    ]
    assert answer(see, "What is my kitten called?", lines) == "Marmalade"
    assert answer(see, "What colour is Marmalade?", lines) == "ginger"
    assert answer(see, "What is Lieve's job?", lines) == "lawyer"
    assert answer(see, "What is Ruth's job?", lines) is None


def test_whom_a_sentence_names_is_known_whatever_else_it_states(see: See) -> None:
    lines = [("user", "I need a packed lunch plan for my daughter Ida, she's seven."), ("user", "Her bag is yellow.")]
    assert answer(see, "What is my daughter's name?", lines) == "Ida"
    assert answer(see, "How old is Ida?", lines) == "seven"
    assert answer(see, "What colour is my daughter's bag?", lines) == "yellow"


def test_an_assistants_sentence_states_nothing_of_the_user(see: See) -> None:
    lines = [("user", "My cousin Ben is here."), ("assistant", "Ben is a baker. Your cousin Ben lives in Rome.")]
    assert answer(see, "Where does Ben live?", lines) is None


def test_turns_of_one_time_keep_the_order_of_the_dialogue(see: See) -> None:
    view = see(
        "Where do I live?", [("user", "I live in Rome."), ("assistant", "Nice."), ("user", "I live in Bonn now.")]
    )
    at = view.evidence[0].turn.time
    same = tuple(replace(item, turn=replace(item.turn, time=at)) for item in reversed(view.evidence))
    around = tuple(item.turn for item in reversed(same))
    again = replace(view, evidence=same, shown=same, context={turn.id: around for turn in around}, memo={})
    assert [item.text for item in lookup(again).items] == ["Bonn"]


def test_two_people_are_distinguished_by_their_names(see: See) -> None:
    lines = [("Mira", "My dog Juno is black."), ("Tomas", "My cat Bosun is white."), ("Mira", "Your cat is lovely.")]
    assert answer(see, "What colour is Tomas's cat?", lines) == "white"
    assert answer(see, "What is Mira's dog called?", lines) == "Juno"
    assert answer(see, "What is Tomas's dog called?", lines) is None
