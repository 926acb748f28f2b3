"""What a judge sees (fixtures F1, F2): what is new comes first, and bare turns and earlier ones keep a share."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime

from hypothesis import given
from hypothesis import strategies as st

from evimem.extract.rule_extractor import RuleExtractor
from evimem.judging.evidence import Evidence
from evimem.loops.evidence_view import count_turn_tokens, select
from evimem.types.values import Turn

WORDS = "I painted a seascape with Elio and then we walked the long way home along the reservoir in the rain"


def evidence(place: int, iteration: int = 1, path: str = "anchor", bare: bool = False) -> Evidence:
    turn = Turn(f"s1:{place}", "s1", "Mira", WORDS, datetime(2024, 3, 12, 18, place % 60))
    return Evidence(turn, () if bare else RuleExtractor().extract(turn), 1.0, path, iteration)


def ids(items: tuple[Evidence, ...]) -> list[str]:
    return [item.turn.id for item in items]


COST = count_turn_tokens(evidence(1))


def test_turns_without_facts_keep_a_share() -> None:
    hits = [evidence(place) for place in range(40)]
    bare = evidence(40, bare=True)
    assert bare.turn.id in ids(select([*hits, bare], COST * 10, iteration=1))


def test_the_best_of_before_is_not_crowded_out_by_what_is_new() -> None:
    old, new = [evidence(0, 1)], [evidence(place, 2) for place in range(1, 60)]
    assert "s1:0" in ids(select([*old, *new], COST * 10, iteration=2))


def test_witnesses_come_before_other_old_evidence() -> None:
    old = [evidence(place, 1) for place in range(30)]
    assert ids(select(old, COST * 5, iteration=2, witnesses=["s1:29"]))[0] == "s1:29"


@given(
    st.lists(st.tuples(st.integers(1, 3), st.sampled_from(["anchor", "edge:next", "about"])), max_size=30),
    st.integers(0, 3000),
)
def test_the_window_never_costs_more_than_the_budget(found: list[tuple[int, str]], budget: int) -> None:
    items = [evidence(place, iteration, path) for place, (iteration, path) in enumerate(found)]
    shown = select(items, budget, iteration=3)
    assert sum(count_turn_tokens(item) for item in shown) <= budget
    assert len(set(ids(shown))) == len(shown)


def test_a_turn_of_any_length_has_a_place() -> None:
    long = replace(evidence(1).turn, id="long", text=WORDS * 400)
    assert ids(select([Evidence(long, (), 1.0, "anchor", 1)], 1_000, iteration=1)) == ["long"]
