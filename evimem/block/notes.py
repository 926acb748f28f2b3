"""What is worked out beside a quoted line: whom its words mean, and dates that a reader could not see at once."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from datetime import datetime
from functools import cache

from ..errors import without
from ..lang import ENGLISH, Language
from ..lang.guess import LANGUAGES
from ..llm.shown_words import escape_attribute, what_is_meant
from ..times import Conventions, locate_times, render
from ..types.values import DateOrder, Fact, Hit, TimeSpan, Turn

PAGE = 8  # turns whose facts are read at once: notes stand beside the first few lines
AT_ONCE = 2_000  # characters of one that are read whole; of a longer one, what is shown
_OF_DAYS = frozenset(("day", "weekend", "week", "month", "season"))
_LASTED = re.compile(r"\S+ (?:days|weeks|months|years)", re.IGNORECASE)  # "from two to five in seven months"
_COUNTED_ON = re.compile(r"\b(?:weeks?|fortnight|days?|months?)\s+(?:(?:on|from|after|before)\s+)?$", re.IGNORECASE)
FactReader = Callable[[Sequence[str]], Sequence[Fact]]  # the stored facts of turns


class Notes:
    """Reads the notes on turns: dates from their words, and whom they mean from the facts of a model.

    `hits` are what may be shown, in the order in which it is tried, `order` how the memory writes dates in figures.
    """

    def __init__(self, reader: FactReader, hits: Sequence[Hit], order: DateOrder | None) -> None:
        self._reader, self._order = reader, order
        self._left = [hit.turn.id for hit in hits]
        self._known: dict[str, list[Fact]] = {}

    def on(self, turn: Turn, said: str) -> tuple[str, ...]:
        """Return whom shown words of a turn mean, as a model found it, and their dates."""
        meant = what_is_meant(self._facts(turn), turn, said)
        return (*((meant,) if meant else ()), *self._dates(turn, said))

    def _facts(self, turn: Turn) -> Sequence[Fact]:
        """Return the stored facts of a turn; those of the next ones are read with them."""
        if turn.id not in self._known:
            page = [turn.id, *(one for one in self._left if one != turn.id)][:PAGE]
            self._left = [one for one in self._left if one not in page]
            self._known |= {one: [] for one in page}
            for fact in self._reader(page):
                self._known[fact.turn_id].append(fact)
        return self._known[turn.id]

    def _dates(self, turn: Turn, said: str) -> tuple[str, ...]:
        """Return the dates that shown words of a turn mean where its stamp does not show them at once.

        That is a relative phrase or a day of the month without its month, where it leads into another month. What is
        read less surely (a bare weekday, a time of day, a month by its name) is left to the reader.
        """
        located = without([], self._located, turn, said)
        found = {f'"{escape_attribute(span.text)}" is {render(span, turn.time)}': None for span in located}
        return tuple(found)

    def _located(self, turn: Turn, said: str) -> list[TimeSpan]:
        text = turn.text if len(turn.text) <= AT_ONCE else said
        found = locate_times(text, turn.time, Conventions(date_order=self._order, zone=turn.time.tzinfo))
        return [one.time for one in found if _adds(one.time, turn.time, said)]


def _adds(span: TimeSpan, said_at: datetime, said: str) -> bool:
    at = said.find(span.text)
    if at < 0 or span.start is None or span.granularity not in _OF_DAYS or _COUNTED_ON.search(said, 0, at):
        return False
    if (span.start.year, span.start.month) == (said_at.year, said_at.month) or _calendar_name().search(span.text):
        return False
    return _LASTED.fullmatch(span.text) is None


@cache
def _calendar_name() -> re.Pattern[str]:
    """Return a pattern of a month, or of a weekday alone, in every language that dates are read in."""

    def names(kind: str) -> str:
        whole = (name for code in LANGUAGES for name in Language(code).words(f"common.{kind}"))
        short = (rf"{name[:3]}[a-z]{{0,2}}\.?(?!\w)" for name in ENGLISH.words(f"common.{kind}"))
        return "|".join((*map(re.escape, whole), *short))

    return re.compile(rf"\b(?:{names('months')})|^(?:{names('weekdays')})$|\d\s*[月월]", re.IGNORECASE)
