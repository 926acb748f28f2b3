"""What a loop does, as short lines for people and for models: progress while it works, and its trace afterwards."""

from __future__ import annotations

from collections.abc import Iterable

from ..types.trace import Acted, Called, Event, Found, GapsChanged, Judged, Queried, Stopped, Trace
from ..types.values import Gap


def step_of(event: Event) -> str:
    """Return one line about an event of a trace."""
    match event:
        case Queried():
            line = f"searching ({event.path}): {event.query}"
        case Found():
            line = f"found {len(event.turns)} new turns ({event.path})"
        case Judged():
            line = f"judged {event.final_tier.value}, probability {event.probability:.2f}{_missing(event.gaps)}"
        case GapsChanged():
            line = f"supported: {', '.join(event.supported) or 'nothing new'}{_missing(event.open)}"
        case Called():
            line = f"asked the model ({event.role}): {event.outcome}"
        case Acted():
            line = f"{event.action}: {event.why}" if event.why else event.action
        case Stopped():
            line = f"stopped: {event.reason}"
    return line


def steps_of(trace: Trace) -> list[str]:
    """Return the lines of a whole trace, each after the number of its iteration."""
    return [f"{event.iteration}. {step_of(event)}" for event in trace]


def _missing(gaps: Iterable[Gap]) -> str:
    texts = [gap.text for gap in gaps]
    return f"; missing: {', '.join(texts)}" if texts else ""
