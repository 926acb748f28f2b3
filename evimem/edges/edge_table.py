"""The Edges layer: typed, weighted links between facts, and one scored hop over them.

Only `similar` edges are stored, because they cost a comparison with thousands of facts. `same_turn` joins each fact to
the next of its turn, `next` each turn to the next of its session, and `updates` follows from `fact.replaced_by`:
stored twice, they could only disagree.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from ..db.derived_sql import (
    EDGES,
    count_links,
    delete_edges_to_earlier,
    read_facts_to_link,
    read_linked_facts,
    select_similar_turns,
    select_turns_linked_by_updates,
)
from ..db.tables import Tables
from ..db.turn_sql import select_turns_around
from ..types.values import EdgeKind
from ..types.vectors import Vectors
from .fact_vectors import FactMatrix, FactVectors, keep_best_links

_PAGE_EDGES = 4_096  # edges read, or facts checked, at once
NEXT_WEIGHT = 0.5  # of the turns before and after one in its dialogue; EviMem keeps edges from 0.5 on (E5)
UPDATE_WEIGHT = 1.0
THRESHOLDS = {"static-minilm-256": 0.7}  # calibrated per embedder (`python -m benchmarks.links`)


def similarity_threshold(embedder: str) -> float:
    """Return the least cosine of a `similar` edge, in [-1, 1], for an embedder of this name."""
    # 0.7 is the threshold of the paper (E4), for its own embedding.
    return THRESHOLDS.get(embedder, 0.7)


@dataclass(frozen=True, slots=True)
class Link:
    """One edge between two turns, by sequence number, in the direction of an expansion; `weight` is in (0, 1]."""

    source: int
    target: int
    kind: EdgeKind
    weight: float


def rank_targets(seeds: list[int], links: list[Link], limit: int) -> list[tuple[Link, float]]:
    """Score each target by its seed's rank and the edge's weight; return the best `limit`, each target once.

    The score is weight / (1 + r / 10) for a seed at rank r from 0: half at rank 10, so that the order of the seeds
    matters but a late seed is not lost. Seeds are never targets. Ties go to the better seed, then to the earlier turn.
    """
    rank = {seed: index for index, seed in enumerate(seeds)}
    reached: dict[int, tuple[Link, float]] = {}
    for link in links:
        if link.target in rank:
            continue
        score = link.weight / (1 + rank[link.source] / 10)
        kept = reached.get(link.target)
        if kept is None or (score, -rank[link.source]) > (kept[1], -rank[kept[0].source]):
            reached[link.target] = (link, score)
    order = sorted(reached.values(), key=lambda item: (-item[1], rank[item[0].source], item[0].target))
    return order[:limit]


class EdgeGraph:
    """Edges between facts.

    `similar` edges lead from each fact to the most similar earlier ones. "Earlier" is by the time of the turn, so the
    edges do not depend on the order in which turns are added.
    """

    def __init__(self, db: Tables) -> None:
        self._db = db
        self._vectors = FactVectors(db)

    def has_more_facts_than(self, count: int) -> bool:
        """Say whether more than `count` facts have a vector: the cost of linking one more fact."""
        return self._vectors.has_more_than(count)

    def link_facts(self, rows: Sequence[int], vectors: Vectors, min_cosine: float) -> bool:
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
        newest = self._vectors.largest_row()
        fresh = self._vectors.store_vectors(rows, vectors, newest)
        if late := bool(fresh) and min(fresh) <= newest:
            self._vectors.drop_cache()
        known = self._vectors.read_matrix()
        # A new fact may push another out of the best `PER_FACT` of a later one; one that was there, which lost a link
        # to forgotten facts, changes its own alone.
        new = known.positions_of(fresh)
        later = self._recompute_edges(known, new, min_cosine, without_edges=newest).union(
            known.positions_of(rows)
        ) - set(new)
        self._recompute_edges(known, sorted(later), min_cosine)
        return late

    def erase_facts(self, rows: Sequence[int]) -> set[int]:
        """Delete the edges and vectors of facts; return the later facts linked to them, for `relink_facts`."""
        neighbours = {other for _, other, _ in read_linked_facts(self._db, rows, ">")}
        self._db.delete_rows("edge", source=rows)
        self._db.delete_rows("edge", target=rows)
        self._vectors.delete_vectors(rows)
        return neighbours

    def relink_facts(self, rows: Iterable[int], min_cosine: float) -> None:
        """Recompute the edges of these facts to earlier ones."""
        known = self._vectors.read_matrix()
        self._recompute_edges(known, known.positions_of(sorted(rows)), min_cosine)

    def count_facts_with_wrong_edges(self, min_cosine: float) -> int:
        """Return how many facts have other edges than their vectors give; facts queued for linking are left out.

        Every edge is compared with the vectors of its ends, and every fact with those within its window: it must have
        the best of these and of the edges that it has. That a like fact beyond the window was not found is no fault.
        """
        self._vectors.drop_cache()  # the file is checked, not the cache of this handle
        known = self._vectors.read_matrix()
        queued = known.positions_of(read_facts_to_link(self._db))
        checked = np.setdiff1d(np.arange(len(known)), queued)
        wrong = set(self._find_unsound_edges(known, min_cosine)) - set(known.rows[queued].tolist())
        for start in range(0, len(checked), _PAGE_EDGES):
            page = checked[start : start + _PAGE_EDGES]
            kept: dict[int, set[tuple[int, float]]] = {row: set() for row in known.rows[page].tolist()}
            for row, other, weight in read_linked_facts(self._db, kept, "<"):
                kept[row].add((other, weight))
            for similar in known.find_similar_in_window(page.tolist(), min_cosine):
                row = int(known.rows[similar.position])
                nearby = {(int(known.rows[position]), weight) for position, weight in similar.links}
                if kept[row] != set(keep_best_links(known, kept[row] | nearby)):
                    wrong.add(row)
        return len(wrong)

    def _find_unsound_edges(self, known: FactMatrix, min_cosine: float) -> Iterator[int]:
        """Yield the later end of each edge that its vectors do not give, from a pass over all edges."""
        for page in self._db.read_pages(EDGES, (-1, -1), _PAGE_EDGES):
            yield from known.find_unsound_edges([(first, second, weight) for first, second, weight in page], min_cosine)

    def delete_all(self) -> None:
        """Delete every stored edge and every fact's vector."""
        self._db.delete_rows("edge")
        self._db.delete_rows("fact_vector")
        self._vectors.drop_cache()

    def drop_cache(self) -> None:
        """Drop the vectors held in memory, after anything else than `link_facts` and `erase_facts` changed it."""
        self._vectors.drop_cache()

    def links_from_turns(self, seqs: Iterable[int]) -> list[Link]:
        """Return the links from these turns to other turns, by every kind of edge; targets are sequence numbers."""
        wanted, db = list(dict.fromkeys(seqs)), self._db
        similar, updating, beside = db.rows_of_queries(
            select_similar_turns(db, wanted),
            select_turns_linked_by_updates(db, wanted),
            select_turns_around(db, wanted, 1, 1),
        )
        links = [Link(seq, there, "similar", weight) for seq, there, weight in similar]
        links += [Link(seq, there, "updates", UPDATE_WEIGHT) for seq, there in updating]
        links += [Link(seq, there, "next", NEXT_WEIGHT) for seq, there in beside]
        return [link for link in links if link.target != link.source]

    def read_fact_matrix(self) -> FactMatrix:
        """Return the facts that have a vector; inside a transaction of the caller."""
        return self._vectors.read_matrix()

    def count_by_kind(self) -> dict[str, int]:
        """Return how many edges there are of each kind."""
        return count_links(self._db)

    def _recompute_edges(
        self, known: FactMatrix, positions: Sequence[int], min_cosine: float, *, without_edges: int | None = None
    ) -> set[int]:
        """Recompute the edges of facts to earlier ones; return the later facts whose edges that may change.

        Facts with a row above `without_edges` have none yet.
        """
        later: set[int] = set()
        old, links = list[int](), list[tuple[int, int, str, float]]()
        for similar in known.find_similar(positions, min_cosine):
            row = int(known.rows[similar.position])
            if without_edges is None or row <= without_edges:
                old.append(row)
            others = ((int(known.rows[position]), weight) for position, weight in similar.links)
            links += [(min(row, other), max(row, other), "similar", weight) for other, weight in others]
            later.update(similar.later.tolist())
        if old:
            delete_edges_to_earlier(self._db, old)
        self._db.insert("edge", "source, target, kind, weight", links)
        return later
