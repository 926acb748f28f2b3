"""The result of a question: an answer or an abstention, its citations and its cost."""

from __future__ import annotations

from dataclasses import dataclass, field

from .trace import Trace
from .values import Gap, Tier, TimeSpan


@dataclass(frozen=True, slots=True)
class Citation:
    """A place that supports an answer.

    Attributes:
        turn_id: The turn; it was part of the evidence shown to the judge.
        span: Half-open range of characters of the turn's text (or caption) that is quoted; None for the whole turn.
        quote: Those characters, verbatim; empty for the whole turn.
        fact_id: The fact that was used; None if unknown.
    """

    turn_id: str
    span: tuple[int, int] | None
    quote: str
    fact_id: str | None = None


@dataclass(frozen=True, slots=True)
class Usage:
    """What an answer cost.

    Two runs of one question differ in `seconds`, so it takes no part in equality.

    Attributes:
        requests: Successful model requests; at most `Budget.iterations` + 1 with joint calls (E14).
        repairs: Requests that asked again for a reply of the right form; at most one per call.
        retries: Requests repeated after a transport failure.
        input_tokens: Tokens sent, as the provider counts them.
        output_tokens: Tokens received, as the provider counts them.
        cost: Dollars; None if the price of a request is unknown.
        model_seconds: Wall-clock seconds spent waiting for the model.
        seconds: Wall-clock seconds of the whole question; 0.0 for a replayed answer.
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

    Attributes:
        text: The answer; None if abstained, or if a failure of the model ended the question.
        abstained: Whether evimem declined to answer for lack of evidence (E11). A failure never abstains.
        tier: How far the evidence answers the question, by the last check.
        confidence: Probability that the evidence suffices, 0 to 1: calibrated if a calibration matches the judge and
            embedder, else the judge's own after the clamps of E7 and E8.
        citations: The places that support the answer; empty if abstained.
        gaps: What is missing, the worst first.
        trace: Every step of the loop.
        usage: What it cost.
        time: The interval that the answer states, if it states one.
        reason: Why there is no answer, or what limits it; None if nothing does.
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
