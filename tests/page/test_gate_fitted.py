"""The fitted numbers of the gate belong to the signals that it measures today."""

from __future__ import annotations

from pathlib import Path

import orjson
import pytest

import evimem
from benchmarks.gate import example_means
from evimem.page.gate import GATE_FILE

REFIT = "the signals moved since gate.json was fitted: refit it with `python -m benchmarks.gate --write`"


def test_the_fitted_gate_belongs_to_the_signals_of_today() -> None:
    assert example_means() == pytest.approx(orjson.loads(GATE_FILE.read_bytes())["fitted_on"], abs=0.02), REFIT


def test_a_turn_that_holds_every_word_of_a_question_opens_the_gate(tmp_path: Path) -> None:
    with evimem.open(tmp_path / "m.evimem") as memory:
        memory.add("user", "My sister lives in Porto and I am allergic to shellfish.", time="2024-03-03", role="user")
        memory.add("user", "The meeting moved to Thursday.", time="2024-03-04", role="user")
        assert "shellfish" in memory.block("who is allergic to shellfish", tokens=300).text
        assert memory.block("tell me a joke", tokens=300).text == ""
