"""A memory in one SQLite file: a write is one transaction, a search sees all that was committed before it."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from ..edges import ranked, threshold
from ..embedding.quantize import pack
from ..errors import InvalidTurn, StoreError, TurnConflict
from ..index.ann_file import Origin
from ..index.corpus import Corpus
from ..index.ranking import rank
from ..index.resolved_query import microseconds
from ..index.segments import SIZE
from ..protocols import Extractor
from ..raw import digest
from ..raw.commit_mark import EVERY
from ..text.names import is_about
from ..text.terms import terms
from ..types.reports import AddReport, EraseReport, Health, Stats, TurnStatus
from ..types.stored import About, Entry, Job, Roster
from ..types.trace import Trace
from ..types.values import Fact, Hit, Query, Turn
from . import check, upkeep
from .ann import FROM, Nearby
from .erase import Erasure, finished, was_forgotten
from .layers import Layers, events
from .open_file import drop_mark, open_checked, real_path, save_mark
from .resolve_query import question_of
from .user_code import GuestExtractor, guests

LINK_NOW = 4_096  # facts with a vector up to which new ones are linked at once; beyond, enrich() links them
ABOUT = 512  # of the newest turns that name an entity, how many are looked through for facts about it


class SqliteStore:
    """The store that evimem ships.

    `vfs` names an apsw VFS, `clock` gives seconds since 1970; `owner` and `segment` are kept in a new file. From
    `index_from` turns on, `index_vectors` builds something.
    """

    def __init__(  # noqa: PLR0913 - what a file is opened with
        self,
        path: Path,
        embedder: str,
        dimension: int,
        *,
        vfs: str | None = None,
        clock: Callable[[], float] = time.time,
        busy_seconds: float = 5.0,
        owner: str | None = None,
        segment: int = SIZE,
        index_from: int = FROM,
    ) -> None:
        self.path = path = real_path(path)
        self._db = open_checked(path, vfs, busy_seconds)
        self._nearby = Nearby(path, index_from)
        self._corpus: Corpus | None = None
        self._epoch = -1
        self._linked: tuple[str | None, ...] = ()
        self._unmarked = 0
        try:
            with self._db.decoding():
                kept = self._db.value("SELECT value FROM meta WHERE key = 'segment'")
                self._layers = Layers.over(self._db, dimension, int(kept or segment), clock)
                with self._writing():
                    upkeep.check_identity(self._layers, embedder, dimension, owner)
                self._erased = finished(self._layers, wait=False)
                save_mark(self._db)
        except BaseException:
            self._db.close()
            raise

    def known(self, turns: Sequence[Turn]) -> tuple[bool, ...]:
        """Say which of these turns are stored with the same content."""
        kept = [self._layers.raw.digest_of(turn.id) for turn in turns]
        return tuple(old is not None and old == digest(turn) for old, turn in zip(kept, turns, strict=True))

    def write(self, entries: Sequence[Entry], *, strict: bool = False) -> AddReport:
        """Store a batch in one transaction; see `Store.write`."""
        layers = self._layers
        with self._writing():
            statuses: list[TurnStatus] = []
            written: list[tuple[int, Entry]] = []
            facts = 0
            for entry in entries:
                try:
                    status, seq = self._write_one(entry)
                except (TurnConflict, InvalidTurn) as error:
                    if strict:
                        raise
                    status, seq = TurnStatus(entry.turn.id, "refused", str(error)), None
                if seq is not None:
                    written.append((seq, entry))
                    facts += len(entry.facts)
                statuses.append(status)
            if written:
                self._link(written)
                layers.segments.seal(written[-1][0])
                layers.count_commit()
        if written:
            self._committed()
        pending = {entry.turn.id: layers.jobs.of_turn(seq) for seq, entry in written} if layers.jobs.any() else {}
        return AddReport.of([replace(one, pending=pending.get(one.id, ())) for one in statuses], facts)

    def recall(self, query: Query) -> tuple[Hit, ...]:
        """Return the k best turns; see `Store.recall`."""
        layers = self._layers
        with self._db.reading():
            corpus = self._current()
            question = question_of(query, layers.raw, layers.segments.dimension)
            if question is None:
                return ()
            found = rank(question, corpus, query.k, question.weights, self._nearby.nearest(corpus, self._origin()))
            seqs = [one.position + 1 for one in found]
            around = sorted({position + 1 for one in found for position in one.neighbours})
            turns, facts, ids = layers.raw.read(seqs), layers.facts.of_turns(seqs), layers.raw.ids(around)
            near = [tuple(ids[at + 1] for at in one.neighbours) for one in found]
        return tuple(
            Hit(turn, tuple(facts[seq]), one.score, one.parts, "search", beside)
            for seq, turn, one, beside in zip(seqs, turns, found, near, strict=True)
        )

    def expand(self, turn_ids: Sequence[str], limit: int) -> tuple[Hit, ...]:
        """Return up to `limit` turns one edge away; see `Store.expand`."""
        layers = self._layers
        with self._db.reading():
            seeds = layers.raw.seqs(turn_ids)
            best = ranked(seeds, layers.edges.around(seeds), limit)
            seqs = [link.target for link, _ in best]
            turns, facts = layers.raw.read(seqs), layers.facts.of_turns(seqs)
        return tuple(
            Hit(turn, tuple(facts[link.target]), score, {"edge": score}, f"edge:{link.kind}")
            for turn, (link, score) in zip(turns, best, strict=True)
        )

    def read(self, turn_ids: Sequence[str]) -> tuple[Turn, ...]:
        """Return these turns. Raise UnknownTurn."""
        with self._db.reading():
            return tuple(self._layers.raw.read(self._layers.raw.seqs(turn_ids)))

    def contexts(self, turn_ids: Sequence[str], before: int, after: int) -> tuple[tuple[Turn, ...], ...]:
        """Return the turns around each of these, in dialogue order. Raise UnknownTurn."""
        with self._db.reading():
            return tuple(self._layers.raw.contexts(turn_ids, before, after))

    def facts(self, turn_ids: Sequence[str]) -> tuple[Fact, ...]:
        """Return the facts of these turns. Raise UnknownTurn."""
        with self._db.reading():
            seqs = self._layers.raw.seqs(turn_ids)
            found = self._layers.facts.of_turns(seqs)
        return tuple(fact for seq in seqs for fact in found[seq])

    def about(self, entity: str, limit: int) -> About:
        """Return the facts about an entity; see `Store.about`. Only the newest `ABOUT` turns that name it count."""
        layers = self._layers
        with self._db.reading():
            seqs = self._naming(entity)[-ABOUT:]
            speakers = {turn.id: turn.speaker for turn in layers.raw.read(seqs)}
            found = [fact for seq in reversed(seqs) for fact in layers.facts.of_turns([seq])[seq]]
        kept = [fact for fact in found if is_about(fact, speakers[fact.turn_id], entity)]
        return About(entity, len(kept), tuple(kept[:limit]))

    def roster(self) -> Roster:
        """Return who speaks here and since when."""
        with self._db.reading():
            return self._layers.raw.roster()

    def owe(self, kind: str) -> None:
        """Owe every turn some work that it has never been owed."""
        with self._writing():
            self._layers.jobs.put(kind, [seq for page in self._layers.raw.pages() for seq, _ in page])
            self._layers.count_commit()

    def unread(self, before: int) -> Iterator[tuple[Turn, tuple[Turn, ...]]]:
        """Yield every turn that is left for a model to read, with some of those before it."""
        return upkeep.unread(self._layers, before)

    def due(self, kind: str, limit: int, reason: str | None = None) -> tuple[Job, ...]:
        """Return turns that are owed work of a kind; see `Store.due`."""
        layers = self._layers
        with self._db.reading():
            jobs = layers.jobs.due(kind, limit, reason)
            seqs = [seq for seq, _ in jobs]
            turns, facts = layers.raw.read(seqs), layers.facts.of_turns(seqs)
        return tuple(Job(turn, tuple(facts[seq]), tries) for turn, (seq, tries) in zip(turns, jobs, strict=True))

    def settle(self, kind: str, entries: Sequence[Entry]) -> None:
        """Keep what turns were owed; a turn that was forgotten meanwhile is passed over."""
        layers = self._layers
        with self._writing():
            known = [(seq, entry) for entry in entries if (seq := layers.raw.find(entry.turn.id)) is not None]
            for seq, entry in known:
                if kind == "vector":
                    layers.segments.set_vector(seq, pack(entry.vector))
                elif kind == "extract":
                    layers.facts.insert(seq, microseconds(entry.turn.time), entry.facts)
                    layers.segments.set_events(seq, events(layers.facts.of_turns([seq])[seq]))
            relinked = kind != "vector" and self._link(known, now=kind == "link")
            layers.jobs.done(kind, [seq for seq, _ in known])
            layers.count_commit(rewrote=kind != "link", relinked=relinked)
        self._committed()

    def hold(self, kind: str, turn_ids: Sequence[str], reason: str, seconds: float) -> None:
        """Offer no work on these turns for a while; see `Store.hold`."""
        with self._writing():
            seqs = [seq for turn_id in turn_ids if (seq := self._layers.raw.find(turn_id)) is not None]
            self._layers.jobs.hold(kind, seqs, reason, seconds)
            self._layers.count_commit()

    def postpone(self, kind: str, turn_id: str, error: str, seconds: float | None) -> None:
        """Record a failure; see `Store.postpone`."""
        with self._writing():
            seq = self._layers.raw.find(turn_id)
            if seq is not None:
                self._layers.jobs.postpone(kind, seq, error, seconds)
                self._layers.count_commit()

    def setting(self, name: str) -> str | None:
        """Return what was kept under a name; see `Store.setting`."""
        with self._db.reading():
            return self._layers.setting(name)

    def keep_setting(self, name: str, value: str | None) -> None:
        """Keep a text under a name; see `Store.keep_setting`."""
        with self._writing():
            self._layers.keep_setting(name, value)
            self._layers.count_commit()
        self._committed()

    def forget(self, turn_ids: Sequence[str]) -> EraseReport:
        """Erase turns by id. Raise UnknownTurn, and erase nothing, where one is not there."""
        return self._erasing(lambda erasure: erasure.turns(self._layers.raw.seqs(turn_ids)))

    def forget_where(self, *, session: str | None = None, before: Any = None, as_in: Path | None = None) -> EraseReport:
        """Erase a session, what was said before a time, what another copy forgot, or without any of it all."""
        return self._erasing(lambda erasure: erasure.where(session, before, as_in))

    def change_embedder(self, name: str, dimension: int) -> None:
        """Take another embedder; every vector is owed again."""
        with self._writing():
            upkeep.drop_vectors(self._layers, name, dimension)
            self._nearby.drop()
        self._corpus = None
        self._committed()

    def index_vectors(self) -> Iterator[int]:
        """Build the vector index of a large memory; yield how many vectors at a time. Search goes on meanwhile."""
        with self._db.reading():
            corpus, origin = self._current(), self._origin()
        yield from self._nearby.build(corpus, origin, lambda: self._origin() == origin)

    def rebuild(self, extractor: Extractor, *, reread: bool = False) -> None:
        """Derive everything again from the turns, in one transaction; what needs an embedder is owed."""
        with guests(), self._writing():
            upkeep.rebuild(self._layers, GuestExtractor.of(extractor), reread=reread)
        self._corpus = None
        self._committed()

    def check(self, extractor: Extractor, progress: Callable[[int], None] = lambda turns: None) -> tuple[str, ...]:
        """Return what is wrong with the file; see `diagnosis.problems`."""
        return check.problems(self._layers, extractor, progress)

    def health(self, problems: Sequence[str] = ()) -> Health:
        """Return what is owed, what failed, and whether the file is well."""
        with self._db.reading():
            return upkeep.health(self._layers, problems)

    def stats(self) -> Stats:
        """Return counts and dates."""
        with self._db.reading():
            return upkeep.stats(self._layers)

    def turns(self) -> Iterator[Turn]:
        """Yield every turn in order of arrival."""
        with self._db.decoding():
            for page in self._layers.raw.pages():
                yield from (turn for _, turn in page)

    def pairs(self) -> Iterator[tuple[Turn, tuple[Fact, ...]]]:
        """Yield every turn with its facts, in order of arrival."""
        return upkeep.pairs(self._layers)

    def keep_trace(self, trace: Trace) -> int:
        """Store a trace; return its number."""
        with self._writing():
            self._layers.count_commit()
            return upkeep.keep_trace(self._layers, trace)

    def trace(self, number: int | None) -> Trace:
        """Return a stored trace, the newest without a number. Raise InvalidQuery."""
        with self._db.reading():
            return upkeep.trace(self._layers, number)

    def backup(self, target: Path) -> None:
        """Copy the memory into a new file; a crash leaves none that looks whole."""
        upkeep.backup(self._db, target)

    @property
    def usable(self) -> bool:
        """Whether the file is open here, and still where it was."""
        return self._db.usable

    def remove(self) -> bool:
        """Delete the files of an empty memory; return False, and leave them, while another handle is open."""
        with self._writing():
            if self._layers.raw.count():
                raise StoreError(f"{str(self.path)!r} holds turns; forget everything before its files are deleted")
            drop_mark(self.path)  # first: a mark without its file stands for a loss
        removed = self._db.remove()
        if not removed:
            save_mark(self._db)
        return removed

    def close(self) -> None:
        """Close the file."""
        try:
            if self._unmarked and self._db.usable:
                save_mark(self._db)
                self._unmarked = 0
        finally:
            self._corpus = None
            self._db.close()

    @contextmanager
    def _writing(self) -> Iterator[None]:
        """Hold the write lock; after a failure, or another handle's rewrite, what is held in memory is read anew."""
        try:
            with self._db.writing():
                rewritten = (self._layers.meta("epoch"), self._layers.meta("links"))
                if rewritten != self._linked:
                    self._layers.edges.reset()
                    self._linked = rewritten
                yield
        except BaseException:
            self._layers.edges.reset()
            self._corpus = None
            raise

    def _write_one(self, entry: Entry) -> tuple[TurnStatus, int | None]:
        layers, turn = self._layers, entry.turn
        kept = layers.raw.digest_of(turn.id)
        if kept is not None:
            if kept != digest(turn):
                raise TurnConflict(turn.id)
            return TurnStatus(turn.id, "exists"), None
        layers.raw.check_clock(turn)
        place = layers.raw.append(turn)
        seq = place.seq
        layers.facts.insert(seq, microseconds(turn.time), entry.facts)
        packed = None if entry.vector is None else pack(entry.vector)
        layers.segments.insert(seq, layers.row(place, turn, entry.facts, packed))
        for kind in (*entry.owes, *(() if packed is not None else ("vector",))):
            layers.jobs.put(kind, [seq])
        return TurnStatus(turn.id, "readded" if was_forgotten(layers, turn.id) else "added"), seq

    def _link(self, written: Sequence[tuple[int, Entry]], *, now: bool = False) -> bool:
        """Link the facts of these turns to similar ones, or owe them that where the memory is large.

        Return what `EdgeGraph.link` does.
        """
        layers = self._layers
        linkable = [(seq, entry) for seq, entry in written if entry.facts]
        ready = all(entry.fact_vectors is not None for _, entry in linkable)
        if not linkable:
            return False
        if not ready or (not now and layers.edges.more_than(LINK_NOW)):
            layers.jobs.put("link", [seq for seq, _ in linkable])
            return False
        rows = layers.facts.rows([fact.id for _, entry in linkable for fact in entry.facts])
        vectors = np.concatenate([entry.fact_vectors for _, entry in linkable])
        return layers.edges.link(rows, vectors, threshold(layers.meta("embedder") or ""))

    def _current(self) -> Corpus:
        epoch = int(self._layers.meta("epoch") or 0)
        if self._corpus is None or epoch != self._epoch or not self._layers.segments.follow(self._corpus):
            self._corpus, self._epoch = self._layers.segments.corpus(), epoch
        return self._corpus

    def _origin(self) -> Origin:
        """Return what a vector index must have been built from: this memory, its positions as they are dealt out."""
        layers = self._layers
        store = f"{layers.meta('store')}/{layers.meta('dealt')}"
        return Origin(store, layers.meta("embedder") or "", layers.segments.dimension)

    def _naming(self, entity: str) -> list[int]:
        return [position + 1 for position in self._current().holding(terms(entity))]

    def _erasing(self, act: Callable[[Erasure], bool]) -> EraseReport:
        erasure = Erasure(self._layers, threshold(self._layers.meta("embedder") or ""), LINK_NOW)
        with self._writing():
            if changed := act(erasure):
                self._nearby.drop()  # before the commit: it holds what is forgotten, and nobody would come back to it
        if changed:
            self._corpus = None
            self._layers.edges.reset()
            save_mark(self._db)
        report = erasure.report()
        self._erased = report.status == "erased"
        return report

    def _committed(self) -> None:
        if not self._erased:
            self._erased = finished(self._layers, wait=False)
        self._unmarked += 1
        if self._unmarked >= EVERY:
            save_mark(self._db)
            self._unmarked = 0
