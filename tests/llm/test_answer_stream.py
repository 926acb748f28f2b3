import json

import pytest

from evimem.llm.json_reply import MOST_WATCHED, AnswerStream
from tests.llm.test_json_reply import THOUGHTS

REPLY = json.dumps(
    {"steps": ['the "answer": "no"'], "answer": 'On "8" März 😀,\nat noon', "citations": [{"id": "e1", "quote": "x"}]}
)


def test_the_answers_text_is_returned_as_it_arrives_and_nothing_else():
    stream = AnswerStream()
    pieces = [stream.add(character) for character in f"```json\n{REPLY}\n```"]
    assert "".join(pieces) == 'On "8" März 😀,\nat noon'
    assert max(map(len, pieces)) == 1


@pytest.mark.parametrize("thoughts", [*THOUGHTS.values(), "Maybe {}? No. </think>\n"], ids=[*THOUGHTS, "its end"])
def test_a_draft_in_the_models_thoughts_is_no_text(thoughts):
    stream = AnswerStream()
    said = thoughts.replace("{}", '{"answer": "in Lisbon"}')
    pieces = [stream.add(character) for character in said + REPLY]
    assert "".join(pieces) == 'On "8" März 😀,\nat noon'


def test_what_was_sent_is_not_continued_by_another_text():
    stream = AnswerStream()
    pieces = [stream.add(piece) for piece in ('{"answer": "Rome"}', "</think>", '{"answer": "Porto, in June"}')]
    assert pieces == ["Rome", "", ""]


def test_a_reply_without_an_end_is_watched_no_longer():
    stream = AnswerStream()
    assert stream.add(f"<think>{'x' * MOST_WATCHED}") == stream.add(f"</think>{REPLY}") == ""
