"""LLM facts by a provider's Batch API: submit queued turns together, collect the replies when they are ready."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from contextlib import suppress
from hashlib import blake2b

from ..errors import ModelError, ModelUnavailable, UnknownTurn
from ..flow import Flow, collect_batch, start_batch
from ..llm.extract_facts import extract_request, may_state_facts, plan_retry, read_extraction
from ..protocols import Store
from ..times import Conventions
from ..types.model import Complete
from ..types.reports import BatchReport
from ..types.stored import EARLIER, Entry, Job
from ..types.values import Fact, Turn
from .deferred import settle, store_facts

MAX_REQUESTS = 10_000  # in a batch; providers accept 50,000, and 200 MB
HOLD_HOURS = 26.0  # a batch ends within 24; after this its turns are due again, whatever became of it
_OPEN = "open batches"  # the setting that holds the ids of submitted batches
_NOT_FOUND = 404
_PAGE = 256  # jobs per transaction


def process_batches(store: Store, conventions: Conventions = Conventions()) -> Flow[BatchReport]:
    """Collect finished batches, then submit queued turns. Repeat it until the report says that none wait.

    The ids of submitted batches are stored in the memory, so that another process may collect them. A turn whose reply
    cannot be used is queued again, and given up after as many attempts as in `extract_job`.
    """
    collected, failed = yield from _collect_all(store, conventions)
    handed_in = yield from _submit_all(store)
    waiting = 0
    for batch_id in _open(store):
        waiting += len(store.due("extract", MAX_REQUESTS, _reason(batch_id)))
    return BatchReport(collected, failed, handed_in, waiting)


def _collect_all(store: Store, conventions: Conventions) -> Flow[tuple[int, int]]:
    collected = failed = 0
    for batch_id in _open(store):
        jobs = store.due("extract", MAX_REQUESTS, _reason(batch_id))
        jobs, earlier = _with_earlier(store, jobs)
        try:
            outcomes = yield from collect_batch(batch_id, _requests(jobs, earlier))
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
    return collected, failed


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
            store.postpone("extract", job.turn.id, plan.reason, plan.seconds)
    if extracted:
        yield from store_facts(store, extracted)
    return len(extracted)


def _submit_all(store: Store) -> Flow[int]:
    submitted = 0
    while jobs := store.due("extract", MAX_REQUESTS):
        jobs, earlier = _with_earlier(store, jobs)
        to_submit = [job for job in jobs if may_state_facts(job.turn, earlier[job.turn.id])]
        if without_facts := [job for job in jobs if job not in to_submit]:
            settle(store, "extract", [Entry(job.turn) for job in without_facts])
        if to_submit:
            batch_id = yield from start_batch(_requests(to_submit, earlier))
            _save_open(store, [*_open(store), batch_id])
            store.hold("extract", [job.turn.id for job in to_submit], _reason(batch_id), HOLD_HOURS * 3600)
        submitted += len(to_submit)
    return submitted


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
