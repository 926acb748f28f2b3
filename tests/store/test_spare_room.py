"""A closed memory gives the system back its room, although what is still used lies between."""

import subprocess
import sys
from pathlib import Path

import pytest

from evimem.store import handle

# A process of its own: in one that has run other tests, what is used may lie in old holes and what is freed in one
# piece at the end, which the C library gives back by itself before anything is closed.
WORK = """
import os, sys
from datetime import datetime
import numpy as np
import evimem

def resident():
    return int(open("/proc/self/statm").read().split()[1]) * os.sysconf("SC_PAGE_SIZE") / 2**20

with evimem.open(sys.argv[1]) as memory:
    memory.add("Mira", "I like green tea.", time=datetime(2024, 3, 1))
    freed, used = [], []
    for _ in range(2_000):
        freed.append(np.ones(2_500))
        used.append(np.ones(200))
    freed.clear()
    before = resident()
print(before - resident())
"""


@pytest.mark.skipif(not Path("/proc/self/statm").exists() or handle.TRIM is None, reason="needs /proc and malloc_trim")
def test_closing_a_memory_gives_back_freed_room_between_used_one(tmp_path):
    command = [sys.executable, "-c", WORK, tmp_path / "m.evimem"]
    ran = subprocess.run(command, capture_output=True, text=True, check=True)
    assert float(ran.stdout) > 20
