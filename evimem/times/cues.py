"""The words without which a text mentions no time: the cheap first look that most turns end with."""

from __future__ import annotations

import re

from .lexicon import MONTHS, SEASONS, WEEKDAYS, fold, one_of
from .rules.feasts import FEASTS

_FEAST_WORDS = {name.split()[0].rstrip(".") for name in FEASTS}
_TURNED = "day|night|week|month|morning|evening|afternoon|weekend|year"
CUES = {
    "day": r"today|yesterday|tomorrow|tomorow|tmrw|tmr|yday|tonight|tonite|this (?:morning|afternoon|evening)",
    "unit": (
        r"(?:week|weekend|wknd|wk|fortnight|month|quarter|year|yr|decade|night|evening|hour|hr|minute|min)s?|days"
        r"|the (?:next|following|previous) day|the day (?:before|after)"
    ),
    "ago": r"ago|back|later|earlier|hence|since|from (?:now|today)|after that|before that|afterwards|beforehand",
    "weekday": rf"{one_of(WEEKDAYS)}s?",
    "month": one_of(MONTHS),
    "number": r"(?:1[5-9]|2[01])\d\d|\d\d?[/.-]\d\d?[/.-]\d+|\d\d?/\d\d?|\d\d?(?:st|nd|rd|th)|q[1-4]",
    "season": rf"{one_of(SEASONS)}s?",
    "feast": one_of({name.split()[0].rstrip(".") for name in FEASTS}),
    "decade": r"(?:\d\d)?\d0'?s|(?:twent|thirt|fort|fift|sixt|sevent|eight|ninet)ies",
    "clock": (
        r"\d\d? ?[ap]\.?m|\d\d?:\d\d|noon|midnight|midday|\w+ o'clock|(?:half|quarter) (?:past|to)"
        r"|in the (?:morning|afternoon|evening)|at night"
    ),
    "vague": (
        rf"recently|lately|of late|ago|back|other (?:{_TURNED})|some ?day|these days|nowadays|at some point|soon"
        r"|(?:near|distant) future"
    ),
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
