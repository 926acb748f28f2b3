"""Times that count from the day of saying: yesterday, last week, next Friday, three days ago, a weekday."""

from __future__ import annotations

from datetime import datetime

from .. import calendar
from ..calendar import DAY, WEEK, TimeInterval
from ..times_of_day import part_of_day
from ..yearly import Yearly, current, last, upcoming
from .date_pieces import Match, Said, TimePiece, span_of
from .dated_pieces import month_or_season
from .numerals import number

_FEW = (2, 5)  # what "a few" means, as in English


def named_day(match: Match, said: Said) -> TimePiece | None:
    words = match.groupdict()
    if words.get("day_part"):
        distance, part = said.words.day_parts.of(match["day_part"])
        return TimePiece(*match.span(), part_of_day(said.today + distance * DAY, part))
    distances = said.words.days.of(match["named_day"])
    if len(distances) == 1:
        return TimePiece(*match.span(), calendar.day(said.today + distances[0] * DAY))
    direction = said.direction(*match.span())
    if not direction or (said.words.since_follows and said.grammar.since.match(said.text, match.end())):
        return None  # "since yesterday" or "from tomorrow on"
    return TimePiece(*match.span(), calendar.day(said.today + direction * abs(distances[0]) * DAY))


def phrase(match: Match, said: Said) -> TimePiece:
    unit, count = said.words.phrases.of(match["phrase"])
    short = match.groupdict().get("weekday")
    if short is not None:
        day = shifted(unit, said.today, count).start + said.words.weekdays.of(short) * DAY
        return TimePiece(*match.span(), calendar.day(day))
    return TimePiece(*match.span(), shifted(unit, said.today, count))


def relative(match: Match, said: Said) -> TimePiece | None:
    which = said.words.relatives.of(match["relative"])
    words = {name: word for name, word in match.groupdict().items() if word is not None}
    if "unit" in words:
        return TimePiece(*match.span(), _relative_unit(said.words.units.of(words["unit"]), which, said))
    if "weekday" in words:
        return TimePiece(*match.span(), calendar.day(_relative_weekday(match, which, said)))
    if "part" in words:
        day = said.today + which * DAY
        return TimePiece(*match.span(), part_of_day(day, said.words.parts.of(words["part"]))) if which <= 0 else None
    yearly = month_or_season(match, said)
    return TimePiece(*match.span(), _relative_occurrence(yearly, which, said, match))


def _relative_unit(unit: str, which: int, said: Said) -> TimeInterval:
    coming = calendar.weekend(said.today)
    if unit == "weekend" and which == 1 and coming.start > said.today:
        return coming
    return shifted(unit, said.today, which)


def _relative_weekday(match: Match, which: int, said: Said) -> datetime:
    weekday = said.words.weekdays.of(match["weekday"])
    if which == 0:
        return _weekday(weekday, said, said.direction(*match.span()))
    if said.words.weekday_by_week:
        return calendar.week(said.today).start + which * WEEK + weekday * DAY
    further = (abs(which) - 1) * WEEK
    if which < 0:
        return calendar.weekday_before(said.today, weekday) - further
    return calendar.weekday_after(said.today, weekday) + further


def _relative_occurrence(yearly: Yearly, which: int, said: Said, match: Match) -> TimeInterval | None:
    if which == 0:
        return current(yearly, said.today, said.direction(*match.span()))
    return last(yearly, said.today, -which) if which < 0 else upcoming(yearly, said.today)


def ahead(match: Match, said: Said) -> TimePiece | None:
    """Read "dans deux jours", unless the sentence looks back: then it is how long something took."""
    return None if said.direction(*match.span()) < 0 else counted(match, said, 1)


def perhaps_ahead(match: Match, said: Said) -> TimePiece | None:
    """Read "en dos días" where the sentence looks ahead: else it is how long something takes."""
    return counted(match, said, 1) if said.direction(*match.span()) > 0 else None


def perhaps_ago(match: Match, said: Said) -> TimePiece | None:
    """Read a word for "ago" or "earlier" unless the sentence looks ahead."""
    return None if said.direction(*match.span()) > 0 else counted(match, said, -1)


def counted(match: Match, said: Said, sign: int) -> TimePiece:
    words = match.groupdict()
    if words.get("amount"):
        unit, count = said.words.amounts.of(words["amount"])
        low = high = count
    else:
        unit = said.words.units.of(words["unit"])
        low, high = _count(words["count"], said)
    ends = [shifted(unit, said.now, sign * count) for count in (low, high)]
    if low == high:
        return TimePiece(*match.span(), ends[0])
    return TimePiece(*match.span(), calendar.span(min(end.start for end in ends), max(end.end for end in ends)))


def _count(word: str, said: Said) -> tuple[int, int]:
    try:
        found = number(word, said.words.numbers)
    except ValueError:
        return _FEW
    return found, found


def bare_weekday(match: Match, said: Said) -> TimePiece:
    weekday = said.words.weekdays.of(match["weekday"])
    start, end = span_of(match)
    direction = said.direction(start, end)
    if not direction and said.words.weekday_needs_tense:
        return TimePiece(start, end, weekday=weekday)
    return TimePiece(start, end, calendar.day(_weekday(weekday, said, direction)), weekday=weekday)


def _weekday(weekday: int, said: Said, direction: int) -> datetime:
    """Return the day of a weekday: the last one looking back, else today or the next one."""
    if direction < 0:
        return calendar.weekday_before(said.today, weekday)
    return said.today if said.today.weekday() == weekday else calendar.weekday_after(said.today, weekday)


def bare_weekend(match: Match, said: Said) -> TimePiece:
    start, end = span_of(match)
    this = calendar.weekend(said.today)
    back = said.direction(start, end) < 0 and this.start > said.today
    return TimePiece(start, end, calendar.weekend(said.today - WEEK) if back else this)


def shifted(unit: str, moment: datetime, count: int) -> TimeInterval:
    """Return the unit of the calendar so many units after the one that contains a moment."""
    return calendar.unit(unit, calendar.step(unit, moment, count))
