"""Quoted turns as the lines of a block: short heads, numbers, and beside them whom and what dates their words mean.

A turn is one line, `[3] user, Tue 12 Mar 2024 18:20: text`. The next of the same day has only its clock, and of the
same hour not even that: `[4] assistant: text`. A further line of what somebody wrote begins with ">", and what evimem
adds with "=". No text can make a line of its own: whatever ends a line in it is written as such a break.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from functools import cache
from html import escape as escape_xml
from typing import Literal

from ..errors import without
from ..lang import ENGLISH, Language
from ..lang.guess import LANGUAGES
from ..llm.shown_words import escape, escape_attribute, what_is_meant
from ..text.memory_fence import PROFILE, QUOTED, WISHES, WORKED_OUT, fenced, numbered
from ..times import Conventions, locate_times, render
from ..types.results import Style
from ..types.values import DateOrder, Fact, Hit, TimeSpan, Turn

_IN_A_HEAD = re.compile(r"[\[\]:,]+")
PAGE = 8  # turns whose facts are read at once: notes stand beside the first few lines
AT_ONCE = 2_000  # characters of one that are read whole; of a longer one, what is shown
_OF_DAYS = frozenset(("day", "weekend", "week", "month", "season"))
_COUNTED_ON = re.compile(r"\b(?:weeks?|fortnight|days?|months?)\s+(?:(?:on|from|after|before)\s+)?$", re.IGNORECASE)
FactReader = Callable[[Sequence[str]], Sequence[Fact]]  # the stored facts of turns

Part = Literal["wish", "profile", ""]
PARTS: tuple[Part, ...] = ("wish", "profile", "")  # of a block, in their order
HEADINGS = {"wish": WISHES, "profile": PROFILE}


@dataclass(frozen=True, slots=True)
class Line:
    """A turn as it is quoted: the words shown, whom and what time they mean, how often it was said and when last."""

    turn: Turn
    said: str
    worked_out: tuple[str, ...] = ()
    times: int = 1
    last: datetime | None = None
    part: Part = ""

    @property
    def day(self) -> tuple[str, date, int]:
        """Its day, in its part of the block."""
        return self.part, self.turn.time.date(), -1

    @property
    def hour(self) -> tuple[str, date, int]:
        """Its hour, in its part of the block."""
        return self.part, self.turn.time.date(), self.turn.time.hour


def block_text(lines: Sequence[Line], style: Style) -> str:
    """Return lines as a block: standing wishes, a profile, the rest, each in the order given; empty for no line."""
    return fenced(written(lines, style)) if lines else ""


def written(lines: Sequence[Line], style: Style) -> Iterator[str]:
    """Yield the text of each line."""
    for number, (line, above) in enumerate(zip(lines, (None, *lines), strict=False), start=1):
        yield line_text(number, line, above, style)


def line_text(number: int, line: Line, above: Line | None, style: Style) -> str:
    """Return a line below another, under a heading where it is the first standing wish."""
    begins = line.part and style == "plain" and (above is None or above.part != line.part)
    heading = f"{HEADINGS[line.part]}\n" if begins else ""
    return heading + _WRITERS[style](number, line, above)


def _plain(number: int, line: Line, above: Line | None) -> str:
    first, *further = _lines_of(escape(line.said))
    head = f"{numbered(number)}{speaker(line.turn)}{_since(line, above)}: {first}"
    return "\n".join((head, *(f"{QUOTED}{one}" for one in further), *(f"{WORKED_OUT}{note}" for note in notes(line))))


def _since(line: Line, above: Line | None) -> str:
    """Return of the time of a line what the one above does not tell: day and clock, the clock, or nothing."""
    time = line.turn.time
    if above is None or above.day != line.day:
        return f", {_day(time)} {time:%H:%M}"
    return "" if above.hour == line.hour else f", {time:%H:%M}"


def _xml(number: int, line: Line, above: Line | None) -> str:
    added = "".join(f"<note>{escape_xml(note)}</note>" for note in notes(line))
    kind = f' kind="{line.part}"' if line.part else ""
    said = escape_xml(escape(line.said))
    head = (
        f'<turn n="{number}" speaker="{escape_xml(speaker(line.turn))}" time="{line.turn.time:%Y-%m-%dT%H:%M}"{kind}>'
    )
    return f"{head}{'&#10;'.join(_lines_of(said))}{added}</turn>"


def _json(number: int, line: Line, above: Line | None) -> str:
    row: dict[str, object] = {"n": number, "speaker": speaker(line.turn), "time": f"{line.turn.time:%Y-%m-%dT%H:%M}"}
    row |= {"text": "\n".join(_lines_of(escape(line.said)))}
    row |= {"notes": list(notes(line))} if (line.worked_out or line.times > 1) else {}
    row |= {"kind": line.part} if line.part else {}
    return json.dumps(row, ensure_ascii=False, separators=(",", ":"))


_WRITERS = {"plain": _plain, "xml": _xml, "json": _json}


def notes(line: Line) -> Iterator[str]:
    """Yield what evimem adds to a line."""
    yield from line.worked_out
    if line.times > 1:
        last = f", last on {_day(line.last)}" if line.last and line.last.date() != line.turn.time.date() else ""
        yield f"said {line.times} times{last}"


def speaker(turn: Turn) -> str:
    """Return who said a turn, without what ends a name in a head."""
    return " ".join(_IN_A_HEAD.sub(" ", escape_attribute(turn.speaker)).split()) or "somebody"


def _day(time: datetime | None) -> str:
    return f"{time:%a} {time.day} {time:%b} {time.year}" if time else ""


def _lines_of(text: str) -> list[str]:
    """Return a text by its lines, whatever ends them, without empty ones."""
    return [line for each in text.splitlines() if (line := each.strip())] or [""]


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
    in_month = (span.start.year, span.start.month) == (said_at.year, said_at.month)
    return not in_month and not _calendar_name().search(span.text)


@cache
def _calendar_name() -> re.Pattern[str]:
    """Return a pattern of a month, or of a weekday alone, in every language that dates are read in."""

    def names(kind: str) -> str:
        whole = (name for code in LANGUAGES for name in Language(code).words(f"common.{kind}"))
        short = (rf"{name[:3]}[a-z]{{0,2}}\.?(?!\w)" for name in ENGLISH.words(f"common.{kind}"))
        return "|".join((*map(re.escape, whole), *short))

    return re.compile(rf"\b(?:{names('months')})|^(?:{names('weekdays')})$|\d\s*[月월]", re.IGNORECASE)
