"""The Edges layer: typed, weighted links between facts, and one scored hop over them.

Only `similar` must be computed and is stored. `same_turn` follows from a fact's turn, `next` from the order of the
dialogue and `updates` from what replaced a fact: stored twice, they could only disagree.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from ..db.connection import Connection
from ..types.vectors import Vectors
from .fact_vectors import FactVectors, Known
from .link_rules import NEXT_WEIGHT, UPDATE_WEIGHT, Link

_SIMILAR = """
SELECT there.seq, edge.weight FROM fact AS here
JOIN edge ON edge.{near} = here.row JOIN fact AS there ON there.row = edge.{far} WHERE here.seq = ?"""
_UPDATES = "SELECT there.seq FROM fact AS here JOIN fact AS there ON {join} WHERE here.seq = ?"
_BESIDE = """
SELECT turn.seq FROM turn JOIN turn AS here ON here.seq = ? AND turn.session = here.session
WHERE (turn.instant, turn.seq) {side} (here.instant, here.seq) ORDER BY turn.instant {way}, turn.seq {way} LIMIT 1"""

_LINK = "INSERT INTO edge (source, target, kind, weight) VALUES (min(?1, ?2), max(?1, ?2), 'similar', ?3)"
_EARLIER = """
SELECT fact.row, edge.weight FROM edge JOIN fact ON fact.row = CASE source WHEN ?1 THEN target ELSE source END
WHERE (source = ?1 OR target = ?1) AND (fact.instant, fact.row) < (?2, ?1)"""
_LATER = """
SELECT fact.row FROM edge JOIN fact ON fact.row = CASE source WHEN ?1 THEN target ELSE source END
WHERE (source = ?1 OR target = ?1) AND (fact.instant, fact.row) > (SELECT instant, row FROM fact WHERE row = ?1)"""
_OWED = "SELECT row FROM fact JOIN job USING (seq) WHERE job.kind = 'link' ORDER BY row"
_UNLINK = """
DELETE FROM edge WHERE (source = ?1 OR target = ?1) AND EXISTS (
    SELECT 1 FROM fact WHERE row = CASE source WHEN ?1 THEN target ELSE source END
    AND (fact.instant, fact.row) < (?2, ?1))"""


class EdgeGraph:
    """Links in SQLite. `similar` runs from each fact to the most similar ones said before it, however they came in."""

    def __init__(self, db: Connection) -> None:
        self._db = db
        self._vectors = FactVectors(db)

    def more_than(self, count: int) -> bool:
        """Say whether more than so many facts have a vector, and so may be linked."""
        return self._vectors.more_than(count)

    def link(self, rows: Sequence[int], vectors: Vectors, least: float) -> bool:
        """Keep the vectors of facts and link them to what is similar (cosine >= least, E4).

        Return whether other handles must read the vectors anew, because some came after those of later facts.
        """
        if not rows:
            return False
        late = self._vectors.keep(rows, vectors)
        known = self._vectors.current()
        touched = known.positions(rows)
        later = self._relink(known, touched, least) - set(touched)
        self._relink(known, sorted(later), least)
        return late

    def erase(self, rows: Sequence[int]) -> set[int]:
        """Drop facts with their links; return the later facts that were linked to them, to be given to `relink`."""
        bereft = {other for row in rows for (other,) in self._db.rows(_LATER, (row,))}
        for column in ("source", "target"):
            self._db.executemany(f"DELETE FROM edge WHERE {column} = ?", [(row,) for row in rows])
        self._vectors.drop(rows)
        return bereft

    def relink(self, rows: Iterable[int], least: float) -> None:
        """Decide again what these facts are linked to, among what is there now."""
        known = self._vectors.current()
        self._relink(known, known.positions(sorted(rows)), least)

    def wrong(self, least: float) -> int:
        """Return how many facts are linked otherwise than their vectors say; those still to be linked are left out."""
        self._vectors.reset()  # what the file holds is asked, not what this handle remembers of it
        known = self._vectors.current()
        owed = known.positions([row for (row,) in self._db.rows(_OWED)])
        wrong = 0
        for near in known.near(np.setdiff1d(np.arange(len(known)), owed).tolist(), least):
            row, said = int(known.rows[near.position]), int(known.said[near.position])
            kept = {(other, weight) for other, weight in self._db.rows(_EARLIER, (row, said))}
            wrong += kept != {(int(known.rows[position]), weight) for position, weight in near.links}
        return wrong

    def clear(self) -> None:
        """Drop every link and every fact's vector."""
        self._db.execute("DELETE FROM edge")
        self._db.execute("DELETE FROM fact_vector")
        self._vectors.reset()

    def reset(self) -> None:
        """Forget what is held in memory: the file has been changed below it."""
        self._vectors.reset()

    def around(self, seqs: Iterable[int]) -> list[Link]:
        """Return the links that leave these turns, by any kind of edge, to other turns."""
        return [link for seq in dict.fromkeys(seqs) for link in self._leaving(seq) if link.target != seq]

    def count(self) -> dict[str, int]:
        """Return how many edges there are of each kind."""
        similar = self._db.value("SELECT count(*) FROM edge WHERE kind = 'similar'")
        updates = self._db.value("SELECT count(*) FROM fact WHERE replaced_by IS NOT NULL")
        same = self._db.value("SELECT total(n * (n - 1) / 2) FROM (SELECT count(*) AS n FROM fact GROUP BY seq)")
        beside = self._db.value("SELECT count(*) - count(DISTINCT session) FROM turn")
        return {"same_turn": int(same), "similar": similar, "next": beside, "updates": updates}

    def _leaving(self, seq: int) -> list[Link]:
        links = []
        for near, far in (("source", "target"), ("target", "source")):
            found = self._db.rows(_SIMILAR.format(near=near, far=far), (seq,))
            links += [Link(seq, target, "similar", weight) for target, weight in found]
        for join in ("there.id = here.replaced_by", "there.replaced_by = here.id"):
            found = self._db.rows(_UPDATES.format(join=join), (seq,))
            links += [Link(seq, target, "updates", UPDATE_WEIGHT) for (target,) in found]
        for side, way in (("<", "DESC"), (">", "ASC")):
            found = self._db.rows(_BESIDE.format(side=side, way=way), (seq,))
            links += [Link(seq, target, "next", NEXT_WEIGHT) for (target,) in found]
        return links

    def _relink(self, known: Known, positions: Sequence[int], least: float) -> set[int]:
        """Decide again what these facts are linked to; return the later facts whose links that may change."""
        later: set[int] = set()
        for near in known.near(positions, least):
            row, said = int(known.rows[near.position]), int(known.said[near.position])
            self._db.execute(_UNLINK, (row, said))
            links = [(row, int(known.rows[position]), weight) for position, weight in near.links]
            self._db.executemany(_LINK, links)
            later.update(near.later.tolist())
        return later
