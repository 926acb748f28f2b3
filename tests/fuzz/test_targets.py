"""What is fuzzed holds for the inputs that fuzzing begins with, for these with a byte changed, and for what it found.

`run.py` is the long search, by coverage; this keeps its targets working.
"""

from __future__ import annotations

from pathlib import Path
from random import Random

import pytest

from tests.fuzz.targets import TARGETS, Fuzzed

CHANGED = {"import": 4, "loaders": 200, "mark": 30, "database": 5}  # inputs, by what one costs


def spoilt(data: bytes, random: Random) -> bytes:
    """Change, insert or drop a byte or two."""
    changed = bytearray(data)
    for _ in range(random.randint(1, 2)):
        at = random.randrange(len(changed) + 1)
        changed[at : at + random.randint(0, 1)] = bytes(random.randrange(256) for _ in range(random.randint(0, 1)))
    return bytes(changed)


@pytest.fixture(params=TARGETS)
def fuzzed(request: pytest.FixtureRequest, tmp_path: Path) -> tuple[str, Fuzzed]:
    return request.param, TARGETS[request.param](tmp_path)


def test_a_target_holds_for_its_seeds_and_for_spoilt_ones(fuzzed: tuple[str, Fuzzed]) -> None:
    name, one = fuzzed
    random = Random(name)
    for seed in one.seeds:
        one.target(seed)
    for _ in range(CHANGED[name]):
        one.target(spoilt(random.choice(one.seeds), random))
