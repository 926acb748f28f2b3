"""The MCP server with the official client: over stdio and over HTTP, as processes that the command line starts."""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager, nullcontext
from pathlib import Path
from typing import Any
from urllib.parse import quote

import httpx2
import pytest
from mcp import Client, MCPError, StdioServerParameters
from mcp.client.streamable_http import create_mcp_http_client, streamable_http_client
from mcp.server.mcpserver import MCPServer

import evimem
from evimem.adapters.mcp_server import MemoryTools, Opening, build
from evimem.adapters.user_tokens import new_token

ADDED = {"speaker": "Mira", "text": "I adopted a puppy called Juno.", "time": "2024-03-12T18:20", "session": "s1"}
Session = Callable[[Client], Awaitable[None]]


def talk(server: Any, session: Session, **how: Any) -> None:
    """Connect the official client to a server and hold a session with it."""

    async def run() -> None:
        async with Client(server, **how) as client:
            await session(client)

    asyncio.run(run())


def command(*words: object) -> StdioServerParameters:
    return StdioServerParameters(command=sys.executable, args=["-m", "evimem", "mcp", *map(str, words)])


async def call(client: Client, tool: str, **arguments: Any) -> dict[str, Any]:
    done = await client.call_tool(tool, arguments)
    assert not done.is_error, done.content
    assert json.loads(done.content[0].text) == done.structured_content  # type: ignore[union-attr]
    assert done.structured_content is not None
    return done.structured_content


async def failure(client: Client, tool: str, **arguments: Any) -> str:
    done = await client.call_tool(tool, arguments)
    assert done.is_error
    return str(done.content[0].text)  # type: ignore[union-attr]


async def page(client: Client, uri: str) -> dict[str, Any]:
    read = await client.read_resource(uri)
    return dict(json.loads(read.contents[0].text))  # type: ignore[union-attr]


@asynccontextmanager
async def served(path: Path, **offered: Any) -> AsyncIterator[MCPServer[Any]]:
    async with evimem.open_async(path) as memory:
        yield build(MemoryTools(lambda user: nullcontext(memory), ""), **offered)


def in_process(path: Path, session: Session, mode: Any = "auto", **offered: Any) -> None:
    """Serve a memory to a client in this process: what the transports carry, without them."""

    async def run() -> None:
        async with served(path, **offered) as server, Client(server, mode=mode) as client:
            await session(client)

    asyncio.run(run())


def with_client(**offered: Any) -> Callable[[Session], Callable[[Path], None]]:
    """Make a test of what a client does with a server of an empty memory."""

    def made(session: Session) -> Callable[[Path], None]:
        return lambda tmp_path: in_process(tmp_path / "m.evimem", session, **offered)

    return made


def test_over_stdio_a_memory_is_filled_searched_asked_explained_and_forgotten(tmp_path: Path) -> None:
    async def session(client: Client) -> None:
        assert (await call(client, "add", **ADDED))["status"] == "added"
        now = await call(client, "add", speaker="Mira", text="We moved to Leeds.", session="s1")
        (best,) = (await call(client, "search", query="puppy", k=1))["turns"]
        assert (best["speaker"], best["text"]) == ("Mira", ADDED["text"])
        heard: list[str | None] = []

        async def hear(progress: float, total: float | None, message: str | None) -> None:
            heard.append(message)

        asked = await client.call_tool("ask", {"question": "What is Mira's puppy called?"}, progress_callback=hear)
        answer = asked.structured_content or {}
        assert (answer["abstained"], answer["citations"][0]["id"]) == (False, best["id"])
        assert any(line and line.startswith("searching") for line in heard)
        assert (await call(client, "explain"))["steps"][-1].partition(" ")[2] in heard
        assert len((await call(client, "explain", id=best["id"]))["context"]) == 1
        assert (await call(client, "forget", turns=[now["id"]]))["turns"] == 1
        assert (await call(client, "stats"))["turns"] == 1

    talk(command(tmp_path / "m.evimem", "--allow-forget"), session)
    with evimem.open(tmp_path / "m.evimem") as memory:
        assert [turn.text for turn in memory.turns()] == [ADDED["text"]]


@pytest.mark.parametrize("mode", ["auto", "legacy"])
def test_abstaining_is_an_answer_and_a_failure_is_an_error_with_its_sentence(tmp_path: Path, mode: str) -> None:
    async def session(client: Client) -> None:
        await call(client, "add", **ADDED)
        answer = await call(client, "ask", question="Which exhaust did Rasmus weld?")
        assert (answer["abstained"], answer["answer"]) == (True, None)
        assert "Rasmus" in answer["reason"]
        assert "UnknownTurn: no turn 'x'" in await failure(client, "explain", id="x")
        assert "InvalidQuery: before" in await failure(client, "search", query="puppy", before="soon")
        assert "TurnConflict" in await failure(client, "add", **{**ADDED, "text": "No.", "id": await first(client)})

    async def first(client: Client) -> str:
        return str((await call(client, "search", query="puppy"))["turns"][0]["id"])

    in_process(tmp_path / "m.evimem", session, mode)


@pytest.mark.parametrize("how", ["forgotten", "replaced"])
def test_what_the_last_answer_rested_on_is_not_shown_once_it_is_gone(tmp_path: Path, how: str) -> None:
    async def session(client: Client) -> None:
        assert "nothing was asked" in await failure(client, "explain")
        turn = (await call(client, "add", **ADDED))["id"]
        await call(client, "ask", question="What is Mira's puppy called?")
        with evimem.open(tmp_path / "m.evimem") as elsewhere:
            elsewhere.forget([turn]) if how == "forgotten" else elsewhere.update(turn, "I saw a ship.")
        assert "forgotten or replaced since" in await failure(client, "explain")

    in_process(tmp_path / "m.evimem", session)


def test_a_client_is_greeted_before_what_searches_and_answers_is_imported(tmp_path: Path) -> None:
    greets = (
        "import sys; from evimem.cli.arguments import make_parser; words = ['mcp', 'm.evimem'];"
        "make_parser(words).parse_args(words); from evimem.adapters.mcp_server import MemoryTools, build;"
        "build(MemoryTools(None, '')); print(*[name for name in sys.modules if name.startswith('evimem.')])"
    )
    done = subprocess.run([sys.executable, "-c", greets], capture_output=True, text=True, check=True)
    loaded = {name.split(".")[1] for name in done.stdout.split()}
    assert {"types", "errors", "adapters", "cli"} <= loaded
    assert loaded & {"api", "store", "loops", "offline", "times", "index"} == set()


def test_a_memory_that_cannot_be_opened_is_an_error_of_the_tool_and_tried_again(tmp_path: Path) -> None:
    path = tmp_path / "m.evimem"
    path.write_bytes(b"this is no memory " * 10)

    async def run() -> None:
        opening = Opening(lambda: evimem.open_async(path))
        async with Client(build(MemoryTools(opening.lend, ""))) as client:
            assert "NotAMemory: " in await failure(client, "stats")
            path.unlink()
            assert (await call(client, "stats"))["turns"] == 0
        await opening.close()

    asyncio.run(run())


def test_a_tool_is_offered_only_where_it_is_allowed(tmp_path: Path) -> None:
    def offered(**options: Any) -> set[str]:
        names: set[str] = set()

        async def session(client: Client) -> None:
            names.update(tool.name for tool in (await client.list_tools()).tools)

        in_process(tmp_path / "m.evimem", session, **options)
        return names

    reading = {"search", "recall", "profile", "ask", "explain", "stats"}
    assert offered() == reading | {"add"}
    assert offered(allow_forget=True) == reading | {"add", "forget"}
    assert offered(read_only=True, allow_forget=True, prefix="memory_") == {f"memory_{name}" for name in reading}


@with_client(allow_forget=True)
async def test_the_schemas_of_the_tools_are_small_and_say_which_of_them_write(client: Client) -> None:
    tools = {tool.name: tool for tool in (await client.list_tools()).tools}
    written = json.dumps([tool.model_dump(exclude_none=True, by_alias=True) for tool in tools.values()])
    assert len(tools) == 8
    assert len(written.encode()) <= 8_100
    assert all(tool.output_schema for tool in tools.values())
    writing = {name for name, tool in tools.items() if not (tool.annotations and tool.annotations.read_only_hint)}
    assert writing == {"add", "forget"}
    assert tools["forget"].annotations.destructive_hint  # type: ignore[union-attr]
    assert "never instructions" in (tools["search"].description or "")


@with_client()
async def test_resources_show_the_counts_a_turn_of_any_id_and_a_session(client: Client) -> None:
    odd = "../s 1:é/2?x#y"
    await call(client, "add", **{**ADDED, "id": odd, "session": "/etc/é"})
    assert (await page(client, "evimem://stats"))["turns"] == 1
    assert (await page(client, f"evimem://turn/{quote(odd, safe='')}"))["turn"]["id"] == odd
    assert [turn["id"] for turn in (await page(client, "evimem://session/%2Fetc%2F%C3%A9"))["turns"]] == [odd]
    for unknown in ("evimem://turn/x", "evimem://session/x"):
        with pytest.raises(MCPError, match="x"):
            await client.read_resource(unknown)


def test_a_question_that_is_none_is_refused_with_a_sentence_by_the_prompt_too(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    """Found by asking for the prompt of an empty question: "Internal server error", and a traceback in the log."""

    async def session(client: Client) -> None:
        for question in ("", "x" * 200_000):
            with pytest.raises(MCPError, match="InvalidQuery: the question"):
                await client.get_prompt("answer_from_memory", {"question": question})

    in_process(tmp_path / "m.evimem", session)
    assert "Traceback" not in capfd.readouterr().err


def test_a_crash_is_a_sentence_and_one_line_of_the_log(
    tmp_path: Path, capfd: pytest.CaptureFixture[str], caplog: pytest.LogCaptureFixture
) -> None:
    def crash(user: str) -> Any:
        raise KeyError("Mira's secret")

    async def session(client: Client) -> None:
        assert "stats failed with a KeyError; the server's log says where" in await failure(client, "stats")
        for request in (
            client.read_resource("evimem://stats"),
            client.get_prompt("answer_from_memory", {"question": "q"}),
        ):
            with pytest.raises(MCPError, match="failed with a KeyError"):
                await request

    talk(build(MemoryTools(crash, "")), session)
    logged = capfd.readouterr().err + caplog.text
    assert [record.message.count("test_mcp.py") for record in caplog.records if record.name == "evimem"] == [1, 1, 1]
    assert "Traceback" not in logged
    assert "secret" not in logged


@with_client()
async def test_the_prompt_holds_a_block_that_is_not_stored_again(client: Client) -> None:
    await call(client, "add", **ADDED)
    prompt = await client.get_prompt("answer_from_memory", {"question": "What is Mira's puppy called?"})
    text = prompt.messages[0].content.text  # type: ignore[union-attr]
    assert ": I adopted a puppy called Juno." in text
    assert prompt.messages[0].role == "user"
    block = text[: text.index("</memory>") + len("</memory>")]
    assert (await call(client, "add", speaker="user", text=block))["status"] == "dropped"


@contextmanager
def listening(folder: Path, *words: str) -> Iterator[str]:
    """Serve a pool over HTTP, as a process; yields its URL."""
    given = ["--pool", folder / "users", "--http", "--port", 0, "--tokens", folder / "tokens", *words]
    process = subprocess.Popen(
        [sys.executable, "-m", "evimem", "mcp", *map(str, given)],
        stderr=subprocess.PIPE, text=True, stdin=subprocess.DEVNULL,
    )  # fmt: skip
    assert process.stderr is not None
    yield process.stderr.readline().split()[-1]
    process.terminate()
    with process.stderr as printed:
        assert "Traceback" not in printed.read()
    assert process.wait(30) == 0, "SIGTERM is how a service ends"


@pytest.fixture(scope="module")
def pool(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Path, str]]:
    """A server over HTTP for a pool; yields its folder, with the token file, and its URL."""
    folder = tmp_path_factory.mktemp("pool")
    (folder / "tokens").touch()
    with listening(folder, "--allow-forget", "--public-url", "https://memory.example/mcp") as url:
        yield folder, url


def over_http(url: str, token: str, session: Session, mode: str = "auto") -> None:
    async def run() -> None:
        async with (
            create_mcp_http_client({"Authorization": f"Bearer {token}"}) as http,
            Client(streamable_http_client(url, http_client=http), mode=mode) as client,
        ):
            await session(client)

    asyncio.run(run())


@pytest.mark.parametrize("mode", ["auto", "legacy"])
def test_over_http_two_users_by_token_never_meet(pool: tuple[Path, str], mode: str) -> None:
    folder, url = pool
    seen = {}

    def session_of(name: str) -> Session:
        async def session(client: Client) -> None:
            await call(client, "add", speaker=name, text=f"The secret of {name} is a lurcher.", time="2024-03-12T18:20")
            found = await call(client, "search", query="secret lurcher")
            await call(client, "ask", question=f"What is the secret of {name}?")
            seen[name] = ({turn["speaker"] for turn in found["turns"]}, (await call(client, "explain"))["question"])

        return session

    for name in (f"Mira {mode}", f"Tomas {mode}"):
        over_http(url, new_token(folder / "tokens", name, "write"), session_of(name), mode)
    assert seen == {name: ({name}, f"What is the secret of {name}?") for name in seen}
    with evimem.MemoryPool(folder / "users") as users, users.open(f"Mira {mode}") as memory:
        assert memory.stats().turns == 1


def test_a_token_may_do_what_its_scope_says_and_no_more(pool: tuple[Path, str]) -> None:
    folder, url = pool

    async def reading(client: Client) -> None:
        assert (await call(client, "stats"))["turns"] == 0
        assert "needs the scope 'write'" in await failure(client, "add", **ADDED)

    async def writing(client: Client) -> None:
        turn = (await call(client, "add", **ADDED))["id"]
        assert "needs the scope 'admin'" in await failure(client, "forget", turns=[turn])

    async def clearing(client: Client) -> None:
        assert (await call(client, "forget", session="s1"))["turns"] == 1

    for scope, session in (("read", reading), ("write", writing), ("admin", clearing)):
        over_http(url, new_token(folder / "tokens", "Nadia", scope), session)  # type: ignore[arg-type]


def test_without_a_token_that_the_file_still_holds_nobody_comes_in(
    pool: tuple[Path, str],
) -> None:
    folder, url = pool
    body = {"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {}}
    accept = {"Accept": "application/json, text/event-stream"}
    token = new_token(folder / "tokens", "Omar", "read")
    lines = (folder / "tokens").read_text().splitlines()
    (folder / "tokens").write_text("\n".join(lines[:-1]) + "\n")
    for headers in ({}, {"Authorization": "Bearer no"}, {"Authorization": f"Bearer {token}"}):
        refused = httpx2.post(url, json=body, headers=accept | headers)
        assert refused.status_code == 401
        assert "resource_metadata" in refused.headers["WWW-Authenticate"]


@pytest.mark.parametrize(
    ("host", "status"), [("memory.example", 200), ("localhost:8765", 200), ("elsewhere.example", 421), ("", 421)]
)
def test_the_server_answers_to_the_names_it_is_known_by_and_to_no_others(
    pool: tuple[Path, str], host: str, status: int
) -> None:
    folder, url = pool
    token = new_token(folder / "tokens", "Mira", "read")
    hello = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "test", "version": "1"}}
    body = {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": hello}
    accept = {"Accept": "application/json, text/event-stream", "Host": host, "Authorization": f"Bearer {token}"}
    assert httpx2.post(url, json=body, headers=accept).status_code == status


def test_probes_are_answered_with_a_word_without_a_token_and_by_any_name(pool: tuple[Path, str]) -> None:
    folder, url = pool
    kept = (folder / "tokens").read_bytes()
    (folder / "tokens").write_text("no file of tokens")
    try:
        for path, word in (("healthz", "ok"), ("readyz", "ok"), ("version", evimem.__version__)):
            headers = {"Host": "10.1.2.3:8765", "Authorization": "Bearer wrong"}
            answer = httpx2.get(url.replace("/mcp", f"/{path}"), headers=headers)
            assert (answer.status_code, answer.text) == (200, word)
    finally:
        (folder / "tokens").write_bytes(kept)


def test_without_sessions_a_client_goes_on_with_another_replica_and_after_a_restart(tmp_path: Path) -> None:
    headers = {"Accept": "application/json, text/event-stream"}
    headers["Authorization"] = f"Bearer {new_token(tmp_path / 'tokens', 'Mira', 'write')}"

    def post(url: str, method: str, params: Any) -> str:
        body = {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}
        answer = httpx2.post(url, json=body, headers=headers)
        assert (answer.status_code, "mcp-session-id" in answer.headers) == (200, False)
        return answer.text

    hello = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "test", "version": "1"}}
    with listening(tmp_path, "--stateless") as one:
        post(one, "initialize", hello)
        with listening(tmp_path, "--stateless") as other:
            assert '"added' in post(other, "tools/call", {"name": "add", "arguments": ADDED})
            assert "Juno" in post(one, "tools/call", {"name": "search", "arguments": {"query": "puppy"}})
    with listening(tmp_path, "--stateless") as again:
        assert "Juno" in post(again, "tools/call", {"name": "search", "arguments": {"query": "puppy"}})


@with_client()
async def test_a_profile_is_what_the_user_said_of_themselves(client: Client) -> None:
    await call(client, "add", speaker="user", text="I work nights as a porter.")
    assert "I work nights as a porter." in (await call(client, "profile"))["text"]


@with_client()
async def test_recall_gives_lines_with_the_ids_of_their_turns_but_not_the_message_itself(client: Client) -> None:
    added = await call(client, "add", **ADDED)
    recalled = await call(client, "recall", message="What is Mira's puppy called?")
    assert "[1] Mira" in recalled["text"]
    assert recalled["ids"] == [added["id"]]
    await call(client, "add", speaker="Mira", text="And what is the puppy's name?")
    again = await call(client, "recall", message="And what is the puppy's name?")
    assert again["ids"] == [added["id"]]
    assert (await call(client, "recall", message="name of the puppy"))["ids"] == [added["id"]], "in other words"
    assert added["id"] in (await call(client, "recall", message="puppy"))["ids"], "a model decided to call it"


@with_client()
async def test_an_optional_argument_that_is_empty_counts_as_absent(client: Client) -> None:
    await call(client, "add", **ADDED, role="", id="")
    empty = {"session": "", "speaker": "", "after": "", "before": ""}
    assert (await call(client, "search", query="puppy", **empty))["turns"]


@with_client()
async def test_a_long_turn_is_found_by_its_passage_and_explained_in_full(client: Client) -> None:
    long = " ".join(f"On day {day} nothing at all happened in the garden." for day in range(200))
    await call(client, "add", **{**ADDED, "text": f"{long} Then the heron ate the koi. {long}"})
    (best,) = (await call(client, "search", query="heron koi"))["turns"]
    assert "heron" in best["text"]
    assert len(best["text"]) < len(long)
    assert len((await call(client, "explain", id=best["id"]))["turn"]["text"]) > 2 * len(long)


def test_two_servers_of_one_file_see_what_the_other_stored(tmp_path: Path) -> None:
    async def first(one: Client) -> None:
        async def second(other: Client) -> None:
            await call(other, "add", **ADDED)
            assert (await call(one, "search", query="puppy", k=1))["turns"][0]["text"] == ADDED["text"]
            await call(one, "add", speaker="Tomas", text="No! A lurcher?", time="2024-03-12T18:21")
            assert (await call(other, "stats"))["turns"] == 2

        async with served(tmp_path / "m.evimem") as server, Client(server) as other:
            await second(other)

    in_process(tmp_path / "m.evimem", first)
