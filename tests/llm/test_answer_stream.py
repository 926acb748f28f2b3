import json

import pytest

from evimem.llm.answer_stream import AnswerStream

REPLY = json.dumps(
    {"steps": ['the "answer": "no"'], "answer": 'On "8" März 😀,\nat noon', "citations": [{"id": "e1", "quote": "x"}]}
)


def test_the_answers_text_is_returned_as_it_arrives_and_nothing_else():
    stream = AnswerStream()
    pieces = [stream.add(character) for character in f"```json\n{REPLY}\n```"]
    assert "".join(pieces) == 'On "8" März 😀,\nat noon'
    assert max(map(len, pieces)) == 1


def test_a_reply_without_an_answer_gives_no_text():
    stream = AnswerStream()
    assert [stream.add(piece) for piece in ('{"steps"', ": [] }", "sorry")] == ["", "", ""]


@pytest.mark.parametrize("opening", ["<think>", ""])
def test_a_draft_in_the_models_thoughts_is_no_text(opening):
    stream = AnswerStream()
    thoughts = opening + 'Maybe {"answer": "in Lisbon"}? No. </think>\n'
    pieces = [stream.add(character) for character in thoughts + REPLY]
    assert "".join(pieces) == 'On "8" März 😀,\nat noon'
