"""The values that flow through evimem: frozen, and each made by exactly one stage.

Turn -> Fact -> Link                      remembering
Query -> Hit -> Verdict -> Event -> Answer   asking
"""

from __future__ import annotations

import contextlib
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from enum import Enum
from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    from .trace import Trace

Granularity = Literal["minute", "hour", "day", "weekend", "week", "month", "season", "year", "decade", "span", "vague"]
GapKind = Literal["entity", "attribute", "time", "attribution", "granularity", "conflict", "none"]


class Tier(str, Enum):
    """How far the evidence answers the question (EviMem section 3.2; NONE is ours)."""

    EXACT = "exact"
    INFERRABLE = "inferrable"
    PARTIAL = "partial"
    NONE = "none"


@dataclass(frozen=True, slots=True)
class TimeSpan:
    """A half-open interval of time at the coarsest justified precision, and the words it was read from.

    A vague phrase ("a while ago") has no start and no end, and granularity "vague".
    """

    start: datetime | None
    end: datetime | None
    granularity: Granularity
    text: str


@dataclass(frozen=True, slots=True)
class Turn:
    """One utterance, verbatim: the unit of the Raw layer.

    `id` and `session` may be empty: the memory then gives a content digest and the calendar day. `time` is a
    datetime; an ISO 8601 string is parsed. `role` is one of user, assistant, system, tool; without one it is
    taken from the speaker when that is one of them, else it is user.
    """

    id: str
    session: str
    speaker: str
    text: str
    time: datetime
    caption: str | None = None
    role: str | None = None
    metadata: Mapping[str, Any] = field(default_factory=dict, hash=False)

    def __post_init__(self) -> None:
        for name in ("id", "session"):
            if getattr(self, name) is None:
                object.__setattr__(self, name, "")
        given: Any = self.time
        if isinstance(given, str):
            with contextlib.suppress(ValueError):  # what stays a string is refused on the way in, with its reason
                object.__setattr__(self, "time", datetime.fromisoformat(given.strip().replace("Z", "+00:00")))


@dataclass(frozen=True, slots=True)
class Fact:
    """One atomic statement of a turn: the unit of the Index layer.

    `span` is the half-open range of characters of the turn's text (of its caption when `kind` is "image") that
    states it. Negation and modality stay in the predicate ("does not like", "might move to"). `replaced_by` is
    the id of a later fact that took its place; the older fact is kept.
    """

    id: str
    turn_id: str
    subject: str
    predicate: str
    object: str
    event: TimeSpan | None
    span: tuple[int, int]
    kind: str
    extractor: str
    replaced_by: str | None = None

    @property
    def text(self) -> str:
        """The fact as a phrase, the form that gets embedded."""
        return " ".join(part for part in (self.subject, self.predicate, self.object) if part)


EdgeKind = Literal["same_turn", "similar", "next", "updates"]


@dataclass(frozen=True, slots=True)
class Edge:
    """An undirected, weighted link between two facts; `source` is the smaller id, and no pair has two of a kind.

    For `updates`, `weight` is 1 and the fact that was replaced carries `replaced_by`.
    """

    source: str
    target: str
    kind: EdgeKind
    weight: float


@dataclass(frozen=True, slots=True)
class Query:
    """What to look for. Filters are hard and applied inside the search; hints are soft priors that never exclude.

    `before` and `after` are half-open: after <= t < before. `names` are speakers of this memory that the question
    names, `times` the intervals it mentions, `when` whether it asks for a time. `bare` ranks by BM25 over the words
    of each turn alone, and by nothing else.
    """

    text: str
    k: int = 10
    vector: Any = field(default=None, compare=False)
    exclude: frozenset[str] = frozenset()
    before: datetime | None = None
    after: datetime | None = None
    speaker: str | None = None
    session: str | None = None
    names: tuple[str, ...] = ()
    times: tuple[TimeSpan, ...] = ()
    when: bool = False
    bare: bool = False


@dataclass(frozen=True, slots=True)
class Hit:
    """A retrieved turn: why it was found, and the facts of it that bear on the query.

    `parts` are the summands of `score` by name; `path` says how it was reached (search, edge:<kind>, keyword);
    `neighbours` are the ids of turns beside it whose words or vectors count in its score.
    """

    turn: Turn
    facts: tuple[Fact, ...]
    score: float
    parts: Mapping[str, float] = field(default_factory=dict, hash=False)
    path: str = "search"
    neighbours: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Gap:
    """What is missing: text for a reader, structure for the code."""

    kind: GapKind
    about: str
    text: str


@dataclass(frozen=True, slots=True)
class Citation:
    """The place an answer rests on: a turn and, where known, the characters of its text (or caption)."""

    turn_id: str
    span: tuple[int, int] | None
    quote: str
    fact_id: str | None = None


@dataclass(frozen=True, slots=True)
class Usage:
    """What an answer cost. `requests` counts successful model requests; repairs and retries are counted apart."""

    requests: int = 0
    repairs: int = 0
    retries: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    cost: float | None = None
    model_seconds: float = 0.0
    seconds: float = 0.0


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


@dataclass(frozen=True, slots=True)
class Answer:
    """An answer with its evidence, or an abstention with its reason.

    `text` is None when abstained. `tier` is the last check's, `confidence` the calibrated probability that the
    evidence suffices. `time` is the interval that the answer states, where it states one. `reason` says why there
    is no answer, or what limits it.
    """

    text: str | None
    abstained: bool
    tier: Tier
    confidence: float
    citations: tuple[Citation, ...]
    gaps: tuple[Gap, ...]
    trace: Trace
    usage: Usage
    time: TimeSpan | None = None
    reason: str | None = None


TurnOutcome = Literal["added", "readded", "exists", "refused"]


@dataclass(frozen=True, slots=True)
class TurnStatus:
    """What became of one turn. `pending` names the derived work that is still queued ("vector", "link", "extract")."""

    id: str
    outcome: TurnOutcome
    reason: str | None = None
    pending: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class AddReport:
    """What became of the turns of one call. Every turn that is not refused is durable when the call returns."""

    added: int
    existing: int
    refused: int
    facts: int
    statuses: tuple[TurnStatus, ...]

    @classmethod
    def of(cls, statuses: Sequence[TurnStatus], facts: int) -> AddReport:
        """Return the report of these statuses."""
        outcomes = [status.outcome for status in statuses]
        added = outcomes.count("added") + outcomes.count("readded")
        return cls(added, outcomes.count("exists"), outcomes.count("refused"), facts, tuple(statuses))

    @classmethod
    def of_all(cls, reports: Sequence[AddReport]) -> AddReport:
        """Return one report of several."""
        statuses = [status for report in reports for status in report.statuses]
        return cls.of(statuses, sum(report.facts for report in reports))


@dataclass(frozen=True, slots=True)
class Estimate:
    """What it would take to have a model read the turns that it has not read: `cost` in dollars, None without a price.

    Of `turns`, those that only greet or ask are not put to it, so that there may be fewer `requests`.
    """

    turns: int
    requests: int
    input_tokens: int
    output_tokens: int
    cost: float | None


@dataclass(frozen=True, slots=True)
class BatchReport:
    """What became of turns that a provider's batches read: facts `collected`, `failed`, handed in now, or `waiting`.

    `waiting` counts the turns of batches that are not done yet, those handed in now included.
    """

    collected: int
    failed: int
    handed_in: int
    waiting: int


@dataclass(frozen=True, slots=True)
class EraseReport:
    """What was forgotten. `status` is "pending" while another reader keeps old pages alive, else "erased"."""

    status: Literal["erased", "pending"]
    turns: int
    facts: int
    reason: str | None = None


@dataclass(frozen=True, slots=True)
class Stats:
    """Counts of a memory and where it stands."""

    path: str
    turns: int
    sessions: int
    speakers: tuple[str, ...]
    facts: int
    edges: Mapping[str, int] = field(hash=False)
    first: datetime | None
    last: datetime | None
    embedder: str
    dimension: int
    bytes: int
    schema: int


@dataclass(frozen=True, slots=True)
class Health:
    """Whether everything acknowledged is also derived. `status` is "ok" or "degraded"; `problems` say why."""

    status: Literal["ok", "degraded"]
    turns: int
    pending: Mapping[str, int] = field(hash=False)
    failed: Mapping[str, int] = field(hash=False)
    oldest_pending: datetime | None
    problems: tuple[str, ...]
