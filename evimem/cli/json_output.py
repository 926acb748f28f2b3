"""The output of `--json`: plain values with keys that stay the same between versions."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..types.answer import Answer, Citation
from ..types.reports import AddReport, EraseReport, Health, Stats
from ..types.values import Fact, Hit, TimeSpan, Turn


def turn_data(turn: Turn) -> dict[str, Any]:
    """Return every field of a turn."""
    return {
        "id": turn.id,
        "session": turn.session,
        "speaker": turn.speaker,
        "role": turn.role,
        "time": turn.time.isoformat(),
        "text": turn.text,
        "caption": turn.caption,
        "metadata": dict(turn.metadata),
    }


def fact_data(fact: Fact) -> dict[str, Any]:
    """Return every field of a fact."""
    return {
        "id": fact.id,
        "turn_id": fact.turn_id,
        "subject": fact.subject,
        "predicate": fact.predicate,
        "object": fact.object,
        "event": span_data(fact.event),
        "span": list(fact.span),
        "kind": fact.kind,
        "extractor": fact.extractor,
        "replaced_by": fact.replaced_by,
    }


def span_data(span: TimeSpan | None) -> dict[str, Any] | None:
    """Return an interval of time; start and end are None for a vague one."""
    if span is None:
        return None
    edges = {name: edge.isoformat() if edge else None for name, edge in (("start", span.start), ("end", span.end))}
    return {**edges, "granularity": span.granularity, "text": span.text}


def hit_data(hit: Hit) -> dict[str, Any]:
    """Return a hit: the turn, its facts, its score and the parts of it."""
    return {
        "turn": turn_data(hit.turn),
        "facts": [fact_data(fact) for fact in hit.facts],
        "score": hit.score,
        "parts": dict(hit.parts),
        "path": hit.path,
        "neighbours": list(hit.neighbours),
    }


def answer_data(question: str, answer: Answer, turns: Mapping[str, Turn]) -> dict[str, Any]:
    """Return an answer with its citations, each with who said it and when. The trace is left out."""
    return {
        "question": question,
        "kind": answer.kind,
        "text": answer.text,
        "abstained": answer.abstained,
        "tier": answer.tier.value,
        "confidence": answer.confidence,
        "confidence_is": answer.confidence_is,
        "reason": answer.reason,
        "fell_back": answer.fell_back,
        "time": span_data(answer.time),
        "citations": [_citation(citation, turns[citation.turn_id]) for citation in answer.citations],
        "gaps": [{"kind": gap.kind, "about": gap.about, "text": gap.text} for gap in answer.gaps],
        "usage": {name: getattr(answer.usage, name) for name in answer.usage.__slots__},
    }


def added_data(report: AddReport) -> dict[str, Any]:
    """Return the counts of a report, and the turns that were refused."""
    refused = [{"id": one.id, "reason": one.reason} for one in report.statuses if one.outcome == "refused"]
    stored = {"added": report.added, "existing": report.existing, "replaced": report.replaced, "erased": report.erased}
    return {**stored, "facts": report.facts, "refused": refused}


def erased_data(report: EraseReport) -> dict[str, Any]:
    """Return the counts of an erasure."""
    return {"status": report.status, "turns": report.turns, "facts": report.facts, "reason": report.reason}


def stats_data(stats: Stats) -> dict[str, Any]:
    """Return the counts of a memory."""
    plain = {name: getattr(stats, name) for name in stats.__slots__}
    dates = {name: plain[name].isoformat() if plain[name] else None for name in ("first", "last")}
    return plain | dates | {"speakers": list(stats.speakers), "edges": dict(stats.edges)}


def health_data(health: Health) -> dict[str, Any]:
    """Return the health of a memory."""
    oldest = health.oldest_pending.isoformat() if health.oldest_pending else None
    return {
        "status": health.status,
        "turns": health.turns,
        "pending": dict(health.pending),
        "failed": dict(health.failed),
        "oldest_pending": oldest,
        "problems": list(health.problems),
    }


def _citation(citation: Citation, turn: Turn) -> dict[str, Any]:
    return {
        "turn_id": citation.turn_id,
        "speaker": turn.speaker,
        "time": turn.time.isoformat(),
        "session": turn.session,
        "span": list(citation.span) if citation.span else None,
        "quote": citation.quote,
        "fact_id": citation.fact_id,
    }
