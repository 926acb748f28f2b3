"""Times in other languages than English: one reader, and one data file for each (`lang/<code>/dates.toml`).

What is read: days counted from today, parts of a day, last, this and next week, month, year, weekday or season, a
number of units ago or ahead, weekdays, dates and months with and without a year, years, clocks beside a day. The
conventions are those of English where a language has none of its own, but:

* "Last week" is the calendar week before, Monday to Sunday.
* "Next Friday" is the first Friday after today; Chinese and Japanese say which week they mean.
* A date without a year is the nearest one.
* A bare weekday is the last one where its sentence looks back, else today or the next one.

What is not understood is left out.
"""

from .locate_dates import locate_dates, may_mention_dates

__all__ = ["locate_dates", "may_mention_dates"]
