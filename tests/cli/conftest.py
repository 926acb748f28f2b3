"""A command line to run: `cli("stats", path)` returns what main() returned and printed."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

import evimem
from evimem.__main__ import main
from evimem.loaders.examples import load_example


@dataclass(frozen=True)
class Ran:
    code: int
    out: str
    err: str

    @property
    def data(self) -> Any:
        return json.loads(self.out)


@pytest.fixture
def cli(capsys: pytest.CaptureFixture[str]) -> Callable[..., Ran]:
    def run(*words: object) -> Ran:
        code = main([str(word) for word in words])
        printed = capsys.readouterr()
        return Ran(code, printed.out, printed.err)

    return run


@pytest.fixture(scope="session")
def friends(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A memory of the example, for tests that only read it."""
    path = tmp_path_factory.mktemp("friends") / "friends.evimem"
    with evimem.open(path) as memory:
        memory.extend(load_example("friends"), strict=True)
    return path
