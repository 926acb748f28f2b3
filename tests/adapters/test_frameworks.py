"""Every night the adapters meet their frameworks as they are today, in environments of their own."""

import re
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

HERE = Path(__file__).parent


def run(script: str, *words: object) -> str:
    done = subprocess.run([HERE / script, *map(str, words)], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout[-4000:] + done.stderr[-4000:]
    return done.stdout


@pytest.mark.nightly
def test_the_adapters_work_with_the_frameworks_as_pip_installs_them_today(tmp_path):
    assert " passed" in run("run_frameworks", tmp_path / "env")


@contextmanager
def served(*words: object) -> Iterator[str]:
    """Start a server as a process; yield the URL that it names last on its first line of stderr."""
    command = [sys.executable, "-m", *map(str, words)]
    root = HERE.parents[1]
    with subprocess.Popen(command, stderr=subprocess.PIPE, stdin=subprocess.DEVNULL, text=True, cwd=root) as server:
        assert server.stderr is not None
        try:
            yield server.stderr.readline().split()[-1]
        finally:
            server.terminate()


@pytest.mark.nightly
def test_the_mcp_server_passes_the_official_conformance_suite_and_inspector(tmp_path):
    ours = ("evimem", "mcp", tmp_path / "m.evimem", "--http", "--port", "0")
    with served(*ours) as url:
        printed = run("run_conformance", tmp_path / "env", url)
    passed = [(int(ours), int(all_)) for ours, all_ in re.findall(r"Passed: (\d+)/(\d+)", printed)]
    assert len(passed) == 7
    assert sum(ours for ours, _ in passed) == sum(all_ for _, all_ in passed) == 9
    assert '"name": "explain"' in printed
    assert '"turns": 0' in printed
