"""A traced question asked again without its model: the recorded replies stand in, everything else is done anew."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any

from .. import errors
from ..calibration.calibrate import Judging, gated, put_right
from ..errors import ModelError, TraceMismatch
from ..flow import Effect, Flow, run
from ..judging.evidence import Draft, Manner, Verdict, View
from ..judging.judge import Judge
from ..llm.llm_judge import LLMJudge
from ..loops import answer_question
from ..offline.offline_judge import OfflineJudge
from ..types.answer import Answer
from ..types.budget import Budget
from ..types.model import Complete, Reply
from ..types.trace import Acted, Called, Event, Judged, Trace
from .memory import Memory

_NEEDED = {"judge", "abstain_below", "asked_at", "budget"}


def replay(trace: Trace, memory: Memory) -> Answer:
    """Return the answer that a trace led to, found again in the memory that it was found in; no model is asked.

    A question that a model's failure ended comes back as the partial answer of its error. Raise TraceMismatch where
    the memory, or this version of evimem, no longer gives what the trace says.
    """
    replies = _replies(trace)

    def perform(effect: Effect) -> object:
        return _next(replies) if isinstance(effect, Complete) else memory._perform(effect)

    try:
        answer = run(_asked_again(trace, memory), perform)
    except ModelError as error:
        if error.partial is None:
            raise
        answer = error.partial
    for number, (then, now) in enumerate(zip(trace.events, answer.trace.events, strict=False)):
        if then != now:
            raise _mismatch(number, then, now)
    if len(trace.events) != len(answer.trace.events):
        raise TraceMismatch(f"the trace has {len(trace.events)} events, and {len(answer.trace.events)} came this time")
    return replace(answer, usage=replace(answer.usage, seconds=0.0))  # what a replay took says nothing of the question


def _asked_again(trace: Trace, memory: Memory) -> Flow[Answer]:
    detail = _analysis(trace)
    budget = _budget(detail)
    asked_at = detail["asked_at"] and datetime.fromisoformat(detail["asked_at"])
    judge = yield from _judge(trace, detail, budget, memory)
    return (yield from answer_question(trace.question, loop=trace.loop, asked_at=asked_at, budget=budget, judge=judge))


def _analysis(trace: Trace) -> Mapping[str, Any]:
    for event in trace:
        if isinstance(event, Acted) and event.action == "analyse" and event.detail.keys() >= _NEEDED:
            return event.detail
    raise TraceMismatch("the trace does not begin with the analysis of its question; nothing can be asked again")


def _budget(detail: Mapping[str, Any]) -> Budget:
    fields = dict(detail["budget"])
    return Budget(**{**fields, "without": frozenset(fields.get("without", ()))})


def _judge(trace: Trace, detail: Mapping[str, Any], budget: Budget, memory: Memory) -> Flow[Judge]:
    judged = tuple(event for event in trace if isinstance(event, Judged))
    core, model = memory._core, LLMJudge().within(budget)
    embedder = core.embedder.name
    inner: Judge = model
    if detail["judge"] == OfflineJudge().name:
        inner = yield from put_right(Judging(OfflineJudge(extractor=core.extractor), "", embedder))
    elif budget.gate:
        inner = yield from gated(model, embedder, core.extractor)
    return _Remembering(inner, detail["judge"], detail["abstain_below"], judged)


@dataclass(slots=True)
class _Remembering:
    """A judge that judges anew, but keeps the probabilities that were in force when the question was asked."""

    inner: Judge
    name: str
    abstain_below: float
    judged: tuple[Judged, ...]
    checks: int = field(default=0)

    def judge(self, view: View) -> Flow[Verdict]:
        """Return the verdict with the recorded probability."""
        verdict = yield from self.inner.judge(view)
        self.checks += 1
        if self.checks > len(self.judged):
            return verdict
        return replace(verdict, probability=self.judged[self.checks - 1].probability)

    def answer(self, view: View, verdict: Verdict, manner: Manner) -> Flow[Draft]:
        """Return what the inner judge answers."""
        return self.inner.answer(view, verdict, manner)


def _replies(trace: Trace) -> Iterator[Reply | ModelError]:
    """Yield what each recorded request came to."""
    last = next((e.why for e in reversed(trace.events) if isinstance(e, Acted) and e.action == "fail"), "")
    for call in (event for event in trace if isinstance(event, Called)):
        reply = Reply(call.reply, "", call.input_tokens, call.output_tokens, call.retries, call.seconds, call.cost)
        yield reply if call.outcome == "ok" else _failure(call, reply, last)


def _failure(call: Called, reply: Reply, message: str) -> ModelError:
    """Return the error that ended a request, with the words that the trace has of it."""
    kind: type[ModelError] = getattr(errors, call.outcome, ModelError)
    error = kind.__new__(kind, message.partition(": ")[2])  # its constructor asks for what no trace holds
    vars(error).update(received=reply, why="as it was then")
    return error


def _next(replies: Iterator[Reply | ModelError]) -> Reply:
    reply = next(replies, None)
    if reply is None:
        raise TraceMismatch("more is asked of the model than the trace has replies for")
    if isinstance(reply, ModelError):
        raise reply
    return reply


def _mismatch(number: int, then: Event, now: Event) -> TraceMismatch:
    return TraceMismatch(
        f"event {number} of the trace is {type(then).__name__} in iteration {then.iteration}, and came out otherwise "
        f"this time; the memory is not what it was, or evimem is not: compare {_short(then)} with {_short(now)}"
    )


def _short(event: Event) -> str:
    said = repr(event)
    return said if len(said) <= 200 else f"{said[:200]}..."
