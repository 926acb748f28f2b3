"""`python -m benchmarks` with a model: by mailbox, at an endpoint, kept, and through failures."""

import json

import pytest

from benchmarks.scoring.result_file import read_result
from evimem.cli.arguments import Exit
from tests.model_server import Fault, ModelServer

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


def test_a_mailbox_is_a_model_of_files_and_goes_on_where_it_was(bench, locomo, tmp_path):
    box = tmp_path / "box"
    first = bench("locomo", locomo, "--mailbox", box, "--json")
    assert (first.code, "2 requests wait" in first.err) == (Exit.MODEL, True)
    for _ in range(4):
        reply_to_all(box)
        ran = bench("locomo", locomo, "--mailbox", box, "--json")
        if ran.code == Exit.OK:
            break
    assert ran.code == Exit.OK
    assert list((box / "requests").iterdir()) == []
    cost = dict(next(one for one in ran.data["tables"] if one["name"] == "cost")["rows"])
    assert cost["questions that failed"] == 0
    assert cost["model requests per question"] >= 2
    assert ran.data["options"]["mailbox"] is True


NO_FACTS = '{"facts": []}'


def facts_or_verdict(body):
    return NO_FACTS if "atomic facts" in json.dumps(body["messages"][0]) else by_schema(body)


def test_facts_are_extracted_once_for_a_checkpoint_and_a_refusal_ends_no_run(bench, locomo, tmp_path, monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "sk-never-sent-there")
    words = ("locomo", locomo, "--llm", "--model", "m", "--enrich", "--checkpoint", tmp_path / "kept.jsonl")
    with ModelServer(then=Fault("401")) as server:
        ran = bench(*words, "--base-url", server.url)
    assert (ran.code, "2 questions got no answer" in ran.err) == (Exit.MODEL, True)
    assert "facts could not be extracted" in ran.err
    with ModelServer(then=facts_or_verdict) as server:
        assert bench(*words, "--base-url", server.url, "--limit", 1).code == Exit.OK
        first = [facts_or_verdict(one.body) == NO_FACTS for one in server.received]
        ran = bench(*words, "--base-url", server.url, "--json")  # goes on with the second question
        again = [facts_or_verdict(one.body) == NO_FACTS for one in server.received[len(first) :]]
    assert (first.count(True), again.count(True)) == (8, 0)
    cost = dict(next(one for one in ran.data["tables"] if one["name"] == "cost")["rows"])
    assert (ran.code, cost["turns"], cost["ingest, turns/s"]) == (Exit.OK, 8, None)
    assert again


def test_a_checkpoint_of_other_data_is_not_used(bench, locomo, tmp_path, monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "sk-never-sent-there")
    words = ("--llm", "--model", "m", "--checkpoint", tmp_path / "kept.jsonl")
    other = tmp_path / "other.json"
    other.write_text(locomo.read_text().replace("pears", "plums"))
    with ModelServer(then=by_schema) as server:
        bench("locomo", locomo, *words, "--base-url", server.url)
        before = len(server.received)
        bench("locomo", other, *words, "--base-url", server.url)
        assert len(server.received) == 2 * before > 0


def test_another_model_marks_and_the_result_says_which_and_how(bench, locomo, tmp_path, monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "sk-never-sent-there")
    place = tmp_path / "one.json"
    words = ("--llm", "--model", "m", "--judge", "generous", "--marking-model", "marker", "--result", place)
    marked = lambda body: '{"reason": "", "correct": true}' if body["model"] == "marker" else by_schema(body)  # noqa: E731
    with ModelServer(then=marked) as server:
        ran = bench("locomo", locomo, *words, "--base-url", server.url)
        of_marker = [one.body for one in server.received if one.body["model"] == "marker"]
    assert (ran.code, len(of_marker), {one["temperature"] for one in of_marker}) == (Exit.OK, 2, {0.0})
    options = read_result(place).options
    assert (options["judge"], options["judged_by"], options["judge_temperature"]) == ("generous", "marker", [0.0])
    assert "Judged: generous at temperature 0, by marker, instructions " + options["judge_prompt"] in ran.out


def by_schema(body):
    asked = json.dumps(body)
    if "next_query" not in asked:
        return json.dumps(ANSWERED)
    return json.dumps(JUDGED | ANSWERED if "citations" in asked else JUDGED)


def graded_by_role(body):
    return "3" if "The grade" in json.dumps(body) else by_schema(body)


def test_one_run_has_marks_and_grades(bench, locomo, monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "sk-never-sent-there")

    def reply(body):
        marks = '"correct"' in body["messages"][-1]["content"]
        return '{"reason": "", "correct": true}' if marks else graded_by_role(body)

    with ModelServer(then=reply) as server:
        model = ("--llm", "--model", "m", "--base-url", server.url)
        ran = bench("locomo", locomo, *model, "--limit", 1, "--judge", "strict", "g-eval", "--json")
    rows = {row[0]: row[1] for row in next(one for one in ran.data["tables"] if one["name"] == "answers")["rows"]}
    assert (rows["judged correct"]["value"], rows["G-Eval, 1 to 5"]["value"]) == (1.0, 3.0)
    assert (ran.data["options"]["judge"], ran.data["options"]["judge_temperature"]) == ("strict and g-eval", [0.0, 1.0])


@pytest.mark.parametrize(
    ("words", "why"),
    [
        (("--mailbox", "box", "--llm", "--model", "m"), "exclude each other"),
        (("--dollars", "1"), "needs the price of the model"),
        (("--llm", "--model", "m", "--dollars", "1"), "needs the price of m"),
        (
            ("--llm", "--model", "m", "--price", "1", "2", "--judge-model", "n", "--dollars", "1"),
            "needs the price of n",
        ),
        (("--llm", "--model", "m", "--price-of", "n", "cheap", "2"), "expected NAME IN OUT"),
        (("--llm", "--model", "m", "--marking-model", "n"), "--marking-model marks for --judge"),
        (("--llm", "--model", "m", "--judge", "strict", "generous"), "one run has one rubric"),
        (("--judge",), "--judge needs a model"),
        (("--enrich",), "needs a model"),
        (("--adapter", "a:b"), "of `chats and synthetic` only"),
    ],
)
def test_options_that_mean_nothing_are_refused(bench, locomo, words, why):
    ran = bench("locomo", locomo, *words)
    assert (ran.code, why in ran.err) == (Exit.USAGE, True)


def test_another_memory_is_scored_through_an_adapter(bench):
    few = ("--turns", 30, "--depth", 1, "--limit", 2)
    ran = bench("synthetic", *few, "--adapter", "benchmarks.scoring.scored_memory:PlainBm25", "--json")
    assert ran.code == Exit.OK
    overall = dict(next(one for one in ran.data["tables"] if one["name"] == "overall")["rows"])
    assert overall["R@10"] == overall["BM25"]
    ran = bench("synthetic", *few, "--adapter", "benchmarks.scoring.nowhere:Nothing")
    assert (ran.code, "MODULE:FUNCTION" in ran.err) == (Exit.INPUT, True)
