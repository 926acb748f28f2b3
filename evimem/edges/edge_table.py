"""The Edges layer: typed, weighted links between facts, and one scored hop over them.

Only `similar` edges are stored, because they cost a comparison with thousands of facts. `same_turn` joins each fact to
the next of its turn, `next` each turn to the next of its session, and `updates` follows from `fact.replaced_by`:
stored twice, they could only disagree.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

import numpy as np

from ..db.connection import Connection
from ..types.vectors import Vectors
from .fact_vectors import FactMatrix, FactVectors, best
from .link_rules import NEXT_WEIGHT, UPDATE_WEIGHT, Link

_PAGE = 4_096  # edges read at once
_EDGES = "SELECT source, target, weight FROM edge WHERE (source, target) > (?, ?) ORDER BY source, target LIMIT ?"
# An edge is stored once, with the smaller row as its source: each end is looked up by an index of its own.
_SIMILAR = """
SELECT there.seq, edge.weight FROM fact AS here
JOIN edge ON edge.{near} = here.row JOIN fact AS there ON there.row = edge.{far} WHERE here.seq = ?"""
_UPDATES = "SELECT there.seq FROM fact AS here JOIN fact AS there ON {join} WHERE here.seq = ?"
# The turn before or after one in its session; the order is that of the index `turn_in_dialogue`.
_ADJACENT = """
SELECT turn.seq FROM turn JOIN turn AS here ON here.seq = ? AND turn.session = here.session
WHERE (turn.instant, turn.seq) {side} (here.instant, here.seq) ORDER BY turn.instant {way}, turn.seq {way} LIMIT 1"""

# Below, ?1 is a fact's row and ?2 the instant of its turn. "Earlier" is by instant, then row: the order of the
# dialogue, whatever the order of arrival.
_LINK = "INSERT INTO edge (source, target, kind, weight) VALUES (min(?1, ?2), max(?1, ?2), 'similar', ?3)"
_EARLIER = """
SELECT fact.row, edge.weight FROM edge JOIN fact ON fact.row = CASE source WHEN ?1 THEN target ELSE source END
WHERE (source = ?1 OR target = ?1) AND (fact.instant, fact.row) < (?2, ?1)"""
_LATER = """
SELECT fact.row FROM edge JOIN fact ON fact.row = CASE source WHEN ?1 THEN target ELSE source END
WHERE (source = ?1 OR target = ?1) AND (fact.instant, fact.row) > (SELECT instant, row FROM fact WHERE row = ?1)"""
_QUEUED = "SELECT row FROM fact JOIN job USING (seq) WHERE job.kind = 'link' ORDER BY row"
_UNLINK = """
DELETE FROM edge WHERE (source = ?1 OR target = ?1) AND EXISTS (
    SELECT 1 FROM fact WHERE row = CASE source WHEN ?1 THEN target ELSE source END
    AND (fact.instant, fact.row) < (?2, ?1))"""


class EdgeGraph:
    """Edges between facts in SQLite.

    `similar` edges lead from each fact to the most similar earlier ones. "Earlier" is by the time of the turn, so the
    edges do not depend on the order in which turns are added.
    """

    def __init__(self, db: Connection) -> None:
        self._db = db
        self._vectors = FactVectors(db)

    def more_than(self, count: int) -> bool:
        """Say whether more than `count` facts have a vector, which is what linking one more fact costs."""
        return self._vectors.more_than(count)

    def link(self, rows: Sequence[int], vectors: Vectors, min_cosine: float) -> bool:
        """Store the vectors of facts and link them to earlier ones with a cosine of at least `min_cosine` (E4).

        Args:
            rows: The rows of the facts.
            vectors: Their unit vectors, float32 of shape (len(rows), dimension).
            min_cosine: The threshold of the embedder, in [-1, 1].

        Returns:
            Whether other handles must read all vectors again: they follow the file by row, and some of these rows are
            smaller than rows that had a vector already.
        """
        if not rows:
            return False
        newest = self._vectors.newest()
        late = self._vectors.keep(rows, vectors)
        known = self._vectors.current()
        linked = known.positions(rows)
        # A new fact may push another out of the best `PER_FACT` of a later one.
        later = self._relink(known, linked, min_cosine, without_edges=newest) - set(linked)
        self._relink(known, sorted(later), min_cosine)
        return late

    def erase(self, rows: Sequence[int]) -> set[int]:
        """Delete the edges and vectors of facts; return the later facts that were linked to them, for `relink`."""
        neighbours = {other for row in rows for (other,) in self._db.rows(_LATER, (row,))}
        for column in ("source", "target"):
            self._db.executemany(f"DELETE FROM edge WHERE {column} = ?", [(row,) for row in rows])
        self._vectors.drop(rows)
        return neighbours

    def relink(self, rows: Iterable[int], min_cosine: float) -> None:
        """Recompute the edges of these facts to earlier ones."""
        known = self._vectors.current()
        self._relink(known, known.positions(sorted(rows)), min_cosine)

    def count_wrong(self, min_cosine: float) -> int:
        """Return how many facts have other edges than their vectors give; facts queued for linking are left out.

        Every edge is compared with the vectors of its ends, and every fact with those within its window: it must have
        the best of these and of the edges that it has. That a like fact beyond the window was not found is no fault.
        """
        self._vectors.drop_cache()  # the file is checked, not the cache of this handle
        known = self._vectors.current()
        queued = known.positions([row for (row,) in self._db.rows(_QUEUED)])
        checked = np.setdiff1d(np.arange(len(known)), queued)
        wrong = set(self._unsound(known, min_cosine)) - set(known.rows[queued].tolist())
        for similar in known.similar_nearby(checked.tolist(), min_cosine):
            row, instant = int(known.rows[similar.position]), int(known.instants[similar.position])
            kept = {(other, weight) for other, weight in self._db.rows(_EARLIER, (row, instant))}
            nearby = {(int(known.rows[position]), weight) for position, weight in similar.links}
            if kept != set(best(kept | nearby)):
                wrong.add(row)
        return len(wrong)

    def _unsound(self, known: FactMatrix, min_cosine: float) -> Iterator[int]:
        """Yield the later end of each edge that its vectors do not give, from a pass over all edges."""
        for page in self._db.pages(_EDGES, (-1, -1), _PAGE):
            yield from known.unsound([(first, second, weight) for first, second, weight in page], min_cosine)

    def clear(self) -> None:
        """Delete every stored edge and every fact's vector."""
        self._db.execute("DELETE FROM edge")
        self._db.execute("DELETE FROM fact_vector")
        self._vectors.drop_cache()

    def drop_cache(self) -> None:
        """Drop the vectors held in memory, after the file was changed by something else than `link` and `erase`."""
        self._vectors.drop_cache()

    def around(self, seqs: Iterable[int]) -> list[Link]:
        """Return the links from these turns to other turns, by every kind of edge; targets are sequence numbers."""
        return [link for seq in dict.fromkeys(seqs) for link in self._leaving(seq) if link.target != seq]

    def count(self) -> dict[str, int]:
        """Return how many edges there are of each kind."""
        similar = self._db.value("SELECT count(*) FROM edge WHERE kind = 'similar'")
        updates = self._db.value("SELECT count(*) FROM fact WHERE replaced_by IS NOT NULL")
        same = self._db.value("SELECT count(*) - count(DISTINCT seq) FROM fact")  # each fact to the next of its turn
        following = self._db.value("SELECT count(*) - count(DISTINCT session) FROM turn")  # all but each first one
        return {"same_turn": int(same), "similar": similar, "next": following, "updates": updates}

    def _leaving(self, seq: int) -> list[Link]:
        links = []
        for near, far in (("source", "target"), ("target", "source")):
            found = self._db.rows(_SIMILAR.format(near=near, far=far), (seq,))
            links += [Link(seq, target, "similar", weight) for target, weight in found]
        for join in ("there.id = here.replaced_by", "there.replaced_by = here.id"):
            found = self._db.rows(_UPDATES.format(join=join), (seq,))
            links += [Link(seq, target, "updates", UPDATE_WEIGHT) for (target,) in found]
        for side, way in (("<", "DESC"), (">", "ASC")):
            found = self._db.rows(_ADJACENT.format(side=side, way=way), (seq,))
            links += [Link(seq, target, "next", NEXT_WEIGHT) for (target,) in found]
        return links

    def _relink(
        self, known: FactMatrix, positions: Sequence[int], min_cosine: float, *, without_edges: int | None = None
    ) -> set[int]:
        """Recompute the edges of facts to earlier ones; return the later facts whose edges that may change.

        Facts with a row above `without_edges` have none yet.
        """
        later: set[int] = set()
        old, links = list[tuple[int, int]](), list[tuple[int, int, float]]()
        for similar in known.similar(positions, min_cosine):
            row, instant = int(known.rows[similar.position]), int(known.instants[similar.position])
            if without_edges is None or row <= without_edges:
                old.append((row, instant))
            links += [(row, int(known.rows[position]), weight) for position, weight in similar.links]
            later.update(similar.later.tolist())
        self._db.executemany(_UNLINK, old)
        self._db.executemany(_LINK, links)
        return later
