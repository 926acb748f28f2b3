"""The table in README.md is complete: the tests and breaks it names exist, none is left out, no row is missing."""

import ast
import os
import re
from functools import cache
from pathlib import Path

from tests.breaks.registry import ROOT, Gate, all_breaks

HERE = Path(__file__).parent
ROWS = dict(re.findall(r"^\| (R\d\d) \| (.*) \|$", (HERE / "README.md").read_text(encoding="utf-8"), re.MULTILINE))
NOT_YET = {"R28", "R29"}
ELSEWHERE = "tests/statements/"  # has a table of its own


@cache
def functions_of(file: Path) -> set[str]:
    tree = ast.parse(file.read_text(encoding="utf-8"))
    return {node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)}


def named(row: str) -> tuple[list[tuple[str, str]], set[str]]:
    """Return the tests, as paths from the root and functions, and the breaks that a row names."""
    tests, _, breaks = row.partition(" ~ ")
    found = re.findall(r"`([\w./]+\.py)::(\w+)`", tests)
    paths = [(os.path.relpath(HERE / file, ROOT).replace(os.sep, "/"), name) for file, name in found]
    return paths, set(re.findall(r"`(\w+)`", breaks))


def test_every_row_is_there():
    assert set(ROWS) | {"R28", "R29"} == {f"R{number:02}" for number in range(1, 36)}


def test_tests_and_breaks_named_in_a_row_exist():
    rows = {row: named(ROWS[row]) for row in ROWS.keys() - NOT_YET}
    assert [row for row, (tests, breaks) in rows.items() if not tests or not breaks] == []
    named_tests = {test for tests, _ in rows.values() for test in tests}
    assert [f"{file}::{name}" for file, name in named_tests if name not in functions_of(ROOT / file)] == []
    assert {one for _, breaks in rows.values() for one in breaks} <= all_breaks().keys()


def stands_in_a_row(name: str, gate: Gate) -> bool:
    """Return whether a row names both the break and its gate, or any test of its gate's file where it is a file."""
    rows = [named(row) for row in ROWS.values()]
    return any(
        name in breaks and any(gate.file == file and gate.function in ("", test) for file, test in tests)
        for tests, breaks in rows
    )


def test_every_break_stands_in_the_row_of_its_gate():
    gates = [(name, gate) for name, one in all_breaks().items() for gate in one.gates]
    elsewhere = [(name, gate) for name, gate in gates if not gate.file.startswith(ELSEWHERE)]
    assert [f"{name}: {gate.test}" for name, gate in elsewhere if not stands_in_a_row(name, gate)] == []
