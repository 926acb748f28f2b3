"""Which fact replaced which: the first later one of the same topic that does (`extract.replaces`).

What somebody says of another never replaces that person's own word (`extract.outranks`).

Decided when facts arrive or leave, for them and for those just before them, so that a long topic costs no more than a
short one. A fact looks at most `REACH` facts of its topic ahead: whatever the order in which facts came and went, the
result is the same.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ..db.derived_sql import facts_near, facts_with_places
from ..db.tables import Tables, unbound
from ..extract.slots import outranks, replaces
from ..types.values import Fact

REACH = 16


@dataclass(frozen=True, slots=True)
class PlacedFact:
    """A fact, who said it, and where it stands: when it was said, when it arrived, where in the turn; then its row."""

    order: tuple[int, int, int, int]
    speaker: str
    fact: Fact


class Supersession:
    """Keeps `replaced_by` of every fact up to date. `read` makes a fact of a row's columns."""

    def __init__(self, db: Tables, read: Callable[[Sequence[Any]], Fact]) -> None:
        self._db = db
        self._read = read

    def arrive(self, topics: Mapping[int, str]) -> None:
        """Update `replaced_by` of new facts, given with their topics, and of those that they may replace."""
        if topics:
            self._settle({**self._before(topics), **topics})

    def reaching(self, rows: Collection[int]) -> set[int]:
        """Return the other facts that these replaced, or stand within the reach of: for `settle` once they are gone."""
        ids = [fact_id for (fact_id,) in self._db.select("fact", "id", row=rows)]
        replaced = {row for (row,) in self._db.select("fact", "row", replaced_by=ids)}
        return (replaced | self._before(self.topics(rows)).keys()).difference(rows)

    def settle(self, rows: Collection[int]) -> None:
        """Recompute `replaced_by` of these facts."""
        self._settle({**dict.fromkeys(rows), **self.topics(rows)})

    def _settle(self, topics: Mapping[int, str | None]) -> None:
        self._db.update("fact", "replaced_by", "row", [(winner, row) for row, winner in self.wrong(topics).items()])

    def wrong(self, topics: Mapping[int, str | None]) -> dict[int, str | None]:
        """Return those of these facts, given with their topics, that have a wrong `replaced_by`, with the right one."""
        asked = [(row, topic) for row, topic in topics.items() if topic is not None]
        near: dict[int, list[int]] = defaultdict(list)
        for row, later in facts_near(self._db, asked, ">", REACH) if asked else ():
            near[row].append(later)
        placed = self._placed({*topics, *(later for some in near.values() for later in some)})
        winners = {row: _winner(placed[row], [placed[later] for later in near[row]]) for row in topics}
        return {row: winner for row, winner in winners.items() if winner != placed[row].fact.replaced_by}

    def _before(self, topics: Mapping[int, str]) -> dict[int, str]:
        """Return the facts, with their topics, that have one of these within their reach."""
        near = facts_near(self._db, topics.items(), "<", REACH) if topics else ()
        return {before: topics[row] for row, before in near}

    def topics(self, rows: Collection[int]) -> dict[int, str]:
        """Return the topics of those of these facts that have one."""
        found = self._db.select("fact", "row, topic", row=rows)
        return {row: topic for row, topic in found if topic is not None}

    def _placed(self, rows: Collection[int]) -> dict[int, PlacedFact]:
        found = facts_with_places(self._db, rows)
        return {place[-1]: PlacedFact(place, speaker, self._read(fact)) for place, speaker, fact in map(_parts, found)}


def _parts(row: Sequence[Any]) -> tuple[tuple[int, int, int, int], str, Sequence[Any]]:
    instant, seq, start, number, speaker, _, *fact = row
    return (instant, seq, start, number), unbound(speaker), fact


def _winner(older: PlacedFact, later: Sequence[PlacedFact]) -> str | None:
    """Return the id of the first of these facts that replaces one: not by a report against a person's own word."""
    for newer in sorted(later, key=lambda one: one.order):
        if replaces(newer.fact, older.fact) and not outranks(older.fact, older.speaker, newer.speaker):
            return newer.fact.id
    return None
