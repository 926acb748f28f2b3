"""The loops, by name: each a flow from a task to an answer with its trace; and the parts to make another of."""

from __future__ import annotations

from collections.abc import Generator, Mapping
from dataclasses import replace
from types import MappingProxyType

from ..errors import InvalidQuery, ModelError, shown
from ..flow import Flow
from ..judging.evidence import Ablation
from ..judging.evidence import Variant as Variant
from ..query.analysis import check_asked
from ..types.results import MAX_COUNT, Answer, Budget
from ..types.trace import FALL_BACK, Acted
from .answering import abstain_without_evidence as abstain_without_evidence
from .answering import abstain_without_evidence as nothing  # noqa: F401 - its earlier name, for a release
from .answering import as_loop as as_loop
from .answering import conclude as conclude
from .answering import conclude as concluded  # noqa: F401 - its earlier name, for a release
from .answering import draft_answer as draft_answer
from .answering import draft_answer as drafted  # noqa: F401 - its earlier name, for a release
from .iris import Iris as Iris
from .iris import SinglePass as SinglePass
from .memr3 import MemR3 as MemR3
from .mgretrieval import MGRetrieval as MGRetrieval
from .mragent import MRAgent as MRAgent
from .retrieve import Loop as Loop
from .retrieve import Search as Search
from .retrieve import Task as Task
from .session import Check as Check
from .session import Session as Session

LOOPS: Mapping[str, Iris | MemR3 | MGRetrieval | MRAgent | SinglePass] = MappingProxyType(
    {"iris": Iris(), "memr3": MemR3(), "mgretrieval": MGRetrieval(), "mragent": MRAgent(), "single_pass": SinglePass()}
)

# EviMem to the letter
FULL = Iris(
    delta="paper", abstain="paper", calls="separate", without=frozenset({"tracker"}), unit="tuple", temperature=0.3
)
# MemR3, MGRetrieval and MRAgent as published, but for what docs/loops.md names
MEMR3 = MemR3(router="paper", neighbours=False)
MGRETRIEVAL = MGRetrieval(unit="exchange", vocabulary="whole", whole_groups=True, accepts="flag", neighbours=False)
MRAGENT = MRAgent(neighbours=False, start="cues")
_PASSIVE = replace(MRAGENT, start="walk", iterations=1)
OF_MEMR3: tuple[Ablation, ...] = ("mask", "delta", "reflection", "tracker")
_LAST: tuple[Ablation, ...] = ("entities", "anchor", "abstention")


def _full_but(*parts: Ablation, iterations: int = FULL.iterations) -> Iris:
    return replace(FULL, without=frozenset({"tracker", *parts}), iterations=iterations)


VARIANTS: Mapping[str, Loop] = MappingProxyType(
    {
        # EviMem's table 2, each with one group more than the one before. Its "single-pass" is the published loop cut
        # to one round with no parts; "single_pass" of LOOPS is ours.
        "single-pass": _full_but(*_LAST, "temporal", "tiers", "sufficiency", iterations=1),
        "basic-loop": _full_but(*_LAST, "temporal", "tiers"),
        "tiered-sufficiency": _full_but(*_LAST, "temporal"),
        "temporal-adaptation": _full_but(*_LAST),
        "full": FULL,  # the last row of table 3 too
        # EviMem's table 3
        "raw-only": _full_but("index", "edges"),
        "index-layer": _full_but("edges"),
        # Where a loop departs from its paper, for a reason, and this does not
        "unranked-expansion": Iris(unranked=True),
        # Judging and answering in requests of their own
        "answer-apart": Iris(calls="apart"),
        "literal-router": MemR3(router="paper"),
        "largest-group-first": MGRetrieval(whole_groups=True),
        "exchanges": MGRetrieval(unit="exchange"),
        "flag-alone": MGRetrieval(accepts="flag"),
        "whole-vocabulary": MGRetrieval(vocabulary="whole"),
        # Each of these as published
        "memr3-as-published": MEMR3,
        "mgretrieval-as-published": MGRETRIEVAL,
        "mragent-as-published": MRAGENT,
        # MemR3's ablations
        **{f"no-{part}": replace(MEMR3, without=frozenset({part})) for part in OF_MEMR3},
        # MGRetrieval's ablations
        "one-round": replace(MGRETRIEVAL, iterations=1),
        "read-again": replace(MGRETRIEVAL, without=frozenset({"mask"})),
        "not-rewritten": replace(MGRETRIEVAL, without=frozenset({"rewriting"})),
        # MRAgent's: without reasoning, without routing, by kinds of edges, and the answer as its last turn gave it
        "one-turn": _PASSIVE,
        "cue-event-one-turn": replace(_PASSIVE, graph="cue-event"),
        "cue-tag-event-one-turn": replace(_PASSIVE, graph="cue-tag-event"),
        "all-returned": replace(MRAGENT, without=frozenset({"routing"})),
        "cue-event": replace(MRAGENT, graph="cue-event"),
        "cue-tag-event": replace(MRAGENT, graph="cue-tag-event"),
        "as-explored": replace(MRAGENT, without=frozenset({"rewriting"})),
    }
)

# The four papers' loops as published
AS_PUBLISHED = ("full", "memr3-as-published", "mgretrieval-as-published", "mragent-as-published")

# Loops that run over a searcher too: the other loops read keywords, facts or times, which a searcher has not.
OVER_SEARCHERS = frozenset(("iris", "memr3", "single_pass"))


def answer_question(task: Task, loop: str | Loop = "iris") -> Flow[Answer]:
    """Answer the question of a task with a loop. Raise InvalidQuery for one that makes no sense.

    `usage.seconds` of the answer, or of a failure's partial answer, is the time that passed by the clock of the task.
    """
    check_asked("question", task.question)
    check_budget(task.budget)
    answer_task, started = chosen_loop(loop), task.clock()
    try:
        flow = answer_task(task)
        if not isinstance(flow, Generator):
            raise InvalidQuery(f"the loop returned {shown(flow)}; expected a flow: a generator that returns an Answer")
        answer = yield from flow
    except ModelError as error:
        if error.partial is not None:
            error.partial = _with_seconds(error.partial, task.clock() - started)
        raise
    if not isinstance(answer, Answer):
        raise InvalidQuery(f"the loop came to {shown(answer)}; expected an Answer, as evimem.loops.conclude makes one")
    return _with_seconds(answer, task.clock() - started)


def chosen_loop(loop: str | Loop) -> Loop:
    """Return the loop or variant of a name, or the given loop. Raise InvalidQuery for anything else."""
    if isinstance(loop, str) and (named := LOOPS.get(loop) or VARIANTS.get(loop)):
        return named
    if callable(loop) and not isinstance(loop, type):
        return loop
    raise InvalidQuery(
        f"there is no loop {shown(loop, 100)}; expected one of {', '.join(sorted(LOOPS))}, a name of "
        "evimem.loops.VARIANTS such as 'full', or a function from an evimem.loops.Task to a flow"
    )


def fall_back(error: ModelError, task: Task, loop: str | Loop) -> Flow[Answer]:
    """Ask the question that a model's failure ended once more, of a judge that needs no model: that of the task.

    `error` has a partial answer: the trace goes on after its events, with one that names the failure; its usage and
    seconds are counted. The answer's reason begins with that failure. The budget of the task is the rest, see
    `remaining_budget`. Raise InvalidQuery for one that makes no sense.
    """
    check_budget(task.budget)
    failed: Answer = error.partial
    why = f"the model failed ({type(error).__name__}: {error}), so the {task.judge.name} judge was asked"
    event = Acted(failed.trace.events[-1].iteration, FALL_BACK, why)
    if task.on_event is not None:
        task.on_event(event)
    answer = yield from answer_question(replace(task, earlier=(*failed.trace.events, event)), loop)
    reason = f"{why}; {answer.reason}" if answer.reason else why
    return replace(_with_seconds(answer, failed.usage.seconds + answer.usage.seconds), reason=reason)


def remaining_budget(budget: Budget, spent: Answer) -> Budget:
    """Return the budget with the seconds that an attempt has left of it, 0 where it used them up."""
    if budget.seconds is None:
        return budget
    return replace(budget, seconds=max(0.0, budget.seconds - spent.usage.seconds))


def _with_seconds(answer: Answer, seconds: float) -> Answer:
    return replace(answer, usage=replace(answer.usage, seconds=seconds))


def check_budget(budget: Budget) -> None:
    """Raise InvalidQuery for a budget with a field out of range."""
    for name in ("iterations", "k", "tokens"):
        value = getattr(budget, name)
        if value is None and name != "tokens":
            continue
        if not isinstance(value, int) or not 1 <= value <= MAX_COUNT:
            raise InvalidQuery(f"budget.{name} is {shown(value)}; expected a whole number from 1 to {MAX_COUNT}")
    if not isinstance(budget.format, str):
        raise InvalidQuery(f"budget.format is {shown(budget.format)}; expected how to write the answer, in words")
    below, seconds = budget.abstain_below, budget.seconds
    if below is not None and not (_is_number(below) and 0 <= below <= 1):
        raise InvalidQuery(f"budget.abstain_below is {shown(below)}; expected a probability between 0 and 1")
    if seconds is not None and not (_is_number(seconds) and seconds >= 0):
        raise InvalidQuery(f"budget.seconds is {shown(seconds)}; expected a number from 0 on, or None")


def _is_number(value: object) -> bool:
    return isinstance(value, (int, float))
