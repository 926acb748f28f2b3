"""How hard a question is looked into, and which statement of the papers its loop follows."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import Literal

Ablation = Literal["sufficiency", "tiers", "temporal", "entities", "anchor", "abstention", "index", "edges"]


@dataclass(frozen=True, slots=True)
class Budget:
    """How hard to look before abstaining, and which statement of the papers to follow.

    Iteration i of at most `iterations` retrieves k + step * (i - 1) turns a path (E5). `tokens` bounds the
    evidence shown to a model. `abstain_below` is a probability; None takes the shipped default of the mode.
    `delta` is the number of facts an entity needs (E7), or "paper" for the literal rule; `abstain` is
    "calibrated" or "paper" (E11); `calls` is "joint" or "separate" (the papers' pattern). With `gate`, a model is not
    asked for a first verdict that the offline judge is sure of, in a memory of 200 turns and more; the trace says so.

    `without` names parts to leave out, to measure what each is worth; `evimem.loops.VARIANTS` holds the combinations
    of EviMem's ablations:
    sufficiency  nothing is judged; what was found is answered from at once
    tiers        evidence is exact or not enough: nothing is inferred, reasoned about in steps, or hedged
    temporal     questions about time are judged, refined and worded as any other
    entities     no count of facts about an entity lowers a tier
    anchor       after the first search only the refined query is searched for
    abstention   something is answered, whatever the evidence, unless there is none or no words for it
    index        turns alone, by BM25: no facts, no vectors, no words of other turns
    edges        no edge is followed, as with hops=0
    """

    iterations: int = 3
    k: int = 10
    step: int = 3
    hops: int = 1
    tokens: int = 4000
    seconds: float | None = None
    abstain_below: float | None = None
    delta: int | Literal["paper"] = 2
    abstain: Literal["calibrated", "paper"] = "calibrated"
    calls: Literal["joint", "separate"] = "joint"
    gate: bool = True
    without: Collection[Ablation] = frozenset()
