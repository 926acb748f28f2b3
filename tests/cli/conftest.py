"""A command line to run: `cli("stats", path)` returns what main() returned and printed."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from evimem.__main__ import main
from tests.copies import copied


@dataclass(frozen=True)
class Ran:
    code: int
    out: str
    err: str

    @property
    def data(self) -> Any:
        return json.loads(self.out)


@pytest.fixture
def cli(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Callable[..., Ran]:
    monkeypatch.setenv("COLUMNS", "100")  # pages are wrapped at the width of whatever terminal runs the tests

    def run(*words: object) -> Ran:
        code = main([str(word) for word in words])
        printed = capsys.readouterr()
        return Ran(code, printed.out, printed.err)

    return run


@pytest.fixture(scope="session")
def friends(tmp_path_factory: pytest.TempPathFactory, friends_file: Path) -> Path:
    """A memory of the example, for tests that change nothing in it but its traces."""
    return copied(friends_file, tmp_path_factory.mktemp("cli") / "friends.evimem")
