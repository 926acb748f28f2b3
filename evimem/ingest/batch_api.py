"""Facts by a provider's Batch API: turns are handed in together, cheaper, and collected when they are done."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from contextlib import suppress
from hashlib import blake2b

from ..errors import ModelError, ModelUnavailable, UnknownTurn
from ..flow import (
    Flow,
    collect_batch,
    contexts,
    due,
    hold,
    keep_setting,
    postpone,
    setting,
    settle,
    start_batch,
)
from ..llm.extract_facts import MAX_EARLIER, extracting, read_extraction, setback, worth_asking
from ..types.model import Complete
from ..types.reports import BatchReport
from ..types.stored import Entry, Job
from ..types.values import Fact, Turn
from .deferred import settle_facts

MOST = 10_000  # requests in a batch; providers take 50,000, and 200 MB
HOURS = 26.0  # a batch is over within 24; then its turns are offered again, whatever became of it
_OPEN = "open batches"
_GONE = 404
_PAGE = 256  # turns settled in one transaction


def give_batches() -> Flow[BatchReport]:
    """Collect the batches that are done, then hand in what is owed; to be repeated until nothing waits.

    A batch that was handed in is remembered in the memory, so that another process may collect it. A turn whose reply
    cannot be used is owed again, and goes to the dead letters as one that was asked about by itself.
    """
    collected, failed = yield from _collect_all()
    handed_in = yield from _hand_in_all()
    waiting = 0
    for batch_id in (yield from _open()):
        waiting += len((yield from due("extract", MOST, _reason(batch_id))))
    return BatchReport(collected, failed, handed_in, waiting)


def _collect_all() -> Flow[tuple[int, int]]:
    collected = failed = 0
    for batch_id in (yield from _open()):
        jobs = yield from due("extract", MOST, _reason(batch_id))
        jobs, earlier = yield from _with_earlier(jobs)
        try:
            outcomes = yield from collect_batch(batch_id, _requests(jobs, earlier))
        except ModelUnavailable as error:
            if error.status != _GONE:
                raise
            yield from hold("extract", [job.turn.id for job in jobs], "lost batch", 0.0)  # owed again, at once
            jobs, outcomes = (), {}
        if outcomes is None:
            continue
        for start in range(0, len(jobs), _PAGE):
            page = jobs[start : start + _PAGE]
            good = yield from _settled(page, earlier, outcomes)
            collected, failed = collected + good, failed + len(page) - good
        yield from _keep_open([other for other in (yield from _open()) if other != batch_id])
    return collected, failed


def _settled(jobs: Sequence[Job], earlier: Mapping[str, Sequence[Turn]], outcomes: Mapping[str, object]) -> Flow[int]:
    """Keep the facts of the replies that can be read, put off the other turns; return how many were read."""
    read: list[tuple[Job, tuple[Fact, ...]]] = []
    for job in jobs:
        outcome = outcomes.get(_key(job.turn))
        try:
            if isinstance(outcome, ModelError):
                raise outcome
            text = getattr(outcome, "text", "")
            read.append((job, read_extraction(text, job.turn, earlier[job.turn.id]).facts))
        except ModelError as error:
            what = setback(error, job.attempts + 1)
            yield from postpone("extract", job.turn.id, what.reason, what.seconds)
    if read:
        yield from settle_facts(read)
    return len(read)


def _hand_in_all() -> Flow[int]:
    handed_in = 0
    while jobs := (yield from due("extract", MOST)):
        idle = [job for job in jobs if not worth_asking(job.turn)]
        if idle:
            yield from settle("extract", [Entry(job.turn) for job in idle])
        asked, earlier = yield from _with_earlier([job for job in jobs if worth_asking(job.turn)])
        if asked:
            batch_id = yield from start_batch(_requests(asked, earlier))
            yield from _keep_open([*(yield from _open()), batch_id])
            yield from hold("extract", [job.turn.id for job in asked], _reason(batch_id), HOURS * 3600)
        handed_in += len(asked)
    return handed_in


def _with_earlier(jobs: Sequence[Job]) -> Flow[tuple[tuple[Job, ...], dict[str, Sequence[Turn]]]]:
    """Return the jobs with the turns before each; a turn that was forgotten since it was offered is left out."""
    earlier: dict[str, Sequence[Turn]] = {}
    try:
        around = yield from contexts([job.turn.id for job in jobs], MAX_EARLIER, 0)
        earlier = {job.turn.id: turns[:-1] for job, turns in zip(jobs, around, strict=True)}
    except UnknownTurn:
        for job in jobs:
            with suppress(UnknownTurn):
                (turns,) = yield from contexts([job.turn.id], MAX_EARLIER, 0)
                earlier[job.turn.id] = turns[:-1]
    return tuple(job for job in jobs if job.turn.id in earlier), earlier


def _requests(jobs: Sequence[Job], earlier: Mapping[str, Sequence[Turn]]) -> dict[str, Complete]:
    return {_key(job.turn): extracting(job.turn, earlier[job.turn.id], job.attempts + 1) for job in jobs}


def _key(turn: Turn) -> str:
    """Return what a turn is called in a batch: its id is nobody's business, and may be longer than providers take."""
    return blake2b(turn.id.encode("utf-8", "surrogatepass"), digest_size=16).hexdigest()


def _reason(batch_id: str) -> str:
    return f"in batch {batch_id}"


def _open() -> Flow[list[str]]:
    kept = yield from setting(_OPEN)
    return [str(batch_id) for batch_id in json.loads(kept)] if kept else []


def _keep_open(batch_ids: Sequence[str]) -> Flow[None]:
    yield from keep_setting(_OPEN, json.dumps(list(batch_ids)) if batch_ids else None)
