"""What a span is refused by: who the evidence is about, and a premise that it contradicts.

A premise is false where a question names one thing and the evidence has another of its kind in its place: it asks about
a brother where a sister is mentioned.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from evimem.judging.evidence import Evidence, View
from evimem.offline.matching import Match, Matches, mentions
from evimem.text.names import contrasted
from evimem.text.terms import stem

_DEEP = 4  # sentences that a gap is averaged over
_TENTH = 9  # the place of the sentence that the best one is compared with
_TURNS = 3  # best turns that are searched for a contradicting word
_SLACK = timedelta(days=183)  # events are mentioned for half a year after, and planned half a year before
_OF_ONESELF = 1.0  # how far a sentence must be about its speaker to be said of oneself
_SENTENCES = 2  # to each side of the best one, that may have the contradicting word


@dataclass(frozen=True, slots=True)
class Altered:
    """A word of the question, and the word of its kind that the evidence has in its place."""

    asked: str
    stated: str


def told_signals(view: View, matches: Matches) -> dict[str, float]:
    """Return how much better the sentences about the target match than those about others.

    `gap` averages over the best few, `gap_best` compares the best two; both use only what the question itself found
    at first, because later searches look for the target and would bias the comparison. `told_own` and `told_other`
    are the share of the question's words in the best statement about the target, and about another speaker.
    """
    first = _found_first(view)
    weighed = [m for m in matches.ranked if m.unit.turn.id in first] or matches.ranked
    own = [m.score * m.own for m in weighed]
    other = [m.score * m.other for m in weighed]
    told_own, told_other = _shares(matches)
    return {
        "gap": _top(own) - _top(other),
        "gap_best": max(own) - max(other),
        "told_own": told_own,
        "told_other": told_other,
        "margin": _margin([m.score * m.own for m in matches.ranked]),
        "altered": float(bool(altered(view, matches))),
    }


def altered(view: View, matches: Matches) -> tuple[Altered, ...]:
    """Return the words of the question in whose place the best turns about the target have another.

    Such a word does not occur around those turns while the best one has another of its kind, or it occurs nowhere in
    the evidence while one of them has another. A time that the question names counts like a word.
    """
    stating = [m for m in matches.ranked if not m.unit.asks] or list(matches.ranked)
    best: dict[str, Match] = {}
    for m in sorted(stating, key=lambda m: -m.score * m.own):
        best.setdefault(m.unit.turn.id, m)
    turns = list(best)[:_TURNS]
    by_turn = _words_by_turn(matches)
    near = {stem(word) for turn_id in _around(view, turns) for word in by_turn.get(turn_id, ())}
    anywhere = {stem(word) for said in by_turn.values() for word in said}
    found: dict[str, Altered] = {}
    for held, where in ((near, turns[:1]), (anywhere, turns[1:])):
        asked = {stem(word): word for word in matches.weights if stem(word) not in held}
        stated = {stem(word): word for turn_id in where for word in _words_near(matches, best[turn_id])}
        for one, other in contrasted(asked, stated).items():
            found.setdefault(one, Altered(asked[one], stated[other]))
    return (*found.values(), *_other_time(view, turns))


def _found_first(view: View) -> frozenset[str]:
    """Return the turns of the first search, with the dialogue around them."""
    found = [item.turn.id for item in view.evidence if _is_of_first_search(item)]
    around = (turn.id for turn_id in found for turn in view.context.get(turn_id, ()))
    return frozenset(found).union(around)


def _is_of_first_search(item: Evidence) -> bool:
    """Return whether a turn is of the first iteration, or of the one search that rounds among keywords share out."""
    return item.iteration == 1 or item.path == "keyword"


def _shares(matches: Matches) -> tuple[float, float]:
    """Compare what is said of the target, by itself or by name, and what others say of themselves."""
    target = set(matches.analysis.asked or matches.analysis.entities[:1])
    asked = {stem(word) for word in matches.weights}
    own, other = [0.0], [0.0]
    for m in matches.ranked:
        unit, speaker = m.unit, m.unit.turn.speaker
        of_oneself = unit.about.get(speaker, 0.0) >= _OF_ONESELF
        if unit.asks or unit.caption or not asked:
            continue
        share = len(asked.intersection(map(stem, unit.words))) / len(asked)
        if (of_oneself and speaker in target) or any(mentions(unit.text, name) for name in target):
            own.append(share)
        elif of_oneself:
            other.append(share)
    return max(own), max(other)


def _margin(own: Sequence[float]) -> float:
    """Return how far the best sentence scores above the tenth."""
    ordered = sorted(own, reverse=True)
    return ordered[0] - ordered[min(_TENTH, len(ordered) - 1)]


def _top(values: Sequence[float]) -> float:
    return sum(sorted(values, reverse=True)[:_DEEP]) / _DEEP


def _words_near(matches: Matches, best: Match) -> list[str]:
    """Return the words of the best sentence and those around it; a whole long message has some word of every kind."""
    unit = best.unit
    turn = sorted((m.unit for m in matches.ranked if m.unit.turn.id == unit.turn.id), key=lambda one: one.span)
    place = turn.index(unit)
    return [word for one in turn[max(0, place - _SENTENCES) : place + _SENTENCES + 1] for word in one.words]


def _other_time(view: View, turns: Sequence[str]) -> Iterator[Altered]:
    """Yield the time that a question names, where none of these turns was said near it or has an event near it."""
    shown = {item.turn.id: item for item in view.evidence}
    best = [shown[turn_id] for turn_id in turns if turn_id in shown]
    for span in view.analysis.times:
        if best and span.start and span.end and not any(_is_near(span.start, span.end, item) for item in best):
            yield Altered(span.text, f"{best[0].turn.time:%B %Y}")


def _is_near(start: datetime, end: datetime, item: Evidence) -> bool:
    events = ((f.event.start, f.event.end) for f in item.facts if f.event and f.event.start and f.event.end)
    times = ((item.turn.time, item.turn.time), *events)
    # Differences, because a sum may lie beyond the years 1 to 9999.
    return any(since - end <= _SLACK and start - until <= _SLACK for since, until in times)


def _words_by_turn(matches: Matches) -> dict[str, tuple[str, ...]]:
    found: dict[str, tuple[str, ...]] = {}
    for m in matches.ranked:
        found[m.unit.turn.id] = (*found.get(m.unit.turn.id, ()), *m.unit.words)
    return found


def _around(view: View, turns: list[str]) -> set[str]:
    """Return the turns of every dialogue that holds one of these."""
    dialogues = [{turn.id for turn in dialogue} for dialogue in view.context.values()]
    return set(turns).union(*(ids for ids in dialogues if not ids.isdisjoint(turns)))
