"""Dates of events: the resolved expression in the sentence that names the event, or the day of a just-happened one."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from datetime import datetime, timedelta

from ...judging.evidence import View
from ...lang import ENGLISH
from ...times import Conventions, Located, locate_times
from ...times.lexicon import FULL_WEEKDAYS
from ...times.render import date, day_of_year, render
from ...types.values import TimeSpan, Turn
from ..dates_and_numbers import day_of
from .asked_form import AskedForm
from .candidate_passages import Passage
from .typed_values import Value

_WEEKDAY_NAMES = [name.capitalize() for name in FULL_WEEKDAYS]
_JUST = re.compile("|".join(ENGLISH.words("asked_forms.just_happened")), re.IGNORECASE)
DATED = ("when", "weekday", "month", "year")
_UNREAD = re.compile(
    rf"\b(?:{'|'.join(ENGLISH.words('questions.time_units'))})s?\s+(?:(?:from|before|after)\s+)?$", re.IGNORECASE
)
_DAY = re.compile(r"\b(?:date|day)\b", re.IGNORECASE)
_YEAR = re.compile(r"\d{4}")
_LOOK_BACK = 20  # characters before an expression that may belong to it
_FINE = ("minute", "hour", "day")
_GRANULAR = {
    "when": (*_FINE, "weekend", "week", "month", "year", "season"),
    "month": (*_FINE, "month"),
    "year": (*_FINE, "month", "year"),
    "weekday": _FINE,
}


def times_of(view: View, turn: Turn, conventions: Conventions) -> Sequence[Located]:
    """Return the times that a turn names, kept for all its sentences and all checks of a question."""
    return view.kept(("times", turn.id), lambda: locate_times(turn.text, turn.time, conventions))


def dates(asked: AskedForm, passage: Passage, times: Sequence[Located]) -> Iterator[tuple[Value, TimeSpan]]:
    """Yield the dates that a passage states, as finely as the question asks for them.

    `times` are those that its turn names.
    """
    start, end = passage.unit.span
    said = passage.turn.time
    told = False
    for located in times:
        if not start <= located.start < end or located.time.start is None or not _is_whole(passage, located.start):
            continue
        if asked.happened and located.time.start.date() > said.date():
            continue
        told = True
        allowed = _FINE if _DAY.search(asked.text) else _GRANULAR.get(asked.form, ())
        if located.time.granularity in allowed or _is_short(located.time):
            text = worded(asked, located.time, said)
            yield Value(text, (located.start, located.end), text), located.time
    if not told and (just := _JUST.search(passage.turn.text, start, end)) and asked.form == "when":
        day = day_of(said)
        text = worded(asked, day, said)
        yield Value(text, just.span(), text), day


def _is_whole(passage: Passage, start: int) -> bool:
    """Return whether nothing unread belongs to an expression: "three weeks today" is not today."""
    return _UNREAD.search(passage.turn.text, max(passage.unit.span[0], start - _LOOK_BACK), start) is None


def _is_short(time: TimeSpan) -> bool:
    """Return whether a span lies in one day or night: "last night"."""
    return time.start is not None and time.end is not None and time.end - time.start < timedelta(hours=24)


def worded(asked: AskedForm, time: TimeSpan, said: datetime) -> str:
    """Return a time as coarsely as the question asks for it."""
    assert time.start is not None
    if asked.form == "weekday":
        return _WEEKDAY_NAMES[time.start.weekday()]
    if asked.form == "year":
        return f"{time.start.year}"
    if asked.form == "month":
        return f"{time.start:%B %Y}"
    if asked.yearly and time.granularity in _FINE and not _YEAR.search(time.text):
        return day_of_year(time.start)
    return date(time.start) if _is_short(time) else render(time, said, "day")
