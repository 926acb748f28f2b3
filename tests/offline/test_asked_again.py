"""A question that was asked before stands in the memory: it is no evidence for its own answer."""

from pathlib import Path

import pytest

import evimem

TOLD = "Penicillin gives me hives, I'm allergic to it, so the GP chose something else."
ASKED = "What am I allergic to?"


def chat(path: Path, *exchanges: tuple[str, str]) -> evimem.Memory:
    memory = evimem.open(path)
    for day, (asked, replied) in enumerate(exchanges, start=1):
        messages = [{"role": "user", "content": asked}, {"role": "assistant", "content": replied}]
        memory.remember(messages, session=f"chat {day}", time=f"2024-03-{day:02}T10:00")
    return memory


@pytest.mark.parametrize("loop", ["iris", "memr3", "mgretrieval", "mragent", "single_pass"])
@pytest.mark.parametrize("again", [ASKED, "what am i allergic to", "Remind me again what I am allergic to?"])
def test_a_question_that_was_asked_before_is_not_quoted_before_what_was_told(tmp_path: Path, loop: str, again: str):
    with chat(tmp_path / "m.evimem", (TOLD, "Noted."), (again, "I could not find that, sorry.")) as memory:
        answer = memory.ask(ASKED, loop=loop)
        assert answer.text is not None
        assert TOLD in answer.text.splitlines()[0]
        assert again not in answer.text


def test_asking_often_makes_no_answer_more_probable(tmp_path: Path) -> None:
    asked = ((ASKED, "I could not find that, sorry."),) * 3
    with chat(tmp_path / "m.evimem", ("We repainted the hallway.", "Lovely."), *asked) as memory:
        answer = memory.ask(ASKED)
        assert ASKED not in (answer.text or "")
        assert answer.abstained or answer.confidence < 0.5


def test_a_question_of_another_kind_quotes_it(tmp_path: Path) -> None:
    with chat(tmp_path / "m.evimem", (TOLD, "Noted."), (ASKED, "Penicillin.")) as memory:
        assert ASKED in (memory.ask("When did I ask what I am allergic to?").text or "")


def test_among_people_the_question_stands_with_its_answer(tmp_path: Path) -> None:
    with evimem.open(tmp_path / "m.evimem") as memory:
        memory.add("Tomas", "What did you call the puppy?", time="2024-03-12T18:20", session="s")
        memory.add("Mira", "Juno.", time="2024-03-12T18:21", session="s")
        assert '"Juno."' in (memory.ask("What did Mira call the puppy?").text or "")


def test_a_question_that_the_assistant_answered_stands_with_its_answer(tmp_path: Path) -> None:
    exchange = ("What is a mnemonic for the cranial nerves?", "Some say money matters, but my brother says big brains.")
    with chat(tmp_path / "m.evimem", ("We repainted the hallway.", "Lovely."), exchange) as memory:
        assert exchange[1] in (memory.ask("What was the mnemonic for the cranial nerves?").text or "")
