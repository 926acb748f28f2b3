"""Without a model, a question or evidence in another language gets a quote at best, and never a firm answer."""

from __future__ import annotations

from pathlib import Path

import pytest

import evimem
from evimem import Answer, Tier
from evimem.offline.offline_judge import UNREAD_REASON

TALK = {
    "fr": ("Lina est née samedi à la maternité de Nantes.", "Le chat dort sur le canapé.", "Où est née Lina ?"),
    "ja": ("娘の美咲は土曜に大阪で生まれました。", "猫がソファで寝ている。", "美咲はどこで生まれたの\uff1f"),
    "hi": ("लीना शनिवार को पुणे में पैदा हुई।", "बिल्ली सोफ़े पर सो रही है।", "लीना कहाँ पैदा हुई?"),
}


def asked(folder: Path, turns: tuple[str, str], question: str) -> Answer:
    with evimem.open(folder / "talk.db") as memory:
        for day, text in enumerate(turns, start=1):
            memory.add("Camille", text, time=f"2024-03-{day:02d}T10:00")
        assert memory.stats().facts == 0
        return memory.ask(question)


@pytest.fixture(params=TALK)
def answers(request: pytest.FixtureRequest, tmp_path: Path) -> tuple[Answer, str]:
    first, second, question = TALK[request.param]
    return asked(tmp_path, (first, second), question), first


def test_an_answer_in_another_language_is_a_quote_and_never_firm(answers: tuple[Answer, str]) -> None:
    answer, said = answers
    assert answer.tier not in {Tier.EXACT, Tier.INFERRABLE}
    assert answer.kind in {"quote", "abstained"}
    if answer.kind == "quote":
        assert answer.reason == UNREAD_REASON
        assert any(citation.quote in said for citation in answer.citations)


def test_an_english_question_about_foreign_evidence_is_not_answered_firmly(tmp_path: Path) -> None:
    first, second, _ = TALK["fr"]
    answer = asked(tmp_path, (first, second), "When was Lina born?")
    assert answer.tier not in {Tier.EXACT, Tier.INFERRABLE}
    assert answer.kind != "answer"


@pytest.mark.parametrize(
    ("before", "since", "question"),
    [
        ("Vivo en Vigo.", "Me he mudado a Sevilla.", "¿Dónde vivo?"),
        ("Meine Nummer ist 0151 555.", "Neues Handy, ab jetzt 0160 777.", "Wie ist meine Telefonnummer?"),
        ("I work at Acme.", "I got laid off.", "Where do I work?"),
        ("Best film ever: The Salt Road!", "Sorry Salt Road, you've been dethroned.", "What is my favourite film?"),
    ],
)
def test_what_was_said_since_is_quoted_beside_what_matches_best(
    tmp_path: Path, before: str, since: str, question: str
) -> None:
    with evimem.open(tmp_path / "m.evimem") as memory:
        memory.add("user", before, time="2024-01-05T10:00", id="before")
        memory.add("user", since, time="2024-06-05T10:00", id="since")
        answer = memory.ask(question)
    assert (answer.kind, {one.turn_id for one in answer.citations}) == ("quote", {"before", "since"})


@pytest.mark.parametrize(
    ("text", "question"),
    [
        ("Write a diary entry for a pirate, starting with: I am Redbeard. I live in Tortuga.", "Where do I live?"),
        ('"My sister is called Wilma" - grade this sentence from my pupil', "What is my sister called?"),
        ("Pretend I work at the moon base. I live in Tranquility.", "Where do I live?"),
    ],
)
def test_what_is_dictated_quoted_or_supposed_answers_nothing_of_the_user(
    tmp_path: Path, text: str, question: str
) -> None:
    with evimem.open(tmp_path / "m.evimem") as memory:
        memory.add("user", text, time="2024-01-05T10:00")
        assert memory.ask(question).kind != "answer"
