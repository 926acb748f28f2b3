"""Deriving everything again from the turns: facts, documents, postings, and the jobs for vectors and edges."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from itertools import takewhile

from ..db.derived_sql import delete_facts_of_other_extractors, delete_orphan_postings, delete_orphan_rows
from ..errors import UNREADABLE, Attempt, StoreCorrupt
from ..index.corpus import DISCARDED_ROW, Interval, Stored
from ..index.document import Document, derive_documents, passages, sets_rule
from ..index.fact_table import StatedFacts
from ..raw.turn_log import TurnRows, write_turn_times
from ..raw.validate import LocalTimes, find_wrong_instants, fix_timezone, set_instants
from ..types.values import ROLES, Fact, Turn, instant, is_discarded
from ..types.vectors import Packed, is_packed
from .handle import READ_BY, RULES_VERSION, WHOLE_TURNS, StoreHandle, WriteBudget
from .reads import read_trace

Progress = Callable[[int], None]
_PAGE_TURNS = 1_000  # turns read at once
QUEUE_BATCH_TURNS = 128  # turns whose facts are queued at once


def rebuild(handle: StoreHandle, extractor: str, *, reread: bool = False) -> Iterator[int]:
    """Derive everything again from the turns; with `reread`, queue every turn for a model again.

    Yield how many turns were read after each of many transactions, between which other callers can write.
    """
    kept: Iterator[RebuiltSlice] | None = None  # the rest of the work
    after, going = 0, True

    def transaction() -> int:
        nonlocal kept, after, going
        slices, kept = kept or rebuild_by_slices(handle, extractor, after, reread=reread), None
        one = RebuiltSlice()
        with handle.writing():
            held, rewrote, going = WriteBudget(handle.db), False, False
            for one in slices:
                rewrote = rewrote or one.rewrote
                if going := one.turns > 0 or held.exceeded():
                    break
            if not going:
                handle.db.set_meta(READ_BY, str(RULES_VERSION))
            handle.count_commit(rewrote=rewrote)
        kept, after = slices, one.last  # where a server has undone this, the uncommitted part is derived again
        return one.turns

    while going:
        read = handle.db.retry_transaction(transaction)
        handle.db.yield_write_lock()
        yield read


def change_embedder(handle: StoreHandle, name: str, dimension: int) -> None:
    """Switch to another embedder: drop every vector, and queue all of them."""
    with handle.writing():
        handle.segments.drop_vectors(dimension)
        handle.edges.delete_all()
        handle.jobs.enqueue("vector", [seq for (seq,) in handle.db.select("turn", "seq", "seq")])
        handle.jobs.enqueue("link", [seq for (seq,) in handle.db.select("fact", "DISTINCT seq", "seq")])
        handle.invalidate_ann()
        handle.db.set_meta("embedder", name)
        handle.db.set_meta("dimension", str(dimension))
        handle.count_commit(rewrote=True)
        handle.ann.delete_index()


def index_vectors(handle: StoreHandle) -> Iterator[int]:
    """Index the vectors of a large memory for the search of the nearest; yield how many at a time."""
    with handle.db.reading():
        corpus, origin = handle.corpus(), handle.ann_origin()
    yield from handle.ann.extend_index(corpus, origin, lambda: handle.ann_origin() == origin)


@dataclass(frozen=True, slots=True)
class RebuiltSlice:
    """How many turns were read, whether rows known to searches were changed, and the last turn that was read."""

    turns: int = 0
    rewrote: bool = False
    last: int = 0


def rebuild_by_slices(handle: StoreHandle, extractor: str, after: int, *, reread: bool) -> Iterator[RebuiltSlice]:
    """Derive everything from the turns, inside transactions of the caller: one may end wherever this yields.

    With a turn, go on `after` it: the facts of those up to it are queued. Where the work ends in between, the content
    there is right, and dropped rows are queued. Long turns that an earlier version indexed whole are split into
    passages, all at once, as every row gets another number. Vectors are kept; missing ones are queued. Facts are kept
    where their span lies in their turn, and queued to be read again, a page at a time: it is for the caller to read
    them. With `reread` those of other extractors than the one of this name are dropped, and extraction is queued again.
    Readable traces are kept.

    Raises:
        StoreCorrupt: A turn is not as it was stored; nothing is changed but indexes.
    """
    last = handle.raw.highest_seq_given()  # without later turns, which may come faster than they are read
    if not after:
        yield from (
            RebuiltSlice(rewrote=rewrote) for rewrote in _rebuild_turn_rows(handle, extractor, last, reread=reread)
        )
    times = fix_timezone(handle.db, None)
    for page in takewhile(lambda page: page[0][0] <= last, handle.raw.read_pages(after, QUEUE_BATCH_TURNS)):
        rewrote = _requeue_facts(handle, _move_to_timezone(handle, dict(page), times))
        yield RebuiltSlice(len(page), rewrote, page[-1][0])


def _rebuild_turn_rows(handle: StoreHandle, extractor: str, last: int, *, reread: bool) -> Iterator[bool]:
    """Check the turns up to one, and derive the rows beside their facts."""
    db, split = handle.db, not handle.db.read_meta_value(WHOLE_TURNS)
    db.rebuild_indexes()  # first: every statement below finds rows by them
    yield False
    for page in takewhile(lambda page: page[0][0] <= last, handle.raw.read_pages()):
        split = split and _have_current_passages(handle, page)
        yield False
    _drop_stale_derived_rows(handle, extractor, reread=reread)
    yield True
    if not split:
        _renumber_all_passages(handle)
        yield True
    for number in range(count_segments(handle) if split else 0):
        first = number * handle.segments.size + 1
        handle.jobs.complete(
            "terms", list(handle.passages.turns_with_rows_within(first, first + handle.segments.size - 1))
        )
        derive_segment(handle, number)
        yield True
    for _ in handle.fact_table.mark_replaced():
        yield True


def _drop_stale_derived_rows(handle: StoreHandle, extractor: str, *, reread: bool) -> None:
    """Drop vectors that cannot be judged, all links among them, and queue those anew."""
    db = handle.db
    handle.edges.delete_all()  # before facts: foreign keys hold a fact while an edge or a vector refers to it
    delete_orphan_postings(db)
    for table in ("fact", "passage", "job"):
        delete_orphan_rows(db, table)
    if reread:
        delete_facts_of_other_extractors(db, extractor)
        handle.jobs.requeue_all("extract")
    handle.fact_table.drop_unreadable()
    # In ascending order, so that each fact is linked to those before it whatever page of the queue it falls on.
    handle.jobs.enqueue("link", [seq for (seq,) in db.select("fact", "DISTINCT seq", "seq")])
    set_instants(db, find_wrong_instants(db))
    delete_traces(handle, [number for number, _ in find_unreadable_traces(handle)])  # which nothing can make again


def _requeue_facts(handle: StoreHandle, turns: Mapping[int, Turn]) -> bool:
    """Have the facts of turns read again; return whether any left that stand nowhere in their turn."""
    facts = handle.fact_table.facts_by_turn(list(turns))
    left = {seq: [fact for fact in some if is_grounded(fact, turns[seq])] for seq, some in facts.items()}
    gone = {seq: [fact.id for fact in some if fact not in left[seq]] for seq, some in facts.items()}
    changed = [seq for seq, some in gone.items() if some]
    if changed:
        ids = [fact_id for some in gone.values() for fact_id in some]
        exchange_facts(handle, ids)
        set_events(handle, {seq: event_intervals(left[seq]) for seq in changed}, changed)
    handle.jobs.enqueue("facts", list(turns))
    return bool(changed)


def exchange_facts(
    handle: StoreHandle, outdated: Sequence[str], stated: Sequence[StatedFacts] = (), held: Collection[int] = ()
) -> None:
    """Delete facts with their edges, and store new ones; some of the turns may have `held` facts."""
    if outdated:  # an edge or a vector holds a fact
        neighbours = handle.edges.erase_facts(handle.fact_table.rows(outdated))
        handle.edges.relink_facts(neighbours, handle.min_cosine)
    handle.fact_table.exchange(outdated, stated, held)


def _move_to_timezone(handle: StoreHandle, turns: Mapping[int, Turn], times: LocalTimes) -> dict[int, Turn]:
    """Return turns with times of the memory's timezone, and write them so: it may have got that later."""
    found = dict(turns)
    for seq, turn in turns.items():
        with suppress(OverflowError):  # at the edge of the calendar it stays as it is
            found[seq] = replace(turn, time=times.to_local(turn.time))
    write_turn_times(
        handle.db, {seq: turn for seq, turn in found.items() if turn.time.isoformat() != turns[seq].time.isoformat()}
    )
    return found


def set_events(handle: StoreHandle, happens: Mapping[int, Sequence[Interval]], among: Sequence[int]) -> None:
    """Store the times of the facts of some turns `among` all where searches read them."""
    rows = handle.passages.rows_of_turns(among) if happens else {}
    handle.segments.set_events({row: happens[seq] for seq in happens for row in rows.get(seq, ())})


def _renumber_all_passages(handle: StoreHandle) -> None:
    """Give every turn new rows, as many as it has passages, and derive all segments."""
    size, vectors = handle.segments.size, defaultdict[int, list[Packed]](list)  # by turn, where it has all of them
    for number in range(count_segments(handle)):
        known = read_usable_vectors(handle, number)
        for seq, rows in handle.passages.turns_with_rows_within(number * size + 1, (number + 1) * size).items():
            vectors[seq] += (known[row] for row in rows if row in known)
    handle.db.delete_rows("job", kind="terms")  # all are read again
    handle.passages.clear()
    for table in ("document", "posting", "segment"):
        handle.db.delete_rows(table)
    handle.db.delete_meta(WHOLE_TURNS)
    kept: dict[int, Packed] = {}
    for page in handle.raw.read_pages():
        given = handle.passages.assign([(seq, len(passages(turn.text))) for seq, turn in page])
        for (seq, _), rows in zip(page, given, strict=True):
            if len(vectors[seq]) == len(rows):
                kept |= zip(rows, vectors[seq], strict=True)
    handle.invalidate_ann()
    for number in range(count_segments(handle)):
        derive_segment(handle, number, kept)


def derive_segment(handle: StoreHandle, number: int, vectors: Mapping[int, Packed] | None = None) -> None:
    """Derive the documents, columns and postings of a segment from its turns, and the vectors given or kept of it.

    The vectors that it lacks are queued, and so are turns whose terms cannot be read: they are kept by their plain
    words, as are those queued for it already.
    """
    vectors, rows = read_usable_vectors(handle, number) if vectors is None else vectors, dict[int, Stored]()
    failed, missing, plain = dict[int, str](), list[int](), handle.jobs.turns_with_open_job("terms")
    for page in turns_in_segment(handle, number):
        for one, read in zip(page, derive_index_rows(handle, page, vectors, plain), strict=True):
            rows |= read.value
            if read.error is not None:
                failed[one.seq] = read.error
            if any(row not in vectors for row in one.rows):
                missing.append(one.seq)
    handle.jobs.record_failures("terms", failed)
    handle.segments.replace(number, rows, handle.passages.high_water)
    handle.jobs.enqueue("vector", missing)


def derive_index_rows(
    handle: StoreHandle, turns: Sequence[IndexedTurn], vectors: Mapping[int, Packed], plain: Collection[int] = ()
) -> list[Attempt[dict[int, Stored]]]:
    """Return the expected content of those rows of turns that lie in the segment, by row number.

    Those in `plain` are found by their plain words.
    """
    rules = records_instructions(handle, (one.turn for one in turns))
    found = list[Attempt[dict[int, Stored]]]()
    for one in turns:
        read, kept = (
            derive_documents(one.turn, len(one.all_rows), plainly=one.seq in plain),
            map(vectors.get, one.all_rows),
        )
        own = make_index_rows(one.turn, one.place, read.value, one.facts, [*kept], rules=rules)
        found.append(Attempt({row: own[row - one.all_rows.start] for row in one.rows}, read.error))
    return found


def count_segments(handle: StoreHandle) -> int:
    """Return how many segments there are, the open one included."""
    return -(-handle.passages.high_water // handle.segments.size)


def _have_current_passages(handle: StoreHandle, turns: Sequence[tuple[int, Turn]]) -> bool:
    """Return whether each turn has as many rows as it has passages."""
    rows = handle.passages.rows_of_turns([seq for seq, _ in turns])
    return all(seq in rows and len(rows[seq]) == len(passages(turn.text)) for seq, turn in turns)


def read_usable_vectors(handle: StoreHandle, number: int) -> dict[int, Packed]:
    """Return the vectors of a segment that can be kept, by row."""
    try:
        return {row: one for row, one in handle.segments.vectors(number).items() if is_packed(one)}
    except UNREADABLE:
        return {}


@dataclass(frozen=True, slots=True)
class IndexedTurn:
    """A turn with its facts, its rows, and those of them that lie in one segment."""

    seq: int
    turn: Turn
    place: TurnRows
    facts: list[Fact]
    all_rows: range
    rows: range


def turns_in_segment(handle: StoreHandle, number: int) -> Iterator[list[IndexedTurn]]:
    """Yield the turns that have a row in a segment, many at once."""
    size = handle.segments.size
    first, last = number * size + 1, (number + 1) * size
    ranges = handle.passages.turns_with_rows_within(first, last)
    seqs = list(ranges)
    for start in range(0, len(seqs), _PAGE_TURNS):
        page = seqs[start : start + _PAGE_TURNS]
        facts, places = handle.fact_table.facts_by_turn(page), handle.raw.read_turn_rows(page)
        inside = {seq: range(max(first, ranges[seq].start), min(last + 1, ranges[seq].stop)) for seq in page}
        yield [
            IndexedTurn(seq, turn, places[seq], facts[seq], ranges[seq], inside[seq])
            for seq, turn in zip(page, handle.raw.read_turns(page), strict=True)
        ]


def is_grounded(fact: Fact, turn: Turn) -> bool:
    """Say whether a fact's span is a non-empty range of its turn's text, or of its caption for a fact of an image."""
    start, end = fact.span
    return 0 <= start < end <= len((turn.caption or "") if fact.kind == "image" else turn.text)


def find_unreadable_traces(handle: StoreHandle) -> Iterator[tuple[int, Exception]]:
    """Yield the number of each trace that cannot be read, with the exception it raises."""
    for (number,) in handle.db.select("trace", "number", "number"):
        try:
            read_trace(handle, number)
        except (*UNREADABLE, StoreCorrupt) as error:
            yield number, error


def delete_traces(handle: StoreHandle, numbers: Collection[int]) -> None:
    """Delete traces."""
    for table in ("trace_turn", "trace"):  # the rows that refer to a trace first, for the foreign key
        handle.db.delete_rows(table, number=numbers)


def make_index_rows(
    turn: Turn,
    place: TurnRows,
    documents: Sequence[Document],
    facts: Sequence[Fact],
    vectors: Sequence[Packed | None] | None,
    *,
    rules: bool = True,
) -> list[Stored]:
    """Return the rows of the index for a turn, one a passage; `vectors` are None while they are pending.

    Without `rules` it is not kept whether it sets a standing instruction.
    """
    columns = {
        "session": place.session,
        "speaker": place.speaker,
        "time": instant(turn.time),
        "turn": place.seq,
        "parts": len(documents),
        "role": (ROLES.index(turn.role) if turn.role in ROLES else 0) + (DISCARDED_ROW if is_discarded(turn) else 0),
        "rules": rules and sets_rule(turn),
    }
    happens, vectors = event_intervals(facts), vectors or [None] * len(documents)
    return [
        Stored.of(document, packed, happens, part=part, **columns)
        for part, (document, packed) in enumerate(zip(documents, vectors, strict=True))
    ]


def event_intervals(facts: Sequence[Fact]) -> tuple[Interval, ...]:
    """Return the distinct intervals of facts with a start and an end, in microseconds since 1970."""
    return tuple(
        dict.fromkeys(
            (instant(fact.event.start), instant(fact.event.end))
            for fact in facts
            if fact.event and fact.event.start and fact.event.end
        )
    )


def records_instructions(handle: StoreHandle, turns: Iterable[Turn]) -> bool:
    """Return whether it is kept which of these turns set a standing instruction: an old memory knows of none."""
    return not (any(map(sets_rule, turns)) and handle.db.read_meta_value(WHOLE_TURNS))
