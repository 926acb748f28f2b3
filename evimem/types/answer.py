"""What a question comes to: an answer or an abstention, the places it rests on, and what it cost."""

from __future__ import annotations

from dataclasses import dataclass, field

from .trace import Trace
from .values import Gap, Tier, TimeSpan


@dataclass(frozen=True, slots=True)
class Citation:
    """The place an answer rests on: a turn and, where known, the characters of its text (or caption)."""

    turn_id: str
    span: tuple[int, int] | None
    quote: str
    fact_id: str | None = None


@dataclass(frozen=True, slots=True)
class Usage:
    """What an answer cost. `requests` counts successful model requests; repairs and retries are counted apart.

    `cost` is in dollars, None where a request has no known price. `seconds` is the wall-clock time of the whole
    question, `model_seconds` the part of it spent on model requests. Two runs of one question differ in `seconds`, so
    it takes no part in equality; a replayed answer has 0.0.
    """

    requests: int = 0
    repairs: int = 0
    retries: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    cost: float | None = None
    model_seconds: float = 0.0
    seconds: float = field(default=0.0, compare=False)


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
