"""No statement's test is vacuous: with the behaviour broken that it is about, it fails."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from .broken import BREAKS

HERE = Path(__file__).parent
ITS_OWN_FAULT = r"(Type|Attribute|Name|Import)Error"  # a break that no longer fits what it replaces


@pytest.mark.nightly
@pytest.mark.parametrize("name", sorted(BREAKS))
def test_a_test_fails_when_its_behaviour_is_broken(name: str) -> None:
    files = [str(HERE / "test_iris.py"), str(HERE / "test_fixtures.py")]
    run = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *files, "-k", name],
        check=False,
        cwd=HERE.parents[1],
        env={**os.environ, "EVIMEM_BREAK": name},
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert run.returncode == 1, f"it did not fail, or did not run:\n{run.stdout[-3000:]}{run.stderr[-2000:]}"
    reasons = "\n".join(line for line in run.stdout.splitlines() if line.startswith("E "))
    assert not re.search(ITS_OWN_FAULT, reasons), f"it broke instead of breaking something:\n{reasons}"
