"""From a text to the times it mentions: cues, rules, joins, what stands beside them, and the time zone of the caller.

The wall clock is never read: everything counts from `said_at`. Only the first LIMIT characters of a text are read, so
that the work is bounded.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from functools import cache, partial
from itertools import pairwise, zip_longest

from ..errors import InvalidQuery, shown
from ..lang import ENGLISH
from ..lang.guess import ENGLISH_OR_UNKNOWN
from ..types.values import DateOrder, TimeSpan
from . import calendar
from .calendar import TimeInterval
from .context import AHEAD, PRESENT, Context, is_beside_another_year
from .cues import RULES, Windows, cues, language_of_times
from .date_order import Conventions, Weekday
from .lexicon import (
    DAYS_FROM_TODAY,
    LIMIT,
    MONTH,
    NOT_BEFORE,
    ORDINALS,
    POSITIONS,
    SIMPLE_NUMBERS,
    UNITS,
    WEEKDAY,
    WEEKDAYS,
    Pattern,
    Respelled,
    fold,
    misspellings,
    one_of,
    respelled,
)
from .other_languages import locate_dates
from .pair_joins import joined, moved_from
from .rule_types import VAGUE, AnyRule, Candidate, Expression, Meaning, possible

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
            string, `said_at` no datetime, or `before` no sequence of pairs of both.
    """
    if not isinstance(text, str) or not isinstance(said_at, datetime):
        raise InvalidQuery(
            f"find_times was given {type(text).__name__}, {type(said_at).__name__}; expected str, datetime"
        )
    if not isinstance(before, Sequence) or not all(map(_is_message, before)):
        raise InvalidQuery(f"before is {shown(before)}; expected a sequence of pairs of a text and its time")
    conventions = Conventions(weekday, date_order, said_at.tzinfo)
    return [located.time for located in locate_times(text, said_at, conventions, before)]


def _is_message(value: object) -> bool:
    return isinstance(value, tuple) and len(value) == 2 and isinstance(value[0], str) and isinstance(value[1], datetime)


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
        if timedelta(0) <= said_at.replace(tzinfo=None) - at.replace(tzinfo=None) <= RECENT and (
            years := YEAR.findall(text[:LIMIT])
        ):
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


BESIDE = 32  # characters on each side that are looked at

_NUMBER = rf"(?:\d{{1,4}}|{one_of(SIMPLE_NUMBERS)})"
# "31 June" (no such day), "17 of May 2020 items", "hundred and ten days ago", "3 years, 2 months and 4 days ago".
_BEFORE_MONTH = Pattern(r"(?<![\w:])\d{1,4}(?:st|nd|rd|th)?(?: |-|/|, ?)?(?:of )?\Z")
_BEFORE_COUNT = Pattern(
    r"(?:\b(?:hundred|thousand|million)(?: and)?|\d) \Z|\b(?:quarters?|half|halves|thirds?) of \Z"
    rf"|\d {one_of(UNITS)}(?:, | and |, and )\Z"
)
_BEFORE_CLOCK = Pattern(rf"\b(?:{_NUMBER}|quarter|half)(?: minutes?| mins?)? (?:past|to|of|after|before|til) \Z")
# "Mon 31st at 6pm", where no Monday is near that is a 31st.
_BEFORE_TIME = Pattern(rf"\b{WEEKDAY}\.?,? (?:the )?\d\d?(?:st|nd|rd|th)?,? (?:at |from |by )?\Z")
_AFTER = Pattern(
    rf"(?: |-|/)?'?\d{{1,4}}(?!\d|[:h]\d|\.\d\d|\d* ?(?:[ap]\.?m|%|{one_of(NOT_BEFORE['day_of_month'])})\b)"
)
_OTHER_YEAR = Pattern(r"[ ]?-? ?(?:fy ?\d|bc\b|bce\b)")
_ENDS_IN_MONTH = Pattern(rf"(?:{MONTH}\.?(?: (?:the )?\d\d?(?:st|nd|rd|th)?)?|[a-z],? (?:\d{{4}}|'\d\d))\Z")
_STARTS_WITH_MONTH = Pattern(rf"{MONTH}\b")
_STARTS_WITH_COUNT = Pattern(rf"(?:{_NUMBER}|an?)(?: |-)?{one_of(UNITS)}\b")

_CORRECTED = Pattern(rf" ?[,.!?:;-]{{1,3}} ?{one_of(ENGLISH.words('times.corrections'))}\b[^.!?\n]{{0,20}}")
_LISTED = Pattern(r" ?(?:,|/|&|\+|,? and|,? or) ?")
_ITS_DAY_IS = Pattern(
    r"\b(?:\w{2,12} (?:day|night|club|practice|training|class)(?: off)?|[a-z]{2,12}ing)(?: is|'s) (?:on )?\Z"
)
_IS_THE_DAY_OF = Pattern(
    r"(?: is|'s) (?:the new|(?!my|our|the|his|her)(?:\w+ ){1,2}(?:night|day|club|practice|class|time))\b"
)
_NTH_OF = Pattern(rf"(?:the )?{one_of(POSITIONS)} \w+ (?:of|in) ")
_SUPPOSED = Pattern(
    rf"\b(?:i|we|you|he|she|they)(?:'d| would) (?!{one_of(ENGLISH.words('times.wished'))}\b)[a-z]+ (?:\w+ ){{0,2}}\Z"
)
_FULL_MONTH = Pattern(MONTH)
_SAYING = Pattern(rf"\b{one_of(ENGLISH.words('times.sayings'))}\b")
# "He said he'd call on Sunday": of the days of his saying.
_PROMISED = Pattern(
    r"\b(?:said|promised|swore|reckoned|thought|told \w+) (?:that )?\w+(?:'d| would)\b(?! (?:like|love)\b)"
)
_DAYS_OF_WORK = Pattern(rf"{WEEKDAY} (?:to|through|thru|till|until|-) {WEEKDAY}")
_LATER_YEAR = Pattern(r"(?: \w+){1,2} (?:1[5-9]|20)\d\d\b")  # "the October half term 2011"
_TEMPLATE = Pattern(rf"\b{one_of(ENGLISH.words('times.template_words'))}\W{{0,3}}(?:\w+\W{{1,3}})?\Z")
# "Third Sunday", "the last three Saturdays of June", "the year to March", "every wet Sunday".
_UNREAD_BEFORE = Pattern(
    rf"\b(?:{one_of(word for word in (*POSITIONS, *ORDINALS) if word not in ('last', 'second'))}(?: one of)?"
    rf"|{one_of((*POSITIONS, *ORDINALS))} {one_of(SIMPLE_NUMBERS)} \w{{3,10}}s (?:of|in)"
    rf"|{one_of((*POSITIONS, *ORDINALS))} (?:one|{WEEKDAY}s?|{one_of(UNITS)}) of"
    r"|(?:year|quarter|months?) (?:to|ended|ending)(?: the)?|(?:every|each(?! other)|alternate)(?: \w{2,12})?) \Z"
)
_UNREAD_AFTER = Pattern(
    r" (?:of|in) (?:the|each|every|any) (?:month|week|year|term)\b| half term\b| bank holiday\b"
    r"| (?:nineteen|eighteen|seventeen) \w+"
)


def alone(expressions: list[Expression], ctx: Context) -> Iterator[Expression]:
    """Yield the expressions that are read whole, without the days of a list or a habit, and what is taken back."""
    left_out: set[int] = set()
    sayings = [match.span() for match in _SAYING.regex.finditer(ctx.folded)] if expressions else []
    for at, (one, other) in enumerate(pairwise(expressions)):
        between = ctx.folded[one.end : other.start]
        if _CORRECTED.regex.fullmatch(between):
            left_out.add(at)
        if _is_list(one, other, between, ctx):
            left_out |= {at, at + 1}
    dated = [each for each in expressions if not _is_yearless(each)]
    for at, each in enumerate(expressions):
        if at in left_out or beside_unread(each, ctx) or _recurs(each, ctx) or _is_unsure(each, dated, ctx):
            continue
        if not any(start < each.end and each.start < end for start, end in sayings):
            yield each


def _is_yearless(each: Expression) -> bool:
    return each.meaning.yearly is not None or bool(each.meaning.choices)


def _is_unsure(each: Expression, dated: list[Expression], ctx: Context) -> bool:
    """Return whether the sentence does not tell which of the days or years with its name an expression is.

    `dated` are the expressions of the text that are not of every year.
    """
    text, start, end = ctx.folded, each.start, each.end
    if each.meaning.kind == "weekday" and (
        moved_from(start, ctx) or _PROMISED.regex.search(text, ctx.clause(start, end)[0], start)
    ):
        return True
    if _is_yearless(each) and not _RELATIVE.regex.match(text, start) and not YEAR.search(text, start, end):
        return ctx.year is None and ctx.direction(start, end) != AHEAD and is_beside_another_year(text, each, dated)
    return _DAYS_OF_WORK.regex.fullmatch(text, start, end) is not None and ctx.direction(start, end) in (0, PRESENT)


def _is_list(one: Expression, other: Expression, between: str, ctx: Context) -> bool:
    """Return whether two bare weekdays that do not follow each other are listed: "Tues and Thurs", "mon/wed/fri"."""
    if not (_LISTED.regex.fullmatch(between) and _is_bare(one, ctx) and _is_bare(other, ctx)):
        return False
    assert one.interval is not None
    assert other.interval is not None
    return "/" in between or (other.interval.start - one.interval.start).days % 7 != 1


def _is_bare(expression: Expression, ctx: Context) -> bool:
    return expression.is_a("day") and ctx.folded[expression.start : expression.end] in WEEKDAYS


def _recurs(expression: Expression, ctx: Context) -> bool:
    """Return whether a day of no certain week or month is one of a habit: "bin day is Wednesday, alternate weeks"."""
    start, end = expression.start, expression.end
    words = ctx.folded[start:end].removeprefix("the ")
    named = _ITS_DAY_IS.regex.search(ctx.folded, max(0, start - BESIDE), start) or _IS_THE_DAY_OF.regex.match(
        ctx.folded, end
    )
    if named and words in WEEKDAYS:
        return True
    recurring = words in WEEKDAYS or (expression.meaning.choices and expression.meaning.yearly is None)
    recurring = recurring or _NTH_OF.regex.match(ctx.folded, start, end) is not None
    return bool(recurring) and ctx.recurs(start, end)


def beside_unread(expression: Expression, ctx: Context) -> bool:
    """Return whether a number or unit directly before or after an expression belongs to it and was not read."""
    start, end, folded = expression.start, expression.end, ctx.folded
    first, last = max(0, start - BESIDE), min(len(folded), end + BESIDE)
    if _belongs_to_more(expression, ctx, first, last):
        return True
    if expression.meaning.kind == "clock":
        return any(unread.regex.search(folded, first, start) for unread in (_BEFORE_CLOCK, _BEFORE_TIME))
    if _STARTS_WITH_MONTH.regex.match(folded, start, end) and _BEFORE_MONTH.regex.search(folded, first, start):
        return True
    if _STARTS_WITH_COUNT.regex.match(folded, start, end) and _BEFORE_COUNT.regex.search(folded, first, start):
        return True
    if _OTHER_YEAR.regex.match(folded, end, last):
        return True
    ends_in_month = _ENDS_IN_MONTH.regex.search(folded, max(start, end - BESIDE), end)
    return ends_in_month is not None and _AFTER.regex.match(folded, end, last) is not None


def _belongs_to_more(expression: Expression, ctx: Context, first: int, last: int) -> bool:
    """Return whether words beside an expression make it another time, or none: "the year to March", "(e.g. 31/12)"."""
    start, end, folded = expression.start, expression.end, ctx.folded
    if _UNREAD_BEFORE.regex.search(folded, first, start) or _UNREAD_AFTER.regex.match(folded, end, last):
        return True
    if _TEMPLATE.regex.search(folded, first, start) and folded[start].isdigit():
        return True
    if folded[start:end] in DAYS_FROM_TODAY and _SUPPOSED.regex.search(folded, first, start):
        return True
    month = _FULL_MONTH.regex.fullmatch(folded, start, end) is not None
    return month and (folded.endswith("the ", first, start) or _LATER_YEAR.regex.match(folded, end, last) is not None)
