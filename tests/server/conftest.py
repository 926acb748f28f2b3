"""One server for all tests of its routes: each uses users of its own."""

from __future__ import annotations

from collections.abc import Iterator

import httpx2
import pytest

from tests.server.served import Served, serving


@pytest.fixture(scope="session")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """A server without tokens."""
    with serving("--pool", tmp_path_factory.mktemp("users")) as served:
        yield served


@pytest.fixture
def client(served: Served) -> Iterator[httpx2.Client]:
    """A client of that server."""
    with served.client() as client:
        yield client
