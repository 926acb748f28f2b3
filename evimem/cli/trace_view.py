"""A trace as a page: searches, evidence, verdicts and gaps by iteration, and why the loop stopped."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import groupby
from typing import Any

from ..loops.answering import cost
from ..types.trace import FALL_BACK, Acted, Called, Event, Found, GapsChanged, Judged, Queried, Stopped, Trace
from .page import BLANK, Block, Field, Heading, Piece, Style, field, line
from .views import counted

_NAMED = 6  # turns of a list that are named; the rest are counted
_SIGNALS = 8


def trace_page(trace: Trace) -> list[Block]:
    """Return every event of a trace, in order."""
    page: list[Block] = [Heading(f"Trace of {trace.question!r} through {trace.loop}")]
    for iteration, events in groupby(trace.events, key=lambda event: event.iteration):
        page.append(line(Piece(f"iteration {iteration}" if iteration else "the question", "strong"), indent=2))
        for event in events:
            page += _ROWS[type(event)](event)
    return [*page, *_totals(trace), BLANK]


def _row(label: str, *pieces: Piece | str) -> Field:
    return field(label, *pieces, indent=4, width=9)


def _queried(event: Queried) -> Iterator[Field]:
    how = f", {event.strategy}" if event.strategy else ""
    yield _row("search", Piece(event.query, "name"), Piece(f"  {event.path}, k={event.k}{how}", "dim"))


def _found(event: Found) -> Iterator[Field]:
    if not event.turns:
        yield _row("found", Piece(f"nothing new by {event.path}", "dim"))
        return
    count = f"{counted(len(event.turns), 'new turn')}, {counted(len(event.facts), 'fact')} by {event.path}"
    yield _row("found", count, Piece(_listed(event.turns), "dim"))


def _judged(event: Judged) -> Iterator[Field]:
    if event.entities:
        yield _row("known", ", ".join(f"{counted(n, 'fact')} about {name}" for name, n in event.entities.items()))
    final = Piece(f"{event.final_tier.value} {event.final_confidence:.2f}", "strong")
    changed = (event.tier, event.confidence) != (event.final_tier, event.final_confidence)
    given = f" (judge said {event.tier.value} {event.confidence:.2f})" if changed else ""
    fitted = "uncalibrated" if event.probability is None else f"probability {event.probability:.2f}"
    yield _row("judged", final, f"{given}, {fitted} by {event.judge}")
    if event.reason:
        yield _row("because", event.reason)
    for gap in event.gaps:
        yield _row("missing", Piece(f"({gap.kind}) ", "warn"), gap.text)


def _gaps(event: GapsChanged) -> Iterator[Field]:
    for requirement, turns in event.supported.items():
        yield _row("met", Piece(requirement, "good"), Piece(_listed(turns), "dim"))
    for requirement, why in event.waived.items():
        yield _row("waived", Piece(requirement, "warn"), f": {why}")
    for requirement, why in event.retracted.items():
        yield _row("reopened", Piece(requirement, "warn"), f": {why}")
    if event.open:
        yield _row("open", Piece(", ".join(gap.kind for gap in event.open), "dim"))


def _called(event: Called) -> Iterator[Field]:
    tokens = f"{event.input_tokens:,} + {event.output_tokens:,} tokens, {event.seconds:.1f} s"
    again = f", {counted(event.retries, 'retry', 'retries')}" if event.retries else ""
    repaired = f", {counted(event.repairs, 'repair')}" if event.repairs else ""
    outcome = Piece(event.outcome, "" if event.outcome == "ok" else "bad")
    yield _row("called", f"{event.role} model: ", outcome, Piece(f"  {tokens}{again}{repaired}", "dim"))


def _stopped(event: Stopped) -> Iterator[Field]:
    yield _row("stopped", Piece(event.reason, "strong"))


def _acted(event: Acted) -> Iterator[Field]:
    """Yield a step of a loop: what it was about, why, and its further details."""
    label, about = _STEPS.get(event.action, ("did", ""))
    detail = dict(event.detail)
    main = event.action if label == "did" else _value(detail.pop(about, ""))
    style: Style = "bad" if event.action == "fail" else ""
    why = f": {event.why}" if main and event.why else event.why
    yield _row(label, Piece(f"{main}{why}", style), Piece(_details(detail, _SIGNALS), "dim"))


def _analysed(event: Acted) -> Iterator[Field]:
    detail = event.detail
    about = f", about {', '.join(detail['entities'])}" if detail.get("entities") else ""
    today = f", as of {detail['asked_at']}" if detail.get("asked_at") else ""
    yield _row("asks for", f"{'a time' if detail.get('wants') == 'time' else detail.get('wants', '')}{about}{today}")
    for need in detail.get("requirements", ()):
        yield _row("requires", f"{need['id']}  ", Piece(need["text"], "dim"))
    named = {name: value for name, value in detail.get("budget", {}).items() if value is not None}
    yield _row("budget", Piece(_details({**detail.get("variant", {}), **named}).strip(), "dim"))


def _answered(event: Acted) -> Iterator[Field]:
    detail = event.detail
    dropped = detail.get("dropped")
    cited = f"  cites {' '.join(detail.get('citations', ())) or 'nothing'}"
    cited += f", {counted(dropped, 'citation')} of turns not shown dropped" if dropped else ""
    for step in detail.get("steps", ()):
        yield _row("step", str(step))
    yield _row(
        str(detail.get("kind", "answer")),
        Piece(str(detail.get("text")), "answer"),
        Piece(f"  {detail.get('manner')}{cited}", "dim"),
    )
    if event.why:
        yield _row("because", event.why)


def _totals(trace: Trace) -> list[Block]:
    """Return the sum of the model requests; nothing if there were none."""
    calls = [event for event in trace if isinstance(event, Called)]
    if not calls:
        return []
    good = [call for call in calls if call.outcome == "ok"]
    tokens = sum(call.input_tokens + call.output_tokens for call in calls)
    bill = cost(trace.events).cost
    price = "" if bill is None else f", ${bill:.4f}"
    repairs = sum(call.repairs for call in calls)
    repaired = f", {counted(repairs, 'repair')}" if repairs else ""
    return [line(Piece(f"{counted(len(good), 'request')}{repaired}, {tokens:,} tokens{price}", "dim"), indent=2)]


def _listed(turns: Sequence[str]) -> str:
    if not turns:
        return ""
    rest = f" and {len(turns) - _NAMED} more" if len(turns) > _NAMED else ""
    return f"  {' '.join(turns[:_NAMED])}{rest}"


def _details(detail: Mapping[str, Any], most: int | None = None) -> str:
    parts = [f"  {name}={_value(value)}" for name, value in detail.items() if value not in ("", [], {}, None)]
    rest = f"  and {len(parts) - most} more" if most and len(parts) > most else ""
    return "".join(parts[:most]) + rest


def _value(value: Any) -> str:
    if isinstance(value, (list, tuple)):
        return _listed([_value(item) for item in value]).strip()
    if isinstance(value, dict):
        return str(value.get("id") or f"({_details(value).strip()})")
    return f"{value:.2f}" if isinstance(value, float) else str(value)


_ROWS: Mapping[type[Event], Callable[[Any], Iterator[Field]]] = {
    Queried: _queried,
    Found: _found,
    Acted: lambda event: {"analyse": _analysed, "answer": _answered}.get(event.action, _acted)(event),
    Judged: _judged,
    GapsChanged: _gaps,
    Called: _called,
    Stopped: _stopped,
}
_STEPS = {  # by the name of an action: the label of its row, and the detail that it is about
    "show": ("shown", "turns"),
    "measure": ("signals", ""),
    "abstain": ("abstain", ""),
    "fail": ("failed", ""),
    FALL_BACK: ("offline", ""),
    "look up": ("look up", "entity"),
    "extend": ("requires", "text"),
    "decide": ("decides", "action"),
    "keywords": ("keywords", "chosen"),
    "consider": ("answers", "answer"),
    "cues": ("cues", "cues"),
    "explore": ("answers", "answer"),
    "call": ("tool", "tool"),
    "search nothing": ("search", ""),
}
