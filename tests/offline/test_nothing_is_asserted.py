"""What rules that conclude got wrong: changes told in other words, two of a kind, others at the keyboard, opposites."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

import evimem
from evimem import Answer, Tier


def asked(folder: Path, said: Sequence[str], question: str) -> Answer:
    """Return the answer of a memory of a user who said something each month."""
    with evimem.open(folder / "m.evimem") as memory:
        for month, text in enumerate(said, 1):
            memory.add("user", text, time=f"2024-{month:02}-05T10:00", session=f"s{month}", id=f"t{month}")
            memory.add("assistant", "Noted.", time=f"2024-{month:02}-05T10:01", session=f"s{month}")
        return memory.ask(question)


@pytest.mark.parametrize(
    ("said", "question"),
    [
        (("My rabbit is called Clover.", "We buried Clover under the apple tree."), "What is my rabbit called?"),
        (("I teach at the Lindenhof school.", "Handed my keys in at Lindenhof for good."), "Where do I teach?"),
        (("The Iceland trip is in June.", "Iceland fell through, the airline went bust."), "When is the Iceland trip?"),
        (("My daughter Lotte rows.", "My daughter Femke fences."), "What is my daughter called?"),
        (("My cat Pip is grey.", "My cat Nero is black."), "What is my cat called?"),
        (("I do want the flat in Rua Nova.", "I don't want the flat in Rua Nova."), "Do I want the flat in Rua Nova?"),
    ],
)
def test_both_of_what_was_said_are_quoted_and_neither_is_asserted(
    tmp_path: Path, said: Sequence[str], question: str
) -> None:
    answer = asked(tmp_path, said, question)
    assert (answer.kind, {one.turn_id for one in answer.citations}) == ("quote", {"t1", "t2"})
    assert answer.tier is not Tier.EXACT


@pytest.mark.parametrize(
    "said",
    [
        "Hi, this is Jonna's uncle. I live in Tampere.", "Pekka: I live in Tampere.", "**Pekka:** I live in Tampere.",
        "Jonna's brother here, I live in Tampere.", "I'll be the customer. I live in Tampere.",
        "Let's role-play. I live in Tampere.", "Customer writes: I live in Tampere.", "Draft:\nI live in Tampere.",
        "That wasn't me. I live in Tampere.",
    ],
)  # fmt: skip
def test_what_others_say_or_what_is_made_up_is_no_fact_about_the_user(tmp_path: Path, said: str) -> None:
    with evimem.open(tmp_path / "m.evimem") as memory:
        memory.add("user", said, time="2024-03-05T10:00")
        assert memory.facts(about="user") == ()


def test_one_word_that_was_never_said_refuses_nothing(tmp_path: Path) -> None:
    said = ("I'm an architect in Hanoi.", "Correction, I'm an enterprise architect now.")
    assert asked(tmp_path, said, "What is my job?").kind == "quote"


def test_one_name_that_was_never_said_is_refused(tmp_path: Path) -> None:
    answer = asked(tmp_path, ("I'm an architect in Hanoi.", "We repainted the hallway."), "How old is Rasmus?")
    assert (answer.kind, answer.reason) == ("abstained", "nothing found about Rasmus")


def test_a_refusal_names_words_that_nothing_found_has(tmp_path: Path) -> None:
    answer = asked(tmp_path, ("We repainted the hallway.",), "Which exhaust did Rasmus weld?")
    assert (answer.kind, answer.text) == ("abstained", None)
    assert answer.reason is not None
    assert answer.reason.startswith("nothing found about Rasmus")


@pytest.mark.parametrize(
    ("said", "stated"),
    [
        (("I'll be the customer, you the clerk.", "I live in Tampere."), 0),
        (("I need a sample chat for a training.", "Great, and now?", "I live in Tampere."), 0),
        (("This is Jonna's uncle.", "I live in Tampere."), 0),
        (("I live in Tampere.", "Oh, that wasn't me, my brother was using my phone."), 0),
        (("Let's role-play.", "I live in Oulu.", "Back to me now.", "I live in Tampere."), 1),
        (("I live in Tampere.", "The weather is grim."), 1),
    ],
)
def test_whose_a_statement_is_shows_in_the_turns_around_it(tmp_path: Path, said: Sequence[str], stated: int) -> None:
    with evimem.open(tmp_path / "m.evimem") as memory:
        for minute, text in enumerate(said):
            memory.add("user", text, session="s", time=f"2024-03-05T10:0{minute}")
        assert len(memory.facts(about="user")) == stated
        assert memory.check().status == "ok"


def test_a_role_play_ends_with_an_hours_pause(tmp_path: Path) -> None:
    with evimem.open(tmp_path / "m.evimem") as memory:
        for hour, text in ((10, "Let's role-play."), (12, "I live in Tampere.")):
            memory.add("user", text, session="s", time=f"2024-03-05T{hour}:00")
        assert len(memory.facts(about="user")) == 1


def test_two_daughters_and_two_jobs_are_listed_newest_first(tmp_path: Path) -> None:
    with evimem.open(tmp_path / "m.evimem") as memory:
        for month, said in enumerate(("My daughter Lotte rows.", "My daughter Femke fences.", "I work at Aldi."), 1):
            memory.add("user", said, time=f"2024-0{month}-05T10:00")
        facts = memory.facts(about="user")
        assert "Aldi" in facts[0].text
        assert {name for fact in facts for name in ("Femke", "Lotte") if name in fact.text} == {"Femke", "Lotte"}
        assert {fact.is_current for fact in facts} == {None}


def test_of_what_was_never_spoken_of_nothing_is_found(tmp_path: Path) -> None:
    answer = asked(tmp_path, ("I baked rye bread.",), "Which exhaust did Rasmus weld?")
    assert (answer.kind, answer.reason) == ("abstained", "nothing found about Rasmus, weld, exhaust")
