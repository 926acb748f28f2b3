"""Tests of the adapters against the real frameworks, which are heavy: only where `../run_frameworks` installed them.

The nightly test `tests/adapters/test_frameworks.py` calls `run_frameworks`; the usual suite collects nothing here.
"""

from __future__ import annotations

import os
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest

import evimem

collect_ignore_glob = [] if "EVIMEM_FRAMEWORKS" in os.environ else ["test_*.py"]


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[evimem.Memory]:
    with evimem.open(tmp_path / "m.evimem") as memory:
        yield memory


@pytest.fixture
async def async_memory(tmp_path: Path) -> AsyncIterator[evimem.AsyncMemory]:
    async with evimem.open_async(tmp_path / "m.evimem") as memory:
        yield memory
