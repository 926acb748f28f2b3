"""Official clients of other versions and languages, which are installed for it, have a memory through the proxy."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.model_server import ModelServer
from tests.server.test_proxy import ASKED, PUPPY, proxied, until_said

RUN = Path(__file__).with_name("run_clients")


@pytest.mark.nightly
@pytest.mark.timeout(900)
def test_three_versions_of_the_openai_package_and_the_ai_sdk_chat_with_a_memory(tmp_path: Path) -> None:
    with ModelServer(then="Of course, noted.") as model, proxied(tmp_path, model) as served:
        ran = subprocess.run(
            [RUN, tmp_path / "clients", f"{served.url}/v1"],
            capture_output=True, text=True, check=False, env={**os.environ, "PYTHON": sys.executable},
        )  # fmt: skip
        assert ran.returncode == 0, ran.stderr
        got = [json.loads(line) for line in ran.stdout.splitlines()]
        assert got == [["Of course, noted.", "Of course, noted."]] * 4
        for client in ("openai-1", "openai-2", "openai-3", "ai-sdk"):
            said = [text for _, text in until_said(served, client, 4)]
            assert said == [PUPPY, "Of course, noted.", ASKED, "Of course, noted."]
        asked = [json.dumps(one.body) for one in model.received if ASKED in json.dumps(one.body)]
        assert len(asked) == 4
        assert all(PUPPY in body for body in asked)
