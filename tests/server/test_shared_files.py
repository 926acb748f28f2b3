"""Files that workers share: counters are added up, and operations are seen and ended from any of them."""

from __future__ import annotations

import asyncio
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import orjson
import pytest

from evimem.server.metrics import Metrics
from evimem.server.operations import Operations
from evimem.server.problems import Refusal


def test_the_counters_of_all_workers_are_added_up(tmp_path: Path) -> None:
    mine = Metrics(tmp_path)
    mine.increment("evimem_answers_total", {"kind": "answer", "tier": "exact"}, 2)
    mine.time_request("/healthz", "GET", 200, 0.02)
    mine.write_counts()
    other = {'evimem_answers_total{kind="answer",tier="exact"}': 3, "evimem_turns_added_total": 5}
    (tmp_path / "1.metrics").write_bytes(orjson.dumps(other))
    (tmp_path / "2.metrics").write_bytes(b"half a fi")
    lines = mine.prometheus_text({"evimem_users": 7}).splitlines()
    assert 'evimem_answers_total{kind="answer",tier="exact"} 5' in lines
    assert "evimem_turns_added_total 5" in lines
    assert "evimem_users 7" in lines
    assert 'evimem_request_seconds_bucket{route="/healthz",method="GET",status="200",le="0.025"} 1' in lines
    assert not [line for line in lines if 'le="0.01"' in line]


def test_an_operation_is_ended_from_another_worker_before_its_next_batch(tmp_path: Path) -> None:
    done = []

    async def work(tell: Callable[[int], None]) -> dict[str, Any]:
        for batch in range(1_000):
            done.append(batch)
            tell(1)
            await asyncio.sleep(0.001)
        return {}

    async def run() -> dict[str, Any]:
        operations, other = Operations(tmp_path), Operations(tmp_path)
        name = operations.start("enrich", "mira", work)["id"]
        await asyncio.sleep(0.01)
        with pytest.raises(Refusal):
            other.cancel("omar", name)
        assert other.cancel("mira", name)["status"] == "running"
        await asyncio.gather(*operations.tasks)
        return other.read_state("mira", name)

    assert asyncio.run(run())["status"] == "cancelled"
    assert len(done) < 1_000


def test_an_operation_whose_worker_was_killed_has_failed(tmp_path: Path) -> None:
    async def start() -> str:
        operations = Operations(tmp_path)
        name = str(operations.start("import", "mira", lambda tell: asyncio.sleep(0, {}))["id"])
        await asyncio.gather(*operations.tasks)
        return name

    name = asyncio.run(start())
    gone = subprocess.run([sys.executable, "-c", "import os; print(os.getpid())"], capture_output=True, check=True)
    file = tmp_path / f"{name}.operation"
    file.write_bytes(orjson.dumps(orjson.loads(file.read_bytes()) | {"status": "running", "worker": int(gone.stdout)}))
    state = Operations(tmp_path).read_state("mira", name)
    assert (state["status"], state["problem"]["title"]) == ("failed", "WorkerEnded")
    with pytest.raises(Refusal):
        Operations(tmp_path).read_state("mira", "../../etc/passwd")
