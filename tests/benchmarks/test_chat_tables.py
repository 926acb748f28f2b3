"""Runs over labelled chats: claims that hold, shares by register, calibration by kind of answer."""

from dataclasses import replace
from pathlib import Path

import pytest

from benchmarks.scoring.chat_tables import chat_tables
from benchmarks.scoring.labelled_chats import ChatQuestion
from benchmarks.scoring.run_chats import ChatResult

CHATS = Path(__file__).parents[2] / "benchmarks" / "chats"
TOLD = ChatQuestion("Which knee?", "left", (), ("t6",), "direct")
ONE = ChatResult("a", "bursts", TOLD, ("t6",), (), "answer", "left", 0.9, right=True, cites_gold=True, seconds=0.1)
UNTOLD = replace(ONE, question=replace(TOLD, answer=None), right=False)


@pytest.mark.parametrize(
    ("result", "holds"),
    [
        (ONE, True), (replace(ONE, right=False), False), (UNTOLD, False), (replace(ONE, kind="quote"), True),
        (replace(UNTOLD, kind="quote"), False), (replace(ONE, kind="quote", cites_gold=False), False),
        (replace(ONE, kind="abstained"), False), (replace(UNTOLD, kind="abstained"), True),
    ],
)  # fmt: skip
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
