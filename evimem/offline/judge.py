"""Sufficiency without a model: which requirements the evidence supports, what is missing, and how sure that is."""

from __future__ import annotations

from ..evidence import Verdict, View
from ..times import mentions_time
from ..tracker import Requirement
from ..types import Gap, Tier
from .confidence import ANSWERABLE, EXACT_AT, INFERRABLE_AT, SUFFICIENT
from .features import features
from .match import Match, Matches, match, mentions

_SUPPORTS = 0.5
_WITNESSES = 3


def judge(view: View) -> Verdict:
    """Judge the shown evidence of a view."""
    matches = match(view)
    own = [m for m in matches.ranked if m.shown and m.own >= _SUPPORTS and not m.unit.asks]
    if not own and not view.shown:
        return Verdict(Tier.NONE, 0.0, reason="nothing was found")
    signals = features(matches, typed=typed(matches, own))
    answerable = ANSWERABLE.probability(signals)
    sufficient = SUFFICIENT.probability(signals)
    supported = {need.id: witnesses for need in view.tracker.requirements if (witnesses := _witnesses(need, view, own))}
    gaps = _gaps(view, matches, supported)
    return Verdict(
        tier=_tier(sufficient),
        confidence=sufficient,
        supported=supported,
        gaps=gaps,
        reason=gaps[0].text if gaps else "",
        probability=answerable,
        signals=signals,
    )


def typed(matches: Matches, own: list[Match]) -> float:
    """Return whether a good sentence has the form of answer that is asked for."""
    wants = matches.analysis.wants
    best = own[:3]
    if wants in {"time", "duration"}:
        return float(any(mentions_time(m.unit.text) for m in best))
    if wants == "count":
        return float(any(any(c.isdigit() for c in m.unit.text) for m in best))
    return 0.5


def _tier(sufficient: float) -> Tier:
    if sufficient >= EXACT_AT:
        return Tier.EXACT
    return Tier.INFERRABLE if sufficient >= INFERRABLE_AT else Tier.PARTIAL


def _witnesses(need: Requirement, view: View, own: list[Match]) -> tuple[str, ...]:
    if need.kind == "entity":
        found = [i.turn.id for i in view.shown if mentions(f"{i.turn.speaker} {i.turn.text}", need.about)]
    elif need.kind == "time":
        found = [m.unit.turn.id for m in own[:5] if mentions_time(m.unit.text)]
    elif need.kind == "attribution":
        found = [m.unit.turn.id for m in own[:5] if m.own > m.other]
    else:
        found = [m.unit.turn.id for m in own[:5] if m.coverage > 0]
    return tuple(dict.fromkeys(found))[:_WITNESSES]


def _gaps(view: View, matches: Matches, supported: dict[str, tuple[str, ...]]) -> tuple[Gap, ...]:
    return tuple(need.gap for need in view.tracker.open if need.id not in supported)
