"""Requirements closed by evidence, and gaps from what stays open."""

from __future__ import annotations

from collections.abc import Callable

from evimem.judging.evidence import View

from .direct import judge

See = Callable[..., View]
FRIENDS = [
    ("Mira", "I'm allergic to shellfish, one prawn and my face swells up."),
    ("Tomas", "Poor you! I'm repairing the oak table in my workshop."),
    ("Mira", "We adopted a puppy last Friday."),
    ("Tomas", "I bought a blue van for the workshop."),
]


def test_requirements_are_closed_by_turns_that_were_shown(see: See) -> None:
    view = see("When did Mira adopt her puppy?", FRIENDS)
    supported = judge(view).supported
    assert supported["time"] == ("s1:3",)
    assert "s1:3" in supported["attribute"]
    assert set(supported) == {need.id for need in view.analysis.requirements}


def test_an_unknown_name_is_an_entity_gap(see: See) -> None:
    verdict = judge(see("What did Bartholomew buy?", FRIENDS))
    assert ("entity", "Bartholomew") in {(gap.kind, gap.about) for gap in verdict.gaps}


def test_a_sentence_to_an_addressee_is_about_the_addressee(see: See) -> None:
    lines = [
        ("Mira", "Your paella is famous, you cook it every Sunday."),
        ("Tomas", "True!"),
        ("Mira", "I burn toast."),
    ]
    his = judge(see("What does Tomas cook every Sunday?", lines))
    hers = judge(see("What does Mira cook every Sunday?", lines))
    assert his.signals["score"] > hers.signals["score"]


def test_the_telling_sentence_of_a_long_message_is_found(see: See) -> None:
    chatter = " ".join(f"The weather was grey on day {day}." for day in range(60))
    verdict = judge(see("What is Mira allergic to?", [("Mira", f"{chatter} I'm allergic to shellfish. {chatter}")]))
    assert verdict.signals["window"] == 1.0
