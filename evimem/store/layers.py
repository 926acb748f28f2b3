"""The three layers and the job queue over one connection, the file's settings, and the counters of its commits."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import ParamSpec

from ..db.connection import Connection
from ..edges import EdgeGraph
from ..embedding.quantize import Packed
from ..errors import StoreError
from ..index.corpus import ROLES, IndexRow, Interval
from ..index.document import found_by, sets_rule
from ..index.fact_table import FactTable
from ..index.passage_table import PassageTable
from ..index.prepared_query import microseconds
from ..index.segments import Segments
from ..raw import RawLog, TurnRows, instant
from ..types.attempt import Attempt
from ..types.values import Fact, Turn
from .job_leases import JobLeases
from .queue import Jobs

P = ParamSpec("P")
# Of `meta`, in a memory of an earlier version until it is rebuilt: its long turns are indexed whole, and it does not
# know which turns set standing instructions.
WHOLE_TURNS = "whole turns"
_PREFIX = "setting."  # of settings kept for code above the store, apart from the store's own


@dataclass(frozen=True, slots=True)
class Layers:
    """The parts of a store, all on one connection."""

    db: Connection
    raw: RawLog
    facts: FactTable
    passages: PassageTable
    segments: Segments
    edges: EdgeGraph
    jobs: Jobs
    leases: JobLeases

    @classmethod
    def over(cls, db: Connection, dimension: int, size: int, clock: Callable[[], float]) -> Layers:
        """Return the layers of an open file; `size` is the number of turns in a segment."""
        jobs = Jobs(db, clock)
        index = (FactTable(db), PassageTable(db), Segments(db, dimension, size))
        return cls(db, RawLog(db), *index, EdgeGraph(db), jobs, JobLeases(db, clock, jobs))

    def rows(
        self,
        turn: Turn,
        place: TurnRows,
        facts: Sequence[Fact],
        vectors: Sequence[Packed | None] | None,
        count: int | None = None,
        *,
        plainly: bool = False,
    ) -> Attempt[list[IndexRow]]:
        """Return what the index keeps of a turn; see `index_rows`."""
        read = index_rows(turn, place, facts, vectors, count, plainly=plainly)
        if read.value[0].rules and self.meta(WHOLE_TURNS):
            return replace(read, value=[replace(row, rules=False) for row in read.value])
        return read

    def derive(self, write: Callable[P, object], *args: P.args, **kwargs: P.kwargs) -> str | None:
        """Write what is derived of a turn, as a part of a transaction.

        Where that raises, undo that part alone, and return the type of what it raised. Errors of the file pass.
        """
        try:
            with self.db.part():
                write(*args, **kwargs)
        except StoreError:
            raise
        except Exception as error:  # noqa: BLE001 - the turn is stored all the same
            return type(error).__name__
        return None

    def meta(self, key: str) -> str | None:
        """Return one of the store's own settings."""
        value: str | None = self.db.value("SELECT value FROM meta WHERE key = ?", (key,))
        return value

    def set_meta(self, key: str, value: str) -> None:
        """Write one of the store's own settings."""
        self.db.execute("INSERT OR REPLACE INTO meta (key, value) VALUES (?, ?)", (key, value))

    def setting(self, name: str) -> str | None:
        """Return the text kept under a name for code above the store."""
        return self.meta(_PREFIX + name)

    def keep_setting(self, name: str, value: str | None) -> None:
        """Keep a text under a name for code above the store; None deletes it."""
        self.db.execute("DELETE FROM meta WHERE key = ?", (_PREFIX + name,))
        if value is not None:
            self.set_meta(_PREFIX + name, value)

    def drop_settings(self) -> None:
        """Delete every setting kept for code above the store."""
        self.db.execute("DELETE FROM meta WHERE substr(key, 1, ?) = ?", (len(_PREFIX), _PREFIX))

    def invalidate_ann(self) -> None:
        """Mark vector indexes built so far as stale: vectors at positions they hold were erased or changed."""
        self.set_meta("dealt", str(int(self.meta("dealt") or 0) + 1))

    def count_commit(self, *, rewrote: bool = False, relinked: bool = False, durable: bool = True) -> None:
        """Count this transaction.

        Other handles compare the counters: "commits" (those that a power cut cannot undo) with the high-water mark,
        "epoch" (`rewrote`: rows were changed
        or deleted) to read their corpus again, "links" (`relinked`: facts older than the newest linked one got vectors)
        to read the vectors of facts again.
        """
        counted = {"commits": durable, "epoch": rewrote, "links": relinked}
        for name in (name for name, counts in counted.items() if counts):
            self.db.execute("UPDATE meta SET value = CAST(value AS INTEGER) + 1 WHERE key = ?", (name,))


def index_rows(
    turn: Turn,
    place: TurnRows,
    facts: Sequence[Fact],
    vectors: Sequence[Packed | None] | None,
    count: int | None = None,
    *,
    plainly: bool = False,
) -> Attempt[list[IndexRow]]:
    """Return what the index keeps of a turn, one row a passage; its plain words where its terms cannot be read.

    `vectors` are their quantized vectors, None while they are pending; `count` the number of rows that the turn is
    stored in, None for one that is about to be stored; `plainly` asks for its plain words.
    """
    read, said = found_by(turn, count, plainly=plainly), instant(turn.time)
    found = read.value
    role = ROLES.index(turn.role) if turn.role in ROLES else 0
    happens, rules = events(facts), sets_rule(turn)
    rows = [
        IndexRow(
            document,
            place.session,
            place.speaker,
            said,
            place.seq,
            part,
            len(found),
            role,
            rules,
            None if packed is None else packed[0],
            0.0 if packed is None else packed[1],
            happens,
        )
        for part, (document, packed) in enumerate(zip(found, vectors or [None] * len(found), strict=True))
    ]
    return Attempt(rows, read.error)


def events(facts: Sequence[Fact]) -> tuple[Interval, ...]:
    """Return the distinct intervals of facts with a start and an end, in microseconds since 1970."""
    return tuple(
        dict.fromkeys(
            (microseconds(fact.event.start), microseconds(fact.event.end))
            for fact in facts
            if fact.event and fact.event.start and fact.event.end
        )
    )
