import json

import pytest

import evimem
from evimem.cli.exit_codes import Exit
from evimem.examples import load_example
from evimem.testing import Fault, ModelServer

JUDGED = json.dumps(
    {"tier": "exact", "confidence": 0.95, "requirements": [], "gaps": [], "next_query": "", "reason": "it is said"}
)
QUESTION = "When did Mira adopt her puppy?"


@pytest.fixture(autouse=True)
def key(monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "sk-never-sent-there")
    monkeypatch.setenv("MY_KEY", "sk-mine")


def by_model(body):
    """Play judge or answerer by the model's name."""
    if body["model"] == "the-judge":
        return JUDGED
    return json.dumps({"steps": [], "answer": "On 8 March 2024.", "citations": [{"id": "t1", "quote": "puppy"}]})


def test_a_model_judges_and_answers_when_asked_for(cli, friends):
    with ModelServer(then=by_model) as server:
        options = ("--llm", "--model", "the-answerer", "--judge-model", "the-judge", "--base-url", server.url)
        ran = cli("ask", friends, QUESTION, *options, "--key-from", "MY_KEY", "--json")
        received = server.received
    assert (ran.code, ran.data["text"]) == (Exit.OK, "On 8 March 2024.")
    assert ran.data["usage"]["requests"] == len(received) == 2
    assert [one.headers["authorization"] for one in received] == ["Bearer sk-mine"] * 2


def test_a_model_that_fails_is_neither_an_answer_nor_an_abstention(cli, friends):
    with ModelServer(then=Fault("401")) as server:
        ran = cli("ask", friends, QUESTION, "--llm", "--model", "m", "--base-url", server.url)
    assert (ran.code, ran.out) == (Exit.MODEL, "")
    assert ran.err.startswith("evimem: ")
    assert ran.err.count("\n") == 1
    assert "sk-" not in ran.err


def test_without_llm_no_model_is_asked(cli, friends):
    with ModelServer(then="ok") as server:
        cli("ask", friends, QUESTION)
        cli("enrich", friends)
        assert server.received == []


def test_enrich_with_a_model_adds_the_facts_it_finds(cli, tmp_path):
    path = tmp_path / "m.evimem"
    with evimem.open(path) as memory:
        memory.extend(load_example("friends")[:4])
    fact = {"subject": "Mira", "predicate": "took in", "object": "a puppy", "kind": "event"}
    reply = json.dumps({"facts": [fact | {"when": "last Friday", "quote": "We adopted a puppy last Friday."}]})
    with ModelServer(then=reply) as server:
        ran = cli("enrich", path, "--llm", "--model", "m", "--base-url", server.url, "--json")
    assert ran.code == Exit.OK
    facts = cli("show", path, "s1:4", "--json").data["facts"]
    assert "llm" in {one["extractor"] for one in facts}


@pytest.fixture
def unread(tmp_path):
    path = tmp_path / "m.evimem"
    with evimem.open(path) as memory:
        memory.extend(load_example("friends")[:4])
    return path


def test_a_dry_run_says_what_would_be_asked_and_what_it_costs_and_asks_nobody(cli, unread):
    with ModelServer() as server:
        options = ("--llm", "--model", "m", "--base-url", server.url, "--price", "0.15", "0.60")
        ran = cli("enrich", unread, "--dry-run", *options)
        told = cli("enrich", unread, "--dry-run", *options, "--json").data
        assert server.received == []
    assert "4 turns that no model has read" in ran.out
    assert told["requests"] <= told["turns"] == 4
    assert told["cost"] == pytest.approx((0.15 * told["input_tokens"] + 0.60 * told["output_tokens"]) / 1e6)
    assert "and --price" in cli("enrich", unread, "--dry-run").out


def test_a_batch_is_handed_in_and_collected_by_repeating_the_command(cli, unread):
    with ModelServer(then='{"facts": []}') as server:
        options = ("--batch", "--llm", "--model", "m", "--base-url", server.url)
        server.batch_status = "in_progress"
        first = cli("enrich", unread, *options)
        assert "repeat this command" in first.out
        server.batch_status = "completed"
        second = cli("enrich", unread, *options, "--json").data
        assert (second["collected"] > 0, second["waiting"]) == (True, 0)
        assert sum(one.path.endswith("/files") for one in server.received) == 1


@pytest.mark.parametrize("options", [("--batch",), ("--batch", "--dry-run", "--llm", "--model", "m")])
def test_a_batch_needs_a_model_and_is_no_dry_run(cli, unread, options):
    assert cli("enrich", unread, *options).code == Exit.USAGE
