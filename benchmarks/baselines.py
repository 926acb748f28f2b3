"""What the papers compare their loops with, as loops: plain RAG, RAG with a second search, and the whole memory."""

from __future__ import annotations

from dataclasses import replace

from evimem.flow import Flow
from evimem.loops import Check, Search, Session, abstain_without_evidence, as_loop, conclude, draft_answer
from evimem.loops.retrieve import query_from_gaps
from evimem.loops.session import UNJUDGED
from evimem.types.results import Answer
from evimem.types.stored import Listing
from evimem.types.values import Hit

CHUNKS = 5  # of a search, n_chk of MemR3's paper
CHARACTERS_A_TURN = 2_000  # room for a turn where all are shown


@as_loop("rag")
def rag(session: Session) -> Flow[Answer]:
    """Search once for five turns and answer from them, unjudged."""
    yield from session.search(Search(session.task.question), CHUNKS, path="anchor", iteration=1)
    return (yield from _answered(session, 1))


@as_loop("rag-cot-rag")
def rag_cot_rag(session: Session) -> Flow[Answer]:
    """Search once, have the model reason about what is missing, search once more for that, and answer."""
    yield from session.search(Search(session.task.question), CHUNKS, path="anchor", iteration=1)
    if not session.retrieval.evidence:
        return abstain_without_evidence(session, 1)
    check = yield from session.check(1)
    query = check.verdict.query or query_from_gaps(session.analysis, check.verdict.gaps, session.retrieval.queries, 2)
    if query:
        yield from session.search(Search(query), CHUNKS, path="refined", iteration=2)
    return (yield from _answered(session, 2))


@as_loop("full-context")
def full_context(session: Session) -> Flow[Answer]:
    """Show every turn of the memory and answer from them, unjudged."""
    turns = [turn for turn in session.task.store.turns(Listing()) if session.retrieval.admits(turn)]
    session.task = replace(session.task, budget=replace(session.task.budget, tokens=CHARACTERS_A_TURN * len(turns) + 1))
    session.retrieval.keep([Hit(turn, (), 0.0) for turn in turns], "whole", 1)
    return (yield from _answered(session, 1))


def _answered(session: Session, iteration: int) -> Flow[Answer]:
    if not session.retrieval.evidence:
        return abstain_without_evidence(session, iteration)
    check: Check = session.apply_verdict(session.show(iteration), UNJUDGED)
    return conclude(session, check, (yield from draft_answer(session, check)))


BASELINES = {"RAG": rag, "RAG-CoT-RAG": rag_cot_rag, "full context": full_context}
