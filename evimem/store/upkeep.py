"""Care of a memory: derive it again, count it, copy it, keep its traces."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from pathlib import Path

from ..db.atomic_files import changing, check_target, claim, sweep, sync_folder
from ..db.connection import Connection
from ..db.schema import MIGRATIONS
from ..embedding.quantize import is_packed
from ..errors import UNREADABLE, DimensionMismatch, EmbedderMismatch, InvalidQuery, StoreCorrupt, StoreError
from ..index.segments import Stored, stored
from ..protocols import Extractor
from ..raw import instant
from ..types.reports import Health, Stats
from ..types.trace import Found, Trace
from ..types.values import Fact, Turn
from .layers import Layers
from .open_file import open_copy

KEPT_TRACES = 100  # the newest; older ones make room
UNFINISHED = "unfinished erasure"  # the setting that is there until no reader holds what was erased


def rebuild(layers: Layers, extractor: Extractor, *, reread: bool = False) -> None:
    """Derive everything from the turns, inside a transaction of the caller. Vectors are kept; missing ones are owed.

    Facts of other extractors stay where their span lies in their turn, and go where it does not; with `reread` all of
    them go, and are owed again. Traces that can be read stay. Raise StoreCorrupt, and change nothing, where a turn is
    not what was stored.
    """
    db, high = layers.db, layers.raw.high_water()
    db.execute("REINDEX")  # first: what follows finds rows by them
    layers.edges.clear()  # its rows hold on to facts that may go
    for table in ("cue", "keyword", "posting"):
        db.execute(f"DELETE FROM {table}")
    for table in ("fact", "document", "job"):
        db.execute(f"DELETE FROM {table} WHERE seq NOT IN (SELECT seq FROM turn)")
    if reread:
        db.execute("DELETE FROM fact WHERE extractor <> ?", (extractor.name,))
        layers.jobs.put_back("extract")
    layers.facts.drop_unreadable()
    layers.raw.retime(layers.raw.wrongly_timed())
    drop_unreadable_traces(layers)
    for page in layers.raw.pages():
        for seq, turn in page:
            layers.facts.reconcile(seq, instant(turn.time), extractor.extract(turn), extractor.name)
            _drop_ungrounded(layers, seq, turn)
    layers.facts.settle()
    for number in range(-(-high // layers.segments.size)):
        derive_segment(layers, number)
    layers.jobs.put("link", [seq for (seq,) in db.rows("SELECT DISTINCT seq FROM fact ORDER BY seq")])
    layers.count_commit(rewrote=True)


def check_identity(layers: Layers, name: str, dimension: int, owner: str | None) -> None:
    """Say in a new file whose it is and what it is made with; refuse an old one that says otherwise.

    Inside a transaction of the caller. Raise EmbedderMismatch, DimensionMismatch or StoreError.
    """
    kept, width, owned = (layers.meta(key) for key in ("embedder", "dimension", "owner"))
    if owned != owner and kept is not None and owner is not None:
        raise StoreError(f"{str(layers.db.path)!r} belongs to another user of a pool; put that user's own file back")
    if kept is None or width is None:
        layers.set_meta("embedder", name)
        layers.set_meta("dimension", str(dimension))
        layers.set_meta("segment", str(layers.segments.size))
        if owner is not None:
            layers.set_meta("owner", owner)
    elif kept != name:
        raise EmbedderMismatch(name, kept)
    elif int(width) != dimension:
        raise DimensionMismatch(dimension, int(width))


def derive_segment(layers: Layers, number: int) -> None:
    """Derive the documents, columns and postings of a segment from its turns."""
    try:
        vectors = {seq: one for seq, one in layers.segments.vectors(number).items() if is_packed(one)}
    except UNREADABLE:
        vectors = {}  # they are owed again
    rows: dict[int, Stored] = {}
    owed = []
    for seq, turn, facts in segment(layers, number):
        rows[seq] = stored(layers.row(layers.raw.place(seq), turn, facts, vectors.get(seq)))
        if seq not in vectors:
            owed.append(seq)
    layers.segments.replace(number, rows, layers.raw.high_water())
    layers.jobs.put("vector", owed)


def drop_vectors(layers: Layers, name: str, dimension: int) -> None:
    """Take another embedder, inside a transaction of the caller: every vector is owed again."""
    layers.segments.drop_vectors(dimension)
    layers.edges.clear()
    for kind, sql in (("vector", "SELECT seq FROM turn"), ("link", "SELECT DISTINCT seq FROM fact")):
        layers.jobs.put(kind, [seq for (seq,) in layers.db.rows(f"{sql} ORDER BY seq")])
    layers.deal_anew()
    layers.set_meta("embedder", name)
    layers.set_meta("dimension", str(dimension))
    layers.count_commit(rewrote=True)


def health(layers: Layers, found: Sequence[str] = ()) -> Health:
    """Return what is owed to turns and what has failed."""
    pending, failed = layers.jobs.counts("pending"), layers.jobs.counts("failed")
    notes = [f"{count} turn(s) failed for good in {kind!r}: see enrich()" for kind, count in failed.items()]
    notes += [
        f"{count} turn(s) wait for {kind!r} after a failure ({why}): enrich() tries again"
        for kind, count, why in layers.jobs.setbacks()
    ]
    if layers.meta(UNFINISHED):
        notes.append("what was forgotten is still in the log, which another reader holds: it goes with a later write")
    oldest, problems = layers.jobs.oldest(), (*found, *notes)
    return Health("degraded" if problems else "ok", layers.raw.count(), pending, failed, oldest, problems)


def stats(layers: Layers) -> Stats:
    """Return counts and dates."""
    roster = layers.raw.roster()
    pages, size = layers.db.value("PRAGMA page_count"), layers.db.value("PRAGMA page_size")
    return Stats(
        str(layers.db.path),
        layers.raw.count(),
        int(layers.db.value("SELECT count(*) FROM session")),
        roster.speakers,
        layers.facts.count(),
        layers.edges.count(),
        roster.first,
        roster.last,
        layers.meta("embedder") or "",
        layers.segments.dimension,
        pages * size,
        len(MIGRATIONS),
    )


def pairs(layers: Layers) -> Iterator[tuple[Turn, tuple[Fact, ...]]]:
    """Yield every turn with its facts, in order of arrival."""
    with layers.db.decoding():
        for page in layers.raw.pages():
            facts = layers.facts.of_turns([seq for seq, _ in page])
            yield from ((turn, tuple(facts[seq])) for seq, turn in page)


def unread(layers: Layers, before: int) -> Iterator[tuple[Turn, tuple[Turn, ...]]]:
    """Yield every turn that is left for a model to read, with some of those before it. Nothing is written."""
    with layers.db.decoding():
        for page in layers.raw.pages():
            left = set(layers.jobs.unread("extract", [seq for seq, _ in page]))
            some = [turn for seq, turn in page if seq in left]
            around = layers.raw.contexts([turn.id for turn in some], before, 0)
            yield from ((turn, earlier[:-1]) for turn, earlier in zip(some, around, strict=True))


def keep_trace(layers: Layers, trace: Trace) -> int:
    """Store a trace with the turns it cites, inside a transaction of the caller; return its number."""
    number = layers.db.execute("INSERT INTO trace (body) VALUES (?)", (trace.to_json().encode(),))
    cited = {turn_id for event in trace if isinstance(event, Found) for turn_id in event.turns}
    seqs = [(number, seq) for turn_id in cited if (seq := layers.raw.find(turn_id)) is not None]
    layers.db.executemany("INSERT INTO trace_turn (number, seq) VALUES (?, ?)", seqs)
    for table in ("trace_turn", "trace"):
        layers.db.execute(f"DELETE FROM {table} WHERE number <= ?", (number - KEPT_TRACES,))
    return number


def unreadable_traces(layers: Layers) -> Iterator[tuple[int, Exception]]:
    """Yield the traces that cannot be read, each with why."""
    for (number,) in layers.db.rows("SELECT number FROM trace ORDER BY number"):
        try:
            trace(layers, number)
        except (*UNREADABLE, StoreCorrupt) as error:
            yield number, error


def drop_unreadable_traces(layers: Layers) -> None:
    """Drop what nothing can make again."""
    for number, _ in list(unreadable_traces(layers)):
        for table in ("trace_turn", "trace"):
            layers.db.execute(f"DELETE FROM {table} WHERE number = ?", (number,))


def trace(layers: Layers, number: int | None) -> Trace:
    """Return a stored trace. Raise InvalidQuery where there is none."""
    wanted = number if number is not None else layers.db.value("SELECT max(number) FROM trace")
    body = layers.db.value("SELECT body FROM trace WHERE number = ?", (wanted,))
    if body is None:
        raise InvalidQuery(f"no trace {number if number is not None else ''} in this memory; keep_trace() stores one")
    return Trace.from_json(body)


def backup(db: Connection, target: Path) -> None:
    """Copy a memory into a new file. Raise StoreError where the target exists."""
    check_target(target)
    if target.exists():
        raise StoreError(
            f"{str(target)!r} exists already; a backup is never written over another file: give a new path"
        )
    sweep(target)  # of one that was killed
    temporary = target.with_name(f"{target.name}.{os.getpid()}.tmp")
    try:
        with changing(repr(str(target)), "there is no backup"), claim(temporary):
            db.backup_to(temporary)
        with changing(repr(str(target)), "there is no backup"):
            with temporary.open("rb+") as file:
                os.fsync(file.fileno())
            temporary.replace(target)
    finally:
        for leftover in (
            temporary,
            *(temporary.with_name(temporary.name + end) for end in ("-wal", "-shm", "-journal")),
        ):
            leftover.unlink(missing_ok=True)
    sync_folder(target.parent)


def of_another_copy(layers: Layers, path: Path) -> tuple[set[bytes], set[str]]:
    """Return the keyed digests of the ids that another copy of this memory has erased, and the ids that it holds.

    Raise InvalidQuery where there is no such copy, NotAMemory or another StoreError where it cannot be read.
    """
    other = open_copy(path)
    try:
        with other.decoding(), other.reading():
            if other.value("SELECT value FROM meta WHERE key = 'store'") != layers.meta("store"):
                raise InvalidQuery(f"{str(path)!r} is no copy of this memory; what it has forgotten tells nothing here")
            marks = {mark for (mark,) in other.rows("SELECT mark FROM forgotten")}
            return marks, {turn_id for (turn_id,) in other.rows("SELECT id FROM turn")}
    finally:
        other.close()


def segment(layers: Layers, number: int) -> Iterator[tuple[int, Turn, list[Fact]]]:
    """Yield the turns of a segment with their numbers and facts."""
    last = (number + 1) * layers.segments.size
    for page in layers.raw.pages(after=number * layers.segments.size):
        facts = layers.facts.of_turns([seq for seq, _ in page if seq <= last])
        yield from ((seq, turn, facts[seq]) for seq, turn in page if seq <= last)
        if page[-1][0] >= last:
            return


def _drop_ungrounded(layers: Layers, seq: int, turn: Turn) -> None:
    for fact in layers.facts.of_turns([seq])[seq]:
        if not grounded(fact, turn):
            layers.db.execute("DELETE FROM fact WHERE id = ?", (fact.id,))


def grounded(fact: Fact, turn: Turn) -> bool:
    """Say whether a fact's span lies in its turn."""
    start, end = fact.span
    return 0 <= start < end <= len((turn.caption or "") if fact.kind == "image" else turn.text)
