"""IRIS (EviMem section 3.2): retrieve, judge, and query for what is missing, until the evidence suffices or ends."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Literal

from ..flow import Effect, Flow, intercepted
from ..judging.apply_verdict import enough, is_short
from ..judging.evidence import Variant, Verdict
from ..text.names import names
from ..types.answer import Answer
from ..types.trace import Complete
from ..types.values import Gap, Tier
from .answering import answered
from .evidence_view import EDGE_SHARE
from .retrieve import Search, TupleRetrieval, compose, fresh, strategy
from .session import Check, Session, in_time, record_query
from .task import Task

HOP_PART = 5  # of an iteration's k, one in so many turns comes over an edge beside it


@dataclass(frozen=True, slots=True)
class Iris(Variant):
    """IRIS: rounds of a search for the question, one for what is missing, and one scored hop.

    Attributes:
        step: Turns more in each further iteration (E5: 3).
        hops: 0 follows no edges; 1 or more adds the best turns one edge away (E5: 1), with a model a fifth of an
            iteration's k, and in the place of others what the question's own search finds next.
        unranked: Every turn one edge away is added in the order of their times, and a share of what is shown is theirs,
            as in EviMem's code.
        unit: What is searched and counted. A "tuple" is LaceMem's: facts alone are found, k of them by HNSW, and every
            one an edge away, same turn or alike; checks read the facts, and the answer their turns too.
        temperature: That of every model request; None leaves it to the model's own.
    """

    step: int = 3
    hops: int = 1
    unranked: bool = False
    unit: Literal["turn", "tuple"] = "turn"
    temperature: float | None = None

    def __call__(self, task: Task, /) -> Flow[Answer]:
        """Answer a question in at most `iterations` rounds."""
        session = Session(task, "iris", self)
        if self.unit == "tuple" and session.has("index"):
            session.retrieval = TupleRetrieval(task, session.analysis, session.roster, indexed=True)
            session.neighbours = False
        return _at_temperature(answered(session, partial(look, self)), self.temperature)


def _at_temperature(flow: Flow[Answer], degree: float | None) -> Flow[Answer]:
    """Run a flow with a temperature for its model requests."""

    def warmed(effect: Effect) -> Flow[Any]:
        return (yield replace(effect, temperature=degree) if isinstance(effect, Complete) else effect)

    return flow if degree is None else intercepted(flow, warmed)


def look(how: Iris, session: Session) -> Flow[Check | None]:
    """Search until a rule stops it; return the last check, None when nothing was found."""
    last = session.k + how.step * (session.iterations - 1)
    further = session.iterations * (last // 2) if session.task.judge.reads_on else 0
    session.retrieval.deepest = last + further  # of a search that the last iteration reads
    session.edge_share = EDGE_SHARE if how.unranked else 0.0
    check: Check | None = None
    for iteration in range(1, session.iterations + 1):
        new = yield from _retrieve(session, how, iteration, check)
        # The paper ends on evidence or by iterations alone, and abstains by the checks that this takes (E11).
        if not new and (check is None or session.variant.abstain != "paper"):
            session.stop(iteration, "no new evidence")
            return check
        judged = yield from in_time(session, session.check(iteration), iteration, check)
        if judged is None:
            return check
        check = judged
        if reason := _stop(session, check):
            session.stop(iteration, reason)
            return check
    return check


def _retrieve(session: Session, how: Iris, iteration: int, check: Check | None) -> Flow[int]:
    """Search the anchor, the refined query where there is one, and one hop; return how many units are new."""
    if isinstance(session.retrieval, TupleRetrieval):
        return (yield from _retrieve_tuples(session, session.retrieval, how, iteration, check))
    k = session.k + how.step * (iteration - 1)
    before = len(session.retrieval.evidence)
    if check is None or session.has("anchor"):
        yield from session.search(Search(session.task.question), k, path="anchor", iteration=iteration)
    if check is not None:
        yield from _refine(session, iteration, k, check)
    if how.hops and session.has("edges"):
        yield from _beside(session, how, iteration, k)
    return len(session.retrieval.evidence) - before


def _retrieve_tuples(
    session: Session, found: TupleRetrieval, how: Iris, iteration: int, check: Check | None
) -> Flow[int]:
    """Search facts for the question and for what is missing, and follow every edge of both (Algorithm 1)."""
    k, before = session.k + how.step * (iteration - 1), found.count()
    queries = {"anchor": session.task.question} if check is None or session.has("anchor") else {}
    if check is not None and (query := _new_query(session, check.verdict, check.verdict.query, iteration)):
        queries["refined"] = query
    strategy_now = strategy(temporal=session.analysis.temporal, iteration=iteration)
    seeds = dict[str, None]()
    for path, query in queries.items():
        record_query(session, Search(query), k, strategy_now, path=path, iteration=iteration)
        arrived = session.arrive((yield from found.nearest(query, k, path=path, iteration=iteration)), iteration)
        seeds |= dict.fromkeys(arrived.facts)
    if seeds and how.hops and session.has("edges"):
        session.arrive(found.linked(tuple(seeds), iteration), iteration)
    return found.count() - before


def _beside(session: Session, how: Iris, iteration: int, k: int) -> Flow[None]:
    """Add what stands beside the searches: the best turns one edge away, and what the question's own search finds next.

    All but the best two of what edges lead to are gold less often than what the question finds next, of which each
    check that follows reads more (benchmarks/RESEARCH.md, "With a model").
    """
    on = session.task.judge.reads_on and not how.unranked
    hop = max(1, k // HOP_PART) if on else k // 2
    seeds = tuple(item.turn.id for item in session.retrieval.evidence[: session.k])
    if seeds:
        session.expand(seeds, None if how.unranked else hop, iteration)
    if on and (iteration == 1 or session.has("anchor")):
        depth = k + max(0, iteration * (k // 2) - hop)
        wanted = Search(session.task.question)  # searched before: it is only read further, and no query of its own
        found = yield from session.retrieval.search(wanted, depth, path="further", iteration=iteration)
        session.arrive(found, iteration)


def _refine(session: Session, iteration: int, k: int, check: Check) -> Flow[None]:
    """Search for what is missing: the worst gap chooses the path; the judge, or else the gap, the words.

    A name with too few facts is in the words, whatever the judge asks for: it may not have known of the downgrade.
    """
    verdict = check.verdict
    gap = verdict.gaps[0] if verdict.gaps else Gap("none", "", "")
    if gap.kind == "entity" and session.has("index"):
        session.look_up(gap.about, iteration)
    query = verdict.query
    if gap.kind == "entity" and _is_short(check, gap.about) and query and not names(query, gap.about):
        query = f"{gap.about} {query}"
    if query := _new_query(session, verdict, query, iteration):
        speaker = gap.about if gap.kind == "attribution" and gap.about in session.roster.speakers else None
        wanted = Search(query, speaker, when=gap.kind == "time")
        yield from session.search(wanted, k, path="refined", iteration=iteration)


def _new_query(session: Session, verdict: Verdict, query: str, iteration: int) -> str:
    """Return a query if it is new, or else one from a gap; empty where each was searched for."""
    return (
        query if fresh(query, session.queries) else compose(session.analysis, verdict.gaps, session.queries, iteration)
    )


def _is_short(check: Check, entity: str) -> bool:
    count = check.view.entities.get(entity)
    return count is not None and is_short(count)


def _stop(session: Session, check: Check) -> str | None:
    if reason := enough(check.verdict, check.view.before, temporal=session.analysis.temporal):
        return reason
    if check.view.iteration == session.iterations:
        return "iterations used up"
    return "time used up" if session.late else None


@dataclass(frozen=True, slots=True)
class SinglePass(Variant):
    """One search, one check, one answer."""

    def __call__(self, task: Task, /) -> Flow[Answer]:
        """Answer a question from one search."""
        return answered(Session(task, "single_pass", self), _look_once)


def _look_once(session: Session) -> Flow[Check | None]:
    yield from session.search(Search(session.task.question), session.k, path="anchor", iteration=1)
    if not session.retrieval.evidence:
        return None
    check = yield from session.check(1)
    session.stop(1, "single pass")
    return check


@dataclass(frozen=True, slots=True)
class Judgement:
    """The tier of the evidence, the probability that it answers the question, and what is missing, the worst first."""

    tier: Tier
    confidence: float
    missing: tuple[Gap, ...]


def judged(task: Task) -> Flow[Judgement]:
    """Ask as IRIS does, and return what its answer or abstention says of the evidence."""
    answer = yield from Iris()(task)
    confidence = 1.0 - answer.confidence if answer.abstained else answer.confidence
    return Judgement(answer.tier, confidence, answer.gaps)
