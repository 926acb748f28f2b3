"""Numbers of calendar units in a text ("two weeks", "a year and a half"): found once, for all rules that need them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from ..lang import ENGLISH
from .fragments import ADJECTIVE, COUNT, Pattern, one_of
from .lexicon import FULL_WEEKDAYS, SEASONS, UNITS, CalendarUnit, Quantity, quantity

LONGEST = 48  # characters before a unit in which its number is looked for

# "Two Saturdays", "five summers": the name of the unit is that of the day or season.
_UNITS = UNITS | {f"{name}s": CalendarUnit(name) for name in (*FULL_WEEKDAYS, *SEASONS)}
SIZES = {name: size for size, name in enumerate(ENGLISH.words("times.sizes_of_units"), start=1)}
_UNIT = Pattern(rf"(?<![a-z])(?P<unit>{one_of(_UNITS)})\b(?:'s?)?(?:(?P<half> and a half)|(?P<or_two> or two)| or so)?")
_NUMBER = Pattern(rf"(?P<count>{COUNT})(?P<half> and a half)?(?: |-)?{ADJECTIVE}\Z")


@dataclass(frozen=True, slots=True)
class UnitCount:
    """The half-open range of characters of a number with its unit, the unit by name, and how many of them."""

    start: int
    end: int
    unit: str
    number: Quantity

    def larger(self, other: UnitCount) -> bool:
        """Return whether the unit is larger than that of another count."""
        return SIZES.get(self.unit, 0) > SIZES.get(other.unit, 9)


def unit_counts(folded: str) -> Iterator[UnitCount]:
    """Yield the numbers of units in a folded text in order: 2 weeks of "in two weeks"."""
    for match in _UNIT.regex.finditer(folded):
        number = _NUMBER.regex.search(folded, max(0, match.start() - LONGEST), match.start())
        if number is not None:
            yield _unit_count(number, match)


def _unit_count(number: re.Match[str], unit: re.Match[str]) -> UnitCount:
    meant = _UNITS[" ".join(unit["unit"].split())]
    many = quantity(number["count"], and_a_half=bool(number["half"] or unit["half"]))
    if unit["or_two"]:  # "a day or two ago"
        many = Quantity(many.low, 2)
    return UnitCount(number.start(), unit.end(), meant.name, Quantity(many.low * meant.count, many.high * meant.count))
