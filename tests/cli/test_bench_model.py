"""`evimem bench` with a model: by mailbox, at an endpoint, kept, and through failures."""

from __future__ import annotations

import json

import pytest

from evimem.cli.exit_codes import Exit
from evimem.testing import ModelServer

JUDGED = {"tier": "exact", "confidence": 0.95, "requirements": [], "gaps": [], "next_query": "", "reason": "said"}
ANSWERED = {"steps": [], "answerable": True, "answer": "seven", "citations": []}


@pytest.fixture
def locomo(tmp_path):
    said = [{"speaker": "Ada", "dia_id": f"D1:{n}", "text": f"Yesterday I sold {n} pears."} for n in range(1, 9)]
    asked = [
        {"question": f"How many {what} did Ada sell?", "answer": 7, "evidence": ["D1:7"], "category": 4}
        for what in ("pears", "ripe pears")
    ]
    conversation = {"session_1_date_time": "1:56 pm on 8 May, 2023", "session_1": said}
    path = tmp_path / "locomo.json"
    path.write_text(json.dumps([{"sample_id": "conv-1", "conversation": conversation, "qa": asked}]))
    return path


def reply_to_all(box):
    for place in (box / "requests").iterdir():
        request = json.loads(place.read_text())
        reply = ANSWERED if request["role"] == "answer" else JUDGED
        (box / "replies" / f"{place.stem}.txt").write_text(json.dumps(reply))


def test_a_mailbox_is_a_model_of_files_and_goes_on_where_it_was(cli, locomo, tmp_path):
    box = tmp_path / "box"
    first = cli("bench", "locomo", locomo, "--mailbox", box, "--json")
    assert (first.code, "2 requests wait" in first.err) == (Exit.MODEL, True)
    for _ in range(4):
        reply_to_all(box)
        ran = cli("bench", "locomo", locomo, "--mailbox", box, "--json")
        if ran.code == Exit.OK:
            break
    assert ran.code == Exit.OK
    assert list((box / "requests").iterdir()) == []
    cost = dict(next(one for one in ran.data["tables"] if one["name"] == "cost")["rows"])
    assert cost["questions that the model failed"] == 0
    assert cost["model requests per question"] >= 2
    assert ran.data["options"]["mailbox"] is True


def by_schema(body):
    return json.dumps(ANSWERED if "citations" in json.dumps(body) else JUDGED)


def graded_by_role(body):
    return "3" if "The grade" in json.dumps(body) else by_schema(body)


def test_a_model_at_an_endpoint_grades_the_answers(cli, locomo, monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "sk-never-sent-there")
    with ModelServer(then=graded_by_role) as server:
        ran = cli(
            "bench", "locomo", locomo, "--llm", "--model", "m", "--base-url", server.url, "--judge", "g-eval", "--json"
        )
    rows = {row[0]: row[1] for row in next(one for one in ran.data["tables"] if one["name"] == "answers")["rows"]}
    assert ran.code == Exit.OK
    assert (rows["G-Eval, 1 to 5"]["value"], rows["of it, by probabilities"]["value"]) == (3.0, 0.0)
    assert ran.data["options"]["judge"] == "g-eval"
    assert len(ran.data["options"]["judge_prompt"]) == 16


def test_a_question_that_fails_ends_no_run_and_is_asked_again_by_the_next(cli, locomo, tmp_path, monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "sk-never-sent-there")
    kept = tmp_path / "kept.jsonl"
    model = ("--llm", "--model", "m", "--concurrency", 1, "--checkpoint", kept)
    with ModelServer(then=lambda body: "no verdict" if "ripe" in json.dumps(body) else by_schema(body)) as server:
        ran = cli("bench", "locomo", locomo, *model, "--base-url", server.url)
    assert (ran.code, "no answer to 1 questions" in ran.err) == (Exit.MODEL, True)
    with ModelServer(then=by_schema) as server:
        ran = cli("bench", "locomo", locomo, *model, "--base-url", server.url)
        assert all("ripe" in json.dumps(one.body) for one in server.received)
    assert ran.code == Exit.OK
    assert len(kept.read_text().splitlines()) == 2


@pytest.mark.parametrize(
    ("words", "why"),
    [
        (("--mailbox", "box", "--llm", "--model", "m"), "exclude each other"),
        (("--dollars", "1"), "needs --price"),
        (("--enrich",), "needs a model"),
        (("--adapter", "a:b"), "of `bench chats and synthetic` only"),
    ],
)
def test_options_that_mean_nothing_are_refused(cli, locomo, words, why):
    ran = cli("bench", "locomo", locomo, *words)
    assert (ran.code, why in ran.err) == (Exit.USAGE, True)


def test_another_memory_is_scored_through_an_adapter(cli):
    few = ("--turns", 30, "--depth", 1, "--limit", 2)
    ran = cli("bench", "synthetic", *few, "--adapter", "evimem.bench.scored_memory:PlainBm25", "--json")
    assert ran.code == Exit.OK
    overall = dict(next(one for one in ran.data["tables"] if one["name"] == "overall")["rows"])
    assert overall["R@10"] == overall["BM25"]
    ran = cli("bench", "synthetic", *few, "--adapter", "evimem.bench.nowhere:Nothing")
    assert (ran.code, "MODULE:FUNCTION" in ran.err) == (Exit.INPUT, True)
