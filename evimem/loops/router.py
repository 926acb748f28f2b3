"""The router of MemR3 as a pure function (M2): from where the loop stands and what was decided to what is done."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from ..judging.decision import Action

MOST_MISSES = 2  # searches in a row that bring nothing, after which nothing is expected of another

Rule = Literal["budget", "nothing left", "nothing found", "enough thought", "gaps are open", "as decided"]


@dataclass(frozen=True, slots=True)
class Situation:
    """What the router goes by.

    `wanted` is the action that was decided on. `decisions` counts those made, this one included, of at most `most`
    (n_max); `cap` is how many reflections in a row there may be (n_cap). `exhausted` is whether every item of the
    backend was returned. `searched` is whether the step before this decision was a search; the last search brought
    nothing if `misses`, the number of such in a row, is above 0. `reflections` counts those in a row before this
    decision, `gaps` is whether a requirement is open that a search may close.
    """

    wanted: Action
    decisions: int
    most: int
    cap: int
    exhausted: bool
    misses: int
    searched: bool
    reflections: int
    gaps: bool


@dataclass(frozen=True, slots=True)
class Route:
    """What is done next, and the rule that says so."""

    action: Action
    rule: Rule


def route(now: Situation) -> Route:
    """Return what is done next; of several rules that apply the first holds (M2).

    A reflection is forced only right after a search that brought nothing: thinking finds nothing new, so a rule that
    held for longer would never end.
    """
    if now.decisions >= now.most:
        return Route("answer", "budget")
    if now.exhausted or now.misses >= MOST_MISSES:
        return Route("answer", "nothing left")
    if now.searched and now.misses:
        return Route("reflect", "nothing found")
    if now.gaps and now.reflections >= now.cap:
        return Route("retrieve", "enough thought")
    if now.gaps and now.wanted == "answer":
        return Route("retrieve", "gaps are open")
    return Route(now.wanted, "as decided")


def route_literally(now: Situation) -> Route:
    """Return what the paper's Algorithm 1 does next, in its order: for ablations only.

    Its second rule holds for as long as the last search has brought nothing, and thinking changes nothing of that: from
    then on it thinks until the budget ends.
    """
    if now.decisions >= now.most:
        return Route("answer", "budget")
    if now.misses:
        return Route("reflect", "nothing found")
    if now.reflections >= now.cap:
        return Route("retrieve", "enough thought")
    return Route(now.wanted, "as decided")
