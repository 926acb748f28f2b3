"""Rows: the numbers of a turn, and the stored values of each: a row in an open segment, then columns and postings.

Rows are numbered from 1 in order of arrival; numbers of erased turns stay unused until there are many of them. Segment
n holds the rows n * size + 1 .. (n + 1) * size and is sealed when the last of these numbers is assigned. So the content
stored depends on the turns and their row numbers alone: a rebuild gives the same rows.
"""

from __future__ import annotations

import struct
from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from datetime import datetime
from itertools import accumulate, pairwise
from typing import Any

import numpy as np
import orjson

from ..db.derived_sql import (
    DOCUMENT,
    SEALED,
    count_row_numbers,
    count_sealed_segments,
    read_events_since,
    read_passages_within,
    read_terms_with_prefix,
    select_highest_row,
    select_open_documents,
)
from ..db.tables import Tables
from ..types.type_variables import T
from ..types.values import instant
from ..types.vectors import Packed
from .corpus import COLUMNS, Corpus, Interval, Posting, RowBlock, Stored
from .document import Document

# The highest row number that was ever given is kept when turns are erased; else it is that of a turn that is there.
_HIGH = "rows"


class PassageTable:
    """The row numbers of turns."""

    def __init__(self, db: Tables) -> None:
        self._db = db

    @property
    def high_water(self) -> int:
        """The highest row number that was ever given; 0 in a new memory."""
        return int(self._db.read_value(*select_highest_row(_HIGH)) or 0)

    def assign(self, counts: Sequence[tuple[int, int]]) -> list[range]:
        """Give turns their rows, the next ones; `counts` are (sequence number, number of rows)."""
        bounds = [*accumulate((count for _, count in counts), initial=self.high_water + 1 if counts else 1)]
        given = [range(first, end) for first, end in pairwise(bounds)]
        numbered = [(seq, rows.start, count) for (seq, count), rows in zip(counts, given, strict=True)]
        self._db.insert("passage", "seq, first, count", numbered)
        return given

    def rows_of_turns(self, seqs: Collection[int]) -> dict[int, range]:
        """Return the rows of these turns; a turn without any is missing."""
        found = self._db.select("passage", "seq, first, count", seq=seqs)
        return {seq: range(first, first + count) for seq, first, count in found}

    def turns_with_rows_within(self, first: int, last: int) -> dict[int, range]:
        """Return the turns that have a row from `first` to `last`, with all of their rows, in order."""
        found = read_passages_within(self._db, first, last)
        return {seq: range(at, at + count) for seq, at, count in found if at + count > first}

    def erase(self, seqs: Collection[int]) -> None:
        """Forget the rows of turns that are being erased; their numbers stay used."""
        self._db.set_meta(_HIGH, str(self.high_water))
        self._db.delete_rows("passage", seq=seqs)

    def is_sparse(self, spare: int) -> bool:
        """Say whether more than an eighth as many numbers are unused as used, and more than `spare`."""
        used = count_row_numbers(self._db)
        # Every position of a corpus takes room and time, used or not, and to number a row anew takes 50 microseconds:
        # an eighth keeps a memory that forgets as much as it adds within an eighth of its size. Chosen by test_soak.py.
        return self.high_water - used > max(used // 8, spare)

    def renumber(self) -> dict[int, int]:
        """Number all rows anew from 1, in the same order; return the new number of each."""
        numbers: dict[int, int] = {}
        moved: list[tuple[int, int]] = []
        for seq, first, count in self._db.select("passage", "seq, first, count", "first"):
            moved.append((len(numbers) + 1, seq))
            numbers |= zip(range(first, first + count), range(len(numbers) + 1, len(numbers) + count + 1), strict=True)
        self._db.update("passage", "first", "seq", moved)  # ascending: a number is free by then
        self._db.delete_meta(_HIGH)
        return numbers

    def clear(self) -> None:
        """Drop all rows, to number them anew from 1."""
        self._db.delete_rows("passage")
        self._db.delete_meta(_HIGH)


# Rows of new memories; each memory keeps its own. A first search reads open rows one by one and sealed ones at once.
SEGMENT_ROWS = 2_048


class Segments:
    """The documents of a memory, and the postings of the sealed ones."""

    def __init__(self, db: Tables, dimension: int, size: int) -> None:
        self._db = db
        self.dimension: int = dimension
        self.size = size

    def insert(self, rows: Mapping[int, Stored]) -> None:
        """Store new rows, by their numbers."""
        values = ((at, row.columns, row.events, row.terms, row.vector, row.scale) for at, row in rows.items())
        self._db.insert("document", DOCUMENT, values)

    def seal(self, high_water: int) -> None:
        """Write every full segment as columns and postings."""
        for number in range(count_sealed_segments(self._db), high_water // self.size):
            self._seal(number)

    def set_vectors(self, packed: Mapping[int, Packed]) -> None:
        """Store the vectors of rows, by number, that were stored without one."""
        sealed, opened = self._places(packed)
        for number, rows in sealed.items():
            vectors = [(at * self.dimension, vector.tobytes()) for at, (vector, _) in rows.items()]
            self._db.patch("segment", "vectors", number, vectors)
            scales = [(at * 4, struct.pack("<f", scale)) for at, (_, scale) in rows.items()]
            self._db.patch("segment", "scales", number, scales)
        values = [(vector.tobytes(), scale, row) for row, (vector, scale) in opened.items()]
        self._db.update("document", "vector, scale", "row", values)

    def _places(self, rows: Mapping[int, T]) -> tuple[dict[int, dict[int, T]], dict[int, T]]:
        """Group values of rows: by sealed segment and index in it, ascending, and by open row."""
        last = count_sealed_segments(self._db) * self.size
        sealed: dict[int, dict[int, T]] = defaultdict(dict)
        for row in sorted(row for row in rows if row <= last):
            number, index = divmod(row - 1, self.size)
            sealed[number][index] = rows[row]
        return sealed, {row: value for row, value in rows.items() if row > last}

    def set_events(self, events: Mapping[int, Sequence[Interval]]) -> None:
        """Store, by row, the event times of the facts of the row's turn."""
        sealed, opened = self._places({row: [list(one) for one in happens] for row, happens in events.items()})
        packed = [(orjson.dumps(intervals), row) for row, intervals in opened.items()]
        self._db.update("document", "events", "row", packed)
        for number, changes in sealed.items():
            self._change_events(number, changes)

    def erase(self, documents: Mapping[int, Document]) -> None:
        """Delete documents from the rows, the columns and the postings."""
        sealed, opened = self._places(documents)
        self._db.delete_rows("document", row=opened)
        for number, gone in sealed.items():
            self._erase_sealed(number, gone)

    def drop(self, rows: Collection[int]) -> None:
        """Delete open documents, whatever they hold; sealed ones are left to `replace`."""
        self._db.delete_rows("document", row=rows)

    def drop_vectors(self, dimension: int) -> None:
        """Delete every vector, for an embedder of another dimension."""
        self.dimension = dimension
        self._db.set_columns("document", {"vector": None, "scale": None})
        self._db.set_columns("segment", {"vectors": bytes(self.size * dimension), "scales": bytes(self.size * 4)})

    def replace(self, number: int, rows: Mapping[int, Stored], high_water: int) -> None:
        """Replace a segment's documents by these."""
        self._drop_sealed(number)
        self._db.delete_rows("document", row=self._range(number))
        self.insert(rows)
        if high_water >= self._range(number)[-1]:
            self._seal(number)

    def renumber(self, numbers: Mapping[int, int]) -> None:
        """Give every row its new number: in the same order, and none above its old one."""
        sealed = count_sealed_segments(self._db)
        for number in range(sealed):
            self.insert({numbers[row]: document for row, document in self._unseal(number).items()})
            self._drop_sealed(number)
        moved = [(new, old) for old, new in sorted(numbers.items()) if old > sealed * self.size]
        self._db.update("document", "row", "row", moved)  # ascending: a number is free by then
        self.seal(len(numbers))

    def _range(self, number: int) -> range:
        """Return the rows of a segment."""
        return range(number * self.size + 1, (number + 1) * self.size + 1)

    def _drop_sealed(self, number: int) -> None:
        self._db.delete_rows("posting", number=[number])
        self._db.delete_rows("segment", number=[number])

    def vectors(self, number: int) -> dict[int, Packed]:
        """Return the vectors of a segment by row; pending ones are missing."""
        first, found = self._range(number)[0], self._db.select("segment", "vectors, scales", number=[number])
        if not found:
            rows = self._db.select("document", "row, vector, scale", row=self._range(number))
            return {row: (np.frombuffer(vector, np.int8), scale) for row, vector, scale in rows if vector is not None}
        matrix = np.frombuffer(found[0][0], np.int8).reshape(self.size, self.dimension)
        scales = np.frombuffer(found[0][1], "<f4")
        return {first + int(at): (matrix[at], float(scales[at])) for at in np.flatnonzero(scales)}

    def corpus(self) -> Corpus:
        """Return everything that is stored, as the columns a ranking reads."""
        kept = self._db.select_query("segment", "columns, events, vectors, scales", "number")
        newest = self._db.select_query("fact", "max(row)")
        segments, documents, ((last_fact,),) = self._db.rows_of_queries(kept, select_open_documents(self.size), newest)
        blocks, sealed = [self._block(row) for row in segments], len(segments)
        if documents:
            blocks.append(RowBlock.of(_by_row(documents), sealed * self.size, self.dimension))
        corpus = Corpus(self.dimension, SealedPostings(self._db, sealed))
        if blocks:
            corpus.extend(_join_blocks(blocks, self.size))
        corpus.last_fact = int(last_fact or 0)
        return corpus

    def append_new_documents(self, corpus: Corpus) -> bool:
        """Append documents stored since, and the times of facts read since.

        Return False where some are sealed, and the corpus must be read again.
        """
        since, newest_fact = range(len(corpus) + 1, 2**63), self._db.select_query("fact", "max(row)")
        fresh = self._db.select_query("document", DOCUMENT, "row", row=since)
        ((sealed,),), ((newest,),), documents = self._db.rows_of_queries(SEALED, newest_fact, fresh)
        last = int(newest or 0)
        if len(corpus) < sealed * self.size:
            return False
        if documents:
            corpus.extend(RowBlock.of(_by_row(documents), len(corpus), self.dimension))
        if last > corpus.last_fact:
            self._follow_facts(corpus)
            corpus.last_fact = last
        return True

    def _follow_facts(self, corpus: Corpus) -> None:
        happens: dict[tuple[int, int], list[Interval]] = defaultdict(list)
        for first, count, start, end in read_events_since(self._db, corpus.last_fact):
            times = (instant(datetime.fromisoformat(time)) for time in (start, end))
            happens[first, count].append((next(times), next(times)))
        for (first, count), events in happens.items():
            for row in range(first, first + count):
                corpus.set_events(row - 1, events)

    def documents(self, number: int) -> dict[int, Stored]:
        """Return the open documents of a segment."""
        return _by_row(self._db.select("document", DOCUMENT, "row", row=self._range(number)))

    def sealed_rows(self, number: int) -> tuple[bytes, bytes, dict[str, tuple[bytes, bytes]]] | None:
        """Return the columns, events and postings of a sealed segment, or None for an open one."""
        found = self._db.select("segment", "columns, events", number=[number])
        if not found:
            return None
        postings = self._db.select("posting", "term, positions, counts", number=[number])
        return (*found[0], {term: (positions, counts) for term, positions, counts in postings})

    def _unseal(self, number: int) -> dict[int, Stored]:
        """Return the living rows of a sealed segment as the documents that they were."""
        first, kept = number * self.size, self.sealed_rows(number)
        if kept is None:
            return {}
        columns, events = np.frombuffer(kept[0], COLUMNS), orjson.loads(kept[1])
        terms: dict[int, dict[str, int]] = defaultdict(dict)
        for term, (positions, counts) in sorted(kept[2].items()):
            for position, count in zip(np.frombuffer(positions, "<i4"), np.frombuffer(counts, "<u2"), strict=True):
                terms[int(position) - first][term] = int(count)
        vectors = self.vectors(number)
        found = {}
        for at in np.flatnonzero(columns["alive"]).tolist():
            vector, scale = vectors.get(first + at + 1, (None, None))
            happens = orjson.dumps(events.get(str(at), []))
            packed = None if vector is None else vector.tobytes()
            found[first + at + 1] = Stored(columns[at].tobytes(), happens, orjson.dumps(terms[at]), packed, scale)
        return found

    def _seal(self, number: int) -> None:
        rows = self.documents(number)
        columns, events, postings = seal_documents(number, rows, self.size)
        vectors = np.zeros((self.size, self.dimension), np.int8)
        scales = np.zeros(self.size, "<f4")
        for at, row in rows.items():
            if row.vector is not None and row.scale is not None:
                vectors[(at - 1) % self.size] = np.frombuffer(row.vector, np.int8)
                scales[(at - 1) % self.size] = row.scale
        values = (number, columns, events, vectors.tobytes(), scales.tobytes())
        self._db.insert("segment", "number, columns, events, vectors, scales", [values])
        entries = ((term, number, *entry) for term, entry in sorted(postings.items()))
        self._db.insert("posting", "term, number, positions, counts", entries)
        self._db.delete_rows("document", row=self._range(number))

    def _erase_sealed(self, number: int, gone: Mapping[int, Document]) -> None:
        for column, width in (("columns", COLUMNS.itemsize), ("vectors", self.dimension), ("scales", 4)):
            self._db.patch("segment", column, number, [(index * width, bytes(width)) for index in sorted(gone)])
        positions: dict[str, list[int]] = defaultdict(list)
        for index, document in gone.items():
            for term in document.terms:
                positions[term].append(number * self.size + index)
        self._remove_from_postings(number, positions)
        self._change_events(number, {index: [] for index in gone})

    def _remove_from_postings(self, number: int, leaving: Mapping[str, Sequence[int]]) -> None:
        """Take positions, by term, out of the postings of a sealed segment."""
        shorter, empty = list[tuple[bytes, bytes, str, int]](), list[str]()
        found = self._db.select("posting", "term, positions, counts", number=[number], term=leaving)
        for term, some, often in found:
            positions, counts = np.frombuffer(some, "<i4"), np.frombuffer(often, "<u2")
            staying = ~np.isin(positions, leaving[term])
            if staying.any():
                shorter.append((positions[staying].tobytes(), counts[staying].tobytes(), term, number))
            else:
                empty.append(term)
        self._db.update("posting", "positions, counts", "term, number", shorter)
        self._db.delete_rows("posting", number=[number], term=empty)

    def _change_events(self, number: int, changes: Mapping[int, list[list[int]]]) -> None:
        ((kept,),) = self._db.select("segment", "events", number=[number])
        events = orjson.loads(kept)
        for index, intervals in changes.items():
            events.pop(str(index), None)
            if intervals:
                events[str(index)] = intervals
        packed = _events({int(index): intervals for index, intervals in events.items()})
        self._db.update("segment", "events", "number", [(packed, number)])

    def _block(self, row: Sequence[bytes]) -> RowBlock:
        columns = np.frombuffer(row[0], COLUMNS)
        events: dict[int, Sequence[Interval]] = {int(index): found for index, found in orjson.loads(row[1]).items()}
        vectors = np.frombuffer(row[2], np.int8).reshape(self.size, self.dimension)
        return RowBlock(columns, vectors, np.frombuffer(row[3], "<f4"), events)


class SealedPostings:
    """The postings of the first `segments` segments; an open corpus holds those of later ones in its tail.

    Postings are cached, up to so many entries.
    """

    def __init__(self, db: Tables, segments: int, entries: int = 16_000_000) -> None:
        self._db = db
        self._segments = segments
        self._most = self._room = entries
        self._found: dict[str, Posting] = {}

    def terms_beginning(self, prefix: str) -> list[str]:
        """Return the stored terms that begin with some letters, in order: MAX_TERMS_READ at most."""
        # So many terms with the same first letters are read for one word.
        return read_terms_with_prefix(self._db, prefix, 4_096) if self._segments else []

    def read(self, terms: Collection[str]) -> Mapping[str, Posting]:
        """Return the postings of terms, all of which are read at once, and of related terms."""
        new = {term: (list[bytes](), list[bytes]()) for term in terms if term not in self._found}
        if new and self._segments:
            below, columns = range(self._segments), "term, positions, counts"
            for term, positions, counts in self._db.select("posting", columns, "number", term=list(new), number=below):
                new[term][0].append(positions)
                new[term][1].append(counts)
        kept = self._found
        for term, (positions, counts) in new.items():
            found = Posting(np.frombuffer(b"".join(positions), "<i4"), np.frombuffer(b"".join(counts), "<u2"))
            if len(found) >= self._room:
                self._found, self._room = {}, self._most
            kept[term] = self._found[term] = found
            self._room -= len(found) + 1
        return kept

    def drop(self, terms: Iterable[str]) -> None:
        for term in terms:
            if (found := self._found.pop(term, None)) is not None:
                self._room += len(found) + 1


def seal_documents(
    number: int, rows: Mapping[int, Stored], size: int
) -> tuple[bytes, bytes, dict[str, tuple[bytes, bytes]]]:
    """Return the columns, events and postings of a segment that holds these documents."""
    columns = np.zeros(size, COLUMNS)
    events: dict[int, list[list[int]]] = {}
    positions: dict[str, list[int]] = defaultdict(list)
    counts: dict[str, list[int]] = defaultdict(list)
    for at, row in sorted(rows.items()):
        index = (at - 1) % size
        columns[index] = np.frombuffer(row.columns, COLUMNS)[0]
        if intervals := orjson.loads(row.events):
            events[index] = intervals
        for term, count in orjson.loads(row.terms).items():
            positions[term].append(number * size + index)
            counts[term].append(count)
    postings = {
        term: (np.array(found, "<i4").tobytes(), np.array(counts[term], "<u2").tobytes())
        for term, found in positions.items()
    }
    return columns.tobytes(), _events(events), postings


def _events(events: Mapping[int, list[list[int]]]) -> bytes:
    return orjson.dumps({str(index): events[index] for index in sorted(events)})


def _by_row(rows: Sequence[Sequence[Any]]) -> dict[int, Stored]:
    return {at: Stored(*row) for at, *row in rows}


def _join_blocks(blocks: Sequence[RowBlock], size: int) -> RowBlock:
    """Return blocks of a size, of which the last may be shorter, as one; the last may have terms."""
    events = {at * size + index: found for at, block in enumerate(blocks) for index, found in block.events.items()}
    terms = {(len(blocks) - 1) * size + index: counts for index, counts in blocks[-1].terms.items()}
    columns, vectors, scales = zip(*((block.columns, block.vectors, block.scale) for block in blocks), strict=True)
    return RowBlock(np.concatenate(columns), np.concatenate(vectors), np.concatenate(scales), events, terms)
