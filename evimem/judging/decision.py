"""What a loop that decides step by step is told before a decision, and what the decision says."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal

from ..types.values import Tier
from .apply_verdict import clamp, sufficient
from .evidence import Verdict, View
from .tracker import Requirement

Action = Literal["retrieve", "reflect", "answer"]
NOT_SEARCHED = frozenset(("attribution", "contradicted", "granularity"))  # kinds of gap that no further search closes
ENOUGH = "the evidence suffices without it"


@dataclass(frozen=True, slots=True)
class Stage:
    """Where a loop stands when it asks for a decision.

    `number` counts the decisions, from 1 on, of which there are at most `most`. With `last` the loop answers next,
    whatever is decided, so that a draft is wanted. `empty` is whether the last search brought nothing new. `tried` is
    what was searched for besides the question, and `thoughts` what earlier reflections came to, both in order.
    """

    number: int
    most: int
    last: bool
    empty: bool
    tried: tuple[str, ...] = ()
    thoughts: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Decided:
    """A verdict on the evidence, and what to do next.

    The verdict's `query` is what to search for besides the question. `draft` is an answer from the evidence so far,
    which only the last decision is asked for.
    """

    action: Action
    verdict: Verdict
    draft: str = ""


def decide_by(verdict: Verdict, view: View, stage: Stage) -> Decided:
    """Decide by a verdict alone: answer where it is firm, giving up what is open, else search for what is missing.

    Firm is what ends a search of IRIS (E9), after the clamps for questions about time (E8); what must be inferred from
    the few turns of the first search is searched for once more. A waived requirement is recorded with its reason (M5).
    """
    final = clamp(verdict, temporal=view.analysis.temporal, entities={})
    early = final.tier is not Tier.EXACT and stage.number == 1
    if early or not sufficient(final.tier, final.confidence, temporal=view.analysis.temporal):
        return Decided("retrieve", verdict)
    return Decided("answer", waiving(verdict, view.tracker.open))


def waiving(verdict: Verdict, needs: tuple[Requirement, ...]) -> Verdict:
    """Return a verdict that gives up what it does not support: a fitted probability says that nothing is missing."""
    given_up = {need.id: ENOUGH for need in needs if need.id not in verdict.supported}
    return replace(verdict, waived={**given_up, **verdict.waived})
