"""A trace as rounds: searches, new turns, newly supported and missing requirements, and why the loop stopped."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import groupby
from typing import Any

from ..types.public_value import PublicValue
from ..types.trace import Acted, Called, Event, Found, GapsChanged, Judged, Queried, Stopped, Trace, describe_event
from ..types.values import Gap

_FOLDED_ACTIONS = frozenset(("analyse", "show", "measure", "answer", "abstain"))  # shown elsewhere


@dataclass(frozen=True, slots=True, repr=False)
class Requirement(PublicValue):
    """Something that an answer needs.

    Attributes:
        id: Its name in the trace.
        text: The need, as a phrase.
        kind: The kind of gap that it leaves while it is open.
        round: The round in which it was first supported; None if it never was.
        witnesses: Ids of the turns that support it.
        waived: Why it was waived; None if it was not.
    """

    id: str
    text: str
    kind: str
    round: int | None
    witnesses: tuple[str, ...]
    waived: str | None


@dataclass(frozen=True, slots=True, repr=False)
class TraceRound(PublicValue):
    """One round of a loop: searches, new turns by path, newly supported requirements, and the verdict.

    Attributes:
        number: Counted from 1; 0 is the reading of the question.
        queries: The searches.
        found: Ids of new turns, best first.
        supported: Texts of the requirements that were supported for the first time.
        missing: The gaps that were left, the worst first.
        verdict: The last check of the round; None if there was none.
        calls: Requests to a model.
        acts: Other decisions, a line each.
        ended: Why the loop stopped after it; None if it went on.
    """

    number: int
    queries: tuple[Queried, ...]
    found: tuple[str, ...]
    supported: tuple[str, ...]
    missing: tuple[Gap, ...]
    verdict: Judged | None
    calls: tuple[Called, ...]
    acts: tuple[str, ...]
    ended: str | None


@dataclass(frozen=True, slots=True, repr=False)
class TraceView(PublicValue):
    """A trace as a reader follows it.

    Attributes:
        requirements: The needs of an answer, in the order of the trace.
        rounds: The rounds, in order.
        threshold: The probability below which the question is not answered, 0 to 1; None if the trace does not say.
        sufficiency: How likely the evidence suffices, by the last check, 0 to 1; None without a check.
        steps: How a short answer was worked out, a line each.
        outcome: The detail of the last answer or abstention, with its `kind` as of an `Answer`.
        found: Ids of all turns found, best first.
    """

    requirements: tuple[Requirement, ...]
    rounds: tuple[TraceRound, ...]
    threshold: float | None
    sufficiency: float | None
    steps: tuple[str, ...]
    outcome: Mapping[str, Any] = field(hash=False)
    found: tuple[str, ...]


def read_rounds(trace: Trace) -> TraceView:
    """Return a trace as rounds."""
    detail = _last_action_detail(trace, "analyse")
    requirements = _read_requirements(trace, detail)
    first = {one.id: one.round for one in requirements}
    texts = {one.id: one.text for one in requirements}
    rounds = tuple(
        _read_round(number, list(events), first, texts)
        for number, events in groupby((one for one in trace if one.iteration), key=lambda one: one.iteration)
    )
    budget = detail.get("budget") or {}
    below = budget.get("abstain_below")
    judged = [one for one in trace if isinstance(one, Judged)]
    outcome = _outcome_detail(trace)
    return TraceView(
        requirements,
        rounds,
        detail.get("abstain_below") if below is None else below,
        judged[-1].own_probability if judged else None,
        tuple(map(str, outcome.get("steps") or ())),
        outcome,
        tuple(dict.fromkeys(turn for one in rounds for turn in one.found)),
    )


def _last_action_detail(trace: Trace, action: str) -> Mapping[str, Any]:
    found = [one.detail for one in trace if isinstance(one, Acted) and one.action == action]
    return found[-1] if found else {}


def _outcome_detail(trace: Trace) -> Mapping[str, Any]:
    """Return the detail of the last answer or abstention, with its kind; of a trace without either it is "failed"."""
    for event in reversed(trace.events):
        if isinstance(event, Acted) and event.action in ("answer", "abstain"):
            return {"kind": "answer" if event.action == "answer" else "abstained", "why": event.why, **event.detail}
    return {"kind": "failed"}


def _read_requirements(trace: Trace, detail: Mapping[str, Any]) -> tuple[Requirement, ...]:
    named: dict[str, tuple[str, str]] = {
        one["id"]: (one["text"], one["kind"]) for one in detail.get("requirements") or () if isinstance(one, dict)
    }
    rounds: dict[str, int] = {}
    witnesses: dict[str, list[str]] = {}
    waived: dict[str, str] = {}
    for event in trace:
        if isinstance(event, GapsChanged):
            for each in (*event.extended, *event.supported, *event.waived):
                named.setdefault(each, (each, "attribute"))
            for each, turns in event.supported.items():
                rounds.setdefault(each, event.iteration)
                known = witnesses.setdefault(each, [])
                known += [turn for turn in turns if turn not in known]
            for each in event.retracted:
                rounds.pop(each, None)
                witnesses.pop(each, None)
            waived |= event.waived
    return tuple(
        Requirement(name, text, kind, rounds.get(name), tuple(witnesses.get(name, ())), waived.get(name))
        for name, (text, kind) in named.items()
    )


def _read_round(
    number: int, events: list[Event], first: Mapping[str, int | None], texts: Mapping[str, str]
) -> TraceRound:
    gaps = [one for one in events if isinstance(one, GapsChanged)]
    judged = [one for one in events if isinstance(one, Judged)]
    stopped = [one.reason for one in events if isinstance(one, Stopped)]
    new = {each: None for one in gaps for each in one.supported if first.get(each) == number}
    found = {turn: None for one in events if isinstance(one, Found) for turn in one.turns}
    missing = judged[-1].gaps if judged else gaps[-1].open if gaps else ()
    return TraceRound(
        number,
        tuple(one for one in events if isinstance(one, Queried)),
        tuple(found),
        tuple(texts.get(each, each) for each in new),
        tuple(gap for gap in missing if gap.kind != "none"),
        judged[-1] if judged else None,
        tuple(one for one in events if isinstance(one, Called)),
        tuple(describe_event(one) for one in events if isinstance(one, Acted) and one.action not in _FOLDED_ACTIONS),
        stopped[-1] if stopped else None,
    )
