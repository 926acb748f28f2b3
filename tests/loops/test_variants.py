"""The ablations: what each switch leaves out, by the one behaviour that differs, and the rows of EviMem's tables."""

from __future__ import annotations

from dataclasses import fields, replace
from itertools import pairwise
from typing import Any

import pytest

from evimem.errors import InvalidQuery
from evimem.flow import run
from evimem.judging.evidence import Verdict
from evimem.loops import VARIANTS, Iris, MGRetrieval, MRAgent, Task
from evimem.types.results import Answer
from evimem.types.trace import Judged, Queried, Trace
from evimem.types.values import Gap, Tier

QUESTION = "What is Mira's puppy called?"
WHEN = "When did Mira adopt her puppy?"
PARTIAL = Verdict(Tier.PARTIAL, 0.4, probability=0.9, query="Juno the puppy")


def events(trace: Trace, kind: type[Any]) -> list[Any]:
    return [event for event in trace.events if isinstance(event, kind)]


def asked(world: Any, judge: Any, *without: str, question: str = QUESTION, **budget: Any) -> Answer:
    world.made.clear()
    world.effects.clear()
    return world.ask(question, judge, without=frozenset(without), **budget)  # type: ignore[no-any-return]


def test_without_sufficiency_nothing_is_judged_and_the_answer_is_direct(puppy: Any, script: Any) -> None:
    judge = script([PARTIAL])
    answer = asked(puppy, judge, "sufficiency", "tiers", iterations=1)
    assert (judge.views, judge.manners, answer.text) == ([], ["direct"], "Juno")
    assert [judged.judge for judged in events(answer.trace, Judged)] == ["none"]


def test_without_tiers_what_can_be_inferred_is_not_enough(puppy: Any, script: Any, verdict: Any) -> None:
    with_tiers, without = script([verdict(Tier.INFERRABLE, 0.72)]), script([verdict(Tier.INFERRABLE, 0.72)])
    assert asked(puppy, with_tiers).tier is Tier.INFERRABLE
    assert asked(puppy, without, "tiers").tier is Tier.PARTIAL
    assert (len(with_tiers.views), len(without.views)) == (1, 3)
    assert (with_tiers.manners, without.manners) == (["inferred"], ["direct"])


def test_without_temporal_a_question_about_time_is_judged_as_any_other(puppy: Any, script: Any, verdict: Any) -> None:
    for without, confidence, manner in (((), 0.85, "precise"), (("temporal",), 0.72, "direct")):
        judge = script([verdict(Tier.EXACT, 0.72)])
        trace = asked(puppy, judge, *without, question=WHEN).trace
        assert events(trace, Judged)[0].final_confidence == confidence
        assert judge.manners == [manner]
        assert ("dates" in events(trace, Queried)[0].strategy) is not without


def test_without_entities_too_few_facts_lower_no_tier(puppy: Any, script: Any, verdict: Any) -> None:
    question = "What did Mira give Bartholomew?"
    assert asked(puppy, script([verdict(Tier.EXACT, 0.99)]), question=question).tier is Tier.PARTIAL
    judge = script([verdict(Tier.EXACT, 0.99)])
    assert asked(puppy, judge, "entities", question=question).tier is Tier.EXACT
    assert judge.views[0].entities == {}


def test_without_an_anchor_the_question_is_searched_for_once(puppy: Any, script: Any) -> None:
    def paths(*without: str) -> list[tuple[int, str]]:
        judge = script([replace(PARTIAL, query="a trip to Norway"), replace(PARTIAL, query="the wet oak")])
        trace = asked(puppy, judge, *without).trace
        return [(event.iteration, event.path) for event in events(trace, Queried)]

    assert paths().count((2, "anchor")) == 1
    assert paths("anchor") == [(1, "anchor"), (2, "refined"), (3, "refined")]


def test_without_an_index_turns_are_searched_by_their_words_and_have_no_facts(puppy: Any, script: Any) -> None:
    judge = script([Verdict(Tier.PARTIAL, 0.4, gaps=(Gap("entity", "Mira", "too little"),))])
    asked(puppy, judge, "index", "edges")
    assert all(query.bare and query.vector is None for query in puppy.searches)
    assert puppy.calls("facts") == []
    assert all(item.facts == () for view in judge.views for item in view.evidence)
    assert judge.views[0].entities["Mira"].found > 2  # turns that name her, where there are no facts to count


@pytest.mark.parametrize(
    ("wrong", "says"),
    [
        ({"depth": 0}, "depth is 0; expected 1 or 2 or 3 or 4 or 5 or 6"),
        ({"depth": True}, "expected 1 or 2"),
        ({"depth": [7]}, "expected 1 or 2"),
        ({"unit": "word"}, "'turn' or 'tuple'"),
        ({"temperature": -1}, "a number from 0, or None"),
        ({"accepts": None}, "'tier' or 'flag'"),
        ({"graph": "cue"}, "'cue-tag-content' or 'cue-tag-event' or 'cue-event'"),
        ({"without": {"everything"}}, "sufficiency, tiers, temporal"),
        ({"without": "tiers"}, "sufficiency, tiers, temporal"),
        ({"without": [["a"]]}, "sufficiency, tiers, temporal"),
        ({"step": -1}, "a whole number from 0"),
        ({"iterations": 0}, "a whole number from 1"),
        ({"k": True}, "a whole number from 1"),
        ({"k": 2**70}, "a whole number from 1"),
        ({"delta": "all"}, "'paper' or a whole number from 0"),
        ({"calls": 7}, "'joint' or 'apart' or 'separate'"),
        ({"abstain": "maybe"}, "'calibrated' or 'paper'"),
        ({"unranked": 1}, "True or False"),
    ],
)
def test_a_variant_that_there_is_not_is_refused_with_what_was_expected(wrong: dict[str, Any], says: str) -> None:
    with pytest.raises(InvalidQuery, match=says):
        next(loop for loop in (Iris, MGRetrieval, MRAgent) if wrong.keys() <= {one.name for one in fields(loop)})(
            **wrong
        )


def row(name: str) -> Iris:
    found = VARIANTS[name]
    assert isinstance(found, Iris)
    return found


def test_the_papers_five_and_three_variants_are_there_and_each_adds_a_group() -> None:
    iris = ("single-pass", "basic-loop", "tiered-sufficiency", "temporal-adaptation", "full")
    lacemem = ("raw-only", "index-layer", "full")
    for names in (iris, lacemem):
        left_out = [frozenset(row(name).without) for name in names]
        assert all(more > less for more, less in pairwise(left_out))
        assert left_out[-1] == {"tracker"}
        assert {replace(row(name), without=(), iterations=3) for name in names} == {
            Iris(delta="paper", abstain="paper", calls="separate", unit="tuple", temperature=0.3)
        }


@pytest.mark.parametrize("name", [name for name in VARIANTS if isinstance(VARIANTS[name], Iris)])
def test_every_variant_answers(puppy: Any, script: Any, verdict: Any, name: str) -> None:
    judge = script([verdict(Tier.INFERRABLE, 0.8)])
    answer = run(VARIANTS[name](Task(QUESTION, judge, puppy)), puppy.perform)
    assert answer.text == "Juno"
    assert len(judge.views) == {"single-pass": 0, "basic-loop": 3}.get(name, 1)
    assert Trace.from_json(answer.trace.to_json()) == answer.trace


def test_a_variant_is_a_loop_by_name(puppy: Any, script: Any, verdict: Any) -> None:
    answer = puppy.ask(QUESTION, script([verdict(Tier.EXACT, 0.9)]), loop="basic-loop")
    assert answer.trace.events[0].detail["variant"] == VARIANTS["basic-loop"].to_dict()  # type: ignore[attr-defined]
