"""Dates with a day: 9 June 2023, June 9th, 3-9 June, 2023-06-09, 6/9/2023, on the 15th; 9. Juni 2023 by dateparser.

Without a year it is the nearest one that the tense of its sentence allows. In which order a date in figures is written
says `date_order`. dateparser gets only what a pattern matched, a day, one word, a year: it is imported at the first
such match, so that English text does not pay for it, and called at most PARSES times per text.
"""

from __future__ import annotations

import re
from dataclasses import replace
from datetime import datetime, timedelta

from ..lang import ENGLISH
from . import calendar
from .calendar import DAY, PARTS, TimeInterval
from .context import BACK, PRESENT, RELATIVE, Context, Yearly, nearest, nearest_of, occurrences, relative
from .date_order import FIGURES, date_in_figures, month_and_day
from .lexicon import (
    BEFORE,
    DAY_NUMBER,
    DIGIT,
    MONTH,
    MONTHS,
    NOT_BEFORE,
    NTH,
    NUMBERS,
    ORDINAL_WORDS,
    ORDINALS,
    PREVIOUS_WORDS,
    UNITS,
    UPCOMING_WORDS,
    WEEKDAY,
    WEEKDAYS,
    YEAR,
    Pattern,
    day_number,
    one_of,
    year_number,
)
from .month_rules import VERBS
from .rule_types import Meaning, Rule, needs, rules

Match = re.Match[str]
MONTHS_OF_YEAR = 12


def iso(match: Match, _: Context) -> TimeInterval:
    """Read "2023-06-09" and "2023/6/9"."""
    return calendar.day(datetime(int(match["year"]), int(match["month"]), int(match["day"])))


def iso_with_clock(match: Match, ctx: Context) -> TimeInterval:
    """Read "2023-06-09T16:30" as a minute."""
    start = iso(match, ctx).start
    return calendar.minute(start + timedelta(hours=int(match["hour"]), minutes=int(match["minute"])))


def _yearless(yearly: Yearly, span: tuple[int, int], ctx: Context, *others: Yearly, weak: bool = False) -> Meaning:
    """Return a day without a year; `others` are other readings of its words, which only a weekday can show."""
    choices = tuple(day for each in (yearly, *others) for day in occurrences(each, ctx.today.year))
    # "We made the booking for 3 May": the tense is that of the making.
    direction = PRESENT if _FOR.regex.search(ctx.folded, max(0, span[0] - 5), span[0]) else ctx.direction(*span)
    return Meaning(nearest(yearly, ctx.today, direction), yearly=yearly, choices=choices, weak=weak)


def _day_of_year(month: int, day: int) -> Yearly:
    return lambda year: calendar.day(datetime(year, month, day))


def numeric(match: Match, ctx: Context) -> Meaning:
    """Read "6/9/2023" and "9.6.23"; one that may be either of two days has no interval, nor has a part of it."""
    found = date_in_figures(match["figures"], ctx.date_order)
    return Meaning(None if found is None else calendar.day(found))


def numeric_without_year(match: Match, ctx: Context) -> Meaning:
    """Read "on 6/9"; weak without a word before it that makes it a date, since it may be a fraction or a score.

    One that may be either of two days is only read where the weekday beside it tells which.
    """
    first, second = int(match["first"]), int(match["second"])
    found = month_and_day(first, second, ctx.date_order, dotted=match["mark"] == ".", yearless=True)
    month, day = found or (first, second)
    others = (_day_of_year(day, month),) if max(month, day) <= 12 else ()
    weak = match["lead"] is None or (match["lead"] in ("of", "from") and day <= 12)
    read = _yearless(_day_of_year(month, day), match.span("x"), ctx, *others, weak=weak)
    return read if found else replace(read, interval=None, yearly=None)


def dotted_range(match: Match, ctx: Context) -> Meaning:
    """Read "30.11.-04.12.", the day first."""

    def yearly(year: int) -> TimeInterval | None:
        start = datetime(year, int(match["first"]), int(match["first_day"]))
        end = datetime(year, int(match["last"]), int(match["last_day"]))
        return calendar.span(start, (end if end >= start else end.replace(year=year + 1)) + DAY)

    return _yearless(yearly, match.span(), ctx)


def numeric_range(match: Match, ctx: Context) -> Meaning | None:
    """Read "6/16-6/27" where a number above 12 shows that both are dates."""
    first, last = int(match["first_day"]), int(match["last_day"])
    if max(first, last) <= MONTHS_OF_YEAR:
        return None

    def yearly(year: int) -> TimeInterval | None:
        start, end = datetime(year, int(match["first"]), first), datetime(year, int(match["last"]), last)
        return calendar.span(start, end + DAY)

    return _yearless(yearly, match.span(), ctx)


def _is_month(match: Match, ctx: Context) -> bool:
    """Return whether a month's name next to a number is one: in "5 may do" and "march 3 miles" it is a verb."""
    if match["month"] not in VERBS:
        return True
    if match["year"] or match["of"] or not match["day"].isdigit():
        return True
    return ctx.capital(match.start("month")) and ctx.complete(match.end())


def named(match: Match, ctx: Context) -> Meaning | None:
    """Read "9 June 2023", "June 9th", "the fifth of May" and "last June 9th"."""
    if not _is_month(match, ctx):
        return None
    yearly = _day_of_year(MONTHS[match["month"]], day_number(match["day"]))
    if match["year"]:
        return Meaning(yearly(year_number(match["year"])))
    if match.groupdict().get("relative"):
        return Meaning(relative(match["relative"], yearly, ctx.today, ctx.direction(*match.span())), yearly=yearly)
    return _yearless(yearly, match.span(), ctx)


def with_year(match: Match, _: Context) -> TimeInterval:
    """Read "2017 April 9", "2021-oct-07", "07-Oct-2021", "5 Feb 88"."""
    year = match["year"] if len(match["year"]) == 4 else f"'{match['year'].lstrip(chr(39))}"
    return calendar.day(datetime(year_number(year), MONTHS[match["month"]], day_number(match["day"])))


def days_of_month(match: Match, ctx: Context) -> Meaning | None:
    """Read "3-9 June" and "the 3rd and 4th of June"; "3 and 9 June" are not adjacent days and no interval."""
    month, first, last = MONTHS[match["month"]], day_number(match["day"]), day_number(match["last"])
    if not _is_month(match, ctx) or (match["and"] and last != first + 1 and not match["between"]):
        return None

    def yearly(year: int) -> TimeInterval | None:
        return calendar.span(datetime(year, month, first), datetime(year, month, last) + DAY)

    if match["year"]:
        return Meaning(yearly(year_number(match["year"])))
    return _yearless(yearly, match.span(), ctx)


def of_a_month(match: Match, ctx: Context) -> TimeInterval:
    """Read "the 15th of last month", "the first of the month"."""
    months = {"last": -1, "this": 0, "next": 1}.get(match["which"] or "this", 0)
    month = calendar.shift_months(ctx.today.replace(day=1), months)
    return calendar.day(month.replace(day=day_number(match["day"])))


def _days_with_number(number: int, ctx: Context) -> list[TimeInterval]:
    """Return the days with a number in the months around today, in order."""
    month, days = ctx.today.replace(day=1), (number - 1) * DAY
    firsts = [calendar.shift_months(month, months) for months in range(-3, 4)]
    return [calendar.day(first + days) for first in firsts if (first + days).month == first.month]


def weekday_and_day(match: Match, ctx: Context) -> Meaning | None:
    """Read "Sat 14th": the next day on which both agree, or the last one where the sentence looks back."""
    number, weekday = day_number(match["day"]), WEEKDAYS[match["weekday"]]
    if match["weekday"] == "sat" and match["before"] in _NO_WEEKDAY_AFTER:
        return None  # "we sat 3rd from the front"
    choices = [day for day in _days_with_number(number, ctx) if day.start.weekday() == weekday]
    past = [day for day in choices if day.start <= ctx.today]
    coming = [day for day in choices if day.start >= ctx.today]
    sides = [*past[-1:], *coming[:1]] if ctx.direction(*match.span("x")) == BACK else [*coming[:1], *past[-1:]]
    # The other side where it alone is near: "the fair was lovely, Sat 3rd" without a word of the past.
    near = [day for day in sides if abs(day.start - ctx.today) <= NEAR]
    return Meaning((near or sides)[0]) if sides else None


def listed_day(match: Match, ctx: Context) -> Meaning | None:
    """Read "11th" in "on the 9th, 11th and 14th": the first such day after the one before it in the list."""
    before = _LISTED_BEFORE.regex.search(ctx.folded, max(0, match.start() - LONGEST_LIST_STEP), match.start())
    if before is None or before["between"] or not ctx.complete(match.end()):
        return None
    previous, number = int(before["day"]), day_number(match["day"])

    def later(base: TimeInterval) -> TimeInterval | None:
        if base.granularity != "day" or base.start.day != previous:
            return None
        month = base.start if number > previous else calendar.shift_months(base.start, 1)
        return calendar.day(month.replace(day=number))

    return Meaning(None, "later", later=later, weak=True)


def bare_day(match: Match, ctx: Context) -> Meaning | None:
    """Read "the 15th", the nearest that the tense allows; weak where it may count something else."""
    word = match["day"]
    if not word[0].isdigit() and _PART.regex.match(ctx.folded, match.end()):
        return None  # "on the second night"
    choices = _days_with_number(day_number(word), ctx)
    led = match["lead"] is not None and (word[0].isdigit() or match["lead"] in _SURE)
    led = led or (word[0].isdigit() and ctx.rescheduled(*match.span("x")))
    weak = not led or not ctx.complete(match.end())
    # "My exam's the 27th and I've read nothing": what is said of a day in the present is true of it.
    direction = PRESENT if match["lead"] in ("is", "'s") else ctx.direction(*match.span("x")) or PRESENT
    coming = next((day for day in choices if day.start >= ctx.today - JUST_OVER), None)
    reading = coming if direction == PRESENT else nearest_of(choices, ctx.today, direction)
    return Meaning(reading, weak=weak, choices=tuple(choices))


_NOT_INSIDE = r"(?<![\w.,:/$#-])"
_YEAR = rf"(?:\.?(?:, ?|-| )?(?P<year>{YEAR})(?!\w))?"
_DAY = rf"(?P<day>{DAY_NUMBER})(?!\w)"
_LAST = rf"(?P<last>{DAY_NUMBER})(?!\w)"
_BETWEEN = r"(?:\b(?:from|(?P<between>between)) (?:the )?)?"
_TO = r"(?: ?- ?| (?:to|through|until|till|(?P<and>and)) )(?:the )?"
_MONTH = rf"(?P<month>{MONTH})\b"
_RELATIVE_WORDS = ("this", "next", *PREVIOUS_WORDS, *UPCOMING_WORDS)
_SURE = frozenset(BEFORE["sure_day"])
_SHORT_YEAR = r"(?P<year>[12]\d{3}|'?\d\d)"
_ISO = r"(?P<year>[12]\d{3})(?P<mark>[-/])(?P<month>\d\d?)(?P=mark)(?P<day>\d\d?)"
_CLOCK = r"(?P<hour>[01]\d|2[0-3]):(?P<minute>[0-5]\d)(?::\d\d(?:\.\d{1,6})?)?z?"
# A number after a month's name may count what follows: "in March 10 people came".
_NO_COUNT = rf"(?![.,:]?\d|(?: |-)?(?:am|pm|a\.m|p\.m|%|{one_of(NOT_BEFORE['day_of_month'])})\b)"

JUST_OVER = timedelta(days=3)  # how long ago a day of the month may be that is told in the present
_PART = Pattern(rf" {one_of(PARTS)}\b")
NEAR = timedelta(days=45)  # a weekday with a day of the month is hardly said of a day farther away
LONGEST_LIST_STEP = 32  # characters before a day of a list that hold the day before it
_LISTED_BEFORE = Pattern(
    r"(?P<between>\b(?:between|from) )?(?:\bthe )?"
    r"\b(?P<day>\d\d?)(?:st|nd|rd|th)(?:, ?| ?& ?| and |, and | or )(?:the )?\Z"
)
_NO_WEEKDAY_AFTER = frozenset(ENGLISH.words("times.no_weekday_and_day_after"))
_FOR = Pattern(r"\bfor \Z")
_FIGURE_NTH = r"\d\d?(?:st|nd|rd|th)"
_NTH = rf"(?:\d\d?(?:st|nd|rd|th)|{one_of(ORDINALS)})"
_FIGURES = needs("figures")
_DAY_AND_MONTH = needs("month", [DIGIT, *ORDINAL_WORDS])

DATE_RULES = rules(
    (_FIGURES, rf"{_NOT_INSIDE}{_ISO}(?![\w/-])", iso),
    (_FIGURES, rf"{_NOT_INSIDE}{_ISO}[t ]{_CLOCK}(?![\w/-])", iso_with_clock),
    (_FIGURES, rf"{_NOT_INSIDE}(?P<figures>{FIGURES})(?!\w)", numeric),
    (
        _FIGURES,
        rf"(?:\b(?P<lead>{one_of(BEFORE['numeric_date'])}) )?{_NOT_INSIDE}"
        r"(?P<x>(?P<first>\d\d?)(?P<mark>/)(?P<second>\d\d?))(?![\w/-]|\.\d)",
        numeric_without_year,
    ),
    (
        _FIGURES,
        rf"{_NOT_INSIDE}(?P<first>\d\d?)/(?P<first_day>\d\d?) ?- ?(?P<last>\d\d?)/(?P<last_day>\d\d?)(?![\w/-]|\.\d)",
        numeric_range,
    ),
    (
        needs("figures", BEFORE["numeric_date"]),
        rf"\b(?P<lead>{one_of(BEFORE['numeric_date'])}) (?P<x>(?P<first>\d\d?)(?P<mark>\.)(?P<second>\d\d?)\.)(?!\w)",
        numeric_without_year,
    ),
    (
        needs("month", [DIGIT]),
        rf"{_NOT_INSIDE}(?P<year>[12]\d{{3}})(?P<mark>[ -]|, ?){_MONTH}\.?(?P=mark)(?P<day>\d\d?)(?:st|nd|rd|th)?"
        r"(?![\w:/-]|\.\d)",
        with_year,
    ),
    (
        needs("month", [DIGIT]),
        rf"(?:\bthe )?{_NOT_INSIDE}(?P<day>\d\d?)(?:st|nd|rd|th)?(?P<mark>[ -])(?P<of>of )?{_MONTH}\.?(?P=mark)"
        rf"{_SHORT_YEAR}(?=[.,;:!?)]*(?:\s|$)(?! ?\w+s\b))",
        with_year,
    ),
    (
        needs("month", [DIGIT]),
        rf"\b{_MONTH}(?P<mark>-)(?P<day>\d\d?)(?P=mark){_SHORT_YEAR}(?![\w:/-]|\.\d)",
        with_year,
    ),
    (
        _DAY_AND_MONTH,
        rf"(?:\bthe )?{_NOT_INSIDE}(?<!\d )(?P<day>{DAY_NUMBER})(?: day)?(?: |-)?(?P<of>of )?"
        rf"{_MONTH}{_YEAR}(?!\w)",
        named,
    ),
    (_DAY_AND_MONTH, rf"\b{_MONTH}(?:\.(?! ?\n))? (?P<of>the )?{_DAY}{_NO_COUNT}{_YEAR}", named),
    (
        needs("month", _RELATIVE_WORDS, [DIGIT, *ORDINAL_WORDS]),
        rf"\b{RELATIVE} {_MONTH}(?:\.(?! ?\n))? (?P<of>the )?{_DAY}{_NO_COUNT}{_YEAR}",
        named,
    ),
    (
        _DAY_AND_MONTH,
        rf"{_BETWEEN}{_NOT_INSIDE}{_DAY}{_TO}{_LAST} (?P<of>of )?{_MONTH}{_YEAR}",
        days_of_month,
    ),
    (
        _DAY_AND_MONTH,
        rf"{_BETWEEN}\b{_MONTH}(?:\.(?! ?\n))? (?P<of>the )?{_DAY}{_TO}{_LAST}{_NO_COUNT}{_YEAR}",
        days_of_month,
    ),
    (
        _FIGURES,
        rf"{_NOT_INSIDE}(?P<first_day>\d\d?)\.(?P<first>\d\d?)\. ?- ?(?P<last_day>\d\d?)\.(?P<last>\d\d?)\.(?!\w)",
        dotted_range,
    ),
    (
        needs("month", WEEKDAYS, [DIGIT]),
        rf"{_BETWEEN}\b{WEEKDAY}\.?,? (?:the )?{_DAY}{_TO}{WEEKDAY}\.?,? (?:the )?{_LAST} (?P<of>of )?{_MONTH}{_YEAR}",
        days_of_month,
    ),
    (
        needs("weekday", NTH),
        rf"(?:\b(?P<before>\w{{1,12}}) )?(?P<x>\b(?P<weekday>{WEEKDAY})\.?,? (?:the )?(?P<day>{_FIGURE_NTH}))\b"
        rf"(?! (?:of|in a row)\b|,? (?:of )?{MONTH}\b|-)",
        weekday_and_day,
    ),
    (
        needs("number", NTH),
        rf"(?<![\w.:/$#-])(?:\b(?:the ))?(?P<day>{_FIGURE_NTH})\b(?! (?:of|in a row)\b|,? (?:of )?{MONTH}\b|-)",
        listed_day,
    ),
    (
        needs("unit", ["month"]),
        rf"\b(?:the )?(?P<day>{_NTH}) of (?:(?P<which>last|this|next)|the) month\b",
        of_a_month,
    ),
    (
        needs("any", ["the"], [*ORDINAL_WORDS, *NTH]),
        rf"\b(?:(?P<lead>{one_of(BEFORE['day_of_month'])}) )?(?P<x>the (?P<day>{_NTH}))\b(?! of\b)",
        bare_day,
    ),
)


LANGUAGES = ["fr", "de", "es", "it", "pt", "nl", "pl", "sv", "ru", "tr", "da", "nb", "fi", "cs", "ro", "uk"]
LONGEST = 64  # characters of a match that dateparser gets
PARSES = 16  # matches per text that dateparser gets
_ENGLISH = frozenset(MONTHS) | frozenset(UNITS) | frozenset(NUMBERS)


def foreign_date(match: re.Match[str], ctx: Context) -> TimeInterval | None:
    """Read a full date in one of LANGUAGES; a word between two numbers that is no month is no date."""
    if match["month"] in _ENGLISH:
        return None
    import dateparser  # noqa: PLC0415  its import takes 0.2 s

    found = dateparser.parse(
        match.group()[:LONGEST],
        languages=LANGUAGES,
        settings={"RELATIVE_BASE": ctx.now, "STRICT_PARSING": True, "DATE_ORDER": "DMY", "PARSERS": ["absolute-time"]},
    )
    return None if found is None else calendar.day(datetime(found.year, found.month, found.day))


FOREIGN_RULES = (
    Rule(
        needs("year"),
        Pattern(
            r"(?<![\w.,:/$#-])(?:[12]?\d|3[01])(?:\.|º|er)? (?:de |di )?(?P<month>[^\W\d_]{3,14})\.?"
            r" (?:de |del |di )?(?:1[5-9]|20)\d\d(?![\w/-])"
        ),
        foreign_date,
        most=PARSES,
    ),
)
