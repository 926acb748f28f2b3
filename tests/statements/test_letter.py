"""EviMem to the letter, `evimem.loops.VARIANTS["full"]`: what the design does otherwise or statements leave out."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import evimem
from evimem import Tier
from evimem.loops import VARIANTS

from .conftest import Chat, draft, events, partial, verdict

LETTER: Any = VARIANTS["full"]
DAY = "2024-03-12T18:20"
WHEN = "When did Mira adopt her puppy?"
DIRECT = json.dumps({"type": "direct", "steps": [], "used": []})
LOOKING = [
    partial(),
    '{"query": "heron by the mill"}',
    partial(),
    '{"query": "salty bread"}',
    partial(),
    DIRECT,
    draft(),
]


@pytest.fixture(scope="session")
def stated(path: Path) -> dict[str, evimem.Fact]:
    with evimem.open(path) as memory:
        return {fact.id: fact for turn in memory.turns() for fact in memory.facts([turn.id])}


def found(trace: evimem.Trace, iteration: int, *paths: str) -> Iterator[str]:
    for event in events(trace, "evidence"):
        if event.iteration == iteration and event.path in paths:
            yield from event.facts


def test_e5_what_is_searched_and_counted_are_facts(chat: Chat, stated: dict[str, evimem.Fact]) -> None:
    trace = chat.ask(WHEN, *LOOKING, loop=LETTER).trace
    searched = [(event.iteration, event.path, event.k) for event in events(trace, "query")]
    assert searched == [(1, "anchor", 10), (2, "anchor", 13), (2, "refined", 13), (3, "anchor", 16), (3, "refined", 16)]
    for iteration, path, k in searched:
        facts = list(found(trace, iteration, path))
        assert len(facts) == len(set(facts)) == k
        assert set(facts) <= stated.keys()
    assert {event.path for event in events(trace, "evidence")} == {"anchor", "refined", "edge"}


def test_e4_from_a_fact_lead_those_of_its_turn_and_those_alike_and_no_others(remembered: Any) -> None:
    memory = remembered(
        ("Mira", "I adopted a puppy. I love chamber music. I sold the van.", "2024-03-12T18:20"),
        ("Noah", "I bake bread.", "2024-03-12T18:21"),
        ("Mira", "I adopted a puppy.", "2024-04-12T18:20"),
    )
    chat = Chat(path := memory.stats().path)
    trace = chat.ask("Which van did Mira sell?", partial(), DIRECT, draft(), loop=LETTER, k=1, iterations=1).trace
    with evimem.open(path) as memory:
        facts = {fact.id: (fact.turn_id, fact.object) for turn in ("D1:1", "D1:3") for fact in memory.facts([turn])}
    assert [facts[one] for one in found(trace, 1, "anchor")] == [("D1:1", "the van")]
    assert [facts[one] for one in found(trace, 1, "edge")] == [("D1:1", "a puppy"), ("D1:1", "chamber music")]
    trace = chat.ask("Which young dog did Mira get?", partial(), DIRECT, draft(), loop=LETTER, k=1, iterations=1).trace
    (first,) = found(trace, 1, "anchor")
    beside = {facts[one] for one in found(trace, 1, "edge")}
    assert facts[first][1] == "a puppy"
    assert {turn for turn, thing in beside if thing == "a puppy"} == {"D1:1", "D1:3"} - {facts[first][0]}


def test_e6_every_check_is_given_all_facts_found_so_far_and_the_answer_their_turns_too(
    chat: Chat, stated: dict[str, evimem.Fact]
) -> None:
    trace = chat.ask(WHEN, *LOOKING, loop=LETTER, tokens=40_000).trace
    checks = [one for one in chat.requests if "Check " in one.prompt]
    known: set[str] = set()
    for iteration, request in enumerate(checks, 1):
        known.update(found(trace, iteration, "anchor", "refined", "edge"))
        assert all(f'= "{stated[fact].text}"' in request.prompt for fact in known)
        assert request.prompt.count("\n> ") == 1, "the question alone: no turn is quoted"
    assert '"Mira adopted a puppy" (time: 8 March 2024)' in checks[0].prompt
    assert all(chat.texts[stated[fact].turn_id] in chat.requests[-1].prompt for fact in known)


def test_e6_the_callers_tokens_are_the_only_bound_and_what_is_left_out_is_counted(tmp_path: Path) -> None:
    path = tmp_path / "large.evimem"
    with evimem.open(path) as memory:
        for day in range(1, 500):
            memory.add("Mira", f"I baked loaf number {day} and it was too salty.", time=DAY, id=f"t{day}")
    chat = Chat(path)
    for tokens, fits in ((200_000, True), (2_000, False)):
        trace = chat.ask("What did Mira bake?", *LOOKING, loop=LETTER, tokens=tokens, k=600).trace
        many, shown = len(list(found(trace, 1, "anchor", "edge"))), chat.requests[0].prompt.count('\n= "')
        assert many > 400
        assert (shown == many) is fits
        assert (f"({many - shown} further facts were found" in chat.requests[0].prompt) is not fits


def test_e8_the_confidence_of_an_inferred_time_is_told_as_it_is(chat: Chat) -> None:
    assert (
        chat.ask(
            "When did Noah bake loaf number 3?", verdict("inferrable", 0.8), DIRECT, draft(), loop=LETTER
        ).confidence
        == 0.75
    )


def test_e7_a_short_entity_caps_a_question_about_time_at_sixty(chat: Chat) -> None:
    asked = "When did Bartholomew adopt a puppy?"
    trace = chat.ask(asked, verdict("exact", 0.9), DIRECT, draft(), loop=LETTER, iterations=1).trace
    (judged,) = events(trace, "judgement")
    assert (judged.final_tier, judged.final_confidence) == (Tier.PARTIAL, 0.60)


def test_e10_a_query_is_asked_for_without_a_gap_and_no_requirement_is_told(chat: Chat) -> None:
    silent = [
        verdict("partial", 0.4, gaps=[], requirements=[]),
        '{"query": "heron by the mill"}',
        verdict(),
        DIRECT,
        draft(),
    ]
    trace = chat.ask("What did Noah bake?", *silent, loop=LETTER, iterations=2).trace
    assert [event.query for event in events(trace, "query") if event.path == "refined"] == ["heron by the mill"]
    check, refining = (one.prompt for one in chat.requests[:2])
    assert "none: judge the question as a whole" in check
    assert "<missing>\n- none\n</missing>" in refining


def test_e_a_memory_without_facts_is_refused_by_name(remembered: Any) -> None:
    chat = Chat(remembered(("Mira", "Hm, well, you know.", "2024-03-12T18:20")).stats().path)
    with pytest.raises(evimem.InvalidQuery, match=r"reads facts alone.*enrich\(\)"):
        chat.ask(WHEN, verdict(), draft(), loop=LETTER)


def test_e7_facts_count_that_contain_a_name_whoever_states_them(remembered: Any) -> None:
    memory = remembered(
        ("Gina", "Jon loves dancing.", "2024-03-12T18:20"),
        ("Gina", "Jon opened a studio.", "2024-03-12T18:21"),
        ("Gina", "My friend Basil lives in Ghent.", "2024-03-12T18:22"),
    )
    chat = Chat(memory.stats().path)
    exact = [verdict("exact", 0.95), DIRECT, draft()]
    trace = chat.ask("What do Jon and Gina both love?", *exact, loop=LETTER, iterations=1).trace
    (judged,) = events(trace, "judgement")
    assert judged.entities == {"Jon": 2, "Gina": 1}
    assert (judged.final_tier, judged.final_confidence) == (Tier.PARTIAL, 0.60)
    trace = chat.ask("Where does Basil live?", *exact, loop=LETTER, iterations=1).trace
    assert events(trace, "judgement")[0].entities == {"Basil": 1}


def test_e7_names_that_the_model_finds_are_counted_too(chat: Chat) -> None:
    names = json.dumps({"names": ["puppy"]})
    trace = chat.ask(
        "where is the puppy?", names, verdict("exact", 0.9), DIRECT, draft(), loop=LETTER, iterations=1
    ).trace
    (judged,) = events(trace, "judgement")
    assert judged.entities == {"puppy": 1}
    assert judged.final_tier is Tier.PARTIAL


def test_e10_the_next_query_is_asked_for_with_the_current_one(chat: Chat) -> None:
    chat.ask(WHEN, *LOOKING, loop=LETTER)
    first, second = (one.prompt for one in chat.requests if "Search " in one.prompt)
    assert f'The search that left it missing: "{WHEN}"' in first
    assert 'The search that left it missing: "heron by the mill"' in second


def test_e11_it_abstains_without_a_tier_after_an_end_of_its_own_too(chat: Chat) -> None:
    late = [verdict("none", 0.9), '{"query": "heron"}', evimem.ModelTimeout("late"), draft("a heron")]
    answer = chat.ask(WHEN, *late, loop=LETTER, seconds=1_000.0)
    assert events(answer.trace, "stop")[0].reason == "time used up"
    assert len(events(answer.trace, "judgement")) == 1
    assert answer.abstained


def test_e14_only_the_answer_is_asked_of_the_answering_model_and_all_at_one_temperature(chat: Chat) -> None:
    chat.ask(WHEN, *LOOKING, loop=LETTER)
    assert [one.role for one in chat.requests] == [*["judge"] * 6, "answer"]
    assert {one.temperature for one in chat.requests} == {0.3}
    chat.ask(WHEN, verdict(), draft())
    assert {one.temperature for one in chat.requests} == {None}
