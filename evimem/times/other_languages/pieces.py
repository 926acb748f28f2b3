"""Parts of time expressions: what each form of a language means, read from its match."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property

from ...types.values import DateOrder
from .. import calendar
from ..calendar import DAY, WEEK, Clock, TimeInterval, nth_part, part_of_day, third_of, waking_day
from ..context import AHEAD, PRESENT, Yearly, current, last, nearest, occurrences, upcoming
from ..date_order import date_in_figures, month_and_day, year_of_two_digits
from ..month_rules import day_of_year
from .date_grammar import DateGrammar, DateWords, SpelledTable, Surroundings, number

Match = re.Match[str]
_REACH = 160  # characters of a sentence that are read for its tense, on each side


@dataclass(frozen=True, slots=True)
class TimePiece:
    """A part of an expression with its half-open range of characters.

    `yearly` gives the same time in another year where none is named. `weekday`, `part`, `clock` and `number` (a day of
    some month) are told by the pieces beside them; the last three are no times alone. `shift` is a number of units that
    may count from the day beside them ("in einer Woche"); an `offset` counts from the day after it ("drei Tage vor").
    """

    start: int
    end: int
    interval: TimeInterval | None = None
    yearly: Yearly | None = None
    weekday: int | None = None
    part: str = ""
    clock: Clock | None = None
    number: int = 0
    shift: tuple[str, int] | None = None
    offset: bool = False

    @property
    def day(self) -> datetime | None:
        """The day that the piece names, or none."""
        return self.interval.start if self.interval is not None and self.interval.granularity == "day" else None


@dataclass(frozen=True)
class Said:
    """A folded text in a language, the naive wall-clock time it was said at, and the order of its dates in figures.

    `year` is another year than the one of saying, where the chat is speaking of one.
    """

    text: str
    now: datetime
    grammar: DateGrammar
    date_order: DateOrder | None
    year: int | None = None

    @property
    def words(self) -> DateWords:
        """What the words of the language stand for."""
        return self.grammar.words

    @cached_property
    def beside(self) -> Surroundings:
        return self.grammar.beside

    @cached_property
    def today(self) -> datetime:
        return calendar.midnight(self.now)

    def same_sentence(self, start: int, end: int) -> bool:
        """Return whether two places are in one sentence, in either order."""
        return self.beside.sentence_end.search(self.text, min(start, end), max(start, end)) is None

    def has_habit(self, start: int, end: int) -> bool:
        """Return whether the sentence around a range speaks of what recurs: "chaque mois"."""
        return self._within(self.beside.any_habit, self.beside.sentence_end, start, end)

    def in_clause(self, pattern: re.Pattern[str], start: int, end: int) -> bool:
        """Return whether a pattern is found in the clause around a range."""
        return self._within(pattern, self.beside.clause_end, start, end)

    def _within(self, pattern: re.Pattern[str], stop: re.Pattern[str], start: int, end: int) -> bool:
        before, after = self._around(start, end, stop)
        return pattern.search(before) is not None or pattern.search(after) is not None

    def _around(self, start: int, end: int, stop: re.Pattern[str]) -> tuple[str, str]:
        """Return what stands before a range and after it, up to the nearest stops."""
        before, after = self.text[max(0, start - _REACH) : start], self.text[end : end + _REACH]
        first = max((found.end() for found in stop.finditer(before)), default=0)
        last = stop.search(after)
        return before[first:], after[: last.start()] if last else after

    def direction(self, start: int, end: int) -> int:
        """Return how the clause around a range looks at it, or where it has no word that shows it, its sentence."""
        return self.clause_direction(start, end) or self._direction(start, end, self.beside.sentence_end)

    def clause_direction(self, start: int, end: int) -> int:
        """Return AHEAD or BACK where a word of the clause around a range shows it, less where only its ending does.

        A word that is sure outweighs one that only ends like a past or a future, and both a verb of the present, as
        "ai" in "j'ai vu".
        """
        return self._direction(start, end, self.beside.clause_end)

    def _direction(self, start: int, end: int, stop: re.Pattern[str]) -> int:
        return self._tense(*self._around(start, end, stop))

    def _tense(self, before: str, after: str) -> int:
        cues = [(len(before) - cue.end(), cue) for cue in self.beside.tense.finditer(before) if self._is_verb(cue)]
        cues += [(cue.start(), cue) for cue in self.beside.tense.finditer(after) if self._is_verb(cue)]
        if any(cue["was"] for _, cue in cues):  # in "ben gevallen" the "ben" does not look ahead
            cues = [(at, cue) for at, cue in cues if not cue["ahead"] or cue[0] not in self.beside.now]
        for back, ahead, looks in (("back", "ahead", AHEAD), ("was", "will", PRESENT), ("", "now", PRESENT)):
            near = [(at, bool(back and cue[back])) for at, cue in cues if (back and cue[back]) or cue[ahead]]
            if near:
                return -looks if min(near)[1] else looks
        return 0

    def _is_verb(self, cue: Match) -> bool:
        """Return whether a word that looks back or ahead is no noun that only ends like such a verb."""
        stem = cue["was"] or cue["will"]
        return not stem or self.beside.before_noun.search(cue.string, max(0, cue.start() - 12), cue.start()) is None


def span_of(match: Match) -> tuple[int, int]:
    """Return the range of the expression in a match, without the words around it."""
    return match.span("x") if "x" in match.re.groupindex else match.span()


_AFTERNOON = ("afternoon", "evening", "night")
_NO_WORDS: SpelledTable[int] = SpelledTable({})
_YEARS = range(1500, 2200)
_NEAR_HOLIDAY, _YEAR = 21 * DAY, 200 * DAY
_MONTH, _JUST_OVER = 31 * DAY, 3 * DAY  # how long ago a day of a month may be, looking back and otherwise
_AGAINST_TENSE = 3
_GOES_ON = re.compile(r"[/.-]\d")
_SURE_FROM = 8  # the hour from which on a clock of twelve hours is read as it stands


def month_or_season(match: Match, said: Said) -> Yearly:
    if match.groupdict().get("season"):
        first = said.words.seasons.of(match["season"])
        return lambda year: calendar.season(year, first)
    month = _month_number(match, said)
    return lambda year: calendar.month(year, month)


def _month_number(match: Match, said: Said) -> int:
    words = match.groupdict()
    if words.get("month"):
        return said.words.months.of(words["month"])
    found = number(match["number"], said.words.numbers)
    if not 1 <= found <= 12:
        raise ValueError(f"{found} is no month")
    return found


def date(match: Match, said: Said) -> TimePiece:
    month, day = _month_number(match, said), number(match["day"], said.words.numbers)
    if match.groupdict().get("year") or match.groupdict().get("short_year"):
        return TimePiece(*span_of(match), calendar.day(datetime(_year_number(match), month, day)))
    return _yearless(match, said, month, day)


def _yearless(match: Match, said: Said, month: int, day: int) -> TimePiece:
    def yearly(year: int) -> TimeInterval:
        return calendar.day(datetime(year, month, day))

    start, end = span_of(match)
    direction = said.clause_direction(start, end)
    word = match.groupdict().get("weekday")
    if word is None:
        return TimePiece(start, end, nearest(yearly, said.today, direction), yearly=yearly)
    weekday = said.words.weekdays.of(word)
    agreeing = [each for each in occurrences(yearly, said.today.year) if each.start.weekday() == weekday]
    return TimePiece(start, end, min(agreeing, key=lambda each: abs(each.start - said.today), default=None))


def numeric(match: Match, said: Said) -> TimePiece | None:
    """Read a date in figures; one that may be either of two days has no interval."""
    words = match.groupdict()
    if words.get("figures"):
        found = date_in_figures(words["figures"], said.date_order)
        return TimePiece(*span_of(match), None if found is None else calendar.day(found))
    if words.get("year"):
        return date(match, said)
    if _GOES_ON.match(said.text, match.end()):
        return None  # a part of a longer number
    first, second = int(match["day"]), int(match["number"])
    month = month_and_day(first, second, said.date_order, dotted="." in match[0], yearless=True)
    return TimePiece(*span_of(match)) if month is None else _yearless(match, said, *month)


def _year_number(match: Match) -> int:
    words = match.groupdict()
    if words.get("short_year"):
        return year_of_two_digits(int(words["short_year"].lstrip("' ")))
    found = number(match["year"], _NO_WORDS)
    if found not in _YEARS:
        raise ValueError(f"{found} is no year that people speak of")
    return found


def whole_year(match: Match, _: Said) -> TimePiece:
    return TimePiece(*span_of(match), calendar.year(_year_number(match)))


def month_of_year(match: Match, said: Said) -> TimePiece:
    return TimePiece(*span_of(match), month_or_season(match, said)(_year_number(match)))


def bare_month(match: Match, said: Said) -> TimePiece:
    start, end = span_of(match)
    yearly = month_or_season(match, said)
    return TimePiece(start, end, nearest_month(yearly, said.today, said.direction(start, end)), yearly=yearly)


def nearest_month(yearly: Yearly, today: datetime, direction: int) -> TimeInterval | None:
    """Return the occurrence that begins nearest to today; against the tense it must be three times as near."""
    found = [interval for year in (-1, 0, 1) if (interval := yearly(today.year + year)) is not None]

    def distance(interval: TimeInterval) -> tuple[float, bool]:
        days = (interval.start - today).days
        against = days * direction < 0 and not interval.start <= today < interval.end
        return abs(days) * (_AGAINST_TENSE if against else 1), against

    return min(found, key=distance)


def numbered_day(match: Match, said: Said) -> TimePiece | None:
    day = number(match["day"], said.words.numbers)
    goes_on = _GOES_ON.match(said.text, match.end())
    return TimePiece(*span_of(match), number=day) if 1 <= day <= 31 and not goes_on else None


def sure_numbered_day(match: Match, said: Said) -> TimePiece | None:
    start, end = span_of(match)
    day = number(match["day"], said.words.numbers)
    earliest = said.today - (_MONTH if said.direction(start, end) < 0 else _JUST_OVER)
    found = [each for each in days_numbered(day, said.today) if each >= earliest]
    if _GOES_ON.match(said.text, match.end()):
        return None
    return TimePiece(start, end, calendar.day(found[0]), number=day) if found else None


def days_numbered(day: int, today: datetime) -> list[datetime]:
    """Return the days with a number in the months around today, six on each side."""
    months = [calendar.first_of_month(today.year, today.month + distance) for distance in range(-6, 7)]
    days = [month + (day - 1) * DAY for month in months]
    return [each for each, month in zip(days, months, strict=True) if each.month == month.month]


def third(match: Match, said: Said) -> TimePiece | None:
    index, words = said.words.thirds.of(match["third"]), match.groupdict()
    if words.get("unit"):
        whole: TimeInterval | None = calendar.unit(said.words.units.of(words["unit"]), said.today)
    elif words.get("year"):
        whole = month_of_year(match, said).interval
    else:
        month, start, end = month_or_season(match, said), *match.span()
        whole = nearest_month(month, said.today, said.direction(start, end))

        def yearly(year: int) -> TimeInterval | None:
            of_year = month(year)
            return third_of(of_year, index) if of_year else None

        return TimePiece(start, end, third_of(whole, index) if whole else None, yearly=yearly)
    return None if whole is None else TimePiece(*match.span(), third_of(whole, index))


def nth(match: Match, said: Said) -> TimePiece | None:
    """Read "the last weekend of June", "the second half of October"."""
    words, n = match.groupdict(), said.words.ordinals.of(match["ordinal"])
    month = month_or_season(match, said)
    if words.get("half_of"):
        name: str | int = "half"
    elif words.get("weekday"):
        name = said.words.weekdays.of(words["weekday"])
    else:
        name = said.words.units.of(words["unit"])

    def yearly(year: int) -> TimeInterval | None:
        whole = month(year)
        return nth_part(whole, n, name) if whole else None

    if words.get("year"):
        return TimePiece(*match.span(), yearly(_year_number(match)))
    return TimePiece(*match.span(), nearest(yearly, said.today, said.direction(*match.span())), yearly=yearly)


def holiday(match: Match, said: Said) -> TimePiece | None:
    """Read "an Ostern", "Natale 2023"; without a year where it is near, or a verb shows which is meant."""
    day_of = day_of_year(said.words.holidays.of(match["holiday"]))

    def yearly(year: int) -> TimeInterval:
        return calendar.day(day_of(year))

    if match.groupdict().get("year"):
        return TimePiece(*match.span(), yearly(_year_number(match)))
    direction = said.clause_direction(*match.span())
    day = nearest(yearly, said.today, direction)
    near = day is not None and abs(day.start - said.today) <= (_YEAR if direction else _NEAR_HOLIDAY)
    return TimePiece(*match.span(), day, yearly=yearly) if near else None


def part(match: Match, said: Said) -> TimePiece:
    return TimePiece(*span_of(match), part=said.words.parts.of(match["part"]))


def clock(match: Match, said: Said) -> TimePiece | None:
    words = match.groupdict()
    hour = number(words["hour"], said.words.numbers)
    minutes = int(words["minute"]) if words.get("minute") else 30 if words.get("half") else 0
    part = said.words.parts.of(words["part"]) if words.get("part") else ""
    if hour > 24:
        return None
    if hour < 12 and part in _AFTERNOON:
        hour += 12
    sure = bool(part) or bool(words.get("minute")) or hour >= _SURE_FROM
    return TimePiece(*span_of(match), clock=Clock(60 * hour + minutes, sure=sure))


_FEW = (2, 5)  # what "a few" means, as in English


def named_day(match: Match, said: Said) -> TimePiece | None:
    words = match.groupdict()
    if words.get("day_part"):
        distance, part = said.words.day_parts.of(match["day_part"])
        first = said.today if distance or part == "morning" else waking_day(said.now)
        return TimePiece(*match.span(), part_of_day(first + distance * DAY, part))
    distances = said.words.days.of(match["named_day"])
    if len(distances) == 1:
        first = said.today if distances[0] else waking_day(said.now)
        return TimePiece(*match.span(), calendar.day(first + distances[0] * DAY))
    direction = said.direction(*match.span())
    if not direction or (said.words.since_follows and said.beside.since.match(said.text, match.end())):
        return None  # "since yesterday" or "from tomorrow on"
    return TimePiece(*match.span(), calendar.day(said.today + (1 if direction > 0 else -1) * abs(distances[0]) * DAY))


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
        if which == 0 and said.words.units.of(words["unit"]) == "day":
            return None  # "nesse dia" is the day that was spoken of
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
    if unit in ("minute", "hour") and abs(which) == 1:  # "pendant la dernière heure": the 60 minutes up to now
        ends = sorted((said.now, calendar.step(unit, said.now, which)))
        return TimeInterval(ends[0], ends[1], "span")
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
    coming = calendar.weekday_after(said.today, weekday) + further
    if which == 1 and coming - said.today == DAY:
        raise ValueError("the next such weekday is tomorrow, which people call tomorrow")
    return coming


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
        if words["count"].startswith("0"):
            raise ValueError(f"{words['count']!r} is no count but a year of two digits")
        low, high = _count(words["count"], said)
    ends = [shifted(unit, said.now, sign * count) for count in (low, high)]
    if low == high:
        return TimePiece(*match.span(), ends[0], shift=(unit, sign * low))
    return TimePiece(*match.span(), calendar.span(min(end.start for end in ends), max(end.end for end in ends)))


def offset(match: Match, said: Said) -> TimePiece | None:
    """Read "drei Tage vor", which counts from the day that is named after it."""
    words, side = match.groupdict(), said.words.sides.of(match["side"])
    if words.get("amount"):
        unit, low = said.words.amounts.of(words["amount"])
    else:
        unit = said.words.units.of(words["unit"])
        low, high = _count(words["count"], said) if words.get("count") else (1, 1)
        if low != high:
            return None
    return TimePiece(*match.span(), shift=(unit, side * low), offset=True)


def _count(word: str, said: Said) -> tuple[int, int]:
    try:
        found = number(word, said.words.numbers)
    except ValueError:
        return _FEW
    return found, found


def bare_weekday(match: Match, said: Said) -> TimePiece:
    weekday = said.words.weekdays.of(match["weekday"])
    start, end = span_of(match)
    direction = said.clause_direction(start, end)
    if not direction:
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


Read = Callable[[Match, Said], "TimePiece | None"]
READERS: Mapping[str, Read] = {
    "day": named_day,
    "phrase": phrase,
    "relative": relative,
    "ago": lambda match, said: counted(match, said, -1),
    "perhaps_ago": perhaps_ago,
    "ahead": ahead,
    "perhaps_ahead": perhaps_ahead,
    "weekday": bare_weekday,
    "part": part,
    "date": date,
    "numeric": numeric,
    "month": month_of_year,
    "season": month_of_year,
    "bare_month": bare_month,
    "bare_season": lambda match, said: TimePiece(*match.span(), yearly=month_or_season(match, said)),
    "third": third,
    "year": whole_year,
    "holiday": holiday,
    "nth": nth,
    "offset": offset,
    "sure_number": sure_numbered_day,
    "number": numbered_day,
    "bare_weekend": bare_weekend,
    "clock": clock,
    "none": lambda match, _: TimePiece(*match.span()),
}


NO_TIMES_ALONE = frozenset(("part", "clock", "number", "bare_season", "none", "offset"))
