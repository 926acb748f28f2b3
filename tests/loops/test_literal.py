"""To the letter of the papers, for ablations: what each switch undoes, and that without it the loop does otherwise."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from datetime import datetime, timedelta
from typing import Any

import pytest

import evimem
from evimem.loops import VARIANTS, MemR3, MRAgent
from evimem.loops.memr3 import route_literally
from evimem.offline.offline_judge import OfflineJudge
from evimem.types.trace import Acted, Found
from evimem.types.values import Tier
from tests.loops.conftest import ScriptedJudge, says
from tests.loops.test_router import situations

QUESTION = "What is Mira's puppy called?"
START = datetime(2024, 3, 12)


class OneTurn:
    """A backend that has one turn, and then nothing more."""

    def search(self, query: str, k: int, exclude: Collection[str] = ()) -> Sequence[evimem.Hit]:
        turn = evimem.Turn("t1", "s1", "Mira", "The workshop flooded again.", START)
        return [evimem.Hit(turn, (), 1.0)] if "t1" not in exclude else []


def rules(loop: Any) -> list[str]:
    answer = evimem.ask_searcher("Who is expecting twins?", OneTurn(), loop=loop)
    return [event.detail["rule"] for event in answer.trace if isinstance(event, Acted) and event.action == "decide"]


def test_the_papers_router_thinks_until_the_budget_ends_where_nothing_is_left() -> None:
    assert rules(MemR3(router="paper")) == ["as decided", "nothing found", "nothing found", "nothing found", "budget"]
    assert rules("memr3") == ["as decided", "nothing found", "enough thought", "nothing left"]


def test_the_papers_router_keeps_its_order_in_every_situation() -> None:
    for now in situations():
        rule = route_literally(now).rule
        expected = (
            "budget" if now.decisions >= now.most else "nothing found" if now.misses else
            "enough thought" if now.reflections else "as decided"
        )  # fmt: skip
        assert rule == expected, now


def brought_by_edges(world: Any, *, unranked: bool) -> list[datetime]:
    judge = ScriptedJudge([says(Tier.PARTIAL, 0.4)])
    trace = world.ask(QUESTION, judge, iterations=1, k=4, unranked=unranked).trace
    (event,) = [event for event in trace if isinstance(event, Found) and event.path == "edge"]
    times = {turn.id: turn.time for turn in world.store.turns()}
    return [times[turn] for turn in event.turns]


def test_the_papers_expansion_has_no_end_and_no_order_but_that_of_time(puppy: Any) -> None:
    ranked, unranked = brought_by_edges(puppy, unranked=False), brought_by_edges(puppy, unranked=True)
    assert len(ranked) <= 2 < len(unranked)
    assert unranked == sorted(unranked)
    assert set(ranked) <= set(unranked)


def test_the_papers_round_is_one_whole_group(puppy: Any) -> None:
    trace = puppy.ask("Did Juno eat my running shoe?", OfflineJudge(), loop="mgretrieval", whole_groups=True).trace
    read = [event for event in trace if isinstance(event, Found) and event.turns]
    sizes = [len(event.turns) for event in read]
    assert sizes[0] == 4, "all that have every keyword, however many a round may have"
    assert len({event.iteration for event in read}) == len(read)


@pytest.mark.parametrize("name", [name for name, loop in VARIANTS.items() if not isinstance(loop, MRAgent)])
def test_what_a_loop_does_otherwise_is_named_and_replayed(tmp_path: Any, name: str) -> None:
    with evimem.open(tmp_path / "m.evimem") as memory:
        for day in range(12):
            time = START + timedelta(days=day)
            memory.add("Mira", f"My puppy Juno ate shoe {day} on the walk.", time=time)
        answer = memory.ask(QUESTION, VARIANTS[name])
        assert evimem.replay(evimem.Trace.from_json(answer.trace.to_json()), memory).trace == answer.trace
    assert answer.trace.events[0].detail["variant"] == VARIANTS[name].to_dict()  # type: ignore[attr-defined]
