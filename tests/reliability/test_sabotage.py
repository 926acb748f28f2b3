"""No gate is vacuous: each sabotage makes its gate fail, for the reason that it gives."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from .sabotage import SABOTAGES

HERE = Path(__file__).parent
ITS_OWN_FAULT = r"TypeError: \w+\.<locals>"  # a sabotage that no longer fits what it replaces


@pytest.mark.parametrize("size", ["reduced", pytest.param("usual", marks=pytest.mark.nightly)])
@pytest.mark.parametrize("name", sorted(SABOTAGES))
def test_a_sabotage_makes_its_gate_fail(name: str, size: str) -> None:
    sabotage = SABOTAGES[name]
    try:
        run = subprocess.run(
            [sys.executable, "-m", "pytest", "-x", "-q", "-p", "no:cacheprovider", str(HERE / sabotage.gate)],
            check=False,
            cwd=HERE.parents[1],
            env={**os.environ, "EVIMEM_SABOTAGE": name, "EVIMEM_SIZE": size},
            capture_output=True,
            text=True,
            timeout=120 if size == "reduced" else 600,
        )  # fmt: skip
    except subprocess.TimeoutExpired:
        assert re.search(sabotage.says, "the gate hangs"), f"the gate hangs under {name}"
        return
    assert run.returncode == 1, (
        f"the gate stayed green, or did not run, under {name}:\n{run.stdout[-3000:]}{run.stderr[-2000:]}"
    )
    reasons = "\n".join(line for line in run.stdout.splitlines() if line.startswith(("E ", "FAILED")))
    assert not re.search(ITS_OWN_FAULT, reasons), f"{name} broke instead of breaking something:\n{reasons}"
    assert re.search(sabotage.says, reasons), f"red under {name}, but for another reason:\n{run.stdout[-3000:]}"
