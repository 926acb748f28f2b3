"""The OpenAPI document: it names every route, and requests that are made from it are answered as it says."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import httpx2
import pytest

from evimem.server.app import all_endpoints
from tests.server.served import Served
from tests.sizes import SEED

CONFIG = Path(__file__).with_name("schemathesis.toml")


def test_the_document_has_every_route_with_its_errors(client: httpx2.Client) -> None:
    document = client.get("/openapi.json").json()
    named = {one["operationId"] for path in document["paths"].values() for one in path.values()}
    assert named == {one.name for one in all_endpoints()}
    ask = document["paths"]["/v1/users/{user}/ask"]["post"]
    assert {"200", "401", "422", "429", "503", "504"} <= set(ask["responses"])
    assert set(ask["responses"]["200"]["content"]) == {"application/json", "text/event-stream"}


@pytest.mark.parametrize(
    ("phases", "operations", "examples"),
    [
        ("examples,coverage,fuzzing", ("forget",), 2),
        pytest.param("examples,coverage,fuzzing,stateful", (), 50, marks=pytest.mark.nightly),
    ],
)
def test_requests_made_from_the_document_are_answered_as_it_says(
    served: Served, tmp_path: Path, phases: str, operations: tuple[str, ...], examples: int
) -> None:
    command = [
        str(Path(sys.executable).with_name("schemathesis")), "--config-file", str(CONFIG), "run",
        f"{served.url}/openapi.json", "--phases", phases, "--max-examples", str(examples), "--seed", str(SEED),
        "--no-color", "--suppress-health-check", "filter_too_much",  # most made-up ids of mem0 have a "/"
    ]  # fmt: skip
    for one in operations:
        command += ["--include-operation-id", one]
    environment = {**os.environ, "PYTHONPATH": str(CONFIG.parents[2])}
    ran = subprocess.run(command, capture_output=True, text=True, check=False, cwd=tmp_path, env=environment)
    assert ran.returncode == 0, ran.stdout[-8_000:]
