"""A closed memory gives the system back its room, although what is still used lies between."""

import os
from datetime import datetime
from pathlib import Path

import numpy as np
import pytest

import evimem
from evimem.store import handle
from tests.reliability.support.children import in_child

STATM = Path("/proc/self/statm")


def resident() -> float:
    """Return the MB of this process that lie in memory."""
    return int(STATM.read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE") / 2**20


@pytest.mark.skipif(not STATM.exists() or handle._trim() is None, reason="needs /proc and glibc")
def test_closing_a_memory_gives_back_freed_room_between_used_one(tmp_path):
    def work() -> float:
        with evimem.open(tmp_path / "m.evimem") as memory:
            memory.add("Mira", "I like green tea.", time=datetime(2024, 3, 1))
            freed, used = [], []
            for _ in range(2_000):
                freed.append(np.ones(2_500))
                used.append(np.ones(200))
            freed.clear()
            before = resident()
        assert len(used) == 2_000
        return before - resident()

    assert in_child(work) > 20
