"""Variants by name: the rows of EviMem's two ablation tables, and where a loop departs from its paper, the paper."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from types import MappingProxyType

from ..judging.evidence import Ablation
from .iris import Iris
from .memr3 import MemR3
from .mgretrieval import MGRetrieval
from .mragent import MRAgent
from .task import Loop

# EviMem to the letter
FULL = Iris(
    delta="paper", abstain="paper", calls="separate", without=frozenset({"tracker"}), unit="tuple", temperature=0.3
)
# MemR3, MGRetrieval and MRAgent to the letter of their papers
MEMR3 = MemR3(router="paper", neighbours=False)
MGRETRIEVAL = MGRetrieval(unit="exchange", vocabulary="whole", whole_groups=True, accepts="flag", neighbours=False)
MRAGENT = MRAgent(neighbours=False)
OF_MEMR3: tuple[Ablation, ...] = ("mask", "delta", "reflection", "tracker")
_LAST: tuple[Ablation, ...] = ("entities", "anchor", "abstention")


def _full_but(*parts: Ablation, iterations: int = FULL.iterations) -> Iris:
    return replace(FULL, without=frozenset({"tracker", *parts}), iterations=iterations)


VARIANTS: Mapping[str, Loop] = MappingProxyType(
    {
        # EviMem's table 2, each with one group more than the one before
        "single-pass": _full_but(*_LAST, "temporal", "tiers", "sufficiency", iterations=1),
        "basic-loop": _full_but(*_LAST, "temporal", "tiers"),
        "tiered-sufficiency": _full_but(*_LAST, "temporal"),
        "temporal-adaptation": _full_but(*_LAST),
        "full": FULL,  # the last row of table 3 too
        # EviMem's table 3
        "raw-only": _full_but("index", "edges"),
        "index-layer": _full_but("edges"),
        # Where a loop departs from its paper, for a reason, and this does not
        "unranked-expansion": Iris(unranked=True),
        "literal-router": MemR3(router="paper"),
        "largest-group-first": MGRetrieval(whole_groups=True),
        "exchanges": MGRetrieval(unit="exchange"),
        "flag-alone": MGRetrieval(accepts="flag"),
        "whole-vocabulary": MGRetrieval(vocabulary="whole"),
        # Each of these to the letter of its paper
        "memr3-as-published": MEMR3,
        "mgretrieval-as-published": MGRETRIEVAL,
        "mragent-as-published": MRAGENT,
        # MemR3's ablations
        **{f"no-{part}": replace(MEMR3, without=frozenset({part})) for part in OF_MEMR3},
        # MGRetrieval's ablations
        "one-round": replace(MGRETRIEVAL, iterations=1),
        "read-again": replace(MGRETRIEVAL, without=frozenset({"mask"})),
        "not-rewritten": replace(MGRETRIEVAL, without=frozenset({"rewriting"})),
        # MRAgent's: without reasoning, without routing, by kinds of edges, and the answer as its last turn gave it
        "one-turn": replace(MRAGENT, iterations=1),
        "all-returned": replace(MRAGENT, without=frozenset({"routing"})),
        "cue-event": replace(MRAGENT, graph="cue-event"),
        "cue-tag-event": replace(MRAGENT, graph="cue-tag-event"),
        "as-explored": replace(MRAGENT, without=frozenset({"rewriting"})),
    }
)
