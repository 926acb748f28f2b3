"""The results of calls: the answer to a question, with the limits it is asked under, the block of a prompt, reports."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Literal

from .marked_text import render_answer
from .public_value import PublicValue
from .trace import FALL_BACK, Acted, Trace
from .values import Gap, Tier, TimeSpan, Turn

MAX_COUNT = 2**31 - 1  # of anything counted: more than a memory holds, and still an integer of SQLite and numpy
FALSE_ABSTENTION = 0.10  # of answerable questions, which a calibration allows by default
Style = Literal["plain", "xml", "json"]
CountTokens = Callable[[str], int]

TurnOutcome = Literal["added", "readded", "replaced", "uncertain", "exists", "forgotten", "refused", "dropped"]
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
            no limit. Raise it for a model on a slow machine. Not an error once there was a check: the question is
            answered from the evidence so far. Wording the answer has at least a quarter of this time, so that all may
            take a quarter more. Where the model fails and the offline judge is asked, this has what is left, and looks
            once if nothing is.
        abstain_below: Abstain below this probability, 0 to 1; None takes that of the calibration, else the shipped one.
        format: How the answer is to be written, in your own words ("one sentence, no names"); a model's answer only.
    """

    iterations: int | None = None
    k: int | None = None
    tokens: int = 4000
    seconds: float | None = 120.0
    abstain_below: float | None = None
    format: str = ""


@dataclass(frozen=True, slots=True)
class BlockForm:
    """The form of a block: see the arguments of `Memory.block`. Without `count`, tokens are bounded from above."""

    tokens: int = 1500
    style: Style = "plain"
    gate: bool = True
    check: bool = False
    count: CountTokens | None = None
    profile: bool = True


@dataclass(frozen=True, slots=True, repr=False)
class Block(PublicValue):
    """Context from memory for a model of your own. See `Memory.block`.

    Attributes:
        text: The text for a user message of the prompt; empty if there is nothing to recall, or nothing fits. Never put
            it into a system message: it quotes people, assistants and tools.
        turns: The turns that are quoted, whole or in part, in the order of the text: the line `[3]` is `turns[2]`.
        tokens: The tokens of `text`: by the caller's `count`, else an upper bound for the tokenizers in common use.
        relevance: How far a reply to the message needs the memory, 0 to 1; below .5 nothing is recalled.
        tier: With `check=True`, how far the evidence answers the question, judged by rule; else None.
        confidence: With `check=True`, the probability, 0 to 1, that the memory answers the question; else None.
        missing: With `check=True`, the gaps of the evidence, the worst first; else None.
        parts: The tokens of each part that has lines, without the fence around them: "standing wishes", "about the
            user", "answers" (turns found for the message), "what came of it" (later ones on the same thing) and "the
            conversation" (turns of a time that the message speaks of).
    """

    text: str
    turns: tuple[Turn, ...]
    tokens: int
    relevance: float
    tier: Tier | None = None
    confidence: float | None = None
    missing: tuple[Gap, ...] | None = None
    parts: Mapping[str, int] = field(default_factory=dict, hash=False)

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
    """The cost of an answer.

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
        text: The answer, the quotation, or None if there is neither.
        kind: The claim of `text`. "answer": that this is the answer, which only a model says. "quote": that the answer
            is in these lines, at most five, best first, each with who said it and when; all there is without a model.
            "abstained": there is no text, for lack of evidence (E11). "failed": there is no text because a failure of
            the model ended the question; it is only found as `partial` of a `ModelError`.
        tier: How far the evidence answers the question: by the last check or, of a quotation without a
            model, by `confidence`: inferrable from .5 on, else partial. Exact is a model's word.
        confidence: Probability, 0 to 1, that this answer is right; of a quotation, that it holds the answer; of an
            abstention, that the memory does not hold one; 0 for a failure. With a model that was not calibrated it is
            the model's own figure, after the clamps of E7 and E8, and no more than its tier allows: .60
            where it is partial, .30 where nothing bears on the question. How far the evidence suffices is another
            number, `Judged.final_confidence` in the trace.
        citations: The places that the answer or quotation rests on, to the character; empty if abstained.
        gaps: The gaps of the evidence, the worst first.
        trace: Every step of the loop.
        usage: Its cost.
        time: The interval that the answer states, if it states one.
        reason: Why there is no answer, or the limits of it; None if nothing does. Where the model failed and the
            offline judge was asked, it begins with that failure.
        confidence_is: "calibrated" where `confidence` was fitted to labelled questions, those of this memory
            (`calibrate`) or, without a model, those that the shipped constants were fitted to; "uncalibrated" where it
            is the model's own.
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
        """Return every field as plain JSON values, the trace as `Trace.to_dict`, and the properties."""
        return PublicValue.to_dict(self) | {"abstained": self.abstained, "fell_back": self.fell_back}

    def _repr_html_(self) -> str:
        """Return a notebook's view of it: the text, the cited words, the gaps."""
        judged = f"{self.tier.value}, probability {self.confidence:.0%}"
        places = [(one.turn_id, one.quote) for one in self.citations]
        text = None if self.text is None else self.text
        return render_answer(self.kind, text, judged, places, [gap.text for gap in self.gaps], self.reason)

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


UNKNOWN_ROLE = "it has no role, or an unknown one: it is stored as data, as the result of a tool"
"""The reason of a status by which such messages are counted."""


@dataclass(frozen=True, slots=True, repr=False)
class TurnStatus(PublicValue):
    """The outcome of one turn.

    Attributes:
        id: The turn's id, also where the memory has set it.
        outcome: "added", "readded" (it had been forgotten), "replaced" (other content of its id was erased, and this
            stored), "uncertain" (stored by `remember`, though it may be one that was stored before), "exists" (stored
            already with the same content), "forgotten" (it was forgotten, so that `remember` has not stored it again),
            "refused", or "dropped" (its text is a block of `Memory.block`, and nothing else).
        reason: Why it was refused, dropped or is uncertain, that it has "no text", or why bytes of the replaced version
            are still there; else None.
        pending: Jobs queued for it: "facts" (read by enrich(), or when they are first needed), "vector" (embedding),
            "link" (`similar` edges), "extract" (facts by a model), and "terms" where reading them raised: enrich()
            reads them again.
    """

    id: str
    outcome: TurnOutcome
    reason: str | None = None
    pending: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, repr=False)
class AddReport(PublicValue):
    """The outcomes of the turns of one call. Every turn that is not refused is durable when the call returns.

    Attributes:
        added: How many turns were stored, those that had been forgotten and the uncertain ones included.
        existing: How many were stored already.
        refused: How many were refused.
        facts: How many facts were stored with the added turns: those of an export. Of other turns they are read when
            they are first needed.
        statuses: One item per turn, in the order given.
        dropped: How many were dropped.
        replaced: How many were stored in place of other content of their ids.
        erased: How many stored turns were erased, because an export says that their branch was abandoned.
        uncertain: How many were stored that may have been stored before.
        forgotten: How many were not stored again, because they had been forgotten.
        unknown_roles: How many messages were stored as data, because they have no role or an unknown one.
    """

    added: int
    existing: int
    refused: int
    facts: int
    statuses: tuple[TurnStatus, ...]
    dropped: int = 0
    replaced: int = 0
    erased: int = 0
    uncertain: int = 0
    forgotten: int = 0
    unknown_roles: int = 0

    @classmethod
    def of(cls, statuses: Sequence[TurnStatus], facts: int, erased: int = 0) -> AddReport:
        """Count `statuses` into a report; `facts` is the number of facts stored with them, `erased` of turns erased."""
        count = [status.outcome for status in statuses].count
        added = count("added") + count("readded") + count("uncertain")
        least = added, count("exists"), count("refused"), facts, tuple(statuses)
        roles = sum(status.reason == UNKNOWN_ROLE for status in statuses)
        return cls(*least, count("dropped"), count("replaced"), erased, count("uncertain"), count("forgotten"), roles)

    @classmethod
    def of_all(cls, reports: Sequence[AddReport]) -> AddReport:
        """Combine several `reports` into one."""
        statuses = [status for report in reports for status in report.statuses]
        facts, erased = (sum(getattr(report, name) for report in reports) for name in ("facts", "erased"))
        return cls.of(statuses, facts, erased)


@dataclass(frozen=True, slots=True, repr=False)
class Estimate(PublicValue):
    """The cost of extracting facts by a model from the turns that it has not read.

    Attributes:
        turns: Turns that no model has read.
        requests: Requests for them; fewer than `turns`, since turns that only greet or ask are skipped.
        input_tokens: Estimated tokens sent.
        output_tokens: Estimated tokens received.
        cost: Dollars; None if the price is unknown.
    """

    turns: int
    requests: int
    input_tokens: int
    output_tokens: int
    cost: float | None


@dataclass(frozen=True, slots=True, repr=False)
class EnrichReport(PublicValue):
    """The work of `enrich`; true where there was any.

    Attributes:
        done: Jobs processed, postponed ones included.
        put_off: Jobs that wait: after a failure, in a batch, or with another caller.
        until: When the first of them is tried again, in UTC; None if none waits.
        reasons: How many jobs wait, by reason.
        failed: Jobs given up after repeated failures, by kind; `enrich(retry_now=True)` tries them again.
    """

    done: int
    put_off: int
    until: datetime | None
    reasons: Mapping[str, int] = field(hash=False)
    failed: Mapping[str, int] = field(hash=False)

    def __bool__(self) -> bool:
        return self.done > 0


@dataclass(frozen=True, slots=True, repr=False)
class BatchReport(PublicValue):
    """The work of `enrich_batch`, in turns.

    Attributes:
        collected: Turns whose facts were collected from finished batches.
        failed: Turns of finished batches without a usable reply; they are queued again or marked failed.
        handed_in: Turns submitted in new batches.
        waiting: Turns of unfinished batches, those submitted now included.
    """

    collected: int
    failed: int
    handed_in: int
    waiting: int


@dataclass(frozen=True, slots=True, repr=False)
class EraseReport(PublicValue):
    """The counts of erased rows.

    Attributes:
        status: "erased", or "pending" while another reader holds an older state of the file, or another process writes
            to it: the turns are gone for every reader to come, and their bytes go when that has ended and the memory
            is next written, opened or closed.
        turns: How many turns were erased.
        facts: How many facts were erased with them.
        reason: Why it is pending, or why nothing was erased; else None.
    """

    status: Literal["erased", "pending"]
    turns: int
    facts: int
    reason: str | None = None


@dataclass(frozen=True, slots=True, repr=False)
class CopyReport(PublicValue):
    """The counts of copied rows.

    Attributes:
        turns: How many turns.
        facts: How many facts.
        rows: How many rows of all tables.
        verified: Whether every row was read again at the target, before it was committed there.
    """

    turns: int
    facts: int
    rows: int
    verified: bool


@dataclass(frozen=True, slots=True, repr=False)
class RestoreReport(PublicValue):
    """A backup that was put back.

    Attributes:
        turns: How many turns the memory has now.
        forgotten: How many turns of the backup were erased, because the memory had forgotten or replaced them since;
            None where the memory is not there or could not be read: forget them again, if there were any.
        replaced: Where the file lies that it took the place of, its log and mark beside it; None without one.
    """

    turns: int
    forgotten: int | None
    replaced: str | None


@dataclass(frozen=True, slots=True, repr=False)
class BuildReport(PublicValue):
    """The outcome of a build.

    Attributes:
        users: How many users were built now.
        done: How many were done already, by the manifest.
        turns: How many turns the users of now have in the data set.
        added: How many of these were stored.
        existing: How many were stored already.
        refused: How many lines or turns were refused.
        refusals: The first hundred of these: where, and why.
        set_aside: Users whose memory could not be built, each with the reason: repeat the build once that is mended.
        seconds: How long it took.
    """

    users: int
    done: int
    turns: int
    added: int
    existing: int
    refused: int
    refusals: tuple[str, ...]
    set_aside: Mapping[str, str] = field(hash=False)
    seconds: float


@dataclass(frozen=True, slots=True, repr=False)
class Stats(PublicValue):
    """Counts of a memory and the identity of its embedder.

    Attributes:
        path: The file.
        turns: Stored turns.
        sessions: Distinct sessions.
        speakers: Distinct speakers, in order of their first turn.
        facts: Stored facts, replaced ones included.
        edges: Edges by kind.
        first: The earliest time of a turn, naive or aware as stored; None if empty.
        last: The latest time of a turn; None if empty.
        embedder: The name of the embedder.
        dimension: The dimension of its vectors.
        bytes: The size of the file in bytes.
        schema: The version of the file's schema.
    """

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


@dataclass(frozen=True, slots=True, repr=False)
class Health(PublicValue):
    """Whether all stored turns are fully derived.

    Attributes:
        status: "degraded" if there are failed jobs or problems; else "outdated" where turns were read by the rules of
            another version, which is no damage; else "ok".
        turns: Stored turns.
        pending: Queued jobs by kind: "facts" (read when they are first needed), "vector", "link", "extract", "terms".
        failed: Jobs given up after repeated failures, by kind.
        oldest_pending: When the oldest queued job was queued; None if there is none.
        problems: Each problem with its remedy, a sentence each.
    """

    status: Literal["ok", "outdated", "degraded"]
    turns: int
    pending: Mapping[str, int] = field(hash=False)
    failed: Mapping[str, int] = field(hash=False)
    oldest_pending: datetime | None
    problems: tuple[str, ...]
