"""Quoted turns as the lines of a block: short heads, numbers, dates where a reader could not see them at once.

A turn is one line, `[3] user, Tue 12 Mar 2024 18:20: text`. The next of the same day has only its clock, and of the
same hour not even that: `[4] assistant: text`. A further line of what somebody wrote begins with ">", and what evimem
adds with "=". No text can make a line of its own: whatever ends a line in it is written as such a break.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from functools import cache
from html import escape as escape_xml

from ..lang import ENGLISH, Language
from ..lang.guess import LANGUAGES, is_english
from ..llm.prompts import escape, escape_attribute
from ..text.memory_fence import QUOTED, WISHES, WORKED_OUT, fenced, numbered
from ..times import locate_times, mentions_time, render
from ..types.answer import Style
from ..types.attempt import without
from ..types.values import Fact, TimeSpan, Turn

MOST_READ = 600  # characters of a turn in another language than English that are read for dates
_IN_A_HEAD = re.compile(r"[\[\]:,]+")
_BREAKS = re.compile(r"[^\S\n]*\n\s*")
_ORDINAL = re.compile(r"\b\d{1,2}(?:st|nd|rd|th)\b", re.IGNORECASE)
_OF_DAYS = frozenset(("day", "weekend", "week", "month", "season"))
_COUNTED_ON = re.compile(r"\b(?:weeks?|fortnight|days?|months?)\s+(?:(?:on|from|after|before)\s+)?$", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Line:
    """A turn as it is quoted: the words shown, whom and what time they mean, how often it was said and when last."""

    turn: Turn
    said: str
    worked_out: tuple[str, ...] = ()
    times: int = 1
    last: datetime | None = None
    is_wish: bool = False

    @property
    def day(self) -> tuple[bool, date, int]:
        """Its day, in its part of the block."""
        return self.is_wish, self.turn.time.date(), -1

    @property
    def hour(self) -> tuple[bool, date, int]:
        """Its hour, in its part of the block."""
        return self.is_wish, self.turn.time.date(), self.turn.time.hour


def block_text(lines: Sequence[Line], style: Style) -> str:
    """Return lines as a block: standing wishes first, each part in the order given; empty for no line."""
    return fenced(written(lines, style)) if lines else ""


def written(lines: Sequence[Line], style: Style) -> Iterator[str]:
    """Yield the text of each line."""
    for number, (line, above) in enumerate(zip(lines, (None, *lines), strict=False), start=1):
        yield line_text(number, line, above, style)


def line_text(number: int, line: Line, above: Line | None, style: Style) -> str:
    """Return a line below another, under a heading where it is the first standing wish."""
    heading = f"{WISHES}\n" if line.is_wish and style == "plain" and (above is None or not above.is_wish) else ""
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
    kind = ' kind="wish"' if line.is_wish else ""
    said = escape_xml(escape(line.said))
    head = (
        f'<turn n="{number}" speaker="{escape_xml(speaker(line.turn))}" time="{line.turn.time:%Y-%m-%dT%H:%M}"{kind}>'
    )
    return f"{head}{'&#10;'.join(_lines_of(said))}{added}</turn>"


def _json(number: int, line: Line, above: Line | None) -> str:
    row: dict[str, object] = {"n": number, "speaker": speaker(line.turn), "time": f"{line.turn.time:%Y-%m-%dT%H:%M}"}
    row |= {"text": "\n".join(_lines_of(escape(line.said)))}
    row |= {"notes": list(notes(line))} if (line.worked_out or line.times > 1) else {}
    row |= {"kind": "wish"} if line.is_wish else {}
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


def dates_in(turn: Turn, facts: Iterable[Fact], said: str) -> tuple[str, ...]:
    """Return the dates that words of a turn mean where its stamp does not show them at once.

    That is a relative phrase that leads into another month or year, or a day of the month without its month. What is
    read less surely (a bare weekday, a time of day, a month by its name) is left to the reader.
    """
    found = {
        f'"{escape_attribute(span.text)}" is {render(span, turn.time)}': None
        for span in _times_in(turn, facts)
        if (at := said.find(span.text)) >= 0 and not _COUNTED_ON.search(said, 0, at) and _adds(span, turn.time)
    }
    return tuple(found)


def _times_in(turn: Turn, facts: Iterable[Fact]) -> Iterator[TimeSpan]:
    dated = [fact.event for fact in facts if fact.event]
    yield from dated
    if not dated and len(turn.text) <= MOST_READ:
        yield from without([], _foreign_times, turn)


def _foreign_times(turn: Turn) -> list[TimeSpan]:
    """Return the times in a turn that is not English; facts have those of others."""
    if is_english(turn.text) or not mentions_time(turn.text):
        return []
    return [located.time for located in locate_times(turn.text, turn.time)]


def _adds(span: TimeSpan, said: datetime) -> bool:
    if span.start is None or span.granularity not in _OF_DAYS:
        return False
    months, weekdays = _calendar_names()
    if months.search(span.text) or span.text.casefold() in weekdays:
        return False
    elsewhere = (span.start.year, span.start.month) != (said.year, said.month)
    return elsewhere or _ORDINAL.search(span.text) is not None


@cache
def _calendar_names() -> tuple[re.Pattern[str], frozenset[str]]:
    """Return a pattern of the months and the names of weekdays, in every language that dates are read in."""
    others = [Language(code) for code in LANGUAGES if code != "en"]
    months = {*ENGLISH.words("times.months"), *(name for one in others for name in one.words("common.months"))}
    weekdays = {*ENGLISH.words("times.weekdays"), *(name for one in others for name in one.words("common.weekdays"))}
    return re.compile("|".join(map(re.escape, months)) + r"|\d\s*[月월]", re.IGNORECASE), frozenset(weekdays)
