"""The extractor given to `evimem.open` reads turns, once, and its weekday convention is that of quoted dates."""

from __future__ import annotations

from pathlib import Path

import pytest

import evimem
from evimem.extract.rule_extractor import RuleExtractor
from evimem.types.values import Fact, Turn

SATURDAY = "2024-03-16T10:00"


class Recording(RuleExtractor):
    """Reads by rule and remembers which turns it has read."""

    def __init__(self) -> None:
        super().__init__()
        self.read: list[str] = []

    def extract(self, turn: Turn) -> tuple[Fact, ...]:
        self.read.append(turn.id)
        return super().extract(turn)


@pytest.mark.parametrize(
    ("extractor", "answer"),
    [
        (RuleExtractor(), "15 March 2024"),
        (RuleExtractor(weekday="recent"), "15 March 2024"),
        (RuleExtractor(weekday="previous_week"), "8 March 2024"),
    ],
)
def test_a_quoted_date_follows_the_weekday_convention_of_the_memory(
    tmp_path: Path, extractor: RuleExtractor, answer: str
) -> None:
    with evimem.open(tmp_path / "m.evimem", extractor=extractor) as memory:
        memory.add("Mira", "I met Noor at the market last Friday.", time=SATURDAY)
        text = memory.ask("When did Mira meet Noor at the market?").text
        assert (text or "").endswith(f'("last Friday": {answer})')


def test_a_question_reads_no_turn_again(tmp_path: Path) -> None:
    extractor = Recording()
    with evimem.open(tmp_path / "m.evimem", extractor=extractor) as memory:
        memory.add("user", "My sister moved house.", time="2024-03-16T10:00", id="before")
        memory.add("user", "Her dog is called Pickle, my dog is called Juno.", time="2024-03-16T10:01", id="found")
        memory.enrich()
        extractor.read.clear()
        assert memory.ask("What is my dog called?", budget=evimem.Budget(k=1, iterations=1)).kind == "quote"
        assert extractor.read == []
