"""The data card of our chats: its numbers are those of the files, and its adapter scores a memory as it stands."""

import re
import shutil
import sys
from collections import Counter
from pathlib import Path

import pytest

from benchmarks.__main__ import main
from benchmarks.scoring.labelled_chats import read_chats
from evimem.cli.arguments import Exit

CHATS = Path(__file__).parents[2] / "benchmarks" / "chats"
CARD = (CHATS / "README.md").read_text(encoding="utf-8")


def test_the_numbers_of_the_card_are_those_of_the_files():
    chats = read_chats(CHATS)
    asked = [one for chat in chats for one in chat.questions]
    assert f"{len(chats)} conversations in six registers with {len(asked)} questions" in CARD
    assert len({chat.register for chat in chats}) == 6
    told, untold = (Counter(one.kind for one in asked if (one.answer is None) is none) for none in (False, True))
    kinds = CARD.partition("**Kinds of question.**")[2].partition("\n\n")[0]
    for counts, said in zip((told, untold), kinds.split("Without"), strict=True):
        assert f"({counts.total()})" in said
        stated = {name: int(n) for name, n in re.findall(r"([a-z_]+)\s(?:\([^)]*\)\s)?(\d+)", said)}
        assert stated == counts


@pytest.fixture
def one_chat(tmp_path, monkeypatch):
    for path in CHATS.glob("bakery.*"):
        shutil.copy(path, tmp_path)
    monkeypatch.chdir(tmp_path)
    monkeypatch.delitem(sys.modules, "mine", raising=False)
    monkeypatch.setattr(sys, "path", [*sys.path])
    return tmp_path


def adapter() -> str:
    return re.findall(r"```python\n(.*?)```", CARD, re.DOTALL)[0]


def test_the_adapter_of_the_card_works_as_it_stands(one_chat, capsys):
    (one_chat / "mine.py").write_text(adapter())
    assert main(["chats", ".", "--adapter", "mine:open_memory", "--limit", "3"]) == Exit.OK
    assert "cites gold" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("wrong", "why"),
    [("return ['t999']", "'t999', which is the id of no turn"), ("raise OSError('no index')", "OSError: no index")],
)
def test_what_an_adapter_does_wrong_fails_its_questions_and_is_said(one_chat, capsys, wrong, why):
    (one_chat / "mine.py").write_text(re.sub(r"asked = set.*", wrong, adapter()))
    assert main(["chats", ".", "--adapter", "mine:open_memory", "--limit", "3"]) == Exit.MODEL
    shown = capsys.readouterr()
    assert "3 questions got no answer" in shown.err
    assert why in shown.err
