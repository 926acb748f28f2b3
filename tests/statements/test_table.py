"""The page of statements and the tests are the same list."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.breaks.registry import all_breaks

HERE = Path(__file__).parent
NAMED = re.findall(r"`(test_\w+)` \|", (HERE / "README.md").read_text(encoding="utf-8"))
OTHERS = ("memr3", "memr3_claims", "mgretrieval", "mragent", "fixtures")
WRITTEN = [
    name
    for file in ("test_iris.py", "test_letter.py", *(f"test_{name}.py" for name in OTHERS))
    for name in re.findall(r"^def (test_\w+)", (HERE / file).read_text(encoding="utf-8"), re.MULTILINE)
]


def test_every_test_is_in_the_table_and_every_row_has_its_test() -> None:
    assert sorted(NAMED) == sorted(WRITTEN)


@pytest.mark.parametrize(("letter", "count"), [("e", 14), ("m", 12), ("g", 9), ("r", 8), ("f", 16)])
def test_no_statement_is_missing(letter: str, count: int) -> None:
    numbers = {int(found) for name in NAMED for found in re.findall(rf"^test_{letter}(\d+)_", name)}
    assert numbers == set(range(1, count + 1))


def test_every_statement_has_a_break_under_which_its_test_is_red() -> None:
    gates = {gate.function for one in all_breaks().values() for gate in one.gates}
    assert sorted(set(NAMED) - gates) == []
