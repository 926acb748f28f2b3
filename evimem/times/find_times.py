"""From a text to the times it mentions: forms, joins, what stands beside them, and the time zone of the caller.

The wall clock is never read: everything counts from `said_at`. Only the first LIMIT characters of a text are read, so
that the work is bounded.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from functools import cache, partial
from itertools import islice, zip_longest

from ..errors import InvalidQuery, shown
from ..lang.guess import ENGLISH_OR_UNKNOWN, OTHER, language_of
from ..types.values import DateOrder, TimeSpan
from . import calendar
from .beside import YEAR, alone
from .calendar import WEEK, TimeInterval
from .context import AHEAD, Context
from .date_order import FIGURES, Conventions, Weekday, date_in_figures
from .forms import DIGIT, Form, grammar
from .joins import day_and_clock, joined
from .lexicon import EN, LIMIT, Respelled, fold, misspellings, respelled
from .readers import MOST, NO_TIMES_ALONE, READERS, VAGUE, Expression, Match, Meaning, foreign, possible, span_of

RECENT = timedelta(hours=12)  # how long ago a message was said that tells which year is spoken of
# What somebody else said or wrote, whose day of saying is another one.
QUOTED = re.compile(
    '"[^"\n]{1,200}"|\u201c[^\u201d\n]{1,200}\u201d|\u00ab[^\u00bb\n]{1,200}\u00bb|\u201e[^\u201c\n]{1,200}\u201c|\u300c[^\u300d\n]{1,200}\u300d'
)
NEXT = 4  # characters between a time of day and its day: "4pm on 7/8"
_IN_FIGURES = re.compile(r"[12]\d:[0-5]\d")
_NUMERIC = re.compile(r"(?:0?[1-9]|1[0-2])/(?:1[3-9]|2\d|3[01])")


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


def mentions_time(text: str) -> bool:
    """Return whether a text has a word or figure that a time expression needs.

    Without one `find_times` finds nothing. With one it may still find nothing. Only the first LIMIT (16,384)
    characters are read.
    """
    folded = fold(text[:LIMIT])
    language = _language_of_times(text, folded)
    if language not in ENGLISH_OR_UNKNOWN:
        return may_mention_dates(language, folded)
    words = words_of(folded)
    return has_cue(folded, words) or not misspellings().keys().isdisjoint(words)


def may_mention_dates(language: str, folded: str) -> bool:
    """Return whether a folded text has a form that can be a time; without one, none is found in it."""
    if language == OTHER:
        return (
            next(_full_dates(Context(folded, folded, datetime.min, grammar("en"), date_order="dmy")), None) is not None
        )
    return _surely_a_time(language).search(folded) is not None


@cache
def _surely_a_time(language: str) -> re.Pattern[str]:
    return grammar(language).any_form(sorted(READERS.keys() - NO_TIMES_ALONE))


def _language_of_times(text: str, folded: str) -> str:
    """Return the language whose dates are read in a text: that of the text, but English where it has "2moro"."""
    return "en" if _CHAT_WORDS.search(folded) else language_of(text)


# ---- English words without which a text has no time: a cheap check that settles most turns

_CHAT_WORDS = re.compile(r"\b2(?:mo|mr|ni)")
_FIGURES_OF_TIMES = re.compile(
    r"(?:1[5-9]|2[01])\d\d|\d\d?[/.-]\d|\d(?:st|nd|rd|th|h\b)|[qh][1-4]|'\d|\dh|\d0'?s|\b2(?:mo|mr|ni)"
    r"|\d[ \n]{0,3}[ap]\.?m|\d[:h]\d\d"
)
_WORD = re.compile("[a-z]+")
_ANY_DIGIT = re.compile(r"\d")


@cache
def _cues() -> tuple[frozenset[str], dict[str, list[frozenset[str]]]]:
    """Return the words that are a cue, and phrases by the longest of their words: "new" alone stands in many texts."""
    names = (EN.weekdays.words, EN.months.words, EN.seasons.words, EN.units.words, EN.parts.words, EN.day_parts.words)
    words = {word for some in names for word in some if " " not in word}
    words |= {word for word in EN.days.words if " " not in word}
    words |= {*EN.listed("cues"), *EN.table("decades"), *EN.table("named_hours")}
    words |= {f"{name}s" for name in (*EN.weekdays.words, *EN.seasons.words)}
    phrases: dict[str, list[frozenset[str]]] = {}
    for name in (*EN.holidays.words, *EN.table("ends")):
        parts = frozenset(_WORD.findall(name))
        phrases.setdefault(max(sorted(parts), key=len), []).append(parts)
    return frozenset(words) - {"day"}, phrases  # "day" alone stands in too many texts that name no time


def words_of(folded: str) -> frozenset[str]:
    """Return the words of a folded text; DIGIT stands for its digits."""
    words = frozenset(_WORD.findall(folded))
    return words | {DIGIT} if _ANY_DIGIT.search(folded) else words


def has_cue(folded: str, words: frozenset[str]) -> bool:
    """Return whether a folded text has a word or figures that a time needs."""
    cues, phrases = _cues()
    if not cues.isdisjoint(words) or any(parts <= words for word in phrases.keys() & words for parts in phrases[word]):
        return True
    if DIGIT in words and _FIGURES_OF_TIMES.search(folded):
        return True
    return not words.isdisjoint(EN.ordinals.words) and grammar("en").pattern("day_in_words").search(folded) is not None


# ---- From a text to expressions


def _located_times(text: str, said_at: datetime, conventions: Conventions, year: int | None) -> list[Located]:
    folded = fold(text[:LIMIT])
    language = _language_of_times(text, folded)
    aware = partial(conventions.aware, said_at=said_at)
    now = said_at.replace(tzinfo=None)
    if language not in ENGLISH_OR_UNKNOWN:
        found = locate_dates(language, folded, now, conventions.order_in(folded, language), year)
        return [_located(Expression(start, end, Meaning(time)), text, aware) for start, end, time in found]
    words = words_of(folded)
    if not misspellings().keys().isdisjoint(words):
        spelled = respelled(text[:LIMIT])
        return [_in_place(each, spelled, text) for each in _located_times(spelled.text, said_at, conventions, year)]
    if not has_cue(folded, words):
        return []
    order = conventions.order_in(folded, language)
    ctx = Context(text, folded, now, grammar("en"), conventions.weekday, order, year)
    expressions = joined(_longest(ctx, words), ctx)
    return [_located(each, text, aware) for each in alone(list(_resolved(expressions, ctx)), ctx)]


def locate_dates(
    language: str, folded: str, now: datetime, order: DateOrder | None, year: int | None = None
) -> Iterator[tuple[int, int, TimeInterval]]:
    """Yield the times that a folded text mentions, with their half-open character ranges, in text order.

    `language` is a code of LANGUAGES but "en", or OTHER: then only full dates are read. `now` is the naive wall-clock
    time of saying; `order` is that of dates in figures, `year` another one than that of saying, of which the chat is
    speaking: dates without a year are of it.
    """
    ctx = Context(folded, folded, now, grammar("en" if language == OTHER else language), "recent", order, year)
    if language == OTHER:
        yield from _full_dates(ctx)
        return
    expressions = [_in_spoken_year(each, ctx) for each in _longest(ctx, None)]
    expressions = joined(list(_beside_named_month(expressions, ctx)), ctx)
    expressions = list(_in_named_month(expressions, ctx)) if year else expressions
    known = [each for each in expressions if each.interval or each.meaning.side or each.meaning.weekday is not None]
    found = [each for each in alone(known, ctx) if each.interval is not None]
    for each in sorted((*found, *_of_days_before(expressions, known, found, ctx)), key=lambda each: each.start):
        if each.interval is not None:
            yield _since(each, each.interval, ctx)


def _of_days_before(
    expressions: list[Expression], known: list[Expression], found: list[Expression], ctx: Context
) -> Iterator[Expression]:
    """Yield the times of day that are of the day before them in their sentence: "hoy salgo a las tres".

    Figures without a word before them may be how long something takes, and a day that is denied has no times.
    """
    for each in expressions:
        clock, words = each.meaning.clock, ctx.folded[each.start : each.end]
        day = next((one for one in reversed(known) if one.end <= each.start), None)
        if (
            clock is None
            or not clock.sure
            or each.interval
            or day not in found
            or (words[0].isdigit() and ":" not in words)
        ):
            continue
        if day is not None and ctx.same_sentence(day.start, each.start):
            on = day_and_clock(day, each)
            if on is not None and on.interval is not None:
                yield Expression(each.start, each.end, on)


def _longest(ctx: Context, words: frozenset[str] | None) -> list[Expression]:
    """Return, of the matches of all forms, the longest that have a meaning; of equally long ones the one of the first.

    Of a text whose words are given only the forms are tried that these allow.
    """
    matches: list[tuple[int, int, Match, Form]] = []
    for form in _forms_for(ctx.grammar.words.language.code, words):
        if words is None:
            matches += [(*span_of(match), match, form) for match in islice(form.matches(ctx.folded), _MOST)]
        elif not form.is_masked or ctx.amounts:
            text = ctx.read_by(form)
            found = (match for ends in ctx.worth_looking(form) for match in form.matches(text, *ends))
            matches += [(*span_of(match), match, form) for match in islice(found, MOST.get(form.reader))]
    taken, kept = bytearray(len(ctx.folded)), []
    for start, end, match, form in sorted(matches, key=lambda found: found[0] - found[1]):
        if any(taken[start:end]) and form.reader != "amount":
            continue
        meaning = possible(READERS[form.reader], match, ctx)
        if meaning is not None:
            if form.reader != "amount":  # which counts from what is beside it, whatever else it is a part of
                taken[start:end] = b"\1" * (end - start)
            kept.append(Expression(start, end, meaning if isinstance(meaning, Meaning) else Meaning(meaning)))
    return sorted(kept, key=lambda each: each.start)


_MOST = 200  # matches of a form that are read in one text of a language whose forms tell no words that they need


def _forms_for(code: str, words: frozenset[str] | None) -> list[Form]:
    """Return the forms of a language, in their order, that a text with these words can match."""
    forms, by_word = _forms(code), _forms_by_word(code)
    if words is None:
        return list(forms)
    numbers = {number for word in by_word.keys() & words for number in by_word[word]}
    return [forms[number] for number in sorted(numbers) if forms[number].may_match(words)]


@cache
def _forms_by_word(code: str) -> dict[str, list[int]]:
    """Return the places of the forms by the words of the list that each of them needs most."""
    found: dict[str, list[int]] = {}
    for number, form in enumerate(_forms(code)):
        for word in min(form.needs, key=lambda some: (DIGIT in some, len(some)), default=()):
            found.setdefault(word, []).append(number)
    return found


@cache
def _forms(code: str) -> tuple[Form, ...]:
    """Return the forms of a language in the order of their readers."""
    order = list(READERS)
    return tuple(sorted(grammar(code).forms, key=lambda form: order.index(form.reader)))


# ---- What counts from the expression before it, or is of the year that is spoken of


@dataclass
class _Story:
    """What the expressions before one tell it: what it may count from, its day and month, and how dates are written."""

    base: TimeInterval | None = None
    day: Expression | None = None
    month: Expression | None = None
    numeric: Expression | None = None  # a date beside which "11/24" is one too
    unread: int = -1  # where a day began that was not read: "sat" in "rugby sat, kick-off 2.15pm", 7/8/2024

    def meaning_of(self, each: Expression, ctx: Context) -> Meaning:
        """Return what an expression means after these: "three days later", "Party on Friday, doors at 8 pm"."""
        first, month = ctx.sentence(each.start, each.end)[0], self.month
        meaning = _in_spoken_year(each, ctx).meaning
        if ctx.year and meaning.number and ctx.direction(each.start, each.end) != AHEAD:
            meaning = _numbered(meaning, month.interval if month else None)
        if meaning.later is not None and (self.base is not None or not meaning.weak):
            meaning = VAGUE if self.base is None else Meaning(possible(meaning.later, self.base))
        if meaning.kind == "clock" and meaning.clock and self.day and self.day.end > first:
            day = self.day.interval
            told = meaning.interval or _IN_FIGURES.match(ctx.folded, each.start)  # "tonight, my place from 19:00"
            meaning = Meaning(meaning.clock.on(day.start) if day and told else None, "clock")
        if meaning.number and month and month.end > first:
            meaning = replace(meaning, interval=_in_month(meaning, month.interval))
        if meaning.weak and self.numeric is not None and _is_numeric(each, ctx):
            meaning = replace(meaning, weak=self.numeric.end <= first)
        return meaning

    def leave_out(self, each: Expression, meaning: Meaning) -> None:
        named = meaning.weak and meaning.kind == "weekday"
        self.unread = each.start if named or each.is_unread else self.unread
        self.base = None if each.is_unread and not meaning.weak else self.base

    def go_on(self, each: Expression, ctx: Context) -> None:
        self.base = each.interval or self.base
        self.numeric = each if _is_numeric(each, ctx) else self.numeric
        if ctx.grammar.pattern("any_month").search(ctx.folded, each.start, each.end):
            self.month = each
        if each.is_a("day") or each.meaning.kind == "part":
            self.day, self.unread = each, -1


def _resolved(expressions: list[Expression], ctx: Context) -> Iterator[Expression]:
    """Resolve what counts from the expressions before it; drop weak and incomplete expressions."""
    story = _Story()
    for each in _without_unread_days(expressions):
        meaning = story.meaning_of(each, ctx)
        if each.meaning.kind == "clock" and story.unread >= ctx.sentence(each.start, each.end)[0]:
            continue
        if meaning.weak or (meaning.interval is None and meaning.kind != "vague"):
            story.leave_out(each, meaning)
            continue
        found = Expression(each.start, each.end, meaning)
        story.go_on(found, ctx)
        yield found


def _is_numeric(expression: Expression, ctx: Context) -> bool:
    """Return whether an expression is a date in figures, as "11/24", whose day shows that it is hardly a fraction."""
    return _NUMERIC.fullmatch(ctx.folded, expression.start, expression.end) is not None


def _in_spoken_year(each: Expression, ctx: Context) -> Expression:
    """Move what names no year into the one that is spoken of, unless its clause looks ahead."""
    meaning = each.meaning
    if ctx.year is None or meaning.yearly is None or meaning.interval is None or ctx.at("named_relative", each.start):
        return each
    if ctx.direction(each.start, each.end) > (0 if not ctx.grammar.has_patterns else AHEAD - 1):
        return each
    return replace(each, meaning=replace(meaning, interval=possible(meaning.yearly, ctx.year), choices=()))


def _numbered(meaning: Meaning, month: TimeInterval | None) -> Meaning:
    """Return a bare day of the month in the month that is named before it; without one it is of no certain month."""
    day = possible(month.start.replace, day=meaning.number) if month else None
    return replace(meaning, choices=(), number=0, interval=calendar.day(day) if day else None)


def _in_named_month(expressions: list[Expression], _: Context) -> Iterator[Expression]:
    month: TimeInterval | None = None
    for each in expressions:
        if each.meaning.yearly is not None and each.interval is not None:
            month = calendar.month(each.interval.start.year, each.interval.start.month)
        yield replace(each, meaning=_numbered(each.meaning, month)) if each.meaning.number else each


def _beside_named_month(expressions: list[Expression], ctx: Context) -> Iterator[Expression]:
    """Move a bare day of the month into the month of a date in its sentence: "no era el 4, era el 5 de marzo"."""
    dated = [each for each in expressions if each.meaning.yearly and each.day and not each.meaning.number]
    for each in expressions:
        here = [one for one in dated if ctx.same_sentence(one.start, each.start)]
        month = (
            min(here, key=lambda one: abs(one.start - each.start)).interval if here and each.meaning.number else None
        )
        day = possible(month.start.replace, day=each.meaning.number) if month and each.interval else None
        yield each if day is None else replace(each, meaning=replace(each.meaning, interval=calendar.day(day)))


def _in_month(numbered: Meaning, month: TimeInterval | None) -> TimeInterval | None:
    """Return the day of "early June, around the 5th" in the month that was named before it in its sentence."""
    day = possible(month.start.replace, day=numbered.number) if month else None
    return calendar.day(day) if day else numbered.interval


def _without_unread_days(expressions: list[Expression]) -> Iterator[Expression]:
    """Leave out the time of a day that was not read and stands right after it: "4pm on 7/8/2024"."""
    for each, following in zip_longest(expressions, expressions[1:]):
        near = following is not None and following.is_unread and following.start - each.end <= NEXT
        if not (near and each.meaning.kind == "clock"):
            yield each


def _in_place(located: Located, spelled: Respelled, text: str) -> Located:
    """Return a time that was found in a respelled text with its place and words in the text itself."""
    start, end = spelled.place(located.start), spelled.place(located.end)
    return Located(start, end, replace(located.time, text=text[start:end]))


def _located(expression: Expression, text: str, aware: Callable[[datetime], datetime]) -> Located:
    start, end, interval = expression.start, expression.end, expression.interval
    words = text[start:end]
    if interval is None:
        return Located(start, end, TimeSpan(None, None, "vague", words))
    return Located(start, end, TimeSpan(aware(interval.start), aware(interval.end), interval.granularity, words))


# ---- "Since", and full dates of languages without tables

_NEAR = 24  # characters before a time that are looked at for "since"
_ANY_FIGURES = re.compile(
    rf"(?<!\w){FIGURES}|(?<![\w.:/-])(?P<year>[12]\d{{3}})(?:[-/.]|\. |\ub144 ?)(?P<month>\d\d?)(?:[-/.]|\. |\uc6d4 ?)"
    "(?P<day>\\d\\d?)(?![\\d/-]|\\.\\d)\uc77c?"
)


def _since(each: Expression, interval: TimeInterval, ctx: Context) -> tuple[int, int, TimeInterval]:
    """Return an expression, from its beginning until now where the text says "since"."""
    start, end = each.start, each.end
    if "since_follows" in ctx.words.writing:
        since = ctx.grammar.since_after(ctx.folded, end)
        end = since.end() if since else end
    else:
        since = ctx.grammar.since.search(ctx.folded, max(0, start - _NEAR), start)
        start = since.start() if since else start
    if since and each.meaning.weekday is not None and interval.start > ctx.now and ctx.direction(start, end) != AHEAD:
        interval = possible(_a_week_before, interval) or interval  # "seit Montag" is the last one, whatever its verb
    lasting = calendar.span(interval.start, ctx.now) if since else None
    return (start, end, lasting) if lasting is not None else (each.start, each.end, interval)


def _a_week_before(day: TimeInterval) -> TimeInterval:
    return calendar.day(day.start - WEEK)


def _full_dates(ctx: Context) -> Iterator[tuple[int, int, TimeInterval]]:
    forms = ctx.grammar.form("foreign").pattern.finditer(ctx.folded)
    found: list[tuple[Match, Callable[[Match, Context], TimeInterval | None]]]
    found = [(match, foreign) for match in islice(forms, MOST["foreign"])]
    found += [(match, _in_figures) for match in islice(_ANY_FIGURES.finditer(ctx.folded), _MOST)]
    for match, read in sorted(found, key=lambda each: each[0].start()):
        date = possible(read, match, ctx)
        if date is not None:
            yield *match.span(), date


def _in_figures(match: Match, ctx: Context) -> TimeInterval | None:
    if match["year"]:
        return calendar.day(datetime(int(match["year"]), int(match["month"]), int(match["day"])))
    found = date_in_figures(match[0], ctx.date_order)
    return None if found is None else calendar.day(found)
