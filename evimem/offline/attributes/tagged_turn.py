"""The sentences of a turn with their tags, made once per question."""

from __future__ import annotations

from dataclasses import dataclass

from ...extract.tagging import Tagged, lowered, tagged
from ...judging.evidence import View
from ...text.sentences import sentences
from ...types.values import Turn

_MOST_TEXT = 8_000  # characters of a turn that are read: facts are extracted from fewer


@dataclass(frozen=True, slots=True)
class TaggedTurn:
    """A turn and its tagged sentences."""

    turn: Turn
    sentences: tuple[Tagged, ...]


def reading(view: View, turn: Turn) -> TaggedTurn:
    """Return a turn's sentences; what was tagged for one check is kept for the next."""
    key = ("tagged", turn.id)
    return view.kept(key, lambda: read(turn))


def read(turn: Turn) -> TaggedTurn:
    """Tag the sentences of a turn."""
    text = turn.text[:_MOST_TEXT]
    low = lowered(text)
    return TaggedTurn(turn, tuple(tagged(text, low, start, end) for start, end in sentences(text)))


def extent(sentence: Tagged) -> tuple[int, int]:
    """Return the characters of a sentence."""
    return sentence.ranges[0][0], sentence.ranges[-1][1]
