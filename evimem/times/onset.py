"""When an open span began: "since 2016" in 2016, "for three years" in the year three years ago."""

from __future__ import annotations

from dataclasses import replace

from ..types.values import TimeSpan
from .date_order import Weekday
from .find_times import find_times
from .folding import fold
from .fragments import Pattern
from .unit_counts import unit_counts

_SINCE = Pattern(r"(?:ever )?since ")
_NOW = "(?:now|already|and counting)"
_LASTING = Pattern(rf"(?:for|in) |.* {_NOW}$")


def onset(span: TimeSpan, weekday: Weekday = "recent") -> TimeSpan | None:
    """Return the calendar unit in which an open span began: the year 2016 of "since 2016".

    The start of an interval does not show how precisely it is known; the words of the span do, so they are read again.

    Args:
        span: A span that `find_times` returned.
        weekday: The convention that the span was read with; see `find_times`.

    Returns:
        The unit, with the span's words as its text. None for a span that is not open ("a few days ago"), and for one
        that was read with the other convention.
    """
    if span.granularity != "span" or span.start is None or span.end is None:
        return None
    folded = fold(span.text)
    if since := _SINCE.regex.match(folded):
        words = span.text[since.end() :]
    elif _LASTING.regex.match(folded) and (counts := list(unit_counts(folded))):
        words = f"{span.text[counts[-1].start : counts[-1].end]} ago"
    else:
        return None
    for begun in find_times(f"it began in {words}", span.end, weekday):
        if begun.start == span.start:
            return replace(begun, text=span.text)
    return None
