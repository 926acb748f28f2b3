"""What a store returns without changing it. Each function sees one state of the file throughout."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence

import numpy as np

from ..edges import ranked
from ..errors import DimensionMismatch, StoreCorrupt
from ..index.keyword_match import match_keywords
from ..index.prepared_query import IndexQuery, microseconds
from ..index.ranking import rank
from ..index.weights import BM25, WEIGHTS
from ..raw import BEGINNING, ROLES, RawLog
from ..text.names import is_about
from ..text.terms import terms
from ..types.budget import MOST
from ..types.stored import EVERYTHING, About, Holding, Job, JobKind, Keyword, Listing, Roster, Scope
from ..types.values import Fact, Hit, Query, Turn
from .handle import StoreHandle
from .layers import Layers

ABOUT = 512  # newest turns naming an entity whose facts are read: a common name must not cost a scan of the memory


def known(handle: StoreHandle, turns: Sequence[Turn]) -> tuple[bool, ...]:
    """See `Store.known`."""
    return tuple(handle.layers.raw.holds(turn) is True for turn in turns)


def recall(handle: StoreHandle, query: Query) -> tuple[Hit, ...]:
    """See `Store.recall`."""
    layers = handle.layers
    with layers.db.reading():
        corpus = handle.corpus()
        resolved = resolve_query(query, layers.raw, layers.segments.dimension)
        if resolved is None:
            return ()
        large = len(corpus) >= handle.ann.min_rows
        index = handle.ann.nearest(corpus, handle.ann_origin()) if large else None
        found = rank(resolved, corpus, query.k, resolved.weights, index)
        seqs = [one.turn for one in found]
        adjacent = sorted({seq for one in found for seq in one.neighbours})
        turns, facts, ids = layers.raw.read(seqs), layers.facts.of_turns(seqs), layers.raw.ids(adjacent)
        neighbours = [tuple(ids[seq] for seq in one.neighbours) for one in found]
        spans = [corpus.passage(one.position, turn.text) for one, turn in zip(found, turns, strict=True)]
    return tuple(
        Hit(turn, tuple(facts[one.turn]), one.score, one.parts, "search", near, span)
        for turn, one, near, span in zip(turns, found, neighbours, spans, strict=True)
    )


def expand(handle: StoreHandle, turn_ids: Sequence[str], limit: int, scope: Scope = EVERYTHING) -> tuple[Hit, ...]:
    """See `Store.expand`."""
    layers = handle.layers
    with layers.db.reading():
        seeds = layers.raw.seqs(turn_ids)
        links, within = layers.edges.around(seeds), _within(layers, scope)
        best = ranked(seeds, [link for link in links if within is None or link.target in within], limit)
        seqs = [link.target for link, _ in best]
        turns, facts = layers.raw.read(seqs), layers.facts.of_turns(seqs)
    return tuple(
        Hit(turn, tuple(facts[link.target]), score, {"edge": score}, f"edge:{link.kind}")
        for turn, (link, score) in zip(turns, best, strict=True)
    )


def read(handle: StoreHandle, turn_ids: Sequence[str]) -> tuple[Turn, ...]:
    """See `Store.read`."""
    with handle.db.reading():
        return tuple(handle.layers.raw.read(handle.layers.raw.seqs(turn_ids)))


def find(handle: StoreHandle, turn_ids: Sequence[str]) -> tuple[Turn | None, ...]:
    """See `Store.find`."""
    raw = handle.layers.raw
    with handle.db.reading():
        seqs = raw.find_all(turn_ids)
        found = [seq for seq in seqs if seq is not None]
        turns = dict(zip(found, raw.read(found), strict=True))
    return tuple(None if seq is None else turns[seq] for seq in seqs)


def contexts(handle: StoreHandle, turn_ids: Sequence[str], before: int, after: int) -> tuple[tuple[Turn, ...], ...]:
    """See `Store.contexts`."""
    with handle.db.reading():
        return tuple(handle.layers.raw.contexts(turn_ids, before, after))


def order(handle: StoreHandle, turn_ids: Sequence[str]) -> tuple[str, ...]:
    """See `Store.order`."""
    with handle.db.reading():
        return tuple(handle.layers.raw.order(turn_ids))


def facts_of(handle: StoreHandle, turn_ids: Sequence[str]) -> tuple[Fact, ...]:
    """See `Store.facts`."""
    layers = handle.layers
    with layers.db.reading():
        seqs = layers.raw.seqs(turn_ids)
        found = layers.facts.of_turns(seqs)
    return tuple(fact for seq in seqs for fact in found[seq])


def about(handle: StoreHandle, entity: str, limit: int, scope: Scope = EVERYTHING) -> About:
    """See `Store.about`; only the newest `ABOUT` turns that name the entity, and what follows them, are read."""
    layers = handle.layers
    with layers.db.reading():
        within = _within(layers, scope)
        naming = seqs_naming(handle, entity)
        after = layers.facts.of_a_model_after(naming[-ABOUT:])
        own, told = ([seq for seq in some if within is None or seq in within] for some in (naming, after))
        seqs = sorted({*own[-ABOUT:], *told})
        speakers = {turn.id: turn.speaker for turn in layers.raw.read(seqs)}
        found = [fact for seq in reversed(seqs) for fact in layers.facts.of_turns([seq])[seq]]
    kept = [fact for fact in found if is_about(fact, speakers[fact.turn_id], entity)]
    return About(entity, len(kept), tuple(kept[:limit]))


def seqs_naming(handle: StoreHandle, entity: str) -> list[int]:
    """Return the sequence numbers of the turns that hold every term of a name, ascending."""
    return handle.corpus().holding(terms(entity))


def keywords(handle: StoreHandle, words: Sequence[str], scope: Scope = EVERYTHING) -> tuple[Keyword, ...]:
    """See `Store.keywords`."""
    with handle.db.reading():
        within = _within(handle.layers, scope)
        return match_keywords(words, lambda term: _count_with(handle, term, within))


def holding(handle: StoreHandle, terms: Collection[str], limit: int, scope: Scope = EVERYTHING) -> Holding:
    """See `Store.holding`."""
    with handle.db.reading():
        seqs = _turns_with(handle, terms, _within(handle.layers, scope))
        newest = seqs[max(0, len(seqs) - limit) :]
        ids = handle.layers.raw.ids(newest)
    return Holding(len(seqs), tuple(ids[seq] for seq in newest))


def _within(layers: Layers, scope: Scope) -> frozenset[int] | None:
    """Return the turns of a scope; None for one of all turns, which are not listed."""
    return None if scope == EVERYTHING else frozenset(layers.raw.select(scope.listing))


def _count_with(handle: StoreHandle, term: str, within: frozenset[int] | None) -> int:
    return len(handle.corpus().turns_with([term]) if within is None else _turns_with(handle, [term], within))


def _turns_with(handle: StoreHandle, terms: Collection[str], within: frozenset[int] | None) -> list[int]:
    found: list[int] = handle.corpus().turns_with(terms).tolist()
    return found if within is None else [seq for seq in found if seq in within]


def roster(handle: StoreHandle) -> Roster:
    """See `Store.roster`."""
    with handle.db.reading():
        return handle.layers.raw.roster()


def due(handle: StoreHandle, kind: JobKind, limit: int, reason: str | None) -> tuple[Job, ...]:
    """See `Store.due`."""
    layers = handle.layers
    with layers.db.reading():
        return jobs_of(layers, layers.jobs.due(kind, limit, reason))


def jobs_of(layers: Layers, queued: Sequence[tuple[int, int]]) -> tuple[Job, ...]:
    """Return jobs with their turns, given as (sequence number, attempts); inside a transaction of the caller."""
    seqs = [seq for seq, _ in queued]
    turns, facts, rows = layers.raw.read(seqs), layers.facts.of_turns(seqs), layers.passages.of(seqs)
    return tuple(
        Job(turn, tuple(facts[seq]), attempts, rows[seq].count if seq in rows else 1)
        for turn, (seq, attempts) in zip(turns, queued, strict=True)
    )


def setting(handle: StoreHandle, name: str) -> str | None:
    """See `Store.setting`."""
    with handle.db.reading():
        return handle.layers.setting(name)


def turns(layers: Layers) -> Iterator[Turn]:
    """Yield every turn in order of arrival; no transaction is held between pages."""
    with layers.db.decoding():
        for page in layers.raw.pages():
            yield from (turn for _, turn in page)


def listed(layers: Layers, listing: Listing) -> Iterator[Turn]:
    """Yield the turns of a listing in dialogue order, a page at a time; no transaction is held between pages."""
    left = MOST if listing.limit is None else listing.limit
    with layers.db.reading():
        place = layers.raw.place_of_last(listing) if listing.newest else BEGINNING
        page = layers.raw.listed(listing, place, left)
    while page:
        yield from (turn for _, turn in page)
        left -= len(page)
        if left <= 0:
            return
        if (following := page[-1][0].next) <= place:  # as in `Connection.pages`
            raise StoreCorrupt(f"{str(layers.db.path)!r} holds turns out of their order; run `evimem doctor`")
        place = following
        with layers.db.reading():
            page = layers.raw.listed(listing, place, left)


def turns_with_facts(layers: Layers) -> Iterator[tuple[Turn, tuple[Fact, ...]]]:
    """Yield every turn with its facts, in order of arrival; no transaction is held between pages."""
    with layers.db.decoding():
        for page in layers.raw.pages():
            facts = layers.facts.of_turns([seq for seq, _ in page])
            yield from ((turn, tuple(facts[seq])) for seq, turn in page)


def unread(layers: Layers, before: int) -> Iterator[tuple[Turn, tuple[Turn, ...]]]:
    """Yield every turn that a model has not read yet, with up to `before` turns that precede it in its dialogue.

    Turns that were never queued for extraction are included; nothing is queued by asking.
    """
    with layers.db.decoding():
        for page in layers.raw.pages():
            pending = set(layers.jobs.unfinished("extract", [seq for seq, _ in page]))
            selected = [turn for seq, turn in page if seq in pending]
            contexts = layers.raw.contexts([turn.id for turn in selected], before, 0)
            yield from ((turn, context[:-1]) for turn, context in zip(selected, contexts, strict=True))


def resolve_query(query: Query, raw: RawLog, dimension: int) -> IndexQuery | None:
    """Resolve names to row numbers, times to microseconds and turn ids to positions for the index.

    Return None where a filter names an unknown speaker or session, or no metadata is as wanted, so that nothing can
    match. Raise DimensionMismatch where the query's vector has another dimension than the file's.
    """
    speaker = None if query.speaker is None else raw.speakers.number(query.speaker)
    session = None if query.session is None else raw.sessions.number(query.session)
    if (query.speaker is not None and speaker is None) or (query.session is not None and session is None):
        return None
    if query.vector is not None and len(query.vector) != dimension:
        raise DimensionMismatch(len(query.vector), dimension)
    among = None if query.where is None else np.array(raw.select(scope_of(query).listing), np.int64)
    if among is not None and not len(among):
        return None
    return IndexQuery(
        query.text,
        query.vector,
        frozenset(at for name in query.names if (at := raw.speakers.number(name)) is not None),
        tuple((microseconds(t.start), microseconds(t.end)) for t in query.times if t.start and t.end),
        query.when,
        query.recalls,
        None if query.before is None else microseconds(query.before),
        None if query.after is None else microseconds(query.after),
        speaker,
        session,
        frozenset(seq for seq in raw.find_all(tuple(query.exclude)) if seq is not None),
        BM25 if query.bare else WEIGHTS,
        None if query.role is None else ROLES.index(query.role),
        among,
        query.holding,
        query.several,
        query.any_of,
    )


def scope_of(query: Query) -> Scope:
    """Return what a query is put to, its times and excluded turns apart."""
    return Scope(query.session, query.speaker, query.role, query.where)
