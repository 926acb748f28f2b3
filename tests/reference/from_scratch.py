"""What follows from a list of stored turns, computed from scratch by the definitions: the oracle for stored rows."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from evimem.edges.edge_table import NEXT_WEIGHT, UPDATE_WEIGHT, Link, similarity_threshold
from evimem.edges.fact_vectors import PER_FACT
from evimem.index.corpus import Corpus, RowBlock, Stored
from evimem.index.document import derive_documents, passages, trim_range
from evimem.index.prepared_query import IndexQuery, Ranked
from evimem.index.updates import outranks, replaces, topic_of
from evimem.index.weights import BM25, WEIGHTS
from evimem.raw.turn_log import TurnRows
from evimem.store.rebuild import make_index_rows
from evimem.types.stored import MOST_SECONDS, Entry, JobKind, Listing
from evimem.types.values import ROLES, Fact, Hit, Query, Turn, Where, instant
from evimem.types.vectors import Packed, Vectors, pack


@dataclass(slots=True)
class QueuedJob:
    """A pending or failed job: `due` is None for a failed one, `reason` says why it failed or waits."""

    attempts: int
    due: float | None
    reason: str | None = None


@dataclass(slots=True)
class StoredTurn:
    """One turn with its facts, the vectors of its passages, those of its facts by fact id, and its jobs by kind."""

    turn: Turn
    facts: tuple[Fact, ...]
    vectors: tuple[Packed, ...] | None
    fact_vectors: dict[str, Vectors]
    jobs: dict[str, QueuedJob] = field(default_factory=dict)


def stored_turn(entry: Entry) -> StoredTurn:
    """Return what is kept of an entry, with its jobs due at once."""
    passages = None if entry.vectors is None else tuple(map(pack, entry.vectors))
    kinds = [*entry.jobs, *(() if passages is not None else ("vector",))]
    if entry.facts and entry.fact_vectors is None:
        kinds.append("link")
    vectors = {} if entry.fact_vectors is None else fact_vectors(entry)
    jobs = {kind: QueuedJob(0, 0.0) for kind in kinds} | {kind: QueuedJob(1, 0.0, why) for kind, why in entry.failed}
    if (unread := derive_documents(entry.turn).error) is not None:
        jobs["terms"] = QueuedJob(1, 0.0, unread)
    return StoredTurn(entry.turn, entry.facts, passages, vectors, jobs)


def settle_turn(kept: StoredTurn, kind: JobKind, entry: Entry) -> None:
    """Add the result of a job to a turn, in place, and drop the job."""
    if kind == "vector":
        kept.vectors = tuple(map(pack, entry.vectors))
    if kind == "facts":
        kept.facts = tuple(one for one in kept.facts if one.extractor != entry.extractor)
    if kind in {"extract", "facts"}:
        new = tuple(fact for fact in entry.facts if fact.id not in {old.id for old in kept.facts})
        kept.facts = tuple(sorted((*kept.facts, *new), key=lambda fact: fact.span[0]))
    if entry.fact_vectors is not None:
        kept.fact_vectors |= fact_vectors(entry)
    kept.jobs.pop(kind, None)


def due_now(kept: Sequence[StoredTurn], kind: JobKind, now: float) -> list[StoredTurn]:
    """Return the turns whose job may be tried: those never tried or, where there are none, those that failed."""
    jobs = [(one, one.jobs[kind]) for one in kept if kind in one.jobs]
    ready = [(one, job) for one, job in jobs if job.due is not None and not 0 < job.due - now <= MOST_SECONDS]
    return [one for one, job in ready if not job.attempts] or [one for one, _ in ready]


def waiting_for(kept: Sequence[StoredTurn], kind: JobKind, reason: str) -> list[StoredTurn]:
    """Return the turns whose job waits, or failed, for a reason."""
    return [one for one in kept if kind in one.jobs and one.jobs[kind].reason == reason]


def fact_vectors(entry: Entry) -> dict[str, Vectors]:
    """Return the vectors of an entry's facts by fact id, rounded as a file would keep them; zeros are left out."""
    packed = [pack(vector) for vector in entry.fact_vectors]
    rows = {
        fact.id: data.astype(np.float32) * np.float32(scale)
        for fact, (data, scale) in zip(entry.facts, packed, strict=True)
    }  # fmt: skip
    return {fact_id: row for fact_id, row in rows.items() if np.any(row)}


def corpus_of(kept: Sequence[StoredTurn], dimension: int) -> Corpus:
    """Return what searches score."""
    found: list[Stored] = []
    sessions = {name: number for number, name in enumerate(dict.fromkeys(one.turn.session for one in kept))}
    speakers = {name: number for number, name in enumerate(dict.fromkeys(one.turn.speaker for one in kept))}
    for number, one in enumerate(kept, 1):
        place = TurnRows(number, sessions[one.turn.session], speakers[one.turn.speaker])
        found += make_index_rows(one.turn, place, derive_documents(one.turn).value, one.facts, one.vectors)
    corpus = Corpus(dimension)
    if found:
        corpus.extend(RowBlock.of(dict(enumerate(found, 1)), 0, dimension))
    return corpus


def hit_of(kept: Sequence[StoredTurn], corpus: Corpus, found: Ranked) -> Hit:
    """Return the hit of a turn that was found."""
    one = kept[found.turn - 1]
    neighbours = tuple(kept[number - 1].turn.id for number in found.neighbours)
    span = passages(one.turn.text)[found.position - int(corpus.rows_of([found.turn])[0])]
    facts, passage = facts_of(kept, one), trim_range(one.turn.text, span)
    return Hit(one.turn, facts, found.score, found.parts, "search", neighbours, passage)


def resolved(query: Query, kept: Sequence[StoredTurn]) -> IndexQuery | None:
    """Return the resolved query; None where a filter names an unknown speaker or session."""
    sessions = list(dict.fromkeys(one.turn.session for one in kept))
    speakers = list(dict.fromkeys(one.turn.speaker for one in kept))
    wanted = ((query.speaker, speakers), (query.session, sessions))
    if any(name is not None and name not in names for name, names in wanted):
        return None
    return IndexQuery(
        query.text,
        query.vector,
        frozenset(speakers.index(name) for name in query.names if name in speakers),
        tuple((instant(t.start), instant(t.end)) for t in query.times if t.start and t.end),
        query.when,
        query.recalls,
        None if query.before is None else instant(query.before),
        None if query.after is None else instant(query.after),
        None if query.speaker is None else speakers.index(query.speaker),
        None if query.session is None else sessions.index(query.session),
        frozenset(number for number, one in enumerate(kept, 1) if one.turn.id in query.exclude),
        BM25 if query.bare else WEIGHTS,
        None if query.role is None else ROLES.index(query.role),
        None if query.where is None else _with_metadata(query.where, kept),
        query.holding,
        query.several,
        query.any_of,
    )


def terms_of(turn: Turn) -> set[str]:
    """Return the terms that a turn is found by: of its words, its speaker and its caption."""
    return {term for document in derive_documents(turn).value for term in document.terms}


def _with_metadata(where: Where, kept: Sequence[StoredTurn]) -> NDArray[np.int64]:
    return np.array([number for number, one in enumerate(kept, 1) if where.meets(one.turn.metadata)], np.int64)


def listed(turns: Sequence[Turn], listing: Listing) -> list[Turn]:
    """Return the turns of a listing in dialogue order, of turns in order of arrival."""
    found = sorted((turn for turn in turns if _is_listed(turn, listing)), key=lambda turn: instant(turn.time))
    if listing.limit is None:
        return found
    return found[max(0, len(found) - listing.limit) :] if listing.newest else found[: listing.limit]


def _is_listed(turn: Turn, listing: Listing) -> bool:
    named = ((listing.session, turn.session), (listing.speaker, turn.speaker), (listing.role, turn.role))
    said = instant(turn.time)
    return (
        all(wanted in (None, given) for wanted, given in named)
        and (listing.where is None or listing.where.meets(turn.metadata))
        and (listing.before is None or said < instant(listing.before))
        and (listing.after is None or said >= instant(listing.after))
    )


def dialogue_around(kept: Sequence[StoredTurn], turn: Turn, before: int, after: int) -> tuple[Turn, ...]:
    """Return the turns around one in the dialogue of its session, it included."""
    dialogue = sorted(
        (one.turn for one in kept if one.turn.session == turn.session), key=lambda other: instant(other.time)
    )
    place = dialogue.index(turn)
    return tuple(dialogue[max(0, place - before) : place + after + 1])


def facts_of(kept: Sequence[StoredTurn], one: StoredTurn) -> tuple[Fact, ...]:
    """Return the facts of a turn by their place, each with the id of the first later one of its topic that replaces it.

    What somebody says of another never replaces that person's own word.
    """
    said = [(instant(other.turn.time), position, fact) for position, other in enumerate(kept) for fact in other.facts]
    said.sort(key=lambda item: (item[0], item[1], item[2].span[0]))
    order = [fact for _, _, fact in said]
    speakers = {fact.id: kept[position].turn.speaker for _, position, fact in said}

    def replacement(fact: Fact) -> str | None:
        topic = topic_of(fact)
        if topic is None:
            return None
        later = order[order.index(fact) + 1 :]
        found = (new for new in later if topic_of(new) == topic and replaces(new, fact))
        speaker = one.turn.speaker
        return next((new.id for new in found if not outranks(fact, speaker, speakers[new.id])), None)

    stated = sorted(one.facts, key=lambda fact: fact.span[0])
    return tuple(replace(fact, replaced_by=replacement(fact)) for fact in stated)


def links_from(kept: Sequence[StoredTurn], seed: int, embedder: str) -> list[Link]:
    """Return the links that leave the turn at a position, by any kind of edge, to other turns."""
    links = []
    here = facts_of(kept, kept[seed])
    for position, one in enumerate(kept):
        if position == seed:
            continue
        pairs = [(fact, other) for fact in here for other in facts_of(kept, one)]
        if any(other.replaced_by == fact.id or fact.replaced_by == other.id for fact, other in pairs):
            links.append(Link(seed, position, "updates", UPDATE_WEIGHT))
        links += [Link(seed, position, "similar", cosine) for cosine in _similar(kept, seed, position, embedder)]
    place = {one.turn.id: position for position, one in enumerate(kept)}
    adjacent = [place[turn.id] for turn in dialogue_around(kept, kept[seed].turn, 1, 1)]
    return links + [Link(seed, position, "next", NEXT_WEIGHT) for position in adjacent if position != seed]


def _similar(kept: Sequence[StoredTurn], one: int, other: int, embedder: str) -> list[float]:
    """Return the cosines of the `similar` edges between the facts of two turns."""
    later, earlier = sorted((one, other), key=lambda n: (instant(kept[n].turn.time), n), reverse=True)
    return [
        cosine
        for fact in kept[later].fact_vectors
        for target, cosine in _similar_edges(kept, later, fact, embedder)
        if target in kept[earlier].fact_vectors
    ]


def _similar_edges(kept: Sequence[StoredTurn], later: int, fact: str, embedder: str) -> list[tuple[str, float]]:
    """Return the facts that one is linked to, with their cosines: the most similar ones said before it."""
    said = (instant(kept[later].turn.time), later)
    vector = kept[later].fact_vectors[fact]
    near = [
        (min(1.0, float(other_vector @ vector)), other)
        for position, one in enumerate(kept)
        if (instant(one.turn.time), position) < said
        for other, other_vector in one.fact_vectors.items()
    ]
    near = [item for item in near if item[0] >= similarity_threshold(embedder)]
    near.sort(key=lambda item: -item[0])
    return [(other, cosine) for cosine, other in near[:PER_FACT]]
