"""The README's examples run in an empty folder."""

from __future__ import annotations

from pathlib import Path

import pytest


@pytest.fixture(autouse=True)
def _examples_in_an_empty_folder(
    request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    if isinstance(request.node, pytest.DoctestItem):
        monkeypatch.chdir(tmp_path)
