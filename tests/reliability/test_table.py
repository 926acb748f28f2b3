"""The table in README.md is complete: the tests and sabotages it names exist, none is left out, no row is missing."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

from .sabotage import SABOTAGES

HERE = Path(__file__).parent
ROWS = dict(re.findall(r"^\| (R\d\d) \| (.*) \|$", (HERE / "README.md").read_text(encoding="utf-8"), re.MULTILINE))
NOT_YET = {"R28", "R29"}


def functions_of(file: Path) -> set[str]:
    tree = ast.parse(file.read_text(encoding="utf-8"))
    return {node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)}


def named(row: str) -> tuple[list[tuple[str, str]], set[str]]:
    """Return the tests and the sabotages that a row names."""
    tests, _, sabotages = row.partition(" ~ ")
    found = re.findall(r"`([\w./]+\.py)::(\w+)`", tests)
    return found, set(re.findall(r"`(\w+)`", sabotages))


def test_every_row_is_there() -> None:
    assert set(ROWS) | {"R28", "R29"} == {f"R{number:02}" for number in range(1, 35)}


@pytest.mark.parametrize("row", sorted(ROWS.keys() - NOT_YET))
def test_tests_and_sabotages_named_in_a_row_exist(row: str) -> None:
    tests, sabotages = named(ROWS[row])
    missing = [f"{file}::{name}" for file, name in tests if name not in functions_of(HERE / file)]
    assert tests
    assert missing == []
    assert sabotages
    assert sabotages <= {name.partition(":")[0] for name in SABOTAGES}


def test_every_sabotage_stands_in_the_row_of_its_gate() -> None:
    for name, sabotage in SABOTAGES.items():
        file, _, test = sabotage.gate.partition("::")
        rows = [row for row in ROWS if name.partition(":")[0] in named(ROWS[row])[1]]
        gates = [one for row in rows for one in named(ROWS[row])[0]]
        assert any(file == at and test in ("", what) for at, what in gates), f"{name} stands in no row of its gate"
