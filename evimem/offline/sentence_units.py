"""Sentences with the people they are about: attribution belongs to a sentence, not to a turn.

First person is about the speaker; second person is about the addressee; a question asserts nothing about its speaker.
The addressee of a turn is read from the dialogue around it: the nearest other speaker.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from ..judging.evidence import View
from ..lang import ENGLISH
from ..text.sentences import sentences_around
from ..text.terms import STOP_WORDS, stem, words
from ..types.values import Turn
from .turn_window import Place, passages


def _any(*kinds: str) -> re.Pattern[str]:
    said = "|".join(word for kind in kinds for word in ENGLISH.words(f"word_classes.pronouns.{kind}"))
    return re.compile(rf"\b(?:{said})\b", re.IGNORECASE)


_FIRST = _any("first", "first_plural", "reflexive_plural_first")
_SECOND = _any("second", "reflexive_plural_second", "informal_second")
# Bounds on what is read of one turn: a message of a megabyte must not take longer than a long letter.
_MOST_TEXT = 10_000  # characters
_MOST_UNITS = 200
_LONGEST = 600  # characters of a sentence
# Sentences of a longer turn that are compared with a question: of a found turn those of the passage that was found,
# this many around it, and this many others; of a turn beside one that was found, those others alone.
_ALL = 12
_AROUND = 2
_OTHERS = 6
_ROOT = 5  # letters of a word that a sentence must have to be one of the others

# How far a sentence is about its speaker and about its addressee (weights from 0 to 1), by the persons it uses.
QUESTION_TO_YOU = (0.0, 1.0)
QUESTION = (0.0, 0.5)
YOU_ONLY = (0.3, 1.0)
I_ONLY = (1.0, 0.0)
YOU_AND_I = (0.8, 0.5)
NO_PERSON = (0.8, 0.3)
ADVICE = (0.3, 0.5)  # an assistant's sentence without a person is about what the addressee asked
ADVICE_TO_YOU = (0.0, 1.0)


@dataclass(frozen=True, slots=True)
class SentenceUnit:
    """One sentence of a turn, or its caption.

    `span` is the half-open range of characters in the turn's text (or caption), `words` are the distinct content words,
    `asks` is whether it is a question, `about` maps names of speakers to weights from 0 to 1.
    """

    turn: Turn
    span: tuple[int, int]
    text: str
    words: tuple[str, ...]
    asks: bool
    caption: bool
    about: Mapping[str, float]

    @property
    def source(self) -> str:
        """The text that `span` is in: the turn's, or its caption."""
        return (self.turn.caption or "") if self.caption else self.turn.text


def units_of(view: View) -> list[SentenceUnit]:
    """Return the sentences of the shown turns and of the dialogue around them, kept from check to check."""
    turns: dict[str, Turn] = {item.turn.id: item.turn for item in view.shown}
    addressees: dict[str, str | None] = {}
    for item in view.shown:
        dialogue = view.context.get(item.turn.id, (item.turn,))
        for turn in dialogue:
            turns.setdefault(turn.id, turn)
            if turn.id not in addressees or turn.id == item.turn.id:
                addressees[turn.id] = addressee(turn, dialogue)
    found = passages(view)
    asked = frozenset(stem(word)[:_ROOT] for word in view.analysis.keywords)
    return [
        unit
        for turn in turns.values()
        for unit in _kept_units(view, turn, addressees.get(turn.id), found.get(turn.id), asked)
    ]


def units(turn: Turn, addressee: str | None) -> tuple[SentenceUnit, ...]:
    """Return the sentences of a turn and its caption, each with the people it is about."""
    found = [_unit(turn, span, addressee) for span in _places(turn, None)]
    return (*found, *_caption(turn, addressee))


def _places(turn: Turn, passage: Place | None) -> list[Place]:
    places = sentences_around(turn.text, passage, _MOST_TEXT)
    before = sum(end <= passage[0] for _, end in places) if passage else 0
    first = max(0, min(before - _MOST_UNITS // 2, len(places) - _MOST_UNITS))
    return [(start, min(end, start + _LONGEST)) for start, end in places[first : first + _MOST_UNITS]]


def _caption(turn: Turn, addressee: str | None) -> tuple[SentenceUnit, ...]:
    if not turn.caption:
        return ()
    about = {turn.speaker: NO_PERSON[0]} | ({addressee: NO_PERSON[1]} if addressee else {})
    span = (0, len(turn.caption))
    unit = SentenceUnit(turn, span, turn.caption, content(turn.caption), asks=False, caption=True, about=about)
    return (unit,)


def addressee(turn: Turn, dialogue: Sequence[Turn]) -> str | None:
    """Return the addressee of a turn: the last other speaker before it, else the next one after it, else None."""
    place = next((index for index, other in enumerate(dialogue) if other.id == turn.id), 0)
    nearest = (*reversed(dialogue[:place]), *dialogue[place + 1 :])
    return next((other.speaker for other in nearest if other.speaker != turn.speaker), None)


def is_assistant(turn: Turn) -> bool:
    """Return whether the assistant is the speaker of a turn."""
    return (turn.role or turn.speaker).casefold() == "assistant"


def is_question(text: str) -> bool:
    """Return whether a text ends as a question does, quotes and brackets aside."""
    return text.rstrip("\"'\u201d\u2019)* ").endswith(("?", "\uff1f"))


def content(text: str) -> tuple[str, ...]:
    """Return the distinct content words of a text, in order."""
    return tuple(dict.fromkeys(word for word in words(text) if word not in STOP_WORDS))


def _kept_units(
    view: View, turn: Turn, addressee: str | None, passage: Place | None, asked: frozenset[str]
) -> list[SentenceUnit]:
    """Return the units of the sentences that are compared, kept for all checks of a question."""

    def compared() -> list[SentenceUnit]:
        kept: dict[Place, SentenceUnit] = view.memo.setdefault(("units", turn.id, addressee), {})
        places = view.kept(("sentences", turn.id, passage), lambda: _places(turn, passage))
        chosen = _relevant(turn, places, passage, asked)
        for place in chosen:
            if place not in kept:
                kept[place] = _unit(turn, place, addressee)
        return [*(kept[place] for place in chosen), *_caption(turn, addressee)]

    return view.kept(("compared", turn.id, addressee, passage), compared)


def _relevant(turn: Turn, places: Sequence[Place], passage: Place | None, asked: frozenset[str]) -> Sequence[Place]:
    """Return the sentences of a turn that are compared; a share of a long one, because a reply may have hundreds."""
    if len(places) <= _ALL:
        return places
    begins, ends = passage or (0, 0)
    found = [number for number, (start, end) in enumerate(places) if start < ends and begins < end]
    kept = {*range(found[0] - _AROUND, found[-1] + _AROUND + 1)} if found else set()
    shared = [_shared(turn.text[start:end], asked) for start, end in places]
    best = sorted((n for n in range(len(places)) if n not in kept), key=lambda number: -shared[number])
    kept.update(best[:_OTHERS])
    return [place for number, place in enumerate(places) if number in kept]


def _shared(text: str, asked: frozenset[str]) -> int:
    """Return how many words of the question a sentence seems to have, from their beginnings alone: it must be cheap."""
    said = text.casefold()
    return sum(root in said for root in asked)


def _unit(turn: Turn, span: tuple[int, int], addressee: str | None) -> SentenceUnit:
    text = turn.text[span[0] : span[1]]
    asks = is_question(text)
    own, other = _weights(text, asks=asks, assists=turn.role == "assistant")
    about = {turn.speaker: own} | ({addressee: other} if addressee else {})
    return SentenceUnit(turn, span, text, content(text), asks, caption=False, about=about)


def _weights(text: str, *, asks: bool, assists: bool) -> tuple[float, float]:
    """Return how far a sentence is about its speaker and about its addressee."""
    first, second = _FIRST.search(text) is not None, _SECOND.search(text) is not None
    if asks:
        return QUESTION_TO_YOU if second else QUESTION
    if first and second:
        return YOU_AND_I
    if first:
        return I_ONLY
    if second:
        return ADVICE_TO_YOU if assists else YOU_ONLY
    return ADVICE if assists else NO_PERSON
