"""The command line of the benchmarks: `bench("locomo", path)`."""

import pytest

from benchmarks.__main__ import main
from tests.command_line import runner


@pytest.fixture
def bench(capsys, monkeypatch):
    return runner(main, capsys, monkeypatch)
