"""A short answer from the best sentence: a date where a time is asked for, else the sentence's telling part."""

from __future__ import annotations

from ..evidence import Draft, Manner, View
from ..times import locate_times, render
from ..types import Citation
from .match import Match, match


def read(view: View, manner: Manner) -> Draft:
    """Answer from the shown evidence."""
    matches = match(view)
    own = [m for m in matches.ranked if m.shown and not m.unit.asks] or [m for m in matches.ranked if m.shown]
    own.sort(key=lambda m: -m.score * (0.3 + m.own))
    if not own:
        return Draft(None, reason="the evidence says nothing about it")
    best = own[0]
    if view.analysis.wants == "time":
        return _date(own[:3])
    return Draft(best.unit.text, (_cite(best),))


def _date(best: list[Match]) -> Draft:
    for m in best:
        for located in locate_times(m.unit.text, m.unit.turn.time):
            if located.time.start is not None:
                return Draft(render(located.time), (_cite(m),), time=located.time)
    said = best[0].unit.turn.time
    return Draft(f"{said.day} {said:%B %Y}", (_cite(best[0]),), reason="no date is stated: this is when it was said")


def _cite(m: Match) -> Citation:
    return Citation(m.unit.turn.id, m.unit.span, m.unit.text)
