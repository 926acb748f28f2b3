"""The work that turns are still owed after `add`, from the durable queue: vectors, links, facts by a model."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from typing import Any

import numpy as np

from ..errors import EmbedderError, ModelError, UnknownTurn
from ..flow import Flow, contexts, due, embed, hold, postpone, settle
from ..index.document import embedding_text
from ..llm.extract_facts import LONGEST_WAIT, extract_facts, setback, worth_asking
from ..llm.extract_facts import MAX_EARLIER as EARLIER
from ..types.stored import MOST_SECONDS, Entry, Job, JobKind
from ..types.values import Fact

PAGE = 256  # jobs settled in one transaction
RETRY_SECONDS = 30.0
ATTEMPTS = 4  # at a turn that no vector can be had for; then it is kept as failed


def give_vectors() -> Flow[int]:
    """Embed one page of turns that have no vector yet; return how many were settled or put off."""
    jobs = yield from due("vector", PAGE)
    return (yield from _given("vector", jobs)) if jobs else 0


def give_links() -> Flow[int]:
    """Embed the facts of one page of turns and link them; return how many turns were settled or put off."""
    jobs = yield from due("link", PAGE)
    return (yield from _given("link", jobs)) if jobs else 0


def _given(kind: JobKind, jobs: tuple[Job, ...]) -> Flow[int]:
    """Embed and settle what is owed to turns. One that no vector can be had for is found by halving, and put off.

    An embedder that cannot be reached, or will not answer, raises: every turn waits, and none is given up.
    """
    try:
        entries = yield from (_turn_vectors(jobs) if kind == "vector" else _fact_vectors(jobs))
    except EmbedderError as error:
        if error.of_texts and len(jobs) > 1:
            half = len(jobs) // 2
            return (yield from _given(kind, jobs[:half])) + (yield from _given(kind, jobs[half:]))
        yield from _postponed(kind, jobs, error)
        if error.of_texts:
            return 1
        for other in ("vector", "link"):
            yield from _rest(other, error)
        raise
    yield from settle(kind, entries)
    return len(jobs)


def _turn_vectors(jobs: Sequence[Job]) -> Flow[list[Entry]]:
    vectors = yield from embed([embedding_text(job.turn) for job in jobs])
    return [Entry(job.turn, vector=row) for job, row in zip(jobs, vectors, strict=True)]


def _fact_vectors(jobs: Sequence[Job]) -> Flow[list[Entry]]:
    vectors = yield from embed([fact.text for job in jobs for fact in job.facts])
    rows = np.split(vectors, np.cumsum([len(job.facts) for job in jobs])[:-1])
    return [Entry(job.turn, job.facts, fact_vectors=own) for job, own in zip(jobs, rows, strict=True)]


def give_facts(job: Job) -> Flow[int]:
    """Ask a model for the facts of one turn; return 1. A failure is counted in the queue before it is raised on.

    A turn that no reply can be read for goes to the dead letters after some attempts and holds up no other; a model
    that cannot be reached raises, and leaves the queue as it is.
    """
    if not worth_asking(job.turn):  # a greeting, or a mere question: what the rules found is what there is
        yield from settle("extract", [Entry(job.turn)])
        return 1
    try:
        (earlier,) = yield from contexts([job.turn.id], EARLIER, 0)
    except UnknownTurn:
        return 1  # it was forgotten since it was offered
    try:
        extraction = yield from extract_facts(job.turn, earlier[:-1], job.attempts + 1)
    except ModelError as error:
        what = setback(error, job.attempts + 1)
        yield from postpone("extract", job.turn.id, what.reason, what.seconds)
        if what.halt:
            yield from _rest("extract", error)
            raise
        return 1
    yield from settle_facts([(job, extraction.facts)])
    return 1


def settle_facts(read: Sequence[tuple[Job, tuple[Fact, ...]]]) -> Flow[None]:
    """Keep what a model found in turns, beside what the rules found: in one transaction, embedded together.

    Where the embedder fails, the facts are kept and their links owed: the model is not asked again.
    """
    new = [_unknown(job, facts) for job, facts in read]
    texts = [fact.text for facts in new for fact in facts]
    rows: list[Any] = [None] * len(new)
    if texts:
        with suppress(EmbedderError):
            rows = np.split((yield from embed(texts)), np.cumsum([len(facts) for facts in new])[:-1])
    entries = [Entry(job.turn, facts, fact_vectors=own) for (job, _), facts, own in zip(read, new, rows, strict=True)]
    yield from settle("extract", entries)


def _unknown(job: Job, facts: Sequence[Fact]) -> tuple[Fact, ...]:
    known = {(fact.subject, fact.predicate, fact.object) for fact in job.facts}
    return tuple(fact for fact in facts if (fact.subject, fact.predicate, fact.object) not in known)


def _postponed(kind: JobKind, jobs: Sequence[Job], error: EmbedderError) -> Flow[None]:
    for job in jobs:
        wait = max(min(LONGEST_WAIT, RETRY_SECONDS * 2.0 ** min(job.attempts, 10)), error.retry_after or 0.0)
        over = error.of_texts and job.attempts + 1 >= ATTEMPTS
        yield from postpone(kind, job.turn.id, type(error).__name__, None if over else wait)


def _rest(kind: JobKind, error: ModelError | EmbedderError) -> Flow[None]:
    """Offer no work of a kind for as long as a server asked to be left alone, if it did."""
    seconds = min(getattr(error, "retry_after", None) or 0.0, MOST_SECONDS)
    held: set[str] = set()
    while seconds and (ids := {job.turn.id for job in (yield from due(kind, PAGE))} - held):
        yield from hold(kind, sorted(ids), type(error).__name__, seconds)
        held |= ids
