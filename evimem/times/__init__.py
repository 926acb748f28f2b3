"""Times: the intervals that a text mentions, and an interval in words.

Where English is ambiguous, these conventions hold, always counted from the day of saying:

* "last Friday" is the most recent past Friday, or by choice that of the ISO week before; "next Friday" is that of the
  next ISO week; plain "Friday" is the most recent or the next one, depending on the tense of its sentence; without a
  tense it is the next. The name of today's weekday is today, unless a tense shows otherwise ("on Friday we met").
* "last week" is the seven days before today, or by choice the ISO week before; every other week is an ISO week.
* A date, month, season or holiday without a year is the nearest one; the tense decides when both are about as near. A
  weekday beside a date decides which it is ("Monday the 24th", "Fri 6/7").
* The precision is that of the words: "two months ago" is a month, "yesterday at 4 pm" a minute, "a few days ago" the
  span of two to five days ago, "a couple of days ago" the second day before today. "Recently", "a while ago", "the
  other day", "several years ago" have no interval.
* A time of day belongs to the day beside it, or before it in its sentence; alone it is today's or the coming one.
  Hours 1 to 6 without am or pm are pm, 10 and 11 am; 7 to 9 are read only where the sentence shows which. Alone after a
  bound ("after 7 pm") it tells a habit and is none. "EOD" is the day.
* Habits are no dates: "in the winter I love skiing", "open Monday to Friday".
* Beside a number, year or unit that is not understood nothing is read: "31 June 2023", "Q3 FY24".
* "Since 2016" and "for three years now" last until now; `onset` is the unit in which they began. A bare duration ("for
  two hours") is no time. "Within two weeks" and "the rest of the month" begin today, "the next two weeks" tomorrow.
* A date in figures is read in the order of the text: another date of it shows which (25/12/2022), else the caller's
  `date_order` says, else its language or the country of the timezone. 6/9/2023 is no date where none of these tells.
  With dots the day is first, 9.6.2023, but where the order is "mdy".
* Seasons are northern and meteorological, holidays those of the United States where countries differ, and nights end
  at midnight. These are the conventions of English; those of another language differ where its table says so.
"""

from ..types.values import DateOrder
from .date_order import Conventions, Weekday
from .find_times import Located, find_times, locate_times, mentions_time
from .render import onset, render

__all__ = [
    "Conventions",
    "DateOrder",
    "Located",
    "Weekday",
    "find_times",
    "locate_times",
    "mentions_time",
    "onset",
    "render",
]
