"""Times in the first and the last year that a datetime can hold are stored, searched and asked about."""

from __future__ import annotations

from datetime import datetime
from pathlib import Path

import pytest

import evimem

TEXT = "We adopted a puppy last week, see you next Friday, in May or at Christmas."
QUESTIONS = (
    "When did Mira adopt her puppy?",
    "What did Mira do last week?",
    "What will she do next year?",
    "How long ago was it?",
)


@pytest.mark.parametrize("said", [datetime(1, 1, 1), datetime(9999, 12, 31, 23, 59)])
@pytest.mark.parametrize("asked_at", [datetime(1, 1, 1), datetime(2024, 5, 1), datetime.max])
def test_no_time_a_datetime_can_hold_stops_a_question(tmp_path: Path, said: datetime, asked_at: datetime) -> None:
    with evimem.open(tmp_path / "m.evimem") as memory:
        assert memory.add("Mira", TEXT, time=said).added == 1
        for question in QUESTIONS:
            assert memory.search(question, asked_at=asked_at)
            assert memory.ask(question, asked_at=asked_at).trace.events
            assert memory.ask(question).trace.events
