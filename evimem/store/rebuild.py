"""Deriving everything again from the turns: facts, documents, postings, and the jobs for vectors and edges."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from itertools import takewhile

from ..db.fact_sql import drop_facts_of_others
from ..db.index_sql import drop_postings_without_segment, drop_rows_without_turn
from ..errors import UNREADABLE
from ..index.corpus import Interval
from ..index.document import found_by, passages
from ..index.segments import RowRange, Stored, stored
from ..raw import LocalTimes, TurnRows, set_instants, settle_timezone, wrong_instants
from ..raw.turn_log import set_times
from ..types.attempt import Attempt
from ..types.values import Fact, Turn
from ..types.vectors import Packed, is_packed
from .handle import Held, StoreHandle
from .layers import WHOLE_TURNS, Layers, TurnToIndex, events
from .trace_table import drop_unreadable_traces

Progress = Callable[[int], None]
_PAGE = 1_000  # turns read at once
QUEUED = 128  # turns whose facts are queued at once


def rebuild(handle: StoreHandle, extractor: str, *, reread: bool = False) -> Iterator[int]:
    """Derive everything again from the turns; with `reread`, queue every turn for a model again.

    Yield how many turns were read after each of many transactions, between which others can write.
    """
    slices, going = rebuild_slices(handle.layers, extractor, reread=reread), True
    while going:
        with handle.writing():
            held, read, rewrote, going = Held(handle.db), 0, False, False
            for turns, changed in slices:
                read, rewrote = read + turns, rewrote or changed
                if going := turns > 0 or held.long_enough():
                    break
            handle.layers.count_commit(rewrote=rewrote)
        handle.after_commit()
        handle.db.give_way()
        yield read


def change_embedder(handle: StoreHandle, name: str, dimension: int) -> None:
    """Drop every vector, and queue those of another embedder."""
    with handle.writing():
        drop_vectors(handle.layers, name, dimension)
        handle.ann.drop()
    handle.drop_caches()
    handle.after_commit()


def index_vectors(handle: StoreHandle) -> Iterator[int]:
    """Index the vectors of a large memory for the search of the nearest; yield how many at a time."""
    with handle.db.reading():
        corpus, origin = handle.corpus(), handle.ann_origin()
    yield from handle.ann.build(corpus, origin, lambda: handle.ann_origin() == origin)


def rebuild_slices(layers: Layers, extractor: str, *, reread: bool) -> Iterator[tuple[int, bool]]:
    """Derive everything from the turns, inside transactions of the caller: one may end wherever this yields.

    Yield how many turns were read, and whether what searches have read before was changed. Where the work ends in
    between, what stands there is right, and what was dropped is queued. Long turns that an earlier version indexed
    whole are split into passages, all at once, as every row gets another number. Vectors are kept; missing ones are
    queued. Facts are kept where their span lies in their turn, and queued to be read again, a page at a time: it is
    for the caller to read them. With `reread` those of other extractors than the one of this name are dropped, and
    extraction is queued again. Readable traces are kept.

    Raises:
        StoreCorrupt: A turn is not what was stored; nothing is changed but indexes.
    """
    db, split, last = layers.db, not layers.db.meta(WHOLE_TURNS), layers.raw.high_water()
    db.make_indexes_again()  # first: every statement below finds rows by them
    yield 0, False
    # Without what comes meanwhile, which may come faster than it is read.
    for page in takewhile(lambda page: page[0][0] <= last, layers.raw.pages()):
        split = split and _are_split_as_now(layers, page)
        yield 0, False
    _drop_what_cannot_stay(layers, extractor, reread=reread)
    yield 0, True
    if not split:
        _split_anew(layers)
        yield 0, True
    for number in range(segment_count(layers) if split else 0):
        first = number * layers.segments.size + 1
        layers.jobs.complete("terms", list(layers.passages.within(first, first + layers.segments.size - 1)))
        derive_segment(layers, number, kept_vectors(layers, number))
        yield 0, True
    times = settle_timezone(db, None)
    for _ in layers.facts.settle():
        yield 0, True
    for page in takewhile(lambda page: page[0][0] <= last, layers.raw.pages(size=QUEUED)):
        yield len(page), _queued_again(layers, _in_zone(layers, dict(page), times))


def _drop_what_cannot_stay(layers: Layers, extractor: str, *, reread: bool) -> None:
    """Drop what nothing can be said of, all links among it, and queue those anew."""
    db = layers.db
    layers.edges.clear()  # before facts: foreign keys hold a fact while an edge or a vector refers to it
    drop_postings_without_segment(db)
    for table in ("fact", "passage", "job"):
        drop_rows_without_turn(db, table)
    if reread:
        drop_facts_of_others(db, extractor)
        layers.jobs.requeue_all("extract")
    layers.facts.drop_unreadable()
    # In ascending order, so that each fact is linked to those before it whatever page of the queue it falls on.
    layers.jobs.enqueue("link", [seq for (seq,) in db.select("fact", "DISTINCT seq", "seq")])
    set_instants(db, wrong_instants(db))
    drop_unreadable_traces(layers)


def _queued_again(layers: Layers, turns: Mapping[int, Turn]) -> bool:
    """Have the facts of turns read again; return whether any left that stand nowhere in their turn."""
    facts = layers.facts.of_turns(list(turns))
    left = {seq: [fact for fact in some if is_grounded(fact, turns[seq])] for seq, some in facts.items()}
    gone = {seq: [fact.id for fact in some if fact not in left[seq]] for seq, some in facts.items()}
    changed = [seq for seq, some in gone.items() if some]
    if changed:
        ids = [fact_id for some in gone.values() for fact_id in some]
        neighbours = layers.edges.erase(layers.facts.rows(ids))  # others may have been linked since the work began
        layers.edges.relink(neighbours, layers.min_cosine)
        layers.facts.exchange(ids, (), ())
        set_events(layers, {seq: events(left[seq]) for seq in changed}, changed)
    layers.jobs.enqueue("facts", list(turns))
    return bool(changed)


def _in_zone(layers: Layers, turns: Mapping[int, Turn], times: LocalTimes) -> dict[int, Turn]:
    """Return turns with times of the memory's timezone, and write them so: it may have got that later."""
    found = dict(turns)
    for seq, turn in turns.items():
        with suppress(OverflowError):  # at the edge of the calendar it stays as it is
            found[seq] = replace(turn, time=times.read(turn.time))
    set_times(
        layers.db, {seq: turn for seq, turn in found.items() if turn.time.isoformat() != turns[seq].time.isoformat()}
    )
    return found


def set_events(layers: Layers, happens: Mapping[int, Sequence[Interval]], among: Sequence[int]) -> None:
    """Store the times of the facts of some turns `among` others where searches read them."""
    rows = layers.passages.of(among) if happens else {}
    layers.segments.set_events({row: happens[seq] for seq in happens for row in rows.get(seq, ())})


def _split_anew(layers: Layers) -> None:
    """Give every turn new rows, as many as it has passages, and derive all segments."""
    vectors = _vectors_of_turns(layers)
    layers.db.delete("job", kind=["terms"])  # all are read again
    layers.passages.clear()
    for table in ("document", "posting", "segment"):
        layers.db.delete(table)
    layers.db.drop_meta(WHOLE_TURNS)
    kept: dict[int, Packed] = {}
    for page in layers.raw.pages():
        given = layers.passages.assign([(seq, len(passages(turn.text))) for seq, turn in page])
        for (seq, _), rows in zip(page, given, strict=True):
            if len(vectors.get(seq, ())) == rows.count:
                kept |= zip(rows, vectors[seq], strict=True)
    layers.invalidate_ann()
    for number in range(segment_count(layers)):
        derive_segment(layers, number, kept)


def derive_segment(layers: Layers, number: int, vectors: Mapping[int, Packed]) -> None:
    """Derive the documents, columns and postings of a segment from its turns, given the vectors of its rows.

    The vectors that it lacks are queued, and so are turns whose terms cannot be read: they are kept by their plain
    words, as are those queued for it already.
    """
    rows: dict[int, Stored] = {}
    failed, missing, plain = dict[int, str](), list[int](), layers.jobs.open_turns("terms")
    for page in segment_turns(layers, number):
        for one, read in zip(page, stored_rows(layers, page, vectors, plain), strict=True):
            rows |= read.value
            if read.error is not None:
                failed[one.seq] = read.error
            if any(row not in vectors for row in one.rows):
                missing.append(one.seq)
    layers.jobs.fail("terms", failed)
    layers.segments.replace(number, rows, layers.passages.high_water)
    layers.jobs.enqueue("vector", missing)


def stored_rows(
    layers: Layers, turns: Sequence[IndexedTurn], vectors: Mapping[int, Packed], plain: Collection[int] = ()
) -> list[Attempt[dict[int, Stored]]]:
    """Return what should be stored for those rows of turns that lie in the segment, by row number.

    Those in `plain` are found by their plain words.
    """
    read = layers.rows([
        TurnToIndex(
            one.turn,
            one.place,
            found_by(one.turn, one.all_rows.count, plainly=one.seq in plain),
            one.facts,
            [vectors.get(row) for row in one.all_rows],
        )
        for one in turns
    ])  # fmt: skip
    found = [dict(zip(one.all_rows, some.value, strict=True)) for one, some in zip(turns, read, strict=True)]
    return [
        Attempt({row: stored(rows[row]) for row in one.rows}, some.error)
        for one, rows, some in zip(turns, found, read, strict=True)
    ]


def segment_count(layers: Layers) -> int:
    """Return how many segments there are, the open one included."""
    return -(-layers.passages.high_water // layers.segments.size)


def _are_split_as_now(layers: Layers, turns: Sequence[tuple[int, Turn]]) -> bool:
    """Return whether each turn has as many rows as it has passages."""
    rows = layers.passages.of([seq for seq, _ in turns])
    return all(seq in rows and rows[seq].count == len(passages(turn.text)) for seq, turn in turns)


def kept_vectors(layers: Layers, number: int) -> dict[int, Packed]:
    """Return the vectors of a segment that can be kept, by row."""
    try:
        return {row: one for row, one in layers.segments.vectors(number).items() if is_packed(one)}
    except UNREADABLE:
        return {}


def _vectors_of_turns(layers: Layers) -> dict[int, list[Packed]]:
    """Return the vectors of the turns that have all of theirs, by sequence number."""
    size, found = layers.segments.size, dict[int, list[Packed]]()
    for number in range(segment_count(layers)):
        vectors = kept_vectors(layers, number)
        for seq, rows in layers.passages.within(number * size + 1, (number + 1) * size).items():
            found.setdefault(seq, []).extend(vectors[row] for row in rows if row in vectors)
    return found


def drop_vectors(layers: Layers, name: str, dimension: int) -> None:
    """Switch to another embedder, inside a transaction of the caller: drop every vector and queue all of them."""
    layers.segments.drop_vectors(dimension)
    layers.edges.clear()
    layers.jobs.enqueue("vector", [seq for (seq,) in layers.db.select("turn", "seq", "seq")])
    layers.jobs.enqueue("link", [seq for (seq,) in layers.db.select("fact", "DISTINCT seq", "seq")])
    layers.invalidate_ann()
    layers.db.set_meta("embedder", name)
    layers.db.set_meta("dimension", str(dimension))
    layers.count_commit(rewrote=True)


@dataclass(frozen=True, slots=True)
class IndexedTurn:
    """A turn with its facts, its rows, and those of them that lie in one segment."""

    seq: int
    turn: Turn
    place: TurnRows
    facts: list[Fact]
    all_rows: RowRange
    rows: range


def segment_turns(layers: Layers, number: int) -> Iterator[list[IndexedTurn]]:
    """Yield the turns that have a row in a segment, many at once."""
    size = layers.segments.size
    first, last = number * size + 1, (number + 1) * size
    ranges = layers.passages.within(first, last)
    seqs = list(ranges)
    for start in range(0, len(seqs), _PAGE):
        page = seqs[start : start + _PAGE]
        facts, places = layers.facts.of_turns(page), layers.raw.places(page)
        inside = {seq: range(max(first, ranges[seq].first), min(last, ranges[seq].last) + 1) for seq in page}
        yield [
            IndexedTurn(seq, turn, places[seq], facts[seq], ranges[seq], inside[seq])
            for seq, turn in zip(page, layers.raw.read(page), strict=True)
        ]


def is_grounded(fact: Fact, turn: Turn) -> bool:
    """Say whether a fact's span is a non-empty range of its turn's text, or of its caption for a fact of an image."""
    start, end = fact.span
    return 0 <= start < end <= len((turn.caption or "") if fact.kind == "image" else turn.text)
