import json
from datetime import datetime

import pytest

from benchmarks.data_sets import read_longmemeval
from evimem.errors import ImportFailed


def user(text, **marks):
    return {"role": "user", "content": text, **marks}


def assistant(text):
    return {"role": "assistant", "content": text}


CASE = {
    "question_id": "q1_abs",
    "question_type": "multi-session",
    "question": "How many pears?",
    "answer": 3,
    "question_date": "2023/05/30 (Tue) 23:40",
    "haystack_session_ids": ["answer_secret_1", "filler", "filler"],
    "haystack_dates": ["2023/05/21 (Sun) 10:00", "2023/05/20 (Sat) 02:21", "2023/05/20 (Sat) 02:21"],
    "haystack_sessions": [
        [user("I ate two pears.", has_answer=True), assistant("Good.")],
        [user("Hello.", has_answer=False), assistant(""), assistant("Hi.")],
        [user("Hello again.")],
    ],
    "answer_session_ids": ["answer_secret_1"],
}


@pytest.fixture
def case(tmp_path):
    path = tmp_path / "lme.json"
    path.write_text(json.dumps([CASE]))
    (case,) = read_longmemeval(path)
    return case


def test_sessions_are_sorted_by_date_and_those_of_one_date_keep_their_order(case):
    assert [(turn.id, turn.text) for turn in case.turns] == [
        ("s1:1", "Hello."), ("s1:3", "Hi."), ("s2:1", "Hello again."), ("s3:1", "I ate two pears."),
        ("s3:2", "Good."),
    ]  # fmt: skip
    assert case.turns[0].time == datetime(2023, 5, 20, 2, 21)


def test_no_label_reaches_a_turn(case):
    stored = repr(case.turns)
    assert "answer" not in stored
    assert "secret" not in stored


def test_labels_stay_with_the_question(case):
    assert case.evidence == ("s3:1",)
    assert (case.answer, case.answerable, case.kind) == ("3", False, "multi-session")
    assert case.asked_at == datetime(2023, 5, 30, 23, 40)


@pytest.mark.parametrize("change", [{"haystack_dates": ["2023/05/21 (Sun) 10:00"]}, {"question_date": "30 May"}])
def test_a_broken_question_is_refused_with_its_number(tmp_path, change):
    path = tmp_path / "lme.json"
    path.write_text(json.dumps([CASE, CASE | change]))
    with pytest.raises(ImportFailed, match="question 2 is not in the form of LongMemEval"):
        list(read_longmemeval(path))


def test_roles_are_kept(case):
    assert [(turn.speaker, turn.role) for turn in case.turns[-2:]] == [("user", "user"), ("assistant", "assistant")]
