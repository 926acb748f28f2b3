"""The tracker against the statement of MemR3's paper: evidence grows, gaps shrink, and every claim has a witness."""

from dataclasses import asdict

import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from evimem.judging.apply_verdict import follow
from evimem.judging.evidence import Verdict
from evimem.judging.tracker import (
    Extend,
    Requirement,
    Retract,
    Show,
    Support,
    Tracker,
    Waive,
    apply,
    grounded,
    replay,
    replay_trace,
    start,
)
from evimem.types.trace import Acted, Trace
from evimem.types.values import Tier

IDS = ("who", "what", "when")
TURNS = ("s1:1", "s1:2", "s2:1")


def requirement(name: str) -> Requirement:
    return Requirement(name, "attribute", name, f"{name} is needed")


def begun(*names: str) -> Tracker:
    return start(requirement(name) for name in names)


EVENTS = st.one_of(
    st.builds(Show, st.lists(st.sampled_from(TURNS), max_size=3).map(tuple)),
    st.builds(Support, st.sampled_from(IDS), st.lists(st.sampled_from(TURNS), max_size=2).map(tuple)),
    st.builds(Waive, st.sampled_from(IDS), st.just("nobody can know")),
    st.builds(Extend, st.sampled_from(IDS).map(requirement)),
    st.builds(Retract, st.sampled_from(IDS), st.just("it was about somebody else")),
)


def accepted(state: Tracker, events: list[object]) -> list[object]:
    """Return the events that the tracker takes, one after another."""
    taken = []
    for event in events:
        try:
            state = apply(state, event)
        except ValueError:
            continue
        taken.append(event)
    return taken


def test_a_question_begins_with_everything_open():
    assert [r.id for r in begun("who", "when").open] == ["who", "when"]


def test_support_needs_a_witness_that_was_shown():
    with pytest.raises(ValueError, match="never shown"):
        apply(begun("who"), Support("who", ("s1:1",)))
    with pytest.raises(ValueError, match="needs a witness"):
        apply(begun("who"), Support("who", ()))


def test_an_unknown_requirement_cannot_be_supported():
    with pytest.raises(ValueError, match="not a requirement"):
        replay([requirement("who")], [Show(TURNS), Support("when", ("s1:1",))])


def test_what_is_supported_is_not_given_up_without_a_retraction():
    state = replay([requirement("who")], [Show(TURNS), Support("who", ("s1:1",))])
    with pytest.raises(ValueError, match="retract it"):
        apply(state, Waive("who", "nobody can know"))
    waived = apply(apply(state, Retract("who", "the other Tomas")), Waive("who", "nobody can know"))
    assert waived.waived == {"who": "nobody can know"}
    assert not waived.supported


def test_a_waived_requirement_may_still_find_support():
    state = replay([requirement("who")], [Show(TURNS), Waive("who", "only the year"), Support("who", ("s1:1",))])
    assert state.supported == {"who": ("s1:1",)}
    assert not state.waived


def test_witnesses_add_up():
    events = [Show(TURNS), Support("who", ("s1:1",)), Support("who", ("s2:1", "s1:1"))]
    assert replay([requirement("who")], events).supported["who"] == ("s1:1", "s2:1")


def test_invented_witnesses_are_left_out():
    assert grounded(["s9:9", "s1:1", "s1:1"], TURNS) == ("s1:1",)


@given(st.lists(EVENTS, max_size=20))
def test_supported_waived_and_open_are_disjoint_and_make_up_the_requirements(events):
    state = replay([requirement("who")], accepted(begun("who"), events))
    parts = [set(state.supported), set(state.waived), {r.id for r in state.open}]
    assert sum(map(len, parts)) == len(set().union(*parts)) == len(state.requirements)


@given(st.lists(EVENTS, max_size=20))
def test_between_extensions_and_retractions_evidence_grows_and_gaps_shrink(events):
    state = begun(*IDS)
    for event in accepted(state, events):
        after = apply(state, event)
        if not isinstance(event, (Extend, Retract)):
            assert set(state.supported) <= set(after.supported)
            assert set(after.open) <= set(state.open)
            assert all(set(w) <= set(after.supported[name]) for name, w in state.supported.items())
        state = after


@given(st.lists(EVENTS, max_size=20))
def test_a_supported_requirement_is_in_the_evidence_at_once(events):
    state = begun(*IDS)
    for event in accepted(state, events):
        state = apply(state, event)
        if isinstance(event, Support):
            assert set(event.witnesses) <= set(state.supported[event.requirement])


def test_a_trace_replays_to_the_same_state():
    detail = {"requirements": [{"id": "who", "kind": "entity", "about": "Mira", "text": "who it was"}]}
    trace = Trace("Who?", "iris", (Acted(0, "analyse", detail=detail), Acted(1, "show", detail={"turns": ["s1:1"]})))
    assert replay_trace(trace) == apply(start([Requirement("who", "entity", "Mira", "who it was")]), Show(("s1:1",)))


CLAIMS = st.builds(
    Verdict,
    st.just(Tier.PARTIAL),
    st.just(0.5),
    supported=st.dictionaries(st.sampled_from(IDS), st.lists(st.sampled_from((*TURNS, "s9:9")), max_size=2).map(tuple)),
    waived=st.dictionaries(st.sampled_from(IDS), st.just("nobody can know")),
    retracted=st.dictionaries(st.sampled_from(IDS), st.just("the other Tomas")),
    extended=st.lists(st.sampled_from(IDS).map(requirement), max_size=2, unique_by=lambda r: r.id).map(tuple),
)


@given(st.lists(st.tuples(st.lists(st.sampled_from(TURNS), max_size=2), CLAIMS), max_size=4))
def test_whatever_a_mind_claims_its_trace_replays_to_the_same_state(checks):
    detail = {"requirements": [asdict(requirement("who"))]}
    state, events = begun("who"), [Acted(0, "analyse", detail=detail)]
    for iteration, (turns, verdict) in enumerate(checks, 1):
        state = apply(state, Show(tuple(turns)))
        events.append(Acted(iteration, "show", detail={"turns": turns}))
        followed = follow(state, verdict, iteration)
        state, events = followed.tracker, [*events, *followed.events]
        assert [r.gap for r in state.open] == list(events[-1].open)  # the gaps that are left are the recorded ones
    told = Trace.from_json(Trace("Who?", "iris", tuple(events)).to_json())
    assert replay_trace(told) == state


class TrackerAgainstSets(RuleBasedStateMachine):
    """The same events on three plain sets."""

    def __init__(self) -> None:
        super().__init__()
        self.state = begun("who", "what")
        self.required = {"who", "what"}
        self.supported: dict[str, set[str]] = {}
        self.waived: set[str] = set()
        self.shown: set[str] = set()

    @rule(turn=st.sampled_from(TURNS))
    def show(self, turn: str) -> None:
        self.state = apply(self.state, Show((turn,)))
        self.shown.add(turn)

    @precondition(lambda self: self.shown)
    @rule(name=st.sampled_from(("who", "what")), data=st.data())
    def support(self, name: str, data: st.DataObject) -> None:
        witness = data.draw(st.sampled_from(sorted(self.shown)))
        self.state = apply(self.state, Support(name, (witness,)))
        self.supported.setdefault(name, set()).add(witness)
        self.waived.discard(name)

    @precondition(lambda self: "what" not in self.supported)
    @rule()
    def waive(self) -> None:
        self.state = apply(self.state, Waive("what", "nobody can know"))
        self.waived.add("what")

    @precondition(lambda self: "when" not in self.required)
    @rule()
    def extend(self) -> None:
        self.state = apply(self.state, Extend(requirement("when")))
        self.required.add("when")

    @rule(name=st.sampled_from(("who", "what")))
    def retract(self, name: str) -> None:
        self.state = apply(self.state, Retract(name, "it was about somebody else"))
        self.supported.pop(name, None)
        self.waived.discard(name)

    @invariant()
    def agrees(self) -> None:
        assert {name: set(w) for name, w in self.state.supported.items()} == self.supported
        assert set(self.state.waived) == self.waived
        assert {r.id for r in self.state.open} == self.required - set(self.supported) - self.waived
        assert self.state.shown == self.shown


TestTrackerAgainstSets = TrackerAgainstSets.TestCase
