"""The command line of the benchmarks: `bench("locomo", path)`."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from benchmarks.__main__ import main
from tests.command_line import Ran, runner


@pytest.fixture
def bench(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Callable[..., Ran]:
    return runner(main, capsys, monkeypatch)
