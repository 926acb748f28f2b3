"""Deriving everything again from the turns: facts, documents, postings, and the jobs for vectors and edges."""

from __future__ import annotations

from collections.abc import Iterator

from ..embedding.quantize import is_packed
from ..errors import UNREADABLE
from ..index.segments import Stored, stored
from ..protocols import Extractor
from ..raw import instant, set_instants, wrong_instants
from ..types.values import Fact, Turn
from .layers import Layers
from .trace_table import drop_unreadable_traces


def rebuild_all(layers: Layers, extractor: Extractor, *, reread: bool = False) -> None:
    """Derive everything from the turns, inside a transaction of the caller.

    Vectors are kept; missing ones are queued. Facts of other extractors are kept where their span lies in their turn;
    with `reread` all of them are dropped, and extraction is queued again. Readable traces are kept.

    Raises:
        StoreCorrupt: A turn is not what was stored; nothing is changed.
    """
    db, high = layers.db, layers.raw.high_water()
    db.execute("REINDEX")  # first: every statement below finds rows by the indexes
    layers.edges.clear()  # before facts: foreign keys hold a fact while an edge or a vector refers to it
    for table in ("cue", "keyword", "posting"):
        db.execute(f"DELETE FROM {table}")
    for table in ("fact", "document", "job"):
        db.execute(f"DELETE FROM {table} WHERE seq NOT IN (SELECT seq FROM turn)")
    if reread:
        db.execute("DELETE FROM fact WHERE extractor <> ?", (extractor.name,))
        layers.jobs.requeue_all("extract")
    layers.facts.drop_unreadable()
    set_instants(db, wrong_instants(db))
    drop_unreadable_traces(layers)
    for page in layers.raw.pages():
        for seq, turn in page:
            layers.facts.reconcile(seq, instant(turn.time), extractor.extract(turn), extractor.name)
            _drop_ungrounded(layers, seq, turn)
    layers.facts.settle()
    for number in range(-(-high // layers.segments.size)):  # rounded up: the last segment may be part full
        derive_segment(layers, number)
    # In ascending order, so that each fact is linked to those before it whatever page of the queue it falls on.
    layers.jobs.enqueue("link", [seq for (seq,) in db.rows("SELECT DISTINCT seq FROM fact ORDER BY seq")])
    layers.count_commit(rewrote=True)


def derive_segment(layers: Layers, number: int) -> None:
    """Derive the documents, columns and postings of a segment from its turns; queue the vectors it lacks."""
    try:
        vectors = {seq: one for seq, one in layers.segments.vectors(number).items() if is_packed(one)}
    except UNREADABLE:
        vectors = {}
    rows: dict[int, Stored] = {}
    missing = []
    for seq, turn, facts in segment_turns(layers, number):
        rows[seq] = stored(layers.row(layers.raw.place(seq), turn, facts, vectors.get(seq)))
        if seq not in vectors:
            missing.append(seq)
    layers.segments.replace(number, rows, layers.raw.high_water())
    layers.jobs.enqueue("vector", missing)


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


def segment_turns(layers: Layers, number: int) -> Iterator[tuple[int, Turn, list[Fact]]]:
    """Yield (sequence number, turn, facts) for each turn of a segment."""
    last = (number + 1) * layers.segments.size
    for page in layers.raw.pages(after=number * layers.segments.size):
        facts = layers.facts.of_turns([seq for seq, _ in page if seq <= last])
        yield from ((seq, turn, facts[seq]) for seq, turn in page if seq <= last)
        if page[-1][0] >= last:
            return


def is_grounded(fact: Fact, turn: Turn) -> bool:
    """Say whether a fact's span is a non-empty range of its turn's text, or of its caption for a fact of an image."""
    start, end = fact.span
    return 0 <= start < end <= len((turn.caption or "") if fact.kind == "image" else turn.text)


def _drop_ungrounded(layers: Layers, seq: int, turn: Turn) -> None:
    for fact in layers.facts.of_turns([seq])[seq]:
        if not is_grounded(fact, turn):
            layers.db.execute("DELETE FROM fact WHERE id = ?", (fact.id,))
