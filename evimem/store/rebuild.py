"""Deriving everything again from the turns: facts, documents, postings, and the jobs for vectors and edges."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

from ..embedding.quantize import Packed, is_packed
from ..errors import UNREADABLE
from ..index.passage_table import RowRange
from ..index.passages import passages
from ..index.segments import Stored, stored
from ..protocols import Extractor
from ..raw import instant, set_instants, wrong_instants
from ..types.attempt import Attempt
from ..types.values import Fact, Turn
from .layers import WHOLE_TURNS, Layers
from .trace_table import drop_unreadable_traces

Progress = Callable[[int], None]
_PAGE = 1_000  # turns read at once


def rebuild_all(layers: Layers, extractor: Extractor, *, reread: bool, progress: Progress) -> None:
    """Derive everything from the turns, inside a transaction of the caller.

    Long turns that an earlier version indexed whole are split into passages. Vectors are kept; missing ones are queued.
    Facts of other extractors are kept where their span lies in their turn; with `reread` all of them are dropped, and
    extraction is queued again. Readable traces are kept. `progress` is called with 1 for each turn read.

    Raises:
        StoreCorrupt: A turn is not what was stored; nothing is changed.
    """
    db = layers.db
    db.execute("REINDEX")  # first: every statement below finds rows by the indexes
    layers.edges.clear()  # before facts: foreign keys hold a fact while an edge or a vector refers to it
    db.execute("DELETE FROM posting")
    for table in ("fact", "passage", "job"):
        db.execute(f"DELETE FROM {table} WHERE seq NOT IN (SELECT seq FROM turn)")
    if reread:
        db.execute("DELETE FROM fact WHERE extractor <> ?", (extractor.name,))
        layers.jobs.requeue_all("extract")
    layers.facts.drop_unreadable()
    set_instants(db, wrong_instants(db))
    drop_unreadable_traces(layers)
    for page in layers.raw.pages():
        for seq, turn in page:
            _read_facts(layers, seq, turn, extractor)
            _drop_ungrounded(layers, seq, turn)
            progress(1)
    layers.facts.settle()
    db.execute("DELETE FROM job WHERE kind = 'terms'")  # all are read again
    derive_segments(layers)
    # In ascending order, so that each fact is linked to those before it whatever page of the queue it falls on.
    layers.jobs.enqueue("link", [seq for (seq,) in db.rows("SELECT DISTINCT seq FROM fact ORDER BY seq")])
    layers.count_commit(rewrote=True)


def _read_facts(layers: Layers, seq: int, turn: Turn, extractor: Extractor) -> None:
    """Read the facts of a turn again; where that raises, keep those that an earlier reading found, and queue it."""
    said = instant(turn.time)
    error = layers.derive(lambda: layers.facts.reconcile(seq, said, extractor.extract(turn), extractor.name))
    if error is None:
        layers.jobs.complete("facts", [seq])
    else:
        layers.jobs.fail("facts", seq, error)


def derive_segments(layers: Layers) -> None:
    """Derive every segment, with the rows that the turns have or, where those are not what they should be, new ones."""
    if _are_split_as_now(layers):
        for number in range(segment_count(layers)):
            derive_segment(layers, number, kept_vectors(layers, number))
        return
    vectors = _vectors_of_turns(layers)
    layers.passages.clear()
    for table in ("document", "segment"):
        layers.db.execute(f"DELETE FROM {table}")
    layers.db.execute("DELETE FROM meta WHERE key = ?", (WHOLE_TURNS,))
    kept: dict[int, Packed] = {}
    for page in layers.raw.pages():
        for seq, turn in page:
            rows = layers.passages.assign(seq, len(passages(turn.text)))
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
    missing, plain = [], layers.jobs.open_turns("terms")
    for one in segment_turns(layers, number):
        read = stored_rows(layers, one, vectors, plainly=one.seq in plain)
        rows |= read.value
        if read.error is not None:
            layers.jobs.fail("terms", one.seq, read.error)
        if any(row not in vectors for row in one.rows):
            missing.append(one.seq)
    layers.segments.replace(number, rows, layers.passages.high_water)
    layers.jobs.enqueue("vector", missing)


def stored_rows(
    layers: Layers, one: IndexedTurn, vectors: Mapping[int, Packed], *, plainly: bool = False
) -> Attempt[dict[int, Stored]]:
    """Return what should be stored for those rows of a turn that lie in the segment, by row number."""
    packed = [vectors.get(row) for row in one.all_rows]
    place = layers.raw.place(one.seq)
    read = layers.rows(one.turn, place, one.facts, packed, one.all_rows.count, plainly=plainly)
    rows = dict(zip(one.all_rows, read.value, strict=True))
    return Attempt({number: stored(rows[number]) for number in one.rows}, read.error)


def segment_count(layers: Layers) -> int:
    """Return how many segments there are, the open one included."""
    return -(-layers.passages.high_water // layers.segments.size)


def _are_split_as_now(layers: Layers) -> bool:
    """Return whether every turn has as many rows as it has passages."""
    if layers.meta(WHOLE_TURNS):
        return False
    for page in layers.raw.pages():
        rows = layers.passages.of([seq for seq, _ in page])
        if any(seq not in rows or rows[seq].count != len(passages(turn.text)) for seq, turn in page):
            return False
    return True


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
    layers.jobs.enqueue("vector", [seq for (seq,) in layers.db.rows("SELECT seq FROM turn ORDER BY seq")])
    layers.jobs.enqueue("link", [seq for (seq,) in layers.db.rows("SELECT DISTINCT seq FROM fact ORDER BY seq")])
    layers.invalidate_ann()
    layers.set_meta("embedder", name)
    layers.set_meta("dimension", str(dimension))
    layers.count_commit(rewrote=True)


@dataclass(frozen=True, slots=True)
class IndexedTurn:
    """A turn with its facts, its rows, and those of them that lie in one segment."""

    seq: int
    turn: Turn
    facts: list[Fact]
    all_rows: RowRange
    rows: range


def segment_turns(layers: Layers, number: int) -> Iterator[IndexedTurn]:
    """Yield each turn that has a row in a segment."""
    size = layers.segments.size
    first, last = number * size + 1, (number + 1) * size
    ranges = layers.passages.within(first, last)
    seqs = list(ranges)
    for start in range(0, len(seqs), _PAGE):
        page = seqs[start : start + _PAGE]
        facts = layers.facts.of_turns(page)
        for seq, turn in zip(page, layers.raw.read(page), strict=True):
            rows = ranges[seq]
            inside = range(max(first, rows.first), min(last + 1, rows.first + rows.count))
            yield IndexedTurn(seq, turn, facts[seq], rows, inside)


def is_grounded(fact: Fact, turn: Turn) -> bool:
    """Say whether a fact's span is a non-empty range of its turn's text, or of its caption for a fact of an image."""
    start, end = fact.span
    return 0 <= start < end <= len((turn.caption or "") if fact.kind == "image" else turn.text)


def _drop_ungrounded(layers: Layers, seq: int, turn: Turn) -> None:
    for fact in layers.facts.of_turns([seq])[seq]:
        if not is_grounded(fact, turn):
            layers.db.execute("DELETE FROM fact WHERE id = ?", (fact.id,))
