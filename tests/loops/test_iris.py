"""IRIS in detail: what it asks for, how it ends and what it keeps. Its statements are tested in tests/statements."""

from __future__ import annotations

from datetime import datetime
from typing import Any

import pytest

from evimem.errors import InvalidQuery
from evimem.flow import Embed, run
from evimem.judging.evidence import Draft, Verdict
from evimem.loops import LOOPS, Task, answer_question
from evimem.loops.answering import cost
from evimem.offline.offline_judge import OfflineJudge
from evimem.types.results import Budget, Citation
from evimem.types.trace import Acted, Called, Found, Judged, Stopped, Trace
from evimem.types.values import Gap, Tier, Turn
from tests.reference.replayed_tracker import replay_trace

QUESTION = "What is Mira's puppy called?"
PARTIAL = Verdict(Tier.PARTIAL, 0.4, probability=0.9)


def events(trace: Trace, kind: type[Any]) -> list[Any]:
    return [event for event in trace.events if isinstance(event, kind)]


def test_what_the_question_finds_next_stands_beside_its_best_turns_and_more_of_it_at_each_check(
    puppy: Any, script: Any
) -> None:
    brought = {}
    for uses_model in (True, False):
        judge = script([Verdict(Tier.PARTIAL, 0.4)], uses_model=uses_model)
        found = [
            event for event in puppy.ask("What is Mira's puppy called?", judge, k=4).trace if isinstance(event, Found)
        ]
        brought[uses_model] = {(event.iteration, event.path): len(event.turns) for event in found}
    on, off = brought[True], brought[False]
    assert on[1, "edge"] == 1  # in the place of k // 2
    assert min(on[1, "further"], on[2, "further"]) >= 1  # as far as there is room on the page
    assert (off[1, "edge"], [path for _, path in off if path == "further"]) == (2, [])


def test_a_query_with_a_vector_is_embedded_once_and_searched_once(puppy: Any, script: Any) -> None:
    puppy.ask(QUESTION, script([PARTIAL]))
    texts = [text for effect in puppy.of(Embed) for text in effect.texts]
    assert len(texts) == len(set(texts)) == len([query for query in puppy.searches if not query.bare])


def test_the_dialogue_around_a_turn_is_read_once_and_all_of_a_check_together(puppy: Any, script: Any) -> None:
    judge = script([PARTIAL])
    puppy.ask(QUESTION, judge)
    read = [turn_id for turn_ids, _, _ in puppy.calls("contexts") for turn_id in turn_ids]
    assert len(read) == len(set(read)) == len({item.turn.id for view in judge.views for item in view.shown})
    assert len(puppy.calls("contexts")) <= 2 * len(judge.views)  # one of them for what the page has room for


def test_a_small_memory_stops_when_there_is_nothing_new(world: Any, script: Any) -> None:

    small = world([Turn("s1:1", "s1", "Mira", "Our puppy is called Juno.", datetime(2024, 3, 12))])
    judge = script([PARTIAL])
    answer = small.ask(QUESTION, judge)
    assert len(judge.views) == 1
    assert events(answer.trace, Stopped)[0].reason == "no new evidence"
    assert answer.text == "Juno"


def test_an_empty_memory_abstains_without_asking_anybody(world: Any, script: Any) -> None:
    judge = script([PARTIAL])
    answer = world([]).ask(QUESTION, judge)
    assert (answer.text, answer.abstained, answer.tier, judge.views) == (None, True, Tier.NONE, [])
    assert answer.reason


def test_a_time_gap_prefers_turns_that_tell_a_time(puppy: Any, script: Any) -> None:
    gap = Gap("time", "puppy called", "no date")
    puppy.ask(QUESTION, script([Verdict(Tier.PARTIAL, 0.4, gaps=(gap,))]))
    question, later, *refined = puppy.searches
    assert (question.when, later.when, [query.when for query in refined]) == (False, False, [True, True])


def test_a_low_probability_abstains_with_the_minds_reason(puppy: Any, script: Any) -> None:
    judge = script([Verdict(Tier.INFERRABLE, 0.8, probability=0.2, reason="the evidence is about Mira, not Tomas")])
    answer = puppy.ask(QUESTION, judge)
    assert (answer.abstained, answer.reason) == (True, "the evidence is about Mira, not Tomas")
    assert answer.confidence == 0.8  # that nothing was told
    assert not puppy.ask(QUESTION, judge, abstain_below=0.1).abstained


def test_a_citation_of_what_was_never_shown_is_dropped_and_counted(puppy: Any, script: Any, verdict: Any) -> None:
    draft = Draft(
        "Juno", (Citation("s9:9", None, ""), Citation("s1:1", None, "she is called Juno", fact_id="invented"))
    )
    answer = puppy.ask(QUESTION, script([verdict(Tier.EXACT, 0.9)], draft=draft))
    assert [(c.turn_id, c.quote, c.fact_id) for c in answer.citations] == [("s1:1", "she is called Juno", None)]
    start, end = answer.citations[0].span
    assert "We adopted a puppy last Friday, she is called Juno."[start:end] == "she is called Juno"
    assert events(answer.trace, Acted)[-1].detail["dropped"] == 1


def test_a_quote_that_no_turn_has_is_not_kept(puppy: Any, script: Any, verdict: Any) -> None:
    draft = Draft("Rex", (Citation("s1:1", (0, 3), "he is called Rex"),))
    answer = puppy.ask(QUESTION, script([verdict(Tier.EXACT, 0.9)], draft=draft))
    assert [(c.turn_id, c.span, c.quote) for c in answer.citations] == [("s1:1", None, "")]


def test_an_answer_without_a_usable_citation_cites_the_witnesses(puppy: Any, script: Any, verdict: Any) -> None:
    need = "entity:Mira"
    judge = script([verdict(Tier.EXACT, 0.9, supported={need: ("s1:1",)})], draft=Draft("Juno"))
    assert [c.turn_id for c in puppy.ask(QUESTION, judge).citations] == ["s1:1"]


@pytest.mark.parametrize(
    ("costs", "expected"), [((0.25, 0.5), 0.75), ((0.25, None), None), ((None, None), None), ((), None)]
)
def test_a_bill_is_whole_or_there_is_none(costs: tuple[float | None, ...], expected: float | None) -> None:
    calls = [Called(1, "judge", "ok", 10, 1, cost=one) for one in costs]
    assert cost([*calls, Called(1, "judge", "ModelTimeout")]).cost == expected


def test_what_is_still_missing_when_the_budget_is_used_up_is_in_the_answer_and_the_trace(
    puppy: Any, script: Any
) -> None:
    gap = Gap("time", "Mira", "no date of the adoption")
    judge = script([Verdict(Tier.PARTIAL, 0.4, probability=0.9, gaps=(gap,))])
    answer = puppy.ask("When did Mira adopt her puppy?", judge)
    assert (answer.text, answer.gaps[0]) == ("Juno", gap)
    assert {r.id for r in replay_trace(answer.trace).open} >= {"time", "attribute"}


def test_time_used_up_ends_the_search_after_the_check(puppy: Any, script: Any) -> None:

    seconds = iter([0.0, 10.0, 20.0])
    judge = script([PARTIAL])
    task = Task(QUESTION, judge, puppy, budget=Budget(seconds=5), clock=lambda: next(seconds))
    answer = run(LOOPS["iris"](task), puppy.perform)
    assert len(judge.views) == 1
    assert events(answer.trace, Stopped)[0].reason == "time used up"


def test_single_pass_searches_once_and_judges_once(puppy: Any, script: Any) -> None:
    judge = script([PARTIAL])
    answer = puppy.ask(QUESTION, judge, loop="single_pass")
    assert (len(puppy.searches), len(judge.views), puppy.hops) == (1, 1, 0)
    assert answer.text == "Juno"


@pytest.mark.parametrize(
    "wrong",
    [{"question": "  "}, {"loop": "spiral"}, {"budget": Budget(iterations=0)}, {"budget": Budget(abstain_below=2)}],
)
def test_a_question_without_meaning_is_refused_before_anything_is_asked(wrong: dict[str, Any]) -> None:
    given = {"question": QUESTION, "store": None, "judge": OfflineJudge(), **wrong}
    loop = given.pop("loop", "iris")
    with pytest.raises(InvalidQuery):
        next(answer_question(Task(**given), loop))


def test_a_quotation_is_not_an_answer(puppy: Any, script: Any, verdict: Any) -> None:
    draft = Draft('Mira: "she is called Juno"', (Citation("s1:1", None, ""),), kind="quote", confidence=0.6)
    answer = puppy.ask(QUESTION, script([verdict(Tier.EXACT, 0.9)], draft=draft))
    assert (answer.kind, answer.confidence, answer.abstained) == ("quote", 0.6, False)
    judged = [event for event in answer.trace if isinstance(event, Judged)]
    assert judged[-1].final_confidence == 0.9  # how far the evidence suffices is a number of its own
