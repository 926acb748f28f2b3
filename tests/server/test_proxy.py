"""The proxy: the official client and raw requests, before a scripted service that speaks the same protocol."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx2
import openai
import pytest

import evimem
from evimem.adapters.user_tokens import new_token
from evimem.cli.arguments import run_command_line
from evimem.server.app import build_app
from evimem.server.proxy import Upstream
from tests.model_server import Fault, ModelServer
from tests.server.served import Served, serving

PUPPY = "I adopted a puppy called Juno."
ASKED = "What is my puppy called?"


@contextmanager
def proxied(folder: Path, model: ModelServer, *words: object) -> Iterator[Served]:
    """Serve the proxy of a scripted service."""
    with serving("--pool", folder / "users", "--proxy-to", model.url, *words) as served:
        yield served


def chat(served: Served, said: list[dict[str, Any]] | str, **headers: str) -> httpx2.Response:
    """Send a chat as a program does; `headers` are those of the proxy, such as user="mira"."""
    messages = [{"role": "user", "content": said}] if isinstance(said, str) else said
    named = {f"X-Evimem-{name}" if name != "memory" else "X-Evimem": value for name, value in headers.items()}
    with served.client() as client:
        return client.post("/v1/chat/completions", json={"model": "m", "messages": messages}, headers=named)


def said_to(served: Served, user: str) -> list[tuple[str, str]]:
    with served.client() as client:
        return [(one["speaker"], one["text"]) for one in client.get(f"/v1/users/{user}/turns").json()["turns"]]


def until_said(served: Served, user: str, turns: int) -> list[tuple[str, str]]:
    """Return what is stored of a user once it is so many turns: a reply is stored after it has gone out."""
    deadline = time.monotonic() + 30
    while len(said := said_to(served, user)) < turns and time.monotonic() < deadline:
        time.sleep(0.05)
    return said


def in_process(
    pool: evimem.MemoryPool, upstream: Upstream, talk: Callable[[httpx2.AsyncClient], Awaitable[None]]
) -> None:
    """Have a client talk to a proxy in this process."""
    app = build_app(pool, upstream=upstream)

    async def run() -> None:
        client = httpx2.AsyncClient(transport=httpx2.ASGITransport(app=app), base_url="http://127.0.0.1")
        async with app.router.lifespan_context(app), client:
            await talk(client)

    asyncio.run(run())


@pytest.fixture(scope="module")
def model() -> Iterator[ModelServer]:
    with ModelServer(then="Of course, noted.") as model:
        yield model


@pytest.fixture(scope="module")
def proxy(tmp_path_factory: pytest.TempPathFactory, model: ModelServer) -> Iterator[Served]:
    with proxied(tmp_path_factory.mktemp("proxied"), model) as served:
        yield served


def test_the_official_client_has_a_memory_by_another_base_url(proxy: Served, model: ModelServer) -> None:
    client = openai.OpenAI(base_url=f"{proxy.url}/v1", api_key="sk-upstream", default_headers={"X-Evimem-User": "ana"})
    with client:
        first = client.chat.completions.create(model="m", messages=[{"role": "user", "content": PUPPY}])
        assert first.choices[0].message.content == "Of course, noted."
        pieces = client.chat.completions.create(model="m", messages=[{"role": "user", "content": ASKED}], stream=True)
        assert "".join(piece.choices[0].delta.content or "" for piece in pieces) == "Of course, noted."
    sent = model.received[-1]
    (message,) = sent.body["messages"]
    assert message["role"] == "user"
    assert message["content"].startswith("<memory")
    assert PUPPY in message["content"]
    assert message["content"].endswith(f"</memory>\n\n{ASKED}")
    assert sent.headers["authorization"] == "Bearer sk-upstream"
    assert until_said(proxy, "ana", 4) == [
        ("user", PUPPY), ("assistant", "Of course, noted."), ("user", ASKED), ("assistant", "Of course, noted."),
    ]  # fmt: skip


@pytest.mark.parametrize("stream", [False, True])
def test_a_reply_comes_back_byte_for_byte_with_a_receipt(proxy: Served, model: ModelServer, stream: bool) -> None:
    body = {"model": "m", "messages": [{"role": "user", "content": PUPPY}], "stream": stream, "temperature": 1.0}
    direct = httpx2.post(f"{model.url}/chat/completions", json=body)
    with proxy.client() as client:
        passed = client.post("/v1/chat/completions", json={**body, "user": f"byte{stream}"})
    assert passed.content == direct.content
    assert passed.headers["content-type"] == direct.headers["content-type"]
    receipt = {name: value for name, value in passed.headers.items() if name.startswith("x-evimem")}
    assert receipt == {"x-evimem-turns": "0", "x-evimem-tokens": "0", "x-evimem-memory": "empty"}
    again = chat(proxy, ASKED, user=f"byte{stream}")
    assert (again.headers["x-evimem-turns"], again.headers["x-evimem-memory"]) == ("1", "recalled")
    assert 0 < int(again.headers["x-evimem-tokens"]) <= 1_500


def test_a_chat_that_is_imported_is_recalled_corrected_and_erased_while_the_proxy_runs(
    tmp_path: Path, model: ModelServer
) -> None:
    file = tmp_path / "chat.txt"
    file.write_text(
        "[25.03.24, 18:20:11] Mira: We adopted a puppy, she is called Juno.\n[25.03.24, 18:21:40] Tomas: Well done!\n"
    )
    with proxied(tmp_path, model, "--user", "mira") as served, served.client() as client:
        assert run_command_line(["ingest", str(tmp_path / "users"), str(file), "--user", "mira"]) == 0
        assert chat(served, ASKED).headers["x-evimem-memory"] == "recalled"
        assert "she is called Juno" in json.dumps(model.received[-1].body)
        (turn,) = client.get("/v1/users/mira/turns", params={"speaker": "Mira"}).json()["turns"]
        fixed = {"id": turn["id"], "text": "We adopted a puppy, she is called Nala."}
        assert client.patch("/v1/users/mira/turns", json=fixed).status_code == 200
        chat(served, "What is that puppy of mine called?")
        assert "she is called Nala" in json.dumps(model.received[-1].body)
        until_said(served, "mira", 6)
        assert client.delete("/v1/users/mira").json()["turns"] == 6
        assert not [path for path in (tmp_path / "users").rglob("*") if path.is_file() and b"Nala" in path.read_bytes()]


def test_what_is_said_is_stored_once_over_a_whole_conversation(proxy: Served) -> None:
    messages: list[dict[str, Any]] = [{"role": "system", "content": "Be brief."}]
    for number in range(6):
        messages.append({"role": "user", "content": f"Message {number} about my garden in Porto."})
        assert chat(proxy, messages, user="long").status_code == 200
        messages.append({"role": "assistant", "content": "Of course, noted."})
    assert until_said(proxy, "long", 12) == [(one["role"], one["content"]) for one in messages[1:]]


def test_a_conversation_that_its_program_cuts_stores_nothing_twice(proxy: Served) -> None:
    messages = []
    for number in range(6):
        messages.append({"role": "user", "content": f"Cut {number}: I repaired the boat."})
        chat(proxy, messages[-3:], user="cut")
        messages.append({"role": "assistant", "content": "Of course, noted."})
    assert until_said(proxy, "cut", 12) == [(one["role"], one["content"]) for one in messages]


@pytest.mark.parametrize(
    ("memory", "reads", "stored"), [("off", False, 0), ("read", True, 0), ("write", False, 2), ("on", True, 2)]
)
def test_a_header_says_how_far_the_memory_is_used(
    proxy: Served, model: ModelServer, memory: str, reads: bool, stored: int
) -> None:
    user = f"wish-{memory}"
    chat(proxy, PUPPY, user=user)
    before = len(until_said(proxy, user, 2))
    assert chat(proxy, ASKED, user=user, memory=memory).status_code == 200
    assert (PUPPY in json.dumps(model.received[-1].body)) == reads
    assert len(until_said(proxy, user, before + stored)) - before == stored


def test_no_name_and_no_key_of_evimem_goes_upstream_and_every_other_path_is_passed_on(
    proxy: Served, model: ModelServer
) -> None:
    chat(proxy, PUPPY, user="secret-name", token="secret-token", session="secret-session")
    assert "secret" not in json.dumps([model.received[-1].headers, model.received[-1].body])
    with proxy.client() as client:
        assert client.post("/v1/embeddings?x=1", json={"model": "m", "input": ["a"]}).status_code == 200
        assert model.received[-1].path == "/v1/embeddings?x=1"
        seen = len(model.received)
        assert client.put("/v1/users/mira/turns", json={}).status_code == 405
        assert client.post("/v1/users/mira/nothing", json={}).status_code == 404
        assert len(model.received) == seen


def test_a_failure_of_the_service_passes_through_and_its_retry_stores_once(tmp_path: Path) -> None:
    with ModelServer(*map(Fault, ("400", "429", "500")), then="Done.") as model, proxied(tmp_path, model) as served:
        for status in (400, 429, 500):
            failed = chat(served, PUPPY, user="mira")
            assert (failed.status_code, failed.json()["error"]["message"]) == (status, f"scripted {status}")
        assert chat(served, PUPPY, user="mira").status_code == 200
        assert until_said(served, "mira", 2) == [("user", PUPPY), ("assistant", "Done.")]


def test_a_memory_that_fails_does_not_fail_the_chat(tmp_path: Path) -> None:
    with ModelServer(then="Done.") as model, proxied(tmp_path, model, "--user", "mira") as served:
        assert chat(served, PUPPY).headers["x-evimem-memory"] == "empty"
        assert len(until_said(served, "mira", 2)) == 2
        (file,) = [path for path in (tmp_path / "users").rglob("*.evimem")]
        with evimem.open(file) as memory:
            assert memory.stats().turns == 2
        for path in file.parent.iterdir():
            path.unlink()
        file.mkdir()
        passed = chat(served, ASKED)
        assert (passed.status_code, passed.json()["choices"][0]["message"]["content"]) == (200, "Done.")
        assert passed.headers["x-evimem-error"]


def test_with_on_error_fail_a_chat_is_refused_where_its_memory_fails_and_the_service_hears_of_none(
    tmp_path: Path,
) -> None:
    with (
        ModelServer(then="Done.") as model,
        proxied(tmp_path, model, "--user", "mira", "--on-error", "fail") as served,
    ):
        assert chat(served, PUPPY).status_code == 200
        until_said(served, "mira", 2)
        (file,) = [path for path in (tmp_path / "users").rglob("*.evimem")]
        with evimem.open(file):  # so that the server opens it anew
            pass
        for path in file.parent.iterdir():
            path.unlink()
        file.mkdir()
        heard = len(model.received)
        refused = chat(served, ASKED)
        assert (refused.status_code, refused.json()["error"]["type"]) == (500, refused.headers["x-evimem-error"])
        assert str(tmp_path) not in refused.text
        assert len(model.received) == heard
        assert chat(served, ASKED, memory="off").status_code == 200


def test_a_service_that_cannot_be_reached_is_a_failure_and_nothing_is_stored(tmp_path: Path) -> None:
    nothing = Upstream("http://127.0.0.1:9/v1")

    async def talk(client: httpx2.AsyncClient) -> None:
        sent = {"model": "m", "messages": [{"role": "user", "content": "Hello"}], "user": "omar"}
        refused = await client.post("/v1/chat/completions", json=sent)
        assert (refused.status_code, "reached" in refused.json()["error"]["message"]) == (502, True)
        assert (await client.get("/v1/users/omar/turns")).json()["turns"] == []

    in_process(evimem.MemoryPool(tmp_path), nothing, talk)


def test_a_reply_that_breaks_off_breaks_off_for_the_client_and_is_kept_as_a_part(tmp_path: Path) -> None:
    body = {"model": "m", "messages": [{"role": "user", "content": ASKED}], "stream": True}
    faults = Fault("truncated", text="It is called Juno"), Fault("drip_body", text="Juno " * 100, seconds=0.001)
    with ModelServer(*faults) as model, proxied(tmp_path, model) as served, served.client() as client:
        with pytest.raises(httpx2.HTTPError):
            client.post("/v1/chat/completions", json={**body, "user": "mira"})
        with client.stream("POST", "/v1/chat/completions", json={**body, "user": "vera"}) as response:
            read = b""
            for piece in response.iter_raw():
                read += piece
                if read.count(b"Juno") >= 3:
                    break  # the program has gone
        for user, said in (("mira", "It is called Juno"), ("vera", "Juno Juno")):
            reply = _reply(client, user)
            assert reply["text"].startswith(said)
            assert json.loads(reply["metadata"]["message"])["partial"] is True
        assert len(reply["text"]) < 5 * 100


def _reply(client: httpx2.Client, user: str) -> dict[str, Any]:
    """Wait for the stored reply of a chat."""
    for _ in range(200):
        turns = client.get(f"/v1/users/{user}/turns", params={"role": "assistant"}).json()["turns"]
        if turns:
            return dict(turns[0])
        time.sleep(0.05)
    raise AssertionError("no reply was stored")


def test_with_tokens_the_token_says_whose_memory_it_is_and_the_key_stays_here(tmp_path: Path) -> None:
    file = tmp_path / "tokens"
    write, read = new_token(file, "vera", "write"), new_token(file, "vera", "read")
    with ModelServer(then="Done.") as model, proxied(tmp_path, model, "--tokens", file) as served:
        assert chat(served, PUPPY).status_code == 401
        assert chat(served, PUPPY, token=write, user="omar").status_code == 403
        assert chat(served, PUPPY, token=write).status_code == 200
        with served.client() as client:
            body = {"model": "m", "messages": [{"role": "user", "content": ASKED}], "user": "omar"}
            assert client.post(f"/p/vera/k/{read}/v1/chat/completions", json=body).status_code == 200
        assert PUPPY in json.dumps(model.received[-1].body)
        assert not [one for one in model.received if write in str(one) or read in str(one)]
        with served.client(read) as client:
            assert len(client.get("/v1/users/vera/turns").json()["turns"]) == 2


def test_the_key_of_the_service_may_stay_with_the_server(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("UPSTREAM_KEY", "sk-kept-here")
    file = tmp_path / "tokens"
    token = new_token(file, "vera", "write")
    words = ("--tokens", file, "--proxy-key-from", "UPSTREAM_KEY", "--profile", "system")
    with ModelServer(then="Done.") as model, proxied(tmp_path, model, *words) as served:
        with openai.OpenAI(base_url=f"{served.url}/v1", api_key=token) as client:
            system = {"role": "system", "content": "Be brief."}
            for said in (PUPPY, ASKED):
                client.chat.completions.create(model="m", messages=[system, {"role": "user", "content": said}])  # type: ignore[list-item,misc]
        assert model.received[-1].headers["authorization"] == "Bearer sk-kept-here"
        assert model.received[-1].body["messages"][0]["content"].startswith("Be brief.\n\n<memory")


def test_a_conversation_goes_on_after_midnight(tmp_path: Path, model: ModelServer) -> None:
    clock = [1_710_287_940.0]  # 12 March 2024, 23:59 UTC
    messages: list[dict[str, Any]] = [{"role": "user", "content": PUPPY}]

    async def talk(client: httpx2.AsyncClient) -> None:
        for said in (ASKED, "Thank you!"):
            await client.post("/v1/chat/completions", json={"model": "m", "messages": messages, "user": "mira"})
            messages.extend([{"role": "assistant", "content": "Of course, noted."}, {"role": "user", "content": said}])
            clock[0] += 120.0

    in_process(evimem.MemoryPool(tmp_path, clock=lambda: clock[0]), Upstream(model.url), talk)
    with evimem.MemoryPool(tmp_path) as again, again.open("mira") as memory:
        turns = [*memory.turns()]
        assert [turn.text for turn in turns] == [one["content"] for one in messages[:4]]
        assert len({turn.session for turn in turns}) == 1
