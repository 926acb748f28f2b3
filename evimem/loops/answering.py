"""Answer a question in rounds: an answer with checked citations, an abstention with its reason, or a failure."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import wraps
from itertools import count
from typing import Any

from ..errors import ModelError, ModelTimeout, ReplyError
from ..flow import Flow
from ..judging.apply_verdict import DECLINED_GAP_KINDS, NONE_CAP, abstention, approximate, manner, shown_confidence
from ..judging.evidence import Draft, Manner
from ..types.results import Answer, Citation, Usage
from ..types.trace import Acted, Called, Event, Judged, Trace, version_of
from ..types.type_variables import T
from ..types.values import Tier, Turn
from .retrieve import Task
from .session import Check, Session

MIN_QUOTE_PROBABILITY = 0.75  # a likelier quotation is given where a model says that it found no answer
MAX_LOST_REPLIES = 2  # in a row, after which a model is asked for nothing but an answer
LOST_REASON = "the model's replies cannot be read"
NO_ANSWER_REASON = "the model found no answer"
UNSUPPORTED_REASON = "the answer cites nothing that was shown"


def draft_answer(session: Session, check: Check) -> Flow[Draft]:
    """Return the draft of an answer from the last check; without a text where a rule or the judge declines.

    Where a model finds no answer in evidence that very probably holds one, that evidence is quoted.
    """
    draft = yield from _ask_for_answer(session, check)
    quoted = (yield from _quote_instead(session, check, draft.reason)) if draft.text is None else None
    return quoted or draft


def _quote_instead(session: Session, check: Check, why: str | None) -> Flow[Draft | None]:
    """Return a quotation of the evidence that a model found no answer in; None where no line is likely to hold one.

    A false premise and the evidence of another person are answers of a kind: none is quoted against them. How likely a
    line is was fitted on searches for the question: a loop that made none quotes nothing. A verdict that contradicts
    itself says nothing: the quotation is the one that is given without a model. No request is made.
    """
    judge = session.task.quoting
    if judge is None or any(gap.kind in DECLINED_GAP_KINDS for gap in check.verdict.gaps):
        return None
    if all(item.path != "anchor" for item in session.retrieval.evidence):
        return None
    verdict = yield from judge.judge(check.view)
    told = verdict.confidence if verdict.probability is None else verdict.probability
    if verdict.tier is Tier.NONE or told < judge.abstain_below:
        return None
    draft = yield from judge.answer(check.view, verdict, "direct")
    if draft.text is None or ((draft.confidence or 0.0) < MIN_QUOTE_PROBABILITY and not _contradicts_itself(check)):
        return None
    return replace(draft, reason=f"{NO_ANSWER_REASON}{f' ({why})' if why else ''}; these lines may hold it")


def _contradicts_itself(check: Check) -> bool:
    """Whether a verdict without an answer says that the evidence suffices, or names evidence that was not shown.

    A calibrated confidence is believed: it was fitted on how often such verdicts were right.
    """
    verdict = check.verdict
    suffices = check.lowered or verdict.tier in {Tier.EXACT, Tier.INFERRABLE}
    return verdict.probability is None and (suffices or verdict.signals.get("dropped", 0.0) > 0.0)


def _ask_for_answer(session: Session, check: Check) -> Flow[Draft]:
    """Return the draft of the loop's judge."""
    verdict = check.verdict
    below = session.task.budget.abstain_below
    why = abstention(
        verdict,
        session.variant,
        checks=sum(isinstance(event, Judged) for event in session.events[len(session.task.earlier) :]),
        most=session.iterations,
        below=session.task.judge.abstain_below if below is None else below,
    )
    if why is not None:
        return Draft(None, reason=why)
    if check.draft is not None and (check.verdict.draft is not None or not session.has("rewriting")):
        return check.draft
    view = check.view.limited_to(session.retrieval.turns)
    draft = yield from session.ask_judge(
        session.task.judge.answer(view, verdict, _manner(session, check)), view.iteration
    )
    session.events.extend(draft.calls)
    cited = {citation.turn_id for citation in draft.citations}
    uncited = _cite_turns(turn_id for turn_id in check.rests_on if turn_id not in cited)
    return replace(draft, citations=(*draft.citations, *uncited))


def make_draft(text: str, turn_ids: Iterable[str], why_none: str) -> Draft:
    """Return the draft of an answer that was given with a verdict, and of the turns that it rests on.

    Of an empty text it is a refusal for the reason `why_none`.
    """
    return Draft(text or None, _cite_turns(turn_ids), reason=None if text else why_none)


def conclude(session: Session, check: Check, draft: Draft) -> Answer:
    """Return the answer of a draft, or an abstention where it has no text."""
    if draft.text is None:
        return _abstain(session, check, draft.reason or "the evidence does not state the answer")
    return _answer(session, check, draft, draft.text)


def abstain_without_evidence(session: Session, iteration: int) -> Answer:
    """Abstain because nothing at all was found: there is nothing to judge.

    That is certain of an empty memory alone: in another one the loop may have missed a turn.
    """
    empty = not session.roster.counted
    why = "the memory holds nothing to answer from" if empty else "no turn was found to answer from"
    session.events.append(Acted(iteration, "abstain", why))
    gaps = tuple(requirement.gap for requirement in session.tracker.open)
    confidence = 1.0 if empty else 1.0 - NONE_CAP
    return _make_answer(
        session, text=None, kind="abstained", tier=Tier.NONE, confidence=confidence, gaps=gaps, reason=why
    )


def as_loop(name: str) -> Callable[[Callable[[Session], Flow[Answer]]], Callable[[Task], Flow[Answer]]]:
    """Return a decorator that makes a loop of a flow over a session: a model's failure carries the answer so far."""

    def decorate(answer: Callable[[Session], Flow[Answer]]) -> Callable[[Task], Flow[Answer]]:
        @wraps(answer)
        def loop(task: Task) -> Flow[Answer]:
            session = Session(task, name)
            with partial_answers(session):
                return (yield from answer(session))

        return loop

    return decorate


@contextmanager
def partial_answers(session: Session) -> Iterator[None]:
    """Have a model's failure in the block carry the state so far, as neither an answer nor an abstention."""
    try:
        yield
    except ModelError as error:
        gaps = tuple(requirement.gap for requirement in session.tracker.open)
        tier = Tier.PARTIAL if session.shown else Tier.NONE
        why = f"the question was not finished: {type(error).__name__}: {error}"
        error.partial = _make_answer(
            session, text=None, kind="failed", tier=tier, confidence=0.0, gaps=gaps, reason=why
        )
        raise


class Rounds(ABC):
    """The rounds of a loop: each finds evidence and has it judged, until one of both steps ends the loop.

    `last` is the check of the round before, None in the first; `lost` is how many replies in a row could not be read,
    `failure` the error of the newest of them.
    """

    def __init__(self, session: Session) -> None:
        self.session = session
        self.last: Check | None = None
        self.lost = 0
        self.failure: ReplyError | None = None

    def ask_judge(self, flow: Flow[T], number: int, instead: T) -> Flow[T]:
        """Run a judge's flow; return `instead` where the model's reply cannot be read, and count it as lost."""
        try:
            made = yield from self.session.ask_judge(flow, number)
        except ReplyError as error:
            self.lost, self.failure = self.lost + 1, error
            return instead
        self.lost, self.failure = 0, None
        return made

    @abstractmethod
    def find(self, number: int) -> Flow[str | None]:
        """Look for evidence in a round, from 1 on; return why there is nothing to judge, None where there is."""

    def judge(self, number: int) -> Flow[Check]:
        """Have all evidence so far judged for sufficiency."""
        return self.session.check(number)

    @abstractmethod
    def stop_reason(self, number: int, check: Check) -> str | None:
        """Return why there is no other round, None where there is."""

    def final(self, check: Check) -> Check | None:
        """Return the last check with the material of its answer; None without any evidence."""
        return check

    def run(self) -> Flow[Answer]:
        """Go through the rounds, and answer from the last check: how every shipped loop ends.

        They end too where a model is late after an earlier check. Raise ModelTimeout where there is none to answer
        from, or where the budget has no limit of seconds; ReplyError where no evidence was found because no reply
        could be read.
        """
        session = self.session
        with partial_answers(session):
            for number in count(1):
                why = yield from self.find(number)
                if why is None:
                    try:
                        self.last = yield from self.judge(number)
                        why = LOST_REASON if self.lost >= MAX_LOST_REPLIES else self.stop_reason(number, self.last)
                    except ModelTimeout:
                        if self.last is None or session.task.budget.seconds is None:
                            raise
                        why = "time used up"
                if why is not None:
                    if why:
                        session.stop(number, why)
                    break
            check = None if self.last is None else self.final(self.last)
            if check is not None:
                return conclude(session, check, (yield from draft_answer(session, check)))
            if self.failure is not None:
                raise self.failure
            return abstain_without_evidence(session, 1)


def check_citations(
    citations: Iterable[Citation], citable: Mapping[str, Turn], facts: Collection[str]
) -> tuple[tuple[Citation, ...], int]:
    """Return the citations of turns that were shown, or stand around one, and the number of the rest.

    Each quote becomes the characters of its span.
    """
    kept: dict[Citation, None] = {}
    dropped = 0
    for citation in citations:
        if citation.turn_id not in citable:
            dropped += 1
            continue
        known = citation.fact_id if citation.fact_id in facts else None
        kept[_ground(replace(citation, fact_id=known), citable[citation.turn_id])] = None
    return tuple(kept), dropped


def cost(events: Iterable[Event]) -> Usage:
    """Add up the model calls of a trace; `answer_question` measures the seconds of the whole question."""
    calls = [event for event in events if isinstance(event, Called)]
    return Usage(
        requests=len(calls),
        failed=sum(call.outcome != "ok" for call in calls),
        repairs=sum(call.repairs for call in calls),
        retries=sum(call.retries for call in calls),
        input_tokens=sum(call.input_tokens for call in calls),
        output_tokens=sum(call.output_tokens for call in calls),
        cost=_sum([call.cost for call in calls if call.outcome == "ok" or call.input_tokens]),
        model_seconds=sum(call.seconds for call in calls),
    )


def _sum(costs: list[float | None]) -> float | None:
    """Add up the costs of requests; None where one of them has no price."""
    known = [cost for cost in costs if cost is not None]
    return sum(known) if known and len(known) == len(costs) else None


def _manner(session: Session, check: Check) -> Manner:
    if not session.has("tiers"):
        return "direct"
    asks_when = session.has("temporal") and session.analysis.wants in {"time", "duration"}
    return manner(check.verdict.tier, check.verdict.confidence, temporal=asks_when)


def _answer(session: Session, check: Check, draft: Draft, text: str) -> Answer:
    verdict, worded = check.verdict, _manner(session, check)
    # The dialogue around a shown turn is in the view too: the question that a short reply answers may be cited.
    further = {turn.id: turn for turn in draft.read}
    there = {**further, **session.retrieval.turns}
    shown = further | check.view.turns_around | session.shown
    citable = {id: turn for id, turn in shown.items() if id in there}
    citations, dropped = check_citations(draft.citations, citable, session.shown_facts)
    # An answer without citations rests on the witnesses of the judge; one with invented citations on nothing.
    citations = citations or (() if dropped else _cite_turns(id for id in session.tracker.witnesses if id in citable))
    tier, gaps = draft.tier or verdict.tier, verdict.gaps if draft.gaps is None else draft.gaps
    approximately = worded in {"inferred", "hedged"} and session.variant.abstain != "paper"
    sufficiency = approximate(verdict.confidence) if approximately else verdict.confidence
    confidence = _shown_probability(check, sufficiency) if draft.confidence is None else draft.confidence
    if verdict.calls and draft.kind == "answer":  # a model's confidence, which the clamps lower, calibrated or not
        confidence = min(confidence, shown_confidence(verdict.tier, check.most))
    if not citations and tier in {Tier.EXACT, Tier.INFERRABLE}:
        tier = Tier.PARTIAL
        confidence, sufficiency = shown_confidence(tier, confidence), shown_confidence(tier, sufficiency)
    reason = draft.reason if citations else draft.reason or UNSUPPORTED_REASON
    detail = {
        "kind": draft.kind,
        "text": text,
        "tier": tier.value,
        "confidence": confidence,
        "sufficiency": sufficiency,
        "manner": worded,
        "steps": list(draft.steps),
        "citations": [citation.turn_id for citation in citations],
        "dropped": dropped,
    }
    session.events.append(Acted(check.view.iteration, "answer", reason or "", detail))
    fitted = draft.confidence is not None or verdict.probability is not None
    return _make_answer(
        session,
        read=draft.read,
        text=text,
        kind=draft.kind,
        tier=tier,
        confidence=confidence,
        confidence_is="calibrated" if fitted else "uncalibrated",
        citations=citations,
        gaps=gaps,
        time=draft.time,
        reason=reason,
    )


def _abstain(session: Session, check: Check, why: str) -> Answer:
    """Abstain. Evidence that no answer was given from does not suffice, whatever its judge said of it."""
    refused = check
    if check.verdict.tier in {Tier.EXACT, Tier.INFERRABLE}:
        refused = replace(check, verdict=replace(check.verdict, tier=Tier.PARTIAL), lowered=True)
    verdict = refused.verdict
    confidence = 1.0 - _shown_probability(refused, verdict.confidence)
    detail = {"tier": verdict.tier.value, "confidence": confidence, "sufficiency": verdict.confidence}
    session.events.append(Acted(check.view.iteration, "abstain", why, detail))
    return _make_answer(
        session,
        text=None,
        kind="abstained",
        tier=verdict.tier,
        confidence=confidence,
        confidence_is="uncalibrated" if verdict.probability is None else "calibrated",
        gaps=verdict.gaps,
        reason=why,
    )


def _shown_probability(check: Check, sufficiency: float) -> float:
    """Return the probability to show: the calibrated one, else the clamped confidence; lowered where its tier was."""
    verdict = check.verdict
    if verdict.probability is None:
        return shown_confidence(verdict.tier, sufficiency)
    return min(verdict.probability, shown_confidence(verdict.tier, 1.0)) if check.lowered else verdict.probability


def _make_answer(session: Session, *, read: Sequence[Turn] = (), **fields: Any) -> Answer:
    """Return the answer with these fields and its trace; `read` are turns that the judge looked up for it."""
    turns = {**{turn.id: turn for turn in read}, **session.retrieval.turns}
    versions = {turn_id: version_of(turn) for turn_id, turn in turns.items()}
    trace = Trace(session.task.question, session.loop, tuple(session.events), versions)
    return Answer(trace=trace, usage=cost(trace.events), **{"citations": (), **fields})


def _cite_turns(turn_ids: Iterable[str]) -> tuple[Citation, ...]:
    return tuple(Citation(turn_id, None, "") for turn_id in turn_ids)


def _ground(citation: Citation, turn: Turn) -> Citation:
    for text in (turn.text, turn.caption or ""):
        if citation.span is not None:
            start, end = citation.span
            if 0 <= start < end <= len(text) and citation.quote in {"", text[start:end]}:
                return replace(citation, quote=text[start:end])
        if citation.quote and citation.quote in text:
            start = text.index(citation.quote)
            return replace(citation, span=(start, start + len(citation.quote)))
    return Citation(citation.turn_id, None, "", citation.fact_id)
