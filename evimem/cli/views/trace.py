"""A trace as a page: what the loop looked for, found, judged and missed, an iteration at a time."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import groupby
from typing import Any

from ...trace import Acted, Called, Event, Found, GapsChanged, Judged, Queried, Stopped, Trace
from ..page import BLANK, Block, Field, Heading, Piece, field, line
from .words import counted

_NAMED = 6  # turns of a list that are named; the others are counted


def trace_page(trace: Trace) -> list[Block]:
    """Return every event of a trace, in order."""
    page: list[Block] = [Heading(f"Trace of {trace.question!r} through {trace.loop}")]
    for iteration, events in groupby(trace.events, key=lambda event: event.iteration):
        page.append(line(Piece(f"iteration {iteration}" if iteration else "before", "strong"), indent=2))
        page += [_LINES[type(event)](event) for event in events]
    return [*page, BLANK]


def _row(label: str, *pieces: Piece | str) -> Field:
    return field(label, *pieces, indent=4, width=9)


def _queried(event: Queried) -> Field:
    how = f", {event.strategy}" if event.strategy else ""
    return _row("search", Piece(event.query, "name"), Piece(f"  {event.path}, k={event.k}{how}", "dim"))


def _found(event: Found) -> Field:
    count = f"{counted(len(event.turns), 'new turn')}, {counted(len(event.facts), 'fact')} by {event.path}"
    return _row("found", count, Piece(_listed(event.turns), "dim"))


def _acted(event: Acted) -> Field:
    why = f": {event.why}" if event.why else ""
    return _row("did", f"{event.action}{why}", Piece(_details(event.detail), "dim"))


def _judged(event: Judged) -> Field:
    final = Piece(f"{event.final_tier.value} {event.final_confidence:.2f}", "strong")
    given = "" if event.tier is event.final_tier else f" (said {event.tier.value} {event.confidence:.2f})"
    known = "".join(f", {name} {count}" for name, count in event.entities.items())
    return _row("judged", final, f"{given}, probability {event.probability:.2f} by {event.judge}", Piece(known, "dim"))


def _gaps(event: GapsChanged) -> Field:
    parts = [f"{requirement} shown by {', '.join(turns)}" for requirement, turns in event.supported.items()]
    parts += [f"{requirement} waived: {why}" for requirement, why in event.waived.items()]
    parts += [f"{requirement} open again: {why}" for requirement, why in event.retracted.items()]
    parts += [f"also needed: {requirement}" for requirement in event.extended]
    parts += [f"missing ({gap.kind}): {gap.text}" for gap in event.open]
    return _row("gaps", "; ".join(parts) or "none open")


def _called(event: Called) -> Field:
    tokens = f"{event.input_tokens:,} + {event.output_tokens:,} tokens, {event.seconds:.1f} s"
    again = f", {counted(event.retries, 'retry', 'retries')}" if event.retries else ""
    repaired = f", {counted(event.repairs, 'repair')}" if event.repairs else ""
    return _row("called", f"{event.role} model: {event.outcome}", Piece(f"  {tokens}{again}{repaired}", "dim"))


def _stopped(event: Stopped) -> Field:
    return _row("stopped", event.reason)


def _listed(turns: Sequence[str]) -> str:
    if not turns:
        return ""
    rest = f" and {len(turns) - _NAMED} more" if len(turns) > _NAMED else ""
    return f"  {' '.join(turns[:_NAMED])}{rest}"


def _details(detail: Mapping[str, Any]) -> str:
    return "".join(f"  {name}={_value(value)}" for name, value in detail.items() if value not in ("", [], {}, None))


def _value(value: Any) -> str:
    if isinstance(value, list):
        return _listed([_value(item) for item in value]).strip()
    if isinstance(value, dict):
        return str(value.get("id") or f"({_details(value).strip()})")
    return f"{value:.2f}" if isinstance(value, float) else str(value)


_LINES: Mapping[type[Event], Callable[[Any], Field]] = {
    Queried: _queried,
    Found: _found,
    Acted: _acted,
    Judged: _judged,
    GapsChanged: _gaps,
    Called: _called,
    Stopped: _stopped,
}
