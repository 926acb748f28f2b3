"""What each form must tell its reader, checked when the forms of a language are loaded: no sentence finds out."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

SYNTAX = re.compile(r"\{(\w+)\}|(\\.|\[[^\]]*\]|\(\?[=!]|[()|?<>])|([^\\{}()|?<>\[]+)")
# Slots that have words of another one, of which they are some.
AS = {
    "short_weekday": "weekday",
    "full_weekday": "weekday",
    "last_or_next": "relative",
    "this": "relative",
    "week_phrase": "phrase",
}
_MONTH, _OCCURRENCE = frozenset(("month", "number")), frozenset(("month", "number", "season"))
# For each reader sets of slots: every match must fill one slot of each set.
_NEEDS: Mapping[str, tuple[Iterable[str], ...]] = {
    "day": (("named_day", "day_part"),),
    "phrase": (("phrase",),),
    "relative": (("relative",), {"unit", "weekday", "part", *_OCCURRENCE}),
    **dict.fromkeys(("ago", "perhaps_ago", "ahead", "perhaps_ahead"), (("amount",),)),
    "weekday": (("weekday",),),
    "part": (("part",),),
    **dict.fromkeys(("date", "numeric"), (("day",), _MONTH)),
    **dict.fromkeys(("month", "season"), (("year",), _OCCURRENCE)),
    **dict.fromkeys(("bare_month", "bare_season"), (_OCCURRENCE,)),
    "third": (("third",), {"unit", *_OCCURRENCE}),
    "year": (("year",),),
    **dict.fromkeys(("sure_number", "number"), (("day",),)),
    "clock": (("hour",),),
    **dict.fromkeys(("bare_weekend", "none"), ()),
}
_Told = frozenset[frozenset[str]]
_NOTHING: _Told = frozenset((frozenset(),))


def check_slots(reader: str, form: str) -> None:
    """Raise ValueError for a form of which a match may leave its reader without a slot that it needs."""
    if reader not in _NEEDS:
        raise ValueError(f"no reader is called {reader!r}; expected one of {', '.join(_NEEDS)}")
    for told in told_by(form):
        for wanted in _NEEDS[reader]:
            if told.isdisjoint(wanted):
                expected = " or ".join(f"{{{slot}}}" for slot in sorted(wanted))
                raise ValueError(f"the form {form!r} can match without {expected}, which {reader!r} reads")


def told_by(form: str) -> _Told:
    """Return the sets of slots that a match of a form may fill: one set for each way through its branches."""
    outer: list[tuple[_Told, _Told, bool]] = []
    none: _Told = frozenset()
    finished, here, before, aside = none, _NOTHING, _NOTHING, False
    for found in SYNTAX.finditer(form):
        slot, syntax, _ = found.groups()
        inner = _NOTHING if slot is None else frozenset((frozenset((AS.get(slot, slot),)),))
        if syntax == "?":
            here |= before
            continue
        if syntax == "|":
            finished, here = finished | here, _NOTHING
            continue
        if syntax is not None and syntax.startswith("("):
            outer.append((finished, here, aside))
            finished, here, aside = none, _NOTHING, syntax != "("
            continue
        if syntax == ")":
            inner = _NOTHING if aside else finished | here
            finished, here, aside = outer.pop()
        before, here = here, frozenset(one | other for one in here for other in inner)
    return finished | here
