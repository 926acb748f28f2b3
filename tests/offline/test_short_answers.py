"""Dates and own details are answered where the evidence states them; a person's own word outranks a report."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

import evimem
from evimem.extract.rule_extractor import RuleExtractor
from evimem.judging.evidence import View
from evimem.offline.offline_judge import stated
from evimem.offline.short_answers import ShortAnswer

See = Callable[..., View]
Lines = list[tuple[str, str]]
WHERE, WHERE_I = "Where does Mira live?", "Where do I live?"
OWN = ("Mira", "I live in Leeds.", "2024-03-12")
REPORT = ("Tomas", "Mira lives in Paris now.", "2024-04-12")


def examples() -> Iterator[tuple[Lines, str, str]]:
    text = Path(__file__).with_name("examples.txt").read_text(encoding="utf-8")
    for block in text.split("\n\n"):
        lines: Lines = []
        for line in block.splitlines():
            if line.startswith("? "):
                question, _, answer = line[2:].rpartition(" = ")
                yield lines, question, answer
            elif line and not line.startswith("#"):
                speaker, _, said = line.partition(": ")
                lines.append((speaker, said))


def read(view: View) -> ShortAnswer | None:
    found = stated(view, RuleExtractor())
    return found if isinstance(found, ShortAnswer) else None


def given(view: View) -> ShortAnswer:
    found = read(view)
    assert found is not None
    return found


@pytest.fixture
def ask(tmp_path: Path) -> Callable[..., evimem.Answer]:
    """Return a function that asks a question of a new memory of what people said on which days."""

    def answer(*said: tuple[str, str, str], question: str = WHERE) -> evimem.Answer:
        with evimem.open(tmp_path / f"{len(list(tmp_path.iterdir()))}.evimem") as memory:
            for number, (speaker, text, day) in enumerate(said):
                memory.add(speaker, text, time=f"{day}T10:00", session=day, id=f"t{number}")
            return memory.ask(question)

    return answer


@pytest.mark.parametrize(("lines", "question", "answer"), list(examples()))
def test_a_short_answer_is_given_where_it_is_stated(see: See, lines: Lines, question: str, answer: str) -> None:
    found = read(see(question, lines))
    assert (found.text if found else "-") == answer


def test_a_citation_has_the_characters_that_it_quotes(see: See) -> None:
    for lines, question, answer in examples():
        view = see(question, lines)
        found = read(view)
        turns = {item.turn.id: item.turn.text for item in view.shown}
        for citation in found.citations if found else ():
            assert answer != "-"
            assert citation.span is not None
            assert turns[citation.turn_id][slice(*citation.span)] == citation.quote


SAID = [
    ("Ana", "We adopted a puppy last Friday."),
    ("Ana", "I started a pottery class on Monday."),
    ("Ana", "My dentist appointment is on 5 May."),
]


@pytest.mark.parametrize("said", SAID)
@pytest.mark.parametrize(
    "question",
    [
        "When did Ana adopt a parrot?", "When did Ana adopt a horse?", "When did Ana buy a car?",
        "When did Ana start her yoga class?", "When did Ana finish her pottery class?",
        "When is Ana's doctor's appointment?",
    ],
)  # fmt: skip
def test_what_is_told_of_one_thing_answers_nothing_about_another(
    see: See, said: tuple[str, str], question: str
) -> None:
    """In a memory of one sentence nothing else competes with it."""
    assert read(see(question, [said])) is None


@pytest.mark.parametrize(
    ("said", "question"),
    [
        ("My rent is 750 euros a month.", "How much is my rent?"),
        ("We have three cats now.", "How many cats do we have?"),
        ("I was in Rome for two weeks.", "How long was I in Rome?"),
        ("I bought a Tesla last week.", "Did I buy a Tesla?"),
    ],
)
def test_amounts_counts_and_yes_or_no_are_quoted(ask: Callable[..., evimem.Answer], said: str, question: str) -> None:
    answer = ask(("user", said, "2024-03-12"), question=question)
    assert (answer.kind, answer.citations[0].quote) == ("quote", said)


def test_a_report_against_an_own_word_is_a_conflict_with_both_values(ask: Callable[..., evimem.Answer]) -> None:
    answer = ask(OWN, REPORT)
    text = "Mira said Leeds on 12 March 2024; Tomas said Paris on 12 April 2024"
    assert (answer.text, answer.kind, answer.tier) == ("Leeds", "answer", evimem.Tier.PARTIAL)
    assert answer.gaps == (evimem.Gap("conflict", "Mira", text),)
    assert [(one.turn_id, one.quote) for one in answer.citations] == [("t0", "Leeds"), ("t1", "Paris")]


@pytest.mark.parametrize(
    "said",
    [
        "Mira lives in Leeds.", "Mira lives in a flat in Leeds.", "Does Mira live in Paris now?",
        "I wish Mira lived in Paris.", "Maybe Mira lives in Paris now.", "I think Mira lives in Paris now.",
        "I heard Mira lives in Paris now.", "Apparently Mira lives in Paris now.", "Mira might move to Paris.",
        "Mira used to live in Paris.", "Mira Patel lives in Paris.", "I live in Paris now.",
    ],
)  # fmt: skip
def test_what_does_not_contradict_is_no_conflict(see: See, said: str) -> None:
    found = given(see(WHERE, [("Mira", "I live in Leeds."), ("Tomas", said)]))
    assert (found.text, found.conflict) == ("Leeds", None)


def test_where_two_people_have_the_name_both_are_quoted(ask: Callable[..., evimem.Answer]) -> None:
    answer = ask(OWN, ("Tomas", "My cousin Mira lives in Paris.", "2024-04-12"))
    assert (answer.kind, {one.turn_id for one in answer.citations}) == ("quote", {"t0", "t1"})


@pytest.mark.parametrize(
    ("said", "text"),
    [
        ([("Tomas", "Mira lives in Paris now.", "2024-02-12"), OWN], "Leeds"),
        ([OWN, REPORT, ("Ana", "Mira moved back to Leeds.", "2024-05-12")], "Leeds"),
        ([OWN, REPORT, ("Mira", "I moved to York.", "2024-05-12")], "York"),
        ([REPORT], "Paris"),
    ],
)
def test_a_report_that_is_older_replaced_or_alone_is_no_conflict(
    ask: Callable[..., evimem.Answer], said: list[tuple[str, str, str]], text: str
) -> None:
    answer = ask(*said)
    assert (answer.text, answer.gaps) == (text, ())


@pytest.mark.parametrize(
    ("own", "report", "question", "values"),
    [
        (
            "My cat is called Biscuit.",
            "Mira's cat is called Pepper.",
            "What is Mira's cat called?",
            ("Biscuit", "Pepper"),
        ),
        ("My car is red.", "Mira's car is blue.", "What colour is Mira's car?", ("red", "blue")),
        ("My dentist is Dr Alba.", "Mira's dentist is Dr Poole.", "Who is Mira's dentist?", ("Dr Alba", "Dr Poole")),
    ],
)
def test_an_own_detail_outranks_a_report(see: See, own: str, report: str, question: str, values: str) -> None:
    found = given(see(question, [("Mira", own), ("Tomas", report)]))
    assert found.text == values[0]
    assert found.conflict is not None
    assert values[1] in found.conflict.gap.text


@pytest.mark.parametrize(
    ("told", "since", "question"),
    [
        ("I live in Leeds.", "We've finally moved, York is home now.", WHERE_I),
        ("My phone number is 07700 900123.", "New phone! Use 07700 900456.", "What is my phone number?"),
        ("My locker code is 4417.", "They changed the locker code, ask at the desk.", "What is my locker code?"),
        ("I'm allergic to nuts.", "I am not allergic to nuts anymore!", "What am I allergic to?"),
        ("My therapist is called Joan.", "I stopped seeing Joan.", "Who is my therapist?"),
        ("My exam is on 5 May 2025.", "The exam got cancelled!", "When is my exam?"),
    ],
)
def test_a_later_turn_that_may_have_changed_it_is_quoted_first(
    ask: Callable[..., evimem.Answer], told: str, since: str, question: str
) -> None:
    first = ("user", told, "2024-03-12")
    assert ask(first, question=question).kind == "answer"
    answer = ask(first, ("user", since, "2024-06-12"), question=question)
    assert (answer.kind, [one.turn_id for one in answer.citations]) == ("quote", ["t1", "t0"])


@pytest.mark.parametrize(
    ("said", "question"),
    [
        ("I live in Leeds, Alabama.", WHERE_I),
        ("I live in Leeds or in York, it depends.", WHERE_I),
        ("I'm vegan except at Christmas.", "What is my diet?"),
        ("I'm allergic to nuts, eggs and, oddly, kiwi.", "What am I allergic to?"),
    ],
)
def test_a_part_of_a_value_is_not_told_for_the_whole(
    ask: Callable[..., evimem.Answer], said: str, question: str
) -> None:
    answer = ask(("user", said, "2024-03-12"), question=question)
    assert (answer.kind, said in answer.text) == ("quote", True)


@pytest.mark.parametrize(
    ("told", "since", "question"),
    [
        ("I live in Leeds.", "The rain never stops.", WHERE_I),
        ("I moved to Leeds on 3 March 2024.", "I sold the car.", "When did I move to Leeds?"),
    ],
)
def test_a_later_turn_on_other_things_or_after_the_event_changes_nothing(
    ask: Callable[..., evimem.Answer], told: str, since: str, question: str
) -> None:
    said = [("user", told, "2024-03-12"), ("user", since, "2024-06-12")]
    assert ask(*said, question=question).kind == ask(said[0], question=question).kind == "answer"


def test_two_dates_of_one_event_are_quoted(ask: Callable[..., evimem.Answer]) -> None:
    said = [
        ("Mira", "I moved to Leeds in 2019.", "2024-03-12"),
        ("Tomas", "Mira moved to Leeds in 2021.", "2024-03-13"),
    ]
    answer = ask(*said, question="When did Mira move to Leeds?")
    assert (answer.kind, {one.turn_id for one in answer.citations}) == ("quote", {"t0", "t1"})


def test_two_speakers_of_one_name_leave_a_report_open(see: See) -> None:
    lines = [("Mira Patel", "I live in Leeds."), ("Mira Jones", "Hello."), ("Tomas", "Mira lives in Paris.")]
    assert given(see("Where does Mira Patel live?", lines)).conflict is None
    assert given(see("Where does Mira Patel live?", [lines[0], lines[2]])).conflict is not None


def test_of_one_reporter_the_last_word_counts(see: See) -> None:
    lines = [("Mira", "I live in Leeds."), ("Tomas", "Mira lives in Paris."), ("Tomas", "Mira lives in Leeds.")]
    assert given(see(WHERE, lines)).conflict is None


def test_every_reporter_is_told(see: See) -> None:
    lines = [("Mira", "I'm 34."), ("Tomas", "Mira is 41."), ("Ana", "Mira is 29.")]
    conflict = given(see("How old is Mira?", lines)).conflict
    assert conflict is not None
    assert [one.quote for one in conflict.citations] == ["41", "29"]


def test_a_report_of_another_thing_of_theirs_is_no_conflict(see: See) -> None:
    lines = [("Mira", "My cat is called Biscuit."), ("Tomas", "Mira's dog is called Pepper. My cat is called Rex.")]
    found = given(see("What is Mira's cat called?", lines))
    assert (found.text, found.conflict) == ("Biscuit", None)


def test_who_has_aged_since_is_not_contradicted(ask: Callable[..., evimem.Answer]) -> None:
    own = ("Mira", "I'm 34.", "2024-03-12")
    asked = [ask(own, ("Tomas", f"Mira is {age}.", "2024-04-12"), question="How old is Mira?") for age in (35, 41)]
    assert [len(answer.gaps) for answer in asked] == [0, 1]


@pytest.mark.parametrize("said", ["I used to live in Leeds.", "I lived in Leeds in 2019."])
def test_what_was_so_once_is_no_word_on_what_is_now(see: See, said: str) -> None:
    assert read(see(WHERE, [("Mira", said)])) is None
    assert read(see(WHERE, [("Mira", said), ("Tomas", "Mira lives in Paris now.")])) is None, "both are quoted"


def test_a_clause_after_a_value_is_no_part_of_it(ask: Callable[..., evimem.Answer]) -> None:
    said = ("user", "I'm allergic to shellfish and I'd like to keep my face.", "2024-03-12")
    assert ask(said, question="What am I allergic to?").text == "shellfish"


@pytest.mark.parametrize(("asked_at", "kind"), [("2024-06-01", "answer"), ("2025-06-01", "quote")])
def test_an_age_is_told_until_a_birthday_may_have_passed(tmp_path: Path, asked_at: str, kind: str) -> None:
    with evimem.open(tmp_path / "m.evimem") as memory:
        memory.add("user", "I'm 25.", time="2024-03-12T10:00", role="user")
        assert memory.ask("How old am I?", asked_at=asked_at).kind == kind


@pytest.mark.parametrize("asking", ["Translate to Spanish", "Proofread this", "Can you fix the grammar", "He said"])
def test_what_a_user_passes_on_states_nothing_of_them(ask: Callable[..., evimem.Answer], asking: str) -> None:
    said = ("user", f"{asking}: I live in Madrid and my name is Ana.", "2024-03-12")
    assert [ask(said, question=question).kind == "answer" for question in (WHERE_I, "What is my name?")] == [False] * 2
