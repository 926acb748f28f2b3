"""Sentences of the evidence with all that binds them: their message, the question they reply to, what was said before.

How far a word of the question is bound by a passage depends on where it stands: in the sentence itself, in the question
that the sentence answers, elsewhere in what the speaker said in one go, or in the dialogue just before it.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from itertools import pairwise

import numpy as np

from ...judging.evidence import View
from ...lang import ENGLISH
from ...text.terms import stem
from ...types.values import Turn
from ..match_sentences import Array, keyword_matrix
from ..sentence_units import SentenceUnit, is_assistant, units_of
from ..signals import contrasted, has_contrast
from .asked_form import AskedForm

_REPLIED, _MESSAGE, _BEFORE, _AFTER = 0.9, 0.75, 0.5, 0.4  # how far a word counts as bound that stands elsewhere
_TURNS_BEFORE = 5  # turns before a message that may say what it is about
_TURNS_AFTER = 2
_QUESTION_TURNS = 4  # turns before a reply in which its question is looked for
_ONE_GO = timedelta(minutes=15)  # between two turns of one speaker that are one message
_APART = timedelta(hours=6)  # after which a turn takes up no earlier one


def _alternatives(name: str) -> str:
    return "|".join(ENGLISH.words(name))


_ASKS = re.compile(
    rf"^\W*(?:(?:{_alternatives('asked_forms.openings')})\W+)*(?:{_alternatives('asked_forms.casual_questions')})",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Passage:
    """A sentence, and which words of the question it binds.

    `question` is the sentence that it replies to, None where it replies to none; `place` is its number in its turn. The
    arrays say, per word of the question, how far it is bound: `own` by the sentence, `near` with the question that it
    answers, `wide` with its message and the dialogue before it.
    """

    unit: SentenceUnit
    question: SentenceUnit | None
    asks: bool
    place: int
    own: Array
    near: Array
    wide: Array

    @property
    def turn(self) -> Turn:
        """The turn that it stands in."""
        return self.unit.turn

    @property
    def text(self) -> str:
        """The sentence."""
        return self.unit.text


def passages_of(view: View, asked: AskedForm) -> list[Passage]:
    """Return the sentences of the shown turns, oldest first, kept for all that reads them at one check."""
    return view.kept_at_check(("passages", asked), lambda: _passages_of(view, asked))


def _passages_of(view: View, asked: AskedForm) -> list[Passage]:
    units = [unit for unit in units_of(view) if not unit.caption]
    if not units or not asked.weights:
        return []
    dialogue = _Dialogue(view, units)
    bound = _bound(view, asked, units)
    shown = {item.turn.id for item in view.shown}
    found = []
    for turn_id, places in dialogue.places.items():
        if turn_id in shown:
            around = _around(dialogue, bound, units[places[0]].turn)
            found += [_passage(dialogue, bound, around, place, number) for number, place in enumerate(places)]
    return sorted(found, key=lambda passage: (passage.turn.time, passage.turn.id, passage.unit.span))


def _around(dialogue: _Dialogue, bound: Array, turn: Turn) -> Array:
    """Return, per word of the question, how far a turn's message and the dialogue around it bind it."""
    message = _MESSAGE * dialogue.most(bound, dialogue.message(turn))
    before = _BEFORE * dialogue.most(bound, dialogue.before(turn))
    after = _AFTER * dialogue.most(bound, dialogue.after(turn))
    found: Array = np.maximum(np.maximum(message, before), after)
    return found


def _passage(dialogue: _Dialogue, bound: Array, around: Array, place: int, number: int) -> Passage:
    unit = dialogue.units[place]
    question = dialogue.question(place, number)
    own = bound[:, place]
    near = own if question is None else np.maximum(own, _REPLIED * bound[:, question])
    asks = None if question is None else dialogue.units[question]
    return Passage(unit, asks, is_question(unit), number, own, near, np.maximum(near, around))


def is_question(unit: SentenceUnit) -> bool:
    """Return whether a sentence asks, with or without its mark."""
    return unit.asks or _ASKS.match(unit.text) is not None


def _bound(view: View, asked: AskedForm, units: Sequence[SentenceUnit]) -> Array:
    """Return float32 (words, sentences): how far each word of the question occurs; its opposite does not count."""
    terms = list(asked.weights)
    spelled = tuple(asked.spelled[term] for term in terms)
    said = keyword_matrix(spelled, units, view.memo.setdefault(("alike", spelled), {}))
    rows = {term: row for row, term in enumerate(terms) if has_contrast(term)}
    for column, unit in enumerate(units if rows else ()):
        stems = {stem(word) for word in unit.words}
        for term in contrasted([term for term in rows if term not in stems], stems):
            said[rows[term], column] = 0.0
    return said


class _Dialogue:
    """The turns of a view in order, as far as the evidence holds them."""

    def __init__(self, view: View, units: Sequence[SentenceUnit]) -> None:
        self.units = units
        self.places: dict[str, list[int]] = {}
        for place, unit in enumerate(units):
            self.places.setdefault(unit.turn.id, []).append(place)
        self._previous: dict[str, Turn] = {}
        self._next: dict[str, Turn] = {}
        for around in view.context.values():
            for one, two in pairwise(around):
                if one.session == two.session and two.time - one.time < _APART:
                    self._previous[two.id] = one
                    self._next[one.id] = two

    def message(self, turn: Turn) -> list[Turn]:
        """Return the turns that a speaker said in one go with this one, which comes first."""
        found = [turn]
        for step in (self._previous, self._next):
            last = turn
            while (other := step.get(last.id)) is not None and other.speaker == turn.speaker:
                if abs(other.time - last.time) > _ONE_GO or len(found) > _TURNS_BEFORE:
                    break
                found.append(other)
                last = other
        return found

    def before(self, turn: Turn) -> list[Turn]:
        """Return the turns before one, the nearest first."""
        return self._chain(turn, self._previous, _TURNS_BEFORE)

    def after(self, turn: Turn) -> list[Turn]:
        """Return the turns after one."""
        return self._chain(turn, self._next, _TURNS_AFTER)

    def _chain(self, turn: Turn, step: Mapping[str, Turn], most: int) -> list[Turn]:
        found: list[Turn] = []
        while len(found) < most and (other := step.get(turn.id)) is not None and other not in found:
            found.append(other)
            turn = other
        return found

    def most(self, bound: Array, turns: Sequence[Turn]) -> Array:
        """Return, per word of the question, how far it occurs in any of these turns."""
        columns = [place for turn in turns for place in self.places.get(turn.id, ())]
        return bound[:, columns].max(axis=1) if columns else np.zeros(len(bound), np.float32)

    def question(self, place: int, number: int) -> int | None:
        """Return the sentence that one replies to: a question just before it in its turn, or the last one of others."""
        unit = self.units[place]
        if number and is_question(self.units[place - 1]):
            return place - 1
        if number > 1:
            return None
        for turn in self.before(unit.turn)[:_QUESTION_TURNS]:
            said = self.places.get(turn.id, ())
            if turn.speaker == unit.turn.speaker or not said:
                continue
            asking = [other for other in said if is_question(self.units[other])]
            if not asking:
                return None
            return asking[-1] if asking[-1] == said[-1] or not is_assistant(turn) else None
        return None
