"""One configuration serves three kinds of conversation: what helps one must not cost another."""

from dataclasses import replace
from functools import lru_cache
from statistics import fmean

import pytest

from benchmarks.retrieval import FLOW, KERNEL, Conversation, scenes, scored
from benchmarks.scenes import KINDS
from evimem.index.ranking import SEARCH_EFFORT, SearchEffort
from evimem.index.weights import WEIGHTS, Weights

REACHED = {"turns": 0.83, "bursts": 0.80, "assistant": 0.98}  # recall@10; a drop of a few hundredths is a change


@lru_cache(maxsize=1)
def written() -> dict[str, list[Conversation]]:
    return scenes(1)


@lru_cache
def recall_10(kind: str, weights: Weights = WEIGHTS, effort: SearchEffort = SEARCH_EFFORT) -> float:
    return fmean(score.recall_10 for one in written()[kind] for score in scored(one, weights, effort))


@pytest.mark.parametrize("kind", KINDS)
def test_each_kind_of_conversation_is_served(kind):
    assert recall_10(kind) >= REACHED[kind]


@pytest.mark.parametrize("kind", ["turns", "bursts"])
def test_answers_that_repeat_nothing_are_found_through_their_neighbours(kind):
    assert recall_10(kind) >= recall_10(kind, replace(WEIGHTS, **KERNEL, **FLOW)) + 0.2


def test_a_message_of_a_burst_is_less_than_a_turn():
    assert recall_10("bursts") > recall_10("bursts", replace(WEIGHTS, burst=1.0)) + 0.02


@pytest.mark.parametrize("kind", KINDS)
def test_candidates_find_what_scoring_everything_finds(kind):
    assert recall_10(kind, effort=SearchEffort(whole=0)) == pytest.approx(recall_10(kind), abs=0.01)
    assert recall_10(kind, effort=SearchEffort(whole=0, compared=0, sketched=400)) == pytest.approx(
        recall_10(kind), abs=0.01
    )
