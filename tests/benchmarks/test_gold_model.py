"""The scripted model that judges by gold turns counts them by their ids."""

from __future__ import annotations

import pytest

import evimem
from benchmarks.gold_model import GoldJudge
from evimem.testing import ScriptedModel


@pytest.mark.parametrize("gold", [("a",), ("b",), ("a", "b")])
def test_a_gold_turn_is_in_view_where_the_trace_shows_it_and_not_where_its_words_stand(tmp_path, gold):
    with evimem.open(tmp_path / "m.evimem") as memory:
        for name in "ab":
            memory.add("Mira", "I adopted a puppy.", time="2024-03-12T18:20", session=name, id=name)
        turns = list(memory.turns())
    judge = GoldJudge(turns)
    judge.begin(gold)
    with evimem.open(tmp_path / "m.evimem", llm=ScriptedModel(then=judge)) as memory:
        answer = memory.ask(
            "Which puppy did Mira adopt?", budget=evimem.Budget(k=1, iterations=1), loop="memr3", on_event=judge.hear
        )
    (shown,) = [
        set(event.detail["turns"]) for event in answer.trace if event.kind == "action" and event.action == "show"
    ][:1]
    assert judge.asked[0].found == len(shown.intersection(gold)) <= 1
    assert judge.asked[0].gold == len(gold)
