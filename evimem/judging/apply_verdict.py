"""What a verdict does to the tracker: only what it may, recorded so that a trace replays to the same state."""

from __future__ import annotations

from dataclasses import asdict, dataclass

from ..types.trace import Acted, Event, GapsChanged
from .evidence import Verdict
from .tracker import Extend, Retract, Support, Tracker, TrackerEvent, Waive, apply, grounded


@dataclass(frozen=True, slots=True)
class Followed:
    """The tracker after a verdict, and the events to record."""

    tracker: Tracker
    events: tuple[Event, ...]


def follow(tracker: Tracker, verdict: Verdict, iteration: int) -> Followed:
    """Apply a verdict: extend, retract, support, waive, in this order.

    Unknown requirements and witnesses that were never shown are left out: a judge may claim them, the state may not.
    """
    extended = tuple(r for r in verdict.extended if not tracker.requires(r.id))
    tracker = _all(tracker, [Extend(requirement) for requirement in extended])
    retracted = {name: why for name, why in verdict.retracted.items() if tracker.requires(name)}
    tracker = _all(tracker, [Retract(name, why) for name, why in retracted.items()])
    supported = {
        name: witnesses
        for name, claimed in verdict.supported.items()
        if tracker.requires(name) and (witnesses := grounded(claimed, tracker.shown))
    }
    tracker = _all(tracker, [Support(name, witnesses) for name, witnesses in supported.items()])
    waived = {
        name: why for name, why in verdict.waived.items() if tracker.requires(name) and name not in tracker.supported
    }
    tracker = _all(tracker, [Waive(name, why) for name, why in waived.items()])
    left = tuple(requirement.gap for requirement in tracker.open)
    changed = GapsChanged(iteration, supported, waived, retracted, tuple(r.id for r in extended), left)
    additions = tuple(Acted(iteration, "extend", detail=asdict(requirement)) for requirement in extended)
    return Followed(tracker, (*additions, changed))


def _all(tracker: Tracker, events: list[TrackerEvent]) -> Tracker:
    for event in events:
        tracker = apply(tracker, event)
    return tracker
