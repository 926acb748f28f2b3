"""What holds of every loop whoever judges: no call repeats, nothing is found twice, and what is masked never shows."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import cache
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evimem.embedding.static_embedder import StaticEmbedder
from evimem.extract.rule_extractor import RuleExtractor
from evimem.flow import Flow, run
from evimem.index.document import embedding_texts
from evimem.judging.evidence import Draft, Manner, Verdict, View
from evimem.judging.judge import (
    MAX_TURN_CALLS,
    TOOLS,
    Action,
    Chosen,
    Considered,
    Decided,
    Explored,
    Move,
    Round,
    Stage,
    ToolCall,
)
from evimem.loops import LOOPS, Task
from evimem.types.results import Answer, Budget, Citation
from evimem.types.stored import Entry, Keyword, Scope
from evimem.types.trace import Acted, Found
from evimem.types.values import Tier, Turn
from tests.loops.conftest import World
from tests.reference.memory_store import MemoryStore
from tests.sizes import few

QUESTION = "What did Mira and Tomas do with the puppy in July?"
SAID = (
    ("Mira", "I adopted a puppy on 5 July 2023."),
    ("Tomas", "The puppy ate my shoe by the harbour."),
    ("Noah", "I broke my wrist on 12 July 2023 at the harbour."),
    ("Mira", "Tomas walked the puppy to the mill."),
)
TURNS = [
    Turn(f"t{n}", f"s{n % 3}", who, f"{text} Day {n}.", datetime(2023, 7, 6) + timedelta(days=9 * n))
    for n in range(24)
    for who, text in [SAID[n % len(SAID)]]
]
IDS = [turn.id for turn in TURNS]
PEOPLE, TAGS = ("Mira", "Tomas", "Noah"), ("break", "adopt", "eat", "walk", "mentioned")
OF = [*IDS, "puppy", "harbour", "Mira", "Noah", "nobody", "2023", "2023-07", "2023-07-12", "s1", "s9", ""]
CALLS = st.one_of(
    st.builds(ToolCall, st.sampled_from(TOOLS), st.sampled_from(OF), st.sampled_from(["", *OF, *TAGS])),
    st.builds(ToolCall, st.just("person_aspects"), st.sampled_from(PEOPLE)),
    st.builds(ToolCall, st.just("person_facts"), st.sampled_from(PEOPLE), st.sampled_from(TAGS), st.integers(1, 2)),
    st.builds(ToolCall, st.just("events"), st.just("puppy"), st.sampled_from(TAGS), st.integers(1, 2)),
)
SCOPES = st.builds(
    Scope, session=st.sampled_from([None, None, "s0", "s1"]), speaker=st.sampled_from([None, None, "Mira", "Noah"])
)
MASKS = st.frozensets(st.sampled_from(IDS), max_size=20)


@dataclass
class Whim:
    """A judge that does as it is drawn: it decides, keeps, calls and cites whatever it likes, shown or not."""

    draw: Any
    name: str = "whim"
    abstain_below: float = 0.0
    uses_model: bool = True

    def fit_page(self, view: View) -> View:
        return view

    def judge(self, view: View) -> Flow[Verdict]:
        yield from ()
        query = self.draw(st.sampled_from(["", "puppy", "harbour in July", QUESTION]))
        return Verdict(Tier.PARTIAL, 0.5, probability=0.9, query=query, pinned=self._some())

    def decide(self, view: View, stage: Stage) -> Flow[Decided]:
        wanted: Action = self.draw(st.sampled_from(["retrieve", "reflect", "answer"]))
        return Decided(wanted, (yield from self.judge(view)))

    def choose(self, question: str, candidates: tuple[Keyword, ...], most: int) -> Flow[Chosen]:
        yield from ()
        return Chosen(tuple(self.draw(st.lists(st.sampled_from(candidates), max_size=most + 2))))

    def consider(self, view: View, reading: Round) -> Flow[Considered]:
        verdict = yield from self.judge(view)
        return Considered(verdict, "so far", self._some(), self.draw(st.booleans()), frozenset(self._some()))

    def explore(self, view: View, explored: Explored) -> Flow[Move]:
        first = (*(ToolCall("person_aspects", who) for who in PEOPLE), ToolCall("tags_of", "puppy"))
        calls = first if explored.number == 1 else tuple(self.draw(st.lists(CALLS, min_size=3, max_size=7)))
        return Move((yield from self.judge(view)), calls, supports=self._some())

    def answer(self, view: View, verdict: Verdict, manner: Manner) -> Flow[Draft]:
        yield from ()
        return Draft("an answer", tuple(Citation(one, None, "") for one in self._some()))

    def _some(self) -> tuple[str, ...]:
        return tuple(self.draw(st.lists(st.sampled_from([*IDS, "e1"]), max_size=4)))


@cache
def world() -> World:
    store, embedder, extractor = MemoryStore("static", 256), StaticEmbedder(), RuleExtractor()
    store.write([Entry(turn, extractor.extract(turn), embedder.embed(embedding_texts(turn))) for turn in TURNS])
    return World(store)


def asked(data: Any, loop: str, **task: Any) -> Answer:
    judge = Whim(data.draw)
    memory = world()
    return run(LOOPS[loop](Task(QUESTION, judge, memory, budget=Budget(iterations=4, k=4), **task)), memory.perform)


def told(answer: Answer) -> Iterator[str]:
    """The ids of turns that an answer found, showed to its judge, returned to it from a tool, or cites."""
    for event in answer.trace:
        if isinstance(event, Found):
            yield from event.turns
        elif isinstance(event, Acted):
            for name in ("turns", "around", "rows", "critical", "supports", "citations"):
                yield from event.detail.get(name, ())
    yield from (citation.turn_id for citation in answer.citations)


@pytest.mark.parametrize("loop", sorted(LOOPS))
@given(scope=SCOPES, exclude=MASKS, data=st.data())
@few(10)
def test_what_is_masked_or_out_of_scope_is_neither_found_nor_shown_nor_returned_nor_cited(
    loop: str, scope: Scope, exclude: frozenset[str], data: Any
) -> None:
    answer = asked(data, loop, scope=scope, exclude=exclude)
    hidden = {turn.id for turn in TURNS if turn.id in exclude or not scope.admits(turn)}
    assert not hidden & set(told(answer))


@given(loop=st.sampled_from(sorted(LOOPS)), data=st.data())
@few(15)
def test_nothing_is_found_twice_and_only_what_was_shown_is_cited(loop: str, data: Any) -> None:
    answer = asked(data, loop)
    found = [turn for event in answer.trace if isinstance(event, Found) for turn in event.turns]
    assert len(found) == len(set(found))
    shown: set[str] = set()
    for event in answer.trace:
        if isinstance(event, Acted) and event.action == "show":
            shown.update(event.detail["turns"], event.detail["around"])
    assert {citation.turn_id for citation in answer.citations} <= shown


@given(data=st.data())
@few(10)
def test_no_call_of_a_tool_is_performed_twice_and_each_that_is_not_says_why(data: Any) -> None:
    answer = asked(data, "mragent")
    called = [event for event in answer.trace if isinstance(event, Acted) and event.action == "call"]
    made = [tuple(event.detail[name] for name in ("tool", "of", "part", "page")) for event in called if not event.why]
    assert len(made) == len(set(made))
    assert all(event.why for event in called if not event.detail["rows"] and not event.detail["total"])
    for number in {event.iteration for event in called}:
        assert sum(event.iteration == number and not event.why for event in called) <= MAX_TURN_CALLS
