"""An overview quotes what a profile rests on: the turns that tell most of a person, the newest first."""

from __future__ import annotations

from pathlib import Path

import pytest

import evimem

SAID = {
    "en": ("I live in Leeds.", "Can you check the weather?", "I have a cat called Moss."),
    "de": ("Ich wohne in Bremen.", "Kannst du das Wetter nachsehen?", "Ich habe zwei Katzen, Ilja und Pfote."),
    "fr": ("J'habite à Nantes.", "Tu peux regarder la météo ?", "J'ai deux chats, Gaston et Mimi."),
    "es": ("Vivo en Gijón con mi pareja.", "¿Puedes mirar el tiempo?", "Tengo dos gatos, Bollo y Sol."),
}


@pytest.mark.parametrize(
    ("code", "question"),
    [
        ("en", "What do you know about me?"), ("en", "Summarise what you know about me."),
        ("en", "Tell me everything you know about me"), ("de", "Was weißt du über mich?"),
        ("fr", "Qu'est-ce que tu sais de moi ?"), ("es", "¿Qué sabes de mí?"),
    ],
)  # fmt: skip
def test_an_overview_quotes_what_was_told_and_no_question(tmp_path: Path, code: str, question: str) -> None:
    with evimem.open(tmp_path / "m.evimem") as memory:
        for day, text in enumerate(SAID[code], 1):
            memory.add("user", text, time=f"2024-03-0{day}T10:00", id=f"t{day}")
            memory.add("assistant", "Ok.", time=f"2024-03-0{day}T10:01")
        answer = memory.ask(question)
        assert (answer.kind, [one.turn_id for one in answer.citations]) == ("quote", ["t3", "t1"])


def test_an_overview_of_a_person_is_of_that_person(tmp_path: Path) -> None:
    with evimem.open(tmp_path / "m.evimem") as memory:
        memory.add("Mira", "I work as a baker.", time="2024-03-01", id="mira")
        memory.add("Tomas", "I work as a florist.", time="2024-03-01", id="tomas")
        answer = memory.ask("What do you know about Mira?")
        assert [one.turn_id for one in answer.citations] == ["mira"]
