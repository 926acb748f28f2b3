"""How much is known about a name (E7): each statement that contains it counts once, whoever says it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import evimem
from evimem.loops import VARIANTS, Iris
from evimem.testing import ScriptedModel
from evimem.types.values import Tier
from tests.statements.conftest import draft, verdict

LITERAL = Iris(delta="paper", calls="separate", iterations=1, without={"tiers"})


def asked(path: Path, said: list[tuple[str, str]], question: str, *replies: str) -> Any:
    with evimem.open(path, llm=ScriptedModel([*replies, draft()])) as memory:
        for number, (speaker, text) in enumerate(said):
            memory.add(speaker, text, time=f"2024-03-12T18:{number:02}", id=f"t{number}")
        trace = memory.ask(question, LITERAL).trace
    return next(event for event in trace if event.kind == "judgement")


@pytest.mark.parametrize(
    ("said", "name", "count"),
    [
        ([("Mira", "My friend Basil lives in Ghent.")], "Basil", 1),
        ([("Mira", "Basil lives in Ghent."), ("Noah", "Basil is living in Ghent.")], "Basil", 1),
        ([("Mira", "Basil lives in Ghent."), ("Noah", "Basil plays the cello.")], "Basil", 2),
        ([("Gina", "Jon loves dancing."), ("Gina", "Jon opened a studio.")], "Gina", 0),
        ([("Gina", "Jon loves dancing."), ("Gina", "I opened a studio.")], "Gina", 1),
    ],
)
def test_e7_counts_different_statements_about_a_name(
    tmp_path: Path, said: list[tuple[str, str]], name: str, count: int
) -> None:
    judged = asked(tmp_path / "m.evimem", said, f"What about {name}?", verdict("exact", 0.95))
    assert judged.entities == {name: count}
    assert (judged.final_tier is Tier.PARTIAL) == (count < 2)


@pytest.mark.parametrize(("tier", "confidence"), [("none", 0.05), ("partial", 0.05)])
def test_e11_is_reached_in_a_memory_that_one_search_exhausts(tmp_path: Path, tier: str, confidence: float) -> None:
    query = [json.dumps({"query": f"a heron {number}"}) for number in range(2)]
    replies = [verdict(tier, confidence), query[0], verdict(tier, confidence), query[1], verdict(tier, confidence)]
    with evimem.open(tmp_path / "m.evimem", llm=ScriptedModel([*replies, draft("a made-up answer")])) as memory:
        memory.add("Mira", "I bake bread.", time="2024-03-12T18:00")
        answer = memory.ask("What did Mira paint?", VARIANTS["full"])
    assert (answer.abstained, sum(event.kind == "judgement" for event in answer.trace)) == (True, 3)
