"""How probably each shown turn holds the answer: what is quoted first, and a sign of whether anything answers.

A linear model over few named signals. It says nothing of whether a short answer is proven: a turn may hold the answer
in words that no rule binds.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ..judging.evidence import View
from ..times import Conventions
from .constants import Linear
from .match_sentences import Matches
from .verified.asked_form import AskedForm, asked_of
from .verified.bindings import is_about, share
from .verified.candidate_passages import Passage, passages_of
from .verified.stated_values import bears

_MAYBE = 0.5  # how far a passage bears a type whose values are not read, by what they look like


def likely_turns(
    view: View, matches: Matches, model: Linear, conventions: Conventions = Conventions()
) -> dict[str, float]:
    """Return the probability of each shown turn that it holds the answer, by id."""
    return {turn: model.probability(signals) for turn, signals in turn_signals(view, matches, conventions).items()}


def turn_signals(
    view: View, matches: Matches, conventions: Conventions = Conventions()
) -> dict[str, Mapping[str, float]]:
    """Return the signals of each shown turn, by id.

    `search` is the turn's score as a share of the best, `window` how far one of its sentences with the dialogue around
    it has the question's words, `newer` how late it was said where the question asks for what holds now.
    """
    if not view.shown:
        return {}
    asked = asked_of(view)
    said: dict[str, list[Passage]] = {}
    for passage in passages_of(view, asked):
        said.setdefault(passage.turn.id, []).append(passage)
    windows: dict[str, float] = {}
    for match in matches.ranked:
        if match.shown:
            windows[match.unit.turn.id] = max(match.window, windows.get(match.unit.turn.id, 0.0))
    searched, late = _searched(view), _late(view)
    return {
        turn: {
            "search": searched[turn],
            "window": window,
            "newer": late[turn] * asked.newest,
            **_of_passages(view, asked, said.get(turn, ()), conventions),
        }
        for turn, window in windows.items()
    }


def _of_passages(
    view: View, asked: AskedForm, passages: Sequence[Passage], conventions: Conventions
) -> Mapping[str, float]:
    """Return the signals of the sentences of one turn: the best of each, wherever it stands.

    `about` is whether one may state something of the asked person, `near` how far one binds the words of the question,
    `typed` how far one has a value of the type that is asked for.
    """
    return {
        "about": max((float(is_about(asked, one)) for one in passages), default=0.0),
        "near": max((share(asked, one.near) for one in passages), default=0.0),
        "typed": max((_typed(view, asked, one, conventions) for one in passages), default=0.0),
    }


def _typed(view: View, asked: AskedForm, passage: Passage, conventions: Conventions) -> float:
    found = bears(view, asked, passage, conventions)
    return 1.0 if found == "value" else _MAYBE if found == "likeness" else 0.0


def _searched(view: View) -> dict[str, float]:
    """Return the search score of each shown turn as a share of the best; 0 where none for the question found it."""
    scores = {item.turn.id: item.score if item.for_question else 0.0 for item in view.shown}
    most = max(scores.values(), default=0.0)
    return {turn: max(score, 0.0) / most if most > 0 else 0.0 for turn, score in scores.items()}


def _late(view: View) -> dict[str, float]:
    """Return when each shown turn was said: 0 for the first of them, 1 for the last."""
    times = {item.turn.id: item.turn.time for item in view.shown}
    first, last = min(times.values()), max(times.values())
    whole = (last - first).total_seconds() or 1.0
    return {turn: (time - first).total_seconds() / whole for turn, time in times.items()}
