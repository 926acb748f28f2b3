"""A person's own word answers; a later report against it is a conflict: told, cited, and less sure."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

import evimem
from evimem.extract import RuleExtractor
from evimem.judging.evidence import View
from evimem.offline.verified import ShortAnswer, short_answer

See = Callable[..., View]
WHERE = "Where does Mira live?"
OWN = ("Mira", "I live in Leeds.", "2024-03-12")
REPORT = ("Tomas", "Mira lives in Paris now.", "2024-04-12")


@pytest.fixture
def ask(tmp_path: Path) -> Callable[..., evimem.Answer]:
    """Return a function that asks a question of a new memory of what people said on which days."""

    def answer(*said: tuple[str, str, str], question: str = WHERE) -> evimem.Answer:
        with evimem.open(tmp_path / f"{len(list(tmp_path.iterdir()))}.evimem") as memory:
            for number, (speaker, text, day) in enumerate(said):
                memory.add(speaker, text, time=f"{day}T10:00", session=day, id=f"t{number}")
            return memory.ask(question)

    return answer


def proven(view: View) -> ShortAnswer:
    found = short_answer(view, RuleExtractor())
    assert isinstance(found, ShortAnswer)
    return found


def test_a_report_against_an_own_word_is_a_conflict_with_both_values(ask: Callable[..., evimem.Answer]) -> None:
    answer = ask(OWN, REPORT)
    text = "Mira said Leeds on 12 March 2024; Tomas said Paris on 12 April 2024"
    assert (answer.text, answer.kind) == ("Leeds", "answer")
    assert answer.gaps == (evimem.Gap("conflict", "Mira", text),)
    assert [(one.turn_id, one.quote) for one in answer.citations] == [("t0", "Leeds"), ("t1", "Paris")]


def test_a_report_against_an_own_word_lowers_the_confidence(ask: Callable[..., evimem.Answer]) -> None:
    alone, agreeing, contested = (
        ask(OWN, *said).confidence for said in ((), [("Tomas", "Mira lives in Leeds.", "2024-04-12")], [REPORT])
    )
    assert contested < alone - 0.05
    assert agreeing > alone - 0.01


@pytest.mark.parametrize(
    "said",
    [
        "Mira lives in Leeds.",
        "Mira lives in a flat in Leeds.",
        "Does Mira live in Paris now?",
        "I wish Mira lived in Paris.",
        "Maybe Mira lives in Paris now.",
        "I think Mira lives in Paris now.",
        "I heard Mira lives in Paris now.",
        "Apparently Mira lives in Paris now.",
        "Mira might move to Paris.",
        "Mira used to live in Paris.",
        "Mira Patel lives in Paris.",
        "My cousin Mira lives in Paris.",
        "I live in Paris now.",
    ],
)
def test_what_does_not_contradict_is_no_conflict(see: See, said: str) -> None:
    found = proven(see(WHERE, [("Mira", "I live in Leeds."), ("Tomas", said)]))
    assert (found.text, found.conflict) == ("Leeds", None)


def test_a_report_from_before_the_own_word_is_no_conflict(ask: Callable[..., evimem.Answer]) -> None:
    answer = ask(("Tomas", "Mira lives in Paris now.", "2024-02-12"), OWN)
    assert (answer.text, answer.gaps) == ("Leeds", ())


def test_a_reported_amount_from_before_the_own_word_is_no_conflict(see: See) -> None:
    found = proven(
        see("How many cats does Mira have?", [("Tomas", "Mira has five cats."), ("Mira", "I have three cats.")])
    )
    assert (found.text, found.conflict) == ("three", None)


def test_a_report_that_another_has_replaced_since_is_no_conflict(ask: Callable[..., evimem.Answer]) -> None:
    answer = ask(OWN, REPORT, ("Ana", "Mira moved back to Leeds.", "2024-05-12"))
    assert (answer.text, answer.gaps) == ("Leeds", ())


def test_a_report_that_the_person_has_replaced_since_is_no_conflict(ask: Callable[..., evimem.Answer]) -> None:
    answer = ask(OWN, REPORT, ("Mira", "I moved to York.", "2024-05-12"))
    assert (answer.text, answer.gaps) == ("York", ())


@pytest.mark.parametrize("said", ["I used to live in Leeds.", "I lived in Leeds in 2019."])
def test_what_was_so_once_is_no_word_on_what_is_now(see: See, said: str) -> None:
    assert not isinstance(short_answer(see(WHERE, [("Mira", said)]), RuleExtractor()), ShortAnswer)
    told = see(WHERE, [("Mira", said), ("Tomas", "Mira lives in Paris now.")])
    assert not isinstance(short_answer(told, RuleExtractor()), ShortAnswer), "both are quoted"


def test_a_report_of_another_thing_of_theirs_is_no_conflict(see: See) -> None:
    lines = [("Mira", "My cat is called Biscuit."), ("Tomas", "Mira's dog is called Pepper. My cat is called Rex.")]
    found = proven(see("What is Mira's cat called?", lines))
    assert (found.text, found.conflict) == ("Biscuit", None)


def test_a_report_alone_answers(ask: Callable[..., evimem.Answer]) -> None:
    answer = ask(REPORT)
    assert (answer.text, answer.gaps) == ("Paris", ())


def test_of_one_reporter_the_last_word_counts(see: See) -> None:
    lines = [("Mira", "I live in Leeds."), ("Tomas", "Mira lives in Paris."), ("Tomas", "Mira lives in Leeds.")]
    assert proven(see(WHERE, lines)).conflict is None


def test_every_reporter_is_told(see: See) -> None:
    lines = [("Mira", "I'm 34."), ("Tomas", "Mira is 41."), ("Ana", "Mira is 29.")]
    conflict = proven(see("How old is Mira?", lines)).conflict
    assert conflict is not None
    assert [one.quote for one in conflict.citations] == ["41", "29"]


def test_who_has_aged_since_is_not_contradicted(ask: Callable[..., evimem.Answer]) -> None:
    own = ("Mira", "I'm 34.", "2022-03-12")
    asked = [ask(own, ("Tomas", f"Mira is {age}.", "2024-04-12"), question="How old is Mira?") for age in (36, 41)]
    assert [len(answer.gaps) for answer in asked] == [0, 1]


@pytest.mark.parametrize(
    ("own", "report", "question", "values"),
    [
        ("I have three cats.", "Mira has five cats.", "How many cats does Mira have?", ("three", "five")),
        ("My rent is 900 pounds.", "Mira's rent is 1200 pounds.", "How much is Mira's rent?", ("900", "1200")),
        (
            "My cat is called Biscuit.",
            "Mira's cat is called Pepper.",
            "What is Mira's cat called?",
            ("Biscuit", "Pepper"),
        ),
        ("My car is red.", "Mira's car is blue.", "What colour is Mira's car?", ("red", "blue")),
        ("My dentist is Dr Alba.", "Mira's dentist is Dr Poole.", "Who is Mira's dentist?", ("Dr Alba", "Dr Poole")),
        ("I moved to Leeds in 2019.", "Mira moved to Leeds in 2021.", "When did Mira move to Leeds?", ("2019", "2021")),
    ],
)
def test_an_own_amount_or_date_outranks_a_report(see: See, own: str, report: str, question: str, values: str) -> None:
    found = proven(see(question, [("Mira", own), ("Tomas", report)]))
    assert found.text.startswith(values[0])
    assert found.conflict is not None
    assert values[1] in found.conflict.gap.text


@pytest.mark.parametrize("said", ["Maybe Mira has five cats.", "Mira's sister has five cats.", "Mira had five cats."])
def test_an_own_amount_is_not_contradicted_by_what_is_unsure_another_s_or_past(see: See, said: str) -> None:
    found = proven(see("How many cats does Mira have?", [("Mira", "I have three cats."), ("Tomas", said)]))
    assert (found.text, found.conflict) == ("three", None)


def test_two_speakers_of_one_name_leave_a_report_open(see: See) -> None:
    lines = [("Mira Patel", "I live in Leeds."), ("Mira Jones", "Hello."), ("Tomas", "Mira lives in Paris.")]
    assert proven(see("Where does Mira Patel live?", lines)).conflict is None
    assert proven(see("Where does Mira Patel live?", [lines[0], lines[2]])).conflict is not None
