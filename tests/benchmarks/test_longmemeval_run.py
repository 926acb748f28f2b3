"""LongMemEval from a file to tables: both averages, no abstention question among them, asked at its date."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

from benchmarks.data_sets import read_longmemeval
from benchmarks.scoring.asking import Approach
from benchmarks.scoring.longmemeval_tables import longmemeval_tables
from benchmarks.scoring.run_longmemeval import _UNASKED, UserTurns, run_longmemeval
from evimem.testing import ScriptedModel


def case(name: str, marked: bool = True) -> dict[str, Any]:
    told = {"role": "user", "content": "I adopted a kitten called Pepper.", "has_answer": marked}
    talk = [{"role": "user", "content": "Is rain likely?"}, {"role": "assistant", "content": "The kitten is Pepper."}]
    return {
        "question_id": name, "question_type": "single-session-user", "question": "What is my kitten called?",
        "answer": "Pepper", "question_date": "2023/05/30 (Tue) 23:40",
        "haystack_session_ids": ["answer_1", "filler"],
        "haystack_dates": ["2023/05/20 (Sat) 02:21", "2023/05/21 (Sun) 10:00"],
        "haystack_sessions": [[told, *talk], talk], "answer_session_ids": ["answer_1"],
    }  # fmt: skip


def cases(tmp_path: Path, *rows: dict[str, Any]) -> list[Any]:
    path = tmp_path / "lme.json"
    path.write_text(json.dumps(rows))
    return list(read_longmemeval(path))


def test_retrieval_is_averaged_both_ways_and_without_abstention_questions(tmp_path):
    results = run_longmemeval(cases(tmp_path, case("q1"), case("q2", marked=False), case("q3_abs")))
    tables = {one.name: one for one in longmemeval_tables(results)}
    rows = {row[0]: row[1:] for row in tables["retrieval"].rows}
    assert rows["questions"] == (1, 2)
    assert [one.value for one in rows["turns, any@5"]] == [1.0, 0.5]
    assert [one.value for one in rows["turns, all@5"]] == [1.0, 1.0]
    answers = {row[0]: row for row in tables["answers"].rows}
    assert answers["all"][1] == 3


def test_the_corpus_is_of_the_users_turns_and_others_of_an_evidence_session_are_no_gold(tmp_path):
    (one,) = cases(tmp_path, case("q1"))
    corpus = UserTurns.of(one)
    assert corpus.ids == ("s1_1", "other-s1_2", "s2_1")
    assert corpus.gold == {"s1_1"}
    assert corpus.places(["s2:1", "s1:3"]) == [2, 0, 1]


def test_a_question_is_asked_at_its_date_and_a_failure_counts_as_wrong(tmp_path):
    model = ScriptedModel(then="no verdict")
    (result,) = run_longmemeval(cases(tmp_path, case("q1")), Approach(model))
    assert "30 May 2023" in model.requests[0].prompt
    assert (result.agrees, result.abstained, bool(result.failed)) == (False, False, True)
    answers = {one.name: one for one in longmemeval_tables([result])}["answers"]
    assert dict(zip(answers.columns, answers.rows[-1], strict=True))["coverage"] == 0.0


def test_every_type_weighs_the_same_in_their_mean_and_what_cannot_be_answered_has_a_row():
    one = replace(_UNASKED, case="1", kind="multi-session", correct=True, requests=2, input_tokens=300)
    rest = [replace(one, case=str(n), kind="knowledge-update", correct=n == 2, answerable=n > 3) for n in (2, 3, 4, 5)]
    tables = {table.name: table for table in longmemeval_tables([one, *rest], 0.25, ("Judged: strict.",))}
    judged = {row[0]: getattr(row[2], "value", row[2]) for row in tables["answers"].rows}
    assert judged == {
        "knowledge-update": 0.25, "multi-session": 1.0, "unanswerable": 0.5, "mean of the types": 0.625, "all": 0.4,
    }  # fmt: skip
    assert tables["answers"].notes[-1] == "Judged: strict."
    cost = dict(tables["cost"].rows)
    assert (cost["model requests per question"], cost["input tokens per question"]) == (2, 300)
    assert cost["dollars in all, failures included"] == 0.25
