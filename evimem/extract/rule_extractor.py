"""Facts by rule: offline, deterministic and fast. Word lists, verb forms and punctuation; no model."""

from __future__ import annotations

from datetime import tzinfo
from typing import Literal

from ..lang.guess import is_english
from ..protocols import Extractor
from ..text.sentences import sentences
from ..times import Conventions, DateOrder, Weekday
from ..types.stored import BY_RULE
from ..types.values import Fact, Turn
from .captions import read_caption
from .clause_facts import read
from .fact_text import voice_of
from .own_words import MAX_SENTENCES
from .quoted_statements import content, is_request
from .small_talk import is_empty, is_question, statement_end
from .tagging import lowered, tagged
from .turn_facts import after_request_to_remember, facts_of
from .turn_facts import is_foreign as is_foreign

Stance = Literal["asserts", "asks", "neither"]


class RuleExtractor:
    """Extracts the facts of a turn by rule, from English text; needs no model and no network.

    Kinds of facts: event (something happened), state (something holds), opinion, plan (wanted, intended or possible),
    report (what a person said), image (what a shared picture shows), statement (a sentence without a finite verb,
    whole). What was not understood for sure is left out. At most 16 facts come from a turn, and one more for every
    2,000 characters of a long one; code, quotations, tables and letters that are passed on are not read.

    `weekday` decides what "last Friday" means and `date_order` what 03/04/2024 does, as in `evimem.find_times`; a
    memory gives its own rules its `date_order`, and its timezone as `zone`. Safe to use from any thread.
    """

    name = BY_RULE

    def __init__(
        self, weekday: Weekday = "recent", date_order: DateOrder | None = None, zone: tzinfo | None = None
    ) -> None:
        """Raise InvalidQuery for a convention that there is not."""
        self.conventions: Conventions = Conventions(weekday, date_order, zone)

    def extract(self, turn: Turn) -> tuple[Fact, ...]:
        """Return the facts of a turn in the order of their spans; none for one that only asks, greets or reacts.

        A span is a half-open range of characters of the turn's text, or of its caption for a fact of kind image.
        """
        return facts_of(turn, self.conventions, read, self.name)


def conventions_of(extractor: Extractor) -> Conventions:
    """Return what the times in turns mean to an extractor: the usual things for one of another kind."""
    conventions: Conventions = getattr(extractor, "conventions", Conventions())
    return conventions


def stance(turn: Turn) -> Stance:
    """Return whether a turn asserts something, only asks, or does neither (greets, reacts).

    A turn may assert what the rules are not sure enough of to make it a fact. In other languages than English, where
    they find no facts, every sentence that is not marked as a question counts as asserting.
    """
    if not is_english(turn.text):
        return _stance_by_marks(turn.text)
    voice, low = voice_of(turn.speaker), lowered(turn.text)
    asks = False
    for begin, end in sentences(turn.text)[:MAX_SENTENCES]:
        start = after_request_to_remember(low, begin, end)
        sentence = tagged(turn.text, low, start, end)
        if is_question(sentence, start, end):
            question = statement_end(sentence)
            if question and read(sentence, voice, question):
                return "asserts"
            asks = True
        elif (
            not is_empty(sentence)
            and content(sentence.tags)
            and (read(sentence, voice, None) or not is_request(sentence.tags))
        ):
            return "asserts"
    if asks:
        return "asks"
    return "asserts" if turn.caption and read_caption(turn.caption, voice) is not None else "neither"


def _stance_by_marks(text: str) -> Stance:
    ranges = sentences(text)
    asking = [text[start:end].endswith(("?", "\uff1f", "\u061f")) for start, end in ranges]
    return "asks" if asking and all(asking) else "asserts"
