"""The order in which dates in figures are written: 03/04/2024 is 3 April or 4 March, or the text does not say which."""

from __future__ import annotations

import re
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime, tzinfo
from functools import cache
from itertools import islice
from typing import Literal, get_args

from ..errors import InvalidQuery, shown
from ..lang import ENGLISH
from ..lang.guess import ENGLISH_OR_UNKNOWN
from ..types.values import DateOrder

Weekday = Literal["recent", "previous_week"]
DATE_ORDERS: tuple[str, ...] = get_args(DateOrder)
WEEKDAYS: tuple[str, ...] = get_args(Weekday)

# With two digits for the year only where nothing else is written so: 3/4/24, 03.04.24, and 3-4-87, whose last number is
# no day; 20-10-24 is a bank's code.
FIGURES = (
    r"(?<![./:\d-])(?:\d\d?(?:/\d\d?/(?:\d{4}|\d\d)|\. ?\d\d?\. ?\d{4}|-\d\d?-\d{4}"
    r"|[.-]\d\d?[.-](?:3[2-9]|[4-9]\d))|\d\d\.\d\d\.\d\d)(?![\d/-]|\.\d)"
)
_FIGURES = re.compile(FIGURES)
_NUMBERS = re.compile(r"\d+")
_MONTHS_PER_YEAR = 12


@dataclass(frozen=True, slots=True)
class Conventions:
    """The conventions for times of a text that does not say: the `weekday` of "last Friday", the order of 03/04/2024.

    `zone` is where it was said: its clock says when a day begins there, whatever the offset of the time of saying, and
    its country writes dates in an order that the language of a text outweighs.
    """

    weekday: Weekday = "recent"
    date_order: DateOrder | None = None
    zone: tzinfo | None = None

    def __post_init__(self) -> None:
        if self.weekday not in WEEKDAYS:
            raise InvalidQuery(f"weekday is {shown(self.weekday)} but must be one of {', '.join(map(repr, WEEKDAYS))}")
        checked_date_order(self.date_order)

    def aware(self, moment: datetime, said_at: datetime) -> datetime:
        """Return a naive moment as one of the clock that the time of saying shows: that of `zone`, or of its tzinfo.

        A day that `zone` begins with another offset than the day of saying, as in another season, has that offset.
        """
        shown = said_at.tzinfo
        if shown is None or self.zone in (None, shown):
            return moment.replace(tzinfo=shown)
        with suppress(OverflowError):  # at the edge of the calendar
            if said_at.astimezone(self.zone).utcoffset() == said_at.utcoffset():
                return datetime.fromisoformat(moment.replace(tzinfo=self.zone).isoformat())
        return moment.replace(tzinfo=shown)

    def order_in(self, folded: str, language: str) -> DateOrder | None:
        """Return how a folded text in a language writes dates: as another date of it shows, else as is usual."""
        # The order is told by the first 200 dates in figures.
        orders = {order for match in islice(_FIGURES.finditer(folded), 200) if (order := _shown_by(match[0]))}
        if len(orders) == 1:
            return orders.pop()
        if self.date_order is not None:
            return self.date_order
        if language in ENGLISH_OR_UNKNOWN:
            return order_of_zone(self.zone)
        return "ymd" if language in {"zh", "ja"} else "dmy"


def checked_date_order(value: DateOrder | None) -> DateOrder | None:
    """Return an order of dates. Raise InvalidQuery for anything else than None and the three that there are."""
    if value is not None and value not in DATE_ORDERS:
        raise InvalidQuery(f"date_order is {shown(value)}; expected 'dmy', 'mdy', 'ymd', or None where it is not known")
    return value


def order_of_zone(zone: tzinfo | None) -> DateOrder | None:
    """Return how dates are written in the country of a timezone; None where it has none, or writes them both ways."""
    name = getattr(zone, "key", None) or ""
    return next((order for order, names in _names_of_zones() if names.fullmatch(name)), None)


@cache
def _names_of_zones() -> tuple[tuple[DateOrder | None, re.Pattern[str]], ...]:
    """Return the pattern of the zones of each order, the first that matches being that of a zone."""
    zones = ENGLISH.lists("zones.orders")
    orders: tuple[DateOrder | None, ...] = ("mdy", "ymd", None, "dmy")
    return tuple((order, re.compile("|".join(zones[order or "both"]))) for order in orders)


def date_in_figures(words: str, order: DateOrder | None) -> datetime | None:
    """Return the day of "03/04/2024" or "3.4.24"; None where it may be either of two, or there is no such day."""
    first, second, last = (int(number) for number in _NUMBERS.findall(words))
    found: tuple[int, int] | None = (second, last)
    if last < 100 and order == "ymd":
        year = first
    else:
        year, found = last, month_and_day(first, second, order, dotted="." in words)
    year = year if year >= 100 else year_of_two_digits(year)
    with suppress(ValueError):
        return datetime(year, *found) if found and 1000 <= year < 3000 else None
    return None


def year_of_two_digits(year: int) -> int:
    # Two digits are a year within 1950 to 2049.
    return year + (1900 if year >= 50 else 2000)


def month_and_day(
    first: int, second: int, order: DateOrder | None, *, dotted: bool = False, yearless: bool = False
) -> tuple[int, int] | None:
    """Return the month and the day that two numbers are, None where they may be either.

    With dots the day is first, wherever the month is not. Where the year is written first, the month follows it.
    """
    if first > _MONTHS_PER_YEAR or first == second:
        return second, first
    if second > _MONTHS_PER_YEAR or order == "mdy" or (order == "ymd" and yearless):
        return first, second
    return (second, first) if order == "dmy" or dotted else None


def _shown_by(words: str) -> DateOrder | None:
    """Return the order that a date itself shows, which has one number that is no month."""
    first, second, year = map(int, _NUMBERS.findall(words))
    if year < 100 or max(first, second) > 31 or (first > _MONTHS_PER_YEAR) == (second > _MONTHS_PER_YEAR):
        return None
    return "dmy" if first > _MONTHS_PER_YEAR else "mdy"
