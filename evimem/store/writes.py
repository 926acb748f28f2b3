"""What changes a store's turns and jobs. Each function is one transaction: it is kept whole or not at all.

Long work, `write` and `settle`, is a part of what it is given, so that whoever waits to write soon can. Its callers go
on with the rest, in a transaction of its own.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from dataclasses import replace as change
from datetime import datetime
from itertools import accumulate, chain
from pathlib import Path
from typing import TypeAlias

import numpy as np

from ..db.dialect import Query
from ..db.fact_sql import asking_newest, vectors_reach
from ..db.index_sql import SEALED
from ..db.place_sql import ANY_FORGOTTEN
from ..db.tables import Tables
from ..errors import TurnConflict
from ..index.corpus import Interval
from ..index.document import Document, found_by
from ..index.fact_table import StatedFacts
from ..raw import MemoryClock, instant, is_same
from ..raw.turn_log import asked_to_store, asking_held
from ..types.attempt import Attempt
from ..types.reports import AddReport, EraseReport, TurnOutcome, TurnStatus
from ..types.stored import Continuation, Entry, Job, JobKind, Listing, Settled
from ..types.trace import Trace
from ..types.values import Where
from ..types.vectors import pack
from . import sequence
from .erase import Erasure
from .handle import Held, StoreHandle
from .layers import SETTING, Layers, TurnToIndex, events
from .reads import jobs_of
from .rebuild import derive_segment, kept_vectors, set_events
from .trace_table import insert_trace

# Up to so many facts with a vector, new facts are linked when they are written. Linking compares each with all
# others, so that beyond this it would hold up `add`, and is queued for enrich() instead.
LINK_NOW = 4_096
Found: TypeAlias = dict[int, Attempt[tuple[Document, ...]]]  # what turns are found by, by the identity of their entry
AT_ONCE = 256  # turns that a transaction stores, in some hundredths of a second; one call stores no more
CHARACTERS_AT_ONCE = 1 << 18  # of their texts together
AWAITED_AT_ONCE = 32  # turns, where somebody else waits to write
AT_LEAST = 4  # turns that it does in any case: a message with its reply is one commit on a slow disk too
READ_AT_ONCE = 16  # turns whose facts are linked together; each set of "terms" derives its segments once: all of it
REPLACED_AT_ONCE = 32  # turns in a transaction that may replace some: each has the log purged, in as much time as ten


def write(
    handle: StoreHandle,
    entries: Sequence[Entry],
    *,
    strict: bool = False,
    replace: bool = False,
    gone: Sequence[str] = (),
) -> AddReport:
    """See `Store.write`."""
    layers, given = handle.layers, len(entries)
    if replace:  # of several versions of a turn in one call, the last counts
        last = {entry.turn.id: entry for entry in entries}
        entries = [last[entry.turn.id] for entry in entries]
    if not gone:
        entries = entries[: _at_once(handle.db, entries, REPLACED_AT_ONCE if replace else AT_ONCE)]
    found = _found_by(entries)
    erasure = Erasure(layers, LINK_NOW)
    with handle.writing(*_asking(layers, entries)):
        stale = _stale(layers, entries) if replace else {}
        left = list(layers.raw.known(gone).values())
        if erased := [*stale.values(), *left]:
            handle.note_erasure(finished=False)  # as in `_erase`
            erasure.replaced(erased)
        statuses, stored = _write_all(layers, entries, found, frozenset(stale), strict=strict)
        if erased:
            erasure.taken({stale[entry.turn.id]: seq for seq, entry in stored.turns if entry.turn.id in stale})
            handle.ann.drop()  # as in `_erase`
        _derive(layers, stored)
    if erased:
        statuses = _purged(handle, erasure, statuses)
    report = _report(handle, statuses, stored, len(left))
    if len(statuses) < given:
        handle.db.give_way()
    return report


def _asking(layers: Layers, entries: Sequence[Entry]) -> list[Query]:
    """Return what is asked to store turns, before anything is written."""
    others = (layers.db.asking_meta("clock"), ANY_FORGOTTEN, layers.passages.asking(), SEALED)
    return [*asked_to_store(layers.raw, layers.db, [entry.turn for entry in entries]), *others]


def _found_by(entries: Sequence[Entry]) -> Found:
    """Return what turns are found by that are new: derived before others have to wait."""
    return {
        id(entry): found_by(entry.turn) for entry in entries if entry.jobs or entry.facts or entry.vectors is not None
    }


def _at_once(db: Tables, entries: Sequence[Entry], most: int) -> int:
    """Return how many turns to store in one transaction: as many as others can wait for."""
    if len(entries) > AWAITED_AT_ONCE and db.is_awaited():
        most = AWAITED_AT_ONCE
    sizes = accumulate(len(entry.turn.text) for entry in entries[:most])
    return max(AT_LEAST, sum(size <= CHARACTERS_AT_ONCE for size in sizes))


def continue_session(handle: StoreHandle, more: Continuation) -> tuple[AddReport, tuple[str, int]] | None:
    """Store what continues a session in one transaction; None, and nothing stored, where it changed meanwhile.

    Return the report, and the state of the session from then on.
    """
    layers, found = handle.layers, _found_by(more.entries)
    with handle.writing(*_asking(layers, more.entries), *sequence.asking_state(layers, more.session)):
        if sequence.state(layers, more.session) != more.state:
            return None
        statuses, stored = _write_all(layers, more.entries, found, frozenset(), strict=more.strict)
        again = {more.again[entry.turn.id]: seq for seq, entry in stored.turns if entry.turn.id in more.again}
        sequence.fill(layers, more.session, again)
        sequence.keep_calls(layers, more.session, more.calls)
        _derive(layers, stored)
        if not stored.turns:
            layers.count_commit()
    dealt, last = more.state
    return _report(handle, statuses, stored), (dealt, max((seq for seq, _ in stored.turns), default=last))


@dataclass(frozen=True, slots=True)
class _Stored:
    """New turns with their numbers, and the kinds of jobs that each waits for."""

    turns: list[tuple[int, Entry]]
    waits: dict[int, set[JobKind]]


def _derive(layers: Layers, stored: _Stored) -> None:
    """Link what a transaction has stored."""
    if stored.turns:
        linked = _link(layers, stored.turns)
        layers.jobs.fail("link", linked.failed)
        for seq in (*linked.queued, *linked.failed):
            stored.waits[seq].add("link")
        layers.count_commit()


def _report(handle: StoreHandle, statuses: Sequence[TurnStatus], stored: _Stored, erased: int = 0) -> AddReport:
    if stored.turns:
        handle.after_commit()
    pending = {entry.turn.id: tuple(sorted(stored.waits[seq])) for seq, entry in stored.turns}
    facts = sum(len(entry.facts) for _, entry in stored.turns)
    return AddReport.of([change(one, pending=pending.get(one.id, ())) for one in statuses], facts, erased)


def _write_all(
    layers: Layers,
    entries: Sequence[Entry],
    found: Found,
    stale: frozenset[str],
    *,
    strict: bool,
) -> tuple[list[TurnStatus], _Stored]:
    """Store turns; return what became of each, and which are new.

    One of a stale id is a replacement. With `strict`, raise for one that would be refused, before the first is stored.
    """
    statuses: list[TurnStatus] = []
    clock, new = MemoryClock(layers.db), dict[str, int]()
    again = sequence.forgotten_among(layers, [entry.turn.id for entry in entries])
    for at, (entry, kept) in enumerate(zip(entries, layers.raw.holds([one.turn for one in entries]), strict=True)):
        turn, held = entry.turn, kept
        if held is None and turn.id in new:
            held = is_same(turn, entries[new[turn.id]].turn)
        error = clock.refusal(turn) if held is None else None if held else TurnConflict(turn.id)
        if error is not None and strict:
            raise error
        if error is not None or held:
            outcome: TurnOutcome = "exists" if error is None else "refused"
            statuses.append(TurnStatus(turn.id, outcome, None if error is None else str(error)))
            continue
        new[turn.id] = at
        new_again: TurnOutcome = "readded" if turn.id in again else "added"
        statuses.append(TurnStatus(turn.id, "replaced" if turn.id in stale else new_again))
    clock.keep()
    fresh = [entries[at] for at in new.values()]  # one that was there a moment ago is derived now
    return statuses, _store(layers, [(entry, found.get(id(entry)) or found_by(entry.turn)) for entry in fresh])


def _store(layers: Layers, new: Sequence[tuple[Entry, Attempt[tuple[Document, ...]]]]) -> _Stored:
    """Store new turns with all that is known of them."""
    places = layers.raw.append([entry.turn for entry, _ in new])
    stated = [
        StatedFacts(place.seq, instant(entry.turn.time), entry.facts)
        for place, (entry, _) in zip(places, new, strict=True) if entry.facts
    ]  # fmt: skip
    failed: dict[JobKind, dict[int, str]] = defaultdict(dict)
    errors = layers.derive(layers.facts.insert, stated)
    failed["facts"] = {one.seq: why for one, why in zip(stated, errors, strict=True) if why}
    queued: dict[JobKind, list[int]] = defaultdict(list)
    written, indexed = list[tuple[int, Entry]](), list[TurnToIndex]()
    for place, (entry, found) in zip(places, new, strict=True):
        kept = change(entry, facts=()) if place.seq in failed["facts"] else entry
        vectors = None if entry.vectors is None else [pack(vector) for vector in entry.vectors]
        written.append((place.seq, kept))
        indexed.append(TurnToIndex(entry.turn, place, found, kept.facts, vectors))
        for kind in (*entry.jobs, *(("vector",) if vectors is None else ())):
            queued[kind].append(place.seq)
        for kind, why in (*entry.failed, *((("terms", found.error),) if found.error else ())):
            failed[kind][place.seq] = why
    rows = [one.value for one in layers.rows(indexed)]
    given = layers.passages.assign([(place.seq, len(some)) for place, some in zip(places, rows, strict=True)])
    numbered = (zip(numbers, some, strict=True) for numbers, some in zip(given, rows, strict=True))
    layers.segments.insert(dict(chain.from_iterable(numbered)))
    if given:
        layers.segments.seal(given[-1].last)
    stored = _Stored(written, {seq: set() for seq, _ in written})
    for kind, seqs in queued.items():
        layers.jobs.enqueue(kind, seqs)
    for kind, whys in failed.items():
        layers.jobs.fail(kind, whys)
    for kind, some in (*queued.items(), *failed.items()):
        for seq in some:
            stored.waits[seq].add(kind)
    return stored


def _stale(layers: Layers, entries: Sequence[Entry]) -> dict[str, int]:
    """Return the sequence numbers, by id, of stored turns that these replace: no one that then would be refused."""
    clock, turns = MemoryClock(layers.db), [entry.turn for entry in entries]
    held = zip(turns, layers.raw.holds(turns), strict=True)
    return layers.raw.known(turn.id for turn, same in held if same is False and clock.admits(turn))


def _purged(handle: StoreHandle, erasure: Erasure, statuses: Sequence[TurnStatus]) -> list[TurnStatus]:
    """Purge the bytes of replaced turns after the commit; while a reader holds them, the statuses say so."""
    handle.drop_caches()
    handle.save_mark()
    report = erasure.report()
    handle.note_erasure(finished=report.status == "erased")
    return [change(one, reason=report.reason) if one.outcome == "replaced" else one for one in statuses]


def settle(handle: StoreHandle, kind: JobKind, entries: Sequence[Entry]) -> Settled:
    """See `Store.settle`; turns that were forgotten or replaced since they were offered are skipped.

    Facts by rule are not synced to disk: after a power cut their jobs are queued again, and they are read again.
    """
    layers, read_again = handle.layers, kind == "facts"
    read_at_once = AT_ONCE if handle.db.far else READ_AT_ONCE  # where each step is waited for
    step = {"vector": AT_ONCE, "terms": len(entries), "facts": read_at_once}.get(kind, AT_LEAST)
    with handle.writing(*_asking_to_settle(layers, kind, entries[:step]), durably=not read_again):
        held, done, relinked, known = Held(handle.db), 0, False, _Read()
        while done < len(entries) and not (done and held.long_enough()):
            relinked |= _settle_some(layers, kind, entries[done : done + step], known)
            done += step
        set_events(layers, known.happens, known.turns)
        rewrote = kind in {"vector", "terms"} or known.replaced
        layers.count_commit(rewrote=rewrote, relinked=relinked, durable=not read_again)
    if not read_again:
        handle.after_commit()
    if done < len(entries):
        handle.db.give_way()
    return Settled(min(done, len(entries)), known.failed)


def _asking_to_settle(layers: Layers, kind: JobKind, entries: Sequence[Entry]) -> list[Query]:
    """Return what the results of jobs are stored by, before anything is written."""

    def asked(met: list[int]) -> list[Query]:
        db, facts, given = layers.db, layers.facts, list(dict.fromkeys(met))
        others = (db.numbering("fact"), vectors_reach(LINK_NOW), asking_newest("fact_vector", "row"))
        of_turns = (layers.jobs.asking_waits(kind, given), facts.asking_turns(given), facts.asking_of_a_model(given))
        of_rows = (layers.passages.asking_of(given), db.asking_meta("embedder"), SEALED)
        return [asking_held(db, [entry.turn for entry in entries]), *of_turns, *of_rows, *others]

    return layers.raw.seen.asking([entry.turn.id for entry in entries], asked)


def _settle_some(layers: Layers, kind: JobKind, entries: Sequence[Entry], read: _Read) -> bool:
    """Store the results of jobs; return whether facts older than the newest linked one got vectors."""
    layers.db.ahead(*_asking_to_settle(layers, kind, entries))
    turns = [entry.turn for entry in entries]
    as_offered = zip(turns, layers.raw.holds(turns), strict=True)  # of a replaced turn, facts would be false
    offered = layers.raw.known(turn.id for turn, same in as_offered if same)
    known = [(offered[entry.turn.id], entry) for entry in entries if entry.turn.id in offered]
    read.turns += (seq for seq, _ in known)
    if kind == "facts":  # what another process has read meanwhile is read
        seqs = [seq for seq, _ in known]
        left, done = set(layers.jobs.waits(kind, seqs)), layers.facts.read_by_a_model(seqs)
        unread = ((seq, entry) for seq, entry in known if seq in left)
        known = [(seq, change(entry, facts=(), fact_vectors=None) if seq in done else entry) for seq, entry in unread]
    failed = {seq: why for seq, entry in known for failing, why in entry.failed if failing == kind}
    if kind == "vector":
        _set_vectors(layers, known)
    elif kind in {"extract", "facts"}:
        found = [(seq, entry) for seq, entry in known if seq not in failed]
        errors = layers.derive(lambda some: _settle_facts(layers, kind, some, read), found)
        failed |= {seq: why for (seq, _), why in zip(found, errors, strict=True) if why}
    known = [(seq, entry) for seq, entry in known if seq not in failed]
    linked = _Linked() if kind in {"vector", "terms"} else _link(layers, known, now=kind == "link")
    again = linked.failed if kind == "link" else {}
    layers.jobs.complete(kind, [seq for seq, _ in known if seq not in again])
    if kind == "facts" and read.before:  # which may have waited for it
        layers.jobs.complete("link", linked.done)
    if kind == "terms":  # no longer queued for it, so that they are read
        rows = layers.passages.of([seq for seq, _ in known])
        for number in sorted({(row - 1) // layers.segments.size for some in rows.values() for row in some}):
            derive_segment(layers, number, kept_vectors(layers, number))
    layers.jobs.fail("link", linked.failed)
    layers.jobs.fail(kind, failed)
    read.failed += len(failed)
    return linked.late


@dataclass(slots=True)
class _Read:
    """What one transaction reads: which turns, how many in vain, the times of facts, and whether known ones leave."""

    turns: list[int] = field(default_factory=list)
    before: set[int] = field(default_factory=set)  # those that had facts
    failed: int = 0
    happens: dict[int, Sequence[Interval]] = field(default_factory=dict)
    replaced: bool = False


def _settle_facts(layers: Layers, kind: JobKind, found: Sequence[tuple[int, Entry]], read: _Read) -> None:
    """Store the facts of turns that an extractor finds in them now."""
    stated = [StatedFacts(seq, instant(entry.turn.time), entry.facts, entry.extractor) for seq, entry in found]
    before = layers.facts.turns_among([seq for seq, _ in found])
    read.before |= before
    outdated = layers.facts.outdated(stated) if before else []
    if outdated:
        read.replaced = True
        neighbours = layers.edges.erase(layers.facts.rows(outdated))  # an edge or vector holds the facts that leave
        layers.edges.relink(neighbours, layers.min_cosine)
    layers.facts.exchange(outdated, stated, before)
    fresh = {one.seq: sorted(one.facts, key=lambda fact: fact.span[0]) for one in stated if one.seq not in before}
    kept = layers.facts.of_turns([*before]) if before else {}
    read.happens |= {seq: times for seq, facts in fresh.items() if (times := events(facts))}
    read.happens |= {seq: events(facts) for seq, facts in kept.items()}


def enqueue_missing(handle: StoreHandle, kind: JobKind) -> None:
    """Queue a job for each turn that never had one of this kind."""
    if handle.layers.jobs.missing(kind):
        with handle.writing():
            handle.layers.jobs.enqueue(kind, handle.layers.jobs.missing(kind))
            handle.layers.count_commit()


def hold(handle: StoreHandle, kind: JobKind, turn_ids: Sequence[str], reason: str, seconds: float) -> None:
    """See `Store.hold`."""
    layers = handle.layers
    with handle.writing():
        layers.jobs.hold(kind, layers.raw.known(turn_ids).values(), reason, seconds)
        layers.count_commit()


def lease(handle: StoreHandle, kind: JobKind, limit: int, seconds: float) -> tuple[Job, ...]:
    """Return jobs as `due` does, and offer them to nobody else for so many seconds."""
    layers = handle.layers
    with handle.writing():
        jobs = jobs_of(layers, layers.jobs.lease(kind, limit, seconds))
        layers.count_commit()
    return jobs


def release(handle: StoreHandle, kind: JobKind, turn_ids: Sequence[str]) -> None:
    """Offer the jobs of these turns again that this process leased and neither finished nor put off."""
    layers = handle.layers
    with handle.writing():
        layers.jobs.release(kind, layers.raw.known(turn_ids).values())
        layers.count_commit()


def retry_now(handle: StoreHandle) -> None:
    """Make every job that was put off after a failure, or given up, due now."""
    with handle.writing():
        handle.layers.jobs.retry_now()
        handle.layers.count_commit()


def postpone(handle: StoreHandle, kind: JobKind, failures: Mapping[str, tuple[str, float | None]]) -> None:
    """See `Store.postpone`."""
    layers = handle.layers
    with handle.writing():
        known = layers.raw.known(failures)
        layers.jobs.postpone(kind, {seq: failures[turn_id] for turn_id, seq in known.items()})
        layers.count_commit()


def keep_setting(handle: StoreHandle, name: str, value: str | None) -> None:
    """See `Store.keep_setting`."""
    with handle.writing():
        if value is None:
            handle.db.drop_meta(SETTING + name)
        else:
            handle.db.set_meta(SETTING + name, value)
        handle.layers.count_commit()
    handle.after_commit()


def keep_trace(handle: StoreHandle, trace: Trace) -> int:
    """Keep a trace, and drop the oldest of many; return its number.

    Raise UnknownTurn or TraceMismatch where a turn that it quotes is not there, or says something else.
    """
    with handle.writing():
        handle.layers.count_commit()
        return insert_trace(handle.layers, trace)


def forget(handle: StoreHandle, turn_ids: Sequence[str]) -> EraseReport:
    """See `Store.forget`."""
    layers = handle.layers

    def act(erasure: Erasure) -> bool:
        # What is forgotten already is no error: a call whose reply was lost may be repeated.
        known = layers.raw.known(turn_ids)
        gone = sequence.forgotten_among(layers, [one for one in turn_ids if one not in known])
        return erasure.turns(layers.raw.seqs([one for one in turn_ids if one not in gone]))

    return _erase(handle, act)


def forget_where(
    handle: StoreHandle,
    *,
    session: str | None = None,
    before: datetime | None = None,
    speaker: str | None = None,
    where: Where | None = None,
    as_in: Path | None = None,
) -> EraseReport:
    """See `Store.forget_where`."""
    listing = Listing(session, speaker, before=before, where=where)
    return _erase(handle, lambda erasure: erasure.where(listing, as_in))


def _set_vectors(layers: Layers, known: Sequence[tuple[int, Entry]]) -> None:
    """Store the vectors of turns' passages; skip a turn that was split anew since they were asked for."""
    rows = layers.passages.of([seq for seq, _ in known])
    split = ((rows[seq], entry.vectors) for seq, entry in known if seq in rows)
    whole = ((numbers, some) for numbers, some in split if numbers.count == len(some))
    vectors = {row: pack(vector) for numbers, some in whole for row, vector in zip(numbers, some, strict=True)}
    layers.segments.set_vectors(vectors)


@dataclass(frozen=True, slots=True)
class _Linked:
    """`late` is what `EdgeGraph.link` returns; of some turns linking is `done`, of some it `failed` or is `queued`."""

    late: bool = False
    failed: Mapping[int, str] = field(default_factory=dict)
    queued: Sequence[int] = ()
    done: Sequence[int] = ()


def _link(layers: Layers, written: Sequence[tuple[int, Entry]], *, now: bool = False) -> _Linked:
    """Link the facts of these turns to similar ones, or queue that where the memory is large or vectors are missing."""
    linkable = {seq: entry for seq, entry in written if entry.facts}
    wait = not now and bool(linkable) and layers.edges.more_than(LINK_NOW)
    ready = {seq: entry for seq, entry in linkable.items() if entry.fact_vectors is not None and not wait}
    queued, late = [seq for seq in linkable if seq not in ready], list[bool]()
    layers.jobs.enqueue("link", queued)
    errors = layers.derive(lambda entries: late.append(_link_all(layers, entries)), list(ready.values()))
    failed = {seq: why for seq, why in zip(ready, errors, strict=True) if why}
    return _Linked(any(late), failed, queued, [seq for seq in ready if seq not in failed])


def _link_all(layers: Layers, entries: Sequence[Entry]) -> bool:
    rows = layers.facts.rows([fact.id for entry in entries for fact in entry.facts])
    vectors = np.concatenate([entry.fact_vectors for entry in entries])
    try:
        return layers.edges.link(rows, vectors, layers.min_cosine)
    except BaseException:
        layers.edges.drop_cache()  # what is undone in the file is not in memory
        raise


def _erase(handle: StoreHandle, act: Callable[[Erasure], bool]) -> EraseReport:
    erasure = Erasure(handle.layers, LINK_NOW)
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
