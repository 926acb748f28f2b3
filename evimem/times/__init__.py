"""Times: the intervals that a text mentions, and an interval in words.

One engine reads all languages by their tables (`lang/<code>/dates.toml`): forms are matched, neighbouring parts are
joined, and an expression that is not read whole is not read at all. Where words are ambiguous, these conventions hold,
always counted from the day of saying:

* "last Friday" is the most recent past Friday, or by choice that of the ISO week before; "next Friday" is that of the
  next ISO week. Plain "Friday" is the most recent or the next one, as its clause looks back or ahead; where nothing
  shows which, and for the name of today's weekday, it is none.
* "last week" is the seven days before today, or by choice the ISO week before; every other week is an ISO week.
* A date, month, season or holiday without a year is the nearest one that the tense allows, or of the year that its
  clause names; without a tense it is the one that is far nearer, or none. A weekday beside a date decides which it is
  ("Monday the 24th", "Fri 6/7").
* The precision is that of the words: "two months ago" is a month, "yesterday at 4 pm" a minute, "a few days ago" the
  span of two to five days ago. "Recently", "a while ago", "the other day" have no interval, nor has a deadline by the
  end of a month.
* A time of day belongs to the day beside it; after "at", and where no day is near, it is one of today. Hours 1 to 6
  without am or pm are pm. "2 to 4 pm" is a span.
* "The next day", "a week later", "that Saturday" count from the time named before them; where none is, they are none.
* Habits, lists of weekdays, and times that are taken back, denied or only supposed are no dates: "in the winter I love
  skiing", "Monday to Friday", "not on Monday", "I'd sell tomorrow".
* Beside a number, year or unit that is not understood nothing is read: "31 June 2023", "Q3 FY24".
* "Since 2016" and "for three years now" last until now; `onset` is the unit in which they began. A bare duration ("for
  two hours") is no time. "Within two weeks" begins today, "the next two weeks" tomorrow.
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
