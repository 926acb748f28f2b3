"""The three layers and the queue over one connection, and the counters that other handles watch."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from ..db.connection import Connection
from ..edges import EdgeGraph
from ..embedding.quantize import Packed
from ..index.corpus import IndexRow, Interval
from ..index.document import document
from ..index.fact_table import FactTable
from ..index.prepared_query import microseconds
from ..index.segments import Segments
from ..raw import Place, RawLog, instant
from ..types.values import Fact, Turn
from .queue import Jobs

_SETTING = "setting."  # begins the names of what is kept for those above the store


@dataclass(frozen=True, slots=True)
class Layers:
    """What a store is made of."""

    db: Connection
    raw: RawLog
    facts: FactTable
    segments: Segments
    edges: EdgeGraph
    jobs: Jobs

    @classmethod
    def over(cls, db: Connection, dimension: int, size: int, clock: Callable[[], float]) -> Layers:
        """Return the layers of an open file with segments of a size."""
        return cls(db, RawLog(db), FactTable(db), Segments(db, dimension, size), EdgeGraph(db), Jobs(db, clock))

    def row(self, place: Place, turn: Turn, facts: Sequence[Fact], packed: Packed | None) -> IndexRow:
        """Return a stored turn as the index sees it."""
        vector, scale = packed or (None, 0.0)
        return IndexRow(document(turn), place.session, place.speaker, instant(turn.time), vector, scale, events(facts))

    def meta(self, key: str) -> str | None:
        """Return a setting of the file."""
        value: str | None = self.db.value("SELECT value FROM meta WHERE key = ?", (key,))
        return value

    def set_meta(self, key: str, value: str) -> None:
        """Keep a setting of the file."""
        self.db.execute("INSERT OR REPLACE INTO meta (key, value) VALUES (?, ?)", (key, value))

    def setting(self, name: str) -> str | None:
        """Return what is kept under a name for those above the store."""
        return self.meta(_SETTING + name)

    def keep_setting(self, name: str, value: str | None) -> None:
        """Keep a text under a name for those above the store; None takes it away."""
        self.db.execute("DELETE FROM meta WHERE key = ?", (_SETTING + name,))
        if value is not None:
            self.set_meta(_SETTING + name, value)

    def drop_settings(self) -> None:
        """Take away everything that was kept for those above the store."""
        self.db.execute("DELETE FROM meta WHERE substr(key, 1, ?) = ?", (len(_SETTING), _SETTING))

    def deal_anew(self) -> None:
        """Say that vectors of known positions went or changed: an index that was built from them is of no use."""
        self.set_meta("dealt", str(int(self.meta("dealt") or 0) + 1))

    def count_commit(self, *, rewrote: bool = False, relinked: bool = False) -> None:
        """Count this transaction.

        `rewrote` tells other handles that rows they have read have changed, `relinked` that facts before the newest
        they know got their vectors.
        """
        for name in ("commits", *(["epoch"] if rewrote else []), *(["links"] if relinked else [])):
            self.db.execute("UPDATE meta SET value = CAST(value AS INTEGER) + 1 WHERE key = ?", (name,))


def events(facts: Sequence[Fact]) -> tuple[Interval, ...]:
    """Return when facts happen, as microseconds."""
    return tuple(
        dict.fromkeys(
            (microseconds(fact.event.start), microseconds(fact.event.end))
            for fact in facts
            if fact.event and fact.event.start and fact.event.end
        )
    )
