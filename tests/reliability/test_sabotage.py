"""No gate is vacuous: each known-bad behaviour turns the gate red that guards against it."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from .sabotage import SABOTAGES

# Forty runs of pytest, one after the other: too long for every run while two cores are shared with other work.
pytestmark = pytest.mark.nightly
HERE = Path(__file__).parent


@pytest.mark.parametrize("name", sorted(SABOTAGES))
def test_a_sabotage_turns_its_gate_red(name: str) -> None:
    sabotage = SABOTAGES[name]
    command = [sys.executable, "-m", "pytest", "-x", "-q", "-p", "no:cacheprovider", str(HERE / sabotage.gate)]
    run = subprocess.run(
        command,
        check=False,
        cwd=HERE.parents[1],
        env={**os.environ, "EVIMEM_SABOTAGE": name},
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert run.returncode == 1, (
        f"the gate stayed green, or did not run, under {name}:\n{run.stdout[-3000:]}{run.stderr[-2000:]}"
    )
    reasons = "\n".join(line for line in run.stdout.splitlines() if line.startswith(("E ", "FAILED")))
    assert re.search(sabotage.says, reasons), f"red under {name}, but for another reason:\n{run.stdout[-3000:]}"
