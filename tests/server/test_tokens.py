"""A server with tokens: each opens one memory, or all, and allows what its scope says."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from evimem.adapters.user_tokens import new_token
from tests.server.served import Served, serving
from tests.server.test_rest import TURN, add


@pytest.fixture(scope="module")
def guarded(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Served, Path]]:
    """A server that asks for tokens and takes few requests a second, and the file of its tokens."""
    folder = tmp_path_factory.mktemp("guarded")
    file = folder / "tokens.txt"
    new_token(file, "nobody", "read")
    with serving("--pool", folder / "users", "--tokens", file, "--rate", 5) as served:
        yield served, file


def test_a_token_opens_the_memory_of_its_user_and_no_other(guarded: tuple[Served, Path]) -> None:
    served, file = guarded
    with served.client(new_token(file, "mira", "write")) as client:
        add(client, "mira", {})
        assert client.get("/v1/users/tomas/turns").status_code == 403
        assert client.request("DELETE", "/v1/users/mira").status_code == 403
        assert client.post("/v1/users/mira/forget", json={"everything": True}).json()["title"] == "Forbidden"
    with served.client(new_token(file, "mira", "read")) as client:
        assert len(client.get("/v1/users/mira/turns").json()["turns"]) == 1
        assert client.post("/v1/users/mira/turns", json={"turns": [TURN]}).status_code == 403
    with served.client(new_token(file, "*", "admin")) as client:
        assert len(client.get("/v1/users/mira/turns").json()["turns"]) == 1
        assert client.get("/v1/users/tomas/turns").status_code == 200
        assert client.post("/v1/users/mira/forget", json={"everything": True}).json()["turns"] == 1


def test_without_a_token_only_probes_are_answered_by_any_name(guarded: tuple[Served, Path]) -> None:
    served, _ = guarded
    for token in (None, "x", "x" * 10_000):
        with served.client(token) as client:
            refused = client.get("/v1/users/mira/turns")
            assert (refused.status_code, refused.headers["www-authenticate"]) == (401, 'Bearer realm="evimem"')
            for path in ("/healthz", "/readyz", "/version"):
                assert client.get(path, headers={"Host": "10.1.2.3"}).status_code == 200


def test_a_user_who_asks_too_often_waits_and_holds_up_no_other(guarded: tuple[Served, Path]) -> None:
    served, file = guarded
    with served.client(new_token(file, "busy", "read")) as client:
        answers = [client.get("/v1/users/busy/health") for _ in range(60)]
        assert {answer.status_code for answer in answers} == {200, 429}
        assert {answer.headers["retry-after"] for answer in answers if answer.status_code == 429} == {"1"}
    with served.client(new_token(file, "calm", "read")) as client:
        assert client.get("/v1/users/calm/health").status_code == 200


def test_the_explorer_shows_a_token_its_user_and_no_other(guarded: tuple[Served, Path]) -> None:
    served, file = guarded
    with served.client(new_token(file, "sofia", "write")) as client:
        add(client, "sofia", {})
        shown = client.get("/find.json", params={"q": "puppy", "user": "mira"})
        assert (shown.status_code, TURN["text"] in shown.text) == (200, True)
    with served.client(new_token(file, "omar", "read")) as client:
        assert TURN["text"] not in client.get("/find.json", params={"q": "puppy", "user": "sofia"}).text
    with served.client() as client:
        assert client.get("/find.json", params={"q": "puppy", "user": "sofia"}).status_code == 401
