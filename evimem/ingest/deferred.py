"""Process queued jobs: embeddings, edges, LLM facts."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress

from ..errors import EmbedderError, ModelError, UnknownTurn
from ..flow import Flow, contexts, due, hold, postpone, settle
from ..index.document import embedding_texts
from ..llm.extract_facts import LONGEST_WAIT, extract_facts, may_state_facts, plan_retry
from ..llm.extract_facts import MAX_EARLIER as EARLIER
from ..store.job_leases import holder
from ..text.terms import terms
from ..types.stored import MOST_SECONDS, Entry, Job, JobKind
from ..types.values import Fact
from ..types.vectors import Vectors
from .embed_groups import embed_groups

PAGE = 256  # jobs per transaction
RETRY_SECONDS = 30.0  # before the second attempt; doubles with each further one
ATTEMPTS = 4  # to embed a turn whose text the embedder rejects; then its job is kept as failed


def embed_turns() -> Flow[int]:
    """Embed one page of turns that have no vector yet; return how many jobs were done or postponed."""
    jobs = yield from due("vector", PAGE)
    return (yield from _embed_jobs("vector", jobs)) if jobs else 0


def link_facts() -> Flow[int]:
    """Embed the facts of one page of turns and link them; return how many jobs were done or postponed."""
    jobs = yield from due("link", PAGE)
    return (yield from _embed_jobs("link", jobs)) if jobs else 0


def _embed_jobs(kind: JobKind, jobs: tuple[Job, ...]) -> Flow[int]:
    """Embed jobs of a kind and store the results; return how many were done or postponed.

    Where the embedder rejects a text, halve the page until the job with that text is found, and postpone it alone.
    Where it cannot be reached, raise EmbedderError: every job waits, and none is given up.
    """
    try:
        entries = yield from (_turn_vectors(jobs) if kind == "vector" else _fact_vectors(jobs))
    except EmbedderError as error:
        if error.of_texts and len(jobs) > 1:
            half = len(jobs) // 2
            return (yield from _embed_jobs(kind, jobs[:half])) + (yield from _embed_jobs(kind, jobs[half:]))
        yield from _postpone(kind, jobs, error)
        if error.of_texts:
            return 1
        for other in ("vector", "link"):
            yield from _hold_queue(other, error)
        raise
    yield from settle(kind, entries)
    return len(jobs)


def _turn_vectors(jobs: Sequence[Job]) -> Flow[list[Entry]]:
    rows = yield from embed_groups([embedding_texts(job.turn, job.rows) for job in jobs])
    return [Entry(job.turn, vectors=own) for job, own in zip(jobs, rows, strict=True)]


def _fact_vectors(jobs: Sequence[Job]) -> Flow[list[Entry]]:
    rows = yield from embed_groups([[fact.text for fact in job.facts] for job in jobs])
    return [Entry(job.turn, job.facts, fact_vectors=own) for job, own in zip(jobs, rows, strict=True)]


def extract_job(job: Job) -> Flow[int]:
    """Ask a model for the facts of one turn; return 1. A failure is recorded in the queue.

    A turn whose replies cannot be parsed is given up after some attempts, and blocks no other. Raise ModelError where
    the model cannot be reached; the queue stays as it is.
    """
    if not may_state_facts(job.turn):  # a greeting or a mere question: the facts by rule are all there are
        yield from settle("extract", [Entry(job.turn)])
        return 1
    try:
        (earlier,) = yield from contexts([job.turn.id], EARLIER, 0)
    except UnknownTurn:
        return 1  # it was forgotten since the job was read
    try:
        extraction = yield from extract_facts(job.turn, earlier[:-1], job.attempts + 1)
    except ModelError as error:
        plan = plan_retry(error, job.attempts + 1)
        yield from postpone("extract", job.turn.id, plan.reason, plan.seconds)
        if plan.halt:
            yield from _hold_queue("extract", error)
            raise
        return 1
    yield from store_facts([(job, extraction.facts)])
    return 1


def store_facts(extracted: Sequence[tuple[Job, tuple[Fact, ...]]]) -> Flow[None]:
    """Store the facts that a model extracted, in addition to the facts by rule, in one transaction.

    Where the embedder fails, the facts are stored and their edges queued, so that the model is not asked again.
    """
    new = [_new_facts(job, facts) for job, facts in extracted]
    rows: Sequence[Vectors | None] = [None] * len(new)
    if any(new):
        with suppress(EmbedderError):
            rows = yield from embed_groups([[fact.text for fact in facts] for facts in new])
    entries = [
        Entry(job.turn, facts, fact_vectors=own) for (job, _), facts, own in zip(extracted, new, rows, strict=True)
    ]
    yield from settle("extract", entries)


def _new_facts(job: Job, facts: Sequence[Fact]) -> tuple[Fact, ...]:
    """Return the facts that those of a turn do not say already, in whatever words and forms."""
    return tuple(fact for fact in facts if not any(_says(known, fact) for known in job.facts))


def _says(known: Fact, fact: Fact) -> bool:
    """Return whether a fact, about the same words of the turn, says all that another one does, its time included."""
    if known.subject.casefold() != fact.subject.casefold() or (fact.event and not known.event):
        return False
    apart = known.span[1] <= fact.span[0] or fact.span[1] <= known.span[0]
    return not apart and _words(known) >= _words(fact)


def _words(fact: Fact) -> frozenset[str]:
    return frozenset(terms(f"{fact.predicate} {fact.object}"))


def _postpone(kind: JobKind, jobs: Sequence[Job], error: EmbedderError) -> Flow[None]:
    for job in jobs:
        wait = max(min(LONGEST_WAIT, RETRY_SECONDS * 2.0 ** min(job.attempts, 10)), error.retry_after or 0.0)
        given_up = error.of_texts and job.attempts + 1 >= ATTEMPTS
        yield from postpone(kind, job.turn.id, type(error).__name__, None if given_up else wait)


def _hold_queue(kind: JobKind, error: ModelError | EmbedderError) -> Flow[None]:
    """Put off every job of a kind for the seconds of the error's Retry-After, if it has any."""
    seconds = min(getattr(error, "retry_after", None) or 0.0, MOST_SECONDS)
    held: set[str] = set()
    for reason in (None, holder()):  # those that this process has leased and not begun wait as well
        while seconds and (ids := {job.turn.id for job in (yield from due(kind, PAGE, reason))} - held):
            yield from hold(kind, sorted(ids), type(error).__name__, seconds)
            held |= ids
