"""Searching what turns state, and turns by it."""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest

import evimem
from evimem import Memory
from evimem.testing import ScriptedModel
from evimem.types.trace import Complete

ADOPTED = "We adopted a puppy last Friday."


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[Memory]:
    with evimem.open(tmp_path / "m.evimem") as opened:
        opened.add("Mira", ADOPTED, time="2024-03-12T18:20", id="a")
        opened.add("Mira", "I live in Leeds.", time="2024-03-13T18:20", id="b")
        opened.add("Tomas", "I moved to Porto in May.", time="2024-06-13T18:20", id="c")
        opened.add("Mira", "I live in Bristol now.", time="2024-07-13T18:20", id="d")
        opened.add("Tomas", "Hm, brr, the puppy!", time="2024-07-13T18:21", id="e")
        yield opened


def test_a_fact_names_its_turn_and_the_characters_that_state_it(memory: Memory) -> None:
    best = memory.search_facts("Mira's dog")[0]
    assert (best.turn.id, best.turn.text[slice(*best.fact.span)]) == ("a", ADOPTED.removesuffix("."))
    assert best.score == pytest.approx(sum(best.parts.values()))


def test_current_facts_leave_out_what_was_replaced(memory: Memory) -> None:
    every = memory.search_facts("Where does Mira live?", 2)
    assert [hit.turn.id for hit in every] == ["d", "b"]
    now = memory.search_facts("Where does Mira live?", 9, about="Mira", current=True)
    assert "b" not in [hit.turn.id for hit in now]
    assert [old.turn_id for old in now[0].replaces] == ["b"]


@pytest.mark.parametrize("during", ["May 2024", evimem.find_times("in May 2024", datetime(2024, 7, 1))[0]])
def test_facts_are_found_by_when_they_happened(memory: Memory, during: Any) -> None:
    assert [hit.turn.id for hit in memory.search_facts("what", during=during)] == ["c"]


def test_forgotten_turns_have_no_facts_to_find(memory: Memory) -> None:
    memory.forget(turns=["d"])
    now = memory.search_facts("Where does Mira live?", current=True)[0]
    assert (now.turn.id, now.replaces) == ("b", ())


def test_turns_are_found_by_what_they_state(memory: Memory) -> None:
    hits = memory.search("puppy", 9, over="facts")
    assert hits[0].turn.id == "a"
    assert (hits[0].path, hits[0].span) == ("facts", hits[0].facts[0].span)
    assert hits[0].facts == memory.facts(["a"])


def test_turns_are_found_by_their_words_and_facts_together(memory: Memory) -> None:
    both, alone = memory.search("puppy", 4, over="both"), memory.search("puppy", 1, over="both")
    assert (both[0].turn.id, set(both[0].parts), both[:1]) == ("a", {"turns", "facts"}, alone)
    assert [hit.score for hit in both] == sorted((hit.score for hit in both), reverse=True)


def test_a_name_that_only_a_model_has_read_is_found(tmp_path: Path) -> None:
    got = {"subject": "Wilhelmina", "predicate": "got", "object": "a place", "quote": "got a place", "kind": "event"}

    def reply(request: Complete) -> str:
        return json.dumps({"facts": [got] if "> She got a place" in request.prompt else []})

    with evimem.open(tmp_path / "m.evimem", llm=ScriptedModel(then=reply)) as memory:
        memory.add("Mira", "Wilhelmina phoned.", time="2024-03-12T18:20", id="a")
        memory.add("Mira", "She got a place at the clinic.", time="2024-03-12T18:21", id="b")
        memory.enrich()
        found = memory.search_facts("Who is at the clinic?", about="Wilhelmina")
    assert ("b", "Wilhelmina") in [(hit.turn.id, hit.fact.subject) for hit in found]
