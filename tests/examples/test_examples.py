"""Each program in examples/ does what its first lines say, without a network; and none is longer than a page."""

import importlib
import io
import json
import runpy
import sys
from importlib.resources import files
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient

import evimem
import evimem.loaders.examples
from evimem.cli.arguments import make_parser
from evimem.embedding import count_tokens
from evimem.loaders.examples import load_example
from tests.model_server import ModelServer

EXAMPLES = Path(__file__).parents[2] / "examples"
CHATS = files(evimem.loaders.examples)


@pytest.fixture
def run(monkeypatch, capsys):
    """Run a program of the folder as a script, without the start of an interpreter; return what it printed."""

    def run(name: str, *words: object, said: str = "") -> str:
        monkeypatch.setattr(sys, "argv", [name, *map(str, words)])
        monkeypatch.setattr(sys, "stdin", io.StringIO(said))
        code: object = None
        try:
            runpy.run_path(str(EXAMPLES / name), run_name="__main__")
        except SystemExit as stop:
            code = stop.code
        printed = capsys.readouterr()
        assert (code or 0, printed.err) == (0, ""), printed.out
        return printed.out

    return run


def test_no_example_is_longer_than_a_page_and_the_list_names_them_all():
    programs = [path for path in EXAMPLES.iterdir() if path.suffix in {".py", ".json"}]
    assert len(programs) == 9
    assert [path.name for path in programs if len(path.read_text().splitlines()) > 60] == []
    listed = (EXAMPLES / "README.md").read_text()
    assert [path.name for path in programs if f"]({path.name})" not in listed] == []


def test_memr3_searches_an_index_of_another_library_by_chunks_of_whole_turns(tmp_path, run, monkeypatch):
    ferry, dog = "The ferry was late by {} minutes. " * 9, "Tomas looks after the dog this week."
    with evimem.open(tmp_path / "m.evimem") as memory:
        for place in range(40):
            about = dog if place == 7 else ferry.format(*[place] * 9)
            memory.add("MN"[place % 2], about, time=f"2024-03-12T18:{place:02}", session="s")
    told = {"requirements": [], "gaps": [], "reason": "", "query": "", "claims": [], "withdrawn": []}
    decided = {**told, "tier": "exact", "confidence": 0.9, "action": "answer", "draft": "Tomas"}
    worded = {"steps": [], "answerable": True, "answer": "Tomas", "citations": [{"id": "e1", "quote": ""}]}
    with ModelServer(then=lambda asked: json.dumps(worded if "fields steps" in str(asked) else decided)) as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.url)
        monkeypatch.setenv("OPENAI_API_KEY", "sk-of-a-test")
        printed = run("chunk_index.py", tmp_path / "m.evimem", "Who looks after the dog?")
    assert printed.startswith("Tomas")
    assert "searched for: Who looks after the dog?" in printed
    assert dog in str(server.received[0].body)
    made = runpy.run_path(str(EXAMPLES / "chunk_index.py"))
    with evimem.open(tmp_path / "m.evimem") as memory:
        turns = list(memory.turns())
    chunks = list(made["chunks"](turns))
    assert 1 < len(chunks) < 40
    assert max(count_tokens(chunk.text) for chunk in chunks) <= made["SIZE"]
    assert "\n".join(chunk.text for chunk in chunks) == "\n".join(f"{one.speaker}: {one.text}" for one in turns)
    first, second = (made["Reranked"](chunks).search("dog", 1, exclude=ids) for ids in ((), [chunks[0].id]))
    assert len(first) == len(second) == 1


def test_a_loop_of_ones_own_searches_for_the_question_in_other_words(tmp_path, run, monkeypatch):
    path, question, words = tmp_path / "m.evimem", "Who minds the hound?", "Who looks after the dog?"
    with evimem.open(path) as memory:
        memory.add("Mira", "Tomas looks after the dog this week.", time="2024-03-12T18:20")
    verdict = {"tier": "exact", "confidence": 0.9, "requirements": [], "gaps": [], "next_query": "", "reason": ""}
    worded = {"steps": [], "answer": "Tomas", "citations": [{"id": "e1", "quote": ""}]}
    with ModelServer(words, json.dumps(verdict), json.dumps(worded)) as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.url)
        monkeypatch.setenv("OPENAI_API_KEY", "sk-of-a-test")
        printed = run("own_loop.py", path, question)
    assert printed.startswith("Tomas\n")
    assert printed.endswith(f"searched for: {question}\nsearched for: {words}\n")


def test_the_chatbot_remembers_what_was_said_in_an_earlier_conversation(tmp_path, run, monkeypatch):
    with ModelServer("A fine name.", "Good night.", "Ajax.") as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.url)
        monkeypatch.setenv("OPENAI_API_KEY", "sk-of-a-test")
        path = tmp_path / "mira.evimem"
        run("chatbot.py", path, said="My heron is called Ajax.\nGood night!\n")
        assert run("chatbot.py", path, said="What is my heron called?\n") == "Ajax.\n"
        messages: list[Any] = [one.body["messages"] for one in server.received]
    assert [message["content"] for message in messages[1]][1:] == [
        "My heron is called Ajax.",
        "A fine name.",
        "Good night!",
    ]
    assert ": My heron is called Ajax." in messages[2][-1]["content"]
    assert messages[2][-1]["content"].endswith("\n\nWhat is my heron called?")
    with evimem.open(path) as memory:
        assert [turn.text for turn in memory.turns()][-2:] == ["What is my heron called?", "Ajax."]
        assert memory.stats().turns == 6


def test_the_backend_keeps_users_apart_and_works_off_jobs(tmp_path, monkeypatch):
    monkeypatch.setenv("USERS", str(tmp_path / "users"))
    monkeypatch.syspath_prepend(EXAMPLES)
    backend = importlib.import_module("backend")
    moved = {"role": "user", "content": "I moved to Porto.", "created_at": "2024-03-12T18:20:00Z"}
    said = {"session": "s1", "messages": [moved]}
    with TestClient(backend.app) as client:
        assert client.post("/users/mira/messages", json=said).json() == {"added": 1}
        assert client.post("/users/mira/messages", json=said).json() == {"added": 0}
        found = client.get("/users/mira/block", params={"question": "Where do I live?"}).json()
        assert ": I moved to Porto." in found["text"]
        assert client.get("/users/tomas/block", params={"question": "Where do I live?"}).json()["text"] == ""
        while not client.app.state.changed.empty():
            client.get("/users/tomas/block", params={"question": "Who?"})
    with evimem.MemoryPool(tmp_path / "users") as pool, pool.open("mira") as memory:
        assert memory.health().status == "ok"


def test_the_configuration_names_a_command_line_that_is_understood():
    servers = json.loads((EXAMPLES / "mcp.json").read_text())["mcpServers"]
    local = servers["memory"]
    assert local["command"] == "evimem"
    options = make_parser(local["args"]).parse_args(local["args"])
    assert (options.command, options.path.suffix) == ("mcp", ".evimem")
    assert servers["memory-of-the-team"]["url"].endswith("/mcp")


def test_a_memory_is_built_from_files_and_a_second_run_adds_nothing(tmp_path, run):
    lines = (CHATS / "friends.jsonl").read_bytes().splitlines(keepends=True)
    chats = [tmp_path / "old.jsonl", tmp_path / "new.jsonl"]
    for chat, part in zip(chats, (lines[:30], lines[20:40]), strict=True):
        chat.write_bytes(b"".join(part))
    first = run("build_offline.py", tmp_path / "m.evimem", *chats)
    assert "old.jsonl: 30 added, 0 known" in first
    assert "new.jsonl: 10 added, 10 known" in first
    assert "40 turns of " in first
    assert first.endswith("; ok\n")
    assert "new.jsonl: 0 added, 20 known" in run("build_offline.py", tmp_path / "m.evimem", *chats)


def test_calibrating_says_what_it_fitted_and_answers_by_it(tmp_path, run):
    path, labelled = tmp_path / "m.evimem", tmp_path / "questions.jsonl"
    with evimem.open(path) as memory:
        memory.extend(load_example("friends")[:60], strict=True)
    rows = (CHATS / "friends.questions.jsonl").read_text().splitlines()
    untold = [row for row in rows if json.loads(row)["answer"] is None]
    labelled.write_text("\n".join([*(row for row in rows if row not in untold)][:36] + untold[:16]))
    printed = run("calibrate.py", path, labelled)
    assert "fitted to 52 questions" in printed
    with evimem.open(path) as memory:
        fitted = memory.calibration()
        assert fitted is not None
        assert f"abstains below {fitted.abstain_below:.2f}" in printed
