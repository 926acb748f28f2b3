"""The sentences of a turn with their tags, made once per question."""

from __future__ import annotations

from dataclasses import dataclass

from ...extract.own_words import outside, passed_on
from ...extract.tagging import Tagged, lowered, tagged
from ...judging.evidence import View
from ...text.sentences import sentences_around
from ...types.values import Turn
from ..turn_window import Place, passages

_MOST_TEXT = 8_000  # characters of a turn that are read


@dataclass(frozen=True, slots=True)
class TaggedTurn:
    """A turn and its tagged sentences, each with at least one token."""

    turn: Turn
    sentences: tuple[Tagged, ...]


def reading(view: View, turn: Turn) -> TaggedTurn:
    """Return a turn's sentences; what was tagged for one check is kept for the next."""
    passage = passages(view).get(turn.id)
    return view.kept(("tagged", turn.id, passage), lambda: read(turn, passage))


def read(turn: Turn, passage: Place | None = None) -> TaggedTurn:
    """Tag the sentences of a turn that are its speaker's own; of a very long one those around a passage."""
    places = sentences_around(turn.text, passage, _MOST_TEXT)
    text = turn.text[: places[-1][1]] if places else ""
    low = lowered(text)
    sentences = (tagged(text, low, start, end) for start, end in outside(places, passed_on(text)))
    return TaggedTurn(turn, tuple(one for one in sentences if one.words))  # none of a mark that nobody sees


def extent(sentence: Tagged) -> tuple[int, int]:
    """Return the characters of a sentence."""
    return sentence.ranges[0][0], sentence.ranges[-1][1]
