"""Every code block of the README and of docs/ runs, in the order of its page, as a reader would run it."""

import json
import os
import re
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

import evimem
from evimem.loaders.examples import load_example
from tests.docs.blocks import ROOT, Block, Runner, blocks, extras, installed
from tests.docs.prepared import PREPARED
from tests.model_server import ModelServer
from tests.replies import SUPPORTED

PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
EXTRAS = extras()
NAMES = [path.relative_to(ROOT).as_posix() for path in PAGES]
MAX_NOT_RUN = 25
SERVICES = r"https?://(?:localhost|127\.0\.0\.1):\d+/v1|https://(?:api\.cohere\.com|models\.example)/v\d"
SERVER = r"postgresql://([\w]+)(?::[^@]*)?@db\.example/(\w+)(?:\?([^\s\"'`]*))?"
JUDGED = {"tier": "exact", "confidence": 0.9, "requirements": SUPPORTED, "gaps": [], "next_query": "", "reason": ""}
DRAFT = {"steps": [], "answer": "On 8 March 2024.", "citations": [{"id": "e1", "quote": ""}]}


def reply(body: Mapping[str, Any]) -> str:
    """Answer as a judge, as an answerer, or with no facts, whichever a request asks for."""
    system = body["messages"][0]["content"].splitlines()[0]
    if "tier" in system:
        return json.dumps(JUDGED)
    return json.dumps(DRAFT if "steps" in system else {"facts": []})


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """An empty working directory, and the environment as it was before at the end."""
    before = dict(os.environ)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "100")
    monkeypatch.setenv("OPENAI_API_KEY", "sk-of-a-test")
    yield tmp_path
    os.environ.clear()
    os.environ.update(before)


def superuser(address: str) -> Callable[[str], Any]:
    """Return what runs SQL as a superuser, in the database that the last `\\c` names."""
    import psycopg  # noqa: PLC0415 - pages without a server run without it

    home = address.rpartition("=")[2]
    database = "postgres"

    def run_sql(text: str) -> Any:
        nonlocal database
        row = None
        for part in text.split(";"):
            moved = re.search(r"\\c (\w+)", part)
            database = moved[1] if moved else database
            statement = re.sub(r"\\c \w+|--[^\n]*", "", part).strip()
            if statement:
                where = f"postgresql://postgres@/{database}?host={home}"
                with psycopg.connect(where, autocommit=True) as db:
                    held = db.execute(statement)
                    row = held.fetchone() if held.description else row
        return row

    return run_sql


@pytest.mark.parametrize("name", [name for path, name in zip(PAGES, NAMES, strict=True) if blocks(path)])
def test_the_blocks_of_a_page_run(name: str, place: Path, request: pytest.FixtureRequest) -> None:
    held = blocks(ROOT / name)
    running = [block for block in held if not block.marks.keys() & {"not run", "test"}]
    lacking = {one for block in running if (one := block.marks.get("needs")) and not installed(one)}
    server = request.getfixturevalue("postgres") if any("postgresql://" in one.text for one in running) else ""
    key: list[str] = []

    def run_sql(text: str) -> None:
        row = superuser_sql(text)
        key[:] = [str(row[0])] if row else key

    superuser_sql = superuser(server) if server else None
    PREPARED.get(name, lambda: None)()
    with ModelServer(then=reply, dimension=256) as model:
        os.environ["OPENAI_BASE_URL"] = model.url

        def rewrite(text: str) -> str:
            text = re.sub(SERVICES, model.url, text)
            home = server.rpartition("=")[2]
            if key:
                text = text.replace("KEY_OF_128_HEX_DIGITS", key[0])
            return re.sub(SERVER, lambda found: f"postgresql://{found[1]}@/{found[2]}?host={home}"
                          + (f"&{found[3]}" if found[3] else ""), text)  # fmt: skip

        runner = Runner(rewrite, run_sql, EXTRAS)
        try:
            for block in running:
                if block.marks.get("needs") not in lacking:
                    runner.run(block)
        finally:
            runner.close()
    if lacking:
        pytest.skip(f"not installed: {', '.join(sorted(lacking))}; tests/adapters and tests/encrypted run them")


def test_a_block_that_is_not_run_says_why_and_there_are_few() -> None:
    marked = [block for path in PAGES for block in blocks(path) if "not run" in block.marks]
    assert all(len(block.marks["not run"].split()) >= 3 for block in marked)
    assert len(marked) <= MAX_NOT_RUN


def test_every_block_names_its_language() -> None:
    assert [f"{one.page}:{one.line}" for path in PAGES for one in blocks(path) if not one.language] == []


@pytest.mark.parametrize(
    ("language", "text", "told"),
    [
        ("python", "raise ValueError(7)\n", "ValueError: 7"),
        ("python", ">>> 1 + 1\n3\n", "Expected"),
        ("sh", "evimem stats missing.evimem\n", "ended with"),
        ("sh", "pip install 'evimem[nothing]'\n", "no such extras"),
        ("sh", "evimem serve --poool x\n", "SystemExit"),
        ("sh", "frobnicate\n", "knows no"),
        ("json", "{", "JSONDecodeError"),
        ("toml", "a =", "TOMLDecodeError"),
    ],
)
def test_a_block_that_does_not_do_as_it_says_is_found(language: str, text: str, told: str, place: Path) -> None:
    runner = Runner(lambda text: text, lambda text: None, EXTRAS)
    with pytest.raises(AssertionError, match=told):
        runner.run(Block("page.md", 1, language, text, {}))


def test_the_model_server_replies_as_the_pages_expect(place: Path) -> None:
    with (
        ModelServer(then=reply) as model,
        evimem.open("m.evimem", llm=evimem.OpenAI("m", base_url=model.url)) as memory,
    ):
        memory.extend(load_example("friends"))
        assert memory.ask("When did Mira adopt her puppy?").text == "On 8 March 2024."
