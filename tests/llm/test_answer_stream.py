import json

from evimem.llm.answer_stream import Telling

REPLY = json.dumps(
    {"steps": ['the "answer": "no"'], "answer": 'On "8" März 😀,\nat noon', "citations": [{"id": "e1", "quote": "x"}]}
)


def test_the_answer_is_told_as_it_comes_and_nothing_else_is():
    telling = Telling()
    told = [telling.take(character) for character in f"```json\n{REPLY}\n```"]
    assert "".join(told) == 'On "8" März 😀,\nat noon'
    assert max(map(len, told)) == 1


def test_a_reply_without_an_answer_tells_nothing():
    telling = Telling()
    assert [telling.take(piece) for piece in ('{"steps"', ": [] }", "sorry")] == ["", "", ""]
