"""The order of day, month and year in dates of figures, decided from all dates of a file or asked for."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from datetime import date
from itertools import pairwise
from typing import NamedTuple

from ..errors import ImportFailed
from ..times.date_order import DATE_ORDERS


class NumericDate(NamedTuple):
    """The three numbers of a date as they stand, and the mark between them."""

    numbers: tuple[str, ...]
    mark: str

    def to_date(self, order: str) -> date:
        """Return the day, the numbers read in this order. Raise ValueError for no day.

        A year of four digits tells its calendar: 2567 is Thai, 1402 is Persian. 1445 would be Islamic, whose months
        depend on a table of each country.
        """
        year, month, day = (int(self.numbers[order.index(field)]) for field in "ymd")
        if year < 100:
            year += 2000
        elif 1380 <= year <= 1429:
            return _persian_to_date(year, month, day)
        elif 1430 <= year <= 1480:
            raise ValueError(
                f"{year} is a year of the Islamic calendar; export the chat with the phone set to the Gregorian one"
            )
        elif year > 2400:
            # The Thai calendar is 543 years ahead.
            year -= 543
        return date(year, month, day)


def decide_date_order(dates: Sequence[NumericDate], name: str, *, may_begin_with_year: bool) -> tuple[str, str | None]:
    """Return the order in which dates are read, and a doubt about it, None where it is certain.

    `dates` are all of a file, each once, in its order. Raise ImportFailed where no order fits, and where more than one
    does and neither the marks nor the succession of days tells them apart.
    """
    year_first = may_begin_with_year or any(len(one.numbers[0]) == 4 for one in dates)
    orders = [order for order in DATE_ORDERS if year_first or order != "ymd"]
    faults = {order: _count_invalid_and_decreasing(dates, order) for order in orders}
    fewest = min((wrong for wrong, _ in faults.values()), default=0)
    best = [order for order in orders if faults[order][0] == fewest and fewest < len(dates)]
    if not dates or "ymd" in best:
        return "ymd" if "ymd" in best else "dmy", None
    if not best:
        why = _date_fault(dates[0], orders[0])
        raise ImportFailed(f"{name!r} has dates that are read in none of the orders {', '.join(orders)} ({why})")
    if len(best) == 1 or (not fewest and all(len({one.to_date(order) for order in best}) == 1 for one in dates)):
        return best[0], None  # also where both read the same days, such as 12/12/24
    shown = dates[0].mark.join(dates[0].numbers)
    ask = "if that is wrong, say which with --date-order (date_order= in Python)"
    if "dmy" in best and all(one.mark == "." for one in dates):
        return "dmy", f"{name}: dates such as {shown} are read with the day first, as everywhere with points; {ask}"
    forward = [order for order in best if not faults[order][1]]
    if len(forward) == 1:
        return forward[0], f"{name}: dates such as {shown} are read as {forward[0]}, else they go back in time; {ask}"
    raise ImportFailed(
        f"{name!r} has dates such as {shown!r}, which may be read as {' or '.join(best)}: "
        "say which with --date-order (date_order= in Python)"
    )


def check_date_order(order: str | None) -> None:
    """Raise ImportFailed for an unknown order."""
    if order is not None and order not in DATE_ORDERS:
        raise ImportFailed(f"the order of dates is {order!r}; expected one of {', '.join(DATE_ORDERS)}")


def _date_fault(one: NumericDate, order: str) -> str:
    try:
        return f"such as {one.to_date(order).isoformat()}"
    except ValueError as error:
        return str(error)


def _count_invalid_and_decreasing(dates: Sequence[NumericDate], order: str) -> tuple[int, int]:
    """Return how many dates are none in this order, and how often one is earlier than the one before it."""
    days = []
    for one in dates:
        year = one.numbers[order.index("y")]
        if len(year) in (2, 4) and all(len(one.numbers[order.index(field)]) <= 2 for field in "dm"):
            with suppress(ValueError):
                days.append(one.to_date(order))
    return len(dates) - len(days), sum(later < earlier for earlier, later in pairwise(days))


def _persian_to_date(year: int, month: int, day: int) -> date:
    """Return the day of a Persian date of the years 1380 to 1429, in which a leap year is every fourth but one."""
    if not (
        1 <= month <= 12 and 1 <= day <= (31 if month <= 6 else 30 if month < 12 or _is_persian_leap_year(year) else 29)
    ):
        raise ValueError("no day of the Persian calendar")
    days = sum(366 if _is_persian_leap_year(each) else 365 for each in range(1380, year))
    before = (month - 1) * 31 - max(0, month - 7)
    return date.fromordinal(date(2001, 3, 21).toordinal() + days + before + day - 1)


def _is_persian_leap_year(year: int) -> bool:
    """Return whether a Persian year has 366 days, by the cycle of 33 years that holds from 1343 to 1472."""
    return year % 33 in (1, 5, 9, 13, 17, 22, 26, 30)
