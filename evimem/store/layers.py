"""The three layers and the job queue over one connection, the memory's settings, and the counters of its commits."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TypeVar

from ..db.dialect import Query
from ..db.jobs import Jobs
from ..db.tables import Tables
from ..db.turn_sql import whole_turns
from ..edges import EdgeGraph, threshold
from ..errors import DimensionMismatch, EmbedderMismatch, StoreError
from ..index.corpus import ROLES, IndexRow, Interval
from ..index.document import Document, sets_rule
from ..index.fact_table import FactTable
from ..index.prepared_query import microseconds
from ..index.segments import PassageTable, Segments
from ..raw import RawLog, TurnRows, instant
from ..types.attempt import Attempt
from ..types.values import Fact, Turn
from ..types.vectors import Packed

T = TypeVar("T")
# Of `meta`, in a memory of an earlier version until it is rebuilt: its long turns are indexed whole, and it does not
# know which turns set standing instructions.
WHOLE_TURNS = "whole turns"
# `secure_delete` zeroes deleted rows in the file, but the log keeps their old pages until it is emptied. This setting
# is there from an erasure until then, across crashes.
UNFINISHED = "unfinished erasure"
SETTING = "setting."  # of settings kept for code above the store, apart from the store's own


@dataclass(frozen=True, slots=True)
class Layers:
    """The parts of a store, all on one connection."""

    db: Tables
    raw: RawLog
    facts: FactTable
    passages: PassageTable
    segments: Segments
    edges: EdgeGraph
    jobs: Jobs
    store: str  # the random id of the memory

    @classmethod
    def over(cls, db: Tables, dimension: int, size: int, clock: Callable[[], float]) -> Layers:
        """Return the layers of an open memory; `size` is the number of turns in a segment."""
        index = (FactTable(db), PassageTable(db), Segments(db, dimension, size))
        return cls(db, RawLog(db), *index, EdgeGraph(db), Jobs(db, clock), db.meta("store") or "")

    def rows(self, turns: Sequence[TurnToIndex]) -> list[Attempt[list[IndexRow]]]:
        """Return what the index keeps of turns; see `index_rows`."""
        read = [index_rows(one) for one in turns]
        if any(one.value[0].rules for one in read) and self.db.meta(WHOLE_TURNS):
            return [replace(one, value=[replace(row, rules=False) for row in one.value]) for one in read]
        return read

    @property
    def min_cosine(self) -> float:
        """From which cosine on two facts are linked, by the embedder of the memory."""
        return threshold(self.db.meta("embedder") or "")

    def expect(self, seqs: Sequence[int], *others: Query, facts: bool = True) -> None:
        """Ask for turns and their facts, which are likely to be read in this transaction, before it waits for these."""
        of_turns = (whole_turns(self.db, seqs), self.facts.asking(seqs)) if facts else (whole_turns(self.db, seqs),)
        self.db.ahead(*others, *(of_turns if seqs else ()))

    def derive(self, write: Callable[[Sequence[T]], object], given: Sequence[T]) -> list[str | None]:
        """Write what is derived of several turns, as parts of a transaction; return, for each, the type of its error.

        All is written at once or, where that raises, each by itself: what raises is undone alone, and the turn is
        stored all the same. Errors of the file pass.
        """
        try:
            if given:
                with self.db.part():
                    write(given)
        except StoreError:
            raise
        except Exception as error:  # noqa: BLE001 - the turn is stored all the same
            if len(given) == 1:
                return [type(error).__name__]
            return [why for one in given for why in self.derive(write, [one])]
        return [None] * len(given)

    def drop_settings(self) -> None:
        """Delete every setting kept for code above the store."""
        kept = (key for (key,) in self.db.select("meta", "key"))
        self.db.drop_meta(*(key for key in kept if key.startswith(SETTING)))

    def finish_erasure(self, *, wait: bool) -> bool:
        """Purge the bytes of erased turns from the log and from unused parts of pages, if an erasure left any.

        See `Tables.purge`.
        """
        return self.db.meta(UNFINISHED) is None or self.db.purge(lambda: self.db.drop_meta(UNFINISHED), wait=wait)

    def invalidate_ann(self) -> None:
        """Mark vector indexes built so far as stale: vectors at positions they hold were erased or changed."""
        self.db.set_meta("dealt", str(int(self.db.meta("dealt") or 0) + 1))

    def count_commit(self, *, rewrote: bool = False, relinked: bool = False, durable: bool = True) -> None:
        """Count this transaction.

        Other handles compare the counters: "commits" (those that a power cut cannot undo) with the high-water mark,
        "epoch" (`rewrote`: rows were changed or deleted) to read their corpus again, "links" (`relinked`: facts older
        than the newest linked one got vectors) to read the vectors of facts again.
        """
        counted = {"commits": durable, "epoch": rewrote, "links": relinked}
        self.db.count_up(*(name for name, counts in counted.items() if counts))


@dataclass(frozen=True, slots=True)
class TurnToIndex:
    """A turn with what its rows hold: `read` is what it is found by, `vectors` are None while they are pending."""

    turn: Turn
    place: TurnRows
    read: Attempt[tuple[Document, ...]]
    facts: Sequence[Fact]
    vectors: Sequence[Packed | None] | None


def index_rows(one: TurnToIndex) -> Attempt[list[IndexRow]]:
    """Return what the index keeps of a turn, one row a passage; its plain words where its terms cannot be read."""
    turn, place, found, said = one.turn, one.place, one.read.value, instant(one.turn.time)
    role = ROLES.index(turn.role) if turn.role in ROLES else 0
    happens, rules = events(one.facts), sets_rule(turn)
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
        for part, (document, packed) in enumerate(zip(found, one.vectors or [None] * len(found), strict=True))
    ]
    return Attempt(rows, one.read.error)


def events(facts: Sequence[Fact]) -> tuple[Interval, ...]:
    """Return the distinct intervals of facts with a start and an end, in microseconds since 1970."""
    return tuple(
        dict.fromkeys(
            (microseconds(fact.event.start), microseconds(fact.event.end))
            for fact in facts
            if fact.event and fact.event.start and fact.event.end
        )
    )


def check_identity(layers: Layers, name: str, dimension: int, owner: str | None) -> None:
    """Record embedder, dimension, segment size and owner in a new file; compare them with those of an old one.

    Inside a transaction of the caller.

    Raises:
        EmbedderMismatch: The file was made with an embedder of another name.
        DimensionMismatch: The embedder has the same name and another dimension.
        StoreError: The file belongs to another user of a pool.
    """
    kept, width, owned = (layers.db.meta(key) for key in ("embedder", "dimension", "owner"))
    if owned != owner and kept is not None and owner is not None:
        raise StoreError(f"{layers.db.name!r} belongs to another user of a pool; put that user's own file back")
    if kept is None or width is None:
        layers.db.set_meta("embedder", name)
        layers.db.set_meta("dimension", str(dimension))
        layers.db.set_meta("segment", str(layers.segments.size))
        if owner is not None:
            layers.db.set_meta("owner", owner)
    elif kept != name:
        raise EmbedderMismatch(name, kept)
    elif int(width) != dimension:
        raise DimensionMismatch(dimension, int(width))
