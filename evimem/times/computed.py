"""Phrases whose date a reader would have to compute: "last Friday", "yesterday", "two weeks ago".

Such a phrase moves with the day on which it is said: said a week later it means a week later, and of a month or a year
the same holds of a month or a year. A bare day of a month, a month, a season, a holiday and a written year do not move.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from datetime import datetime, timedelta

from .date_order import Conventions
from .find_times import Located, locate_times
from .readers import possible
from .render import render

_SHIFTS = {"month": "month", "year": "year"} | dict.fromkeys(("minute", "hour", "day", "weekend", "week"), "week")
# "Manic Monday", "Tuesday Evening Choir": a name of something.
_CAPITAL_BEFORE = re.compile(r"(?<![.!?\n] )(?<!^)\b[A-Z][a-z]+ $")
_CAPITAL_AFTER = re.compile(r" [A-Z][a-z]")
# "Yesterday Rosa called": a phrase that opens a sentence has its capital from there, and may stand before one name. A
# weekday may be of that name ("Friday Night is a film"), a phrase that counts from the day of saying hardly.
_NAME_AFTER = re.compile(r" [A-Z][a-z]+ (?![A-Z])")
_OPENS_SENTENCE = re.compile(r"(?:\A|[.!?\n]) *\Z")
# "61 tins in two weeks" may be as long, and not so far ahead.
_LASTED = re.compile(r"in\b.*\b(?:weeks?|fortnight|months?|years?)\Z", re.IGNORECASE)
# "two weeks after Friday", "the week before": a time that counts from another one is left to the reader.
_COUNTED_ON = re.compile(r"\b(?:weeks?|fortnight|days?|months?)\s+(?:(?:on|from|after|before)\s+)?$", re.IGNORECASE)


def computed_times(text: str, said_at: datetime, conventions: Conventions = Conventions()) -> list[Located]:
    """Return the times of a text that a reader would have to compute, in text order; none of the day of saying."""
    found = [one for one in locate_times(text, said_at, conventions) if _may_move(one, said_at)]
    before_name = any(_NAME_AFTER.match(text, one.end) for one in found)
    next_day = dict(_starts(text, possible(said_at.__add__, timedelta(days=1)), conventions)) if before_name else {}
    found = [one for one in found if not (_is_in_a_name(text, one, next_day) or _COUNTED_ON.search(text, 0, one.start))]
    shifts = {_SHIFTS[one.time.granularity] for one in found}
    moved = {shift: dict(_starts(text, _shift(said_at, shift), conventions)) for shift in shifts}
    return [one for one in found if _moves(one, moved[_SHIFTS[one.time.granularity]])]


def date_notes(text: str, said_at: datetime, conventions: Conventions = Conventions()) -> list[tuple[str, str]]:
    """Return each phrase whose date a reader would have to compute, with that date in words, each phrase once."""
    times = (one.time for one in computed_times(text, said_at, conventions))
    return list({time.text: (time.text, render(time, said_at, "day")) for time in times}.values())


def _may_move(one: Located, said_at: datetime) -> bool:
    start = one.time.start
    is_unclear = start is None or start.date() == said_at.date() or _LASTED.match(one.time.text)
    return not is_unclear and one.time.granularity in _SHIFTS


def _is_in_a_name(text: str, one: Located, next_day: dict[int, datetime]) -> bool:
    """Return whether a capitalised phrase is part of a name; `next_day` are the times as if said a day later."""
    if _NAME_AFTER.match(text, one.end) and _OPENS_SENTENCE.search(text, max(0, one.start - 40), one.start):
        start, moved = one.time.start, next_day.get(one.start)
        if start is not None and moved is not None and moved - start.replace(tzinfo=None) == timedelta(days=1):
            return False
    return one.time.text[:1].isupper() and bool(
        _CAPITAL_BEFORE.search(text, max(0, one.start - 40), one.start) or _CAPITAL_AFTER.match(text, one.end)
    )


def _shift(moment: datetime, shift: str) -> datetime | None:
    if shift == "week":
        return possible(moment.__add__, timedelta(days=7))
    if shift == "month":
        # From the middle of a month, 30 days move a phrase of a month by one month.
        return possible(moment.replace(day=15).__add__, timedelta(days=30))
    return possible(moment.replace, year=moment.year + 1, day=min(moment.day, 28))


def _starts(text: str, said_at: datetime | None, conventions: Conventions) -> Iterator[tuple[int, datetime]]:
    found: Iterable[Located] = () if said_at is None else locate_times(text, said_at, conventions)
    for one in found:
        if one.time.start is not None:
            yield one.start, one.time.start.replace(tzinfo=None)


def _moves(one: Located, later: dict[int, datetime]) -> bool:
    assert one.time.start is not None
    start, moved = one.time.start.replace(tzinfo=None), later.get(one.start)
    if moved is None:
        return False
    shift = _SHIFTS[one.time.granularity]
    if shift == "week":
        return moved - start == timedelta(days=7)
    months = 12 * (moved.year - start.year) + moved.month - start.month
    return months == (1 if shift == "month" else 12)
