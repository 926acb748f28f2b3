"""Absolute dates of other languages ("9. Juni 2023", "3 de mayo de 2023"), which dateparser knows by their months.

dateparser sees only what the pattern has cut out: a day, one word, a year. It is imported at the first such match, so
that English text never pays for it, and asked at most PARSES times for one text, so that none can be expensive.
"""

from __future__ import annotations

import re
from datetime import datetime

from .. import calendar
from ..calendar import Interval
from ..context import Context
from ..lexicon import MONTHS, NUMBERS, UNITS, compiled
from ..rule_types import Rule

LANGUAGES = ["fr", "de", "es", "it", "pt", "nl", "pl", "sv", "ru"]
LONGEST = 64
PARSES = 16
_ENGLISH = frozenset(MONTHS) | frozenset(UNITS) | frozenset(NUMBERS)


def foreign_date(match: re.Match[str], ctx: Context) -> Interval | None:
    """Return the day that a date of another language names."""
    if match["month"] in _ENGLISH:
        return None
    import dateparser  # noqa: PLC0415  0.2 s, which English text shall not pay

    found = dateparser.parse(
        match.group()[:LONGEST],
        languages=LANGUAGES,
        settings={"RELATIVE_BASE": ctx.now, "STRICT_PARSING": True, "DATE_ORDER": "DMY", "PARSERS": ["absolute-time"]},
    )
    return None if found is None else calendar.day(datetime(found.year, found.month, found.day))


RULES = (
    Rule(
        "number",
        compiled(
            r"(?<![\w.,:/$#-])(?:[12]?\d|3[01])(?:\.|º|er)? (?:de |di )?(?P<month>[^\W\d_]{3,14})\.?"
            r" (?:de |del |di )?(?:1[5-9]|20)\d\d(?![\w/-])"
        ),
        foreign_date,
        most=PARSES,
    ),
)
