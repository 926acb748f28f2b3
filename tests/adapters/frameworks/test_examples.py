"""The examples that need a framework do what their first lines say, without a network."""

from __future__ import annotations

import io
import json
import runpy
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

import evimem
from tests.model_server import ModelServer

EXAMPLES = Path(__file__).parents[3] / "examples"


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Callable[..., str]:
    """Run a program of the folder against a server of scripted answers; return what it printed."""

    def run(name: str, server: ModelServer, *words: object, said: str) -> str:
        monkeypatch.setenv("OPENAI_BASE_URL", server.url)
        monkeypatch.setenv("OPENAI_API_KEY", "sk-of-a-test")
        monkeypatch.setattr(sys, "argv", [name, *map(str, words)])
        monkeypatch.setattr(sys, "stdin", io.StringIO(said))
        runpy.run_path(str(EXAMPLES / name), run_name="__main__")
        return capsys.readouterr().out

    return run


def test_a_graph_answers_from_what_an_earlier_run_said(tmp_path: Path, run: Callable[..., str]) -> None:
    path = tmp_path / "m.evimem"
    with ModelServer("A fine name.", "Ajax.") as server:
        assert run("langgraph_agent.py", server, path, said="My heron is called Ajax.\n") == "A fine name.\n"
        assert run("langgraph_agent.py", server, path, said="What is my heron called?\n") == "Ajax.\n"
        asked = server.received[1].body["messages"][-1]["content"]
    assert ": My heron is called Ajax.\n\nWhat is my heron called?" in asked


def test_an_agent_has_its_session_again_and_a_tool_for_the_others(tmp_path: Path, run: Callable[..., str]) -> None:
    path = tmp_path / "m.evimem"
    with ModelServer("A fine name.", "You said so.", "Ajax.") as server:
        run("agents_sdk.py", server, path, "morning", said="My heron is called Ajax.\n")
        assert run("agents_sdk.py", server, path, "morning", said="What did I say?\n") == "You said so.\n"
        run("agents_sdk.py", server, path, "evening", said="What is my heron called?\n")
        bodies = [one.body for one in server.received]
    assert [len(body["messages"]) for body in bodies] == [2, 4, 2]
    assert {tool["function"]["name"] for body in bodies for tool in body["tools"]} == {"recall"}
    assert "My heron is called Ajax." in json.dumps(bodies[1])
    with evimem.open(path) as memory:
        assert memory.stats().sessions == 2
