"""No gate is vacuous: each break makes its gates fail, for the reason that it gives."""

import ast
import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from types import ModuleType

import pytest

from .registry import ROOT, VARIABLE, Gate, all_breaks, find

BREAKS = all_breaks()
EACH_GATE = [
    pytest.param(name, gate, id=f"{name}-{Path(gate.file).stem}-{number}")
    for name, one in sorted(BREAKS.items())
    for number, gate in enumerate(one.gates, 1)
]
SECONDS = 600  # ample, as this is the clock on the wall
NOT_THE_BREAK = r"TypeError: \w+\.<locals>"  # a break that no longer fits what it replaces

APPLY_EACH_IN_A_CHILD = """
import json, multiprocessing
from tests.breaks import patch, registry

def attempt(name):
    try:
        registry.find(name).apply()
    except Exception as error:
        return f"{type(error).__name__}: {error}"
    return "" if patch.PATCHED else "it changes nothing"

breaks = sorted(registry.all_breaks())
with multiprocessing.get_context("fork").Pool(1, maxtasksperchild=1) as children:
    print(json.dumps(dict(zip(breaks, children.imap(attempt, breaks, chunksize=1)))))
"""


def test_every_break_can_be_applied_and_changes_something() -> None:
    """A rename in the package makes this fail, with the name of the break."""
    env = {key: value for key, value in os.environ.items() if key != VARIABLE}
    command = [sys.executable, "-c", APPLY_EACH_IN_A_CHILD]
    run = subprocess.run(command, check=False, cwd=ROOT, env=env, capture_output=True, text=True, timeout=300)
    assert run.returncode == 0, run.stderr
    problems = json.loads(run.stdout)
    assert problems.keys() == BREAKS.keys()
    assert {name: problem for name, problem in problems.items() if problem} == {}


def bare_patches(file: Path) -> Iterator[str]:
    """Yield the assignments to attributes of what the function did not make itself."""
    for function in ast.parse(file.read_text(encoding="utf-8")).body:
        if not isinstance(function, ast.FunctionDef):
            continue
        made = {node.name for node in ast.walk(function) if isinstance(node, (ast.FunctionDef, ast.ClassDef))} | {
            "self"
        }
        for node in ast.walk(function):
            if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store):
                if not (isinstance(node.value, ast.Name) and node.value.id in made):
                    yield f"{file.name}:{node.lineno}: {ast.unparse(node)}"
            elif isinstance(node, ast.Call) and ast.unparse(node.func) == "setattr":
                yield f"{file.name}:{node.lineno}: setattr"


def test_breaks_replace_nothing_but_through_put() -> None:
    files = [file for file in Path(__file__).parent.glob("*.py") if file.stem not in ("patch", "test_breaks")]
    assert [found for file in files for found in bare_patches(file)] == []


def missing_attributes(file: Path) -> Iterator[str]:
    """Yield the attributes of imported modules and classes that a break uses, and that do not exist."""
    module = sys.modules[f"tests.breaks.{file.stem}"]
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
            owner = vars(module).get(node.value.id)
            if isinstance(owner, (type, ModuleType)) and not hasattr(owner, node.attr):
                yield f"{file.name}:{node.lineno}: {ast.unparse(node)}"


def test_breaks_use_nothing_that_was_renamed() -> None:
    files = [file for file in Path(__file__).parent.glob("*.py") if file.stem != "test_breaks"]
    assert [found for file in files for found in missing_attributes(file)] == []


@cache
def functions_of(file: Path) -> set[str]:
    return {node.name for node in ast.parse(file.read_text(encoding="utf-8")).body if isinstance(node, ast.FunctionDef)}


@pytest.mark.parametrize(("name", "gate"), EACH_GATE)
def test_the_gate_of_a_break_exists(name: str, gate: Gate) -> None:
    assert (ROOT / gate.file).is_file()
    assert not gate.function or gate.function in functions_of(ROOT / gate.file)


def test_an_unknown_name_is_a_usage_error_with_close_matches() -> None:
    with pytest.raises(pytest.UsageError, match="synchronous_is_normal"):
        find("synchronous_is_norml")


def run_under(name: str, *words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "pytest", "-x", "-q", "-p", "no:cacheprovider", *words],
        check=False,
        cwd=ROOT,
        env={**os.environ, VARIABLE: name, "EVIMEM_SIZE": "usual"},
        capture_output=True,
        text=True,
        timeout=SECONDS,
    )


@pytest.mark.nightly
@pytest.mark.parametrize(("name", "gate"), EACH_GATE)
def test_a_break_makes_its_gate_fail(name: str, gate: Gate) -> None:
    """At the usual sizes: what is reduced may be too little to notice it."""
    try:
        run = run_under(name, gate.test)
        if run.returncode == pytest.ExitCode.NO_TESTS_COLLECTED:
            run = run_under(name, gate.test, "-m", "nightly")
    except subprocess.TimeoutExpired:
        assert re.search(gate.says, "the gate hangs"), f"the gate hangs under {name}"
        return
    assert run.returncode == 1, (
        f"the gate stayed green, or did not run, under {name}:\n{run.stdout[-3000:]}{run.stderr[-2000:]}"
    )
    reasons = "\n".join(line for line in run.stdout.splitlines() if line.startswith(("E ", "FAILED")))
    assert not re.search(NOT_THE_BREAK, reasons), f"{name} broke instead of breaking something:\n{reasons}"
    assert re.search(gate.says, reasons), f"red under {name}, but for another reason:\n{run.stdout[-3000:]}"
