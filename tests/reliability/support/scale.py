"""The sizes of a gate: usual, nightly, and reduced, for runs under a deliberate break."""

from __future__ import annotations

import os
from typing import Any

import pytest

SEED = int(os.environ.get("EVIMEM_SEED", "20240312"))
REDUCED = "EVIMEM_BREAK" in os.environ and os.environ.get("EVIMEM_SIZE") != "usual"


def sizes(usual: int, *, nightly: int | None = None, reduced: int | None = None) -> list[Any]:
    """Return the values to parametrize a gate with: its usual size and, under the mark `nightly`, its nightly one."""
    if REDUCED:
        return [reduced or max(1, usual // 10)]
    return [usual] + ([pytest.param(nightly, marks=pytest.mark.nightly)] if nightly else [])


def bound(trials: int) -> str:
    """Return the 95 % upper bound of a rate after so many trials without a case (the rule of three)."""
    return f"95 % upper bound {100 * 3 / trials:.2g} %"
