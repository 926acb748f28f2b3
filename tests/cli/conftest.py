"""A command line to run: `cli("stats", path)` returns what main() returned and printed."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from evimem.__main__ import main
from tests.command_line import Ran, runner
from tests.copies import copied


@pytest.fixture
def cli(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Callable[..., Ran]:
    return runner(main, capsys, monkeypatch)


@pytest.fixture(scope="session")
def friends(tmp_path_factory: pytest.TempPathFactory, friends_file: Path) -> Path:
    """A memory of the example, for tests that change nothing in it but its traces."""
    return copied(friends_file, tmp_path_factory.mktemp("cli") / "friends.evimem")
