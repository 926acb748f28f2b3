"""Sentences with the people they are about: attribution is a sentence's, not a turn's.

First person is about the speaker; second person is about whoever is spoken to; a question asserts nothing about its
asker. Who is spoken to is read from the dialogue around a turn: the nearest other speaker, however many there are.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from ..text.sentences import sentences
from ..text.terms import STOP_WORDS, words
from ..types.values import Turn

_FIRST = re.compile(r"\b(?:i|me|my|mine|myself|we|us|our|ours|ourselves)\b", re.IGNORECASE)
_SECOND = re.compile(r"\b(?:you|your|yours|yourself|yourselves|u|ur)\b", re.IGNORECASE)
# What of one turn is looked at: a message of a megabyte must not take longer than a long letter.
_MOST_TEXT = 10_000  # characters
_MOST_UNITS = 200
_LONGEST = 600  # characters of a sentence

# How far a sentence is about its speaker and about whom it is said to, by the persons it uses.
ASKED_OF_YOU = (0.0, 1.0)
ASKED = (0.0, 0.5)
YOU_ONLY = (0.3, 1.0)
I_ONLY = (1.0, 0.0)
YOU_AND_I = (0.8, 0.5)
NO_PERSON = (0.8, 0.3)
ADVICE = (0.3, 0.5)  # what an assistant says of nobody is about the matter of whoever asked
ADVICE_TO_YOU = (0.0, 1.0)


@dataclass(frozen=True, slots=True)
class Unit:
    """One sentence of a turn, or its caption: where it stands, its words, and how far it is about whom."""

    turn: Turn
    span: tuple[int, int]
    text: str
    words: tuple[str, ...]
    asks: bool
    caption: bool
    about: Mapping[str, float]


def units(turn: Turn, addressee: str | None) -> tuple[Unit, ...]:
    """Return the sentences of a turn and its caption, each with its owners."""
    places = sentences(turn.text[:_MOST_TEXT])[:_MOST_UNITS]
    found = [_unit(turn, (start, min(end, start + _LONGEST)), addressee) for start, end in places]
    if turn.caption:
        said = content(turn.caption)
        about = {turn.speaker: NO_PERSON[0]} | ({addressee: NO_PERSON[1]} if addressee else {})
        found.append(Unit(turn, (0, len(turn.caption)), turn.caption, said, asks=False, caption=True, about=about))
    return tuple(found)


def addressee(turn: Turn, dialogue: Sequence[Turn]) -> str | None:
    """Return whom a turn is said to: who spoke last before it, else who speaks next, else nobody known."""
    place = next((index for index, other in enumerate(dialogue) if other.id == turn.id), 0)
    nearest = (*reversed(dialogue[:place]), *dialogue[place + 1 :])
    return next((other.speaker for other in nearest if other.speaker != turn.speaker), None)


def is_assistant(turn: Turn) -> bool:
    """Return whether the assistant said a turn: what it says of others is no statement of theirs."""
    return (turn.role or turn.speaker).casefold() == "assistant"


def content(text: str) -> tuple[str, ...]:
    """Return the content words of a text, each once."""
    return tuple(dict.fromkeys(word for word in words(text) if word not in STOP_WORDS))


def _unit(turn: Turn, span: tuple[int, int], addressee: str | None) -> Unit:
    text = turn.text[span[0] : span[1]]
    asks = text.rstrip("\"'\u201d\u2019)* ").endswith(("?", "\uff1f"))
    own, other = _weights(text, asks=asks, assists=turn.role == "assistant")
    about = {turn.speaker: own} | ({addressee: other} if addressee else {})
    return Unit(turn, span, text, content(text), asks, caption=False, about=about)


def _weights(text: str, *, asks: bool, assists: bool) -> tuple[float, float]:
    first, second = _FIRST.search(text) is not None, _SECOND.search(text) is not None
    if asks:
        return ASKED_OF_YOU if second else ASKED
    if first and second:
        return YOU_AND_I
    if first:
        return I_ONLY
    if second:
        return ADVICE_TO_YOU if assists else YOU_ONLY
    return ADVICE if assists else NO_PERSON
