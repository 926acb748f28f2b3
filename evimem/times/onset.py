"""When an open span began: "since 2016" in 2016, "for three years" in the year three years ago."""

from __future__ import annotations

from dataclasses import replace

from ..types.values import TimeSpan
from .context import Weekday
from .find_times import find_times
from .lexicon import COUNT, UNIT, compiled, fold

_SINCE = compiled(r"(?:ever )?since ")
_NOW = "(?:now|already|and counting)"
_FOR = compiled(
    rf"(?=for |in |.* {_NOW}$)(?:(?:for|in) .*?)?"
    rf"(?P<many>{COUNT}(?: and a half)?(?: |-)?(?:\w+ )?{UNIT}\b(?: and a half)?)(?: {_NOW})?"
)


def onset(span: TimeSpan, weekday: Weekday = "recent") -> TimeSpan | None:
    """Return the unit of the calendar that an open span began in, None for a span that is not open.

    An interval cannot say how precisely its start is known; the words it was read from can, so they are read again.
    """
    if span.granularity != "span" or span.start is None or span.end is None:
        return None
    folded = fold(span.text)
    if since := _SINCE.match(folded):
        words = span.text[since.end() :]
    elif lasting := _FOR.fullmatch(folded):
        words = f"{span.text[slice(*lasting.span('many'))]} ago"
    else:
        return None
    for begun in find_times(f"in {words}", span.end, weekday):
        if begun.start == span.start:
            return replace(begun, text=span.text)
    return None
