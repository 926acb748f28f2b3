import json
import signal
import subprocess
import sys
import time

import pytest

import evimem
from evimem.cli.arguments import Exit
from evimem.loaders.examples import load_example
from tests.model_server import Fault, ModelServer
from tests.replies import SUPPORTED

JUDGED = json.dumps(
    {
        "tier": "exact", "confidence": 0.95, "requirements": SUPPORTED, "gaps": [], "next_query": "",
        "reason": "it is said",
    }
)  # fmt: skip
QUESTION = "When did Mira adopt her puppy?"


@pytest.fixture(autouse=True)
def key(monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "sk-never-sent-there")
    monkeypatch.setenv("MY_KEY", "sk-mine")


def by_model(body):
    """Play judge or answerer by the model's name."""
    if body["model"] == "the-judge":
        return JUDGED
    return json.dumps({"steps": [], "answer": "On 8 March 2024.", "citations": [{"id": "e1", "quote": "puppy"}]})


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


@pytest.fixture
def failing():
    with ModelServer(then=Fault("401")) as server:
        yield "--llm", "--model", "m", "--base-url", server.url


@pytest.mark.parametrize(
    ("question", "kind", "code"),
    [
        (QUESTION, "quote", Exit.OK),
        ("What did Mira say about the shelter?", "quote", Exit.OK),
        ("How old is Bob?", "abstained", Exit.ABSTAINED),
    ],
)
def test_an_answer_without_the_model_says_why_whatever_it_is(cli, friends, failing, question, kind, code):
    options = (*failing, "--on-model-error", "offline")
    ran = cli("ask", friends, question, *options, "--json")
    assert (ran.code, ran.data["kind"], ran.data["fell_back"]) == (code, kind, True)
    assert not cli("ask", friends, question, "--json").data["fell_back"]
    for extra in ((), ("--stream",)):
        out = " ".join(cli("ask", friends, question, *options, *extra).out.split())
        assert out.count("the model failed (ModelUnavailable") == 1


def test_words_of_a_reply_that_broke_off_are_called_void(cli, friends):
    reply = json.dumps({"steps": [], "answer": "in Lisbon", "citations": []})
    with ModelServer(JUDGED, Fault("truncated", text=reply), then=Fault("401")) as server:
        options = ("--llm", "--model", "m", "--base-url", server.url, "--on-model-error", "offline", "--stream")
        ran = cli("ask", friends, QUESTION, *options)
    assert ran.code == Exit.OK
    before, void, after = ran.out.partition("(void: that reply could not be used)")
    assert void
    assert ("in Lisbon" in before, "8 March 2024" in after) == (True, True)


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


def test_a_dry_run_estimates_requests_and_cost_and_sends_none(cli, unread):
    with ModelServer() as server:
        options = ("--llm", "--model", "m", "--base-url", server.url, "--price", "0.15", "0.60")
        ran = cli("enrich", unread, "--dry-run", *options)
        told = cli("enrich", unread, "--dry-run", *options, "--json").data
        assert server.received == []
    assert "4 turns not yet read by a model" in ran.out
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


def process(*words):
    """Run the command line as a process of its own; return it, its output still coming."""
    command = [sys.executable, "-m", "evimem", *map(str, words)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def ended(running):
    out, err = running.communicate(timeout=60)
    return running.returncode, out, err


def test_the_words_of_an_answer_are_shown_before_the_reply_is_whole(friends):
    long = json.dumps({"steps": [], "answer": f"On 8 March 2024, {'as she said, ' * 99}", "citations": []})
    with ModelServer(JUDGED, Fault("drip_body", seconds=0.002, text=long)) as server:
        running = process("ask", friends, QUESTION, "--stream", "--llm", "--model", "m", "--base-url", server.url)
        seen = ""
        while "On 8" not in seen:
            seen += running.stdout.read(1)
        assert running.poll() is None
        running.kill()
        running.communicate()


def test_an_interrupt_ends_reading_at_once_and_loses_nothing(unread):
    with ModelServer(then=Fault("hang")) as server:
        running = process("enrich", unread, "--llm", "--model", "m", "--base-url", server.url)
        while not server.received:
            assert running.poll() is None
            time.sleep(0.05)
        running.send_signal(signal.SIGINT)
        began = time.monotonic()
        code, _, err = ended(running)
    assert (code, "Traceback" in err) == (Exit.INTERRUPTED, False)
    assert time.monotonic() - began < 20  # the deadline of a request is 60 s
    with evimem.open(unread) as memory:
        assert memory.health().pending["extract"] > 0
        assert memory.health().failed == {}


def test_the_trace_of_a_failure_is_shown_and_kept(cli, friends):
    with ModelServer(then=Fault("401")) as server:
        ran = cli("ask", friends, QUESTION, "--llm", "--model", "m", "--base-url", server.url, "--trace")
    assert ran.code == Exit.MODEL
    assert "ModelUnavailable" in ran.out
    assert "ModelUnavailable" in cli("trace", friends).out


def test_deadline_concurrency_and_the_extracting_model_are_options(cli, unread):
    with ModelServer(then=Fault("hang")) as server:
        options = ("--llm", "--model", "m", "--extract-model", "reader", "--base-url", server.url)
        ran = cli("enrich", unread, *options, "--deadline", 0.3, "--concurrency", 1)
    assert ran.code == Exit.MODEL
    assert {one.body["model"] for one in server.received} == {"reader"}
    assert server.peak == 1
