"""When something happened: the words of time in the best sentence about it, or the day on which it was told."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from ..times import Located, locate_times
from ..types.values import TimeSpan
from .match_sentences import Match, Matches, nearness, strength

_FUTURE = re.compile(
    r"\b(?:will|going\s+to|planning|plans?|planned|hoping|upcoming|next|is\s+\w+\s+\w+ing)\b", re.IGNORECASE
)
_PAST = re.compile(r"\b(?:did|was|were|had|has|have|\w+ed)\b", re.IGNORECASE)
WITHIN = 0.45  # a dated sentence may be this much weaker than the best one, as a share of it
SAME_TURN = 0.1
TENSE = 0.5
NEAR = 0.2
ASKED = 0.4
_SENTENCES = 12


@dataclass(frozen=True, slots=True)
class Dated:
    """A time, the sentence it was read from, and where its words stand; `told` when it is only when it was told."""

    time: TimeSpan
    match: Match
    span: tuple[int, int]
    strength: float
    told: bool = False


def dated(matches: Matches, found: Sequence[Match]) -> list[Dated]:
    """Return the times of the best sentences, most likely first; the last resort is the day the best was told on."""
    if not found:
        return []
    strengths = {id(m): strength(m) for m in found[:_SENTENCES]}
    top = max(strengths.values())
    best_turn = max(found[:_SENTENCES], key=lambda m: strengths[id(m)]).unit.turn.id
    candidates = [
        Dated(
            located.time,
            m,
            (located.start, located.end),
            strengths[id(m)] / top + _bonus(matches, m, located, best_turn),
        )
        for m in found[:_SENTENCES]
        if not m.unit.caption
        for located in _located(m)
        if located.time.start is not None
    ]
    candidates = [c for c in candidates if c.strength >= WITHIN]
    candidates.sort(key=lambda c: -c.strength)
    best = max(found[:_SENTENCES], key=lambda m: strengths[id(m)])
    return [*candidates, Dated(day_of(best.unit.turn.time), best, best.unit.span, 0.0, told=True)]


def day_of(moment: datetime) -> TimeSpan:
    """Return the calendar day of a moment."""
    start = moment.replace(hour=0, minute=0, second=0, microsecond=0)
    return TimeSpan(start, start + timedelta(days=1), "day", "")


def _located(m: Match) -> list[Located]:
    start, end = m.unit.span
    return [located for located in locate_times(m.unit.turn.text, m.unit.turn.time) if start <= located.start < end]


def _bonus(matches: Matches, m: Match, located: Located, best_turn: str) -> float:
    question = matches.analysis.question
    said = m.unit.turn.time
    begins = located.time.start
    assert begins is not None
    later = begins.date() > said.date()
    wrong = later if _PAST.search(question) and not _FUTURE.search(question) else False
    wrong = wrong or (not later and begins.date() < said.date() and bool(_FUTURE.search(question)))
    near = nearness(matches, m, located.start, located.end)
    asked = matches.analysis.times
    inside = ASKED * (1 if any(_overlap(located.time, span) for span in asked) else -1) if asked else 0.0
    return SAME_TURN * (m.unit.turn.id == best_turn) - TENSE * wrong + NEAR * near + inside


def _overlap(one: TimeSpan, other: TimeSpan) -> bool:
    if one.start is None or one.end is None or other.start is None or other.end is None:
        return False
    return one.start < other.end and other.start < one.end
