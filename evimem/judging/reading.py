"""What a loop that reads a memory group by group asks of a judge: which keywords, and what each round comes to."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from ..types.stored import Keyword
from ..types.trace import Called
from .decision import firm
from .evidence import Verdict, View

MOST_LISTED = 500  # keywords to choose among at once


@dataclass(frozen=True, slots=True)
class Chosen:
    """The keywords to read by, and the model requests that it took to choose them."""

    keywords: tuple[Keyword, ...]
    calls: tuple[Called, ...] = ()


@dataclass(frozen=True, slots=True)
class Round:
    """Where a loop stands in a round of reading (G4).

    `number` counts the rounds, from 1 on, of which there are at most `most`. `answer` is that of the round before,
    `critical` are the ids of the turns that it rests on, `new` those of the turns that no earlier round has read.
    """

    number: int
    most: int
    answer: str
    critical: tuple[str, ...]
    new: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Considered:
    """What a round came to: a verdict, an answer so far, the ids it rests on, and whether it is accepted as final.

    `read` are the ids of the turns that were read for it, at last: a page may turn out to be too long for a model.
    """

    verdict: Verdict
    answer: str
    critical: tuple[str, ...]
    accepted: bool
    read: frozenset[str]


def own_first(candidates: Sequence[Keyword], most: int) -> tuple[Keyword, ...]:
    """Return the first keywords, the question's own words before words that only mean nearly the same."""
    return tuple(sorted(candidates, key=lambda one: -one.closeness)[:most])


def consider_by(verdict: Verdict, view: View, reading: Round, best: Iterable[str]) -> Considered:
    """Accept by a verdict alone, without an answer; its witnesses and the turns that match best are critical.

    Accepted is what is firm, by the rule of `decision.firm`.
    """
    witnesses = (turn_id for ids in verdict.supported.values() for turn_id in ids)
    kept = tuple(dict.fromkeys((*reading.critical, *best, *witnesses)))
    return Considered(verdict, "", kept, firm(verdict, view, reading.number), view.readable)
