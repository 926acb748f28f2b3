"""Pools for tests: one that is small, a visit, and the wait for what other threads do."""

import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from evimem import MemoryPool
from tests.reliability.support.world import EMBEDDER, EXTRACTOR

PATIENCE = 10.0  # seconds until a test gives up


def pool_at(root: Path, llm: Any = None, **own: Any) -> MemoryPool:
    parts = {"capacity": 1, "wait_seconds": PATIENCE, "embedder": EMBEDDER, "extractor": EXTRACTOR, **own}
    return MemoryPool(root, llm=llm, **parts)


def visit(pool: MemoryPool, user: str) -> int:
    with pool.open(user) as memory:
        return memory.stats().turns


def wait_until(so: Callable[[], bool]) -> None:
    deadline = time.monotonic() + PATIENCE
    while not so():
        assert time.monotonic() < deadline
        time.sleep(0.001)
