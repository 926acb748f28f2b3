"""Apply a verdict by pure rules: tracker events, clamps, stopping, abstention, the wording of the answer.

Constants are EviMem's (E7-E9, E11, E13); where a rule departs from the paper, `Variant` names the literal one.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass, replace
from functools import reduce

from ..types.trace import Acted, Event, GapsChanged
from ..types.values import Gap, Tier
from .evidence import EntityCount, Manner, Variant, Verdict, View
from .tracker import (
    Claim,
    Extend,
    Retract,
    State,
    Support,
    Tracker,
    Waive,
    Withdraw,
    apply,
    shown_witnesses,
)  # fmt: skip

EXACT_FLOOR = 0.85  # E8: confidence of a temporal EXACT at least
INFERRABLE_CAP = 0.75  # E8: of a temporal INFERRABLE at most
PARTIAL_CAP = 0.50  # E8: of a temporal PARTIAL at most
DOWNGRADE_CAP = 0.60  # E7: after an entity downgrade at most
NONE_CAP = 0.30  # confidence of an answer that nothing bears on: the paper's "too thin" (E11)
MIN_STOP_CONFIDENCE = 0.70  # E9
MIN_TEMPORAL_STOP_CONFIDENCE = 0.85  # E9
MIN_DIRECT_CONFIDENCE = 0.75  # E13
PAPER_DELTA_FACTS = 2  # E7
PAPER_ABSTAIN_BELOW = 0.30  # E11: "extremely low", which the paper gives no number of
PAPER_ABSTAIN_CHECKS = 2  # E11
MAX_CLAIMS = 24  # of a question: claims steer a search, they are no second memory
DECLINED_GAP_KINDS = ("contradicted", "attribution")  # kinds of gap that no answer is given with
NOTHING_RELEVANT_REASON = "nothing in the memory bears on the question"
APPROXIMATE_COST = 0.15  # E13
APPROXIMATE_FLOOR = 0.30  # E13


@dataclass(frozen=True, slots=True)
class Clamped:
    """A verdict after the clamps: the tier and confidence that the loop acts on, and the gaps the clamps added."""

    tier: Tier
    confidence: float
    gaps: tuple[Gap, ...] = ()


def needed_facts(total: int, delta: int | str) -> int:
    """Return how many distinct facts an entity needs, given how many the memory holds about it."""
    return PAPER_DELTA_FACTS if delta == "paper" else max(1, min(int(delta), total))


def clamp(
    verdict: Verdict, *, temporal: bool, entities: Mapping[str, EntityCount], missing: Iterable[Gap] = ()
) -> Clamped:
    """Clamp a verdict: temporal floors and caps first, then the downgrades.

    An entity with too few facts makes any evidence partial (E7), and so is exact evidence while something is `missing`:
    a judge that has not mapped evidence to a requirement is not believed that nothing is missing.
    """
    confidence = _temporal(verdict.tier, verdict.confidence) if temporal else verdict.confidence
    short = tuple(_too_little(name, count) for name, count in entities.items() if lacks_facts(count))
    gaps = (*short, *(missing if verdict.tier is Tier.EXACT else ()))
    if verdict.tier is Tier.NONE or not gaps:
        return Clamped(verdict.tier, confidence)
    return Clamped(Tier.PARTIAL, min(confidence, DOWNGRADE_CAP), gaps)


def clamp_verdict(verdict: Verdict, view: View, tracker: Tracker) -> Clamped:
    """Clamp a verdict on a view, given the tracker after it: the loop acts on the result.

    A mapping of the judge is believed: a name that it supported with shown turns is not short of facts, whatever the
    facts call it. `Variant(delta="paper")` counts facts alone. Open requirements lower nothing without "tracker", nor
    where the judge was not asked to map them.
    """
    variant = view.variant
    if "tiers" in variant.without and verdict.tier is Tier.INFERRABLE:  # exact or too little, and nothing between
        verdict = replace(verdict, tier=Tier.PARTIAL)
    literal = variant.delta == "paper"
    entities = {name: n for name, n in view.entities.items() if literal or f"entity:{name}" not in tracker.supported}
    believed = "tracker" in variant.without or not verdict.mapped
    missing = () if believed else tuple(need.gap for need in tracker.open)
    return clamp(verdict, temporal=view.analysis.temporal, entities=entities, missing=missing)


def shown_confidence(tier: Tier, confidence: float) -> float:
    """Return the part of an uncalibrated confidence that may be shown: no more than its tier allows."""
    caps = {Tier.PARTIAL: DOWNGRADE_CAP, Tier.NONE: NONE_CAP}
    return min(confidence, caps.get(tier, 1.0))


def all_gaps(verdict: Verdict, clamped: Clamped, tracker: Tracker) -> tuple[Gap, ...]:
    """Return the gaps, those that steer the search first: reasons of a lowered tier, then the judge's gaps.

    The open requirements of its tracker stand in where a judge that maps it named nothing, what is asked before who.
    That evidence is about another person is a gap only where it is stated: that nobody has checked it is none.
    """
    named = [gap for gap in verdict.gaps if gap.kind != "none"]
    silent = verdict.mapped and not named and clamped.tier is Tier.PARTIAL
    still_open = sorted((need.gap for need in tracker.open if silent), key=lambda gap: gap.kind == "entity")
    unchecked = {need.gap for need in tracker.open if need.kind == "attribution"}.difference(named)
    return tuple(dict.fromkeys(gap for gap in (*clamped.gaps, *named, *still_open) if gap not in unchecked))


def lacks_facts(count: EntityCount) -> bool:
    """Whether an answer may not rest on so few facts about an entity (E7)."""
    return count.total == 0 or count.found < count.needed


def is_sufficient(tier: Tier, confidence: float, *, temporal: bool) -> bool:
    """Whether a calibrated verdict ends the search (E9); PARTIAL never does."""
    if tier is Tier.EXACT:
        return confidence >= (MIN_TEMPORAL_STOP_CONFIDENCE if temporal else MIN_STOP_CONFIDENCE)
    return tier is Tier.INFERRABLE and confidence >= MIN_STOP_CONFIDENCE


def find_stop_reason(verdict: Verdict, before: Verdict | None, *, temporal: bool) -> str | None:
    """Return why no search after a check would help, given the calibrated verdict and that of the check before.

    No search changes a contradicted premise. Two checks in a row may have named turns that tell of another person what
    is asked of one: after the first the turns of the one asked about are searched, so that a third would hardly find
    more.
    """
    if is_sufficient(verdict.tier, verdict.confidence, temporal=temporal):
        return f"{verdict.tier.value} evidence"
    if corrects(verdict):
        return "the premise is contradicted"
    both = (verdict, before) if before is not None else ()
    of_another = [one.pinned and any(gap.kind == "attribution" for gap in one.gaps) for one in both]
    return "the evidence is about another person" if of_another and all(of_another) else None


def corrects(verdict: Verdict) -> bool:
    """Return whether a verdict corrects what the question takes for granted."""
    return any(gap.kind == "contradicted" for gap in verdict.gaps)


def abstention(verdict: Verdict, variant: Variant, *, checks: int, most: int, below: float) -> str | None:
    """Return why the loop abstains after its last check, or None when it answers.

    `verdict` is the calibrated one, `checks` how often evidence was judged of at `most` so many times, `below` the
    threshold.
    """
    if "abstention" in variant.without:
        return None
    if variant.abstain == "paper":
        return _paper_abstention(verdict, checks, most)
    if verdict.tier is Tier.NONE:
        return verdict.reason or NOTHING_RELEVANT_REASON
    for kind in DECLINED_GAP_KINDS:
        for gap in verdict.gaps:
            if gap.kind == kind:
                return gap.text
    if (verdict.confidence if verdict.probability is None else verdict.probability) < below:
        return verdict.reason or "the evidence probably does not answer the question"
    return None


def manner(tier: Tier, confidence: float, *, temporal: bool) -> Manner:
    """Return how the answer is to be worded (E13); `temporal` is whether a time is asked for."""
    if tier is Tier.EXACT:
        return "precise" if temporal else "direct"
    if tier is Tier.INFERRABLE:
        return "inferred" if temporal or confidence < MIN_DIRECT_CONFIDENCE else "direct"
    return "inferred" if not temporal and confidence >= PARTIAL_CAP else "hedged"


def approximate(confidence: float) -> float:
    """Return the confidence of an answer that is worded as approximate (E13)."""
    return max(APPROXIMATE_FLOOR, confidence - APPROXIMATE_COST)


def _paper_abstention(verdict: Verdict, checks: int, most: int) -> str | None:
    """Return why EviMem would abstain (E11): no tier after two checks or an early end, or low confidence at the end."""
    if verdict.tier is Tier.NONE and (checks >= PAPER_ABSTAIN_CHECKS or checks < most):
        return verdict.reason or NOTHING_RELEVANT_REASON
    return "the evidence is too thin" if verdict.confidence < PAPER_ABSTAIN_BELOW else None


def _temporal(tier: Tier, confidence: float) -> float:
    if tier is Tier.EXACT:
        return max(confidence, EXACT_FLOOR)
    if tier is Tier.INFERRABLE:
        return min(confidence, INFERRABLE_CAP)
    return min(confidence, PARTIAL_CAP) if tier is Tier.PARTIAL else confidence


def _too_little(name: str, count: EntityCount) -> Gap:
    if not count.total:
        return Gap("entity", name, f"nothing in the memory is about {name}")
    return Gap("entity", name, f"need more about {name}: {count.found} of {count.needed} facts found")


@dataclass(frozen=True, slots=True)
class TrackerUpdate:
    """The tracker after a verdict, and the events to record."""

    tracker: Tracker
    events: tuple[Event, ...]


def update_tracker(tracker: Tracker, verdict: Verdict, iteration: int) -> TrackerUpdate:
    """Apply a verdict: extend, retract, support, waive, withdraw, claim, in this order.

    A repeated claim is no new claim, unless it was withdrawn. Unknown requirements and witnesses that were
    never shown are left out: a judge may claim them, the state may not. So is a new requirement that restates one that
    is given up: no search could close it.
    """
    given_up = [r for r in tracker.requirements if r.id in {**tracker.waived, **verdict.waived}]
    extended = tuple(
        one for one in verdict.extended if not tracker.requires(one.id) and not any(map(one.restates, given_up))
    )
    tracker = reduce(apply, [Extend(requirement) for requirement in extended], tracker)
    retracted = {name: why for name, why in verdict.retracted.items() if tracker.requires(name)}
    tracker = reduce(apply, [Retract(name, why) for name, why in retracted.items()], tracker)
    supported = {
        name: witnesses
        for name, claimed in verdict.supported.items()
        if tracker.requires(name) and (witnesses := shown_witnesses(claimed, tracker.shown))
    }
    tracker = reduce(apply, [Support(name, witnesses) for name, witnesses in supported.items()], tracker)
    waived = {
        name: why for name, why in verdict.waived.items() if tracker.requires(name) and name not in tracker.supported
    }
    tracker = reduce(apply, [Waive(name, why) for name, why in waived.items()], tracker)
    withdrawn = {at: why for at, why in verdict.withdrawn.items() if at < len(tracker.claims) and why}
    tracker = reduce(apply, [Withdraw(at, why) for at, why in withdrawn.items()], tracker)
    claims = tuple(_new_claims(tracker, verdict.claims))
    tracker = reduce(apply, [State(claim) for claim in claims], tracker)
    left = tuple(requirement.gap for requirement in tracker.open)
    changed = GapsChanged(iteration, supported, waived, retracted, tuple(r.id for r in extended), left)
    additions = tuple(Acted(iteration, "extend", detail=asdict(requirement)) for requirement in extended)
    said = (
        *(Acted(iteration, "withdraw", why, {"place": at}) for at, why in withdrawn.items()),
        *(Acted(iteration, "claim", detail={"text": one.text, "sources": list(one.sources)}) for one in claims),
    )
    return TrackerUpdate(tracker, (*additions, changed, *said))


def _new_claims(tracker: Tracker, claims: Iterable[Claim]) -> Iterator[Claim]:
    """Yield claims that are made for the first time, by turns that were shown; within bounds."""
    known = {claim.text.casefold() for claim in tracker.held}
    for claim in claims:
        sources = shown_witnesses(claim.sources, tracker.shown)
        if sources and claim.text.casefold() not in known and len(known) < MAX_CLAIMS:
            known.add(claim.text.casefold())
            yield replace(claim, sources=sources)
