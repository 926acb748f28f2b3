"""The tracker against the statement of MemR3's paper: evidence grows, gaps shrink, and every claim has a witness."""

from dataclasses import asdict

import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule

from evimem.judging.apply_verdict import update_tracker
from evimem.judging.evidence import Verdict
from evimem.judging.tracker import (
    Claim,
    Extend,
    Requirement,
    Retract,
    Show,
    State,
    Support,
    Tracker,
    TrackerEvent,
    Waive,
    Withdraw,
    apply,
    shown_witnesses,
    start,
)
from evimem.types.trace import Acted, Trace
from evimem.types.values import Tier
from tests.reference.replayed_tracker import replay_trace

IDS = ("who", "what", "when")
TURNS = ("s1:1", "s1:2", "s2:1")


def requirement(name: str) -> Requirement:
    return Requirement(name, "attribute", name, f"{name} is needed")


def begun(*names: str) -> Tracker:
    return start(requirement(name) for name in names)


ID, TURN = st.sampled_from(IDS), st.sampled_from(TURNS)
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


def test_invented_witnesses_are_left_out():
    assert shown_witnesses(["s9:9", "s1:1", "s1:1"], TURNS) == ("s1:1",)


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
        updated = update_tracker(state, verdict, iteration)
        state, events = updated.tracker, [*events, *updated.events]
        assert [r.gap for r in state.open] == list(events[-1].open)  # the gaps that are left are the recorded ones
    told = Trace.from_json(Trace("Who?", "iris", tuple(events)).to_json())
    assert replay_trace(told) == state


class TrackerAgainstSets(RuleBasedStateMachine):
    """The same events on plain sets; what they forbid is attempted like the rest, is refused, and changes nothing."""

    def __init__(self) -> None:
        super().__init__()
        self.state = begun("who", "what")
        self.required = {"who", "what"}
        self.supported: dict[str, set[str]] = {}
        self.waived: set[str] = set()
        self.shown: set[str] = set()
        self.claims: list[tuple[str, bool]] = []  # its source, and whether it holds

    def is_taken(self, event: TrackerEvent, *, allowed: bool) -> bool:
        if allowed:
            self.state = apply(self.state, event)
        else:
            before = self.state
            with pytest.raises(ValueError, match=r"requirement|supported|shown|claim"):
                apply(self.state, event)
            assert self.state == before
        return allowed

    @rule(turn=TURN)
    def show(self, turn: str) -> None:
        if self.is_taken(Show((turn,)), allowed=True):
            self.shown.add(turn)

    @rule(name=ID, turns=st.lists(TURN, max_size=2))
    def support(self, name: str, turns: list[str]) -> None:
        allowed = name in self.required and bool(turns) and self.shown.issuperset(turns)
        if self.is_taken(Support(name, tuple(turns)), allowed=allowed):
            self.supported.setdefault(name, set()).update(turns)
            self.waived.discard(name)

    @rule(name=ID)
    def waive(self, name: str) -> None:
        allowed = name in self.required and name not in self.supported
        if self.is_taken(Waive(name, "nobody can know"), allowed=allowed):
            self.waived.add(name)

    @rule(name=ID)
    def extend(self, name: str) -> None:
        if self.is_taken(Extend(requirement(name)), allowed=name not in self.required):
            self.required.add(name)

    @rule(name=ID)
    def retract(self, name: str) -> None:
        if self.is_taken(Retract(name, "it was about somebody else"), allowed=name in self.required):
            self.supported.pop(name, None)
            self.waived.discard(name)

    @rule(turn=TURN)
    def claim(self, turn: str) -> None:
        if self.is_taken(State(Claim("it was Juno", (turn,))), allowed=turn in self.shown):
            self.claims.append((turn, True))

    @rule(place=st.integers(-1, 3))
    def withdraw(self, place: int) -> None:
        if self.is_taken(Withdraw(place, "it was not"), allowed=0 <= place < len(self.claims)):
            self.claims[place] = (self.claims[place][0], False)

    @invariant()
    def agrees(self) -> None:
        assert {name: set(w) for name, w in self.state.supported.items()} == self.supported
        assert set(self.state.waived) == self.waived
        assert not self.waived.intersection(self.supported)
        assert {r.id for r in self.state.open} == self.required - set(self.supported) - self.waived
        assert self.state.shown == self.shown
        assert [(one.sources[0], not one.withdrawn) for one in self.state.claims] == self.claims


TestTrackerAgainstSets = TrackerAgainstSets.TestCase
