"""The tracker of a question, from its events or its trace alone."""

from __future__ import annotations

from collections.abc import Iterable

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
    start,
)
from evimem.types.trace import Acted, GapsChanged, Trace


def replay(requirements: Iterable[Requirement], events: Iterable[TrackerEvent]) -> Tracker:
    """Return the state that these events lead to."""
    state = start(requirements)
    for event in events:
        state = apply(state, event)
    return state


def replay_trace(trace: Trace) -> Tracker:
    """Return the tracker's last state, from a trace alone."""
    requirements: tuple[Requirement, ...] = ()
    events: list[TrackerEvent] = []
    for event in trace.events:
        if isinstance(event, Acted) and event.action == "analyse":
            requirements = tuple(Requirement(**item) for item in event.detail["requirements"])
            events = []  # of an attempt that failed, before this one
        elif isinstance(event, Acted) and event.action == "show":
            events.append(Show((*event.detail["turns"], *event.detail.get("around", ()))))
        elif isinstance(event, Acted) and event.action == "extend":
            events.append(Extend(Requirement(**event.detail)))
        elif isinstance(event, Acted) and event.action == "claim":
            events.append(State(Claim(event.detail["text"], tuple(event.detail["sources"]))))
        elif isinstance(event, Acted) and event.action == "withdraw":
            events.append(Withdraw(event.detail["place"], event.why))
        elif isinstance(event, GapsChanged):
            events.extend(_recorded(event))
    return replay(requirements, events)


def _recorded(event: GapsChanged) -> list[TrackerEvent]:
    return [
        *(Retract(requirement, reason) for requirement, reason in event.retracted.items()),
        *(Support(requirement, tuple(witnesses)) for requirement, witnesses in event.supported.items()),
        *(Waive(requirement, reason) for requirement, reason in event.waived.items()),
    ]
