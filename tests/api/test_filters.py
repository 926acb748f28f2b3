"""`session=`, `speaker=`, `role=` and `where=` are hard filters wherever turns are chosen."""

from collections.abc import Iterator
from datetime import datetime, timedelta
from typing import Any

import pytest

import evimem
from evimem import Answer, InvalidQuery, Turn
from evimem.types.trace import Acted, Found

NOON = datetime(2024, 3, 12, 12)
SAID = [
    ("home", "Mira", "user", "I live in Leeds.", {"project": "diary", "day": 1}),
    ("work", "Mira", "user", "I live in Porto.", {"project": "novel", "day": 2}),
    ("home", "Tomas", "user", "Mira told me that she lives in Lyon.", {"project": "diary", "day": 3}),
    ("home", "assistant", "assistant", "You live in a nice town, Mira.", {"project": "novel", "day": 4}),
    ("home", "Mira", "user", "My sister visits me in June.", {"project": None}),
    ("work", "Mira", "user", "My sister lives in Ghent.", {}),
]  # fmt: skip
FILTERS: list[dict[str, Any]] = [
    {"session": "home"}, {"speaker": "Tomas"}, {"role": "assistant"}, {"where": {"project": "novel"}},
    {"where": {"day": {"$gte": 2, "$lt": 4}}}, {"session": "home", "where": {"project": "diary"}},
    {"where": {"project": None}},
]  # fmt: skip


def turns() -> Iterator[Turn]:
    for number, (session, speaker, role, text, metadata) in enumerate(SAID):
        yield Turn(f"t{number}", session, speaker, text, NOON + timedelta(hours=number), None, role, metadata)


@pytest.fixture
def memory(tmp_path):
    with evimem.open(tmp_path / "m.evimem") as memory:
        memory.extend(turns(), strict=True)
        yield memory


def admitted(wanted: dict[str, Any]) -> set[str]:
    def meets(turn: Turn, name: str, value: Any) -> bool:
        if name != "where":
            return bool(getattr(turn, name) == value)
        days = value.get("day")
        if days:
            return turn.metadata.get("day") in range(days["$gte"], days["$lt"])
        return "project" in turn.metadata and turn.metadata["project"] == value["project"]

    return {turn.id for turn in turns() if all(meets(turn, *item) for item in wanted.items())}


def seen(answer: Answer) -> set[str]:
    """Every turn that a question came near: found, shown, or standing around what was shown."""
    found = {turn for event in answer.trace if isinstance(event, Found) for turn in event.turns}
    shown = [event.detail for event in answer.trace if isinstance(event, Acted) and event.action == "show"]
    return found.union(*(detail[name] for detail in shown for name in ("turns", "around")))


@pytest.mark.parametrize("wanted", FILTERS, ids=str)
def test_a_filter_holds_in_every_call_that_chooses_turns(memory, wanted):
    allowed = admitted(wanted)
    assert {hit.turn.id for hit in memory.search("Where does Mira live?", **wanted)} == allowed
    assert {turn.id for turn in memory.turns(**wanted)} == allowed
    assert {turn.id for turn in memory.block("Where does Mira live?", **wanted).turns} <= allowed
    for loop in ("iris", "memr3", "single_pass"):
        answer = memory.ask("Where does Mira live?", loop, **wanted)
        assert seen(answer) <= allowed
        assert seen(answer), "nothing was found, so that nothing was tested"
        assert evimem.replay(answer.trace, memory) == answer


def test_the_answer_is_that_of_the_filtered_turns(memory):
    assert "Leeds" in memory.ask("Where does Mira live?", session="home", speaker="Mira").text
    assert "Porto" in memory.ask("Where does Mira live?", where={"project": "novel"}, role="user").text
    assert "Leeds" not in memory.block("Where does Mira live?", session="work").text


def test_what_is_forgotten_by_metadata_is_gone_and_the_rest_stays(memory):
    assert memory.forget(where={"project": {"$in": ["diary", None]}}).turns == 3
    assert [turn.id for turn in memory.turns()] == ["t1", "t3", "t5"]
    assert memory.check().problems == ()
    for where in ({}, {"project": {"$like": "d"}}, "project", {"project": {}}):
        with pytest.raises(InvalidQuery, match="where is"):
            memory.forget(where=where)
    with pytest.raises(InvalidQuery, match="was given session, where"):
        memory.forget(session="home", where={"project": "novel"})
    assert len(list(memory.turns())) == 3


def test_what_lies_outside_a_filter_is_not_looked_up_and_does_not_count_as_known(memory, tmp_path):
    town = Turn("town", "trip", "Mira", "I adopted a puppy in Ghent.", NOON + timedelta(days=1))
    other = [Turn("", "s", "Mira", f"I bought {n} lamps in Rome.", NOON + timedelta(days=n)) for n in range(2, 6)]
    memory.extend([town, *other], strict=True)
    with evimem.open(tmp_path / "alone.evimem") as alone:
        alone.extend([town], strict=True)
        for question in ("What did Mira adopt?", "What did Mira paint?"):
            within, only = memory.ask(question, session="trip"), alone.ask(question)
            assert seen(within) == {"town"}
            assert (within.kind, within.text, within.tier, within.gaps) == (only.kind, only.text, only.tier, only.gaps)


def test_a_filter_that_no_turn_passes_leads_to_an_abstention(memory):
    for wanted in ({"session": "none"}, {"where": {"project": "none"}}, {"role": "tool"}):
        assert memory.search("Mira", **wanted) == []
        assert memory.ask("Where does Mira live?", **wanted).abstained
        assert memory.block("Where does Mira live?", **wanted).turns == ()


def test_a_limit_counts_the_turns_that_pass(memory):
    def pages(size: int) -> tuple[list[str], list[str]]:
        wanted: dict[str, Any] = {"where": {"day": {"$gte": 2}}, "limit": size}
        return [turn.id for turn in memory.turns(**wanted)], [turn.id for turn in memory.turns(newest=True, **wanted)]

    assert pages(2) == (["t1", "t2"], ["t2", "t3"])
    assert pages(0) == ([], [])
