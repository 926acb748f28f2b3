"""The values that flow through evimem: turns, facts and links on the way in, queries and hits on the way out."""

from __future__ import annotations

import contextlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import Enum
from typing import Any, Literal

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
class Hints:
    """What a question says about where to look: priors of a search, never filters.

    `names` are the speakers it names, `times` the intervals it mentions, `when` whether it asks for a time or duration.
    """

    names: tuple[str, ...] = ()
    times: tuple[TimeSpan, ...] = ()
    when: bool = False


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
