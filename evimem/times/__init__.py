"""Times: the intervals that a text mentions, and an interval in words.

Where English is ambiguous, these conventions hold, always counted from the day of saying:

* "last Friday" is the most recent past Friday, or by choice that of the ISO week before; "next Friday" is that of the
  next ISO week; plain "Friday" is the most recent or the next one, depending on the tense of its sentence; without a
  tense it is the next.
* "last week" is the seven days before today, or by choice the ISO week before; every other week is an ISO week.
* A month or season without a year is the nearest past one unless its sentence looks ahead; a day is the nearest.
* The precision is that of the words: "two months ago" is a month, "yesterday at 4 pm" a minute, "a few days ago" the
  span of two to five days ago. "Recently", "a while ago", "the other day" have no interval.
* "Since 2016" and "for three years now" last until now; `onset` is the unit in which they began. A bare duration ("for
  two hours") is no time.
* In numeric dates the month is first where it can be: 6/9/2023 is June 9, 25/12/2022 Christmas. With dots the day is
  first: 9.6.2023.
* Seasons are northern and meteorological, holidays those of the United States where countries differ, and nights end
  at midnight. The words are English (`lang/en`). A text in another language is read by `other_languages`, whose
  conventions differ where those of the language do.
"""

from .cues import mentions_time
from .find_times import Located, find_times, locate_times
from .onset import onset
from .render import render

__all__ = ["Located", "find_times", "locate_times", "mentions_time", "onset", "render"]
