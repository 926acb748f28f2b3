"""The routes of a user's memory, over HTTP."""

from __future__ import annotations

import json
import re
import subprocess
import sys
import time
from html import escape
from pathlib import Path
from typing import Any
from urllib.parse import quote

import httpx2
import pytest
from starlette.testclient import TestClient

import evimem
from evimem.api.async_memory import AsyncMemory
from evimem.server.app import build_app
from evimem.server.workers import shared_folder
from tests.server.served import serving

TURN = {"speaker": "Mira", "text": "I adopted a puppy called Juno.", "time": "2024-03-12T18:20:00Z", "session": "s1"}


def add(client: httpx2.Client, user: str, *turns: dict[str, Any], **also: Any) -> dict[str, Any]:
    answer = client.post(f"/v1/users/{user}/turns", json={"turns": [{**TURN, **one} for one in turns], **also})
    assert answer.status_code == 200, answer.text
    return dict(answer.json())


def ended(client: httpx2.Client, begun: httpx2.Response) -> dict[str, Any]:
    """Wait for an operation."""
    assert begun.status_code == 202, begun.text
    for _ in range(600):
        state = client.get(begun.headers["location"]).json()
        if state["status"] != "running":
            return dict(state)
        time.sleep(0.05)
    raise AssertionError(state)


def test_turns_are_stored_searched_quoted_asked_and_forgotten(client: httpx2.Client) -> None:
    (status,) = add(client, "mira", {})["statuses"]
    base = "/v1/users/mira"
    (hit,) = client.post(f"{base}/search", json={"query": "puppy"}).json()["hits"]
    assert (hit["turn"]["id"], hit["turn"]["text"], hit["parts"]) == (status["id"], TURN["text"], {})
    (hit,) = client.post(f"{base}/search", json={"query": "puppy", "explain": True}).json()["hits"]
    assert hit["score"] == pytest.approx(sum(hit["parts"].values()))
    block = client.post(f"{base}/block", json={"message": "What is my puppy called?", "max_tokens": 200}).json()
    assert TURN["text"] in block["text"]
    assert 0 < block["tokens"] <= 200
    answer = client.post(f"{base}/ask", json={"question": "What is Mira's puppy called?", "keep": True}).json()
    assert ("Juno" in answer["text"], answer["abstained"], answer["trace"]) == (True, False, None)
    assert client.get(f"{base}/traces/{answer['trace_number']}").json()["question"] == "What is Mira's puppy called?"
    assert client.post(f"{base}/forget", json={"turns": [status["id"]]}).json()["turns"] == 1
    assert client.get(f"{base}/stats").json()["turns"] == 0


def test_a_turn_without_a_time_is_said_now_and_messages_are_stored_once(client: httpx2.Client) -> None:
    turn = {"speaker": "Ana", "text": "We moved to Leeds."}
    assert client.post("/v1/users/ana/turns", json={"turns": [turn]}).json()["added"] == 1
    messages = [{"role": "user", "content": "Hello"}, {"role": "assistant", "content": "Hi"}]
    assert client.post("/v1/users/ana/messages", json={"messages": messages, "session": "c"}).json()["added"] == 2
    messages.append({"role": "user", "content": "Bye"})
    assert client.post("/v1/users/ana/messages", json={"messages": messages, "session": "c"}).json()["added"] == 1


def test_a_user_id_may_have_any_character_and_each_has_a_memory_alone(client: httpx2.Client) -> None:
    users = ["a/b", "a", "a%2Fb", "ü 漢?#", "*"]
    for user in users:
        add(client, quote(user, safe=""), {"text": f"I am {user}."})
    for user in users:
        turns = client.get(f"/v1/users/{quote(user, safe='')}/turns").json()["turns"]
        assert [turn["text"] for turn in turns] == [f"I am {user}."]


def test_pages_hold_every_turn_once_also_those_of_one_time(client: httpx2.Client) -> None:
    turns = [{"text": f"turn {n}", "time": f"2024-03-12T18:2{n // 5}:00Z", "id": f"t{n:02}"} for n in range(23)]
    add(client, "pages", *turns)
    seen, cursor = [], None
    while True:
        page = client.get("/v1/users/pages/turns", params={"limit": 4} | ({"cursor": cursor} if cursor else {})).json()
        assert len(page["turns"]) <= 4
        seen += [turn["id"] for turn in page["turns"]]
        if (cursor := page["cursor"]) is None:
            break
    assert seen == [turn["id"] for turn in turns]
    newest = client.get("/v1/users/pages/turns", params={"limit": 2, "newest": "true"}).json()["turns"]
    assert [turn["id"] for turn in newest] == ["t21", "t22"]
    assert [turn["id"] for turn in client.get("/v1/users/pages/turns?id=t03&id=t01").json()["turns"]] == ["t03", "t01"]


def test_filters_hold_for_turns_by_id_and_the_newest_after_a_cursor_are_new(client: httpx2.Client) -> None:
    turns = [{"text": f"turn {n}", "time": f"2024-03-12T18:2{n // 3}:00Z", "id": f"t{n}"} for n in range(9)]
    add(client, "both", *turns)
    base = "/v1/users/both/turns"
    cursor = client.get(base, params={"limit": 4}).json()["cursor"]

    def listed(**query: Any) -> list[str]:
        return [turn["id"] for turn in client.get(base, params=query).json()["turns"]]

    assert listed(cursor=cursor, newest="true", limit=8) == ["t4", "t5", "t6", "t7", "t8"]
    assert listed(cursor=cursor, newest="true", limit=2) == ["t7", "t8"]
    assert listed(id=["t8", "t1", "t4"], before="2024-03-12T18:22:00Z", after="2024-03-12T18:21:00Z") == ["t4"]
    assert listed(id=["t8"], speaker="Omar") == []
    assert listed(cursor="999999999999999999.0") == listed(cursor="0.999999") == []


def test_facts_are_listed_about_a_name_of_turns_or_a_page_at_a_time(client: httpx2.Client) -> None:
    add(client, "facts", {"id": "t1"}, {"id": "t2", "text": "Omar lives in Porto.", "time": "2024-03-13T08:00:00Z"})

    def listed(**query: Any) -> tuple[set[str], str | None]:
        page = client.get("/v1/users/facts/facts", params=query).json()
        return {fact["turn_id"] for fact in page["facts"]}, page["cursor"]

    assert listed() == ({"t1", "t2"}, None)
    first, cursor = listed(limit=1)
    assert (first, listed(cursor=cursor)) == ({"t1"}, ({"t2"}, None))
    assert listed(about="Omar") == listed(about="Omar", id=["t1", "t2"]) == ({"t2"}, None)
    assert listed(about="Omar", id="t1") == (set(), None)


def test_probabilities_are_fitted_to_labelled_questions_or_too_few_of_them_are_a_conflict(
    client: httpx2.Client,
) -> None:
    names = [
        f"{first}{last}" for first in ("Ana", "Bo", "Cy", "Dee", "Eli") for last in ("lor", "mir", "nat", "rik", "sum")
    ]
    add(client, "labels", *({"speaker": name, "text": f"I live in {name}ville.", "id": name} for name in names))
    questions = [{"question": f"Where does {name} live?", "answerable": True} for name in names]
    questions += [{"question": f"What is the dog of {name} called?", "answerable": False} for name in names]
    fitted = client.post("/v1/users/labels/calibrate", json={"questions": questions, "keep": False})
    assert (fitted.status_code, fitted.json()["questions"], fitted.json()["answerable"]) == (200, 50, 25)
    refused = client.post("/v1/users/no-turns/calibrate", json={"questions": questions})
    assert (refused.status_code, refused.json()["title"]) == (409, "NotCalibrated")


def test_each_loop_and_variant_that_is_listed_answers(client: httpx2.Client) -> None:
    add(client, "loops", {})
    asked = "What is Mira's puppy called?"
    listed = client.get("/v1/loops").json()["loops"]
    assert {one["kind"] for one in listed} == {"loop", "variant"}
    for one in listed:
        answer = client.post("/v1/users/loops/ask", json={"question": asked, "loop": one["name"]})
        assert answer.status_code == 200, (one, answer.text)


def test_the_routes_are_a_page_that_loads_nothing(client: httpx2.Client) -> None:
    page = client.get("/docs")
    document = client.get("/openapi.json").json()
    assert page.headers["content-security-policy"].startswith("default-src 'none'; base-uri 'none'")
    assert not re.search(r"<script|<link|<img|@import|url\(|src=", page.text)
    for path, methods in document["paths"].items():
        for method, one in methods.items():
            assert f"{method.upper()} {escape(path)}</code>" in page.text
            assert f'id="{one["operationId"]}"' in page.text


def test_a_turn_is_corrected_sessions_are_listed_and_a_profile_is_read(client: httpx2.Client) -> None:
    later = {"session": "s2", "time": "2024-03-14T08:00:00Z", "text": "Rain today."}
    first, _ = add(client, "edit", {}, later)["statuses"]
    fixed = client.patch("/v1/users/edit/turns", json={"id": first["id"], "text": "I adopted a puppy called Rex."})
    assert [one["outcome"] for one in fixed.json()["statuses"]] == ["replaced"]
    sessions = client.get("/v1/users/edit/sessions").json()["sessions"]
    assert [(one["session"], one["turns"]) for one in sessions] == [("s2", 1), ("s1", 1)]
    profile = client.get("/v1/users/edit/profile", params={"tokens": 200})
    assert (profile.status_code, profile.json()["tokens"] <= 200) == (200, True)
    assert client.patch("/v1/users/edit/turns", json={"id": "x", "text": "y"}).status_code == 404


def test_an_export_is_imported_under_another_user_in_the_background(client: httpx2.Client) -> None:
    add(client, "from", {}, {"text": "We moved to Leeds.", "id": "t2"})
    lines = client.get("/v1/users/from/export").content
    sent = {"Content-Type": "application/x-ndjson"}
    state = ended(client, client.post("/v1/users/to/import", content=lines, headers=sent))
    assert (state["status"], state["result"]["added"]) == ("done", 2)
    assert client.get("/v1/users/to/export").content == lines
    broken = ended(client, client.post("/v1/users/to/import", content=b"no export", headers=sent))
    assert (broken["status"], broken["problem"]["title"]) == ("failed", "ImportFailed")
    assert ended(client, client.post("/v1/users/to/enrich", json={}))["status"] == "done"
    place = client.post("/v1/users/to/enrich", json={}).headers["location"]
    assert client.get(place.replace("/to/", "/from/")).status_code == 404


def test_an_answer_is_streamed_as_events_that_end_with_it(client: httpx2.Client) -> None:
    add(client, "stream", {})
    asked = {"question": "What is Mira's puppy called?", "stream": True}
    with client.stream("POST", "/v1/users/stream/ask", json=asked) as response:
        assert response.headers["content-type"].startswith("text/event-stream")
        events = [part.split("\n") for part in response.read().decode().split("\n\n") if part.startswith("event")]
    names = [event[0].removeprefix("event: ") for event in events]
    assert (names[0], names[-1], names.count("answer")) == ("trace", "answer", 1)
    assert "Juno" in json.loads(events[-1][1].removeprefix("data: "))["text"]
    refused = client.post("/v1/users/stream/ask", json={**asked, "asked_at": "soon"})
    assert (refused.status_code, refused.json()["title"]) == (422, "InvalidQuery")


@pytest.mark.parametrize(
    ("method", "path", "body", "status", "title"),
    [
        ("POST", "search", {"query": ""}, 422, "InvalidQuery"),
        ("POST", "search", {"query": "x", "k": True}, 422, "InvalidQuery"),
        ("POST", "search", {"query": "x", "kk": 3}, 422, "InvalidQuery"),
        ("POST", "search", {"query": "x", "where": {"$or": []}}, 422, "InvalidQuery"),
        ("POST", "block", {"message": "x", "tokens": 1, "max_tokens": 1}, 422, "InvalidQuery"),
        ("POST", "block", {}, 422, "InvalidQuery"),
        ("POST", "ask", {"question": "x", "asked_at": "now", "query_timestamp": "now"}, 422, "InvalidQuery"),
        ("POST", "forget", {"session": "s", "speaker": "m"}, 422, "InvalidQuery"),
        ("POST", "forget", {"turns": ["x"]}, 404, "UnknownTurn"),
        ("GET", "turns?id=x", None, 404, "UnknownTurn"),
        ("GET", "turns?limit=0", None, 422, "InvalidQuery"),
        ("GET", "turns?cursor=x", None, 422, "InvalidQuery"),
        ("GET", "turns?limit=1&limit=2", None, 422, "InvalidQuery"),
        ("GET", "context", None, 422, "InvalidQuery"),
        ("GET", "traces/x", None, 422, "InvalidQuery"),
        ("GET", "operations/x", None, 404, "UnknownOperation"),
        ("PUT", "turns", None, 405, "MethodNotAllowed"),
        ("GET", "nothing", None, 404, "NotFound"),
    ],
)  # fmt: skip
def test_a_wrong_request_is_a_problem_document(
    client: httpx2.Client, method: str, path: str, body: Any, status: int, title: str
) -> None:
    answer = client.request(method, f"/v1/users/wrong/{path}", json=body)
    assert answer.headers["content-type"] == "application/problem+json"
    problem = answer.json()
    assert (answer.status_code, problem["status"], problem["title"]) == (status, status, title)
    assert isinstance(problem["detail"], str)


@pytest.mark.parametrize(
    ("content", "kind", "status"),
    [
        (b'{"query": ', "application/json", 400), (b'{"query": "\\ud800"}', "application/json", 422),
        (b'{"query": "x"}', "text/plain", 415), (b'{"query": NaN}', "application/json", 400),
        (b'{"query": "' + b"x" * (9 << 20) + b'"}', "application/json", 413),
    ],
)  # fmt: skip
def test_a_body_that_is_no_json_or_too_long_is_refused(
    client: httpx2.Client, content: bytes, kind: str, status: int
) -> None:
    answer = client.post("/v1/users/bad/search", content=content, headers={"Content-Type": kind})
    assert answer.status_code == status


def test_a_conflict_refuses_one_turn_and_replace_stores_it(client: httpx2.Client) -> None:
    add(client, "conflict", {"id": "t"})
    other = {"id": "t", "text": "Another text."}
    assert [one["outcome"] for one in add(client, "conflict", other)["statuses"]] == ["refused"]
    assert [one["outcome"] for one in add(client, "conflict", other, replace=True)["statuses"]] == ["replaced"]


def test_probes_and_metrics_name_no_user(client: httpx2.Client) -> None:
    add(client, "a-private-name", {})
    for path in ("/healthz", "/readyz", "/version"):
        assert client.get(path).status_code == 200
    text = client.get("/metrics").text
    assert 'evimem_request_seconds_count{route="/v1/users/{user}/turns",method="POST",status="200"}' in text
    assert "private" not in text


def test_a_web_page_of_another_name_does_not_reach_a_server_without_tokens(client: httpx2.Client) -> None:
    for headers in ({"Host": "evil.example"}, {"Origin": "http://evil.example"}, {"Origin": "null"}):
        assert client.get("/v1/users/mira/turns", headers=headers).status_code == 403
    assert client.get("/healthz", headers={"Host": "10.1.2.3:8766"}).status_code == 200


def test_a_user_is_erased(client: httpx2.Client) -> None:
    add(client, "gone", {})
    assert client.delete("/v1/users/gone").json()["turns"] == 1
    assert client.get("/v1/users/gone/turns").json()["turns"] == []


def test_a_server_forgets_turns_that_are_older_than_they_are_kept(tmp_path: Path) -> None:
    new, old = {"id": "new", "time": "2999-01-01T00:00:00Z"}, {"id": "old", "time": "2024-03-12T18:20:00Z"}
    with serving("--pool", tmp_path / "users") as served, served.client() as client:
        add(client, "mira", old, new)
    with serving("--pool", tmp_path / "users", "--retain", "365d") as served, served.client() as client:
        assert [one["id"] for one in client.get("/v1/users/mira/turns").json()["turns"]] == ["new"]
    with serving("--pool", tmp_path / "users") as served, served.client() as client:
        assert client.get("/v1/users/mira/turns", params={"id": "old"}).status_code == 404


def test_a_server_whose_folder_is_gone_is_alive_and_not_ready(tmp_path: Path) -> None:
    with serving("--pool", tmp_path / "users") as served, served.client() as client:
        assert client.get("/readyz").status_code == 200
        (tmp_path / "users").rename(tmp_path / "moved")
        assert client.get("/readyz").json() == {"status": "unavailable"}
        assert client.get("/healthz").status_code == 200


def test_the_next_server_removes_what_a_killed_one_left_in_its_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    ended = subprocess.run([sys.executable, "-c", "import os; print(os.getpid())"], capture_output=True, check=True)
    left = tmp_path / f"evimem-serve-{int(ended.stdout)}-x"
    left.mkdir()
    (left / "upload.import").write_text(TURN["text"])
    with shared_folder() as running, shared_folder() as folder:
        assert folder.stat().st_mode & 0o77 == 0
        assert sorted(tmp_path.iterdir()) == sorted([running, folder])
    assert [*tmp_path.iterdir()] == []


def test_memories_may_stand_on_a_postgresql_server(postgres: str) -> None:
    with serving("--pool", postgres, "--workers", 2) as served, served.client() as client:
        add(client, "served-1", {})
        (hit,) = client.post("/v1/users/served-1/search", json={"query": "puppy"}).json()["hits"]
        assert hit["turn"]["text"] == TURN["text"]
        assert client.get("/v1/users/served-2/turns").json()["turns"] == []
        assert client.get("/readyz").json() == {"status": "ok"}
        assert client.delete("/v1/users/served-1").json()["turns"] == 1


def test_an_answer_is_not_lost_where_its_trace_cannot_be_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object) -> None:
        raise evimem.DiskFull("no room")

    app = build_app(evimem.MemoryPool(tmp_path))
    with TestClient(app, base_url="http://127.0.0.1") as client:
        client.post("/v1/users/mira/turns", json={"turns": [TURN]})
        monkeypatch.setattr(AsyncMemory, "keep_trace", full)
        asked = {"question": "What is Mira's puppy called?", "keep": True}
        answer = client.post("/v1/users/mira/ask", json=asked).json()
        assert ("Juno" in answer["text"], answer["trace_number"]) == (True, None)
        streamed = client.post("/v1/users/mira/ask", json={**asked, "stream": True}).text
        assert ("event: answer" in streamed, "event: error" in streamed) == (True, False)
