"""The words without which a text mentions no time: the cheap first look that most turns end with."""

from __future__ import annotations

import re

from .feasts import FEASTS
from .lexicon import FULL_MONTHS, FULL_WEEKDAYS, SEASONS, fold, one_of

_FEAST_WORDS = {name.split()[0].rstrip(".") for name in FEASTS}
CUES = {
    "day": r"today|yesterday|tomorrow|tmrw|tmr|tomorow|yday|tonight|tonite|this (?:morning|afternoon|evening|night)",
    "unit": r"(?:weekend|week|month|quarter|year|yr|decade|fortnight|night|evening|hour|hr|minute|min)s?|days|century",
    "ago": r"ago|back|later|earlier|hence|since|from (?:now|today)|after that|before that|afterwards|beforehand",
    "weekday": rf"{one_of(FULL_WEEKDAYS)}|mon|tues?|weds?|thu|thurs?|fri|sat|sun",
    "month": rf"{one_of(FULL_MONTHS)}|jan|feb|mar|apr|jun|jul|aug|sept?|oct|nov|dec",
    "number": r"(?:1[5-9]|20)\d\d|\d\d?[/.-]\d\d?[/.-]\d+|\d\d?/\d\d?|\d\d?(?:st|nd|rd|th)|q[1-4]",
    "season": one_of(SEASONS),
    "feast": one_of(_FEAST_WORDS),
    "decade": r"(?:\d\d)?\d0'?s|(?:twent|thirt|fort|fift|sixt|sevent|eight|ninet)ies",
    "clock": r"\d\d? ?[ap]\.?m|\d\d?:\d\d|noon|midnight|midday|o'clock|(?:half|quarter) (?:past|to)|in the (?:morning|afternoon|evening)|at night",
    "vague": r"recently|lately|of late|ago|back|other (?:day|night|week|month|morning|evening|afternoon|weekend|year)|some ?day|these days|nowadays|at some point|soon|(?:near|distant) future",
}
_ANY = re.compile(r"\b(?:" + "|".join(CUES.values()) + r")\b")
_EACH = {cue: re.compile(rf"\b(?:{pattern})\b") for cue, pattern in CUES.items()}


def mentions_time(text: str) -> bool:
    """Say whether a text holds a word that a time could be made of. Without one, `find_times` finds nothing."""
    return _ANY.search(fold(text)) is not None


def cues(folded: str) -> frozenset[str]:
    """Return the names of the cues that a folded text holds."""
    if _ANY.search(folded) is None:
        return frozenset()
    return frozenset(cue for cue, pattern in _EACH.items() if pattern.search(folded)) | {"any"}
