"""Forgetting: a turn and everything it led to, until every derived row equals a rebuild without it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime
from hashlib import blake2b
from pathlib import Path

from ..errors import UNREADABLE, StoreCorrupt
from ..index.document import document
from ..types.reports import EraseReport
from .layers import Layers
from .upkeep import UNFINISHED, derive_segment, of_another_copy

_DERIVED = (
    "edge",
    "fact_vector",
    "cue",
    "keyword",
    "fact",
    "document",
    "posting",
    "segment",
    "job",
    "trace_turn",
    "trace",
)
_PAGE = 1000


class Erasure:
    """Erases inside one transaction of the caller; `report` empties the log and says whether that was possible."""

    def __init__(self, layers: Layers, least: float, link_now: int) -> None:
        self._layers = layers
        self._least = least
        self._link_now = link_now
        self._turns = 0
        self._facts = 0
        self._bereft: set[int] = set()  # facts that were linked to what went

    def turns(self, seqs: Sequence[int]) -> bool:
        """Erase these turns; return whether there were any."""
        for page in _pages(list(dict.fromkeys(seqs))):
            self._page(page)
        if self._turns:
            self._relink()
            if not self._layers.raw.count():
                self._layers.drop_settings()
            self._end()
        return self._turns > 0

    def where(self, session: str | None, before: datetime | None, as_in: Path | None) -> bool:
        """Erase a session, the turns said before a time, those that the copy `as_in` has forgotten, or all of them.

        Raise InvalidQuery, NotAMemory or another StoreError where `as_in` is no readable copy of this memory.
        """
        if as_in is not None:
            return self.turns(self._layers.raw.seqs(list(_forgotten_in(self._layers, as_in))))
        if session is None and before is None:
            return self.everything()
        return self.turns(self._layers.raw.select(session, before))

    def everything(self) -> bool:
        """Erase all turns at once, and whatever else there is."""
        layers = self._layers
        self._turns, self._facts = layers.raw.count(), layers.facts.count()
        for page in layers.raw.id_pages():
            _remember_forgetting(layers, page)
        for table in _DERIVED:
            layers.db.execute(f"DELETE FROM {table}")
        layers.raw.erase_all()
        layers.drop_settings()
        self._end()
        return True

    def report(self) -> EraseReport:
        """Return what was erased; the old pages are gone once the log could be emptied."""
        if finished(self._layers, wait=True):
            return EraseReport("erased", self._turns, self._facts)
        reason = (
            "another reader still holds an older state of the file; its bytes go when that reader ends and the memory "
            "is next written, opened or closed"
        )
        return EraseReport("pending", self._turns, self._facts, reason)

    def _end(self) -> None:
        self._layers.set_meta(UNFINISHED, "1")
        self._layers.deal_anew()
        self._layers.count_commit(rewrote=True)

    def _page(self, seqs: Sequence[int]) -> None:
        layers = self._layers
        altered = self._altered(seqs)
        turns = layers.raw.read([seq for seq in seqs if seq not in altered])
        intact = [seq for seq in seqs if seq not in altered]
        gone = layers.facts.rows_of(seqs)
        self._bereft |= layers.edges.erase(gone)
        self._bereft.difference_update(gone)
        for table in ("cue", "keyword"):
            key = "row IN (SELECT row FROM fact WHERE seq = ?)" if table == "cue" else "seq = ?"
            layers.db.executemany(f"DELETE FROM {table} WHERE {key}", [(seq,) for seq in seqs])
        self._facts += layers.facts.erase(seqs)
        layers.segments.erase({seq: document(turn) for seq, turn in zip(intact, turns, strict=True)})
        layers.jobs.erase(seqs)
        _drop_traces(layers, seqs)
        _remember_forgetting(layers, layers.raw.ids(seqs).values())
        layers.segments.drop(altered)
        layers.raw.erase(seqs)
        for number in sorted({(seq - 1) // layers.segments.size for seq in altered}):
            derive_segment(layers, number)
        self._turns += len(seqs)

    def _relink(self) -> None:
        """Give what was linked to the erased its next best links or, in a large memory, owe it that."""
        layers = self._layers
        if layers.edges.more_than(self._link_now):
            layers.jobs.put("link", layers.facts.turns_of(self._bereft))
        else:
            layers.edges.relink(self._bereft, self._least)

    def _altered(self, seqs: Sequence[int]) -> set[int]:
        """Return the turns that are not what was stored: their terms cannot be read off them."""
        altered = set()
        for seq in seqs:
            try:
                self._layers.raw.read([seq])
            except (*UNREADABLE, StoreCorrupt):
                altered.add(seq)
        return altered


def finished(layers: Layers, *, wait: bool) -> bool:
    """Empty the log of what was erased, if that is still to be done; return False while another reader needs it."""
    if layers.meta(UNFINISHED) is None:
        return True
    if not layers.db.checkpoint(wait=wait):
        return False
    with layers.db.writing():
        if not layers.db.blank():
            return False  # somebody has written since
        layers.db.execute("DELETE FROM meta WHERE key = ?", (UNFINISHED,))
    return True


def was_forgotten(layers: Layers, turn_id: str) -> bool:
    """Return whether a turn of this id was erased before."""
    return layers.db.value("SELECT 1 FROM forgotten WHERE mark = ?", (_mark(layers, turn_id),)) is not None


def _forgotten_in(layers: Layers, path: Path) -> Iterator[str]:
    """Yield the ids of turns that another copy of this memory has erased and does not hold now."""
    marks, kept = of_another_copy(layers, path)
    for page in layers.raw.id_pages():
        yield from (turn_id for turn_id in page if turn_id not in kept and _mark(layers, turn_id) in marks)


def _remember_forgetting(layers: Layers, turn_ids: Iterable[str]) -> None:
    marks = [(_mark(layers, turn_id),) for turn_id in turn_ids]
    layers.db.executemany("INSERT OR IGNORE INTO forgotten (mark) VALUES (?)", marks)


def _mark(layers: Layers, turn_id: str) -> bytes:
    key = (layers.meta("store") or "").encode()
    return blake2b(turn_id.encode(), digest_size=16, key=key).digest()


def _drop_traces(layers: Layers, seqs: Sequence[int]) -> None:
    for seq in seqs:
        numbers = layers.db.rows("SELECT number FROM trace_turn WHERE seq = ?", (seq,))
        layers.db.executemany("DELETE FROM trace_turn WHERE number = ?", numbers)
        layers.db.executemany("DELETE FROM trace WHERE number = ?", numbers)


def _pages(seqs: list[int]) -> Iterator[list[int]]:
    for start in range(0, len(seqs), _PAGE):
        yield seqs[start : start + _PAGE]
