"""From a text in one of the languages to the times it mentions: all forms, the longest matches, neighbours joined."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from datetime import datetime
from functools import cache
from itertools import islice, pairwise

from ...lang.guess import OTHER
from ...types.values import DateOrder
from .. import calendar
from ..calendar import DAY, WEEK, TimeInterval, part_of_day
from ..context import AHEAD, Context, is_beside_another_year
from ..date_order import FIGURES, date_in_figures
from ..date_rules import FOREIGN_RULES, foreign_date
from ..rule_types import possible
from .date_grammar import grammar
from .pieces import NO_TIMES_ALONE, READERS, Match, Said, TimePiece, days_numbered

Join = Callable[[TimePiece, TimePiece, Said], "TimeInterval | None"]


def joined(pieces: Iterable[TimePiece], said: Said) -> list[TimePiece]:
    """Return the pieces with all neighbours joined that make one expression together."""
    found: list[TimePiece] = []
    for piece in pieces:
        found.append(piece)
        while len(found) > 1 and (both := _both(found[-2], found[-1], said)) is not None:
            found[-2:] = [both]
    return found


def _both(first: TimePiece, second: TimePiece, said: Said) -> TimePiece | None:
    gap = said.text[first.end : second.start].strip()
    try:
        if first.offset:
            return _counted_from(first, second, said)
        if gap in said.beside.range:
            for join in (_range_of_days, _range_of_years, _range_of_dates):
                if days := join(first, second):
                    return TimePiece(first.start, second.end, days)
        return _one_time(first, second, said) if gap.removeprefix(",").lstrip() in said.beside.between else None
    except (ValueError, OverflowError):  # 29 February of a year that lacks it: no time, and neither is a part of it
        return TimePiece(first.start, second.end)


def _counted_from(offset: TimePiece, day: TimePiece, said: Said) -> TimePiece | None:
    """Join "drei Tage vor" and "20. Mai" in "drei Tage vor meinem Geburtstag am 20. Mai"."""
    between = said.text[offset.end : day.start]
    if day.interval is None or offset.shift is None or not _EVENT.fullmatch(between):
        return None
    return None if said.beside.subject.search(between) else _shifted(offset, day, offset.shift)


def _shifted(first: TimePiece, day: TimePiece, shift: tuple[str, int]) -> TimePiece | None:
    """Return the day or the longer time that is so many units from another one."""
    unit, count = shift
    if day.interval is None or day.interval.granularity not in ("day", "month", "year"):
        return None
    start = calendar.step(unit, day.interval.start, count)
    whole = calendar.day(start) if unit == "week" and day.day else calendar.unit(unit, start)
    return TimePiece(min(first.start, day.start), max(first.end, day.end), whole)


def _one_time(first: TimePiece, second: TimePiece, said: Said) -> TimePiece | None:
    for one, other in ((first, second), (second, first)):
        for join in _JOINS:
            interval = join(one, other, said)
            if interval is not None:
                weekday = one.weekday if join is _part_of_a_day else None
                return TimePiece(first.start, second.end, interval, weekday=weekday)
    return None


def _range_of_years(first: TimePiece, last: TimePiece) -> TimeInterval | None:
    """Join "2014" and "2016" to the years from the one to the other."""
    if first.interval is None or last.interval is None or first.interval.granularity != "year":
        return None
    return calendar.span(first.interval.start, last.interval.end) if last.interval.granularity == "year" else None


def _range_of_dates(first: TimePiece, last: TimePiece) -> TimeInterval | None:
    """Join "24 de diciembre" and "6 de enero" to the days from the one to the other, the last after the first."""
    start, end = first.interval, last.interval
    if first.day is None or last.day is None or start is None or end is None:
        return None
    if first.weekday is not None or last.weekday is not None or first.number:
        return None
    if end.start <= start.start and last.yearly is not None:
        end = last.yearly(start.start.year + (last.day.replace(year=start.start.year) <= start.start))
    elif first.yearly is not None and last.yearly is None:
        start = first.yearly(end.start.year - (first.day.replace(year=end.start.year) >= end.start))
    return calendar.span(start.start, end.end) if start and end else None


def _range_of_days(first: TimePiece, last: TimePiece) -> TimeInterval | None:
    """Join "1" and "9 de junio" to the days from the one to the other."""
    if last.day is None or last.interval is None or not first.number:
        return None
    start = last.day.replace(day=1) + (first.number - 1) * DAY
    return calendar.span(start, last.interval.end) if start < last.day else None


def _part_of_a_day(day: TimePiece, other: TimePiece, _: Said) -> TimeInterval | None:
    """Join "hier" and "soir"."""
    return part_of_day(day.day, other.part) if day.day is not None and other.part else None


def _clock_of_a_day(day: TimePiece, other: TimePiece, _: Said) -> TimeInterval | None:
    """Join "jeudi" and "14h", or a part of a day and a clock that lies in it."""
    if other.clock is None or day.interval is None:
        return None
    if day.day is not None:
        return other.clock.on(day.day) if other.clock.sure else None
    if day.interval.granularity != "span" or day.interval.end - day.interval.start >= DAY:
        return None
    return other.clock.within(day.interval)


def _weekday_of_a_week(weekday: TimePiece, week: TimePiece, _: Said) -> TimeInterval | None:
    """Join 土曜 and 先週の."""
    if weekday.weekday is None or week.interval is None or week.interval.granularity != "week":
        return None
    return calendar.day(week.interval.start + weekday.weekday * DAY)


def _numbered_day(day: TimePiece, month: TimePiece, _: Said) -> TimeInterval | None:
    """Join "le 5" and "du mois prochain"."""
    if not day.number or month.interval is None or month.interval.granularity != "month":
        return None
    found = month.interval.start + (day.number - 1) * DAY
    return calendar.day(found) if found < month.interval.end else None


def _day_from_day(day: TimePiece, counted: TimePiece, _: Said) -> TimeInterval | None:
    """Join "heute" and "in einer Woche"."""
    if day.day is None or counted.shift is None or counted.shift[0] not in ("week", "month", "year") or counted.number:
        return None
    start = calendar.step(counted.shift[0], day.day, counted.shift[1])
    return calendar.day(start)


def _weekday_and_number(weekday: TimePiece, day: TimePiece, said: Said) -> TimeInterval | None:
    """Join "miércoles" and "9": the nearest such day that is that weekday."""
    if weekday.weekday is None or not day.number:
        return None
    near = [each for each in days_numbered(day.number, said.today) if abs(each - said.today) <= _HARDLY_FARTHER]
    days = [each for each in near if each.weekday() == weekday.weekday]
    return calendar.day(min(days, key=lambda each: abs(each - said.today))) if days else None


def _weekday_and_date(weekday: TimePiece, date: TimePiece, _: Said) -> TimeInterval | None:
    """Join "mardi" and "19 mars": the date, whichever weekday it is."""
    if weekday.weekday is None or date.interval is None or date.day is None or date.weekday is not None:
        return None
    if date.yearly is None or date.day.weekday() == weekday.weekday:
        return date.interval
    days = (date.yearly(date.day.year + years) for years in (-1, 1))
    found = next((day for day in days if day and day.start.weekday() == weekday.weekday), None)
    if found is None:
        raise ValueError("no such weekday near")
    return found


def _of_a_year(recurring: TimePiece, year: TimePiece, _: Said) -> TimeInterval | None:
    """Join 5月 and 去年."""
    if recurring.yearly is None or year.interval is None or year.interval.granularity != "year":
        return None
    return recurring.yearly(year.interval.start.year)


_JOINS: tuple[Join, ...] = (
    _of_a_year,
    _weekday_of_a_week,
    _day_from_day,
    _weekday_and_date,
    _weekday_and_number,
    _numbered_day,
    _part_of_a_day,
    _clock_of_a_day,
)


_FIGURES = re.compile(
    rf"(?<!\w){FIGURES}|(?<![\w.:/-])(?P<year>[12]\d{{3}})(?:[-/.]|\. |\ub144 ?)(?P<month>\d\d?)(?:[-/.]|\. |\uc6d4 ?)"
    "(?P<day>\\d\\d?)(?![\\d/-]|\\.\\d)\uc77c?"
)
_HARDLY_FARTHER = 45 * DAY  # a weekday with a day of the month is hardly said of a day farther away
_MOST = 200  # matches of a form that are read in one text
# Words between a number of days and the date of the event that they count from.
_EVENT = re.compile(r"(?:,?[ \n]*[^\W\d_][\w']*){0,7}[ \n]*")
_NEAR = 24  # characters before a time, and after it, that are looked at for a habit or for "since"


def locate_dates(
    language: str, folded: str, now: datetime, order: DateOrder | None, year: int | None = None
) -> Iterator[tuple[int, int, TimeInterval]]:
    """Yield the times that a folded text mentions, with their half-open character ranges, in text order.

    `language` is a code of LANGUAGES but "en", or OTHER: then only full dates are read. `now` is the naive wall-clock
    time of saying; `order` is that of dates in figures, `year` another one than that of saying, of which the chat is
    speaking: dates without a year are of it.
    """
    if language == OTHER:
        yield from _full_dates(folded, now, order)
        return
    said = Said(folded, now, grammar(language), order, year)
    if year is None:
        pieces = joined(_pieces(said), said)
    else:
        pieces = list(_in_month(joined((_in_year(piece, year, said) for piece in _pieces(said)), said), said))
    for piece in _whole(pieces, said):
        if piece.interval is not None:
            yield _since(piece, piece.interval, said)


def _in_year(piece: TimePiece, year: int, said: Said) -> TimePiece:
    """Move what names no year into the one that is spoken of, unless its clause looks ahead."""
    if piece.yearly is None or piece.interval is None or said.direction(piece.start, piece.end) > 0:
        return piece
    return replace(piece, interval=possible(piece.yearly, year))


def _in_month(pieces: list[TimePiece], said: Said) -> Iterator[TimePiece]:
    """Move a bare day of the month into the month that is named before it; without one it is of no certain month."""
    month: TimeInterval | None = None
    for piece in pieces:
        if piece.yearly is not None and piece.interval is not None:
            month = calendar.month(piece.interval.start.year, piece.interval.start.month)
        if piece.number:
            whole = TimePiece(0, 0, month)
            yield replace(piece, interval=possible(_numbered_day, piece, whole, said))
        else:
            yield piece


def _whole(pieces: list[TimePiece], said: Said) -> Iterator[TimePiece]:
    """Yield the pieces beside which nothing stands that was not read and belongs to them.

    None of two that stand beside each other and make no time together is read, nor days of a list, which are habits as
    often, nor a time that the next one corrects.
    """
    pieces = [piece for piece in pieces if piece.interval is not None or piece.offset or piece.weekday is not None]
    broken: set[int] = set()
    for at, (one, other) in enumerate(pairwise(pieces)):
        gap = said.text[one.end : other.start]
        bare = gap.strip()
        if _is_list(one, other, bare, said) or (bare != "," and bare in said.beside.between and "\n" not in gap):
            broken |= {at, at + 1}
        if said.beside.correction.fullmatch(gap):
            broken.add(at)
    broken |= {at for at, piece in enumerate(pieces) if _is_habit(piece, said)}
    habits = [piece.end for at, piece in enumerate(pieces) if at in broken and piece.weekday is not None]
    dated = [piece for piece in pieces if not _is_yearless(piece)]
    for at, piece in enumerate(pieces):
        recurs = (piece.weekday is not None or piece.number) and (
            any(said.same_sentence(end, piece.start) for end in habits)
            or said.has_habit(piece.start, piece.end)
            or said.in_clause(said.beside.usually, piece.start, piece.end)
        )
        other_year = (
            _is_yearless(piece)
            and said.year is None
            and said.direction(piece.start, piece.end) != AHEAD
            and is_beside_another_year(said.text, piece, dated)
        )
        if at not in broken and not recurs and not other_year and not _is_beside_unread(piece, said):
            yield piece


def _is_list(one: TimePiece, other: TimePiece, gap: str, said: Said) -> bool:
    days = one.weekday is not None and other.weekday is not None
    numbers = bool(one.number) and bool(other.number)
    steps = {gap, gap.removeprefix(",").lstrip()}
    return (days or numbers) and (gap in said.beside.listed or (numbers and not steps.isdisjoint(said.beside.between)))


def _is_beside_unread(piece: TimePiece, said: Said) -> bool:
    start, end = piece.start, piece.end
    near = (said.text, max(0, start - _NEAR), start)
    names_month = said.beside.month.search(said.text, start, end)
    if said.beside.unread_before.search(*near):
        return True
    if names_month and names_month.start() == start and said.beside.day_before.search(*near):
        return True
    if piece.yearly is not None and said.in_clause(said.beside.birth, start, end):
        return True
    after = said.beside.unread_after.match(said.text, end, end + _NEAR)
    if after is None:
        return False
    figures = "figures" in after.re.groupindex and after["figures"] is not None
    return not figures or (names_month is not None and names_month.end() == end)


def may_mention_dates(language: str, folded: str) -> bool:
    """Return whether a folded text has a form that can be a time; without one, none is found in it."""
    if language == OTHER:
        return next(_full_dates(folded, datetime.min, "dmy"), None) is not None
    return _surely_a_time(language).search(folded) is not None


@cache
def _surely_a_time(language: str) -> re.Pattern[str]:
    return grammar(language).any_form(sorted(READERS.keys() - NO_TIMES_ALONE))


def _full_dates(folded: str, now: datetime, order: DateOrder | None) -> Iterator[tuple[int, int, TimeInterval]]:
    ctx = Context(folded, folded, now, "recent", order)
    found = [
        (match, foreign_date)
        for rule in FOREIGN_RULES
        for match in islice(rule.pattern.regex.finditer(folded), rule.most)
    ]
    found += [(match, _in_figures) for match in islice(_FIGURES.finditer(folded), _MOST)]
    for match, read in sorted(found, key=lambda each: each[0].start()):
        date = possible(read, match, ctx)
        if date is not None:
            yield *match.span(), date


def _in_figures(match: Match, ctx: Context) -> TimeInterval | None:
    if match["year"]:
        found: datetime | None = datetime(int(match["year"]), int(match["month"]), int(match["day"]))
    else:
        found = date_in_figures(match[0], ctx.date_order)
    return None if found is None else calendar.day(found)


def _pieces(said: Said) -> list[TimePiece]:
    """Return, of the matches of all forms, the longest that have a meaning, in text order."""
    matches = [
        (match, name)
        for name in READERS
        for pattern in said.grammar.forms.get(name, ())
        for match in islice(pattern.finditer(said.text), _MOST)
    ]
    taken, kept = bytearray(len(said.text)), []
    for match, name in sorted(matches, key=lambda found: _start(found[0]) - _end(found[0])):
        if any(taken[_start(match) : _end(match)]):
            continue
        piece = possible(READERS[name], match, said)
        if piece is not None:
            taken[piece.start : piece.end] = b"\1" * (piece.end - piece.start)
            kept.append(piece)
    return sorted(kept, key=lambda piece: piece.start)


def _start(match: Match) -> int:
    return match.start("x") if "x" in match.re.groupindex else match.start()


def _end(match: Match) -> int:
    return match.end("x") if "x" in match.re.groupindex else match.end()


def _is_yearless(piece: TimePiece) -> bool:
    return piece.yearly is not None or bool(piece.number)


def _is_habit(piece: TimePiece, said: Said) -> bool:
    before = said.text[max(0, piece.start - _NEAR) : piece.start]
    if piece.weekday is not None and said.beside.habit_of_a_weekday.search(before):
        return True
    return said.beside.habit.search(before) is not None or said.beside.habit_near.search(before) is not None


def _a_week_before(day: TimeInterval) -> TimeInterval:
    return calendar.day(day.start - WEEK)


def _since(piece: TimePiece, interval: TimeInterval, said: Said) -> tuple[int, int, TimeInterval]:
    """Return a piece, from its beginning until now where the text says "since"."""
    start, end = piece.start, piece.end
    if said.words.since_follows:
        since = said.beside.since.match(said.text, end)
        end = since.end() if since else end
    else:
        near = max(0, start - _NEAR)
        since = said.beside.since.search(said.text[near:start])
        start = near + since.start() if since else start
    if since and piece.weekday is not None and interval.start > said.now and said.direction(start, end) != AHEAD:
        interval = possible(_a_week_before, interval) or interval  # "seit Montag" is the last one, whatever its verb
    lasting = calendar.span(interval.start, said.now) if since else None
    return (start, end, lasting) if lasting is not None else (piece.start, piece.end, interval)
