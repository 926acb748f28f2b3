"""The reads of a store, which change nothing. Each function sees one state of the file throughout."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from ..db.schema import MIGRATIONS
from ..edges.edge_table import rank_targets
from ..errors import DimensionMismatch, InvalidQuery, StoreCorrupt
from ..index.corpus import Corpus
from ..index.prepared_query import IndexQuery, PreparedQuery, Ranked, match_keywords, prepare
from ..index.ranking import rank
from ..index.weights import BM25, WEIGHTS
from ..raw.turn_log import BEGINNING, RawLog
from ..text.names import contains_name, is_fact_about
from ..text.terms import terms
from ..times.date_order import order_of_zone
from ..types.results import MAX_COUNT, Health, Stats
from ..types.stored import (
    EVERYTHING,
    About,
    ForgottenMarks,
    ForgottenPlace,
    Holding,
    Job,
    JobKind,
    Keyword,
    Listing,
    MemoryOverview,
    Scope,
    SessionWindow,
    WindowRequest,
    statements,
)
from ..types.trace import Trace
from ..types.values import ROLES, Fact, Hit, Query, Turn, instant, is_discarded
from .handle import LACKS_LOG, SETTING, UNFINISHED, StoreHandle
from .sequence import build_session_window, export_forgotten

OUTDATED = "turns were read by older rules, which is no damage: rebuild() reads them by those of this version"
MAX_ABOUT_TURNS = (
    512  # newest turns naming an entity whose facts are read: a common name must not cost a scan of the memory
)


def prepare_query(handle: StoreHandle, query: Query) -> PreparedQuery | None:
    """Look a query up, inside a transaction of the caller; None where nothing can match (see `resolve_query`)."""
    corpus = handle.corpus()
    resolved = resolve_query(query, handle.raw, handle.segments.dimension)
    return None if resolved is None else _prepare_resolved(handle, corpus, resolved)


def _prepare_resolved(handle: StoreHandle, corpus: Corpus, resolved: IndexQuery) -> PreparedQuery:
    large = len(corpus) >= handle.ann.min_rows
    return prepare(resolved, corpus, handle.ann.complete_index(corpus, handle.ann_origin()) if large else None)


def _rank_cached_corpus(
    handle: StoreHandle, query: Query, *others: Callable[[], object], facts: bool = True
) -> tuple[object, list[Ranked]] | None:
    """Rank by the resident corpus, and prefetch the turns of that; return the state it depends on, and the ranking.

    In a transaction that has asked nothing yet. Where nothing has changed, as it seldom has, an engine that is far away
    is waited for once: all that `recall` asks was asked before.
    """
    corpus, raw = handle.resident_corpus, handle.raw
    session = [query.session] if query.session else []
    named = (partial(raw.speakers.find_numbers, _names_in(query)), partial(raw.sessions.find_numbers, session))
    asked: tuple[Callable[[], object], ...] = (*others, handle.corpus, *named)
    if not handle.db.is_remote or corpus is None or query.where is not None or query.exclude:
        handle.db.prefetch(*asked)
        return None
    resolved = _make_index_query(query, raw.speakers.seen, raw.sessions.seen, handle.segments.dimension)
    if resolved is None:
        return None
    depends, found = _ranking_state(handle, query), rank(_prepare_resolved(handle, corpus, resolved), query.k)
    handle.prefetch_turns(
        [one.turn for one in found], *asked, partial(raw.ids_of_seqs, _seqs_with_neighbours(found)), facts=facts
    )
    return depends, found


def _ranking_state(handle: StoreHandle, query: Query) -> object:
    """Return the state that a ranking by the resident corpus depends on, beside the query."""
    corpus, raw = handle.resident_corpus, handle.raw
    numbers = tuple(raw.speakers.seen.get(name) for name in _names_in(query))
    state = None if corpus is None else (corpus, len(corpus), corpus.last_fact)
    return state, numbers, raw.sessions.seen.get(query.session or "")


def _names_in(query: Query) -> list[str]:
    return [*query.names, *([] if query.speaker is None else [query.speaker])]


def _seqs_with_neighbours(found: Sequence[Ranked]) -> list[int]:
    return sorted({seq for one in found for seq in one.neighbours})


def known(handle: StoreHandle, turns: Sequence[Turn]) -> tuple[bool, ...]:
    """See `Store.known`."""
    return tuple(held is True for held in handle.raw.compare_with_stored(turns))


def recall(handle: StoreHandle, query: Query, *, facts: bool = True, by_hints: bool = False) -> tuple[Hit, ...]:
    """See `Store.recall`; `by_hints` is a query that was made for a roster of `seen`."""
    asked = (handle.raw.read_overview,) if by_hints and handle.db.is_remote else ()
    with handle.db.reading():
        expected = _rank_cached_corpus(handle, query, *asked, facts=facts)
        if asked:
            _read_overview(handle)
        return _read_hits(handle, query, expected, facts=facts)


def recall_unless_pending(handle: StoreHandle, query: Query, kind: JobKind, limit: int) -> tuple[int, tuple[Hit, ...]]:
    """Return how many jobs `new_jobs` would return and, where there are none, the hits of `recall` in that state."""
    with handle.db.reading():
        untried = handle.jobs.select_untried(kind, limit)
        expected = _rank_cached_corpus(handle, query, partial(handle.db.rows, *untried), handle.raw.read_overview)
        waiting = len(handle.db.rows(*untried))
        if handle.db.is_remote:
            _read_overview(handle)
        return waiting, () if waiting else _read_hits(handle, query, expected)


def _read_hits(
    handle: StoreHandle, query: Query, earlier_ranking: tuple[object, list[Ranked]] | None, *, facts: bool = True
) -> tuple[Hit, ...]:
    corpus = handle.corpus()
    resolved = resolve_query(query, handle.raw, handle.segments.dimension)
    if resolved is None:
        return ()
    if earlier_ranking and earlier_ranking[0] == _ranking_state(handle, query):
        found = earlier_ranking[1]
    else:
        found = rank(_prepare_resolved(handle, corpus, resolved), query.k)
    seqs = [one.turn for one in found]
    handle.prefetch_turns(seqs, partial(handle.raw.ids_of_seqs, _seqs_with_neighbours(found)), facts=facts)
    turns, ids = handle.raw.read_turns(seqs), handle.raw.ids_of_seqs(_seqs_with_neighbours(found))
    stated = handle.fact_table.facts_by_turn(seqs) if facts else {}
    neighbours = [tuple(ids[seq] for seq in one.neighbours) for one in found]
    spans = [corpus.passage(one.position, turn.text) for one, turn in zip(found, turns, strict=True)]
    return tuple(
        Hit(turn, tuple(stated.get(one.turn, ())), one.score, one.parts, "search", near, span)
        for turn, one, near, span in zip(turns, found, neighbours, spans, strict=True)
    )


def expand(handle: StoreHandle, turn_ids: Sequence[str], limit: int, scope: Scope = EVERYTHING) -> tuple[Hit, ...]:
    """See `Store.expand`."""
    with handle.db.reading():
        handle.raw.prefetch_known(turn_ids, handle.edges.links_from_turns)
        seeds = handle.raw.require_seqs(turn_ids)
        links, within = handle.edges.links_from_turns(seeds), _turns_in_scope(handle, scope)
        best = rank_targets(seeds, [link for link in links if within is None or link.target in within], limit)
        seqs = [link.target for link, _ in best]
        handle.prefetch_turns(seqs)
        turns, facts = handle.raw.read_turns(seqs), handle.fact_table.facts_by_turn(seqs)
    return tuple(
        Hit(turn, tuple(facts[link.target]), score, {"edge": score}, f"edge:{link.kind}")
        for turn, (link, score) in zip(turns, best, strict=True)
    )


def read(handle: StoreHandle, turn_ids: Sequence[str]) -> tuple[Turn, ...]:
    """See `Store.read`."""
    raw = handle.raw
    with handle.db.reading():
        raw.prefetch_known(turn_ids, raw.read_turns)
        return tuple(raw.read_turns(raw.require_seqs(turn_ids)))


def find(handle: StoreHandle, turn_ids: Sequence[str]) -> tuple[Turn | None, ...]:
    """See `Store.find`."""
    raw = handle.raw
    with handle.db.reading():
        raw.prefetch_known(turn_ids, raw.read_turns)
        seqs = raw.find_seqs(turn_ids)
        found = [seq for seq in seqs if seq is not None]
        turns = dict(zip(found, raw.read_turns(found), strict=True))
    return tuple(None if seq is None else turns[seq] for seq in seqs)


def contexts(handle: StoreHandle, turn_ids: Sequence[str], before: int, after: int) -> tuple[tuple[Turn, ...], ...]:
    """See `Store.contexts`."""
    with handle.db.reading():
        raw = handle.raw
        raw.prefetch_known(turn_ids, lambda met: raw.read_contexts(met, before, after))
        return tuple(raw.read_contexts(raw.require_seqs(turn_ids), before, after))


def order(handle: StoreHandle, turn_ids: Sequence[str]) -> tuple[str, ...]:
    """See `Store.order`."""
    with handle.db.reading():
        return tuple(handle.raw.sort_ids(turn_ids))


def facts(handle: StoreHandle, turn_ids: Sequence[str]) -> tuple[Fact, ...]:
    """See `Store.facts`."""
    with handle.db.reading():
        handle.raw.prefetch_known(turn_ids, handle.fact_table.facts_by_turn)
        seqs = handle.raw.require_seqs(turn_ids)
        found = handle.fact_table.facts_by_turn(seqs)
    return tuple(fact for seq in seqs for fact in found[seq])


def about(handle: StoreHandle, entity: str, limit: int, scope: Scope = EVERYTHING) -> About:
    """See `Store.about`; only the newest `MAX_ABOUT_TURNS` turns naming the entity, and those after them, are read.

    Those after them count by the subject that a model found for its "he" alone, so that no repetition of somebody's
    words adds to the facts about them.
    """
    with handle.db.reading():
        within = _turns_in_scope(handle, scope)
        naming = seqs_naming(handle, entity)
        if within is None:  # else fewer
            handle.prefetch_turns(
                naming[-MAX_ABOUT_TURNS:],
                partial(handle.fact_table.later_turns_with_model_facts, naming[-MAX_ABOUT_TURNS:]),
            )
        after = handle.fact_table.later_turns_with_model_facts(naming[-MAX_ABOUT_TURNS:])
        own, told = ([seq for seq in some if within is None or seq in within] for some in (naming, after))
        seqs = sorted({*own[-MAX_ABOUT_TURNS:], *told})
        speakers = {turn.id: turn.speaker for turn in handle.raw.read_turns(seqs) if not is_discarded(turn)}
        stated = handle.fact_table.facts_by_turn(seqs)
    named = set(own)
    kept = [
        fact
        for seq in reversed(seqs)
        for fact in statements(stated[seq])
        if fact.turn_id in speakers
        and (
            is_fact_about(fact, speakers[fact.turn_id], entity) if seq in named else contains_name(fact.subject, entity)
        )
    ]
    return About(entity, len(kept), tuple(kept[:limit]))


def seqs_naming(handle: StoreHandle, entity: str) -> list[int]:
    """Return the sequence numbers of the turns that hold every term of a name, ascending."""
    return handle.corpus().turns_with_terms_in_one_row(terms(entity))


def keywords(handle: StoreHandle, words: Sequence[str], scope: Scope = EVERYTHING) -> tuple[Keyword, ...]:
    """See `Store.keywords`."""
    with handle.db.reading():
        within = _turns_in_scope(handle, scope)
        return match_keywords(words, lambda term: len(_turns_with_terms(handle, [term], within)))


def holding(handle: StoreHandle, terms: Collection[str], limit: int, scope: Scope = EVERYTHING) -> Holding:
    """See `Store.holding`."""
    with handle.db.reading():
        seqs = _turns_with_terms(handle, terms, _turns_in_scope(handle, scope))
        newest = seqs[max(0, len(seqs) - limit) :]
        ids = handle.raw.ids_of_seqs(newest)
    return Holding(len(seqs), tuple(ids[seq] for seq in newest))


def mentions(
    handle: StoreHandle, terms: Collection[str], limit: int, most: int, scope: Scope = EVERYTHING
) -> tuple[Turn, ...]:
    """See `Store.mentions`."""
    with handle.db.reading():
        within, resident = _turns_in_scope(handle, scope), handle.resident_corpus
        if handle.db.is_remote and resident is not None:
            handle.prefetch_turns(_find_mentions(resident, terms, limit, most, within), handle.corpus, facts=False)
        return tuple(handle.raw.read_turns(_find_mentions(handle.corpus(), terms, limit, most, within)))


def _find_mentions(
    corpus: Corpus, terms: Collection[str], limit: int, most: int, within: frozenset[int] | None
) -> list[int]:
    corpus.prefetch_terms(terms)
    found = [_intersect_turns(corpus.turns_with_terms([term]).tolist(), within) for term in terms]
    return sorted({seq for seqs in found if len(seqs) <= most for seq in seqs[max(0, len(seqs) - limit) :]})


def _turns_in_scope(handle: StoreHandle, scope: Scope) -> frozenset[int] | None:
    """Return the turns of a scope; None for one of all turns, which are not listed."""
    return None if scope == EVERYTHING else frozenset(handle.raw.select_seqs(scope.listing))


def _turns_with_terms(handle: StoreHandle, terms: Collection[str], within: frozenset[int] | None) -> list[int]:
    return _intersect_turns(handle.corpus().turns_with_terms(terms).tolist(), within)


def _intersect_turns(seqs: list[int], within: frozenset[int] | None) -> list[int]:
    return seqs if within is None else [seq for seq in seqs if seq in within]


def roster(handle: StoreHandle, *, allow_cached: bool = False) -> MemoryOverview:
    """See `Store.roster`."""
    if allow_cached and handle.roster_seen is not None:
        return handle.roster_seen
    with handle.db.reading():
        return _read_overview(handle)


def _read_overview(handle: StoreHandle) -> MemoryOverview:
    order = handle.conventions.date_order or order_of_zone(handle.conventions.zone)
    found = replace(handle.raw.read_overview(), date_order=order)
    handle.roster_seen = replace(found, seen=True) if handle.db.is_remote else None
    return found


def due(handle: StoreHandle, kind: JobKind, limit: int, reason: str | None = None) -> tuple[Job, ...]:
    """See `Store.due`."""
    with handle.db.reading():
        return read_jobs(handle, handle.jobs.due_jobs(kind, limit, reason))


def new_jobs(handle: StoreHandle, kind: JobKind, limit: int) -> tuple[Job, ...]:
    """Return those of `due` that were never tried."""
    with handle.db.reading():
        return read_jobs(handle, handle.db.rows(*handle.jobs.select_untried(kind, limit)))


def count_untried_jobs(handle: StoreHandle, kind: JobKind, limit: int) -> int:
    """Return how many jobs `new_jobs` would return, without their turns."""
    with handle.db.reading():
        return len(handle.db.rows(*handle.jobs.select_untried(kind, limit)))


def turns_with_pending_job(handle: StoreHandle, kind: JobKind, turn_ids: Sequence[str]) -> frozenset[str]:
    """Return of which of these turns a job of a kind is pending."""
    with handle.db.reading():
        handle.raw.prefetch_known(turn_ids, partial(handle.jobs.filter_pending, kind))
        seqs = {seq: turn_id for turn_id, seq in handle.raw.seqs_of_known(turn_ids).items()}
        return frozenset(seqs[seq] for seq in handle.jobs.filter_pending(kind, list(seqs)))


def read_jobs(handle: StoreHandle, queued: Sequence[tuple[int, int]]) -> tuple[Job, ...]:
    """Return jobs with their turns, given as (sequence number, attempts); inside a transaction of the caller."""
    if not queued:
        return ()
    seqs = [seq for seq, _ in queued]
    handle.prefetch_turns(seqs, partial(handle.passages.rows_of_turns, seqs))
    turns, facts, rows = (
        handle.raw.read_turns(seqs),
        handle.fact_table.facts_by_turn(seqs),
        handle.passages.rows_of_turns(seqs),
    )
    return tuple(
        Job(turn, tuple(facts[seq]), attempts, len(rows[seq]) if seq in rows else 1)
        for turn, (seq, attempts) in zip(turns, queued, strict=True)
    )


def setting(handle: StoreHandle, name: str) -> str | None:
    """See `Store.setting`."""
    with handle.db.reading():
        return handle.db.read_meta_value(SETTING + name)


def postponed_jobs(handle: StoreHandle) -> list[tuple[str, int, float]]:
    """Return (reason, number of jobs, earliest next try in seconds since 1970) of pending jobs that wait."""
    return handle.jobs.postponed_jobs()


def turns(handle: StoreHandle, listing: Listing | None = None) -> Iterator[Turn]:
    """See `Store.turns`; no transaction is held between pages."""
    if listing is not None:
        yield from _list_turns(handle, listing)
        return
    with handle.db.raise_corrupt_on_decoding_errors():
        for page in handle.raw.read_pages():
            yield from (turn for _, turn in page)


def _list_turns(handle: StoreHandle, listing: Listing) -> Iterator[Turn]:
    left = MAX_COUNT if listing.limit is None else listing.limit
    with handle.db.reading():
        place = handle.raw.place_of_newest(listing) if listing.newest else BEGINNING
        page = handle.raw.list_turns(listing, place, left)
    while page:
        yield from (turn for _, turn in page)
        left -= len(page)
        if left <= 0:
            return
        if (following := page[-1][0].next) <= place:  # as in `Tables.read_pages`
            raise StoreCorrupt(f"{handle.db.name!r} holds turns out of their order; run `evimem doctor`")
        place = following
        with handle.db.reading():
            page = handle.raw.list_turns(listing, place, left)


def turns_with_facts(handle: StoreHandle) -> Iterator[tuple[Turn, tuple[Fact, ...]]]:
    """Yield every turn with its facts, in order of arrival; no transaction is held between pages."""
    with handle.db.raise_corrupt_on_decoding_errors():
        for page in handle.raw.read_pages():
            facts = handle.fact_table.facts_by_turn([seq for seq, _ in page])
            yield from ((turn, tuple(facts[seq])) for seq, turn in page)


def export_rows(handle: StoreHandle) -> Iterator[tuple[Turn, tuple[Fact, ...]] | ForgottenMarks | ForgottenPlace]:
    """Yield the items of an export: turns with facts after marks of forgotten turns, with their places between."""
    with handle.db.raise_corrupt_on_decoding_errors():
        with handle.db.reading():
            marks, places = export_forgotten(handle)
        yield from marks
        left = deque(places)
        for page in handle.raw.read_pages():
            facts = handle.fact_table.facts_by_turn([seq for seq, _ in page])
            for seq, turn in page:
                while left and left[0][0] < seq:
                    yield left.popleft()[1]
                yield turn, tuple(facts[seq])
        yield from (place for _, place in left)


def read_session_window(handle: StoreHandle, asked: WindowRequest) -> SessionWindow:
    """Return the part of a session to align a list of messages with."""
    with handle.db.reading():
        return build_session_window(handle, asked)


def turns_to_extract(handle: StoreHandle, before: int) -> Iterator[tuple[Turn, tuple[Turn, ...]]]:
    """Yield the turns that no model has read, each with up to so many turns before it."""
    with handle.db.raise_corrupt_on_decoding_errors():
        for page in handle.raw.read_pages():
            pending = set(handle.jobs.filter_unfinished("extract", [seq for seq, _ in page]))
            selected = [turn for seq, turn in page if seq in pending]
            contexts = handle.raw.read_contexts([seq for seq, _ in page if seq in pending], before, 0)
            yield from ((turn, context[:-1]) for turn, context in zip(selected, contexts, strict=True))


def trace(handle: StoreHandle, number: int | None) -> Trace:
    """Return a kept trace, the newest without a number. Raise InvalidQuery where there is none."""
    with handle.db.reading():
        if number is not None:
            return read_trace(handle, number)
        newest = [kept for (kept,) in handle.db.select("trace", "number", "number DESC LIMIT 1")]
        if not newest:
            raise InvalidQuery("no trace is kept in this memory; keep_trace() stores one")
        return read_trace(handle, newest[0])


def read_trace(handle: StoreHandle, number: int) -> Trace:
    """Return the trace of a number, inside a transaction of the caller."""
    kept = handle.db.select("trace", "body", number=number)
    if not kept:
        newest = [kept for (kept,) in handle.db.select("trace", "number", "number DESC LIMIT 1")]
        kept_ones = f"the newest is {newest[0]}" if newest else "none is kept; keep_trace() stores one"
        raise InvalidQuery(f"no trace has the number {number} in this memory: {kept_ones}")
    try:
        return Trace.from_json(kept[0][0])
    except ValueError as error:
        raise StoreCorrupt(f"a kept trace cannot be read ({error}); `evimem doctor --repair` drops it") from error


def health(handle: StoreHandle, problems: Sequence[str] = ()) -> Health:
    """Return the counts of waiting and failed jobs, with these problems."""
    with handle.db.reading():
        pending, failed = handle.jobs.count_by_kind("pending"), handle.jobs.count_by_kind("failed")
        retries, oldest, turns = handle.jobs.list_retries(), handle.jobs.oldest_pending_time(), handle.raw.count_turns()
        outdated, unfinished = not handle.is_derived_by_current_rules(), handle.db.read_meta_value(UNFINISHED)
    notes = [f"{count} turn(s) failed for good in {kind!r}: see enrich()" for kind, count in failed.items()]
    notes += [
        f"{count} turn(s) wait for {kind!r} after a failure ({why}): enrich() tries again"
        for kind, count, why in retries
    ]
    if handle.read_only and (waiting := pending.get("facts")):
        notes.append(f"the facts of {waiting} turn(s) are left out, as nothing is written: open it once to write them")
    if handle.lacks_log:
        notes.append(f"{LACKS_LOG}: put the log back, or a backup (`evimem restore`)")
    if unfinished:
        notes.append("forgotten bytes are still in the log, which another reader holds: a later write removes them")
    found = (*problems, *notes)
    status: Literal["ok", "outdated", "degraded"] = "degraded" if found else "outdated" if outdated else "ok"
    return Health(status, turns, pending, failed, oldest, (*found, *[OUTDATED] * outdated))


def stats(handle: StoreHandle) -> Stats:
    """Return how much is stored."""
    db = handle.db
    with db.reading():
        roster = handle.raw.read_overview()
        return Stats(
            db.name,
            handle.raw.count_turns(),
            db.count_rows("session"),
            roster.speakers,
            handle.fact_table.count(),
            handle.edges.count_by_kind(),
            roster.first,
            roster.last,
            db.read_meta_value("embedder") or "",
            handle.segments.dimension,
            db.size(),
            len(MIGRATIONS),
        )


def resolve_query(query: Query, raw: RawLog, dimension: int) -> IndexQuery | None:
    """Resolve names to row numbers, times to microseconds and turn ids to positions for the index.

    Return None where a filter names an unknown speaker or session, or no metadata is as wanted, so that nothing can
    match. Raise DimensionMismatch where the query's vector has another dimension than the file's.
    """
    speakers = raw.speakers.find_numbers(_names_in(query))
    sessions = {} if query.session is None else raw.sessions.find_numbers([query.session])
    scope = Scope(query.session, query.speaker, query.role, query.where)
    among = None if query.where is None else np.array(raw.select_seqs(scope.listing), np.int64)
    exclude = frozenset(raw.seqs_of_known(query.exclude).values())
    return _make_index_query(query, speakers, sessions, dimension, among, exclude)


def _make_index_query(
    query: Query,
    speakers: Mapping[str, int],
    sessions: Mapping[str, int],
    dimension: int,
    among: NDArray[np.int64] | None = None,
    exclude: frozenset[int] = frozenset(),
) -> IndexQuery | None:
    speaker, session = speakers.get(query.speaker or ""), sessions.get(query.session or "")
    if (query.speaker is not None and speaker is None) or (query.session is not None and session is None):
        return None
    if query.vector is not None and len(query.vector) != dimension:
        raise DimensionMismatch(len(query.vector), dimension)
    if among is not None and not len(among):
        return None
    return IndexQuery(
        query.text,
        query.vector,
        frozenset(speakers[name] for name in query.names if name in speakers),
        tuple((instant(t.start), instant(t.end)) for t in query.times if t.start and t.end),
        query.when,
        query.recalls,
        None if query.before is None else instant(query.before),
        None if query.after is None else instant(query.after),
        speaker,
        session,
        exclude,
        BM25 if query.bare else WEIGHTS,
        None if query.role is None else ROLES.index(query.role),
        among,
        query.holding,
        query.several,
        query.any_of,
    )
