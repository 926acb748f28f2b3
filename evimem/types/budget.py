"""Limits of one question, and which variant of the papers its loop follows."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import Literal

MOST = 2**31 - 1  # of anything counted: more than a memory holds, and still an integer of SQLite and numpy
Departure = Literal["expansion", "router", "pyramid"]
Ablation = Literal["sufficiency", "tiers", "temporal", "entities", "anchor", "abstention", "index", "edges", "tracker"]


@dataclass(frozen=True, slots=True)
class Budget:
    """Limits of one question, and which variant of the papers to follow. Checked when a question is asked.

    The values of `without` remove one part each, to measure its effect (EviMem's ablations; the paper's
    combinations are in `evimem.loops.VARIANTS`):
    sufficiency  no judging: answer at once from what was retrieved
    tiers        evidence is exact or insufficient: no inference, no reasoning chain, no hedged answer
    temporal     questions about time are judged, refined and worded like others
    entities     the number of facts about an entity never lowers a tier (no E7)
    anchor       after the first iteration only the refined query is searched (no anchor path of E5)
    abstention   answer always, unless no evidence was found or no answer can be worded
    index        BM25 over turns alone: no facts, no vectors, no smoothing over neighbours
    edges        follow no edges, as with hops=0, and read nothing beside the searches in their place
    tracker      exact evidence is believed though a requirement is open

    The values of `literal` each follow a paper to the letter where a loop departs from it, to measure the difference:
    expansion    IRIS adds every turn one edge away, unranked and in the order of their times (EviMem's code); a share
                 of what is shown is kept for them
    router       MemR3's Algorithm 1 in its order: after a search that brings nothing it thinks until the budget ends
    pyramid      MGRetrieval reads a whole group a round, the largest of a level first

    Attributes:
        iterations: At most this many rounds of retrieving and judging, at least 1 (E5: k=3).
        k: Turns that the first iteration retrieves per path, at least 1 (E5: 10).
        step: Turns more in each further iteration, at least 0 (E5: 3).
        hops: 0 follows no edges; 1 or more adds the best turns one edge away (E5: 1), with a model a fifth of an
            iteration's k, and in the place of others what the question's own search finds next.
        tokens: At most this many tokens of evidence are shown to the judge, counted with the shipped WordPiece
            vocabulary, at least 1 (E6).
        seconds: Start no further iteration after this many wall-clock seconds, and end a judge's request then; None for
            no limit. Not an error once there was a check: the question is answered from the evidence so far. Wording
            the answer has at least a quarter of this time, so that all may take a quarter more. Where the model fails
            and the offline judge is asked, this has what is left, and looks once if nothing is.
        abstain_below: Abstain below this probability, 0 to 1; None takes that of the calibration, else the shipped one.
        delta: How many facts an entity needs (E7), at most as many as the memory holds; "paper" for the literal rule.
        abstain: "calibrated" abstains by `abstain_below`; "paper" by the rule of E11.
        calls: "joint" judges and refines in one request (at most iterations + 1 in all); "separate" is the papers'
            pattern (E14: up to 3 * iterations + 3).
        without: Names of parts to remove; empty by default.
        literal: Names of departures from the papers to undo; empty by default.
        decisions: At most this many decisions of the loop "memr3", at least 1 (M1: n_max=5). Of the other fields that
            loop uses `tokens`, `seconds`, `abstain_below`, `abstain` and, of `without`, temporal, tiers,
            index and abstention. With `calls="separate"` its answer takes one request more.
        rounds: At most this many rounds of the loop "mgretrieval", at least 1 (G3: 4), each of at most `k` new turns,
            those first that the round before had no room for. Of the other fields it uses those that "memr3" does.
        turns: At most this many turns of the loop "mragent", at least 1 (R4: T=8), each of at most five calls of tools.
            Of the other fields it uses those that "memr3" does; without a model, those of "iris".
        format: How the answer is to be written, in your own words ("one sentence, no names"); a model's answer only.
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
    without: Collection[Ablation] = frozenset()
    literal: Collection[Departure] = frozenset()
    decisions: int = 5
    rounds: int = 4
    turns: int = 8
    format: str = ""
