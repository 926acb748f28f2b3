"""The synthetic set, and the whole harness on it."""

from __future__ import annotations

from collections import Counter

import pytest

from evimem.bench.asking import Approach
from evimem.bench.chat_tables import chat_tables
from evimem.bench.run_chats import run_chats
from evimem.bench.scored_memory import OwnMemory, PlainBm25
from evimem.bench.synthetic import _tables, synthetic_chat
from evimem.types.budget import Budget

VALUES = [value for form in _tables()["attributes"].values() for value in form["values"]]


def test_a_seed_writes_one_conversation() -> None:
    assert synthetic_chat(3) == synthetic_chat(3)
    assert synthetic_chat(3).turns != synthetic_chat(4).turns


@pytest.mark.parametrize("depth", [1, 4])
def test_gold_is_what_it_says(depth: int) -> None:
    chat = synthetic_chat(1, turns=300, people=4, depth=depth)
    said = {turn.id: turn for turn in chat.turns}
    assert len(chat.turns) == 300
    assert [turn.time for turn in chat.turns] == sorted(turn.time for turn in chat.turns)
    kinds = Counter(one.kind for one in chat.questions)
    assert {*kinds} == {
        "fact",
        "update",
        "never told",
        "false premise",
        *(f"chain of {n}" for n in range(2, depth + 1)),
    }
    for one in chat.questions:
        assert bool(one.evidence) == (one.answer is not None)
        if one.answer:
            assert one.answer in said[one.evidence[-1]].text
        if one.kind.startswith("chain"):
            assert len(one.evidence) == int(one.kind.split()[-1])
            first, *others = [said[turn] for turn in one.evidence]
            assert first.speaker in one.text
            for before, turn in zip([first, *others], others, strict=False):
                assert turn.speaker in before.text


def test_a_false_premise_names_a_person_and_a_value_that_this_person_never_told() -> None:
    chat = synthetic_chat(1, turns=300, people=4, depth=1)
    supposed = [one for one in chat.questions if one.kind == "false premise"]
    assert len({next(turn.speaker for turn in chat.turns if turn.speaker in one.text) for one in supposed}) == 4
    for one in supposed:
        own = " ".join(turn.text for turn in chat.turns if turn.speaker in one.text)
        value = next(value for value in VALUES if value in one.text)
        assert (one.answer, value in own) == (None, False)


def test_the_whole_harness_runs_on_it() -> None:
    chats = [synthetic_chat(seed, turns=40, people=1, depth=2) for seed in (1, 2)]
    tables = {one.name: one for one in chat_tables(run_chats(chats))}
    overall = dict(tables["overall"].rows)
    assert overall["R@10"].value > 0.8  # type: ignore[union-attr]
    assert {row[0] for row in tables["evidence-by-kind"].rows} >= {"fact", "never told", "chain of 2", "all"}


def test_a_memory_that_only_searches_quotes_its_best_turn() -> None:
    chat = synthetic_chat(1, turns=60, people=2, depth=1)
    results = run_chats([chat], PlainBm25)
    assert {one.kind for one in results} == {"quote"}
    assert all(one.confidence is None and one.ranked == one.plain for one in results)
    assert sum(one.cites_gold for one in results) > 0
    assert "confidence" not in {one.name for one in chat_tables(results)}


def test_a_budget_reaches_the_memory(tmp_path: object) -> None:
    chat = synthetic_chat(1, turns=30, people=1, depth=1)
    willing = Approach(budget=Budget(without={"abstention"}))
    results = run_chats([chat], lambda folder: OwnMemory(folder, willing))
    assert "abstained" not in {one.kind for one in results}
