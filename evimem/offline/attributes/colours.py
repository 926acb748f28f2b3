"""The colours that a phrase gives to what it names."""

from __future__ import annotations

from ...extract.tag_letters import Tag
from ...extract.tagging import Tagged
from ...lang import ENGLISH
from ...types.values import Turn
from .entities import StatedValue, Thing
from .phrases import Phrase
from .statement import characters
from .word_classes import is_colour, is_shade


def coloured(turn: Turn, sentence: Tagged, phrase: Phrase, thing: Thing) -> None:
    """Record the colour words of a phrase as those of what it names."""
    found = colour_run(sentence, phrase.first, phrase.last)
    if found is not None and (len(phrase.words) > 1 or phrase.name):
        span = characters(sentence, *found)
        thing.said.append(StatedValue("colour", turn.text[slice(*span)], turn, span))


def is_only_coloured(phrase: Phrase) -> bool:
    """Return whether a phrase only adds a colour to what was named before: "a silver one", "dark red"."""
    if phrase.head in ENGLISH.words("attributes.pro_nouns"):
        return True
    return not phrase.name and all(is_colour(word) or is_shade(word) or word == "second-hand" for word in phrase.words)


def colour_run(sentence: Tagged, first: int, last: int) -> tuple[int, int] | None:
    """Return the first colour among tokens, with its shade and with what "and" adds to it."""
    said = sentence.words[:last]
    at = next((i for i in range(first, last) if is_colour(said[i]) and sentence.tags[i] != Tag.NAME), None)
    if at is None:
        return None
    end = at + 1
    while end < last and (is_colour(said[end]) or (said[end] == "and" and end + 1 < last and is_colour(said[end + 1]))):
        end += 1
    return (at - 1 if at > first and is_shade(said[at - 1]) else at), end
