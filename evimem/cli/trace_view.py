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
    known = _ACTIONS.get(event.action)
    if known:
        yield from known(event)
    else:
        why = f": {event.why}" if event.why else ""
        yield _row("did", f"{event.action}{why}", Piece(_details(event.detail), "dim"))


def _analysed(event: Acted) -> Iterator[Field]:
    detail = event.detail
    about = f", about {', '.join(detail['entities'])}" if detail.get("entities") else ""
    today = f", as of {detail['asked_at']}" if detail.get("asked_at") else ""
    yield _row("asks for", f"{'a time' if detail.get('wants') == 'time' else detail.get('wants', '')}{about}{today}")
    for need in detail.get("requirements", ()):
        yield _row("requires", f"{need['id']}  ", Piece(need["text"], "dim"))
    yield _row("budget", Piece(_details(detail.get("budget", {})).strip(), "dim"))


def _shown(event: Acted) -> Iterator[Field]:
    left_out = event.detail.get("left_out")
    rest = f", {counted(left_out, 'turn')} left out (token budget)" if left_out else ""
    yield _row("shown", f"{counted(len(event.detail.get('turns', ())), 'turn')}{rest}")


def _measured(event: Acted) -> Iterator[Field]:
    parts = [f"{name}={_value(value)}" for name, value in event.detail.items()]
    rest = f"  and {len(parts) - _SIGNALS} more" if len(parts) > _SIGNALS else ""
    yield _row("signals", Piece("  ".join(parts[:_SIGNALS]) + rest, "dim"))


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


def _why(label: str, style: Style) -> Callable[[Acted], Iterator[Field]]:
    return lambda event: iter([_row(label, Piece(event.why, style))])


def _looked_up(event: Acted) -> Iterator[Field]:
    yield _row("look up", Piece(str(event.detail.get("entity", "")), "name"), Piece(f"  {event.why}", "dim"))


def _decided(event: Acted) -> Iterator[Field]:
    detail = event.detail
    wanted = "" if detail.get("wanted") == detail.get("action") else f", not {detail.get('wanted')}"
    yield _row("decides", Piece(str(detail.get("action")), "strong"), Piece(f"{wanted}: {detail.get('rule')}", "dim"))
    if event.why:
        yield _row("because", event.why)
    if detail.get("draft"):
        yield _row("draft", str(detail["draft"]))


def _keyed(event: Acted) -> Iterator[Field]:
    found = event.detail.get("found", {})
    turns = (f"{term} {found.get(term, 0)}" for term in event.detail.get("chosen", ()))
    matched = f"  of {counted(len(found), 'keyword')} that the question matches"
    yield _row("keywords", Piece(", ".join(turns) or "none", "name"), Piece(matched, "dim"))


def _considered(event: Acted) -> Iterator[Field]:
    detail = event.detail
    outcome = "accepts" if detail.get("accepted") else "reads on"
    yield _row(
        outcome, Piece(str(detail.get("answer", "")), "strong"), Piece(_listed(detail.get("critical", ())), "dim")
    )


def _cued(event: Acted) -> Iterator[Field]:
    yield _row("cues", Piece(", ".join(map(str, event.detail.get("cues", ()))) or "none", "name"))


def _explored(event: Acted) -> Iterator[Field]:
    detail = event.detail
    answer, supports = str(detail.get("answer", "")), _listed(detail.get("supports", ()))
    calls = counted(int(detail.get("calls", 0)), "call")
    yield _row("wants", Piece(calls, "strong"), Piece(f"  {answer}{supports}", "dim"))


def _tool_called(event: Acted) -> Iterator[Field]:
    detail = event.detail
    given = ", ".join(str(detail[name]) for name in ("of", "part") if detail.get(name))
    label = Piece(f"{detail.get('tool')}({given})", "name")
    if event.why:
        yield _row("refused", label, Piece(f"  {event.why}", "warn"))
    else:
        rows = detail.get("rows", ())
        yield _row("tool", label, Piece(f"  {len(rows)} of {detail.get('total')}:{_listed(rows)}", "dim"))


def _extended(event: Acted) -> Iterator[Field]:
    yield _row("requires", f"also {event.detail.get('id')}  ", Piece(str(event.detail.get("text", "")), "dim"))


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


def _details(detail: Mapping[str, Any]) -> str:
    return "".join(f"  {name}={_value(value)}" for name, value in detail.items() if value not in ("", [], {}, None))


def _value(value: Any) -> str:
    if isinstance(value, (list, tuple)):
        return _listed([_value(item) for item in value]).strip()
    if isinstance(value, dict):
        return str(value.get("id") or f"({_details(value).strip()})")
    return f"{value:.2f}" if isinstance(value, float) else str(value)


_ROWS: Mapping[type[Event], Callable[[Any], Iterator[Field]]] = {
    Queried: _queried,
    Found: _found,
    Acted: _acted,
    Judged: _judged,
    GapsChanged: _gaps,
    Called: _called,
    Stopped: _stopped,
}
_ACTIONS: Mapping[str, Callable[[Acted], Iterator[Field]]] = {
    "analyse": _analysed,
    "show": _shown,
    "measure": _measured,
    "answer": _answered,
    "abstain": _why("abstain", "warn"),
    "fail": _why("failed", "bad"),
    FALL_BACK: _why("offline", "warn"),
    "look up": _looked_up,
    "extend": _extended,
    "decide": _decided,
    "keywords": _keyed,
    "consider": _considered,
    "cues": _cued,
    "explore": _explored,
    "call": _tool_called,
    "search nothing": _why("search", ""),
}
