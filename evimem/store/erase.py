"""Forgetting: a turn and everything derived from it, until every derived row equals a rebuild without it."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path

from ..db.turn_sql import TURNS, turns_around
from ..errors import UNREADABLE
from ..index.document import Document, found_by
from ..index.segments import RowRange
from ..text.terms import terms
from ..types.attempt import attempt
from ..types.reports import EraseReport
from ..types.stored import EARLIER, Listing
from ..types.values import Fact
from .layers import UNFINISHED, Layers
from .rebuild import derive_segment, kept_vectors
from .sequence import Places, forgotten_in_copy, places_of, remember_forgotten, replace_places
from .trace_table import drop_traces_of

_DERIVED = (  # rows that refer to others first, for the foreign keys
    "edge",
    "fact_vector",
    "fact",
    "passage",
    "document",
    "posting",
    "segment",
    "job",
    "trace_turn",
    "trace",
)
_PAGE = 1000  # turns erased at once
HELD = (
    "another reader still holds an older state of the file, another process is writing to the file, or the disk is "
    "full; the bytes go when that has ended and the memory is next written, opened or closed"
)
SPARE = 256  # numbers of erased rows that stay unused however small a memory is


class Erasure:
    """Erases turns inside one transaction of the caller; `report`, after the commit, purges the log.

    Facts with an edge of at least `min_cosine` to an erased fact are linked again, or queued for it where more than
    `link_now` facts have a vector.
    """

    def __init__(self, layers: Layers, link_now: int) -> None:
        self._layers = layers
        self._link_now = link_now
        self._turns = 0
        self._facts = 0
        self._to_relink: set[int] = set()  # rows of later facts that were linked to erased ones
        self._left: Places = defaultdict(list)
        self._beside = ReadBeside(layers)

    def turns(self, seqs: Sequence[int]) -> bool:
        """Erase these turns; return whether there were any."""
        self.replaced(seqs)
        self.taken({})
        if self._turns and not self._layers.raw.count():
            self._layers.drop_settings()
        return self._turns > 0

    def replaced(self, seqs: Sequence[int]) -> None:
        """Erase turns that others replace: the settings of the memory stay, even if no turn is left.

        Call `taken` when the others are stored.
        """
        for page in _pages(list(dict.fromkeys(seqs))):
            self._erase_page(page)
        if self._turns:
            self._read_again()
            self._relink()
            if self._layers.passages.sparse(SPARE):  # a search takes time and room by the highest number
                self._layers.segments.renumber(self._layers.passages.renumber())
            self._note_commit()

    def taken(self, numbers: Mapping[int, int]) -> None:
        """Record which turns stand where erased ones did: their numbers by those of the erased."""
        replace_places(self._layers, self._left, numbers)

    def where(self, listing: Listing, as_in: Path | None) -> bool:
        """Erase the turns of a listing, what the copy `as_in` has forgotten, or everything where all are listed.

        Raise InvalidQuery, NotAMemory or another StoreError where `as_in` is no readable copy of this memory.
        """
        if as_in is not None:
            return self.turns(self._layers.raw.seqs(list(forgotten_in_copy(self._layers, as_in))))
        if listing == Listing():
            return self.everything()
        return self.turns(self._layers.raw.select(listing))

    def everything(self) -> bool:
        """Erase all turns, derived rows, traces and settings at once."""
        layers = self._layers
        self._turns, self._facts = layers.raw.count(), layers.facts.count()
        for page in layers.db.pages(TURNS, (0,), _PAGE):
            seqs = [seq for seq, *_ in page]
            remember_forgotten(layers, seqs)
            replace_places(layers, places_of(layers, seqs), {})
        for table in _DERIVED:
            layers.db.delete(table)
        layers.passages.clear()
        layers.raw.erase_all()
        layers.drop_settings()
        self._note_commit()
        return True

    def report(self) -> EraseReport:
        """Purge the log, waiting for others; return what was erased, as "pending" where they held it on."""
        residue = self._layers.db.residue
        if residue is None and self._layers.finish_erasure(wait=True):
            return EraseReport("erased", self._turns, self._facts)
        return EraseReport("pending", self._turns, self._facts, residue or HELD)

    def _note_commit(self) -> None:
        if self._layers.db.residue is None:
            self._layers.db.set_meta(UNFINISHED, "1")
        self._layers.invalidate_ann()
        self._layers.count_commit(rewrote=True)

    def _erase_page(self, seqs: Sequence[int]) -> None:
        layers = self._layers
        rows = layers.passages.of(seqs)
        known = self._known(rows)
        facts = layers.facts.rows_of(seqs)
        self._beside.note(seqs)
        self._to_relink |= layers.edges.erase(facts)
        self._to_relink.difference_update(facts)
        self._facts += layers.facts.erase(seqs)
        layers.segments.erase(
            {
                number: document
                for seq, found in known.items()
                for number, document in zip(rows[seq], found, strict=True)
            }
        )
        layers.jobs.erase(seqs)
        drop_traces_of(layers, seqs)
        remember_forgotten(layers, seqs)
        for session, left in places_of(layers, seqs).items():
            self._left[session] += left
        unknown = [row for seq, some in rows.items() if seq not in known for row in some]
        layers.segments.drop(unknown)
        layers.passages.erase(seqs)
        layers.raw.erase(seqs)
        # Where the terms of a turn are unknown, its postings cannot be taken out one by one.
        for number in sorted({(row - 1) // layers.segments.size for row in unknown}):
            derive_segment(layers, number, kept_vectors(layers, number))
        self._turns += len(seqs)

    def _read_again(self) -> None:
        """Drop and queue the facts in which a model put what only erased turns said."""
        layers, lost = self._layers, self._beside.lost()
        if lost:
            rows = layers.facts.rows_of(lost)
            self._to_relink = (self._to_relink | layers.edges.erase(rows)).difference(rows)
            self._facts += layers.facts.erase(lost)
            indexed = layers.passages.of(lost).values()
            layers.segments.set_events({row: () for some in indexed for row in some})
            layers.jobs.read_again(lost)

    def _relink(self) -> None:
        """Recompute the `similar` edges of the erased facts' neighbours; in a large memory, queue that."""
        layers = self._layers
        if layers.edges.more_than(self._link_now):
            layers.jobs.enqueue("link", layers.facts.turns_of(self._to_relink))
        else:
            layers.edges.relink(self._to_relink, layers.min_cosine)

    def _known(self, rows: Mapping[int, RowRange]) -> dict[int, tuple[Document, ...]]:
        """Return what turns are found by, where that is surely known.

        It is not of a turn that is not what was stored, whose terms cannot be read, or could not be when it was stored.
        """
        plain = self._layers.jobs.open_turns("terms")
        found: dict[int, tuple[Document, ...]] = {}
        for seq, turn in self._layers.raw.intact([seq for seq in rows if seq not in plain]).items():
            with suppress(*UNREADABLE):
                read = found_by(turn, rows[seq].count)
                found |= {seq: read.value} if read.error is None else {}
        return found


def _pages(seqs: list[int]) -> Iterator[list[int]]:
    for start in range(0, len(seqs), _PAGE):
        yield seqs[start : start + _PAGE]


class ReadBeside:
    """The words of erased turns, by the number of each later turn in which a model found facts.

    A model reads each turn with some before it, to know whom "he" means: it may have read what is erased.
    """

    def __init__(self, layers: Layers) -> None:
        self._layers = layers
        self._words: dict[int, set[str]] = defaultdict(set)

    def note(self, seqs: Sequence[int]) -> None:
        """Note the words of turns that are about to be erased."""
        layers, erased = self._layers, set(seqs)
        after = [pair for pair in layers.db.rows(*turns_around(layers.db, seqs, 0, EARLIER)) if pair[1] not in erased]
        by_model = layers.facts.read_by_a_model({near for _, near in after})
        after = [(seq, near) for seq, near in after if near in by_model]
        said = self._said({seq for seq, _ in after})
        for seq, near in after:
            self._words[near] |= said[seq]

    def lost(self) -> list[int]:
        """Return the turns that are left and have a fact with a word of an erased turn, and of none that is left."""
        layers = self._layers
        beside = sorted(layers.facts.read_by_a_model(self._words))
        left = [(seq, seq) for seq in beside] + layers.db.rows(*turns_around(layers.db, beside, EARLIER, 0))
        said, gone = self._said({near for _, near in left}), {seq: set(self._words[seq]) for seq in beside}
        for seq, near in left:
            gone[seq] -= said[near]
        facts = attempt({}, layers.facts.of_turns, beside).value
        return [seq for seq in beside if seq not in facts or any(_speaks_of(fact, gone[seq]) for fact in facts[seq])]

    def _said(self, seqs: Collection[int]) -> dict[int, set[str]]:
        """Return the words of turns; none of one that is not what was stored."""
        intact = self._layers.raw.intact(list(seqs)) if seqs else {}
        texts = {seq: f"{turn.speaker} {turn.text} {turn.caption or ''}" for seq, turn in intact.items()}
        return {seq: set(terms(texts.get(seq, ""))) for seq in seqs}


def _speaks_of(fact: Fact, words: Collection[str]) -> bool:
    return any(term in words for term in terms(f"{fact.subject} {fact.object}"))
