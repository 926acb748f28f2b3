import json
from datetime import datetime

import pytest

from benchmarks.data_sets import evidence_ids, read_locomo

SAMPLE = {
    "qa": [
        {"question": "When did Ada plant the pear?", "answer": 2022, "evidence": ["D1:1; D2:02"], "category": 2},
        {"question": "Why did Bo sell it?", "adversarial_answer": "rust", "evidence": ["D2:9", "D"], "category": 5},
        {"question": "Did Bo?", "adversarial_answer": "Yes", "answer": "No", "evidence": ["D:1:2"], "category": 5},
    ],
    "conversation": {
        "speaker_a": "Ada",
        "speaker_b": "Bo",
        "session_10_date_time": "12:09 am on 13 September, 2023",
        "session_10": [{"speaker": "Bo", "dia_id": "D10:1", "text": "Late."}],
        "session_1_date_time": "1:56 pm on 8 May, 2023",
        "session_1": [
            {"speaker": "Ada", "dia_id": "D1:1", "text": "Look!", "blip_caption": "a pear tree", "query": "pear gold"},
            {"speaker": "Bo", "dia_id": "D1:2", "text": "Nice.", "img_url": ["x"]},
        ],
        "session_2_date_time": "9:00 am on 1 June, 2023",
        "session_2": [{"speaker": "Ada", "dia_id": "D2:2", "text": "It fruits."}],
        "session_3_date_time": "10:00 am on 2 June, 2023",
    },
    "observation": {},
    "sample_id": "conv-1",
}


@pytest.fixture
def path(tmp_path):
    path = tmp_path / "locomo.json"
    path.write_text(json.dumps([SAMPLE]))
    return path


def test_turns_come_by_session_number_with_their_captions_and_naive_times(path):
    (sample,) = read_locomo(path)
    assert [turn.id for turn in sample.turns] == ["D1:1", "D1:2", "D2:2", "D10:1"]
    assert sample.turns[0].caption == "a pear tree"
    assert sample.turns[0].time == datetime(2023, 5, 8, 13, 56)
    assert sample.turns[3].time == datetime(2023, 9, 13, 0, 9)


def test_what_was_never_spoken_is_not_read(path):
    (sample,) = read_locomo(path)
    assert "pear gold" not in repr(sample)


def test_answers_are_text_and_adversarial_questions_have_a_trap_instead(path):
    (sample,) = read_locomo(path)
    assert [question.answer for question in sample.questions] == ["2022", None, None]
    assert [question.trap for question in sample.questions] == [None, "rust", "Yes"]


def test_evidence_is_read_in_all_its_spellings_and_only_where_it_exists(path):
    (sample,) = read_locomo(path)
    assert [question.evidence for question in sample.questions] == [("D1:1", "D2:2"), (), ("D1:2",)]
    assert evidence_ids(["D1:1", "D1:1 D4:2"], frozenset({"D1:1", "D4:2"})) == ("D1:1", "D4:2")
