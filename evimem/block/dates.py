"""Dates beside a quoted line, where the reader could not see at once what its words mean."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cache

from ..lang import Language
from ..lang.guess import LANGUAGES, is_english
from ..llm.shown_words import escape_attribute
from ..times import Conventions, locate_times, mentions_time, render
from ..types.attempt import without
from ..types.values import DateOrder, Fact, Hit, TimeSpan, Turn

MOST_READ = 600  # characters of a turn in another language than English that are read for dates
AT_ONCE = 2_000  # characters of one that are read whole; of a longer one, what is shown
_ORDINAL = re.compile(r"\b\d{1,2}(?:st|nd|rd|th)\b", re.IGNORECASE)
_OF_DAYS = frozenset(("day", "weekend", "week", "month", "season"))
_COUNTED_ON = re.compile(r"\b(?:weeks?|fortnight|days?|months?)\s+(?:(?:on|from|after|before)\s+)?$", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class FactReader:
    """Which of some turns still wait for their facts to be read; and the facts of any turn, read where it waits."""

    waiting: Callable[[Sequence[str]], Collection[str]]
    stated: Callable[[Turn], Sequence[Fact]]


class Dates:
    """Reads the dates in turns by the facts that they state.

    `order` is how the memory writes dates in figures.
    """

    def __init__(self, reader: FactReader, hits: Sequence[Hit], order: DateOrder | None) -> None:
        waiting = reader.waiting([hit.turn.id for hit in hits])
        self._known = {hit.turn.id: hit.facts for hit in hits if hit.turn.id not in waiting}
        self._stated, self._order = reader.stated, order

    def in_words(self, turn: Turn, said: str) -> tuple[str, ...]:
        """Return the dates that shown words of a turn mean where its stamp does not show them at once.

        That is a relative phrase that leads into another month or year, or a day of the month without its month. What
        is read less surely (a bare weekday, a time of day, a month by its name) is left to the reader, and so is a date
        in English that no fact has.
        """
        found = {
            f'"{escape_attribute(span.text)}" is {render(span, turn.time)}': None
            for span in self._times(turn, said)
            if _adds(span, turn.time, said)
        }
        return tuple(found)

    def _times(self, turn: Turn, said: str) -> list[TimeSpan]:
        facts: Sequence[Fact] | None = self._known.get(turn.id)
        if facts is None:  # reading them costs more than to look first whether they can have such a date
            facts = self._stated(turn) if without([], self._located, turn, said) else ()
        dated = [fact.event for fact in facts if fact.event]
        return dated or without([], self._foreign, turn, said)

    def _foreign(self, turn: Turn, said: str) -> list[TimeSpan]:
        return [] if len(turn.text) > MOST_READ or is_english(turn.text) else self._located(turn, said)

    def _located(self, turn: Turn, said: str) -> list[TimeSpan]:
        if not mentions_time(said):
            return []
        text = turn.text if len(turn.text) <= AT_ONCE else said
        found = locate_times(text, turn.time, Conventions(date_order=self._order, zone=turn.time.tzinfo))
        return [one.time for one in found if _adds(one.time, turn.time, said)]


def _adds(span: TimeSpan, said_at: datetime, said: str) -> bool:
    at = said.find(span.text)
    if at < 0 or span.start is None or span.granularity not in _OF_DAYS or _COUNTED_ON.search(said, 0, at):
        return False
    months, weekdays = _calendar_names()
    if months.search(span.text) or span.text.casefold() in weekdays:
        return False
    elsewhere = (span.start.year, span.start.month) != (said_at.year, said_at.month)
    return elsewhere or _ORDINAL.search(span.text) is not None


@cache
def _calendar_names() -> tuple[re.Pattern[str], frozenset[str]]:
    """Return a pattern of the months and the names of weekdays, in every language that dates are read in."""
    months = {name for code in LANGUAGES for name in Language(code).words("common.months")}
    weekdays = {name for code in LANGUAGES for name in Language(code).words("common.weekdays")}
    return re.compile("|".join(map(re.escape, months)) + r"|\d\s*[月월]", re.IGNORECASE), frozenset(weekdays)
