"""What changes a store's turns and jobs. Each function is one transaction: it is kept whole or not at all.

Long work, `write` and `settle`, is a part of what it is given, so that whoever waits to write soon can. Its callers go
on with the rest, in a transaction of its own.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from dataclasses import replace as change
from pathlib import Path
from typing import get_args

import numpy as np

from ..db.connection import Connection
from ..edges import threshold
from ..embedding.quantize import pack
from ..errors import InvalidTurn, TurnConflict
from ..index.corpus import Interval
from ..index.prepared_query import microseconds
from ..raw import check_clock, digest, is_of_clock
from ..types.reports import AddReport, EraseReport, TurnStatus
from ..types.stored import Continuation, Entry, Job, JobKind, Listing
from ..types.values import Turn
from ..types.vectors import Vectors
from . import sequence
from .erase import Erasure
from .forgotten_ids import was_forgotten
from .handle import StoreHandle
from .layers import Layers, events
from .reads import jobs_of
from .rebuild import derive_segment, kept_vectors

# Up to so many facts with a vector, new facts are linked when they are written. Linking compares each with all
# others, so that beyond this it would hold up `add`, and is queued for enrich() instead.
LINK_NOW = 4_096
HELD_SECONDS = 0.02  # after so long, a transaction begins no more of a long work if another waits to write
MOST_HELD = 0.08  # or if none does: what follows from the turns written takes as long again, and nobody can cut in
AT_LEAST = 4  # turns that it does in any case: a message with its reply is one commit on a slow disk too
READ_AT_ONCE = 16  # turns whose facts are linked together; each set of "terms" derives its segments once: all of it
REPLACED_AT_ONCE = 32  # turns in a transaction that may replace some: each has the log purged, in as much time as ten


class _Held:
    """How long a transaction holds the write lock: until somebody waits for it, looked at now and then, or too long."""

    def __init__(self, db: Connection) -> None:
        self._db = db
        self._look_at = time.monotonic() + HELD_SECONDS
        self._until = time.monotonic() + MOST_HELD

    def long_enough(self) -> bool:
        """Return whether to begin no more."""
        now = time.monotonic()
        if now < self._look_at:
            return False
        self._look_at = now + HELD_SECONDS
        return now > self._until or self._db.is_awaited()


def write(
    handle: StoreHandle,
    entries: Sequence[Entry],
    *,
    strict: bool = False,
    replace: bool = False,
    gone: Sequence[str] = (),
) -> AddReport:
    """See `Store.write`."""
    layers = handle.layers
    erasure = _erasure(layers)
    with handle.writing():
        held: _Held | None = _Held(handle.db)
        given = len(entries)
        if replace:  # of several versions of a turn in one call, the last counts
            last = {entry.turn.id: entry for entry in entries}
            entries = [last[entry.turn.id] for entry in entries]
        if replace or gone:
            held, entries = None, entries if gone else entries[:REPLACED_AT_ONCE]
        stale = _stale(layers, entries) if replace else {}
        left = [seq for one in gone if (seq := layers.raw.find(one)) is not None]
        if erased := [*stale.values(), *left]:
            handle.note_erasure(finished=False)  # as in `_erase`
            erasure.replaced(erased)
        statuses, written = _write_some(layers, entries, frozenset(stale), held, strict=strict)
        if erased:
            erasure.taken({stale[entry.turn.id]: seq for seq, entry in written if entry.turn.id in stale})
            handle.ann.drop()  # as in `_erase`
        if written:
            _derive(layers, written)
    if erased:
        statuses = _purged(handle, erasure, statuses)
    report = _report(handle, statuses, written, len(left))
    if len(statuses) < given:
        handle.db.give_way()
    return report


def continue_session(handle: StoreHandle, more: Continuation) -> tuple[AddReport, tuple[str, int]] | None:
    """Store what continues a session; return the report and the session's new state.

    Return None, and store nothing, where the session is no longer in the state in which its past was read.
    """
    layers = handle.layers
    with handle.writing():
        if sequence.state(layers, more.session) != more.state:
            return None
        statuses, written = _write_some(layers, more.entries, frozenset(), None, strict=more.strict)
        for seq, entry in written:
            if entry.turn.id in more.again:
                sequence.fill(layers, more.session, more.again[entry.turn.id], seq)
        sequence.keep_calls(layers, more.session, more.calls)
        if written:
            _derive(layers, written)
        else:
            layers.count_commit()
        state = sequence.state(layers, more.session)
    return _report(handle, statuses, written), state


def _derive(layers: Layers, written: Sequence[tuple[int, Entry]]) -> None:
    """Link and seal what a transaction has stored."""
    _fail(layers, "link", _link(layers, written).failed)
    layers.segments.seal(layers.passages.high_water)
    layers.count_commit()


def _report(
    handle: StoreHandle, statuses: Sequence[TurnStatus], written: Sequence[tuple[int, Entry]], erased: int = 0
) -> AddReport:
    if written:
        handle.after_commit()
    jobs = handle.layers.jobs
    pending = {entry.turn.id: jobs.open_kinds(seq) for seq, entry in written} if jobs.any_open() else {}
    facts = sum(len(entry.facts) for _, entry in written)
    return AddReport.of([change(one, pending=pending.get(one.id, ())) for one in statuses], facts, erased)


def _check(layers: Layers, turns: Sequence[Turn]) -> None:
    """Raise TurnConflict or InvalidTurn for the first turn that would be refused, also for another of the same call."""
    given: dict[str, bytes] = {}
    for turn in turns:
        held, own = layers.raw.holds(turn), digest(turn)
        if held is False or given.setdefault(turn.id, own) != own:
            raise TurnConflict(turn.id)
        if held is None:
            check_clock(layers.db, turn)


def _write_some(
    layers: Layers, entries: Sequence[Entry], stale: frozenset[str], held: _Held | None, *, strict: bool
) -> tuple[list[TurnStatus], list[tuple[int, Entry]]]:
    """Store turns one by one, so many as there is time for; return what became of each, and which are new.

    One of a stale id is a replacement. With `strict`, raise for one that would be refused, before the first is stored.
    """
    if strict:
        _check(layers, [entry.turn for entry in entries])
    statuses: list[TurnStatus] = []
    written: list[tuple[int, Entry]] = []
    for entry in entries:
        if held is not None and len(statuses) >= AT_LEAST and held.long_enough():
            break
        try:
            status, new = _write_one(layers, entry)
        except (TurnConflict, InvalidTurn) as error:
            status, new = TurnStatus(entry.turn.id, "refused", str(error)), None
        if new is not None:
            written.append(new)
            status = change(status, outcome="replaced") if entry.turn.id in stale else status
        statuses.append(status)
    return statuses, written


def _stale(layers: Layers, entries: Sequence[Entry]) -> dict[str, int]:
    """Return the sequence numbers, by id, of stored turns that these replace: no one that then would be refused."""
    found: dict[str, int] = {}
    for turn in (entry.turn for entry in entries):
        if layers.raw.holds(turn) is False and is_of_clock(layers.db, turn):
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
    """See `Store.settle`; turns that were forgotten or replaced since they were offered are skipped.

    Facts by rule are not synced to disk: after a power cut their jobs are queued again, and they are read again.
    """
    layers, read_again = handle.layers, kind == "facts"
    with handle.writing(durably=not read_again):
        held, done, relinked, known = _Held(handle.db), 0, False, _Read()
        step = {"terms": len(entries), "facts": READ_AT_ONCE}.get(kind, AT_LEAST)
        while done < len(entries) and not (done and held.long_enough()):
            relinked |= _settle_some(layers, kind, entries[done : done + step], known)
            done += step
        _set_events(layers, known.happens)
        rewrote = kind in {"vector", "terms"} or known.replaced
        layers.count_commit(rewrote=rewrote, relinked=relinked, durable=not read_again)
    if not read_again:
        handle.after_commit()
    if done < len(entries):
        handle.db.give_way()
    return min(done, len(entries))


def _settle_some(layers: Layers, kind: JobKind, entries: Sequence[Entry], read: _Read) -> bool:
    """Store the results of jobs; return whether facts older than the newest linked one got vectors."""
    known = [(seq, entry) for entry in entries if (seq := _as_offered(layers, entry.turn)) is not None]
    if kind == "facts":  # what another process has read meanwhile is read
        left = set(layers.jobs.waits(kind, [seq for seq, _ in known]))
        known = [(seq, entry) for seq, entry in known if seq in left]
    failed: dict[int, str] = {}
    for seq, entry in known:
        if kind == "vector":
            _set_vectors(layers, seq, entry.vectors)
        elif kind in {"extract", "facts"}:
            error = dict(entry.failed).get(kind) or layers.derive(_settle_facts, layers, kind, seq, entry, read)
            failed |= {seq: error} if error else {}
    known = [(seq, entry) for seq, entry in known if seq not in failed]
    linked = _Linked() if kind in {"vector", "terms"} else _link(layers, known, now=kind == "link")
    again = linked.failed if kind == "link" else {}
    layers.jobs.complete(kind, [seq for seq, _ in known if seq not in again])
    if kind == "terms":  # no longer queued for it, so that they are read
        _derive_terms(layers, [seq for seq, _ in known])
    _fail(layers, "link", linked.failed)
    _fail(layers, kind, failed)
    return linked.late


@dataclass(slots=True)
class _Read:
    """What one transaction reads: the times of facts by turn, and whether facts that searches know were replaced."""

    happens: dict[int, Sequence[Interval]] = field(default_factory=dict)
    replaced: bool = False


def _settle_facts(layers: Layers, kind: JobKind, seq: int, entry: Entry, read: _Read) -> None:
    """Store further facts of a turn or, of a job "facts", those that now are all that an extractor finds."""
    said, before = microseconds(entry.turn.time), layers.facts.rows_of([seq])
    outdated = layers.facts.outdated(seq, entry.facts, entry.extractor) if kind == "facts" and before else ()
    if outdated:
        read.replaced = True
        neighbours = layers.edges.erase(layers.facts.rows(outdated))  # an edge or vector holds the facts that leave
        layers.edges.relink(neighbours, threshold(layers.meta("embedder") or ""))
        layers.facts.reconcile(seq, said, entry.facts, entry.extractor)
    else:
        layers.facts.insert(seq, said, entry.facts)
    if before or any(fact.event for fact in entry.facts):
        read.happens[seq] = events(layers.facts.of_turns([seq])[seq])


def _set_events(layers: Layers, happens: Mapping[int, Sequence[Interval]]) -> None:
    rows = layers.passages.of(list(happens))
    layers.segments.set_events({row: happens[seq] for seq in happens for row in rows.get(seq, ())})


def _derive_terms(layers: Layers, seqs: Sequence[int]) -> None:
    rows = layers.passages.of(seqs)
    for number in sorted({(row - 1) // layers.segments.size for some in rows.values() for row in some}):
        derive_segment(layers, number, kept_vectors(layers, number))


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
    with handle.writing():
        for kind in get_args(JobKind):
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

    def act(erasure: Erasure) -> bool:
        # What is forgotten already is no error: a call whose reply was lost may be repeated.
        there = [one for one in turn_ids if layers.raw.find(one) is not None or not was_forgotten(layers, one)]
        return erasure.turns(layers.raw.seqs(there))

    return _erase(handle, act)


def forget_where(handle: StoreHandle, listing: Listing, as_in: Path | None) -> EraseReport:
    """Erase what a condition selects: see `Erasure.where`."""
    return _erase(handle, lambda erasure: erasure.where(listing, as_in))


def _write_one(layers: Layers, entry: Entry) -> tuple[TurnStatus, tuple[int, Entry] | None]:
    """Store one turn with all that is known of it; where it is new, return its number, and what was stored."""
    turn = entry.turn
    kept = layers.raw.holds(turn)
    if kept is not None:
        if not kept:
            raise TurnConflict(turn.id)
        return TurnStatus(turn.id, "exists"), None
    check_clock(layers.db, turn)
    place = layers.raw.append(turn)
    seq = place.seq
    said = microseconds(turn.time)
    unread = layers.derive(layers.facts.insert, seq, said, entry.facts) if entry.facts else None
    entry = change(entry, facts=()) if unread else entry
    packed = None if entry.vectors is None else [pack(vector) for vector in entry.vectors]
    read = layers.rows(turn, place, entry.facts, packed)
    for number, row in zip(layers.passages.assign(seq, len(read.value)), read.value, strict=True):
        layers.segments.insert(number, row)
    for kind in entry.jobs:
        layers.jobs.enqueue(kind, [seq])
    if packed is None:
        layers.jobs.enqueue("vector", [seq])
    derived: tuple[tuple[JobKind, str | None], ...] = (("facts", unread), ("terms", read.error), *entry.failed)
    for kind, error in derived:
        if error is not None:
            layers.jobs.fail(kind, seq, error)
    return TurnStatus(turn.id, "readded" if was_forgotten(layers, turn.id) else "added"), (seq, entry)


def _as_offered(layers: Layers, turn: Turn) -> int | None:
    """Return the sequence number of a turn that is still what it was; of a replaced one, facts would be false."""
    return layers.raw.find(turn.id) if layers.raw.holds(turn) else None


def _set_vectors(layers: Layers, seq: int, vectors: Vectors) -> None:
    """Store the vectors of a turn's passages; skip a turn that was split anew since they were asked for."""
    rows = layers.passages.of([seq]).get(seq)
    if rows is not None and len(vectors) == rows.count:
        for row, vector in zip(rows, vectors, strict=True):
            layers.segments.set_vector(row, pack(vector))


@dataclass(frozen=True, slots=True)
class _Linked:
    """`late` is what `EdgeGraph.link` returns; `failed` says of which turns linking raised what."""

    late: bool = False
    failed: Mapping[int, str] = field(default_factory=dict)


def _link(layers: Layers, written: Sequence[tuple[int, Entry]], *, now: bool = False) -> _Linked:
    """Link the facts of these turns to similar ones, or queue that where the memory is large or vectors are missing."""
    linkable = {seq: entry for seq, entry in written if entry.facts}
    wait = not now and bool(linkable) and layers.edges.more_than(LINK_NOW)
    ready = {seq: entry for seq, entry in linkable.items() if entry.fact_vectors is not None and not wait}
    layers.jobs.enqueue("link", [seq for seq in linkable if seq not in ready])
    return _linked(layers, ready) if ready else _Linked()


def _linked(layers: Layers, ready: Mapping[int, Entry]) -> _Linked:
    """Link all of these turns at once or, where that raises, each by itself."""
    late: list[bool] = []
    error = layers.derive(lambda: late.append(_link_all(layers, ready.values())))
    if error is None:
        return _Linked(any(late))
    layers.edges.drop_cache()
    if len(ready) == 1:
        return _Linked(failed=dict.fromkeys(ready, error))
    each = [_linked(layers, {seq: entry}) for seq, entry in ready.items()]
    return _Linked(any(one.late for one in each), {seq: why for one in each for seq, why in one.failed.items()})


def _link_all(layers: Layers, entries: Collection[Entry]) -> bool:
    rows = layers.facts.rows([fact.id for entry in entries for fact in entry.facts])
    vectors = np.concatenate([entry.fact_vectors for entry in entries])
    return layers.edges.link(rows, vectors, threshold(layers.meta("embedder") or ""))


def _fail(layers: Layers, kind: JobKind, failed: Mapping[int, str]) -> None:
    for seq, error in failed.items():
        layers.jobs.fail(kind, seq, error)


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
