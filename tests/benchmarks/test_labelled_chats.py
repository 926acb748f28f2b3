"""Folders of labelled chats: turns and questions in pairs, registers by name."""

import json

import pytest

from benchmarks.scoring.labelled_chats import OTHER, read_chats
from evimem.errors import ImportFailed

TURN = {"id": "t1", "session": "s1", "speaker": "Mira", "time": "2024-03-12T18:20", "text": "The van is blue."}
ASKED = {"question": "What colour is the van?", "answer": "blue", "evidence": ["t1"], "kind": "direct"}


@pytest.fixture
def folder(tmp_path):
    for name in ("letters", "bursts"):
        (tmp_path / f"{name}.turns.jsonl").write_text(json.dumps(TURN))
        untold = {"question": "Who drove?", "answer": None}
        (tmp_path / f"{name}.questions.jsonl").write_text(f"{json.dumps(ASKED)}\n\n{json.dumps(untold)}\n")
    (tmp_path / "registers.json").write_text('{"by post": ["letters"]}')
    return tmp_path


def test_a_chat_has_its_turns_questions_and_register(folder):
    bursts, letters = read_chats(folder)
    assert (bursts.register, letters.register) == (OTHER, "by post")
    assert [turn.text for turn in letters.turns] == ["The van is blue."]
    told, untold = letters.questions
    assert (told.answer, told.evidence, told.kind) == ("blue", ("t1",), "direct")
    assert untold.answer is None


@pytest.mark.parametrize(
    ("file", "text", "why"),
    [
        ("letters.questions.jsonl", '{"question": "Who?"}', "letters.questions.jsonl line 1"),
        ("letters.questions.jsonl", "{", "not JSON"),
        ("registers.json", "[1]", "no table of registers"),
    ],
)
def test_a_file_of_another_form_is_refused_with_its_place(folder, file, text, why):
    (folder / file).write_text(text)
    with pytest.raises(ImportFailed, match=why):
        read_chats(folder)
