"""MGRetrieval's loop in detail: what it asks of the store, its pyramid, and what it does where words fail."""

from __future__ import annotations

import json
from datetime import datetime
from functools import partial
from typing import Any

import pytest

import evimem
from evimem.errors import ModelTimeout
from evimem.judging.judge import question_words_first
from evimem.loops import MGRetrieval
from evimem.loops.mgretrieval import exchanges, keyword_groups
from evimem.offline.offline_judge import OfflineJudge
from evimem.testing import ScriptedModel
from evimem.types.stored import Keyword
from evimem.types.values import Turn
from tests.doubles import FakeClock
from tests.loops.conftest import dialogue

QUESTION = "What is Mira's puppy called?"


def test_it_asks_the_store_for_keywords_their_turns_and_what_stands_around_them(puppy: Any) -> None:
    answer = puppy.ask(QUESTION, OfflineJudge(), loop="mgretrieval")
    made = {method for method, _ in puppy.made} - {"find", "mentions"}  # of reading again, and of quoting
    assert made == {"roster", "keywords", "holding", "recall", "contexts"}
    assert answer.trace.loop == "mgretrieval"


def test_a_pyramid_is_read_from_all_keywords_to_each_alone_the_smallest_group_of_a_level_first() -> None:
    sizes = {("a", "b", "c"): 0, ("a", "b"): 2, ("a", "c"): 1, ("b", "c"): 0, ("a",): 3, ("b",): 3, ("c",): 1}
    groups = list(keyword_groups(["a", "b", "a", "c"], sizes.__getitem__))
    assert groups == [("a", "c"), ("a", "b"), ("c",), ("a",), ("b",)]
    largest = keyword_groups(["a", "b", "c"], sizes.__getitem__, largest_first=True)
    assert list(largest) == [("a", "b"), ("a", "c"), ("a",), ("b",), ("c",)]


def test_levels_that_are_not_reached_are_not_counted(puppy: Any) -> None:
    puppy.ask("Did Juno eat my running shoe this morning?", OfflineJudge(), loop="mgretrieval", iterations=1, k=1)
    of_levels = [len(terms) for terms, *_ in puppy.calls("holding") if len(terms) > 1]
    assert of_levels == [4]


def test_a_question_without_a_keyword_of_the_memory_is_one_search_of_all(puppy: Any) -> None:
    puppy.ask("Qwxyz?", OfflineJudge(), loop="mgretrieval", iterations=1)
    assert [(query.holding, query.text) for query in puppy.searches] == [((), "Qwxyz?")]


def test_the_questions_own_words_come_before_near_ones() -> None:
    near, own, later = Keyword("cat", "dog", 1, 0.5), Keyword("puppy", "puppi", 9), Keyword("mill", "mill", 1)
    assert question_words_first([near, own, later], 2) == (own, later)


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
    assert (partial.kind, partial.fell_back, partial.usage.requests) == ("quote", True, 1)


@pytest.mark.parametrize(
    ("said", "together"),
    [
        ("M1 N1 M1 N1", [[0, 1], [2, 3]]),
        ("M1 M1 N1 N1", [[0], [1, 2], [3]]),
        ("M1 N2 N1 M2 M1", [[0, 2], [1, 3], [4]]),
        ("M1", [[0]]),
    ],
)
def test_an_exchange_is_what_one_says_with_what_another_says_next(said: str, together: list[list[int]]) -> None:
    at = datetime(2024, 3, 12)
    turns = [Turn(str(place), one[1], one[0], "hm", at) for place, one in enumerate(said.split())]
    assert exchanges(turns) == [tuple(map(str, places)) for places in together]


@pytest.mark.parametrize(
    ("unit", "without", "first"),
    [
        ("turn", (), [["s1:2", "s1:4"], ["s1:1"]]),
        ("exchange", (), [["s1:1", "s1:2"], ["s1:3", "s1:4"]]),
        ("exchange", ("mask",), [["s1:1", "s1:2"], ["s1:1", "s1:2", "s1:3", "s1:4"]]),
    ],
)
def test_an_exchange_has_the_words_of_both_and_is_read_whole(
    world: Any, unit: str, without: tuple[str, ...], first: list[list[str]]
) -> None:
    lines = ["Which ledger do you mean?", "The one about herons.", "Hm.", "Herons again!", "It rained.", "So it did."]
    memory = world(dialogue(zip(["Mira", "Noah"] * 3, lines, strict=True)))
    ask = partial(memory.ask, "Which ledger is about herons?", OfflineJudge(), "mgretrieval", without=set(without))
    trace = ask(unit=unit, whole_groups=True, iterations=2).trace
    acted = [event for event in trace if event.kind == "action"]
    one, two = [set(event.detail["turns"]) for event in acted if event.action == "show"][:2]
    kept = set() if without else next(event.detail["critical"] for event in acted if event.action == "consider")
    assert [sorted(one), sorted(two.difference(kept))] == first


def test_no_exchange_holds_a_turn_outside_the_scope_or_waits_for_one(tmp_path: Any) -> None:
    with evimem.open(tmp_path / "m.evimem") as memory:
        for place in range(8):
            line = f"Is ledger {place} about herons?"
            memory.add("MN"[place % 2], line, time=f"2024-03-12T18:0{place}", id=f"t{place}")
        loop = MGRetrieval(unit="exchange", iterations=9, k=1)
        trace = memory.ask("Which ledger is about herons?", loop, speaker="N").trace
    shown = {turn for event in trace if event.kind == "evidence" for turn in event.turns}
    assert shown >= {"t1", "t3"}, "two rounds were made before the evidence was taken to suffice"
    assert shown <= {"t1", "t3", "t5", "t7"}


@pytest.mark.parametrize(("kind", "rounds"), [("contradicted", 1), ("attribute", 2)])
def test_a_corrected_premise_that_is_accepted_ends_the_reading(kind: str, rounds: int, tmp_path: Any) -> None:
    gaps = [{"kind": kind, "about": "Mira", "text": "It was Ailsa's veil.", "evidence": ["e1"]}]
    said = {"critical": ["e1"], "gaps": gaps, "reason": "", "tier": "partial", "confidence": 0.0, "answer": ""}

    def reply(request: Any) -> str:
        return json.dumps({**said, "accepted": True} if "critical" in request.system else {"keywords": ["k1"]})

    model = ScriptedModel(then=reply)
    with evimem.open(tmp_path / "m.evimem", llm=model) as memory:
        for number in range(2):
            memory.add("Mira", f"Ailsa has her veil on, number {number}.", time=f"2024-03-12T18:2{number}")
        answer = memory.ask("What colour was Mira's veil?", MGRetrieval(k=1, neighbours=False))
    read = [one for one in answer.trace if getattr(one, "action", "") == "consider"]
    assert (answer.kind, len(read)) == ("abstained", rounds)
