"""Failures of the published code that evimem must not have, F1 to F16: the same input, and the required behaviour.

The names and sentences are our own; README.md beside this file has the table.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import evimem
from evimem import CallableEmbedder, DimensionMismatch, Tier
from tests.doubles import WordEmbedder

from .conftest import Chat, draft, events, gap, partial, verdict

WHEN = "When did Mira adopt her puppy?"
WHAT = "What did Mira see by the mill?"
QUERIES = ("heron by the mill", "salty bread", "walk with Noah")
LOOKING = [partial(query) for query in QUERIES]


def test_f1_all_facts_that_are_new_in_an_iteration_are_seen_in_its_check(chat: Chat) -> None:
    trace = chat.ask(WHEN, *LOOKING, draft()).trace
    for iteration in (2, 3):
        found = {t for e in events(trace, "evidence") if e.iteration == iteration for t in e.turns}
        before, _, new = chat.requests[iteration - 1].prompt.partition(f"New in check {iteration}:")
        assert new  # under a line of its own, behind what was seen before
        assert [turn for turn in found if chat.texts[turn] not in new and chat.texts[turn] not in before] == []
        assert any(chat.texts[turn] in new for turn in found)


@pytest.mark.parametrize(("unranked", "tokens"), [(False, 1_500), (True, 400)])
def test_f2_the_answer_prompt_holds_what_edges_brought(chat: Chat, unranked: bool, tokens: int) -> None:
    """All of it; to the paper's letter, where edges bring everything, a share where there is little room."""
    trace = chat.ask(WHEN, *LOOKING, draft("8 March 2024", "puppy"), tokens=tokens, unranked=unranked).trace
    shown = [event for event in events(trace, "action") if event.action == "show"][-1]
    by_edge = {t for e in events(trace, "evidence") if e.path == "edge" for t in e.turns}
    assert (shown.detail["left_out"] > 0) == unranked
    seen = by_edge & set(shown.detail["turns"])
    assert seen
    assert unranked or seen == by_edge
    assert any(chat.texts[turn] in chat.requests[-1].prompt for turn in seen)


def test_f3_a_failure_at_the_last_check_is_an_error_with_a_partial_result(chat: Chat) -> None:
    with pytest.raises(evimem.ModelTimeout) as caught:
        chat.ask(WHEN, *LOOKING[:2], evimem.ModelTimeout("late"), seconds=None)
    rest = caught.value.partial
    assert (rest.kind, rest.fell_back, rest.abstained) == ("quote", True, False)
    assert "ModelTimeout" in rest.reason
    assert [event.outcome for event in events(rest.trace, "call")] == ["ok", "ok", "ModelTimeout"]


def test_f4_a_reply_in_labelled_lines_is_repaired_once(chat: Chat) -> None:
    said = "**EXACT**: yes\n**INFERRABLE**: no\n**CONFIDENCE**: 0.95\n**MISSING**: none"
    answer = chat.ask(WHEN, said, verdict("exact", 0.95), draft(), without={"tracker"})
    assert (answer.text, answer.tier, answer.usage.repairs) == ("8 March 2024", Tier.EXACT, 1)
    assert events(answer.trace, "judgement")[0].confidence == 0.95


def test_f5_remarks_behind_a_value_are_no_part_of_it(chat: Chat) -> None:
    said = json.dumps({"tier": "**EXACT**.", "confidence": "0.95 (high)", "gaps": "none."})
    answer = chat.ask(WHEN, said, draft(), without={"tracker"})
    assert (events(answer.trace, "judgement")[0].confidence, answer.gaps) == (0.95, ())


def test_f6_what_is_missing_keeps_its_case(chat: Chat) -> None:
    said = json.dumps({"tier": "partial", "confidence": 0.4, "gaps": "When Mira met Bob Lee"})
    answer = chat.ask(WHEN, said, draft(), iterations=1)
    assert [one.text for one in answer.gaps] == ["When Mira met Bob Lee"]
    assert "When Mira met Bob Lee" in chat.requests[-1].prompt


def test_f7_a_chain_is_kept_whatever_words_are_in_it(chat: Chat) -> None:
    chain = json.dumps({"type": "MULTI-HOP", "steps": ["find who directed it directly"], "used": ["e1"]})
    chat.ask(WHAT, verdict("inferrable", 0.8), chain, draft("a heron"), calls="separate")
    assert "find who directed it directly" in chat.requests[-1].prompt


@pytest.mark.parametrize("without", [frozenset(), {"temporal"}])
def test_f8_what_can_be_inferred_ends_a_general_question_at_once(chat: Chat, without: Any) -> None:
    chat.ask(WHAT, verdict("inferrable", 0.95), draft("a heron"), without=without)
    assert len(chat.requests) == 2


def test_f9_without_a_gap_the_search_widens_and_never_repeats_a_query(chat: Chat) -> None:
    answer = chat.ask(WHAT, *[verdict("exact", 0.6)] * 3, draft("a heron"))
    searched = [event.query.casefold() for event in events(answer.trace, "query") if event.path == "refined"]
    assert len({*searched, WHAT.casefold()}) == len(searched) + 1 == 3
    widened = [event.k for event in events(answer.trace, "query") if event.path == "anchor"]
    assert widened == sorted(set(widened))


def analysed(chat: Chat, question: str) -> Any:
    trace = chat.ask(question, then=verdict("none", 0.0), iterations=1).trace
    return next(event.detail for event in events(trace, "action") if event.action == "analyse")


def test_f10_a_clause_with_when_is_no_question_about_time(chat: Chat) -> None:
    assert not analysed(chat, "What did Noah do when he was sad?")["temporal"]


@pytest.mark.parametrize(
    "question",
    ["In which month did Mira move?", "How many weeks did the walks take?", "Where was Noah in July 2022?"],
)
def test_f11_a_time_that_is_asked_for_or_named_makes_a_question_one_about_time(chat: Chat, question: str) -> None:
    assert analysed(chat, question)["temporal"]


def test_f12_every_name_in_the_question_counts(chat: Chat) -> None:
    assert analysed(chat, "Did Noah meet Mira?")["entities"] == ["Mira", "Noah"]
    assert analysed(chat, "Did Noah meet Bartholomew?")["entities"] == ["Noah", "Bartholomew"]


def test_f13_a_name_is_a_whole_word(remembered: Any) -> None:
    memory = remembered(
        ("Mira", "Jonathan likes tea.", "2024-03-12T18:20"), ("Mira", "Noah saw us.", "2024-03-12T18:21")
    )
    with evimem.open(memory.stats().path) as offline:
        trace = offline.ask("What does Jon like?").trace
    assert events(trace, "judgement")[0].entities == {"Jon": 0}


def test_f14_what_is_true_of_another_person_is_not_answered(chat: Chat, remembered: Any) -> None:
    elsewhere = gap("attribution", "Mira, not Noah, adopted a puppy", "Noah")
    replies = [verdict("exact", 0.95, gaps=[elsewhere])]
    answer = chat.ask("When did Noah adopt a puppy?", *replies, draft())
    assert (answer.text, answer.abstained, answer.reason) == (None, True, "Mira, not Noah, adopted a puppy")
    memory = remembered(
        ("Mira", "I ran a charity race and realized how much I need rest.", "2024-03-12T18:20"),
        ("Noah", "I baked bread all weekend.", "2024-03-12T18:21"),
    )
    offline = memory.ask("What did Noah realize after his charity race?")
    assert (offline.kind, offline.tier) == ("quote", Tier.PARTIAL)


def test_f15_two_memories_with_the_same_ids_never_meet(tmp_path: Path) -> None:
    with evimem.MemoryPool(tmp_path) as pool, pool.open("ann") as ann, pool.open("ben") as ben:
        ann.add("Ann", "I adopted a puppy.", time="2024-03-12T18:20", session="D1", id="D1:3")
        ben.add("Ben", "I adopted a puppy.", time="2024-03-12T18:20", session="D1", id="D1:3")
        ben.add("Ben", "He is called Rex.", time="2024-03-12T18:21", session="D1", id="D1:4")
        assert [hit.turn.speaker for hit in ann.search("puppy")] == ["Ann"]
        assert ann.neighbours("D1:3") == []
        assert (ann.stats().edges["similar"], ann.stats().edges["next"]) == (0, 0)
        assert [hit.turn.id for hit in ben.neighbours("D1:3")] == ["D1:4"]


def test_f16_vectors_of_another_width_are_an_error_that_names_both(tmp_path: Path) -> None:
    def embedder(dimension: int) -> CallableEmbedder:
        return CallableEmbedder(WordEmbedder(dimension).embed, name="provider's model", dimension=dimension)

    path = tmp_path / "m.evimem"
    with evimem.open(path, embedder=embedder(64)) as memory:
        memory.add("Mira", "We adopted a puppy.", time="2024-03-12T18:20")
    with pytest.raises(DimensionMismatch, match=r"32 dimensions .* 64"):
        evimem.open(path, embedder=embedder(32))
