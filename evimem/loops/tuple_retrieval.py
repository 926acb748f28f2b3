"""LaceMem's retrieval (EviMem section 3.1): facts are found by vectors and by every edge; turns come with them."""

from __future__ import annotations

from collections.abc import Sequence

from ..embedding import count_tokens
from ..flow import Flow
from ..judging.evidence import Evidence
from ..query.find_turns import Filters
from ..types.values import FactHit
from .retrieve import Arrived, Retrieval


class TupleRetrieval(Retrieval):
    """Evidence whose facts are those that were found of each turn, and no others."""

    def nearest(self, text: str, k: int, *, path: str, iteration: int) -> Flow[Arrived]:
        """Add the k facts nearest to a text; return the turns seen for the first time, and all k facts."""
        filters = Filters.within(self._scope, self._exclude)
        query = filters.query(text, k, vector=(yield from self.vectors.of(text)))
        return self._keep_facts(self._store.nearest_facts(query), path, iteration)

    def linked(self, fact_ids: Sequence[str], iteration: int) -> Arrived:
        """Add every fact one edge away from these."""
        return self._keep_facts(self._store.linked_facts(fact_ids, self._scope), "edge", iteration)

    def cost(self, item: Evidence) -> int:
        """Return how many tokens the facts found of a turn take."""
        return sum(count_tokens(fact.text) + LINE_TOKENS for fact in item.facts)

    def count(self) -> int:
        """Return how many facts were found."""
        return sum(len(item.facts) for item in self._evidence.values())

    def _keep_facts(self, hits: Sequence[FactHit], path: str, iteration: int) -> Arrived:
        """Add facts in the order of their arrival; a turn is as new as the newest of its facts."""
        turns, facts = dict[str, None](), list[str]()
        for hit in (one for one in hits if self.admits(one.turn)):
            facts.append(hit.fact.id)
            known = self._evidence.get(hit.turn.id)
            before = () if known is None else known.facts
            if hit.fact in before:
                continue
            if known is None:
                turns[hit.turn.id] = None
                self._ranks[hit.turn.id] = len(self._ranks)
            reached = known.path if known else f"edge:{path}" if path == "edge" else path
            self._evidence[hit.turn.id] = Evidence(
                hit.turn, (*before, hit.fact), hit.score, reached, iteration, hit.parts
            )
        return Arrived(path, tuple(turns), tuple(facts))


LINE_TOKENS = 12  # of a fact's label and date
