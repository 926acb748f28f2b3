"""From a text to the times it mentions: cues, rules, joins, and the time zone of the caller.

The wall clock is never read: everything counts from `said_at`. Only the first LIMIT characters of a text are read, so
that the work is bounded.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from functools import cache, partial
from itertools import zip_longest

from ..errors import InvalidQuery
from ..lang.guess import ENGLISH_OR_UNKNOWN
from ..types.values import DateOrder, TimeSpan
from . import calendar
from .calendar import TimeInterval
from .context import AHEAD, Context
from .cues import cues, language_of_times
from .date_order import Conventions, Weekday
from .folding import LIMIT, fold
from .fragments import MONTH, Pattern
from .joins import Expression, joined
from .other_languages import locate_dates
from .respelling import Respelled, misspellings, respelled
from .rule_types import VAGUE, AnyRule, Candidate, Meaning, possible
from .rules import RULES
from .unread import alone
from .windows import Windows

RECENT = timedelta(hours=12)  # how long ago a message was said that tells which year is spoken of
# What somebody else said or wrote, whose day of saying is another one.
QUOTED = re.compile(
    '"[^"\n]{1,200}"|\u201c[^\u201d\n]{1,200}\u201d|\u00ab[^\u00bb\n]{1,200}\u00bb|\u201e[^\u201c\n]{1,200}\u201c|\u300c[^\u300d\n]{1,200}\u300d'
)
YEAR = re.compile(r"(?<![\d.,:/#$\u20ac-])(?:1[5-9]\d\d|20\d\d)(?![\d%:/-])")
NEXT = 4  # characters between a time of day and its day: "4pm on 7/8"
_RELATIVE = Pattern(r"(?:the )?(?:last|next|this|past|previous|coming|upcoming)\b")
NAMED_MONTH = Pattern(rf"\b{MONTH}\b")
NUMERIC = Pattern(r"(?:0?[1-9]|1[0-2])/(?:1[3-9]|2\d|3[01])")


@dataclass(frozen=True, slots=True)
class Located:
    """A time and the half-open range of characters it was read from: `text[start:end] == time.text`."""

    start: int
    end: int
    time: TimeSpan


def find_times(
    text: str,
    said_at: datetime,
    weekday: Weekday = "recent",
    date_order: DateOrder | None = None,
    before: Sequence[tuple[str, datetime]] = (),
) -> list[TimeSpan]:
    """Return the times that a text mentions, one per expression, in text order.

    The conventions (what "next Friday" or "in May" mean) are listed in the docstring of `evimem.times`.

    Args:
        text: What was said, in English or a language of `evimem.lang` (French, German, Spanish, Italian, Portuguese,
            Dutch, Chinese, Japanese, Hindi, Arabic), which is guessed; in some others full dates are read. Only the
            first 16,384 characters are read.
        said_at: When it was said, naive or aware; relative expressions count from it. The wall clock is never read.
        weekday: What "last Friday" and "last week" mean: "recent" is the most recent past Friday and the seven days
            before today, "previous_week" the Friday and the whole of the ISO week before. English only.
        date_order: How 03/04/2024 is written: "dmy" is 3 April, "mdy" 4 March; with "ymd" 24/03/04 is 4 March. By
            default as another date of the text shows (25/12/2024), else as its language or the country of the
            `ZoneInfo` of `said_at` writes it; where these do not tell, such a date is left out.
        before: What was said before in the chat, each with its time, the last one last. Where a message of the same
            hours names another year ("how was 2019?"), what the text dates without a year is of that one.

    Returns:
        Half-open intervals of wall-clock time with the tzinfo of `said_at`. A vague phrase ("a while ago") has start
        and end None and granularity "vague". Dates that do not exist or lie outside of the years 1 to 9999 are left
        out.

    Raises:
        InvalidQuery: `weekday` is neither "recent" nor "previous_week", `date_order` none of the three, `text` no
            string or `said_at` no datetime.
    """
    if not isinstance(text, str) or not isinstance(said_at, datetime):
        raise InvalidQuery(
            f"find_times was given {type(text).__name__}, {type(said_at).__name__}; expected str, datetime"
        )
    conventions = Conventions(weekday, date_order, said_at.tzinfo)
    return [located.time for located in locate_times(text, said_at, conventions, before)]


def locate_times(
    text: str,
    said_at: datetime,
    conventions: Conventions = Conventions(),
    before: Sequence[tuple[str, datetime]] = (),
) -> list[Located]:
    """Return the times that a text mentions with their places in it, in text order, not overlapping.

    Intervals are those of `find_times`.
    """
    found = _located_times(text, said_at, conventions, _spoken_of(before, said_at))
    quoted = [match.span() for match in QUOTED.finditer(text[:LIMIT]) if len(match[0]) < len(text) - 2]
    return [each for each in found if not any(start < each.start < end for start, end in quoted) or _names_year(each)]


def _names_year(located: Located) -> bool:
    return YEAR.search(located.time.text) is not None


def _spoken_of(before: Sequence[tuple[str, datetime]], said_at: datetime) -> int | None:
    """Return the year that the messages of the last hours name, the latest of them; None for that of saying."""
    for text, at in reversed(before):
        if timedelta(0) <= said_at - at <= RECENT and (years := YEAR.findall(text[:LIMIT])):
            return int(years[-1]) if int(years[-1]) != said_at.year else None
    return None


def _located_times(text: str, said_at: datetime, conventions: Conventions, year: int | None) -> list[Located]:
    folded = fold(text[:LIMIT])
    language = language_of_times(text, folded)
    aware = partial(conventions.aware, said_at=said_at)
    if language not in ENGLISH_OR_UNKNOWN:
        dates = locate_dates(
            language, folded, said_at.replace(tzinfo=None), conventions.order_in(folded, language), year
        )
        return [_located(Expression(start, end, Meaning(time)), text, aware) for start, end, time in dates]
    groups, words = cues(folded)
    if not misspellings().keys().isdisjoint(words):
        spelled = respelled(text[:LIMIT])
        found = _located_times(spelled.text, said_at, conventions, year)
        return [_in_place(each, spelled, text) for each in found]
    if not groups:
        return []
    order = conventions.order_in(folded, language)
    ctx = Context(text, folded, said_at.replace(tzinfo=None), conventions.weekday, order, year)
    windows = Windows(folded)
    candidates: list[Candidate] = []
    for rule in _rules_of(groups):
        if rule.cues.may_match(words):
            candidates += rule.candidates(ctx, windows.of(rule.cues))
    expressions = joined(_longest(candidates, ctx), ctx)
    return [_located(each, text, aware) for each in alone(list(_resolved(expressions, ctx)), ctx)]


def _in_place(located: Located, spelled: Respelled, text: str) -> Located:
    """Return a time that was found in a respelled text with its place and words in the text itself."""
    start, end = spelled.place(located.start), spelled.place(located.end)
    return Located(start, end, replace(located.time, text=text[start:end]))


@cache
def _rules_of(groups: frozenset[str]) -> tuple[AnyRule, ...]:
    return tuple(rule for rule in RULES if rule.cues.group in groups)


def _longest(candidates: Iterable[Candidate], ctx: Context) -> list[Expression]:
    """Keep, of overlapping candidates, the longest with a meaning; of equally long ones the one of the first rule."""
    taken, kept = bytearray(len(ctx.folded)), []
    for each in sorted(candidates, key=lambda each: each.start - each.end):
        if any(taken[each.start : each.end]):
            continue
        meaning = possible(each.read, ctx)
        if meaning is not None:
            taken[each.start : each.end] = b"\1" * (each.end - each.start)
            meaning = meaning if isinstance(meaning, Meaning) else Meaning(meaning)
            kept.append(Expression(each.start, each.end, meaning))
    return sorted(kept, key=lambda each: each.start)


def _resolved(expressions: list[Expression], ctx: Context) -> Iterator[Expression]:
    """Resolve what counts from the expression before it; drop weak and incomplete expressions.

    So does "three days later", and a time of day from the day before it ("Party on Friday, doors at 8 pm").
    """
    base: TimeInterval | None = None
    day: Expression | None = None
    month: Expression | None = None
    numeric: Expression | None = None  # a date beside which "11/24" is one too
    unread = -1  # where a day began that was not read: "sat" in "rugby sat, kick-off 2.15pm", 7/8/2024
    for each in _without_unread_days(expressions):
        meaning = _in_year(each, month, ctx) if ctx.year else each.meaning
        if meaning.kind == "clock" and unread >= ctx.sentence(each.start, each.end)[0]:
            continue
        if meaning.later is not None and (base is not None or not meaning.weak):
            meaning = VAGUE if base is None else Meaning(possible(meaning.later, base))
        if meaning.kind == "clock" and meaning.clock and day and day.end > ctx.sentence(each.start, each.end)[0]:
            meaning = Meaning(day.interval and meaning.interval and meaning.clock.on(day.interval.start), "clock")
        if meaning.choices and meaning.yearly is None and month and month.end > ctx.sentence(each.start, each.end)[0]:
            meaning = replace(meaning, interval=_in_month(each, month))
        if meaning.weak and numeric is not None and _is_numeric(each, ctx):
            beside = numeric.end > ctx.sentence(each.start, each.end)[0]
            meaning = replace(meaning, weak=not beside)
        if meaning.weak or (meaning.interval is None and meaning.kind != "vague"):
            unread = each.start if (meaning.weak and meaning.kind == "weekday") or each.is_unread else unread
            base = None if each.is_unread and not meaning.weak else base
            continue
        base = meaning.interval or base
        numeric = each if _is_numeric(each, ctx) else numeric
        if NAMED_MONTH.regex.search(ctx.folded, each.start, each.end):
            month = Expression(each.start, each.end, meaning)
        if each.is_a("day") or meaning.kind == "part":
            day, unread = each, -1
        yield Expression(each.start, each.end, meaning)


def _in_year(each: Expression, month: Expression | None, ctx: Context) -> Meaning:
    """Return the meaning in the year that is spoken of, and of a bare day of the month in the month before it."""
    meaning, year = each.meaning, ctx.year
    if year is None or ctx.direction(each.start, each.end) == AHEAD or _RELATIVE.regex.match(ctx.folded, each.start):
        return meaning
    if meaning.yearly is not None and meaning.interval is not None:
        return replace(meaning, interval=possible(meaning.yearly, year))
    if meaning.choices and meaning.yearly is None:
        named = month.interval if month else None
        day = possible(_numbered, named.start, meaning.choices[0].start.day) if named else None
        return replace(meaning, choices=(), interval=day)
    return meaning


def _numbered(month: datetime, number: int) -> TimeInterval:
    return calendar.day(month.replace(day=number))


def _without_unread_days(expressions: list[Expression]) -> Iterator[Expression]:
    """Leave out the time of a day that was not read and stands right after it: "4pm on 7/8/2024"."""
    for each, following in zip_longest(expressions, expressions[1:]):
        near = following is not None and following.is_unread and following.start - each.end <= NEXT
        if not (near and each.meaning.kind == "clock"):
            yield each


def _is_numeric(expression: Expression, ctx: Context) -> bool:
    """Return whether an expression is a date in figures, as "11/24", whose day shows that it is hardly a fraction."""
    return NUMERIC.regex.fullmatch(ctx.folded, expression.start, expression.end) is not None


def _in_month(day: Expression, month: Expression) -> TimeInterval | None:
    """Return the day of "early June, around the 5th" in the month that was named before it in its sentence."""
    named = month.interval
    found = [each for each in day.meaning.choices if named and each.start.replace(day=1) == named.start.replace(day=1)]
    return found[0] if found else day.interval


def _located(expression: Expression, text: str, aware: Callable[[datetime], datetime]) -> Located:
    start, end, interval = expression.start, expression.end, expression.interval
    words = text[start:end]
    if interval is None:
        return Located(start, end, TimeSpan(None, None, "vague", words))
    span = TimeSpan(aware(interval.start), aware(interval.end), interval.granularity, words)
    return Located(start, end, span)
