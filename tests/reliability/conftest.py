"""Fixtures of every gate: a seed, a folder on a fast disk, and a line in the summary of the run."""

import shutil
import tempfile
from pathlib import Path
from typing import Any

import pytest

from tests.sizes import SEED


@pytest.fixture
def seed():
    """The seed of everything random; EVIMEM_SEED sets another."""
    return SEED


@pytest.fixture
def disk():
    """A folder in shared memory where the system has it: syncs there cost nothing."""
    shared = Path("/dev/shm")
    folder = Path(tempfile.mkdtemp(prefix="evimem-", dir=shared if shared.is_dir() else None))
    yield folder
    shutil.rmtree(folder)


@pytest.fixture
def tell(record_property):
    """Put a line of counts into the summary at the end of the run."""
    return lambda line: record_property("measured", line)


def pytest_terminal_summary(terminalreporter: Any) -> None:
    """Print what the gates measured."""
    lines = [
        f"{Path(report.nodeid).name}: {line}"
        for reports in terminalreporter.stats.values()
        for report in reports
        if getattr(report, "when", None) == "call"
        for name, line in report.user_properties
        if name == "measured"
    ]
    if lines:
        terminalreporter.section(f"measured (seed {SEED})")
        for line in lines:
            terminalreporter.line(line)
