"""Facts as a user gets them: the profile of a person or thing, what replaced what, and a search of what turns state."""

import json
from collections.abc import Iterator
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

import evimem
from evimem import Memory
from evimem.testing import ScriptedModel
from evimem.types.trace import Complete
from tests.doubles import HomeExtractor

SAID = (
    ("Mira", "I live in Leeds."),
    ("Tomas", "Mira adopted a puppy yesterday."),
    ("Tomas", "I live in Ghent."),
    ("Mira", "I live in Porto."),
)


@pytest.fixture
def path(tmp_path):
    with evimem.open(tmp_path / "m.evimem") as memory:
        for number, (speaker, text) in enumerate(SAID):
            memory.add(speaker, text, time=datetime(2024, 3, 12) + timedelta(days=number), id=f"t{number}")
    return tmp_path / "m.evimem"


def test_a_profile_lists_what_was_said_by_and_about_somebody_newest_first_and_replaces_nothing(path, caplog):
    with evimem.open(path) as memory:
        known = memory.facts(about="mira")
        assert [fact.turn_id for fact in known] == ["t3", "t1", "t0"]
        assert {(fact.replaced_by, fact.is_current) for fact in known} == {(None, None)}
        assert known[1].event is not None
        assert memory.facts(about="Mira", current=True) == ()
        assert "no fact is known to hold still" in caplog.text
        assert memory.facts(about="Mir") == ()
        assert {fact.turn_id for fact in memory.facts(about="puppy")} == {"t1"}
        memory.forget(turns=["t3"])
        assert [fact.turn_id for fact in memory.facts(about="Mira")] == ["t1", "t0"]


def test_what_somebody_says_of_other_things_is_no_part_of_their_profile(path):
    with evimem.open(path) as memory:
        before = memory.facts(about="Mira")
        memory.add("Mira", "Juno loves cheese.", time="2024-04-01")
        assert memory.facts(about="Juno") != ()
        assert memory.facts(about="Mira") == before


PASSING = (
    "I did it.", "I said that Mr. Tomas came.", "I love it.", "I have no idea.", "I had the operation last Monday.",
)  # fmt: skip
LASTING = (
    "I live in Porto.", "My sister is called Ruth.", "I have two cats.", "I hate running.", "I bought a red bike.",
)  # fmt: skip


@pytest.mark.parametrize(("said", "lasts"), [*((one, 0) for one in PASSING), *((one, 1) for one in LASTING)])
def test_a_profile_has_what_lasts_and_not_what_was_done(memory, said, lasts):
    memory.add("Mira", said, time="2024-03-12")
    assert (memory.facts(about="Mira") != ()) == lasts


def test_no_fact_by_rule_is_known_to_hold_still(path, caplog):
    with evimem.open(path) as memory:
        assert [fact.turn_id for fact in memory.facts(["t0", "t3"])] == ["t0", "t3"]
        assert memory.facts(["t0", "t3"], current=True) == ()
        assert memory.search_facts("Mira", current=True) == []
        assert caplog.text.count("no fact is known to hold still") == 2
        assert memory.facts([]) == ()


ADOPTED = "We adopted a puppy last Friday."


@pytest.fixture
def told(tmp_path: Path) -> Iterator[Memory]:
    with evimem.open(tmp_path / "m.evimem", extractor=HomeExtractor()) as opened:
        opened.add("Mira", ADOPTED, time="2024-03-12T18:20", id="a")
        opened.add("Mira", "I live in Leeds.", time="2024-03-13T18:20", id="b")
        opened.add("Tomas", "I moved to Porto in May.", time="2024-06-13T18:20", id="c")
        opened.add("Mira", "I live in Bristol now.", time="2024-07-13T18:20", id="d")
        opened.add("Tomas", "Hm, brr, the puppy!", time="2024-07-13T18:21", id="e")
        yield opened


def test_a_fact_names_its_turn_and_the_characters_that_state_it(told: Memory) -> None:
    best = told.search_facts("Mira's dog")[0]
    assert (best.turn.id, best.turn.text[slice(*best.fact.span)]) == ("a", ADOPTED.removesuffix("."))
    assert best.score == pytest.approx(sum(best.parts.values()))


def test_current_facts_leave_out_what_was_replaced(told: Memory) -> None:
    every = told.search_facts("Where does Mira live?", 2)
    assert {hit.turn.id for hit in every} == {"d", "b"}
    now = told.search_facts("Where does Mira live?", 9, about="Mira", current=True)
    assert "b" not in [hit.turn.id for hit in now]
    assert [old.turn_id for old in now[0].replaces] == ["b"]


@pytest.mark.parametrize("during", ["May 2024", evimem.find_times("in May 2024", datetime(2024, 7, 1))[0]])
def test_facts_are_found_by_when_they_happened(told: Memory, during: Any) -> None:
    assert [hit.turn.id for hit in told.search_facts("what", during=during)] == ["c"]


def test_forgotten_turns_have_no_facts_to_find(told: Memory) -> None:
    told.forget(turns=["d"])
    now = told.search_facts("Where does Mira live?", current=True)[0]
    assert (now.turn.id, now.replaces) == ("b", ())


def test_turns_are_found_by_what_they_state(told: Memory) -> None:
    hits = told.search("puppy", 9, over="facts")
    assert hits[0].turn.id == "a"
    assert (hits[0].path, hits[0].span) == ("facts", hits[0].facts[0].span)
    assert hits[0].facts == told.facts(["a"])


def test_turns_are_found_by_their_words_and_facts_together(told: Memory) -> None:
    both, alone = told.search("puppy", 4, over="both"), told.search("puppy", 1, over="both")
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
