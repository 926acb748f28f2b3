"""Deliberate breaks: each changes one behaviour, and names the tests ("gates") that must fail under it, and how.

`EVIMEM_BREAK=<name> pytest <gate>` runs a gate under one break, a function of this folder; `tests/conftest.py` applies
it, once per process. What each gate promises: tests/reliability/README.md and tests/statements/README.md.
"""

import difflib
import importlib
import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

VARIABLE = "EVIMEM_BREAK"
ROOT = Path(__file__).parents[2]


@dataclass(frozen=True, slots=True)
class Gate:
    """A test, as a path from the root of the repository, and a pattern that its failure must match under a break."""

    test: str
    says: str

    @property
    def file(self) -> str:
        return self.test.partition("::")[0]

    @property
    def function(self) -> str:
        """The test's function; empty where any test of the file may fail."""
        return self.test.partition("::")[2]


@dataclass(frozen=True, slots=True)
class Break:
    """A change of behaviour, and its gates. The change lasts until the process ends."""

    apply: Callable[[], None]
    gates: list[Gate]


_BREAKS: dict[str, Break] = {}
_APPLIED: list[str] = []


def breaks(*, gate: str, says: str) -> Callable[[Callable[[], None]], Callable[[], None]]:
    """Register a function as a break under its name. Several gates: several decorators.

    `says` is searched for in the lines of pytest's report that begin with "E " or "FAILED", or in "the gate hangs".
    """

    def register(apply: Callable[[], None]) -> Callable[[], None]:
        found = _BREAKS.setdefault(apply.__name__, Break(apply, []))
        if found.apply is not apply:
            raise ValueError(f"two breaks are named {apply.__name__!r}; expected unique names")
        found.gates.insert(0, Gate(gate, says))  # decorators apply from the last to the first
        return apply

    return register


def all_breaks() -> dict[str, Break]:
    """Import every file of this folder; return its breaks by name."""
    for file in sorted(Path(__file__).parent.glob("*.py")):
        if not file.name.startswith("test_"):
            importlib.import_module(f"tests.breaks.{file.stem}")
    return _BREAKS


def find(name: str) -> Break:
    """Return a break by name.

    Raise pytest.UsageError for an unknown one: a gate that stays green under it would prove nothing.
    """
    known = all_breaks()
    if name not in known:
        close = difflib.get_close_matches(name, known, n=5, cutoff=0.5) or sorted(known)
        raise pytest.UsageError(f"{VARIABLE} is {name!r}, which is no break; close matches: {', '.join(close)}")
    return known[name]


def apply_named() -> None:
    """Apply the break that EVIMEM_BREAK names, if it is set; a second call does nothing."""
    name = os.environ.get(VARIABLE)
    if name and name not in _APPLIED:
        apply = find(name).apply
        _APPLIED.append(name)
        apply()
