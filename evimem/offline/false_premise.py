"""What a question takes for granted and the evidence has otherwise: it asks of a brother where a sister is told of."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from ..judging.evidence import Evidence, View
from ..text.terms import stem
from .contrast_sets import contrasted
from .match_sentences import Match, Matches

_TURNS = 3  # whose dialogue may say the word after all
_SLACK = timedelta(days=183)  # what happened is told for a while, and planned for as long
_SENTENCES = 2  # to each side of the best one, that may say another


@dataclass(frozen=True, slots=True)
class Altered:
    """A word of the question, and the word of its kind that the evidence has in its place."""

    asked: str
    told: str


def altered(view: View, matches: Matches) -> tuple[Altered, ...]:
    """Return the words asked about in whose place the best turns about the target have another.

    Such a word is not said around those turns while the best one says another of its kind, or it is said nowhere in the
    evidence while one of them does.
    """
    stating = [m for m in matches.ranked if not m.unit.asks] or list(matches.ranked)
    best: dict[str, Match] = {}
    for m in sorted(stating, key=lambda m: -m.score * m.own):
        best.setdefault(m.unit.turn.id, m)
    turns = list(best)[:_TURNS]
    words = _words_by_turn(matches)
    near = {stem(word) for turn_id in _around(view, turns) for word in words.get(turn_id, ())}
    anywhere = {stem(word) for said in words.values() for word in said}
    found: dict[str, Altered] = {}
    for held, where in ((near, turns[:1]), (anywhere, turns[1:])):
        asked = {stem(word): word for word in matches.weights if stem(word) not in held}
        told = {stem(word): word for turn_id in where for word in _beside(matches, best[turn_id])}
        for one, other in contrasted(asked, told).items():
            found.setdefault(one, Altered(asked[one], told[other]))
    return (*found.values(), *_elsewhen(view, turns))


def _beside(matches: Matches, best: Match) -> list[str]:
    """Return the words of the best sentence and of those around it: a long message has some word of every kind."""
    unit = best.unit
    turn = sorted((m.unit for m in matches.ranked if m.unit.turn.id == unit.turn.id), key=lambda one: one.span)
    place = turn.index(unit)
    return [word for one in turn[max(0, place - _SENTENCES) : place + _SENTENCES + 1] for word in one.words]


def _elsewhen(view: View, turns: Sequence[str]) -> Iterator[Altered]:
    """Yield the time that a question names, where none of these turns was said near it or tells of it."""
    shown = {item.turn.id: item for item in view.evidence}
    best = [shown[turn_id] for turn_id in turns if turn_id in shown]
    for span in view.analysis.times:
        if best and span.start and span.end and not any(_is_near(span.start, span.end, item) for item in best):
            yield Altered(span.text, f"{best[0].turn.time:%B %Y}")


def _is_near(start: datetime, end: datetime, item: Evidence) -> bool:
    told = ((f.event.start, f.event.end) for f in item.facts if f.event and f.event.start and f.event.end)
    times = ((item.turn.time, item.turn.time), *told)
    return any(since <= end + _SLACK and until >= start - _SLACK for since, until in times)


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
