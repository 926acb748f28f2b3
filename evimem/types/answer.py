"""The result of a question, the limits it is asked under, and the block of a prompt."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Literal

from .public_value import PublicValue
from .trace import FALL_BACK, Acted, Trace
from .values import Gap, Tier, TimeSpan, Turn

MOST = 2**31 - 1  # of anything counted: more than a memory holds, and still an integer of SQLite and numpy
FALSE_ABSTENTION = 0.10  # of answerable questions, which a calibration allows by default
Style = Literal["plain", "xml", "json"]
CountTokens = Callable[[str], int]

AnswerKind = Literal["answer", "quote", "abstained", "failed"]
ConfidenceIs = Literal["calibrated", "uncalibrated"]


@dataclass(frozen=True, slots=True)
class Budget:
    """Limits of one question. Checked when it is asked.

    Attributes:
        iterations: At most this many rounds of searching and judging, at least 1; None for as many as the loop has of
            itself: 3 of "iris", 5 decisions of "memr3", 4 rounds of "mgretrieval", 8 turns of "mragent".
        k: At most this many turns of a search, at least 1; None for the loop's own: 10 of "iris", which takes three
            more in each further round, and of a round of "mgretrieval", 5 of "memr3" and "mragent".
        tokens: At most this many tokens of evidence are shown to the judge, counted with the shipped WordPiece
            vocabulary, at least 1 (E6).
        seconds: Start no further iteration after this many wall-clock seconds, and end a judge's request then; None for
            no limit. Not an error once there was a check: the question is answered from the evidence so far. Wording
            the answer has at least a quarter of this time, so that all may take a quarter more. Where the model fails
            and the offline judge is asked, this has what is left, and looks once if nothing is.
        abstain_below: Abstain below this probability, 0 to 1; None takes that of the calibration, else the shipped one.
        format: How the answer is to be written, in your own words ("one sentence, no names"); a model's answer only.
    """

    iterations: int | None = None
    k: int | None = None
    tokens: int = 4000
    seconds: float | None = None
    abstain_below: float | None = None
    format: str = ""


@dataclass(frozen=True, slots=True)
class BlockForm:
    """What a block is to be: see the arguments of `Memory.block`. Without `count`, tokens are bounded from above."""

    tokens: int = 1500
    style: Style = "plain"
    gate: bool = True
    check: bool = False
    count: CountTokens | None = None
    profile: bool = False


@dataclass(frozen=True, slots=True, repr=False)
class Block(PublicValue):
    """Context from memory for a model of your own. See `Memory.block`.

    Attributes:
        text: The text for a user message of the prompt; empty if there is nothing to recall, or nothing fits. Never put
            it into a system message: it quotes what people, assistants and tools wrote.
        turns: The turns that are quoted, whole or in part, in the order of the text: the line `[3]` is `turns[2]`.
        tokens: The tokens of `text`: by the caller's `count`, else an upper bound for the tokenizers in common use.
        relevance: How likely it is that the memory has something to say to the message, 0 to 1.
        tier: With `check=True`, how far the evidence answers the question, judged by rule; else None.
        confidence: With `check=True`, the probability, 0 to 1, that the memory answers the question; else None.
        missing: With `check=True`, what is missing from the evidence, the worst first; else None.
    """

    text: str
    turns: tuple[Turn, ...]
    tokens: int
    relevance: float
    tier: Tier | None = None
    confidence: float | None = None
    missing: tuple[Gap, ...] | None = None

    def __str__(self) -> str:
        """The text."""
        return self.text


@dataclass(frozen=True, slots=True, repr=False)
class Citation(PublicValue):
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


@dataclass(frozen=True, slots=True, repr=False)
class Usage(PublicValue):
    """What an answer cost.

    Two runs of one question differ in `seconds`, so it takes no part in equality.

    Attributes:
        requests: Model requests that were sent; with joint calls at most `Budget.iterations` + 1 (E14), of the loop
            "memr3" `Budget.decisions` + 1 (M1), and one more for each repair.
        failed: Those among them that failed or whose reply could not be used.
        repairs: Requests that asked again for a reply of the right form; at most one per call.
        retries: Requests repeated after a transport failure.
        input_tokens: Tokens sent, as the provider counts them.
        output_tokens: Tokens received, as the provider counts them.
        cost: Dollars; None if the price of a request is unknown.
        model_seconds: Wall-clock seconds spent waiting for the model.
        seconds: Wall-clock seconds of the whole question; 0.0 for a replayed answer.
    """

    requests: int = 0
    failed: int = 0
    repairs: int = 0
    retries: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    cost: float | None = None
    model_seconds: float = 0.0
    seconds: float = field(default=0.0, compare=False)


@dataclass(frozen=True, slots=True, repr=False)
class Answer(PublicValue):
    """An answer with its evidence, the evidence alone, or an abstention with its reason.

    Attributes:
        text: The short answer, the quotation, or None if there is neither.
        kind: What `text` claims. "answer": that this is the answer; without a model a date or an own detail, with one
            it is the model's. "quote": nothing but that this is what to read, one to three places, each with who said
            it and when. "abstained": there is no text, for lack of evidence (E11). "failed": there is no text because a
            failure of the model ended the question; it is only found as `partial` of a `ModelError`.
        tier: How far the evidence answers the question: by the last check or, of an answer or quotation without a
            model, by `confidence`: exact from .8 on, inferrable from .5, where nothing is missing; else partial.
        confidence: Probability, 0 to 1, that this answer is right; of a quotation, that it holds the answer; of an
            abstention, that the memory does not hold one; 0 for a failure. With a model that was not calibrated it is
            what the model said of its evidence, after the clamps of E7 and E8, and no more than its tier allows: .60
            where it is partial, .30 where nothing bears on the question. How far the evidence suffices is another
            number, `Judged.final_confidence` in the trace.
        citations: The places that the answer or quotation rests on, to the character; empty if abstained.
        gaps: What is missing, the worst first.
        trace: Every step of the loop.
        usage: What it cost.
        time: The interval that the answer states, if it states one.
        reason: Why there is no answer, or what limits it; None if nothing does. Where the model failed and the offline
            judge was asked, it begins with that failure.
        confidence_is: "calibrated" where `confidence` was fitted to labelled questions, those of this memory
            (`calibrate`) or, without a model, those that the shipped constants were fitted to; "uncalibrated" where it
            is what a model said.
    """

    text: str | None
    kind: AnswerKind
    tier: Tier
    confidence: float
    citations: tuple[Citation, ...]
    gaps: tuple[Gap, ...]
    trace: Trace
    usage: Usage
    time: TimeSpan | None = None
    reason: str | None = None
    confidence_is: ConfidenceIs = "calibrated"

    def to_dict(self) -> dict[str, Any]:
        """Return every field as plain JSON values, the trace as `Trace.to_dict`, and what is derived from them."""
        return PublicValue.to_dict(self) | {"abstained": self.abstained, "fell_back": self.fell_back}

    def __str__(self) -> str:
        """The text, or why there is none, and a line for each place that it rests on."""
        text = self.text or f"no answer: {self.reason or 'nothing was found'}"
        return "\n".join([text, *(f"  [{one.turn_id}] {one.quote}".rstrip() for one in self.citations)])

    @property
    def abstained(self) -> bool:
        """Whether evimem declined to answer for lack of evidence. A failure never abstains."""
        return self.kind == "abstained"

    @property
    def fell_back(self) -> bool:
        """Whether the model failed and the offline judge was asked in its place (`open(on_model_error="offline")`)."""
        return any(isinstance(event, Acted) and event.action == FALL_BACK for event in self.trace)
