"""What changes a store's turns and jobs. Each function is one transaction: it is kept whole or not at all.

Long work, `write` and `settle`, is a part of what it is given, so that whoever waits to write soon can. Its callers go
on with the rest, in a transaction of its own.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence
from dataclasses import replace as change
from pathlib import Path

import numpy as np

from ..edges import threshold
from ..embedding.quantize import pack
from ..errors import InvalidTurn, TurnConflict
from ..index.prepared_query import microseconds
from ..raw import check_clock, digest, is_of_clock
from ..types.reports import AddReport, EraseReport, TurnStatus
from ..types.stored import Entry, Job, JobKind, Listing
from ..types.values import Turn
from ..types.vectors import Vectors
from .erase import Erasure
from .forgotten_ids import was_forgotten
from .handle import StoreHandle
from .layers import Layers, events
from .reads import jobs_of

# Up to so many facts with a vector, new facts are linked when they are written. Linking compares each with all
# others, so that beyond this it would hold up `add`, and is queued for enrich() instead.
LINK_NOW = 4_096
HELD_SECONDS = 0.02  # after so long, a transaction begins no more of a long work
AT_LEAST = 4  # turns that it does in any case: a message with its reply is one commit on a slow disk too
REPLACED_AT_ONCE = 32  # turns in a transaction that may replace some: each has the log purged, in as much time as ten


def write(handle: StoreHandle, entries: Sequence[Entry], *, strict: bool = False, replace: bool = False) -> AddReport:
    """See `Store.write`."""
    layers = handle.layers
    erasure = _erasure(layers)
    with handle.writing():
        until = time.monotonic() + HELD_SECONDS
        given = len(entries)
        if replace:  # of several versions of a turn in one call, the last counts
            last = {entry.turn.id: entry for entry in entries}
            entries = [last[entry.turn.id] for entry in entries[:REPLACED_AT_ONCE]]
            until = math.inf
        stale = _stale(layers, entries) if replace else {}
        if stale:
            handle.note_erasure(finished=False)  # as in `_erase`
            erasure.replaced(list(stale.values()))
        if strict:
            _check(layers, [entry.turn for entry in entries])
        statuses, written = _write_some(layers, entries, frozenset(stale), until)
        if written:
            _link(layers, written)
            layers.segments.seal(layers.passages.high_water)
            layers.count_commit()
        if stale:
            handle.ann.drop()  # as in `_erase`
    if stale:
        statuses = _purged(handle, erasure, statuses)
    if written:
        handle.after_commit()
    if len(statuses) < given:
        handle.db.give_way()
    pending = {entry.turn.id: layers.jobs.open_kinds(seq) for seq, entry in written} if layers.jobs.any_open() else {}
    facts = sum(len(entry.facts) for _, entry in written)
    return AddReport.of([change(one, pending=pending.get(one.id, ())) for one in statuses], facts)


def _check(layers: Layers, turns: Sequence[Turn]) -> None:
    """Raise TurnConflict or InvalidTurn for the first turn that would be refused, also for another of the same call."""
    digests: dict[str, bytes] = {}
    for turn in turns:
        kept, own = layers.raw.digest_of(turn.id), digest(turn)
        if digests.setdefault(turn.id, kept or own) != own:
            raise TurnConflict(turn.id)
        if kept is None:
            check_clock(layers.db, turn)


def _write_some(
    layers: Layers, entries: Sequence[Entry], stale: frozenset[str], until: float
) -> tuple[list[TurnStatus], list[tuple[int, Entry]]]:
    """Store turns one by one, so many as there is time for; return what became of each, and which are new.

    One of a stale id is a replacement.
    """
    statuses: list[TurnStatus] = []
    written: list[tuple[int, Entry]] = []
    for entry in entries:
        if len(statuses) >= AT_LEAST and time.monotonic() > until:
            break
        try:
            status, seq = _write_one(layers, entry)
        except (TurnConflict, InvalidTurn) as error:
            status, seq = TurnStatus(entry.turn.id, "refused", str(error)), None
        if seq is not None:
            written.append((seq, entry))
            status = change(status, outcome="replaced") if entry.turn.id in stale else status
        statuses.append(status)
    return statuses, written


def _stale(layers: Layers, entries: Sequence[Entry]) -> dict[str, int]:
    """Return the sequence numbers, by id, of stored turns that these replace: no one that then would be refused."""
    found: dict[str, int] = {}
    for turn in (entry.turn for entry in entries):
        if layers.raw.digest_of(turn.id) != digest(turn) and is_of_clock(layers.db, turn):
            seq = layers.raw.find(turn.id)
            found |= {} if seq is None else {turn.id: seq}
    return found


def _purged(handle: StoreHandle, erasure: Erasure, statuses: Sequence[TurnStatus]) -> list[TurnStatus]:
    """Purge the bytes of replaced turns after the commit; while a reader holds them, the statuses say so."""
    handle.drop_caches()
    handle.save_mark()
    report = erasure.report()
    handle.note_erasure(finished=report.status == "erased")
    return [change(one, reason=report.reason) if one.outcome == "replaced" else one for one in statuses]


def _erasure(layers: Layers) -> Erasure:
    return Erasure(layers, threshold(layers.meta("embedder") or ""), LINK_NOW)


def settle(handle: StoreHandle, kind: JobKind, entries: Sequence[Entry]) -> int:
    """See `Store.settle`; turns that were forgotten or replaced since they were offered are skipped."""
    layers = handle.layers
    with handle.writing():
        until, done, relinked = time.monotonic() + HELD_SECONDS, 0, False
        while done < len(entries) and (not done or time.monotonic() < until):
            relinked |= _settle_some(layers, kind, entries[done : done + AT_LEAST])
            done += AT_LEAST
        layers.count_commit(rewrote=kind != "link", relinked=relinked)
    handle.after_commit()
    if done < len(entries):
        handle.db.give_way()
    return min(done, len(entries))


def _settle_some(layers: Layers, kind: JobKind, entries: Sequence[Entry]) -> bool:
    """Store the results of jobs; return what `_link` does."""
    known = [(seq, entry) for entry in entries if (seq := _as_offered(layers, entry.turn)) is not None]
    for seq, entry in known:
        if kind == "vector":
            _set_vectors(layers, seq, entry.vectors)
        elif kind == "extract":
            layers.facts.insert(seq, microseconds(entry.turn.time), entry.facts)
            happens = events(layers.facts.of_turns([seq])[seq])
            for row in layers.passages.of([seq]).get(seq, ()):
                layers.segments.set_events(row, happens)
    relinked = kind != "vector" and _link(layers, known, now=kind == "link")
    layers.jobs.complete(kind, [seq for seq, _ in known])
    return relinked


def enqueue_missing(handle: StoreHandle, kind: JobKind) -> None:
    """Queue a job of a kind for every turn that never had one."""
    if handle.layers.jobs.missing(kind):
        with handle.writing():
            handle.layers.jobs.enqueue(kind, handle.layers.jobs.missing(kind))
            handle.layers.count_commit()


def hold(handle: StoreHandle, kind: JobKind, turn_ids: Sequence[str], reason: str, seconds: float) -> None:
    """See `Store.hold`."""
    layers = handle.layers
    with handle.writing():
        seqs = [seq for turn_id in turn_ids if (seq := layers.raw.find(turn_id)) is not None]
        layers.jobs.hold(kind, seqs, reason, seconds)
        layers.count_commit()


def lease(handle: StoreHandle, kind: JobKind, limit: int, seconds: float) -> tuple[Job, ...]:
    """Return queued jobs as `Store.due` does, and offer them to no other caller for so many seconds."""
    layers = handle.layers
    with handle.writing():
        jobs = jobs_of(layers, layers.leases.lease(kind, limit, seconds))
        layers.count_commit()
    return jobs


def release(handle: StoreHandle, kind: JobKind, turn_ids: Sequence[str]) -> None:
    """Offer leased jobs again that were neither finished nor put off."""
    layers = handle.layers
    with handle.writing():
        layers.leases.release(kind, [seq for turn_id in turn_ids if (seq := layers.raw.find(turn_id)) is not None])
        layers.count_commit()


def retry_now(handle: StoreHandle) -> None:
    """Make every job that was put off after a failure, or given up, due now."""
    kinds: tuple[JobKind, ...] = ("vector", "link", "extract")
    with handle.writing():
        for kind in kinds:
            handle.layers.leases.retry_now(kind)
        handle.layers.count_commit()


def postpone(handle: StoreHandle, kind: JobKind, turn_id: str, error: str, seconds: float | None) -> None:
    """See `Store.postpone`."""
    layers = handle.layers
    with handle.writing():
        seq = layers.raw.find(turn_id)
        if seq is not None:
            layers.jobs.postpone(kind, seq, error, seconds)
            layers.count_commit()


def keep_setting(handle: StoreHandle, name: str, value: str | None) -> None:
    """See `Store.keep_setting`."""
    with handle.writing():
        handle.layers.keep_setting(name, value)
        handle.layers.count_commit()
    handle.after_commit()


def forget(handle: StoreHandle, turn_ids: Sequence[str]) -> EraseReport:
    """See `Store.forget`."""
    layers = handle.layers

    def erase(erasure: Erasure) -> bool:
        gone = {one for one in turn_ids if layers.raw.find(one) is None and was_forgotten(layers, one)}
        return erasure.turns(layers.raw.seqs([one for one in turn_ids if one not in gone]))

    return _erase(handle, erase)


def forget_where(handle: StoreHandle, listing: Listing, as_in: Path | None) -> EraseReport:
    """Erase what a condition selects: see `Erasure.where`."""
    return _erase(handle, lambda erasure: erasure.where(listing, as_in))


def _write_one(layers: Layers, entry: Entry) -> tuple[TurnStatus, int | None]:
    """Store one turn with all that is known of it; return its sequence number where it is new."""
    turn = entry.turn
    kept = layers.raw.digest_of(turn.id)
    if kept is not None:
        if kept != digest(turn):
            raise TurnConflict(turn.id)
        return TurnStatus(turn.id, "exists"), None
    check_clock(layers.db, turn)
    place = layers.raw.append(turn)
    seq = place.seq
    layers.facts.insert(seq, microseconds(turn.time), entry.facts)
    packed = None if entry.vectors is None else [pack(vector) for vector in entry.vectors]
    rows = layers.rows(turn, place, entry.facts, packed)
    for number, row in zip(layers.passages.assign(seq, len(rows)), rows, strict=True):
        layers.segments.insert(number, row)
    for kind in entry.jobs:
        layers.jobs.enqueue(kind, [seq])
    if packed is None:
        layers.jobs.enqueue("vector", [seq])
    return TurnStatus(turn.id, "readded" if was_forgotten(layers, turn.id) else "added"), seq


def _as_offered(layers: Layers, turn: Turn) -> int | None:
    """Return the sequence number of a turn that is still what it was; of a replaced one, facts would be false."""
    return layers.raw.find(turn.id) if layers.raw.digest_of(turn.id) == digest(turn) else None


def _set_vectors(layers: Layers, seq: int, vectors: Vectors) -> None:
    """Store the vectors of a turn's passages; skip a turn that was split anew since they were asked for."""
    rows = layers.passages.of([seq]).get(seq)
    if rows is not None and len(vectors) == rows.count:
        for row, vector in zip(rows, vectors, strict=True):
            layers.segments.set_vector(row, pack(vector))


def _link(layers: Layers, written: Sequence[tuple[int, Entry]], *, now: bool = False) -> bool:
    """Link the facts of these turns to similar ones, or queue that where the memory is large or vectors are missing.

    Return what `EdgeGraph.link` does.
    """
    linkable = [(seq, entry) for seq, entry in written if entry.facts]
    embedded = all(entry.fact_vectors is not None for _, entry in linkable)
    if not linkable:
        return False
    if not embedded or (not now and layers.edges.more_than(LINK_NOW)):
        layers.jobs.enqueue("link", [seq for seq, _ in linkable])
        return False
    rows = layers.facts.rows([fact.id for _, entry in linkable for fact in entry.facts])
    vectors = np.concatenate([entry.fact_vectors for _, entry in linkable])
    return layers.edges.link(rows, vectors, threshold(layers.meta("embedder") or ""))


def _erase(handle: StoreHandle, act: Callable[[Erasure], bool]) -> EraseReport:
    erasure = _erasure(handle.layers)
    handle.note_erasure(finished=False)  # until the report: after an interrupt in between, the next commit finishes it
    with handle.writing():
        if changed := act(erasure):
            # Before the commit: after a crash between the two, nothing would delete the forgotten vectors.
            handle.ann.drop()
    if changed:
        handle.drop_caches()
        handle.save_mark()
    report = erasure.report()
    handle.note_erasure(finished=report.status == "erased")
    return report
