"""The README's lines for a model do what they say, against a server that speaks the protocol."""

import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import evimem
from evimem.cli.arguments import parser
from tests.model_server import ModelServer
from tests.replies import SUPPORTED

README = Path(__file__).parent.parent / "README.md"
JUDGED = {"tier": "exact", "confidence": 0.9, "requirements": SUPPORTED, "gaps": [], "next_query": "", "reason": ""}
DRAFT = {"steps": [], "answer": "It is in Porto.", "citations": [{"id": "e1", "quote": ""}]}


def by_role(body: Mapping[str, Any]) -> str:
    system = body["messages"][0]["content"].splitlines()[0]
    if "tier" in system:
        return json.dumps(JUDGED)
    return json.dumps(DRAFT if "steps" in system else {"facts": []})


def test_the_section_about_models_runs_as_it_stands(tmp_path, monkeypatch):
    section = README.read_text(encoding="utf-8").partition("## With an LLM")[2].partition("\n## ")[0]
    (code,) = re.findall(r"```python\n(.*?)```", section, re.DOTALL)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("OPENAI_API_KEY", "sk-of-a-test")
    with evimem.open("alice.evimem") as memory:
        memory.add("Alice", "We moved into the house in Porto last month.", time="2024-03-12T18:20")
    with ModelServer(then=by_role) as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.url)
        assert code.count("base_url=") == 2
        names: dict[str, Any] = {"evimem": evimem}
        exec(re.sub(r"http://localhost:\d+/v1", server.url, code), names)
        assert names["answer"].text == "It is in Porto."
        assert [one.body["model"] for one in server.received if "messages" in one.body][:2] == ["my-model"] * 2
        assert names["piece"].usage.requests == 2


def test_what_the_page_says_of_the_command_line_is_understood():
    asked = ["ask", "m", "q", "--llm", "--model", "x", "--base-url", "http://localhost/v1", "--stream"]
    assert parser(asked).parse_args(asked).stream
    estimated = ["enrich", "m", "--llm", "--model", "x", "--dry-run"]
    assert parser(estimated).parse_args(estimated).dry_run
