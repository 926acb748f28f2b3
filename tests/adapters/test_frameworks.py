"""Every night the adapters meet their frameworks as they are today, in environments of their own."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

HERE = Path(__file__).parent


def run(script: str, *words: object) -> str:
    done = subprocess.run([HERE / script, *map(str, words)], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout[-4000:] + done.stderr[-4000:]
    return done.stdout


@pytest.mark.nightly
def test_the_adapters_work_with_the_frameworks_as_pip_installs_them_today(tmp_path: Path) -> None:
    assert " passed" in run("run_frameworks", tmp_path / "env")


@pytest.mark.nightly
def test_the_mcp_server_passes_the_official_conformance_suite(tmp_path: Path) -> None:
    serve = [sys.executable, "-m", "evimem", "mcp", str(tmp_path / "m.evimem"), "--http", "--port", "0"]
    with subprocess.Popen(serve, stderr=subprocess.PIPE, stdin=subprocess.DEVNULL, text=True) as server:
        assert server.stderr is not None
        url = server.stderr.readline().split()[-1]
        try:
            printed = run("run_conformance", tmp_path / "env", url)
        finally:
            server.terminate()
    passed = [(int(ours), int(all_)) for ours, all_ in re.findall(r"Passed: (\d+)/(\d+)", printed)]
    assert len(passed) == 7
    assert sum(ours for ours, _ in passed) == sum(all_ for _, all_ in passed) == 9
