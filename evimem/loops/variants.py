"""Ablations by name: each row of EviMem's two tables as a budget, its statements taken to the letter; and departures.

A departure is where a loop does otherwise than its paper, for a reason: `LITERAL` undoes each, to measure it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from types import MappingProxyType

from ..types.budget import Ablation, Budget

FULL = Budget(
    delta="paper", abstain="paper", calls="separate", without=frozenset({"tracker"}), literal=frozenset({"expansion"})
)
_LAST: tuple[Ablation, ...] = ("entities", "anchor", "abstention")


def _full_but(*parts: Ablation, iterations: int = FULL.iterations) -> Budget:
    return replace(FULL, without=frozenset({"tracker", *parts}), iterations=iterations)


VARIANTS: Mapping[str, Budget] = MappingProxyType(
    {
        # Table 2, each with one group more than the one before
        "single-pass": _full_but(*_LAST, "temporal", "tiers", "sufficiency", iterations=1),
        "basic-loop": _full_but(*_LAST, "temporal", "tiers"),
        "tiered-sufficiency": _full_but(*_LAST, "temporal"),
        "temporal-adaptation": _full_but(*_LAST),
        "full": FULL,  # the last row of Table 3 too
        # Table 3
        "raw-only": _full_but("index", "edges"),
        "index-layer": _full_but("edges"),
    }
)

LITERAL: Mapping[str, Budget] = MappingProxyType(
    {
        "unranked-expansion": Budget(literal=frozenset({"expansion"})),  # of "iris"
        "literal-router": Budget(literal=frozenset({"router"})),  # of "memr3"
        "largest-group-first": Budget(literal=frozenset({"pyramid"})),  # of "mgretrieval"
    }
)
