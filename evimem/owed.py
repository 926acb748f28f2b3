"""The work that turns are still owed after `add`, from the durable queue: vectors, links, facts by a model."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from .errors import EmbedderError, ModelError, UnknownTurn
from .flow import Flow, JobKind, context, due, embed, postpone, settle
from .index.document import embedding_text
from .llm.enrich import MAX_EARLIER as EARLIER
from .llm.enrich import extract_facts, setback, worth_asking
from .protocols import Entry, Job
from .types import Fact

PAGE = 256  # jobs settled in one transaction
RETRY_SECONDS = 30.0
ATTEMPTS = 8  # then a job is kept as failed, and no longer holds up the others


def give_vectors() -> Flow[int]:
    """Embed one page of turns that have no vector yet; return how many were settled."""
    jobs = yield from due("vector", PAGE)
    if not jobs:
        return 0
    try:
        vectors = yield from embed([embedding_text(job.turn) for job in jobs])
    except EmbedderError as error:
        yield from _postponed("vector", jobs, error)
        raise
    yield from settle("vector", [Entry(job.turn, vector=row) for job, row in zip(jobs, vectors, strict=True)])
    return len(jobs)


def give_links() -> Flow[int]:
    """Embed the facts of one page of turns and link them; return how many turns were settled."""
    jobs = yield from due("link", PAGE)
    if not jobs:
        return 0
    try:
        vectors = yield from embed([fact.text for job in jobs for fact in job.facts])
    except EmbedderError as error:
        yield from _postponed("link", jobs, error)
        raise
    rows = np.split(vectors, np.cumsum([len(job.facts) for job in jobs])[:-1])
    entries = [Entry(job.turn, job.facts, fact_vectors=own) for job, own in zip(jobs, rows, strict=True)]
    yield from settle("link", entries)
    return len(jobs)


def give_facts(job: Job) -> Flow[int]:
    """Ask a model for the facts of one turn; return 1. A failure is counted in the queue before it is raised on.

    A turn that no reply can be read for goes to the dead letters after some attempts and holds up no other; a model
    that cannot be reached raises, and leaves the queue as it is.
    """
    if not worth_asking(job.turn):  # a greeting, or a mere question: what the rules found is what there is
        yield from settle("extract", [Entry(job.turn)])
        return 1
    try:
        earlier = yield from context(job.turn.id, EARLIER, 0)
    except UnknownTurn:
        return 1  # it was forgotten since it was offered
    try:
        extraction = yield from extract_facts(job.turn, earlier[:-1], job.attempts + 1)
    except ModelError as error:
        what = setback(error, job.attempts + 1)
        yield from postpone("extract", job.turn.id, what.reason, what.seconds)
        if what.halt:
            raise
        return 1
    yield from settle_facts([(job, extraction.facts)])
    return 1


def settle_facts(read: Sequence[tuple[Job, tuple[Fact, ...]]]) -> Flow[None]:
    """Keep what a model found in turns, beside what the rules found: in one transaction, embedded together."""
    new = [_unknown(job, facts) for job, facts in read]
    texts = [fact.text for facts in new for fact in facts]
    rows: list[Any] = [None] * len(new)
    if texts:
        rows = np.split((yield from embed(texts)), np.cumsum([len(facts) for facts in new])[:-1])
    entries = [Entry(job.turn, facts, fact_vectors=own) for (job, _), facts, own in zip(read, new, rows, strict=True)]
    yield from settle("extract", entries)


def _unknown(job: Job, facts: Sequence[Fact]) -> tuple[Fact, ...]:
    known = {(fact.subject, fact.predicate, fact.object) for fact in job.facts}
    return tuple(fact for fact in facts if (fact.subject, fact.predicate, fact.object) not in known)


def _postponed(kind: JobKind, jobs: tuple[Job, ...], error: EmbedderError) -> Flow[None]:
    for job in jobs:
        over = job.attempts + 1 >= ATTEMPTS or not error.retryable
        yield from postpone(kind, job.turn.id, type(error).__name__, None if over else RETRY_SECONDS * 2**job.attempts)
