"""Kept traces: the newest `KEPT_TRACES`, each with the turns it cites, so that forgetting a turn drops it."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence

from ..db.place_sql import drop_traces_to, newest_trace
from ..errors import UNREADABLE, InvalidQuery, StoreCorrupt, TraceMismatch
from ..types.trace import Found, Trace, version_of
from .layers import Layers

KEPT_TRACES = 100


def insert_trace(layers: Layers, trace: Trace) -> int:
    """Store a trace and drop the oldest beyond `KEPT_TRACES`, inside a transaction of the caller; return its number.

    Raise UnknownTurn where a turn that it read is not stored: the trace quotes it, and it may have been forgotten
    since. Raise TraceMismatch where other words stand there now.
    """
    found = {turn_id for event in trace if isinstance(event, Found) for turn_id in event.turns}
    read = sorted(found.union(trace.read))
    seqs = layers.raw.seqs(read)
    for turn_id, turn in zip(read, layers.raw.read(seqs), strict=True):
        if trace.read.get(turn_id) not in (None, version_of(turn)):
            raise TraceMismatch(
                f"turn {turn_id!r} was replaced since the question, and its old words would come back with the trace; "
                "ask again, and keep that trace"
            )
    number = layers.db.newest("trace") + 1
    layers.db.insert("trace", "number, body", [(number, trace.to_json().encode())])
    layers.db.insert("trace_turn", "number, seq", [(number, seq) for seq in seqs])
    drop_traces_to(layers.db, number - KEPT_TRACES)
    return number


def read_trace(layers: Layers, number: int | None) -> Trace:
    """Return a stored trace, the newest without a number. Raise InvalidQuery where there is none."""
    wanted = number if number is not None else newest_trace(layers.db)
    kept = [] if wanted is None else layers.db.select("trace", "body", number=[wanted])
    if not kept:
        raise InvalidQuery(f"no trace {number if number is not None else ''} in this memory; keep_trace() stores one")
    try:
        return Trace.from_json(kept[0][0])
    except ValueError as error:
        raise StoreCorrupt(f"a kept trace cannot be read ({error}); `evimem doctor --repair` drops it") from error


def drop_traces_of(layers: Layers, seqs: Sequence[int]) -> None:
    """Drop every trace that cites one of these turns: it quotes them."""
    _drop(layers, {number for (number,) in layers.db.select("trace_turn", "number", seq=seqs)})


def _drop(layers: Layers, numbers: Collection[int]) -> None:
    if numbers:
        for table in ("trace_turn", "trace"):  # the rows that refer to a trace first, for the foreign key
            layers.db.delete(table, number=numbers)


def unreadable_traces(layers: Layers) -> Iterator[tuple[int, Exception]]:
    """Yield the number of each trace that cannot be read, with the exception it raises."""
    for (number,) in layers.db.select("trace", "number", "number"):
        try:
            read_trace(layers, number)
        except (*UNREADABLE, StoreCorrupt) as error:
            yield number, error


def drop_unreadable_traces(layers: Layers) -> None:
    """Drop the traces that cannot be read: unlike derived rows, they cannot be made again."""
    _drop(layers, [number for number, _ in unreadable_traces(layers)])
