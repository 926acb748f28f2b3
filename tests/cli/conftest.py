"""A command line to run: `cli("stats", path)` returns what main() returned and printed."""

import pytest

from evimem.__main__ import main
from tests.command_line import runner
from tests.copies import copied


@pytest.fixture
def cli(capsys, monkeypatch):
    return runner(main, capsys, monkeypatch)


@pytest.fixture(scope="session")
def friends(tmp_path_factory, friends_file):
    """A memory of the example, for tests that change nothing in it but its traces."""
    return copied(friends_file, tmp_path_factory.mktemp("cli") / "friends.evimem")
