"""Runs over labelled chats: claims that hold, shares by register, calibration by kind of answer."""

from dataclasses import replace
from pathlib import Path

import pytest

from benchmarks.scoring.chat_tables import chat_tables
from benchmarks.scoring.labelled_chats import ChatQuestion, read_chats
from benchmarks.scoring.run_chats import ChatResult, run_chats

CHATS = Path(__file__).parents[2] / "benchmarks" / "chats"
TOLD = ChatQuestion("Which knee?", "left", (), ("t6",), "direct")
ONE = ChatResult("a", "bursts", TOLD, ("t6",), (), "answer", "left", 0.9, right=True, cites_gold=True, seconds=0.1)
UNTOLD = replace(ONE, question=replace(TOLD, answer=None), right=False)


@pytest.mark.parametrize(
    ("result", "holds"),
    [
        (ONE, True),
        (replace(ONE, right=False), False),
        (UNTOLD, False),
        (replace(ONE, kind="quote"), True),
        (replace(UNTOLD, kind="quote"), False),
        (replace(ONE, kind="quote", cites_gold=False), False),
        (replace(ONE, kind="abstained"), False),
        (replace(UNTOLD, kind="abstained"), True),
    ],
)
def test_a_claim_holds_if_it_is_right_quotes_gold_or_nothing_was_told(result, holds):
    assert result.claim_holds is holds


def test_shares_are_of_the_questions_they_are_about():
    quoted = replace(ONE, chat="b", kind="quote", text="...", right=False)
    refused = replace(UNTOLD, kind="abstained", text=None, confidence=0.6)
    tables = {one.name: one for one in chat_tables([ONE, quoted, UNTOLD, refused])}
    found = dict(tables["overall"].rows)
    values = [found[name].value for name in ("given", "right", "given untold", "refused untold", "refused told")]
    assert values == [0.5, 0.5, 0.5, 0.5, 0.0]
    assert "yes/no" not in found  # none was asked
    place = tables["confidence"].columns.index("ECE")
    assert {row[0]: row[place].value for row in tables["confidence"].rows} == pytest.approx(
        {"answer": 0.4, "quote": 0.1, "abstained": 0.4}
    )


def test_two_shipped_chats_run_from_end_to_end():
    chats = [chat for chat in read_chats(CHATS) if chat.name in {"nurses-glasgow", "book-club"}]
    results = run_chats([replace(chat, questions=chat.questions[:4]) for chat in chats])
    assert {one.register for one in results} == {"groups", "messenger bursts"}
    assert all(one.seconds > 0 and 0 <= one.confidence <= 1 for one in results)
    assert all((one.text is None) == (one.kind == "abstained") for one in results)
    tables = {one.name: one for one in chat_tables(results)}
    rows = tables["evidence-by-register"].rows
    assert [row[:2] for row in rows] == [("groups", 4), ("messenger bursts", 4), ("all", 8)]
