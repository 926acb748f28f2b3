"""Facts by rule: offline, deterministic and fast; closed word classes, verb morphology and punctuation, no model."""

from __future__ import annotations

from typing import Literal

from ..text.sentences import sentences
from ..types.values import Fact, Turn
from .captions import read_caption
from .clause_facts import read
from .fact_text import voice_of
from .small_talk import is_question
from .tagging import lowered, tagged
from .turn_facts import MAX_SENTENCES, Weekday, bounded, facts_of, statements_of, times_of
from .turn_facts import is_foreign as is_foreign

Stance = Literal["asserts", "asks", "neither"]


class RuleExtractor:
    """Reads a turn's facts by rule.

    Kinds: event (something happened), state (something is so), opinion, plan (wanted, intended or possible), report
    (what somebody said), image (what a shared picture shows), statement (a sentence without a finite verb, whole).
    `weekday` says what "last Friday" means, as in `evimem.find_times`.
    """

    name = "rules"

    def __init__(self, weekday: Weekday = "recent") -> None:
        self.weekday: Weekday = weekday

    def extract(self, turn: Turn) -> tuple[Fact, ...]:
        """Return the facts of a turn in the order of their spans, none for one that only asks, greets or reacts."""
        return facts_of(turn, times_of(turn, self.weekday), read, self.name)


def stance(turn: Turn) -> Stance:
    """Return whether a turn asserts something (it then has facts), only asks, or neither."""
    if statements_of(turn, times_of(turn, "recent"), read):
        return "asserts"
    text = bounded(turn.text)
    low = lowered(text)
    if any(is_question(tagged(text, low, start, end), start, end) for start, end in sentences(text)[:MAX_SENTENCES]):
        return "asks"
    return "asserts" if turn.caption and read_caption(turn.caption, voice_of(turn.speaker)) is not None else "neither"
