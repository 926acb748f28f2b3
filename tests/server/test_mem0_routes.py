"""The routes of mem0's server: what its clients send, over the memories of the other routes."""

from __future__ import annotations

from pathlib import Path

import httpx2

from evimem.adapters.user_tokens import new_token
from tests.server.served import serving

SAID = {"messages": [{"role": "user", "content": "I adopted a puppy called Juno."}], "user_id": "vera", "infer": True}


def test_messages_are_added_found_listed_corrected_and_deleted(client: httpx2.Client) -> None:
    (added,) = client.post("/memories", json=SAID).json()["results"]
    (found,) = client.post("/search", json={"query": "puppy", "user_id": "vera"}).json()["results"]
    assert (found["id"], found["memory"]) == (added["id"], "I adopted a puppy called Juno.")
    assert client.post("/search", json={"query": "puppy", "filters": {"user_id": "vera"}}).json()["results"] == [found]
    place = f"/memories/{added['id']}"
    assert client.get(place).json()["memory"] == client.get(place.replace("=", "%3D")).json()["memory"]
    assert client.put(place, json={"text": "I adopted a puppy called Rex."}).status_code == 200
    assert [one["memory"] for one in client.get("/memories?user_id=vera").json()["results"]] == [
        "I adopted a puppy called Rex."
    ]
    history = client.get(f"{place}/history")
    assert (history.status_code, "there is no history" in history.json()["detail"]) == (410, True)
    assert client.delete(place).status_code == 200
    assert client.get(place).json()["title"] == "UnknownTurn"


def test_results_below_a_threshold_are_left_out_and_many_may_be_asked_for(client: httpx2.Client) -> None:
    client.post("/memories", json={**SAID, "user_id": "least"})
    asked = {"query": "puppy", "user_id": "least", "top_k": 1000}
    (found,) = client.post("/search", json={**asked, "threshold": 0}).json()["results"]
    assert client.post("/search", json={**asked, "threshold": found["score"]}).json()["results"] == [found]
    assert client.post("/search", json={**asked, "threshold": found["score"] + 0.01}).json()["results"] == []


def test_what_is_not_there_is_deleted_without_an_error_or_is_unknown(client: httpx2.Client) -> None:
    assert client.delete("/memories?user_id=never-seen").status_code == 200
    assert client.delete("/memories?user_id=never-seen&run_id=r").status_code == 200
    assert client.delete("/memories/user_id=never-seen/x").json()["title"] == "UnknownTurn"
    assert client.delete("/memories?user_id=").status_code == 422


def test_a_user_of_mem0_is_the_user_of_the_other_routes(client: httpx2.Client) -> None:
    client.post("/memories", json={**SAID, "user_id": "shared"})
    assert len(client.get("/v1/users/shared/turns").json()["turns"]) == 1
    client.post("/memories", json={**SAID, "user_id": None, "agent_id": "shared"})
    assert len(client.get("/v1/users/shared/turns").json()["turns"]) == 1
    assert client.delete("/memories?user_id=shared").status_code == 200
    assert client.get("/v1/users/shared/turns").json()["turns"] == []


def test_without_a_scope_or_with_what_evimem_has_not_nothing_is_done(client: httpx2.Client) -> None:
    assert client.post("/memories", json={"messages": "x"}).status_code == 403
    assert client.delete("/memories").status_code == 403
    assert client.post("/memories", json={**SAID, "expiration_date": "2030-01-01"}).status_code == 422
    assert client.post("/search", json={"query": "x", "filters": {"user_id": "a", "OR": []}}).status_code == 422
    assert client.get("/memories/unknown").status_code == 404


def test_a_token_opens_its_users_memories_however_a_client_sends_it(tmp_path: Path) -> None:
    file = tmp_path / "tokens"
    vera, omar, every = (new_token(file, user, "admin") for user in ("vera", "omar", "*"))
    with serving("--pool", tmp_path / "users", "--tokens", file) as served, served.client() as client:
        (added,) = client.post("/memories", json={**SAID, "user_id": None}, headers={"X-API-Key": vera}).json()[
            "results"
        ]
        for headers in ({"Authorization": f"Token {omar}"}, {"Authorization": f"Bearer {omar}"}):
            assert client.get(f"/memories/{added['id']}", headers=headers).status_code == 403
            assert client.get("/memories?user_id=vera", headers=headers).status_code == 403
            found = client.post(
                "/search", json={"query": "x", "filters": {"AND": [{"user_id": "vera"}]}}, headers=headers
            )
            assert found.status_code == 403
            assert client.get("/memories?run_id=r", headers=headers).json() == {"results": []}
        assert client.get("/memories?agent_id=a", headers={"X-API-Key": every}).status_code == 200
        assert client.post("/memories", json=SAID).status_code == 401
        assert client.post("/memories", content=b"no JSON").status_code == 401
        assert len(client.get("/memories?user_id=vera", headers={"X-API-Key": every}).json()["results"]) == 1
