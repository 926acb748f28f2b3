"""Labelled questions from lines of JSON."""

import pytest

from evimem.calibration import Labelled, read_labelled
from evimem.errors import ImportFailed


def test_an_answer_or_a_label_says_whether_a_question_has_one(tmp_path):
    path = tmp_path / "q.jsonl"
    path.write_text(
        '{"question": "When?", "answer": "May"}\n\n{"question": "Who?", "answer": null, "asked_at": "2024-05-01"}\n'
        '{"question": "Why?", "answer": "because", "answerable": false}\n'
    )
    assert list(read_labelled(path)) == [
        Labelled("When?", answerable=True),
        Labelled("Who?", answerable=False, asked_at="2024-05-01"),
        Labelled("Why?", answerable=False),
    ]


@pytest.mark.parametrize(
    "line", ["{", "[]", '{"question": " ", "answer": null}', '{"question": "When?"}', '{"question": 3, "answer": null}']
)
def test_a_line_that_is_none_is_refused_by_its_number(tmp_path, line):
    path = tmp_path / "q.jsonl"
    path.write_text(f'{{"question": "When?", "answer": null}}\n{line}\n')
    with pytest.raises(ImportFailed, match="line 2"):
        list(read_labelled(path))
