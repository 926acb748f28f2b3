"""Track the requirements of a question: all, supported by evidence, waived and open ones: (R, E, W, G).

R is fixed by the analysis of the question. Events move a requirement between the disjoint sets; G is always
R minus E and W. Only `Retract` takes from E; only `Extend` and `Retract` add to G. Claims are kept apart, in the
judge's own words, each with the turns that say so, until they are withdrawn for a reason.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import TypeAlias

from ..text.terms import terms
from ..types.type_variables import T
from ..types.values import Gap, GapKind


@dataclass(frozen=True, slots=True)
class Requirement:
    """One thing that an answer needs. `kind` is the kind of gap it leaves while it is open."""

    id: str
    kind: GapKind
    about: str
    text: str

    @property
    def gap(self) -> Gap:
        """The gap that this requirement leaves while nothing supports it."""
        return Gap(self.kind, self.about, self.text)

    def restates(self, other: Requirement) -> bool:
        """Return whether this one asks for the same as another: a thing of its kind, with a content word of it."""
        mine, its = terms(f"{self.about} {self.text}"), terms(other.about or other.text)
        return self.kind == other.kind and not set(mine).isdisjoint(its)


@dataclass(frozen=True, slots=True)
class Claim:
    """A statement that a judge takes from evidence, in a sentence, and the ids of the turns that state it.

    `withdrawn` is the reason why it no longer holds, empty while it does.
    """

    text: str
    sources: tuple[str, ...]
    withdrawn: str = ""


@dataclass(frozen=True, slots=True)
class Show:
    """Evidence was shown to the judge: from now on it may be a witness."""

    evidence: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Support:
    """Evidence that was shown supports a requirement."""

    requirement: str
    witnesses: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Waive:
    """A requirement is given up for a reason, such as that only the year is known."""

    requirement: str
    reason: str


@dataclass(frozen=True, slots=True)
class Extend:
    """The question turned out to need something more."""

    requirement: Requirement


@dataclass(frozen=True, slots=True)
class Retract:
    """A requirement that was supported or waived is open again, for a reason."""

    requirement: str
    reason: str


@dataclass(frozen=True, slots=True)
class State:
    """A judge claims something, by evidence that was shown."""

    claim: Claim


@dataclass(frozen=True, slots=True)
class Withdraw:
    """A claim, by its place among all, no longer holds, for a reason."""

    place: int
    reason: str


TrackerEvent: TypeAlias = Show | Support | Waive | Extend | Retract | State | Withdraw


@dataclass(frozen=True, slots=True)
class Tracker:
    """The state (R, E, W, G) of one question: frozen, and changed only by `apply`."""

    requirements: tuple[Requirement, ...] = ()
    supported: Mapping[str, tuple[str, ...]] = field(default_factory=dict, hash=False)
    waived: Mapping[str, str] = field(default_factory=dict, hash=False)
    shown: frozenset[str] = frozenset()
    claims: tuple[Claim, ...] = ()

    @property
    def held(self) -> tuple[Claim, ...]:
        """The claims that were not withdrawn."""
        return tuple(claim for claim in self.claims if not claim.withdrawn)

    @property
    def open(self) -> tuple[Requirement, ...]:
        """G, in the order of R."""
        return tuple(r for r in self.requirements if r.id not in self.supported and r.id not in self.waived)

    @property
    def complete(self) -> bool:
        """Whether nothing is open."""
        return not self.open

    @property
    def witnesses(self) -> tuple[str, ...]:
        """The ids of the turns that support a requirement or state a claim, each once."""
        found = (*self.supported.values(), *(claim.sources for claim in self.held))
        return tuple(dict.fromkeys(turn_id for turn_ids in found for turn_id in turn_ids))

    def requires(self, requirement: str) -> bool:
        """Whether a requirement of this id is in R."""
        return any(r.id == requirement for r in self.requirements)


def start(requirements: Iterable[Requirement]) -> Tracker:
    """Return the state before anything was seen. Raise ValueError when two requirements share an id."""
    fixed = tuple(requirements)
    if len({r.id for r in fixed}) != len(fixed):
        raise ValueError(f"requirements must have ids of their own, got {[r.id for r in fixed]!r}")
    return Tracker(fixed)


def apply(state: Tracker, event: TrackerEvent) -> Tracker:
    """Return the state after an event. Raise ValueError for one that would break an invariant."""
    if isinstance(event, Show):
        return replace(state, shown=state.shown | frozenset(event.evidence))
    if isinstance(event, Extend):
        return _extend(state, event.requirement)
    if isinstance(event, (State, Withdraw)):
        return replace(state, claims=_change_claim(state, event))
    if not state.requires(event.requirement):
        raise ValueError(f"{event.requirement!r} is not a requirement of this question; extend it first")
    if isinstance(event, Support):
        return _support(state, event)
    if isinstance(event, Waive):
        return _waive(state, event)
    return replace(
        state,
        supported=_without(state.supported, event.requirement),
        waived=_without(state.waived, event.requirement),
    )


def shown_witnesses(witnesses: Iterable[str], shown: Collection[str]) -> tuple[str, ...]:
    """Return the witnesses that were shown, each once, in order."""
    return tuple(dict.fromkeys(witness for witness in witnesses if witness in shown))


def _extend(state: Tracker, requirement: Requirement) -> Tracker:
    if state.requires(requirement.id):
        raise ValueError(f"{requirement.id!r} is already a requirement of this question")
    return replace(state, requirements=(*state.requirements, requirement))


def _support(state: Tracker, event: Support) -> Tracker:
    _check_shown(state, repr(event.requirement), event.witnesses)
    known = state.supported.get(event.requirement, ())
    witnesses = tuple(dict.fromkeys((*known, *event.witnesses)))
    return replace(
        state,
        supported={**state.supported, event.requirement: witnesses},
        waived=_without(state.waived, event.requirement),
    )


def _check_shown(state: Tracker, what: str, witnesses: tuple[str, ...]) -> None:
    unseen = [witness for witness in witnesses if witness not in state.shown]
    if unseen or not witnesses:
        raise ValueError(
            f"{what} needs a witness that was shown, got {witnesses!r}, never shown: {unseen!r}; "
            "keep those that shown_witnesses() returns"
        )


def _change_claim(state: Tracker, event: State | Withdraw) -> tuple[Claim, ...]:
    claims = state.claims
    if isinstance(event, State):
        _check_shown(state, "a claim", event.claim.sources)
        return (*claims, event.claim)
    if not 0 <= event.place < len(claims):
        raise ValueError(f"claim {event.place} is none of {len(claims)}; state it first")
    changed = replace(claims[event.place], withdrawn=event.reason)
    return (*claims[: event.place], changed, *claims[event.place + 1 :])


def _waive(state: Tracker, event: Waive) -> Tracker:
    if event.requirement in state.supported:
        raise ValueError(f"{event.requirement!r} is supported by evidence; retract it before giving it up")
    return replace(state, waived={**state.waived, event.requirement: event.reason})


def _without(mapping: Mapping[str, T], key: str) -> Mapping[str, T]:
    return {name: value for name, value in mapping.items() if name != key}
