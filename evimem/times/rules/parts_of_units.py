"""Parts of the unit that is now: the end of the month, earlier this week, the rest of the year, EOD."""

from __future__ import annotations

import re

from .. import calendar
from ..calendar import DAY, TimeInterval
from ..context import Context
from ..fragments import one_of
from ..lexicon import BEFORE, ENDS, POSITIONS, SIMPLE_NUMBERS, UNIT_GROUPS, UNITS
from ..rule_types import Meaning, needs, rules
from ..unit_parts import third_of

Match = re.Match[str]


def edge_of_the(match: Match, ctx: Context) -> TimeInterval:
    """Read "the month" in "the end of the month": this one, or the one before when the sentence looks back."""
    name = match["unit"]
    ended = match["edge"].startswith("end") and ctx.direction(*match.span()) < 0
    return calendar.unit(name, calendar.step(name, ctx.today, -1 if ended else 0))


def rest_of_this(match: Match, ctx: Context) -> TimeInterval | None:
    """Read "the rest of the week": from today to its end."""
    if ctx.direction(*match.span()) < 0:
        return None
    name = match["unit"]
    if name not in UNIT_GROUPS["current"]:
        return calendar.span(ctx.now, ctx.today + DAY)
    return calendar.span(ctx.today, calendar.unit(UNITS[name].name, ctx.today).end)


def short_end(match: Match, ctx: Context) -> Meaning:
    """Read "EOD", the day, and "EOW", "EOM", "EOY", the last third of the week, month or year."""
    name = ENDS[" ".join(match.group().split())]
    whole = calendar.unit(name, ctx.today)
    return Meaning(whole, "part") if name == "day" else Meaning(third_of(whole, 2))


def part_of_this(match: Match, ctx: Context) -> TimeInterval | None:
    """Read "earlier this week": up to today; "later this week": from tomorrow on."""
    unit = calendar.unit(UNITS[match["unit"]].name, ctx.today)
    if match["part"] == "earlier":
        return calendar.span(unit.start, ctx.today) or calendar.day(ctx.today)
    return calendar.span(ctx.today + DAY, unit.end) or calendar.day(ctx.today)


_ENDS = [word for words in ENDS for word in words.split() if len(word) > 2 and word != "the"]
_EDGE = rf"(?P<edge>{one_of(BEFORE['edge_of_unit'])})"
_UNIT = rf"(?P<unit>{one_of(BEFORE['unit_with_edges'])})"
_COUNTED = rf"(?:\d\d?|{one_of(SIMPLE_NUMBERS)})? ?(?:{one_of(UNIT_GROUPS['counted'])})s?"

RULES = rules(
    (
        needs("unit", BEFORE["edge_of_unit"]),
        rf"\b{_EDGE} (?:of |in |on in )?(?P<x>the {_UNIT})\b(?! (?:of|before|after)\b)",
        edge_of_the,
    ),
    (
        needs("unit", POSITIONS),
        rf"\b(?P<edge>{one_of(POSITIONS)}) {_COUNTED} (?:of|in) (?P<x>the {_UNIT})\b(?! (?:of|before|after)\b)",
        edge_of_the,
    ),
    (
        needs("any", ["rest", "remainder"]),
        r"\b(?:the )?(?:rest|remainder) of "
        r"(?:(?:the|this) (?P<unit>day|afternoon|evening|week|month|quarter|year)|today)\b",
        rest_of_this,
    ),
    (needs("unit", _ENDS), rf"\b{one_of(ENDS)}\b", short_end),
    (
        needs("unit", ["earlier", "later"]),
        r"\b(?P<part>earlier|later) (?:on )?(?:in )?this (?P<unit>week|month|year)\b",
        part_of_this,
    ),
)
