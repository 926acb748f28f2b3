"""MemR3's loop in detail: what it asks of the store, how it ends, and what it does without a model."""

from __future__ import annotations

import json
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from typing import Any

import pytest

import evimem
from evimem.errors import ModelTimeout, ReplyError
from evimem.flow import Flow
from evimem.judging.evidence import Draft, Manner, Verdict, View
from evimem.judging.judge import Action, Decided, Stage
from evimem.judging.tracker import Requirement, Show, Support, apply, start
from evimem.loops import OVER_SEARCHERS
from evimem.loops.memr3 import open_gaps
from evimem.offline.offline_judge import OfflineJudge, is_decisive, with_waivers
from evimem.testing import ScriptedModel
from evimem.types.results import Answer, Budget, Citation
from evimem.types.trace import Acted, Judged, Stopped
from evimem.types.values import Gap, Hit, Tier, Turn
from tests.llm.views import turn as said
from tests.llm.views import view_of

QUESTION = "What is Mira's puppy called?"
WHEN = "When did Mira adopt her puppy?"
PARTIAL = Verdict(Tier.PARTIAL, 0.4, probability=0.9)


@dataclass
class ScriptedDecider:
    """Decides in order, the last one for ever; keeps what it was told."""

    decisions: list[Decided | Exception]
    name: str = "scripted"
    abstain_below: float = 0.5
    uses_model: bool = False
    stages: list[Stage] = field(default_factory=list)
    views: list[View] = field(default_factory=list)
    notes: tuple[str, ...] = ()

    def fit_page(self, view: View) -> View:
        return view

    def judge(self, view: View) -> Flow[Verdict]:
        raise AssertionError("this loop asks for decisions")

    def decide(self, view: View, stage: Stage) -> Flow[Decided]:
        yield from ()
        self.stages.append(stage)
        self.views.append(view)
        decision = self.decisions[min(len(self.stages), len(self.decisions)) - 1]
        if isinstance(decision, Exception):
            raise decision
        return decision

    def answer(self, view: View, verdict: Verdict, manner: Manner) -> Flow[Draft]:
        yield from ()
        self.notes = verdict.notes
        return Draft("Juno", (Citation(view.shown[0].turn.id, None, ""),))


def wants(action: Action, query: str = "", **more: Any) -> Decided:
    verdict = Verdict(Tier.PARTIAL, 0.6, probability=0.9, query=query, **more)
    return Decided(action, verdict)


def of(answer: Answer, kind: type[Any]) -> list[Any]:
    return [event for event in answer.trace if isinstance(event, kind)]


def acted(answer: Answer, action: str) -> list[Acted]:
    return [event for event in of(answer, Acted) if event.action == action]


OF_QUOTING = {"mentions"}  # the offline judge looks up what was said later of the same things


def test_it_asks_the_store_for_turns_and_what_stands_around_them_and_for_nothing_else(puppy: Any) -> None:
    puppy.ask(QUESTION, OfflineJudge(), loop="memr3")
    assert {method for method, _ in puppy.made} == {"roster", "recall", "contexts"} | OF_QUOTING


def test_a_decision_is_told_its_place_what_was_tried_and_what_was_thought(puppy: Any) -> None:
    thought = wants("reflect", reason="Juno ate a shoe, so Juno is the puppy")
    decider = ScriptedDecider([wants("retrieve", "dog"), thought, wants("retrieve", "shoe")])
    puppy.ask(QUESTION, decider, loop="memr3")
    assert [(stage.number, stage.most, stage.last) for stage in decider.stages] == [
        (1, 5, False), (2, 5, False), (3, 5, False), (4, 5, False), (5, 5, True),
    ]  # fmt: skip
    assert [stage.tried[:2] for stage in decider.stages[:4]] == [(), ("dog",), ("dog",), ("dog", "shoe")]
    assert decider.stages[2].thoughts == ("Juno ate a shoe, so Juno is the puppy",)
    assert [view.iterations for view in decider.views] == [5] * 5


def test_a_memory_whose_every_turn_was_found_is_decided_on_once(world: Any) -> None:
    turns = [Turn(f"s1:{n}", "s1", "Mira", f"Juno ate shoe {n}.", said(n, "").time) for n in range(1, 5)]
    decider = ScriptedDecider([wants("retrieve", "more")])
    answer = world(turns).ask(QUESTION, decider, loop="memr3")
    assert [stage.last for stage in decider.stages] == [True]
    assert acted(answer, "decide")[0].detail["rule"] == "nothing left"
    assert (answer.text, [event.reason for event in of(answer, Stopped)]) == ("Juno", ["nothing left"])


class Miser:
    """A backend that has two turns, and never says so."""

    def __init__(self) -> None:
        self.searches: list[tuple[str, int, frozenset[str]]] = []

    def search(self, query: str, k: int, exclude: Collection[str] = ()) -> Sequence[Hit]:
        self.searches.append((query, k, frozenset(exclude)))
        texts = ("My sister Nadia is expecting twins.", "The workshop flooded again.")
        hits = [Hit(said(n, text), (), 1.0) for n, text in enumerate(texts, 1)]
        return [hit for hit in hits if hit.turn.id not in exclude]


def decision(action: str, query: str = "") -> str:
    fields = {"requirements": [], "gaps": [], "reason": "so", "tier": "partial", "confidence": 0.5, "draft": ""}
    return json.dumps({**fields, "action": action, "query": query})


WORDED = json.dumps({"steps": [], "answerable": True, "answer": "Juno", "citations": [{"id": "e1", "quote": ""}]})


def test_after_a_search_that_brings_nothing_it_thinks_once_and_after_two_it_answers() -> None:
    backend, model = Miser(), ScriptedModel([*[decision("retrieve", f"word {n}") for n in range(4)], WORDED])
    answer = evimem.ask_searcher(QUESTION, backend, llm=model, budget=Budget(iterations=9))
    assert [event.detail["rule"] for event in acted(answer, "decide")] == [
        "as decided", "nothing found", "enough thought", "nothing left",
    ]  # fmt: skip
    assert "The last search brought nothing new" in model.requests[1].prompt
    assert "This is the last decision" in model.requests[3].prompt
    assert [len(exclude) for _, _, exclude in backend.searches] == [0, 2, 2]
    assert answer.text == "Juno"


def test_without_a_model_a_backend_that_is_not_ours_is_quoted_from() -> None:
    budget = Budget(abstain_below=0.0)
    answer = evimem.ask_searcher(
        "Who is expecting twins?", Miser(), speakers=["Mira"], asked_at="2024-03-30", budget=budget
    )
    assert answer.kind in {"answer", "quote"}
    assert "t1" in {one.turn_id for one in answer.citations} <= {"t1", "t2"}
    assert answer.trace.loop == "memr3"


@pytest.mark.parametrize("loop", sorted(OVER_SEARCHERS))
def test_the_loops_that_only_search_run_over_a_searcher(loop: str) -> None:
    assert evimem.ask_searcher("What did Juno eat?", Miser(), loop=loop).kind in {"answer", "quote", "abstained"}


@pytest.mark.parametrize(
    "wrong", [{"searcher": 7}, {"llm": 7}, {"speakers": "Mira"}, {"asked_at": "soon"}, {"loop": "loop"}, {"budget": 3}]
)
def test_what_cannot_be_used_is_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises(evimem.InvalidQuery):
        evimem.ask_searcher(**{"question": QUESTION, "searcher": Miser(), **wrong})


def test_when_the_time_is_used_up_the_last_decision_counts(puppy: Any) -> None:
    decider = ScriptedDecider([wants("retrieve", "dog"), ModelTimeout("no answer within 60 s")])
    answer = puppy.ask(QUESTION, decider, loop="memr3", seconds=60.0)
    assert (answer.text, [event.reason for event in of(answer, Stopped)]) == ("Juno", ["time used up"])


def test_a_decision_that_cannot_be_read_counts_as_nobodys_and_loses_no_support(puppy: Any) -> None:
    first = wants("retrieve", "dog", supported={"entity:Mira": ("s1:1",)})
    decider = ScriptedDecider([first, ReplyError("decide", "it is empty", "")])
    answer = puppy.ask(QUESTION, decider, loop="memr3")
    assert [event.judge for event in of(answer, Judged)] == ["scripted", *["none"] * 2]
    assert (answer.text, answer.abstained, answer.tier) == ("Juno", False, Tier.PARTIAL)
    assert ("entity", "Mira") not in {(gap.kind, gap.about) for gap in answer.gaps}


def test_a_gap_is_open_until_its_requirement_is_closed() -> None:
    needs = (Requirement("a", "attribute", "puppy", "its name"), Requirement("w", "attribution", "Mira", "of Mira"))
    tracker = apply(start(needs), Show(("s1:1",)))
    stated = Gap("granularity", "", "only the year is known")
    assert open_gaps(tracker, [stated]) == (stated, needs[0].gap)
    closed = apply(tracker, Support("a", ("s1:1",)))
    assert open_gaps(closed, [stated, needs[0].gap]) == (stated,)


@pytest.mark.parametrize(
    ("tier", "number", "action"),
    [
        (Tier.EXACT, 1, "answer"),
        (Tier.INFERRABLE, 1, "retrieve"),
        (Tier.INFERRABLE, 2, "answer"),
        (Tier.PARTIAL, 2, "retrieve"),
        (Tier.NONE, 2, "retrieve"),
    ],
)
def test_without_a_model_what_is_firm_is_answered_and_what_is_missing_searched_for(
    tier: Tier, number: int, action: Action
) -> None:
    view = view_of([said(1, "We adopted Juno.")], requirements=("name", "date"))
    verdict = Verdict(tier, 0.75, supported={"name": ("t1",)}, query="Juno")
    assert is_decisive(verdict, view, number) == (action == "answer")
    assert dict(with_waivers(verdict, view.tracker.open).waived) == {"date": "the evidence suffices without it"}
