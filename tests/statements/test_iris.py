"""EviMem's statements E1 to E14, each checked through the public API; the design where it departs from them."""

from __future__ import annotations

import json
from typing import Any

import pytest

import evimem
from evimem import Gap, Tier
from evimem.llm.llm_judge import read_chain

from .conftest import PUPPY, Chat, draft, events, partial, supported, verdict

WHEN = "When did Mira adopt her puppy?"
WHAT = "What did Mira see by the mill?"
QUERIES = ("heron by the mill", "salty bread", "walk with Noah")
LOOKING = [partial(query) for query in QUERIES]
DIRECT = json.dumps({"type": "direct", "steps": [], "used": []})


def test_e1_a_turn_is_stored_verbatim_and_once(remembered: Any) -> None:
    text = "  I'm off to Porto\u2026 \n\t(again!)  \U0001f415"
    memory = remembered(("Mira", text, "2024-03-12T18:20"))
    again = memory.add("Mira", text, time="2024-03-12T18:20", session="D1", id="D1:1")
    turn = memory.turn("D1:1")
    assert (turn.text, turn.speaker, turn.session, turn.time.isoformat()) == (text, "Mira", "D1", "2024-03-12T18:20:00")
    assert (again.added, again.existing, memory.stats().turns) == (0, 1, 1)


def test_e2_a_turn_that_asserts_something_yields_facts_about_its_speaker(remembered: Any) -> None:
    memory = remembered(("Mira", "I adopted a puppy. I love chamber music.", "2024-03-12T18:20"))
    facts = memory.facts(["D1:1"])
    assert [(fact.subject, fact.turn_id) for fact in facts] == [("Mira", "D1:1")] * 2
    assert {fact.kind for fact in facts} == {"event", "opinion"}
    assert all(memory.turn("D1:1").text[slice(*fact.span)] for fact in facts)


@pytest.mark.parametrize(
    ("said", "time", "granularity", "start"),
    [
        ("I moved to Leeds two months ago.", "2023-03-01T10:00", "month", "2023-01-01"),
        ("I finished the kitchen yesterday.", "2023-01-01T09:00", "day", "2022-12-31"),
        ("I bought the van last year.", "2023-03-01T10:00", "year", "2022-01-01"),
        ("I sold the van a while ago.", "2023-03-01T10:00", "vague", None),
        ("I adopted the puppy the day after my exam on 3 March.", "2023-06-01T10:00", "day", "2023-03-04"),
        ("I quit two weeks before my birthday on 20 May.", "2023-06-01T10:00", "day", "2023-05-06"),
    ],
)
def test_e3_a_time_is_reckoned_from_its_turn_as_fine_as_it_was_said(
    remembered: Any, said: str, time: str, granularity: str, start: str | None
) -> None:
    (fact,) = remembered(("Mira", said, time)).facts(["D1:1"])
    assert fact.event.granularity == granularity
    assert (fact.event.start and fact.event.start.date().isoformat()) == start
    assert fact.event.text in said


def test_e4_facts_are_linked_once_and_both_ways_where_they_are_similar(remembered: Any) -> None:
    memory = remembered(
        ("Mira", "I adopted a puppy. I love chamber music.", "2024-03-12T18:20"),
        ("Noah", "I bake bread.", "2024-03-12T18:21"),
        ("Mira", "I adopted a puppy.", "2024-04-12T18:20"),
    )
    assert memory.stats().edges == {"same_turn": 1, "similar": 1, "next": 2, "updates": 0}
    there = {hit.turn.id: hit for hit in memory.neighbours("D1:1")}
    back = {hit.turn.id: hit for hit in memory.neighbours("D1:3")}
    assert there["D1:3"].path == back["D1:1"].path == "edge:similar"
    assert there["D1:3"].score == back["D1:1"].score == pytest.approx(1.0, abs=0.01)
    memory.rebuild()
    assert memory.stats().edges["similar"] == 1


def test_e4_the_facts_of_a_turn_are_a_chain(remembered: Any) -> None:
    said = "I adopted a puppy. I love chamber music. I bake bread. I sold the van."
    memory = remembered(("Mira", said, "2024-03-12T18:20"))
    assert len(memory.facts(["D1:1"])) == 4
    assert memory.stats().edges["same_turn"] == 3


def test_e5_each_iteration_searches_the_anchor_and_the_refined_query_for_more(chat: Chat) -> None:
    trace = chat.ask(WHEN, *LOOKING, draft()).trace
    searched = [(event.iteration, event.path, event.k) for event in events(trace, "query")]
    assert searched == [(1, "anchor", 10), (2, "anchor", 13), (2, "refined", 13), (3, "anchor", 16), (3, "refined", 16)]
    assert [event.query for event in events(trace, "query") if event.path == "refined"] == list(QUERIES[:2])
    found = [turn for event in events(trace, "evidence") for turn in event.turns]
    assert len(found) == len(set(found))
    assert any(event.path == "edge" and event.turns for event in events(trace, "evidence"))


def test_e6_what_is_found_first_in_an_iteration_is_seen_by_its_check_and_may_be_answered_from(chat: Chat) -> None:
    trace = chat.ask(WHEN, *LOOKING, draft()).trace
    for iteration in (1, 2, 3):
        new = [t for e in events(trace, "evidence") if e.iteration == iteration for t in e.turns]
        assert new
        assert all(chat.texts[turn] in chat.requests[iteration - 1].prompt for turn in new)
        assert all(chat.texts[turn] in chat.requests[-1].prompt for turn in new)


def test_e7_a_name_with_too_few_facts_lowers_the_tier_and_is_looked_for(chat: Chat) -> None:
    needs = [need for need in supported(4, "e1") if need["id"] != "r2"]  # all but the name
    question = "What did Mira give Bartholomew?"
    replies = [*[verdict("exact", 0.99, requirements=needs)] * 3, draft("a heron")]
    answer = chat.ask(question, *replies)
    judged = events(answer.trace, "judgement")[0]
    assert (judged.final_tier, judged.final_confidence) == (Tier.PARTIAL, 0.60)
    assert judged.gaps[0] == Gap("entity", "Bartholomew", "nothing in the memory is about Bartholomew")
    refined = [event.query for event in events(answer.trace, "query") if event.path == "refined"]
    assert "Bartholomew" in refined[0]
    again = chat.ask(question, *replies)
    assert events(again.trace, "judgement") == events(answer.trace, "judgement")  # nothing is carried over


@pytest.mark.parametrize(
    ("tier", "said", "becomes"), [("exact", 0.6, 0.85), ("inferrable", 0.95, 0.75), ("partial", 0.95, 0.50)]
)
def test_e8_confidence_about_a_time_has_a_floor_and_caps(chat: Chat, tier: str, said: float, becomes: float) -> None:
    trace = chat.ask(WHEN, verdict(tier, said), draft(), iterations=1).trace
    assert events(trace, "judgement")[0].final_confidence == becomes
    trace = chat.ask(WHAT, verdict(tier, said), draft(), iterations=1).trace
    assert events(trace, "judgement")[0].final_confidence == said


@pytest.mark.parametrize(
    ("question", "tier", "confidence", "checks"),
    [
        (WHAT, "exact", 0.70, 1),
        (WHAT, "exact", 0.69, 3),
        (WHEN, "exact", 0.10, 1),  # the floor of E8
        (WHAT, "inferrable", 0.70, 1),
        (WHEN, "inferrable", 0.70, 1),
        (WHAT, "inferrable", 0.69, 3),
        (WHAT, "partial", 0.99, 3),
    ],
)
def test_e9_the_search_ends_where_the_evidence_suffices(
    chat: Chat, question: str, tier: str, confidence: float, checks: int
) -> None:
    replies = [verdict(tier, confidence, next_query=query) for query in QUERIES[:checks]]
    trace = chat.ask(question, *replies, draft()).trace
    assert len(events(trace, "judgement")) == checks
    reason = events(trace, "stop")[0].reason
    assert reason == ("iterations used up" if checks == 3 else f"{tier} evidence")


def test_e10_the_next_query_is_made_from_question_gap_place_and_strategy_and_is_new(chat: Chat) -> None:
    gap_text = "When Mira met Bob Lee"
    asked = [partial(text=gap_text), '{"query": "Bob Lee"}', partial(text=gap_text), '{"query": "bob  LEE"}', partial()]
    trace = chat.ask(WHEN, *asked, DIRECT, draft(), calls="separate").trace
    refining = [request.prompt for request in chat.requests if "Search " in request.prompt]
    assert len(refining) == 2
    for iteration, prompt in enumerate(refining, 2):
        assert all(part in prompt for part in (WHEN, gap_text, f"Search {iteration} of 3", "Strategy: "))
    searched = [" ".join(event.query.casefold().split()) for event in events(trace, "query") if event.path == "refined"]
    assert searched[0] == "bob lee"
    assert len(set(searched)) == len(searched) == 2


@pytest.mark.parametrize(
    ("question", "tier", "confidence", "iterations", "abstains"),
    [
        (WHAT, "none", 0.9, 2, True),
        (WHAT, "none", 0.9, 1, False),
        ("What did Noah bake?", "partial", 0.29, 2, True),  # confidence stays low, however many facts there are
        ("What did Noah bake?", "partial", 0.31, 2, False),
    ],
)
def test_e11_it_abstains_without_a_tier_after_two_checks(
    chat: Chat, question: str, tier: str, confidence: float, iterations: int, abstains: bool
) -> None:
    replies = [verdict(tier, confidence, next_query=query) for query in QUERIES[:iterations]]
    answer = chat.ask(question, *replies, draft("a heron"), iterations=iterations, abstain="paper")
    assert answer.abstained is abstains


def test_e11_it_abstains_on_thin_evidence_and_never_for_a_failure(remembered: Any) -> None:
    path = remembered(("Mira", "I adopted a puppy.", "2024-03-12T18:20")).stats().path
    thin = Chat(path)
    assert thin.ask(WHEN, verdict("partial", 0.29), draft(), iterations=1, abstain="paper").abstained
    assert not thin.ask(WHEN, verdict("partial", 0.31), draft(), iterations=1, abstain="paper").abstained
    with pytest.raises(evimem.ModelTimeout) as caught:
        thin.ask(WHEN, evimem.ModelTimeout("late"))
    assert not caught.value.partial.abstained


def test_e12_a_chain_is_laid_out_unless_the_evidence_is_exact(chat: Chat) -> None:
    chain = json.dumps({"type": "multi_hop", "steps": ["find who directed it", "then when"], "used": ["e1", "e2"]})
    chat.ask(WHAT, verdict("inferrable", 0.8), chain, draft("a heron"), calls="separate")
    assert "find who directed it" in chat.requests[-1].prompt
    chat.ask(WHAT, verdict("exact", 0.8), draft("a heron"), calls="separate")
    assert len(chat.requests) == 2
    assert read_chain(chain) == ("find who directed it", "then when")


@pytest.mark.parametrize(
    ("question", "tier", "confidence", "said", "approximate"),
    [
        (WHEN, "exact", 0.9, 'without "around"', False),
        (WHEN, "inferrable", 0.75, '"in" or "around"', True),
        (WHAT, "exact", 0.9, "directly, without hedging", False),
        (WHAT, "inferrable", 0.8, "directly, without hedging", False),
        (WHAT, "inferrable", 0.72, "Infer it with care", True),
        (WHAT, "partial", 0.5, "Infer it with care", True),
        (WHAT, "partial", 0.4, "what is missing for a full answer", True),
    ],
)
def test_e13_the_wording_follows_tier_time_and_confidence_and_doubt_costs_some(
    chat: Chat, question: str, tier: str, confidence: float, said: str, approximate: bool
) -> None:
    answer = chat.ask(question, verdict(tier, confidence), draft(), iterations=1)
    assert said in chat.requests[-1].prompt
    (acted,) = [event for event in events(answer.trace, "action") if event.action == "answer"]
    sufficiency = max(0.3, confidence - 0.15) if approximate else confidence
    assert acted.detail["sufficiency"] == pytest.approx(sufficiency)


def test_e13_the_answer_is_given_the_turns_themselves_with_the_facts(chat: Chat) -> None:
    answer = chat.ask(WHEN, verdict(requirements=supported(4, "puppy")), draft("8 March 2024", "puppy"))
    assert PUPPY in chat.requests[-1].prompt
    assert '\n= "last Friday" is 8 March 2024\n' in chat.requests[-1].prompt
    assert [citation.turn_id for citation in answer.citations] == ["puppy"]


@pytest.mark.parametrize("iterations", [1, 2, 3, 5])
def test_e14_at_most_one_request_a_check_and_one_for_the_answer(chat: Chat, iterations: int) -> None:
    replies = [partial(f"{QUERIES[number % 3]} {number}") for number in range(iterations)]
    usage = chat.ask(WHEN, *replies, draft(), iterations=iterations).usage
    assert usage.requests == len(chat.requests) == iterations + 1


def test_e14_the_papers_pattern_takes_at_most_three_k_plus_three(chat: Chat) -> None:
    low, query = partial(), json.dumps({"query": "mill heron"})
    other = json.dumps({"query": "salty bread"})
    names = json.dumps({"names": ["Zoe"]})
    replies = [names, low, query, low, other, low, DIRECT, draft()]
    usage = chat.ask("When was the walk to the mill?", *replies, calls="separate").usage
    assert usage.requests == 8 <= 3 * 3 + 3


def test_e14_the_trace_has_both_queries_the_evidence_of_each_path_tier_confidence_and_gap(chat: Chat) -> None:
    trace = chat.ask(WHEN, *LOOKING, draft()).trace
    for iteration in (2, 3):
        here = [event for event in trace if event.iteration == iteration]
        assert [event.path for event in here if event.kind == "query"] == ["anchor", "refined"]
        assert [event.path for event in here if event.kind == "evidence"] == [
            "anchor", "refined", "edge", "further"
        ]  # fmt: skip
        (judged,) = [event for event in here if event.kind == "judgement"]
        assert (judged.tier, judged.confidence, judged.gaps[0].text) == (Tier.PARTIAL, 0.4, "no date is given")


def test_e_citations_are_of_what_was_shown(chat: Chat) -> None:
    judged = verdict(requirements=supported(4, "puppy"))
    answer = chat.ask(WHEN, judged, draft("8 March 2024", "puppy", "e999", "D9:9"))
    (acted,) = [event for event in events(answer.trace, "action") if event.action == "answer"]
    assert [citation.turn_id for citation in answer.citations] == ["puppy"]
    assert acted.detail["dropped"] == 2
