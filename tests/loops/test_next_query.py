"""The next query: by (temporal, iteration), from the worst open gap, and never one that was asked before."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from evimem.judging.evidence import Analysis
from evimem.loops.retrieve import is_new_query, query_from_gaps, strategy_name
from evimem.query.analysis import analyse
from evimem.types.values import Gap

GAPS = (Gap("time", "adopt puppy", "no date"), Gap("entity", "Mira", "too little about Mira"))


def question(text: str = "When did Mira adopt her puppy?") -> Analysis:
    return analyse(text, ("Mira", "Tomas"), None)


def test_each_iteration_has_a_strategy_of_its_own_and_the_last_one_stays() -> None:
    for temporal in (True, False):
        names = [strategy_name(temporal=temporal, iteration=i) for i in (1, 2, 3, 4)]
        assert len(set(names)) == 3
        assert names[2] == names[3]
    assert strategy_name(temporal=True, iteration=1) != strategy_name(temporal=False, iteration=1)


def test_the_worst_gap_makes_the_query_and_its_text_keeps_its_case() -> None:
    assert query_from_gaps(question(), GAPS, [], 2) == "Mira adopt puppy when date"
    assert query_from_gaps(question(), GAPS[1:], [], 2) == "Mira adopt puppy"


def test_a_query_that_was_asked_gives_way_to_the_next_gaps() -> None:
    first = query_from_gaps(question(), GAPS, [], 2)
    assert query_from_gaps(question(), GAPS, [first.upper()], 2) == "Mira adopt puppy"


def test_when_every_gap_was_tried_there_is_no_query() -> None:
    asked: list[str] = []
    while query := query_from_gaps(question(), GAPS, asked, 2):
        asked.append(query)
    assert 1 <= len(asked) <= 3


@given(
    st.lists(st.sampled_from(["Mira adopt puppy", "mira  ADOPT puppy", "Mira adopt puppy when date"])),
    st.integers(1, 4),
)
def test_a_composed_query_is_always_new(earlier: list[str], iteration: int) -> None:
    query = query_from_gaps(question(), GAPS, earlier, iteration)
    assert not query or is_new_query(query, earlier)


def test_a_query_of_nothing_is_not_new() -> None:
    assert not is_new_query("  ", [])
