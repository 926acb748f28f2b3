"""`replay` and `ask_searcher`: recorded replies stand in for a model, or another backend for a memory (M8)."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from functools import partial
from typing import Any, cast

from .. import errors
from ..calibration.apply_calibration import calibrated_judge
from ..errors import InvalidQuery, ModelError, TraceMismatch, shown
from ..flow import Effect, Flow, Rerank, run
from ..judging.evidence import Ablation, Verdict
from ..judging.judge import Judge
from ..llm.llm_judge import LLMJudge
from ..loops import LOOPS, OVER_SEARCHERS, VARIANTS, Loop, Task, answer_question, check_budget, fall_back
from ..offline.offline_judge import OfflineJudge
from ..protocols import Searcher
from ..types.results import Answer, Budget
from ..types.stored import EVERYTHING, MAX_COUNTED_TURNS, Holding, MemoryOverview, Scope
from ..types.trace import FALL_BACK, RERANK, TRACE_VERSION, Acted, Called, Complete, Judged, Reply, Trace
from ..types.values import Hit, Query, Turn, Where
from .checked_arguments import checked_items, checked_kind, checked_part, checked_time, checked_trace
from .core import Core, require_model
from .memory import Memory
from .open import chat_model

# Parts that only our own store has: facts and vectors, edges between facts, the number of facts about a name.
_OURS: frozenset[Ablation] = frozenset(("index", "edges", "entities"))
_REQUIRED = {"judge", "abstain_below", "asked_at", "budget"}


def replay(trace: Trace, memory: Memory, loop: Loop | None = None) -> Answer:
    """Run a traced question again on its memory and check that every event is the same; no model is called.

    Args:
        trace: The trace of an answer of this memory (`Answer.trace`, `Memory.trace`, `Trace.from_json`).
        memory: The memory that was asked, holding the same turns as then.
        loop: The loop of the question, where that is a loop of your own; else the trace names it.

    Returns:
        The answer. If a failure of the model had ended the question, the partial answer of that error.

    Raises:
        TraceMismatch: The trace is of another version or has no analysis to start from, or the memory, its embedder or
            this version of evimem no longer gives the recorded events.
        ModelError: The recorded failure, where it has no partial answer.
        InvalidQuery: An argument has another type, or the trace names a loop, a variant or a budget that this version
            does not know.
    """
    replies = _replies(checked_trace(trace))
    checked_kind("memory", memory, Memory)

    orders = (event.detail["order"] for event in _rerank_events(trace))

    def perform(effect: Effect) -> object:
        if isinstance(effect, Rerank):
            return _recorded_scores(next(orders, None), len(effect.texts))
        return _next(replies) if isinstance(effect, Complete) else memory._perform(effect)

    try:
        answer = run(_rerun(trace, memory, loop), perform)
    except ModelError as error:
        if error.partial is None:
            raise
        answer = error.partial
    for number, (recorded, actual) in enumerate(zip(trace.events, answer.trace.events, strict=False)):
        if recorded != actual:
            raise TraceMismatch(
                f"event {number} of the trace ({type(recorded).__name__}, iteration {recorded.iteration}) differs in "
                f"the replay; the memory or the version of evimem has changed: recorded {shown(recorded, 200)}, now "
                f"{shown(actual, 200)}"
            )
    if len(trace.events) != len(answer.trace.events):
        raise TraceMismatch(
            f"the trace has {len(trace.events)} events, the replay {len(answer.trace.events)}; "
            "replay with the memory and the version of evimem that recorded it"
        )
    return replace(answer, usage=replace(answer.usage, seconds=0.0))  # the time of a replay is not the question's


def _rerun(trace: Trace, memory: Memory, own: Loop | None) -> Flow[Answer]:
    before, after = _split(trace)
    depth = next((event.detail["depth"] for event in _rerank_events(trace)), 0)
    task, named = _question_settings(before, memory, depth)
    loop = named if own is None else own
    try:
        return (yield from answer_question(task, loop))
    except ModelError as error:
        if after is None or error.partial is None:
            raise
        again, _ = _question_settings(after, memory, depth)
        return (yield from fall_back(error, again, loop))


def _split(trace: Trace) -> tuple[Trace, Trace | None]:
    """Return the trace with the model and, where that failed and the offline judge was asked, without it."""
    for place, event in enumerate(trace.events):
        if isinstance(event, Acted) and event.action == FALL_BACK:
            return replace(trace, events=trace.events[:place]), replace(trace, events=trace.events[place + 1 :])
    return trace, None


def _rerank_events(trace: Trace) -> Iterator[Acted]:
    """Yield the events that tell how a reranker ordered hits."""
    for event in trace:
        if isinstance(event, Acted) and event.action == RERANK and event.detail.keys() >= {"order", "depth"}:
            yield event


def _recorded_scores(order: Sequence[int] | None, count: int) -> tuple[float, ...] | None:
    """Return scores by which texts come in a recorded order; None where the reranker failed, or had other texts."""
    if order is None or sorted(order) != list(range(count)):
        return None
    ranks = {place: rank for rank, place in enumerate(order)}
    return tuple(float(-ranks[place]) for place in range(count))


def _question_settings(trace: Trace, memory: Memory, rerank_depth: int) -> tuple[Task, str | Loop]:
    """Return the settings of a question: scope, day, budget, and loop."""
    detail = _analysis(trace)
    try:
        budget = Budget(**detail["budget"])
        asked_at = detail["asked_at"] and datetime.fromisoformat(detail["asked_at"])
        given = detail.get("scope", {})
        scope = Scope(**{**given, "where": Where.read(given["where"]) if "where" in given else None})
        named = LOOPS.get(trace.loop)
        loop = trace.loop if named is None else type(named)(**detail["variant"])
    except (TypeError, LookupError, ValueError, AttributeError) as error:
        raise TraceMismatch(f"the analysis of the trace cannot be read ({error}); expected one of ask()") from error
    core, inner = memory._core, cast(Judge, LLMJudge())
    offline = calibrated_judge(core.store, core.offline_target)
    if detail["judge"] == OfflineJudge().name:
        inner = offline
    judged = tuple(event for event in trace if isinstance(event, Judged))
    judge = cast(Judge, _RecordedProbabilities(inner, detail["judge"], detail["abstain_below"], judged))
    quoting = offline if detail.get("quoting") else None
    further: dict[str, Any] = {"quoting": quoting, "rerank_depth": rerank_depth, "move": core.move}
    return Task(trace.question, judge, core.store, asked_at, budget, scope=scope, **further), loop


def _analysis(trace: Trace) -> Mapping[str, Any]:
    for event in trace:
        if isinstance(event, Acted) and event.action == "analyse" and event.detail.keys() >= _REQUIRED:
            if (version := event.detail.get("version", 1)) != TRACE_VERSION:
                raise TraceMismatch(
                    f"the trace is of version {shown(version)} and can be read, not replayed: this evimem replays "
                    f"version {TRACE_VERSION}, whose loops decide otherwise; ask the question again"
                )
            return event.detail
    raise TraceMismatch(
        "the trace has no event with the analysis of its question, which a replay starts from; "
        "expected a trace that ask() of this version recorded"
    )


class _RecordedProbabilities:
    """A judge that judges again but reports the recorded probabilities, since the calibration may have changed."""

    def __init__(self, inner: Judge, name: str, abstain_below: float, judged: Sequence[Judged]) -> None:
        self.name = name
        self.abstain_below = abstain_below
        self._inner = inner
        self._recorded = iter(judged)

    def __getattr__(self, name: str) -> Any:
        found = getattr(self._inner, name)
        # The acts of a judge, by the name of its method.
        return partial(self._as_recorded, found) if name in {"judge", "decide", "consider", "explore"} else found

    def _as_recorded(self, judge: Callable[..., Flow[Any]], *asked: Any) -> Flow[Any]:
        recorded = next(self._recorded, None)
        made = yield from judge(*asked)
        if recorded is None:
            return made
        if isinstance(made, Verdict):
            return replace(made, probability=recorded.probability)
        return replace(made, verdict=replace(made.verdict, probability=recorded.probability))


def _replies(trace: Trace) -> Iterator[Reply | ModelError]:
    """Yield the reply or the error of each recorded request; the message of an error is that of the next failure."""
    for place, call in enumerate(trace.events):
        if not isinstance(call, Called):
            continue
        reply = Reply(call.reply, "", call.input_tokens, call.output_tokens, call.retries, call.seconds, call.cost)
        reply = replace(reply, uses=call.uses)
        later = (event for event in trace.events[place:] if isinstance(event, Acted) and event.action == "fail")
        failure = next((event.why for event in later), "")
        yield reply if call.outcome == "ok" else _failure(call, reply, failure)


def _failure(call: Called, reply: Reply, message: str) -> ModelError:
    """Return the error that ended a request, with the message that the trace holds."""
    kind: type[ModelError] = getattr(errors, call.outcome, ModelError)
    error = kind.__new__(kind, message.partition(": ")[2])  # its constructor needs values that no trace holds
    vars(error).update(received=reply, why="as recorded")
    return error


def _next(replies: Iterator[Reply | ModelError]) -> Reply:
    reply = next(replies, None)
    if reply is None:
        raise TraceMismatch(
            "the replay makes more model requests than the trace has replies for; "
            "replay with the memory and the version of evimem that recorded it"
        )
    if isinstance(reply, ModelError):
        raise reply
    return reply


class SearchedStore:
    """The reads of a loop, answered by a searcher: speakers, the best turns, and those around them.

    A searcher knows no neighbours of a turn, so each stands alone, and not how many turns there are, so that its end
    shows only by searches that bring nothing.
    """

    def __init__(self, searcher: Any, speakers: Sequence[str], asked_at: datetime | None) -> None:
        """Take the names of who speaks, and the time that counts as today."""
        self._searcher = searcher
        self._roster = MemoryOverview(tuple(speakers), None, asked_at, MAX_COUNTED_TURNS)
        self._turns: dict[str, Turn] = {}

    def __getattr__(self, name: str) -> Any:
        """Refuse any other read of a store. Raise InvalidQuery."""
        if name.startswith("__"):  # asked for by Python itself, to copy or print this
            raise AttributeError(name)
        raise _not_of_a_searcher(name)

    def roster(self, *, allow_cached: bool = False) -> MemoryOverview:
        del allow_cached
        """Return who speaks and the time that counts as today."""
        return self._roster

    def recall(self, query: Query) -> tuple[Hit, ...]:
        """Return the hits for the text of a query. Raise InvalidQuery for other values."""
        hits = self._searcher.search(query.text, query.k, exclude=query.exclude)
        found = checked_items("what the searcher found", hits, "evimem.Hit")
        for hit in found:
            checked_kind("what the searcher found", hit, Hit)
            checked_kind("the turn of a hit", hit.turn, Turn)
        self._turns.update((hit.turn.id, hit.turn) for hit in found)
        return tuple(found)

    def find(self, turn_ids: Sequence[str]) -> tuple[Turn | None, ...]:
        """Return these turns as they were found; None for each that was not."""
        return tuple(map(self._turns.get, turn_ids))

    def contexts(self, turn_ids: Sequence[str], before: int, after: int) -> tuple[tuple[Turn, ...], ...]:
        """Return each turn alone."""
        return tuple((self._turns[turn_id],) for turn_id in turn_ids)

    def holding(self, terms: Collection[str], limit: int, scope: Scope = EVERYTHING) -> Holding:
        """Return no turn: a searcher is asked for the best turns of a text alone."""
        del terms, limit, scope
        return Holding(0, ())

    def mentions(self, terms: Collection[str], limit: int, most: int, scope: Scope = EVERYTHING) -> tuple[Turn, ...]:
        """Return no turn, as `holding`."""
        del terms, limit, most, scope
        return ()

    def order(self, turn_ids: Sequence[str]) -> tuple[str, ...]:
        """Return no id: a searcher knows of no turn whether it came before another of its time."""
        return ()


def ask_searcher(
    question: str,
    searcher: Searcher,
    *,
    llm: Any = None,
    speakers: Sequence[str] = (),
    asked_at: datetime | str | None = None,
    loop: str | Loop = "memr3",
    budget: Budget = Budget(),
) -> Answer:
    """Answer a question from the hits of a searcher, with a loop, as `Memory.ask` does from a memory.

    Without a model, the probability below which nothing is given was fitted to the scores of our own search: over
    another backend give `budget.abstain_below`. A `Memory` is a searcher too, but knows more of itself: ask it.

    Args:
        question: 1 to 100,000 characters.
        searcher: The backend: `search(query, k, exclude=ids)` returns at most k `Hit`s, none of a turn in `exclude`.
        llm: The model, as for `evimem.open`; None judges and answers without one.
        speakers: The names of who speaks, by which a question is read.
        asked_at: "Today" for the question; None leaves times in the question unread.
        loop: The loop's name: "iris", "memr3" or "single_pass"; the others need our own store. Or a loop
            of your own that only searches.
        budget: Limits of the loop. Parts that need our own store are left out, which the trace records.

    Raises:
        InvalidQuery: An argument is none that can be used, the searcher returned no hits but something else, or the
            loop reads more than a searcher has.
        NoModel: A loop of your own asks a model, and there is none.
        ModelError: The model failed; `partial` of the error is an `Answer` with the evidence so far.
    """
    checked_part("searcher", searcher, ("search",))
    if inspect.iscoroutinefunction(searcher.search):
        raise InvalidQuery(f"the search of {type(searcher).__name__} must be awaited; expected one that returns hits")
    wanted, model = checked_kind("budget", budget, Budget), chat_model(llm)
    check_budget(wanted)
    named = checked_items("speakers", speakers, "names")
    for name in named:
        checked_kind("the name of a speaker", name, str)
    if isinstance(loop, str) and loop in {*LOOPS, *VARIANTS} - OVER_SEARCHERS:
        usable = ", ".join(sorted(OVER_SEARCHERS))
        raise InvalidQuery(
            f"the loop {shown(loop)} reads more of a memory than a searcher has; expected one of {usable}"
        )
    today = checked_time("asked_at", asked_at)
    store: Any = SearchedStore(searcher, named, today)
    judge: Judge = OfflineJudge(extractor=Core.default_extractor()) if model is None else LLMJudge()
    flow = answer_question(Task(question, judge, store, today, wanted, unsupported=_OURS), loop)

    def perform(effect: Effect) -> Any:
        if isinstance(effect, Complete):
            return require_model(model).complete(effect)
        raise _not_of_a_searcher(type(effect).__name__)

    return run(flow, perform)


def _not_of_a_searcher(name: str) -> InvalidQuery:
    usable = ", ".join(sorted(OVER_SEARCHERS))
    return InvalidQuery(
        f"the loop asked for {name!r}, which a searcher has not; expected a loop that only searches: {usable}, or one "
        "of your own that does"
    )
