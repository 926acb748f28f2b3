"""MGRetrieval's loop in detail: what it asks of the store, its pyramid, and what it does where words fail."""

from __future__ import annotations

from typing import Any

import pytest

import evimem
from evimem.errors import ModelTimeout
from evimem.judging.reading import own_first
from evimem.loops.pyramid import pyramid_of
from evimem.offline.offline_judge import OfflineJudge
from evimem.testing import FakeClock, ScriptedModel
from evimem.types.stored import Keyword

QUESTION = "What is Mira's puppy called?"


def test_it_asks_the_store_for_keywords_their_turns_and_what_stands_around_them(puppy: Any) -> None:
    answer = puppy.ask(QUESTION, OfflineJudge(), loop="mgretrieval")
    assert {method for method, _ in puppy.made} == {"roster", "keywords", "holding", "recall", "contexts"}
    assert answer.trace.loop == "mgretrieval"


def test_a_pyramid_is_read_from_all_keywords_to_each_alone_the_smallest_group_of_a_level_first() -> None:
    pyramid = pyramid_of(["a", "b", "a", "c"])
    read = []
    sizes = {("a", "b", "c"): 0, ("a", "b"): 2, ("a", "c"): 1, ("b", "c"): 0, ("a",): 3, ("b",): 3, ("c",): 1}
    while not pyramid.exhausted:
        while pyramid.groups:
            read.append(pyramid.groups[0])
            pyramid = pyramid.without_first()
        if pyramid.below:
            pyramid = pyramid.descended(sizes)
    assert read == [("a", "c"), ("a", "b"), ("c",), ("a",), ("b",)]


def test_levels_that_are_not_reached_are_not_counted(puppy: Any) -> None:
    puppy.ask("Did Juno eat my running shoe this morning?", OfflineJudge(), loop="mgretrieval", iterations=1, k=1)
    assert [len(terms) for terms, *_ in puppy.calls("holding")] == [4]


def test_a_question_without_a_keyword_of_the_memory_is_one_search_of_all(puppy: Any) -> None:
    puppy.ask("Qwxyz?", OfflineJudge(), loop="mgretrieval", iterations=1)
    assert [(query.holding, query.text) for query in puppy.searches] == [((), "Qwxyz?")]


def test_the_questions_own_words_come_before_near_ones() -> None:
    near, own, later = Keyword("cat", "dog", 1, 0.5), Keyword("puppy", "puppi", 9), Keyword("mill", "mill", 1)
    assert own_first([near, own, later], 2) == (own, later)


def test_a_question_may_be_asked_of_the_turns_alone(puppy: Any) -> None:
    answer = puppy.ask(QUESTION, OfflineJudge(), loop="mgretrieval", without={"index"})
    assert all(query.bare and query.vector is None for query in puppy.searches)
    assert answer.trace.loop == "mgretrieval"


def test_a_searcher_knows_no_keywords_and_the_error_says_which_loops_it_serves() -> None:
    class Nothing:
        def search(self, query: str, k: int, exclude: Any = ()) -> list[Any]:
            return []

    with pytest.raises(evimem.InvalidQuery, match="expected one of iris, memr3, single_pass"):
        evimem.ask_searcher(QUESTION, Nothing(), loop="mgretrieval")


def test_a_failure_of_the_model_is_an_error_with_what_was_found(tmp_path: Any) -> None:
    model = ScriptedModel([ModelTimeout("slow")])
    with evimem.open(tmp_path / "m.evimem", llm=model, clock=FakeClock(1.7e9)) as memory:
        memory.add("Mira", "We adopted a puppy.", time="2024-03-12T18:20")
        with pytest.raises(ModelTimeout) as raised:
            memory.ask(QUESTION, "mgretrieval")
    partial = raised.value.partial
    assert [turn for event in partial.trace if event.kind == "evidence" for turn in event.turns]
    assert (partial.kind, partial.usage.requests) == ("failed", 1)
