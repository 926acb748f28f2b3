"""How a loop goes to work: what nobody turns who only asks, and whoever measures does."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, fields
from typing import Any, Literal, get_args, get_origin, get_type_hints

from ..errors import InvalidQuery, shown
from ..types.answer import MOST

Ablation = Literal[
    "sufficiency", "tiers", "temporal", "entities", "anchor", "abstention", "index", "edges", "tracker",
    "mask", "delta", "reflection", "rewriting", "routing",
]  # fmt: skip
_FROM_ZERO = frozenset(("step", "hops", "delta"))


@dataclass(frozen=True, slots=True)
class Variant:
    """What every loop can be given; a loop is a `Variant` with fields of its own, called with a task.

    The values of `without` remove one part each, to measure its effect:
    sufficiency  no judging: answer at once from what was retrieved (IRIS)
    tiers        evidence is exact or insufficient: no inference, no reasoning chain, no hedged answer
    temporal     questions about time are judged, refined and worded like others
    entities     the number of facts about an entity never lowers a tier (E7; IRIS)
    anchor       after the first iteration only the refined query is searched (E5; IRIS)
    abstention   answer always, unless no evidence was found or no answer can be worded
    index        BM25 over turns alone: no facts, no vectors, no smoothing over neighbours
    edges        follow no edges, as with hops=0, and read nothing beside the searches in their place (IRIS)
    tracker      exact evidence is believed though a requirement is open; MemR3 is told of no evidence and no gap, and
                 is shown again all that it found
    mask         what was returned may be returned again (MemR3), and is read again (MGRetrieval)
    delta        each search is for the question alone (MemR3)
    reflection   it searches where it would think (MemR3)
    routing      all that tools return joins the context, and none of it is left out of later requests (MRAgent)
    rewriting    the answer that a model gave with the last evidence is the answer, with the turns that it named, and no
                 other is worded from them (MGRetrieval, MRAgent)

    Attributes:
        iterations: At most this many rounds of searching and judging, where the budget names no number.
        k: At most this many turns of a search, where the budget names no number.
        calls: "joint" judges and refines in one request; "separate" is EviMem's pattern (E14: up to 3 * iterations + 3
            requests).
        abstain: "calibrated" abstains by a probability; "paper" by EviMem's rule (E11).
        delta: How many facts an entity needs (E7), at most as many as the memory holds; "paper" for the literal rule.
        without: Names of parts to remove.
    """

    iterations: int = 3
    k: int = 10
    calls: Literal["joint", "separate"] = "joint"
    abstain: Literal["calibrated", "paper"] = "calibrated"
    delta: int | Literal["paper"] = 2
    without: Collection[Ablation] = frozenset()

    def __post_init__(self) -> None:
        """Raise InvalidQuery for a field out of range."""
        kinds = get_type_hints(type(self))
        for field in fields(self):
            if field.name != "without":
                _check(field.name, getattr(self, field.name), kinds[field.name])
        parts: Any = self.without
        known = get_args(Ablation)
        if not isinstance(parts, Collection) or isinstance(parts, str) or any(part not in known for part in parts):
            raise InvalidQuery(f"without is {shown(parts)}; expected some of {', '.join(known)}")
        object.__setattr__(self, "without", frozenset(parts))

    def to_dict(self) -> dict[str, Any]:
        """Return the settings as JSON values, as a trace keeps them."""
        values = {field.name: getattr(self, field.name) for field in fields(self)}
        return {**values, "without": sorted(self.without)}


def _check(name: str, value: object, kind: Any) -> None:
    names = tuple(one for part in (kind, *get_args(kind)) if get_origin(part) is Literal for one in get_args(part))
    if any(type(value) is type(one) and value == one for one in names):
        return
    counted = kind is int or int in get_args(kind)
    least = 0 if name in _FROM_ZERO else 1
    if counted and isinstance(value, int) and not isinstance(value, bool) and least <= value <= MOST:
        return
    if kind is bool and isinstance(value, bool):
        return
    degree = kind is float or float in get_args(kind)
    if degree and (value is None or (isinstance(value, (int, float)) and not isinstance(value, bool) and value >= 0)):
        return
    expected = [repr(one) for one in names] + [f"a whole number from {least} to {MOST}"] * counted
    expected += ["True or False"] * (kind is bool) + ["a number from 0, or None"] * degree
    raise InvalidQuery(f"{name} is {shown(value)}; expected {' or '.join(expected)}")
