"""OpenTelemetry: a span for each call of a memory, made while it runs, with the API alone.

memory = evimem.open("mira.evimem", observer=Spans())

Nothing is exported unless the program sets a tracer provider. Names are those of the GenAI semantic conventions, their
spans for memories (status "development", read in November 2026), and "evimem." before attributes that they have no name
for.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from ..api.observer import Operation, OperationName
from ..errors import MissingExtra
from ..flow import Embed
from ..types.results import AddReport, Answer, Block, EraseReport
from ..types.trace import Acted, Complete, Event, Found, GapsChanged, Judged, Queried, Reply
from ..types.values import Turn
from ..types.version import __version__

try:
    from opentelemetry.trace import Span, SpanKind, Status, StatusCode, Tracer, get_tracer, set_span_in_context
except ImportError as _error:
    raise MissingExtra("evimem.adapters.otel", "otel") from _error

SPAN_NAMES: dict[OperationName, str] = {
    "add": "create_memory",
    "replace": "upsert_memory",
    "update": "update_memory",
    "extract": "update_memory",
    "search": "search_memory",
    "ask": "search_memory",
    "block": "search_memory",
    "profile": "search_memory",
    "forget": "delete_memory",
    "erase": "delete_memory_store",
}


class Spans:
    """An observer that makes spans: of calls, with a child for each request to a model or embedder, and trace events.

    A span has the digest of the memory (`gen_ai.memory.store.id`, see `Operation.store`), how many turns it is about,
    and of `ask` the loop, tier, confidence and iterations. Other OpenTelemetry spans of the caller are its parents.

    Args:
        capture_content: Whether spans hold questions and the found turns. By default no span does.
        provider: The tracer provider; by default the one that the program has set.
    """

    def __init__(self, *, capture_content: bool = False, provider: Any = None) -> None:
        self._tracer: Tracer = get_tracer("evimem", __version__, provider)
        self._capture = capture_content

    def begin(self, operation: Operation) -> CallSpan:
        """Start a span."""
        name = SPAN_NAMES[operation.name]
        known = {
            "gen_ai.operation.name": name,
            "gen_ai.memory.store.id": operation.store,
            "evimem.operation": operation.name,
        }
        if self._capture and operation.query:
            known["gen_ai.memory.query.text"] = operation.query
        return CallSpan(self._tracer.start_span(name, attributes=known), self._tracer, operation, self._capture)


@dataclass(frozen=True)
class CallSpan:
    """The span of one call."""

    _span: Span
    _tracer: Tracer
    _operation: Operation
    _capture: bool

    def heard(self, event: Event) -> None:
        """Add an event of the trace, without quoted text."""
        if self._span.is_recording():
            attributes = {"evimem.iteration": event.iteration, **_count_attributes(event)}
            self._span.add_event(f"evimem.{event.kind}", attributes)

    def asks(self, request: Complete | Embed) -> Callable[[Any], None]:
        """Start the span of a request; it ends with the reply."""
        chat = isinstance(request, Complete)
        kind = SpanKind.CLIENT if chat or self._operation.remote else SpanKind.INTERNAL
        asked = self._operation.model if chat else self._operation.embedder
        name = "chat" if chat else "embeddings"
        known = {"gen_ai.operation.name": name, "gen_ai.request.model": asked}
        known |= {"evimem.role": request.role} if isinstance(request, Complete) else {}
        parent = set_span_in_context(self._span)
        span = self._tracer.start_span(f"{name} {asked}", parent, kind, known)

        def finish_request(reply: Any) -> None:
            if isinstance(reply, Reply):
                span.set_attribute("gen_ai.response.model", reply.model)
                span.set_attribute("gen_ai.usage.input_tokens", reply.input_tokens)
                span.set_attribute("gen_ai.usage.output_tokens", reply.output_tokens)
            _finish(span, reply)

        return finish_request

    def ends(self, outcome: Any) -> None:
        """End the span."""
        if self._span.is_recording():
            self._span.set_attributes(_result(outcome))
            if self._capture and (turns := _found(outcome)):
                records = [{"id": turn.id, "content": turn.text} for turn in turns]
                self._span.set_attribute("gen_ai.memory.records", json.dumps(records, ensure_ascii=False))
        _finish(self._span, outcome)


def _finish(span: Span, outcome: Any) -> None:
    if isinstance(outcome, BaseException):
        span.set_attribute("error.type", type(outcome).__name__)
        if isinstance(outcome, Exception):  # else the caller stopped it; its message may hold names of users
            span.set_status(Status(StatusCode.ERROR))
    span.end()


def _found(outcome: Any) -> list[Turn]:
    if isinstance(outcome, Block):
        return list(outcome.turns)
    return [hit.turn for hit in outcome] if isinstance(outcome, list) else []


def _result(outcome: Any) -> dict[str, Any]:
    count = "gen_ai.memory.record.count"
    match outcome:
        case Answer():
            return {
                count: len({turn for event in outcome.trace if isinstance(event, Found) for turn in event.turns}),
                "evimem.loop": outcome.trace.loop,
                "evimem.tier": outcome.tier.value,
                "evimem.abstained": outcome.abstained,
                "evimem.confidence": outcome.confidence,
                "evimem.iterations": max((event.iteration for event in outcome.trace), default=0),
            }
        case Block():
            judged = {"evimem.tier": outcome.tier.value} if outcome.tier else {}
            return {count: len(outcome.turns), "evimem.relevance": outcome.relevance, **judged}
        case AddReport():
            return {count: outcome.added + outcome.replaced}
        case EraseReport():
            return {count: outcome.turns}
        case list():
            return {count: len(outcome)}
    return {}


def _count_attributes(event: Event) -> dict[str, Any]:
    """Return the counts and flags of an event, without texts and ids."""
    said: dict[str, Any] = {}
    match event:
        case Queried():
            said = {"path": event.path, "k": event.k}
        case Found():
            said = {"path": event.path, "turns": len(event.turns), "facts": len(event.facts)}
        case Judged():
            kinds = [gap.kind for gap in event.gaps]
            said = {"tier": event.final_tier.value, "probability": event.own_probability, "gaps": kinds}
        case GapsChanged():
            said = {"supported": len(event.supported), "waived": len(event.waived), "open": len(event.open)}
        case Acted():
            said = {"action": event.action}
    return {f"evimem.{name}": value for name, value in said.items()}
