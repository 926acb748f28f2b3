"""Forgetting: a turn and everything derived from it, until every derived row equals a rebuild without it."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from datetime import datetime
from pathlib import Path

from ..db.safe_context import safe_context
from ..db.turn_sql import TURNS, select_turns_around
from ..errors import UNREADABLE, try_read
from ..index.document import Document, derive_documents
from ..text.terms import terms
from ..types.results import EraseReport
from ..types.stored import MAX_EARLIER_TURNS, Listing
from ..types.values import Fact, Where
from .handle import SETTING, UNFINISHED, StoreHandle
from .rebuild import delete_traces, derive_segment
from .sequence import Places, filter_forgotten, ids_forgotten_in_copy, keep_erased_places, mark_forgotten, read_places

_DERIVED = (  # rows that refer to other rows first, for the foreign keys
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
_PAGE_TURNS = 1000  # turns erased at once
HELD = (
    "another reader still holds an older state of the file, another process is writing to the file, or the disk is "
    "full; the bytes go when that has ended and the memory is next written, opened or closed"
)
SPARE_ROWS = 256  # numbers of erased rows that stay unused however small a memory is


def forget(handle: StoreHandle, turn_ids: Sequence[str]) -> EraseReport:
    """See `Store.forget`."""
    with open_erasure(handle) as erasure:
        # An id that is forgotten already is no error: a call whose reply was lost may be repeated.
        known = handle.raw.seqs_of_known(turn_ids)
        gone = filter_forgotten(handle, [one for one in turn_ids if one not in known])
        erasure.erase_turns(handle.raw.require_seqs([one for one in turn_ids if one not in gone]))
    return erasure.purge_and_report()


def forget_where(
    handle: StoreHandle,
    *,
    session: str | None = None,
    before: datetime | None = None,
    speaker: str | None = None,
    where: Where | None = None,
    as_in: Path | None = None,
) -> EraseReport:
    """See `Store.forget_where`; with `as_in`, erase the turns that that copy of the memory has forgotten.

    Raise InvalidQuery, NotAMemory or another StoreError where `as_in` is no readable copy of this memory.
    """
    listing = Listing(session, speaker, before=before, where=where)
    with open_erasure(handle) as erasure:
        if as_in is not None:
            erasure.erase_turns(handle.raw.require_seqs(list(ids_forgotten_in_copy(handle, as_in))))
        elif listing == Listing():
            erasure.erase_everything()
        else:
            erasure.erase_turns(handle.raw.select_seqs(listing))
    return erasure.purge_and_report()


@safe_context
def open_erasure(handle: StoreHandle, *asked: Callable[[], object]) -> Iterator[Erasure]:
    """Hold the write lock for a block in which turns may be erased; `Erasure.purge_and_report` is for after it."""
    erasure = Erasure(handle)
    with handle.writing(*asked):
        yield erasure
        if erasure.began:
            # Before the commit: after a crash between the two, nothing would delete the forgotten vectors.
            handle.ann.delete_index()
    if erasure.began:
        handle.write_mark()


class Erasure:
    """Erases turns inside one transaction of the caller; `purge_and_report`, after the commit, purges the log."""

    def __init__(self, handle: StoreHandle) -> None:
        self._handle = handle
        self.began = False
        self._turns = 0
        self._facts = 0
        self._to_relink: set[int] = set()  # rows of later facts that were linked to erased ones
        self._left: Places = defaultdict(list)
        self._beside = ErasedContext(handle)
        # Changes of the corpus: terms by position of rows that are gone, and positions whose facts are. None where
        # it is to be read again.
        self._gone: dict[int, Collection[str]] | None = {}
        self._undated: list[int] = []

    def erase_turns(self, seqs: Sequence[int]) -> None:
        """Erase these turns."""
        self.erase_replaced(seqs)
        self.record_replacements({})
        if self._turns and not self._handle.raw.count_turns():
            self._drop_settings()

    def erase_replaced(self, seqs: Sequence[int]) -> None:
        """Erase turns that are replaced: the settings of the memory stay, even if no turn is left.

        Call `record_replacements` when their replacements are stored.
        """
        pages = list(_split_into_pages(list(dict.fromkeys(seqs))))
        if len(pages) > 1:
            self._gone = None
        for page in pages:
            self._erase_page(page)
        if self._turns:
            self._requeue_tainted_facts()
            self._relink_neighbours()
            if self._handle.passages.is_sparse(SPARE_ROWS):  # a search takes time and room by the highest number
                self._gone = None
                self._handle.segments.renumber(self._handle.passages.renumber())
            self._count_commit()

    def record_replacements(self, numbers: Mapping[int, int]) -> None:
        """Record which turns stand where erased ones did: their numbers by those of the erased."""
        keep_erased_places(self._handle, self._left, numbers)

    def erase_everything(self) -> None:
        """Erase all turns, derived rows, traces and settings at once."""
        handle = self._handle
        self._turns, self._facts, self._gone = handle.raw.count_turns(), handle.fact_table.count(), None
        for page in handle.db.read_pages(TURNS, (0,), _PAGE_TURNS):
            seqs = [seq for seq, *_ in page]
            mark_forgotten(handle, seqs)
            keep_erased_places(handle, read_places(handle, seqs), {})
        for table in _DERIVED:
            handle.db.delete_rows(table)
        handle.passages.clear()
        handle.raw.delete_all_turns()
        self._drop_settings()
        self._count_commit()

    def purge_and_report(self) -> EraseReport:
        """Purge the log, waiting for readers; return the counts, as "pending" where a reader held it on."""
        unpurgeable_copies = self._handle.db.unpurgeable_copies
        if unpurgeable_copies is None and self._handle.finish_erasure(wait=True):
            return EraseReport("erased", self._turns, self._facts)
        return EraseReport("pending", self._turns, self._facts, unpurgeable_copies or HELD)

    def _drop_settings(self) -> None:
        """Delete every setting kept for code above the store."""
        kept = (key for (key,) in self._handle.db.select("meta", "key"))
        self._handle.db.delete_meta(*(key for key in kept if key.startswith(SETTING)))

    def _count_commit(self) -> None:
        self.began = True
        if self._handle.db.unpurgeable_copies is None:
            self._handle.db.set_meta(UNFINISHED, "1")
            self._handle.purged = False  # until the report: after an interrupt in between, the next commit finishes it
        self._handle.invalidate_ann()
        corpus = self._handle.resident_corpus
        self._handle.count_commit(rewrote=True)
        if corpus is not None and self._gone is not None:
            corpus.erase(self._gone)
            corpus.drop_events(self._undated)
            self._handle.cache_corpus(corpus)

    def _erase_page(self, seqs: Sequence[int]) -> None:
        handle = self._handle
        rows = handle.passages.rows_of_turns(seqs)
        known = self._read_known_terms(rows)
        facts = handle.fact_table.rows_of(seqs)
        self._beside.note_erased_words(seqs)
        self._to_relink |= handle.edges.erase_facts(facts)
        self._to_relink.difference_update(facts)
        self._facts += handle.fact_table.erase(seqs)
        documents = {
            number: document for seq, found in known.items() for number, document in zip(rows[seq], found, strict=True)
        }
        handle.segments.erase(documents)
        handle.jobs.delete_jobs(seqs)
        delete_traces(handle, [number for (number,) in handle.db.select("trace_turn", "number", seq=seqs)])
        mark_forgotten(handle, seqs)
        for session, left in read_places(handle, seqs).items():
            self._left[session] += left
        unknown = [row for seq, some in rows.items() if seq not in known for row in some]
        handle.segments.drop(unknown)
        handle.passages.erase(seqs)
        handle.raw.delete_turns(seqs)
        if unknown:
            self._gone = None
        elif self._gone is not None:
            self._gone |= {number - 1: document.terms for number, document in documents.items()}
        # Where the terms of a turn are unknown, its postings cannot be taken out one by one.
        for number in sorted({(row - 1) // handle.segments.size for row in unknown}):
            derive_segment(handle, number)
        self._turns += len(seqs)

    def _requeue_tainted_facts(self) -> None:
        """Drop and queue the facts in which a model put statements of erased turns only."""
        handle, lost = self._handle, self._beside.find_tainted_turns()
        if lost:
            rows = handle.fact_table.rows_of(lost)
            self._to_relink = (self._to_relink | handle.edges.erase_facts(rows)).difference(rows)
            self._facts += handle.fact_table.erase(lost)
            indexed = handle.passages.rows_of_turns(lost).values()
            undated = [row for some in indexed for row in some]
            handle.segments.set_events({row: () for row in undated})
            self._undated += [row - 1 for row in undated]
            handle.db.delete_rows("job", kind="extract", seq=lost)  # as if no model had read them
            handle.jobs.enqueue("facts", lost)

    def _relink_neighbours(self) -> None:
        """Recompute the `similar` edges of the erased facts' neighbours; in a large memory, queue that."""
        handle = self._handle
        if handle.is_large:
            handle.jobs.enqueue("link", handle.fact_table.turns_of(self._to_relink))
        else:
            handle.edges.relink_facts(self._to_relink, handle.min_cosine)

    def _read_known_terms(self, rows: Mapping[int, range]) -> dict[int, tuple[Document, ...]]:
        """Return the terms of turns, where they are surely known.

        They are not known of a turn that is not as it was stored, or whose terms cannot or could not be read.
        """
        plain = self._handle.jobs.turns_with_open_job("terms")
        found: dict[int, tuple[Document, ...]] = {}
        for seq, turn in self._handle.raw.read_intact_turns([seq for seq in rows if seq not in plain]).items():
            with suppress(*UNREADABLE):
                read = derive_documents(turn, len(rows[seq]))
                found |= {seq: read.value} if read.error is None else {}
        return found


def _split_into_pages(seqs: list[int]) -> Iterator[list[int]]:
    for start in range(0, len(seqs), _PAGE_TURNS):
        yield seqs[start : start + _PAGE_TURNS]


class ErasedContext:
    """The words of erased turns, by the number of each later turn in which a model found facts.

    A model reads each turn with some before it, to know whom "he" means: it may have read erased turns.
    """

    def __init__(self, handle: StoreHandle) -> None:
        self._handle = handle
        self._words: dict[int, set[str]] = defaultdict(set)

    def note_erased_words(self, seqs: Sequence[int]) -> None:
        """Note the words of turns that are about to be erased."""
        handle, erased = self._handle, set(seqs)
        after = [
            pair
            for pair in handle.db.rows(*select_turns_around(handle.db, seqs, 0, MAX_EARLIER_TURNS))
            if pair[1] not in erased
        ]
        by_model = handle.fact_table.turns_with_model_facts({near for _, near in after})
        after = [(seq, near) for seq, near in after if near in by_model]
        said = self._read_words({seq for seq, _ in after})
        for seq, near in after:
            self._words[near] |= said[seq]

    def find_tainted_turns(self) -> list[int]:
        """Return the turns that are left and have a fact with a word of an erased turn, and of none that is left."""
        handle = self._handle
        beside = sorted(handle.fact_table.turns_with_model_facts(self._words))
        left = [(seq, seq) for seq in beside] + handle.db.rows(
            *select_turns_around(handle.db, beside, MAX_EARLIER_TURNS, 0)
        )
        said, gone = self._read_words({near for _, near in left}), {seq: set(self._words[seq]) for seq in beside}
        for seq, near in left:
            gone[seq] -= said[near]
        facts = try_read({}, handle.fact_table.facts_by_turn, beside).value
        return [
            seq for seq in beside if seq not in facts or any(_contains_word(fact, gone[seq]) for fact in facts[seq])
        ]

    def _read_words(self, seqs: Collection[int]) -> dict[int, set[str]]:
        """Return the words of turns; none of one that is not as it was stored."""
        intact = self._handle.raw.read_intact_turns(list(seqs)) if seqs else {}
        texts = {seq: f"{turn.speaker} {turn.text} {turn.caption or ''}" for seq, turn in intact.items()}
        return {seq: set(terms(texts.get(seq, ""))) for seq in seqs}


def _contains_word(fact: Fact, words: Collection[str]) -> bool:
    return any(term in words for term in terms(f"{fact.subject} {fact.object}"))
