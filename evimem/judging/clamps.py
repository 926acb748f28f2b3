"""What the loop makes of a verdict: calibration, stopping, abstention and the manner of the answer, as pure rules.

Constants are EviMem's (E7-E9, E11, E13); where DESIGN departs from the paper, `Budget` names the literal rule.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from ..types.budget import Budget
from ..types.values import Gap, Tier
from .evidence import EntityCount, Manner, Verdict

EXACT_FLOOR = 0.85
INFERRABLE_CAP = 0.75
PARTIAL_CAP = 0.50
DOWNGRADE_CAP = 0.60
STOP_AT = 0.70
STOP_AT_TEMPORAL = 0.85
DIRECT_AT = 0.75
PAPER_DELTA = 2
PAPER_ABSTAIN_BELOW = 0.30
PAPER_ABSTAIN_FACTS = 3
PAPER_ABSTAIN_CHECKS = 2
NOTHING_RELEVANT = "nothing in the memory bears on the question"
APPROXIMATE_COST = 0.15
APPROXIMATE_FLOOR = 0.30


@dataclass(frozen=True, slots=True)
class Calibrated:
    """A verdict after the clamps: the tier and confidence that the loop acts on, and the gaps the clamps added."""

    tier: Tier
    confidence: float
    gaps: tuple[Gap, ...] = ()


def most_needed(delta: int | str) -> int:
    """Return how many distinct facts an entity needs in a memory that holds plenty."""
    return PAPER_DELTA if delta == "paper" else max(1, int(delta))


def needed(total: int, delta: int | str) -> int:
    """Return how many distinct facts an entity needs, given how many the memory holds about it."""
    return PAPER_DELTA if delta == "paper" else max(1, min(int(delta), total))


def calibrate(verdict: Verdict, *, temporal: bool, entities: Mapping[str, EntityCount]) -> Calibrated:
    """Clamp a verdict: temporal floors and caps first, then the downgrade for an entity with too few facts."""
    confidence = _temporal(verdict.tier, verdict.confidence) if temporal else verdict.confidence
    short = [(name, count) for name, count in entities.items() if count.short]
    if verdict.tier is Tier.NONE or not short:
        return Calibrated(verdict.tier, confidence)
    cap = PARTIAL_CAP if temporal else DOWNGRADE_CAP
    return Calibrated(Tier.PARTIAL, min(confidence, cap), tuple(_too_little(name, count) for name, count in short))


def single_level(verdict: Verdict) -> Verdict:
    """Return a verdict that knows exact evidence from too little, and nothing between: what tiers are worth."""
    return replace(verdict, tier=Tier.PARTIAL) if verdict.tier is Tier.INFERRABLE else verdict


def sufficient(tier: Tier, confidence: float, *, temporal: bool) -> bool:
    """Whether a calibrated verdict ends the search (E9); PARTIAL never does."""
    if tier is Tier.EXACT:
        return confidence >= (STOP_AT_TEMPORAL if temporal else STOP_AT)
    return tier is Tier.INFERRABLE and confidence >= STOP_AT


def abstention(verdict: Verdict, *, facts: int, checks: int, budget: Budget, below: float) -> str | None:
    """Return why the loop abstains after its last check, or None when it answers.

    `verdict` is the calibrated one, `facts` the number of facts found, `checks` how often evidence was judged,
    `below` the judge's own threshold.
    """
    if "abstention" in budget.without:
        return None
    if budget.abstain == "paper":
        return _paper_abstention(verdict, facts, checks, budget.iterations)
    if verdict.tier is Tier.NONE:
        return verdict.reason or NOTHING_RELEVANT
    for gap in verdict.gaps:
        if gap.kind == "attribution":
            return gap.text
    threshold = below if budget.abstain_below is None else budget.abstain_below
    if verdict.probability is not None and verdict.probability < threshold:
        return verdict.reason or "the evidence probably does not answer the question"
    return None


def manner(tier: Tier, confidence: float, *, temporal: bool) -> Manner:
    """Return how the answer is to be worded (E13)."""
    if tier is Tier.EXACT:
        return "precise" if temporal else "direct"
    if tier is Tier.INFERRABLE:
        return "inferred" if temporal or confidence < DIRECT_AT else "direct"
    return "inferred" if not temporal and confidence >= PARTIAL_CAP else "hedged"


def approximate(confidence: float) -> float:
    """Return the confidence of an answer that is worded as approximate (E13)."""
    return max(APPROXIMATE_FLOOR, confidence - APPROXIMATE_COST)


def _paper_abstention(verdict: Verdict, facts: int, checks: int, iterations: int) -> str | None:
    """Return why EviMem would abstain (E11): no tier after two checks or more, or thin evidence at the last one."""
    if verdict.tier is Tier.NONE and checks >= PAPER_ABSTAIN_CHECKS:
        return verdict.reason or NOTHING_RELEVANT
    thin = verdict.confidence < PAPER_ABSTAIN_BELOW and facts < PAPER_ABSTAIN_FACTS
    return "the evidence is too thin" if thin and checks >= iterations else None


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
