"""Absolute dates in other languages ("9. Juni 2023", "3 de mayo de 2023"), parsed by dateparser.

dateparser gets only what the pattern matched: a day, one word, a year. It is imported at the first such match, so that
English text does not pay for it, and called at most PARSES times per text, so that no text is expensive.
"""

from __future__ import annotations

import re
from datetime import datetime

from .. import calendar
from ..calendar import TimeInterval
from ..context import Context
from ..fragments import Pattern
from ..lexicon import MONTHS, NUMBERS, UNITS
from ..rule_types import Rule, needs

LANGUAGES = ["fr", "de", "es", "it", "pt", "nl", "pl", "sv", "ru", "tr", "da", "nb", "fi", "cs", "ro", "uk"]
LONGEST = 64  # characters of a match that dateparser gets
PARSES = 16  # matches per text that dateparser gets
_ENGLISH = frozenset(MONTHS) | frozenset(UNITS) | frozenset(NUMBERS)


def foreign_date(match: re.Match[str], ctx: Context) -> TimeInterval | None:
    """Read a full date in one of LANGUAGES; a word between two numbers that is no month is no date."""
    if match["month"] in _ENGLISH:
        return None
    import dateparser  # noqa: PLC0415  its import takes 0.2 s

    found = dateparser.parse(
        match.group()[:LONGEST],
        languages=LANGUAGES,
        settings={"RELATIVE_BASE": ctx.now, "STRICT_PARSING": True, "DATE_ORDER": "DMY", "PARSERS": ["absolute-time"]},
    )
    return None if found is None else calendar.day(datetime(found.year, found.month, found.day))


RULES = (
    Rule(
        needs("year"),
        Pattern(
            r"(?<![\w.,:/$#-])(?:[12]?\d|3[01])(?:\.|º|er)? (?:de |di )?(?P<month>[^\W\d_]{3,14})\.?"
            r" (?:de |del |di )?(?:1[5-9]|20)\d\d(?![\w/-])"
        ),
        foreign_date,
        most=PARSES,
    ),
)
