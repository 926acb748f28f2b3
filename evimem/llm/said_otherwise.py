"""Reports against a person's own word, among the facts that are shown: each is told beside the other."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass

from ..extract import contradicts, topic_of
from ..judging.evidence import Evidence, View
from ..types.values import Fact, Turn


@dataclass(frozen=True, slots=True)
class StandingFact:
    """A fact in force, with the turn that states it."""

    fact: Fact
    turn: Turn


def said_otherwise(item: Evidence, view: View, earlier: Collection[str]) -> Iterator[StandingFact]:
    """Yield what stands against the facts of an item.

    For a report it is the own word of the person; for an own word a report in one of the turns `earlier`, which were
    shown without it.
    """
    others = [shown for shown in view.shown if shown.turn.speaker != item.turn.speaker]
    for said in _in_force(item):
        for other in (one for shown in others for one in _in_force(shown)):
            if _contradicts(said, other) or (other.turn.id in earlier and _contradicts(other, said)):
                yield other


def _in_force(item: Evidence) -> Iterator[StandingFact]:
    """Yield the facts that may contradict others and that nothing has replaced."""
    facts = (fact for fact in item.facts if fact.replaced_by is None and topic_of(fact) is not None)
    return (StandingFact(fact, item.turn) for fact in facts)


def _contradicts(report: StandingFact, own: StandingFact) -> bool:
    later = own.turn.time <= report.turn.time
    return later and contradicts(report.fact, report.turn.speaker, own.fact, own.turn.speaker)
