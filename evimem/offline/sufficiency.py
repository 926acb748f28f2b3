"""Sufficiency without a model: which requirements the evidence supports, what is missing, and how sure that is."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ..judging.evidence import Verdict, View
from ..judging.tracker import Requirement
from ..text.names import names
from ..times import mentions_time
from ..types.values import Gap, Tier
from .attributes import lookup
from .constants import SHIPPED, Constants
from .false_premise import altered, in_words
from .features import features, missing
from .match_sentences import Match, Matches, match, strength

_CANDIDATES = 5  # sentences that may be witnesses
_WITNESSES = 3
_ABOUT = 0.5  # how far a witness must be about the target


def judge(view: View, constants: Constants = SHIPPED) -> Verdict:
    """Judge the shown evidence: requirements, gaps, and two probabilities.

    The verdict's confidence is that the view holds all that an answer needs; its probability is that the memory
    answers the question at all.
    """
    matches = match(view)
    if not matches.ranked:
        gaps = tuple(need.gap for need in view.tracker.open)
        return Verdict(Tier.NONE, 0.0, gaps=gaps, reason="nothing was found", probability=0.0)
    told = lookup(view)
    signals = {**features(view, matches), "told": told.outcome}
    score = constants.score(signals)
    answerable = constants.calibrated(score)
    sufficient = constants.sufficient.probability(signals)
    own = sorted((m for m in matches.ranked if m.shown and m.own >= _ABOUT), key=lambda m: -strength(m))
    supported = _supported(view, own[:_CANDIDATES])
    doubtful = answerable < constants.abstain_below
    foreign = _somebody_else(matches, signals) if doubtful else None
    if foreign is not None:
        supported.pop(f"attribution:{matches.target}", None)
    certain = answerable < constants.misattributed
    why = _why(view, matches, signals, foreign, told.gap) if doubtful else None
    query = told.query if view.iteration == 1 else ""
    gaps = _gaps(view, supported)
    if certain and why is not None:
        gaps = (Gap("attribute" if why == told.gap else "attribution", matches.target or "", why), *gaps)
    return Verdict(
        tier=Tier.NONE if certain and why is None else _tier(sufficient, constants, doubtful=doubtful or bool(query)),
        confidence=sufficient,
        supported=supported,
        gaps=gaps,
        query=query,
        reason=(why or _reason(matches, own)) if doubtful else "",
        probability=answerable,
        signals={**signals, "score": score},
    )


def _tier(sufficient: float, constants: Constants, *, doubtful: bool) -> Tier:
    if doubtful or sufficient < constants.inferrable:
        return Tier.PARTIAL
    return Tier.EXACT if sufficient >= constants.exact else Tier.INFERRABLE


def _supported(view: View, own: Sequence[Match]) -> dict[str, tuple[str, ...]]:
    found = {need.id: _witnesses(need, view, own) for need in view.tracker.requirements}
    return {name: witnesses for name, witnesses in found.items() if witnesses}


def _witnesses(need: Requirement, view: View, own: Sequence[Match]) -> tuple[str, ...]:
    if need.kind == "entity":
        ids = [i.turn.id for i in view.shown if names(f"{i.turn.speaker} {i.turn.text}", need.about)]
    elif need.id == "when":
        ids = [i.turn.id for i in view.shown if _within(view, i.turn.id)]
    elif need.kind == "time":
        ids = [m.unit.turn.id for m in own if mentions_time(m.unit.turn.text)]
    elif need.kind == "attribution":
        ids = [m.unit.turn.id for m in own if m.own > m.other]
    else:
        ids = [m.unit.turn.id for m in own if m.coverage > 0 and not m.unit.asks]
    return tuple(dict.fromkeys(ids))[:_WITNESSES]


def _within(view: View, turn_id: str) -> bool:
    """Whether a turn was said, or one of its facts happens, in a time that the question names."""
    item = next(item for item in view.shown if item.turn.id == turn_id)
    moments = [(item.turn.time, item.turn.time)]
    moments += [(f.event.start, f.event.end) for f in item.facts if f.event and f.event.start and f.event.end]
    spans = [(span.start, span.end) for span in view.analysis.times if span.start and span.end]
    return any(start < until and since <= end for start, end in moments for since, until in spans)


def _somebody_else(matches: Matches, signals: Mapping[str, float]) -> str | None:
    """Return whom the best evidence is about when it is not the target."""
    if matches.target is None or signals.get("gap_best", 0.0) >= 0:
        return None
    best = max(matches.ranked, key=lambda m: m.score * m.other)
    asked = set(matches.analysis.asked) or {matches.target}
    others = {name: weight for name, weight in best.unit.about.items() if name not in asked and weight > 0}
    return max(others, key=lambda name: others[name], default=None)


def _gaps(view: View, supported: Mapping[str, tuple[str, ...]]) -> tuple[Gap, ...]:
    open_needs = [need for need in view.tracker.open if need.id not in supported]
    return tuple(need.gap for need in open_needs if need.kind != "attribution")


def _why(view: View, matches: Matches, signals: Mapping[str, float], foreign: str | None, untold: str) -> str | None:
    """Return what the question takes for granted and the evidence has otherwise: the person, the attribute, a word."""
    if foreign is not None:
        return f"the evidence is about {foreign}, not {matches.target}"
    if untold:
        return untold
    return in_words(altered(view, matches)[0]) if signals["altered"] else None


def _reason(matches: Matches, own: Sequence[Match]) -> str:
    about = f" about {matches.target}" if matches.target else ""
    absent = missing(matches, own[0])[:2] if own else tuple(matches.weights)[:2]
    return f"nothing{about} says: {', '.join(absent)}" if absent else f"too little is said{about}"
