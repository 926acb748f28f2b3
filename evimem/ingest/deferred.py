"""Process queued jobs: embeddings, edges, LLM facts, and what could not be read of a turn when it came.

With a provider's Batch API queued turns are submitted together, and the replies collected when they are ready.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from contextlib import suppress
from hashlib import blake2b
from typing import Literal

from ..db.jobs import ATTEMPTS, PAGE, RETRY_SECONDS, holder
from ..errors import DimensionMismatch, EmbedderError, ModelError, ModelUnavailable, UnknownTurn
from ..extract.labels import Label, label_in
from ..flow import CollectBatch, Flow, StartBatch
from ..index.document import found_by
from ..llm.extract_facts import (
    LONGEST_WAIT,
    extract_facts,
    extract_request,
    may_state_facts,
    plan_retry,
    read_extraction,
)
from ..protocols import Extractor, Store
from ..times import Conventions
from ..types.results import BatchReport
from ..types.stored import EARLIER, MOST_SECONDS, OF_A_MODEL, Entry, Job, JobKind
from ..types.trace import Complete
from ..types.values import Fact, Query, Turn
from ..types.vectors import Vectors
from .add import embed_groups, embed_turns, read_facts

MAX_REQUESTS = 10_000  # in a batch; providers accept 50,000, and 200 MB
HOLD_HOURS = 26.0  # a batch ends within 24; after this its turns are due again, whatever became of it
_OPEN = "open batches"  # the setting that holds the ids of submitted batches
_NOT_FOUND = 404
_PAGE = 256  # jobs per transaction
ALIKE = 10  # turns whose names a model is shown


def embed_pending(store: Store, kind: Literal["vector", "link"]) -> Flow[int]:
    """Embed the passages, or the facts, of one page of turns; return how many jobs were done or postponed.

    Facts are linked then. A job with a text that the embedder fails for is postponed alone. Where the embedder cannot
    be reached, raise EmbedderError: every job waits, and none is given up.
    """
    jobs = store.due(kind, PAGE)
    if not jobs:
        return 0
    try:
        if kind == "vector":
            found = yield from embed_turns([(job.turn, job.rows) for job in jobs])
            entries = [Entry(job.turn, vectors=own.value) for job, own in zip(jobs, found, strict=True)]
        else:
            found = yield from embed_groups([[fact.text for fact in job.facts] for job in jobs])
            entries = [Entry(job.turn, job.facts, fact_vectors=own.value) for job, own in zip(jobs, found, strict=True)]
    except EmbedderError as error:
        why = type(error).__name__
        store.postpone(kind, {job.turn.id: (why, _wait(job, error.retry_after)) for job in jobs})
        for other in ("vector", "link"):
            _hold_queue(store, other, error)
        raise
    errors = {job.turn.id: (job, own.error) for job, own in zip(jobs, found, strict=True) if own.error is not None}
    if done := [entry for entry in entries if entry.turn.id not in errors]:
        settle(store, kind, done)
    if errors:  # their texts are the reason: after some tries such a job is kept as failed
        waits = {id: None if job.attempts + 1 >= ATTEMPTS else _wait(job) for id, (job, _) in errors.items()}
        store.postpone(kind, {id: (error, waits[id]) for id, (_, error) in errors.items()})
    return len(jobs)


def read_turns(store: Store, extractor: Extractor, jobs: Sequence[Job], *, deferred: bool) -> Flow[int]:
    """Read and link the facts of turns, or count a failure where that raises; return how many could not be read.

    Where the embedder fails, or its vectors are left to the queue (`deferred`), the edges are queued.
    """
    read = [read_facts(extractor, job.turn) for job in jobs]
    vectors = yield from _fact_vectors([() if deferred else one.value for one in read])
    found = [
        Entry(
            job.turn,
            one.value,
            fact_vectors=own,
            failed=(("facts", one.error),) if one.error else (),
            extractor=extractor.name,
        )
        for job, one, own in zip(jobs, read, vectors, strict=True)
    ]
    return settle(store, "facts", found)


def _fact_vectors(groups: Sequence[Sequence[Fact]]) -> Flow[list[Vectors | None]]:
    """Return the vectors of groups of facts; None of all where the embedder fails, and where there are no facts."""
    if any(groups):
        with suppress(EmbedderError, DimensionMismatch):
            found = yield from embed_groups([[fact.text for fact in facts] for facts in groups])
            return [one.value for one in found]
    return [None] * len(groups)


def index_again(store: Store, jobs: Sequence[Job]) -> Flow[int]:
    """Index turns whose terms could not be read; return how many jobs were done or failed."""
    yield from ()
    entries = []
    for job in jobs:
        error = found_by(job.turn, job.rows).error
        entries.append(Entry(job.turn, failed=(("terms", error),) if error else ()))
    settle(store, "terms", entries)
    return len(jobs)


def extract_job(store: Store, job: Job, conventions: Conventions = Conventions()) -> Flow[int]:
    """Ask a model for the facts of one turn; return 1. A failure is recorded in the queue.

    A turn whose replies cannot be parsed is given up after some attempts, and blocks no other. Raise ModelError where
    the model cannot be reached; the queue stays as it is.
    """
    try:
        ((*earlier, _),) = store.contexts([job.turn.id], EARLIER, 0)
    except UnknownTurn:
        return 1  # it was forgotten since the job was read
    if not may_state_facts(job.turn, earlier):  # a greeting or a mere question: the facts by rule are all there are
        settle(store, "extract", [Entry(job.turn)])
        return 1
    # What the turns most like it, and those before it, are filed under: names that it may share with them.
    alike = store.recall(Query(job.turn.text or job.turn.caption or "", ALIKE))
    before = store.facts([one.id for one in earlier])
    labels = (label_in(facts) for facts in (*(hit.facts for hit in alike), *((fact,) for fact in before)))
    known = tuple(dict.fromkeys(label for label in labels if label != Label()))
    try:
        extraction = yield from extract_facts(job.turn, earlier, job.attempts + 1, conventions, known)
    except ModelError as error:
        plan = plan_retry(error, job.attempts + 1)
        store.postpone("extract", {job.turn.id: (plan.reason, plan.seconds)})
        if plan.halt:
            _hold_queue(store, "extract", error)
            raise
        return 1
    yield from store_facts(store, [(job, extraction.facts)])
    return 1


def store_facts(store: Store, extracted: Sequence[tuple[Job, tuple[Fact, ...]]]) -> Flow[None]:
    """Store the facts that a model extracted, in the place of those by rule, in one transaction.

    Where it found none that stands in the turn, the facts by rule stay. Where the embedder fails, the facts are stored
    and their edges queued, so that the model is not asked again.
    """
    vectors = yield from _fact_vectors([facts for _, facts in extracted])
    entries = [
        Entry(job.turn, facts, fact_vectors=own, extractor=OF_A_MODEL)
        for (job, facts), own in zip(extracted, vectors, strict=True)
    ]
    settle(store, "extract", entries)


def settle(store: Store, kind: JobKind, entries: Sequence[Entry]) -> int:
    """Store the results of queued jobs, in as many transactions as the store makes of them; return how many failed."""
    left, failed = entries, 0
    while left:
        settled = store.settle(kind, left)
        left, failed = left[settled.done :], failed + settled.failed
    return failed


def _wait(job: Job, asked_for: float | None = None) -> float:
    return max(min(LONGEST_WAIT, RETRY_SECONDS * 2.0 ** min(job.attempts, 10)), asked_for or 0.0)


def _hold_queue(store: Store, kind: JobKind, error: ModelError | EmbedderError) -> None:
    """Put off every job of a kind for the seconds of the error's Retry-After, if it has any."""
    seconds = min(getattr(error, "retry_after", None) or 0.0, MOST_SECONDS)
    held: set[str] = set()
    for reason in (None, holder()):  # those that this process has leased and not begun wait as well
        while seconds and (ids := {job.turn.id for job in store.due(kind, PAGE, reason)} - held):
            store.hold(kind, sorted(ids), type(error).__name__, seconds)
            held |= ids


def process_batches(store: Store, conventions: Conventions = Conventions()) -> Flow[BatchReport]:
    """Collect finished batches, then submit queued turns. Repeat it until the report says that none wait.

    The ids of submitted batches are stored in the memory, so that another process may collect them. A turn whose reply
    cannot be used is queued again, and given up after as many attempts as in `extract_job`.
    """
    collected = failed = handed_in = 0
    for batch_id in _open(store):
        jobs, earlier = _with_earlier(store, store.due("extract", MAX_REQUESTS, _reason(batch_id)))
        try:
            outcomes = yield CollectBatch(batch_id, _requests(jobs, earlier))
        except ModelUnavailable as error:
            if error.status != _NOT_FOUND:
                raise
            store.hold("extract", [job.turn.id for job in jobs], "lost batch", 0.0)  # due again at once
            jobs, outcomes = (), {}
        if outcomes is None:
            continue
        for start in range(0, len(jobs), _PAGE):
            page = jobs[start : start + _PAGE]
            stored = yield from _store_page(store, page, earlier, outcomes, conventions)
            collected, failed = collected + stored, failed + len(page) - stored
        _save_open(store, [other for other in _open(store) if other != batch_id])
    while due := store.due("extract", MAX_REQUESTS):
        jobs, earlier = _with_earlier(store, due)
        to_submit = [job for job in jobs if may_state_facts(job.turn, earlier[job.turn.id])]
        if without_facts := [job for job in jobs if job not in to_submit]:
            settle(store, "extract", [Entry(job.turn) for job in without_facts])
        if to_submit:
            submitted: str = yield StartBatch(_requests(to_submit, earlier))
            _save_open(store, [*_open(store), submitted])
            store.hold("extract", [job.turn.id for job in to_submit], _reason(submitted), HOLD_HOURS * 3600)
        handed_in += len(to_submit)
    waiting = sum(len(store.due("extract", MAX_REQUESTS, _reason(batch_id))) for batch_id in _open(store))
    return BatchReport(collected, failed, handed_in, waiting)


def _store_page(
    store: Store,
    jobs: Sequence[Job],
    earlier: Mapping[str, Sequence[Turn]],
    outcomes: Mapping[str, object],
    conventions: Conventions,
) -> Flow[int]:
    """Store the facts of the replies that can be parsed, postpone the other jobs; return how many were stored."""
    extracted: list[tuple[Job, tuple[Fact, ...]]] = []
    for job in jobs:
        outcome = outcomes.get(_key(job.turn))
        try:
            if isinstance(outcome, ModelError):
                raise outcome
            text = getattr(outcome, "text", "")
            extracted.append((job, read_extraction(text, job.turn, earlier[job.turn.id], conventions).facts))
        except ModelError as error:
            plan = plan_retry(error, job.attempts + 1)
            store.postpone("extract", {job.turn.id: (plan.reason, plan.seconds)})
    if extracted:
        yield from store_facts(store, extracted)
    return len(extracted)


def _with_earlier(store: Store, jobs: Sequence[Job]) -> tuple[tuple[Job, ...], dict[str, Sequence[Turn]]]:
    """Return the jobs with the turns before each; a turn that was forgotten since the job was read is left out."""
    earlier: dict[str, Sequence[Turn]] = {}
    try:
        around = store.contexts([job.turn.id for job in jobs], EARLIER, 0)
        earlier = {job.turn.id: turns[:-1] for job, turns in zip(jobs, around, strict=True)}
    except UnknownTurn:
        for job in jobs:
            with suppress(UnknownTurn):
                (turns,) = store.contexts([job.turn.id], EARLIER, 0)
                earlier[job.turn.id] = turns[:-1]
    return tuple(job for job in jobs if job.turn.id in earlier), earlier


def _requests(jobs: Sequence[Job], earlier: Mapping[str, Sequence[Turn]]) -> dict[str, Complete]:
    return {_key(job.turn): extract_request(job.turn, earlier[job.turn.id], job.attempts + 1) for job in jobs}


def _key(turn: Turn) -> str:
    """Return a turn's key in a batch: a digest, as its id is private and may exceed the providers' 64 characters."""
    return blake2b(turn.id.encode("utf-8", "surrogatepass"), digest_size=16).hexdigest()


def _reason(batch_id: str) -> str:
    return f"in batch {batch_id}"


def _open(store: Store) -> list[str]:
    kept = store.setting(_OPEN)
    return [str(batch_id) for batch_id in json.loads(kept)] if kept else []


def _save_open(store: Store, batch_ids: Sequence[str]) -> None:
    store.keep_setting(_OPEN, json.dumps(list(batch_ids)) if batch_ids else None)
