"""Process queued jobs: embeddings, edges, LLM facts, and the parts of turns that could not be read when they came.

With a provider's Batch API queued turns are submitted together, and the replies collected when they are ready.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from hashlib import blake2b
from typing import Literal

from ..db.jobs import MAX_ATTEMPTS, PAGE_JOBS, RETRY_SECONDS, lease_reason
from ..errors import Attempt, DimensionMismatch, EmbedderError, ModelError, ModelUnavailable, ReplyError, UnknownTurn
from ..extract.attribution import TURNS_AFTER, has_unclear_speaker
from ..extract.labels import Label, LabelNames, read_label
from ..flow import CollectBatch, Flow, StartBatch
from ..index.document import derive_documents
from ..llm.extract_facts import (
    HARMLESS_TURN,
    MAX_WAIT_SECONDS,
    Extraction,
    extract_facts,
    extract_request,
    may_refuse_text,
    may_state_facts,
    plan_retry,
    read_extraction,
)
from ..protocols import Extractor, Store
from ..times import Conventions
from ..types.results import BatchReport
from ..types.stored import BY_RULE, MAX_EARLIER_TURNS, MOST_SECONDS, OF_A_MODEL, Entry, Job, JobKind, Listing
from ..types.trace import Complete
from ..types.values import Fact, Query, Turn
from ..types.vectors import Vectors
from .add import embed_groups, embed_turns, read_facts

MAX_REQUESTS = 10_000  # in a batch; providers accept 50,000, and 200 MB
_OPEN = "open batches"  # the setting that holds the ids of submitted batches
_PAGE_JOBS = 256  # jobs per transaction
REFUSED_IN_A_ROW = 3  # different turns, from which on the endpoint may be the reason


def embed_pending(store: Store, kind: Literal["vector", "link"]) -> Flow[int]:
    """Embed the passages, or the facts, of one page of turns; return how many jobs were done or postponed.

    Facts are linked then. A job with a text that the embedder fails for is postponed alone. Where the embedder cannot
    be reached, raise EmbedderError: every job waits, and none is given up.
    """
    jobs = store.due(kind, PAGE_JOBS)
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
        store.postpone(kind, {job.turn.id: (why, _retry_wait_seconds(job, error.retry_after)) for job in jobs})
        for other in ("vector", "link"):
            _defer_all_jobs(store, other, error)
        raise
    errors = {job.turn.id: (job, own.error) for job, own in zip(jobs, found, strict=True) if own.error is not None}
    if done := [entry for entry in entries if entry.turn.id not in errors]:
        complete_jobs(store, kind, done)
    if errors:  # their texts are the reason: after some tries such a job is kept as failed
        waits = {
            id: None if job.attempts + 1 >= MAX_ATTEMPTS else _retry_wait_seconds(job)
            for id, (job, _) in errors.items()
        }
        store.postpone(kind, {id: (error, waits[id]) for id, (_, error) in errors.items()})
    return len(jobs)


def read_turns(store: Store, extractor: Extractor, jobs: Sequence[Job], *, deferred: bool) -> Flow[int]:
    """Read and link the facts of turns, or count a failure where that raises; return how many could not be read.

    Where the embedder fails, or its vectors are left to the queue (`deferred`), the edges are queued.
    """
    read = [read_facts(extractor, job.turn) for job in jobs]
    if extractor.name == BY_RULE:
        read = _drop_facts_of_unclear_speakers(store, jobs, read)
    vectors = yield from _embed_facts([() if deferred else one.value for one in read])
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
    return complete_jobs(store, "facts", found)


def _drop_facts_of_unclear_speakers(
    store: Store, jobs: Sequence[Job], read: Sequence[Attempt[tuple[Fact, ...]]]
) -> list[Attempt[tuple[Fact, ...]]]:
    """Return the facts that were read, without those of turns of which it is not sure who speaks in them."""
    stating = [job.turn for job, one in zip(jobs, read, strict=True) if one.value]
    around: dict[str, Sequence[Turn]] = {}
    with suppress(UnknownTurn):  # one of them was forgotten meanwhile
        ids = [turn.id for turn in stating]
        around = dict(zip(ids, store.contexts(ids, MAX_EARLIER_TURNS, TURNS_AFTER), strict=True)) if ids else {}
    nobodys = {turn.id for turn in stating if has_unclear_speaker(turn, around.get(turn.id, (turn,)))}
    return [replace(one, value=()) if job.turn.id in nobodys else one for job, one in zip(jobs, read, strict=True)]


def _embed_facts(groups: Sequence[Sequence[Fact]]) -> Flow[list[Vectors | None]]:
    """Return the vectors of groups of facts; None of all where the embedder fails, and where there are no facts."""
    if any(groups):
        with suppress(EmbedderError, DimensionMismatch):
            found = yield from embed_groups([[fact.text for fact in facts] for facts in groups])
            return [one.value for one in found]
    return [None] * len(groups)


def reindex_turns(store: Store, jobs: Sequence[Job]) -> Flow[int]:
    """Index turns whose terms could not be read; return how many jobs were done or failed."""
    yield from ()
    entries = []
    for job in jobs:
        error = derive_documents(job.turn, job.rows).error
        entries.append(Entry(job.turn, failed=(("terms", error),) if error else ()))
    complete_jobs(store, "terms", entries)
    return len(jobs)


@dataclass(slots=True)
class Endpoint:
    """The model of one call of `enrich`: tells its faults from those of a turn, so that no turn is given up for them.

    Attributes:
        failed: The ids of the turns that failed since the last usable reply.
        read: The turn that the last usable reply in this call was about; None before the first.
        names: The labels of the turns of this call: those that are read side by side cannot see one another's.
    """

    failed: set[str] = field(default_factory=set)
    read: Turn | None = None
    names: LabelNames = field(default_factory=LabelNames)
    _doubted: bool = False

    def is_doubted(self) -> bool:
        """Return whether a request is under way that shows whether it answers; until then no other is begun."""
        return self._doubted

    def succeed(self, turn: Turn) -> None:
        """Record a usable reply about a turn."""
        self.failed.clear()
        self.read = turn

    def test_with_known_turn(self, turn: Turn) -> Flow[None]:
        """Ask about a turn that it answered before, or could. Raise ModelError where there is no usable reply."""
        self._doubted = True
        try:
            yield from extract_facts(turn)
        finally:
            self._doubted = False
        self.succeed(turn)


def extract_job(
    store: Store, job: Job, conventions: Conventions = Conventions(), endpoint: Endpoint | None = None
) -> Flow[int]:
    """Ask a model for the facts of one turn; return 1, or 0 where the job is left to be offered again at once.

    A failure is recorded in the queue. A turn that fails again and again though the endpoint answers for other turns is
    given up, and blocks no other. The reason may be one of the turns before it, so it is then asked about without
    these. Raise ModelError where the endpoint is the reason; then no turn is given up.
    """
    endpoint = endpoint or Endpoint()
    if endpoint.is_doubted():
        return 0
    try:
        ((*earlier, _),) = store.contexts([job.turn.id], MAX_EARLIER_TURNS, 0)
    except UnknownTurn:
        return 1  # it was forgotten since the job was read
    if not may_state_facts(job.turn):  # no word that could state anything
        complete_jobs(store, "extract", [Entry(job.turn)])
        return 1
    # The names that the turns most like it, and those before it, are filed under: it may share them.
    # A model is shown the names of the 10 nearest turns.
    alike = store.recall(Query(job.turn.text or job.turn.caption or "", 10))
    before = store.facts([one.id for one in earlier])
    labels = (read_label(facts) for facts in (*(hit.facts for hit in alike), *((fact,) for fact in before)))
    known = tuple(dict.fromkeys(label for label in labels if label != Label()))
    found = yield from _extract_facts(job, conventions, earlier, known)
    if isinstance(found, ModelError):
        if endpoint.is_doubted():
            return 0
        yield from _diagnose_failure(store, job, found, endpoint)
        if (earlier or known) and (may_refuse_text(found) or job.attempts):
            found = yield from _extract_facts(job, conventions)
    if isinstance(found, ModelError):
        plan = plan_retry(found, job.attempts + 1)
        store.postpone("extract", {job.turn.id: (plan.reason, None if plan.last else plan.seconds)})
        return 1
    endpoint.succeed(job.turn)
    yield from store_facts(store, [(job, endpoint.names.unify_label(job.turn, found.facts))])
    return 1


def _extract_facts(
    job: Job, conventions: Conventions, earlier: Sequence[Turn] = (), known: Sequence[Label] = ()
) -> Flow[Extraction | ModelError]:
    try:
        return (yield from extract_facts(job.turn, earlier, job.attempts + 1, conventions, known))
    except ModelError as error:
        return error


def _diagnose_failure(store: Store, job: Job, error: ModelError, endpoint: Endpoint) -> Flow[None]:
    """Return where a failure may be the turn's. Raise ModelError, with the turn postponed, where it is the endpoint's.

    A server that is down, busy or denies access is believed at once, except by a turn that it failed for before. Where
    several different turns in a row fail, or one is about to be given up, a turn is asked about that was read before:
    one more failure shows that the endpoint is the reason, a reply that the turns are.
    """
    plan = plan_retry(error, job.attempts + 1)
    if plan.halt and (plan.certain or not job.attempts):
        store.postpone("extract", {job.turn.id: (plan.reason, plan.seconds)})
        _defer_all_jobs(store, "extract", error)
        raise error
    endpoint.failed.add(job.turn.id)
    in_a_row = len(endpoint.failed) >= REFUSED_IN_A_ROW
    if not (plan.halt or in_a_row or plan.last):
        return
    known = endpoint.read or _last_model_read_turn(store) or (None if isinstance(error, ReplyError) else HARMLESS_TURN)
    if known is None and not in_a_row:
        return
    try:
        if known is None:
            raise error
        yield from endpoint.test_with_known_turn(known)
    except ModelError as cause:
        store.hold("extract", [job.turn.id], plan.reason, plan.seconds)  # no failure of its own, which would count
        _defer_all_jobs(store, "extract", cause)
        raise


def _last_model_read_turn(store: Store) -> Turn | None:
    """Return the newest turn with facts by a model, of the last `PAGE_JOBS`; None where there is none."""
    turns = {turn.id: turn for turn in store.turns(Listing(limit=PAGE_JOBS, newest=True))}
    read: list[str] = []
    with suppress(UnknownTurn):  # one of them was forgotten meanwhile
        read = [fact.turn_id for fact in store.facts([*turns]) if fact.extractor == OF_A_MODEL]
    return turns[read[-1]] if read else None


def store_facts(store: Store, extracted: Sequence[tuple[Job, tuple[Fact, ...]]]) -> Flow[None]:
    """Store the facts that a model extracted, in the place of those by rule, in one transaction.

    Where it found none that stands in the turn, the facts by rule stay. Where the embedder fails, the facts are stored
    and their edges queued, so that the model is not asked again.
    """
    vectors = yield from _embed_facts([facts for _, facts in extracted])
    entries = [
        Entry(job.turn, facts, fact_vectors=own, extractor=OF_A_MODEL)
        for (job, facts), own in zip(extracted, vectors, strict=True)
    ]
    complete_jobs(store, "extract", entries)


def complete_jobs(store: Store, kind: JobKind, entries: Sequence[Entry]) -> int:
    """Store the results of queued jobs, in as many transactions as the store makes of them; return how many failed."""
    left, failed = entries, 0
    while left:
        settled = store.complete_jobs(kind, left)
        left, failed = left[settled.done :], failed + settled.failed
    return failed


def _retry_wait_seconds(job: Job, asked_for: float | None = None) -> float:
    return max(min(MAX_WAIT_SECONDS, RETRY_SECONDS * 2.0 ** min(job.attempts, 10)), asked_for or 0.0)


def _defer_all_jobs(store: Store, kind: JobKind, error: ModelError | EmbedderError) -> None:
    """Put off every job of a kind for the seconds of the error's Retry-After, if it has any."""
    seconds = min(getattr(error, "retry_after", None) or 0.0, MOST_SECONDS)
    held: set[str] = set()
    for reason in (None, lease_reason()):  # those that this process has leased and not begun wait as well
        while seconds and (ids := {job.turn.id for job in store.due(kind, PAGE_JOBS, reason)} - held):
            store.hold(kind, sorted(ids), type(error).__name__, seconds)
            held |= ids


def process_batches(store: Store, conventions: Conventions = Conventions()) -> Flow[BatchReport]:
    """Collect finished batches, then submit queued turns. Repeat it until the report says that none wait.

    The ids of submitted batches are stored in the memory, so that another process may collect them. A turn whose reply
    cannot be used is queued again, and given up after as many attempts as in `extract_job`. Where no reply of a batch
    can be used, the endpoint is the reason: raise ModelError once all batches are collected, and give no turn up.
    """
    collected = failed = handed_in = 0
    refused: ModelError | None = None
    for batch_id in _read_open_batches(store):
        read = yield from _store_batch_results(store, batch_id, conventions)
        collected, failed = collected + len(read.extracted), failed + len(read.errors)
        refused = refused or read.refusal
    if refused is not None:
        raise refused
    while due := store.due("extract", MAX_REQUESTS):
        jobs, earlier = _add_earlier_turns(store, due)
        to_submit = [job for job in jobs if may_state_facts(job.turn)]
        if without_facts := [job for job in jobs if job not in to_submit]:
            complete_jobs(store, "extract", [Entry(job.turn) for job in without_facts])
        if to_submit:
            submitted: str = yield StartBatch(_make_requests(to_submit, earlier))
            _save_open_batches(store, [*_read_open_batches(store), submitted])
            # A batch ends within 24 hours; after 26 its turns are due again, however it ended.
            store.hold("extract", [job.turn.id for job in to_submit], _batch_reason(submitted), 26.0 * 3600)
        handed_in += len(to_submit)
    waiting = sum(
        len(store.due("extract", MAX_REQUESTS, _batch_reason(batch_id))) for batch_id in _read_open_batches(store)
    )
    return BatchReport(collected, failed, handed_in, waiting)


@dataclass(frozen=True, slots=True)
class _BatchRead:
    """The facts of the replies of a batch that can be read, by their jobs, and the errors of the rest by their turns.

    `refusal` is one of the errors where no reply could be read, so that the endpoint is the reason; else None.
    """

    extracted: Sequence[tuple[Job, tuple[Fact, ...]]] = ()
    errors: Mapping[str, ModelError] = field(default_factory=dict)

    @property
    def refusal(self) -> ModelError | None:
        of_endpoint = not self.extracted and len(self.errors) >= REFUSED_IN_A_ROW
        return next(iter(self.errors.values())) if of_endpoint else None


def _store_batch_results(store: Store, batch_id: str, conventions: Conventions) -> Flow[_BatchRead]:
    """Store the facts of a batch that has ended, postpone the jobs without a usable reply, and take it off the list."""
    jobs, earlier = _add_earlier_turns(store, store.due("extract", MAX_REQUESTS, _batch_reason(batch_id)))
    try:
        outcomes = yield CollectBatch(batch_id, _make_requests(jobs, earlier))
    except ModelUnavailable as error:
        if error.status != 404:
            raise
        store.hold("extract", [job.turn.id for job in jobs], "lost batch", 0.0)  # due again at once
        jobs, outcomes = (), {}
    if outcomes is None:
        return _BatchRead()
    read = _read_batch(jobs, earlier, outcomes, conventions)
    for start in range(0, len(read.extracted), _PAGE_JOBS):
        yield from store_facts(store, read.extracted[start : start + _PAGE_JOBS])
    for job in jobs:
        if (failure := read.errors.get(job.turn.id)) is not None:
            plan = plan_retry(failure, job.attempts + 1)
            given_up = plan.last and not plan.halt and read.refusal is None
            store.postpone("extract", {job.turn.id: (plan.reason, None if given_up else plan.seconds)})
    _save_open_batches(store, [other for other in _read_open_batches(store) if other != batch_id])
    return read


def _read_batch(
    jobs: Sequence[Job],
    earlier: Mapping[str, Sequence[Turn]],
    outcomes: Mapping[str, object],
    conventions: Conventions,
) -> _BatchRead:
    extracted: list[tuple[Job, tuple[Fact, ...]]] = []
    names = LabelNames()
    errors: dict[str, ModelError] = {}
    for job in jobs:
        outcome = outcomes.get(_batch_key(job.turn))
        try:
            if isinstance(outcome, ModelError):
                raise outcome
            text = getattr(outcome, "text", "")
            facts = read_extraction(text, job.turn, earlier[job.turn.id], conventions).facts
            extracted.append((job, names.unify_label(job.turn, facts)))
        except ModelError as error:
            errors[job.turn.id] = error
    return _BatchRead(extracted, errors)


def _add_earlier_turns(store: Store, jobs: Sequence[Job]) -> tuple[tuple[Job, ...], dict[str, Sequence[Turn]]]:
    """Return the jobs with the turns before each; a turn that was forgotten since the job was read is left out."""
    earlier: dict[str, Sequence[Turn]] = {}
    try:
        around = store.contexts([job.turn.id for job in jobs], MAX_EARLIER_TURNS, 0)
        earlier = {job.turn.id: turns[:-1] for job, turns in zip(jobs, around, strict=True)}
    except UnknownTurn:
        for job in jobs:
            with suppress(UnknownTurn):
                (turns,) = store.contexts([job.turn.id], MAX_EARLIER_TURNS, 0)
                earlier[job.turn.id] = turns[:-1]
    return tuple(job for job in jobs if job.turn.id in earlier), earlier


def _make_requests(jobs: Sequence[Job], earlier: Mapping[str, Sequence[Turn]]) -> dict[str, Complete]:
    return {_batch_key(job.turn): extract_request(job.turn, earlier[job.turn.id], job.attempts + 1) for job in jobs}


def _batch_key(turn: Turn) -> str:
    """Return a turn's key in a batch: a digest, as its id is private and may exceed the providers' 64 characters."""
    return blake2b(turn.id.encode("utf-8", "surrogatepass"), digest_size=16).hexdigest()


def _batch_reason(batch_id: str) -> str:
    return f"in batch {batch_id}"


def _read_open_batches(store: Store) -> list[str]:
    kept = store.setting(_OPEN)
    return [str(batch_id) for batch_id in json.loads(kept)] if kept else []


def _save_open_batches(store: Store, batch_ids: Sequence[str]) -> None:
    store.keep_setting(_OPEN, json.dumps(list(batch_ids)) if batch_ids else None)
