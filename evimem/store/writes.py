"""The writes of turns and jobs. Each function is one transaction: it is kept whole or not at all.

Long work, `write` and `complete_jobs`, is done in part, so that a waiting writer soon can write. Its callers go
on with the rest, in a transaction of its own.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from dataclasses import replace as change
from functools import partial
from itertools import accumulate, chain
from typing import TypeAlias

import numpy as np

from ..db.derived_sql import count_sealed_segments
from ..db.tables import Tables
from ..errors import Attempt, StoreError, TraceMismatch, TurnConflict
from ..index.corpus import Interval, Stored
from ..index.document import Document, derive_documents
from ..index.fact_table import StatedFacts
from ..raw.turn_log import has_same_content
from ..raw.validate import MemoryClock
from ..types.results import AddReport, TurnOutcome, TurnStatus
from ..types.stored import Continuation, Entry, Job, JobKind, Settled
from ..types.trace import Found, Trace, version_of
from ..types.type_variables import T
from ..types.values import instant
from ..types.vectors import pack
from . import sequence
from .erase import open_erasure
from .handle import SETTING, StoreHandle, WriteBudget
from .reads import read_jobs
from .rebuild import (
    delete_traces,
    derive_segment,
    event_intervals,
    exchange_facts,
    make_index_rows,
    records_instructions,
    set_events,
)

Searched: TypeAlias = dict[int, Attempt[tuple[Document, ...]]]  # documents of turns, by identity of their entry
AT_ONCE = 256  # turns that a transaction stores, in some hundredths of a second; one call stores no more
AWAITED_AT_ONCE = 32  # turns, where somebody else waits to write
AT_LEAST = 4  # turns that it does in any case: a message with its reply is one commit on a slow disk too


def write(
    handle: StoreHandle,
    entries: Sequence[Entry],
    *,
    strict: bool = False,
    replace: bool = False,
    gone: Sequence[str] = (),
) -> AddReport:
    """See `Store.write`."""
    given = len(entries)
    if replace:  # of several versions of a turn in one call, the last counts
        last = {entry.turn.id: entry for entry in entries}
        entries = [last[entry.turn.id] for entry in entries]
    if not gone:
        # Replacing a turn purges the log, which takes as long as storing ten: 32 at a time.
        entries = entries[: _transaction_size(handle.db, entries, 32 if replace else AT_ONCE)]
    found = _derive_documents(entries)
    with open_erasure(handle, *_queries_to_prefetch(handle, entries)) as erasure:
        stale = _find_replaced_turns(handle, entries) if replace else {}
        left = list(handle.raw.seqs_of_known(gone).values())
        erasure.erase_replaced([*stale.values(), *left])
        statuses, fresh = _admit_entries(handle, entries, stale, strict=strict)
        stored = _store_turns(handle, fresh, found)
        erasure.record_replacements({stale[one.entry.turn.id]: one.seq for one in stored if one.entry.turn.id in stale})
    if erasure.began:  # while a reader holds the bytes of replaced turns, the statuses say so
        why = erasure.purge_and_report().reason
        statuses = [change(one, reason=why) if one.outcome == "replaced" else one for one in statuses]
    if len(statuses) < given:
        handle.db.yield_write_lock()
    return _make_add_report(statuses, stored, len(left))


def _queries_to_prefetch(handle: StoreHandle, entries: Sequence[Entry]) -> list[Callable[[], object]]:
    """Return the queries to prefetch for storing turns, before anything is written."""
    turns, raw, db = [entry.turn for entry in entries], handle.raw, handle.db
    return [
        lambda: raw.compare_with_stored(turns),
        lambda: raw.sessions.find_numbers(turn.session for turn in turns),
        lambda: raw.speakers.find_numbers(turn.speaker for turn in turns),
        *(partial(db.highest_number_given, table) for table in ("turn", "session", "speaker")),
        lambda: db.read_meta_value("clock"),
        lambda: sequence.has_forgotten_turns(handle),
        lambda: handle.passages.high_water,
        lambda: count_sealed_segments(db),
    ]


def _derive_documents(entries: Sequence[Entry]) -> Searched:
    """Return the documents of new turns, derived before the write lock is taken."""
    return {
        id(entry): derive_documents(entry.turn)
        for entry in entries
        if entry.jobs or entry.facts or entry.vectors is not None
    }


def _transaction_size(db: Tables, entries: Sequence[Entry], most: int) -> int:
    """Return how many turns to store in one transaction: as many as keep other writers waiting only briefly."""
    if len(entries) > AWAITED_AT_ONCE and db.has_waiting_writer():
        most = AWAITED_AT_ONCE
    sizes = accumulate(len(entry.turn.text) for entry in entries[:most])
    # The texts together have at most 2**18 characters.
    return max(AT_LEAST, sum(size <= (1 << 18) for size in sizes))


def continue_session(handle: StoreHandle, more: Continuation) -> tuple[AddReport, tuple[str, int]] | None:
    """Store the continuation of a session in one transaction; None, and nothing stored, where it changed meanwhile.

    Return the report, and the state of the session from then on.
    """
    found = _derive_documents(more.entries)
    changed = [entry for entry in more.entries if entry.turn.id in more.replaced]
    with open_erasure(
        handle, *_queries_to_prefetch(handle, more.entries), partial(sequence.session_state, handle, more.session)
    ) as erasure:
        if sequence.session_state(handle, more.session) != more.state:
            return None
        stale = _find_replaced_turns(handle, changed) if changed else {}
        erasure.erase_replaced([*stale.values()])
        statuses, fresh = _admit_entries(handle, more.entries, stale, strict=more.strict)
        stored = _store_turns(handle, fresh, found)
        erasure.record_replacements({stale[one.entry.turn.id]: one.seq for one in stored if one.entry.turn.id in stale})
        again = {more.again[one.entry.turn.id]: one.seq for one in stored if one.entry.turn.id in more.again}
        sequence.fill_open_places(handle, more.session, again)
        sequence.write_call_history(handle, more.session, more.calls)
        if not stored:
            handle.count_commit()
        # Without an erasure it is known: asking a server for it would be one more wait.
        newest = max((more.state[1], *(one.seq for one in stored)))
        state = sequence.session_state(handle, more.session) if erasure.began else (more.state[0], newest)
    if erasure.began:  # while a reader holds the bytes of replaced turns, the statuses say so
        why = erasure.purge_and_report().reason
        statuses = [change(one, reason=why) if one.outcome == "replaced" else one for one in statuses]
    return _make_add_report(statuses, stored), state


@dataclass(frozen=True, slots=True)
class _Stored:
    """A new turn with its number, its stored rows, and the kinds of jobs that it waits for."""

    seq: int
    entry: Entry
    waits: Sequence[JobKind]


def _make_add_report(statuses: Sequence[TurnStatus], stored: Sequence[_Stored], erased: int = 0) -> AddReport:
    pending = {one.entry.turn.id: tuple(one.waits) for one in stored}
    facts = sum(len(one.entry.facts) for one in stored)
    return AddReport.of([change(one, pending=pending.get(one.id, ())) for one in statuses], facts, erased)


def _write_each_safely(
    handle: StoreHandle, write: Callable[[Sequence[T]], object], given: Sequence[T]
) -> list[str | None]:
    """Write the derived rows of several turns, as parts of a transaction; return, for each, the type of its error.

    All is written at once or, where that raises, each by itself: a turn that raises is undone alone, and the turn is
    stored all the same. Errors of the file pass.
    """
    try:
        if given:
            with handle.db.savepoint():
                write(given)
    except StoreError:
        raise
    except Exception as error:  # noqa: BLE001 - the turn is stored all the same
        if len(given) == 1:
            return [type(error).__name__]
        return [why for one in given for why in _write_each_safely(handle, write, [one])]
    return [None] * len(given)


def _admit_entries(
    handle: StoreHandle, entries: Sequence[Entry], replaced_seqs: Mapping[str, int], *, strict: bool
) -> tuple[list[TurnStatus], list[Entry]]:
    """Return the outcome of each turn, and those to store; one of a stale id is a replacement.

    With `strict`, raise for one that would be refused.
    """
    statuses: list[TurnStatus] = []
    clock, new = MemoryClock(handle.db), dict[str, Entry]()
    again = sequence.filter_forgotten(handle, [entry.turn.id for entry in entries])
    for entry, kept in zip(entries, handle.raw.compare_with_stored([one.turn for one in entries]), strict=True):
        turn, held = entry.turn, kept
        if held is None and turn.id in new:
            held = has_same_content(turn, new[turn.id].turn)
        error = clock.refusal(turn) if held is None else None if held else TurnConflict(turn.id)
        if error is not None and strict:
            raise error
        if error is not None or held:
            outcome: TurnOutcome = "exists" if error is None else "refused"
            statuses.append(TurnStatus(turn.id, outcome, None if error is None else str(error)))
            continue
        new[turn.id] = entry
        new_again: TurnOutcome = "readded" if turn.id in again else "added"
        statuses.append(TurnStatus(turn.id, "replaced" if turn.id in replaced_seqs else new_again))
    clock.save_time_kind()
    return statuses, list(new.values())


def _store_turns(handle: StoreHandle, fresh: Sequence[Entry], found: Searched) -> list[_Stored]:
    """Store new turns with all derived rows, and queue the missing ones."""
    if not fresh:
        return []
    places = handle.raw.append([entry.turn for entry in fresh])
    rules = records_instructions(handle, (entry.turn for entry in fresh))
    stated = [
        StatedFacts(place.seq, instant(entry.turn.time), entry.facts)
        for place, entry in zip(places, fresh, strict=True) if entry.facts
    ]  # fmt: skip
    errors = _write_each_safely(handle, handle.fact_table.insert, stated)
    unread = {one.seq: why for one, why in zip(stated, errors, strict=True) if why}
    waiting: dict[JobKind, dict[int, str | None]] = defaultdict(dict)  # by kind and turn: why, where it has failed
    waiting["facts"] |= unread
    written, indexed = list[tuple[int, Entry]](), list[list[Stored]]()
    for place, entry in zip(places, fresh, strict=True):
        read = found.get(id(entry)) or derive_documents(entry.turn)  # one that was there a moment ago is derived now
        kept = change(entry, facts=()) if place.seq in unread else entry
        vectors = None if entry.vectors is None else [pack(vector) for vector in entry.vectors]
        written.append((place.seq, kept))
        indexed.append(make_index_rows(entry.turn, place, read.value, kept.facts, vectors, rules=rules))
        for queued in (*entry.jobs, *(("vector",) if vectors is None else ())):
            waiting[queued][place.seq] = None
        for kind, why in (*entry.failed, *((("terms", read.error),) if read.error else ())):
            waiting[kind][place.seq] = why
    given = handle.passages.assign([(place.seq, len(some)) for place, some in zip(places, indexed, strict=True)])
    numbered = (zip(numbers, some, strict=True) for numbers, some in zip(given, indexed, strict=True))
    handle.segments.insert(dict(chain.from_iterable(numbered)))
    handle.segments.seal(given[-1][-1])
    for kind, whys in waiting.items():
        handle.jobs.enqueue(kind, [seq for seq, why in whys.items() if why is None])
        handle.jobs.record_failures(kind, {seq: why for seq, why in whys.items() if why is not None})
    linked = _link_facts(handle, written)
    handle.jobs.record_failures("link", linked.failed)
    waiting["link"] |= dict.fromkeys((*linked.queued, *linked.failed))
    handle.count_commit()
    return [_Stored(seq, kept, sorted(kind for kind, whys in waiting.items() if seq in whys)) for seq, kept in written]


def _find_replaced_turns(handle: StoreHandle, entries: Sequence[Entry]) -> dict[str, int]:
    """Return the sequence numbers, by id, of stored turns that these replace: no one that then would be refused."""
    clock, turns = MemoryClock(handle.db), [entry.turn for entry in entries]
    held = zip(turns, handle.raw.compare_with_stored(turns), strict=True)
    return handle.raw.seqs_of_known(turn.id for turn, same in held if same is False and clock.admits_time_of(turn))


def complete_jobs(handle: StoreHandle, kind: JobKind, entries: Sequence[Entry]) -> Settled:
    """See `Store.complete_jobs`; turns that were forgotten or replaced since they were offered are skipped.

    Facts by rule are not synced to disk: after a power cut their jobs are queued again, and they are read again.
    """
    durably = kind != "facts"
    # Facts of 16 turns are linked together; a set of "terms" derives its segments once: all of it.
    read_at_once = AT_ONCE if handle.db.is_remote else 16  # where each step is waited for
    step = {"vector": AT_ONCE, "terms": len(entries), "facts": read_at_once}.get(kind, AT_LEAST)
    with handle.writing(partial(_prefetch_job_rows, handle, kind, entries[:step]), durably=durably):
        held, done, relinked, known = WriteBudget(handle.db), 0, False, _Read()
        while done < len(entries) and not (done and held.exceeded()):
            relinked |= _store_job_results(handle, kind, entries[done : done + step], known)
            done += step
        set_events(handle, known.happens, known.turns)
        rewrote = kind in {"vector", "terms"} or known.replaced
        handle.count_commit(rewrote=rewrote, relinked=relinked, durable=durably)
    if done < len(entries):
        handle.db.yield_write_lock()
    return Settled(min(done, len(entries)), known.failed)


def _prefetch_job_rows(handle: StoreHandle, kind: JobKind, entries: Sequence[Entry]) -> None:
    """Prefetch the rows needed to store the results of jobs, where the turns were seen before."""
    turns, db, facts = [entry.turn for entry in entries], handle.db, handle.fact_table
    handle.raw.prefetch_known(
        [turn.id for turn in turns],
        lambda _: handle.raw.compare_with_stored(turns),
        partial(handle.jobs.filter_pending, kind),
        facts.turns_among,
        facts.turns_with_model_facts,
        handle.passages.rows_of_turns,
        lambda _: db.read_meta_value("embedder"),
        lambda _: count_sealed_segments(db),
        lambda _: db.highest_number_given("fact"),
        lambda _: handle.is_large,
        lambda _: db.highest_value("fact_vector", "row"),
    )


def _store_job_results(handle: StoreHandle, kind: JobKind, entries: Sequence[Entry], read: _Read) -> bool:
    """Store the results of jobs; return whether facts older than the newest linked one got vectors."""
    _prefetch_job_rows(handle, kind, entries)
    offered = _select_stored(handle, entries)
    read.turns += (seq for seq, _ in offered)
    offered = _leave_out_read(handle, offered) if kind == "facts" else offered
    failed = _store_values(handle, kind, offered, read)
    known = [(seq, entry) for seq, entry in offered if seq not in failed]
    linked = _Linked() if kind in {"vector", "terms"} else _link_facts(handle, known, now=kind == "link")
    again = linked.failed if kind == "link" else {}
    handle.jobs.complete(kind, [seq for seq, _ in known if seq not in again])
    if kind == "facts" and read.before:  # which may have waited for it
        handle.jobs.complete("link", linked.done)
    if kind == "terms":  # no longer queued for it, so that they are read
        rows = handle.passages.rows_of_turns([seq for seq, _ in known])
        for number in sorted({(row - 1) // handle.segments.size for some in rows.values() for row in some}):
            derive_segment(handle, number)
    handle.jobs.record_failures("link", linked.failed)
    handle.jobs.record_failures(kind, failed)
    read.failed += len(failed)
    return linked.late


def _select_stored(handle: StoreHandle, entries: Sequence[Entry]) -> list[tuple[int, Entry]]:
    """Return the entries whose turns are stored as they were offered: of a replaced turn, facts would be false."""
    turns = [entry.turn for entry in entries]
    held = zip(turns, handle.raw.compare_with_stored(turns), strict=True)
    seqs = handle.raw.seqs_of_known(turn.id for turn, same in held if same)
    return [(seqs[entry.turn.id], entry) for entry in entries if entry.turn.id in seqs]


def _leave_out_read(handle: StoreHandle, known: Sequence[tuple[int, Entry]]) -> list[tuple[int, Entry]]:
    """Return the entries that no other process has read meanwhile, without facts where a model has."""
    seqs = [seq for seq, _ in known]
    left, done = set(handle.jobs.filter_pending("facts", seqs)), handle.fact_table.turns_with_model_facts(seqs)
    unread = ((seq, entry) for seq, entry in known if seq in left)
    return [(seq, change(entry, facts=(), fact_vectors=None) if seq in done else entry) for seq, entry in unread]


def _store_values(
    handle: StoreHandle, kind: JobKind, known: Sequence[tuple[int, Entry]], read: _Read
) -> dict[int, str]:
    """Store the vectors or facts of jobs; return the reasons of those that failed, by sequence number."""
    failed = {seq: why for seq, entry in known for failing, why in entry.failed if failing == kind}
    if kind == "vector":
        _set_vectors(handle, known)
    elif kind in {"extract", "facts"}:
        found = [(seq, entry) for seq, entry in known if seq not in failed]
        errors = _write_each_safely(handle, lambda some: _store_read_facts(handle, some, read), found)
        failed |= {seq: why for (seq, _), why in zip(found, errors, strict=True) if why}
    return failed


@dataclass(slots=True)
class _Read:
    """The reads of one transaction: which turns, how many in vain, the times of facts, and whether known ones leave."""

    turns: list[int] = field(default_factory=list)
    before: set[int] = field(default_factory=set)  # those that had facts
    failed: int = 0
    happens: dict[int, Sequence[Interval]] = field(default_factory=dict)
    replaced: bool = False


def _store_read_facts(handle: StoreHandle, found: Sequence[tuple[int, Entry]], read: _Read) -> None:
    """Store the facts of turns that an extractor finds in them now."""
    stated = [StatedFacts(seq, instant(entry.turn.time), entry.facts, entry.extractor) for seq, entry in found]
    before = handle.fact_table.turns_among([seq for seq, _ in found])
    read.before |= before
    outdated = handle.fact_table.outdated_ids(stated) if before else []
    read.replaced |= bool(outdated)
    exchange_facts(handle, outdated, stated, before)
    fresh = {one.seq: sorted(one.facts, key=lambda fact: fact.span[0]) for one in stated if one.seq not in before}
    kept = handle.fact_table.facts_by_turn([*before]) if before else {}
    read.happens |= {seq: times for seq, facts in fresh.items() if (times := event_intervals(facts))}
    read.happens |= {seq: event_intervals(facts) for seq, facts in kept.items()}


def enqueue_missing(handle: StoreHandle, kind: JobKind) -> None:
    """Queue a job for each turn that never had one of this kind."""
    if handle.jobs.turns_never_queued(kind):
        with handle.writing():
            handle.jobs.enqueue(kind, handle.jobs.turns_never_queued(kind))
            handle.count_commit()


def hold(handle: StoreHandle, kind: JobKind, turn_ids: Sequence[str], reason: str, seconds: float) -> None:
    """See `Store.hold`."""
    with handle.writing():
        handle.jobs.defer_jobs(kind, handle.raw.seqs_of_known(turn_ids).values(), reason, seconds)
        handle.count_commit()


def lease(handle: StoreHandle, kind: JobKind, limit: int, seconds: float) -> tuple[Job, ...]:
    """Return jobs as `due` does, and lease them for so many seconds."""
    with handle.writing():
        jobs = read_jobs(handle, handle.jobs.lease(kind, limit, seconds))
        handle.count_commit()
    return jobs


def release(handle: StoreHandle, kind: JobKind, turn_ids: Sequence[str]) -> None:
    """Offer the jobs of these turns again that this process leased and neither finished nor put off."""
    with handle.writing():
        handle.jobs.release(kind, handle.raw.seqs_of_known(turn_ids).values())
        handle.count_commit()


def retry_now(handle: StoreHandle) -> None:
    """Make every job that was put off after a failure, or given up, due now."""
    with handle.writing():
        handle.jobs.retry_now()
        handle.count_commit()


def postpone(handle: StoreHandle, kind: JobKind, failures: Mapping[str, tuple[str, float | None]]) -> None:
    """See `Store.postpone`."""
    with handle.writing():
        known = handle.raw.seqs_of_known(failures)
        handle.jobs.postpone(kind, {seq: failures[turn_id] for turn_id, seq in known.items()})
        handle.count_commit()


def keep_setting(handle: StoreHandle, name: str, value: str | None) -> None:
    """See `Store.keep_setting`."""
    with handle.writing():
        if value is None:
            handle.db.delete_meta(SETTING + name)
        else:
            handle.db.set_meta(SETTING + name, value)
        handle.count_commit()


def keep_trace(handle: StoreHandle, trace: Trace) -> int:
    """Keep a trace, and drop the oldest of many; return its number.

    Raise UnknownTurn or TraceMismatch where a turn that it quotes is not there, or says something else.
    """
    found = {turn_id for event in trace if isinstance(event, Found) for turn_id in event.turns}
    read = sorted(found.union(trace.read))
    with handle.writing():
        seqs = handle.raw.require_seqs(read)
        for turn_id, turn in zip(read, handle.raw.read_turns(seqs), strict=True):
            if trace.read.get(turn_id) not in (None, version_of(turn)):
                raise TraceMismatch(
                    f"turn {turn_id!r} was replaced since the question, and its old words would come back with the "
                    "trace; ask again, and keep that trace"
                )
        number = handle.db.highest_number_given("trace") + 1
        handle.db.insert("trace", "number, body", [(number, trace.to_json().encode())])
        handle.db.insert("trace_turn", "number, seq", [(number, seq) for seq in seqs])
        delete_traces(handle, [old for (old,) in handle.db.select("trace", "number") if old <= number - 100])
        handle.count_commit()
    return number


def _set_vectors(handle: StoreHandle, known: Sequence[tuple[int, Entry]]) -> None:
    """Store the vectors of turns' passages; skip a turn that was split anew since they were asked for."""
    rows = handle.passages.rows_of_turns([seq for seq, _ in known])
    split = ((rows[seq], entry.vectors) for seq, entry in known if seq in rows)
    whole = ((numbers, some) for numbers, some in split if len(numbers) == len(some))
    vectors = {row: pack(vector) for numbers, some in whole for row, vector in zip(numbers, some, strict=True)}
    handle.segments.set_vectors(vectors)


@dataclass(frozen=True, slots=True)
class _Linked:
    """`late` is the result of `EdgeGraph.link_facts`; of some turns linking is `done`, `failed` or is `queued`."""

    late: bool = False
    failed: Mapping[int, str] = field(default_factory=dict)
    queued: Sequence[int] = ()
    done: Sequence[int] = ()


def _link_facts(handle: StoreHandle, written: Sequence[tuple[int, Entry]], *, now: bool = False) -> _Linked:
    """Link the facts of these turns to similar ones, or queue that where the memory is large or vectors are missing."""
    linkable = {seq: entry for seq, entry in written if entry.facts}
    wait = not now and bool(linkable) and handle.is_large
    ready = {seq: entry for seq, entry in linkable.items() if entry.fact_vectors is not None and not wait}
    queued, late = [seq for seq in linkable if seq not in ready], list[bool]()
    handle.jobs.enqueue("link", queued)
    errors = _write_each_safely(
        handle, lambda entries: late.append(_link_all_facts(handle, entries)), list(ready.values())
    )
    failed = {seq: why for seq, why in zip(ready, errors, strict=True) if why}
    return _Linked(any(late), failed, queued, [seq for seq in ready if seq not in failed])


def _link_all_facts(handle: StoreHandle, entries: Sequence[Entry]) -> bool:
    rows = handle.fact_table.rows([fact.id for entry in entries for fact in entry.facts])
    vectors = np.concatenate([entry.fact_vectors for entry in entries])
    try:
        return handle.edges.link_facts(rows, vectors, handle.min_cosine)
    except BaseException:
        handle.edges.drop_cache()  # a change undone in the file is not undone in memory
        raise
