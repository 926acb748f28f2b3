"""A clause as it is read: who it is about, its verb, and the phrases after it."""

from __future__ import annotations

from dataclasses import dataclass

from ...extract.predicates import Sense
from ...extract.tag_letters import Tag
from ...extract.tagging import Tagged
from ...types.values import Fact, Turn
from .entities import StatedValue, Thing
from .phrases import Phrase
from .tag_sets import BEFORE_COMPLEMENT, COMPLEMENT_ENDS, LEADING

_OVER_IN_THE_PAST = frozenset(("be", "live", "work"))  # "I lived in Leeds" says that it is no longer so


@dataclass(frozen=True, slots=True)
class Clause:
    """A clause: its subject, the fact it is of, and its tokens [first, last) after the verb with their phrases."""

    turn: Turn
    sentence: Tagged
    subject: Thing | None
    fact: Fact
    sense: Sense
    kind: str
    first: int
    last: int
    rest: tuple[Phrase, ...]

    @property
    def over(self) -> bool:
        """Whether what it states was past when it was said, or is since another said otherwise."""
        replaced = self.fact.replaced_by is not None
        return replaced or self.sense.used or (self.sense.past and self.sense.verb in _OVER_IN_THE_PAST)

    @property
    def complement(self) -> Phrase | None:
        """What the subject is said to be: "a red Trek"."""
        if self.sense.verb != "be" or self.sense.negative or not self.rest:
            return None
        phrase, tags = self.rest[0], self.sentence.tags
        opens = all(tag in BEFORE_COMPLEMENT for tag in tags[self.first : phrase.first])
        return phrase if opens and tags[phrase.first] == Tag.DETERMINER and phrase.owner is None else None

    def lead(self, phrase: Phrase) -> str:
        """Return the word before a phrase."""
        return self.sentence.words[phrase.first - 1] if phrase.first else ""

    def said(self, kind: str, first: int, last: int, *, over: bool | None = None) -> StatedValue:
        """Return a statement by tokens [first, last)."""
        span = characters(self.sentence, first, last)
        return StatedValue(kind, self.turn.text[slice(*span)], self.turn, span, self.over if over is None else over)


def characters(sentence: Tagged, first: int, last: int) -> tuple[int, int]:
    """Return the characters of tokens [first, last) in the turn."""
    return sentence.ranges[first][0], sentence.ranges[last - 1][1]


def without_determiner(sentence: Tagged, phrase: Phrase) -> tuple[int, int]:
    """Return the characters of a phrase without its determiners."""
    first = phrase.first
    while first < phrase.last - 1 and sentence.tags[first] in LEADING:
        first += 1
    return characters(sentence, first, phrase.last)


def until(tags: str, first: int, last: int) -> int:
    """Return where the complement ends that opens at a token: at a preposition or a stop."""
    end = first
    while end < last and tags[end] not in COMPLEMENT_ENDS:
        end += 1
    return end


def spoken(clause: Clause) -> str:
    """Return the text of a clause after its verb."""
    if clause.first >= clause.last:
        return ""
    return clause.turn.text[slice(*characters(clause.sentence, clause.first, clause.last))]
