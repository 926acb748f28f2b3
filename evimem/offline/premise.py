"""What a question takes for granted and the evidence has otherwise: it asks of a brother where a sister is told of."""

from __future__ import annotations

from dataclasses import dataclass

from ..evidence import View
from ..terms import stem
from .contrasts import contrasted
from .match import Match, Matches

_TURNS = 3  # whose dialogue may say the word after all
_SENTENCES = 2  # to each side of the best one, that may say another


@dataclass(frozen=True, slots=True)
class Altered:
    """A word of the question, and the word of its kind that the evidence has in its place."""

    asked: str
    told: str


def altered(view: View, matches: Matches) -> tuple[Altered, ...]:
    """Return the words that are not said around the best turns about the target, where the best one says another."""
    stating = [m for m in matches.ranked if not m.unit.asks] or list(matches.ranked)
    best = sorted(stating, key=lambda m: -m.score * m.own)
    turns = list(dict.fromkeys(m.unit.turn.id for m in best))[:_TURNS]
    words = _words_by_turn(matches)
    near = {stem(word) for turn_id in _around(view, turns) for word in words.get(turn_id, ())}
    asked = {stem(word): word for word in matches.weights if stem(word) not in near}
    told = {stem(word): word for word in _beside(matches, best[0])}
    return tuple(Altered(asked[one], told[other]) for one, other in contrasted(asked, told).items())


def _beside(matches: Matches, best: Match) -> list[str]:
    """Return the words of the best sentence and of those around it: a long message has some word of every kind."""
    unit = best.unit
    turn = sorted((m.unit for m in matches.ranked if m.unit.turn.id == unit.turn.id), key=lambda one: one.span)
    place = turn.index(unit)
    return [word for one in turn[max(0, place - _SENTENCES) : place + _SENTENCES + 1] for word in one.words]


def _words_by_turn(matches: Matches) -> dict[str, tuple[str, ...]]:
    found: dict[str, tuple[str, ...]] = {}
    for m in matches.ranked:
        found[m.unit.turn.id] = (*found.get(m.unit.turn.id, ()), *m.unit.words)
    return found


def _around(view: View, turns: list[str]) -> set[str]:
    """Return the turns of every dialogue that holds one of these."""
    dialogues = [{turn.id for turn in dialogue} for dialogue in view.context.values()]
    return set(turns).union(*(ids for ids in dialogues if not ids.isdisjoint(turns)))


def in_words(found: Altered) -> str:
    """Return why a question cannot be answered as it is put."""
    return f"the evidence says {found.told!r}, not {found.asked!r}"
