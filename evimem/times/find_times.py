"""From a text to the times it mentions: forms, joins, their surroundings, and the time zone of the caller.

The wall clock is never read: everything counts from `said_at`. Only the first LIMIT characters of a text are read, so
that the work is bounded.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from functools import lru_cache
from itertools import islice

from ..errors import InvalidQuery, shown
from ..lang.guess import OTHER, guess_language
from ..types.values import DateOrder, TimeSpan
from . import calendar
from .beside import YEAR, join_expressions, keep_standalone_expressions
from .calendar import WEEK, TimeInterval
from .context import AHEAD, BACK, PERHAPS_BACK, UNSPOKEN, Context, Spoken
from .date_order import FIGURES, Conventions, Weekday, date_in_figures
from .forms import Form, load_grammar
from .lexicon import IDEOGRAPHS, MAX_TEXT_CHARACTERS, DateWords, any_of, fold
from .readers import READERS, Expression, Match, Meaning, possible, span_of

NEAR_CHARACTERS = 80  # characters between a time and the words that tell its day or month
# Quotations of another speaker, whose day of saying is another one.
QUOTED = re.compile(
    '"[^"\n]{1,200}"|\u201c[^\u201d\n]{1,200}\u201d|\u00ab[^\u00bb\n]{1,200}\u00bb|\u201e[^\u201c\n]{1,200}\u201c|\u300c[^\u300d\n]{1,200}\u300d'
    "|\u300e[^\u300f\n]{1,200}\u300f|\u300a[^\u300b\n]{1,200}\u300b|\u3008[^\u3009\n]{1,200}\u3009|\u2018[^\u2018\n]{1,200}?\u2019(?!\\w)"
    "|(?<!\\w)'(?!(?i:cause|cos|cuz|til|till|em|twas|tis|bout|round|n)\\b)(?=[^\\W\\d])(?:[^'\n]|(?<=\\w)'(?=\\w)){1,200}'(?!\\w)"
)


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

    The conventions (of "next Friday" or "in May") are listed in the docstring of `evimem.times`.

    Args:
        text: The text, in English or a language of `evimem.lang` (French, German, Spanish, Italian, Portuguese,
            Dutch, Russian, Chinese, Japanese, Hindi, Arabic), which is guessed; in some others full dates are read.
            Only the first 16,384 characters are read.
        said_at: When it was said, naive or aware; relative expressions count from it. The wall clock is never read.
        weekday: The reading of "last Friday" and "last week": "recent" is the most recent past Friday and the seven
            days before today, "previous_week" the Friday and the whole of the ISO week before. English only.
        date_order: How 03/04/2024 is written: "dmy" is 3 April, "mdy" 4 March; with "ymd" 24/03/04 is 4 March. By
            default as another date of the text shows (25/12/2024), else as its language or the country of the
            `ZoneInfo` of `said_at` writes it; where these do not tell, such a date is left out.
        before: Earlier messages of the chat, each with its time, the last one last. Where a message of the same
            hours names another year ("how was 2019?"), dates of the text without a year are of that one. A weekday
            without a verb that answers a question looks where the question does ("When did it break?"). "The day
            after", "that Saturday" count from the one time that the last dated message tells.

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
    folded, now = fold(text[:MAX_TEXT_CHARACTERS]), said_at.replace(tzinfo=None)
    language, spoken = _language_of_times(text), _read_times_mentioned_before(before, now)
    found = []
    for start, end, time in locate_dates(language, text, folded, now, conventions, spoken):
        words = text[start:end]
        if time is None:
            found.append(Located(start, end, TimeSpan(None, None, "vague", words)))
        else:
            first, last = conventions.aware(time.start, said_at), conventions.aware(time.end, said_at)
            found.append(Located(start, end, TimeSpan(first, last, time.granularity, words)))
    quoted = [match.span() for match in QUOTED.finditer(text[:MAX_TEXT_CHARACTERS]) if len(match[0]) < len(text) - 2]
    return [
        each
        for each in found
        if YEAR.search(each.time.text) or not any(start < each.start < end for start, end in quoted)
    ]


def _read_times_mentioned_before(before: Sequence[tuple[str, datetime]], now: datetime) -> Spoken:
    """Return the times that messages of the last hours mentioned: last year, look of a question, last time."""
    said = [(text[-MAX_TEXT_CHARACTERS:], at.replace(tzinfo=None)) for text, at in before]
    # A message of the last twelve hours tells which year is spoken of.
    said = [(text, at) for text, at in said if timedelta(0) <= now - at <= timedelta(hours=12)]
    if not said:
        return UNSPOKEN
    named = next((int(years[-1]) for text, _ in reversed(said) if (years := YEAR.findall(text))), now.year)
    asked = _direction_of_question(*said[-1]) if said[-1][0] == before[-1][0][-MAX_TEXT_CHARACTERS:] else 0
    # The time spoken of is looked for in the last 8 messages.
    return Spoken(named if named != now.year else None, asked, _last_time_told(said[-8:]))


def _last_time_told(said: list[tuple[str, datetime]]) -> TimeInterval | None:
    """Return the time that the last message tells which tells one; None where it tells several."""
    for text, at in reversed(said):
        folded = fold(text)
        read = locate_dates(_language_of_times(text), text, folded, at)
        if times := {time for _, _, time in read if time}:
            return times.pop() if len(times) == 1 else None
    return None


def _direction_of_question(text: str, at: datetime) -> int:
    """Return BACK where a message is a question that looks back, else 0."""
    question = text.strip().rpartition("\n")[2]
    folded = fold(question)
    language = _language_of_times(question)
    if language == OTHER or not question.endswith(("?", "\uff1f", "\u061f")):
        return 0
    ctx = Context(question, folded, at, load_grammar(language))
    return BACK if ctx.direction(len(question) - 1, len(question) - 1) < 0 else 0


def mentions_time(text: str, whole: str = "") -> bool:
    """Return whether a text has words or figures of a form that is a time, in the language of `whole`.

    `whole` is the text that it is a part of. Without them `find_times` finds nothing; with them it may still find
    nothing. Only the first LIMIT (16,384) characters are read.
    """
    folded = fold(text[:MAX_TEXT_CHARACTERS])
    return may_mention_dates(_language_of_times(whole or text), folded)


def may_mention_dates(language: str, folded: str) -> bool:
    """Return whether a folded text has a form that can be a time; without one, none is found in it."""
    if language == OTHER:
        return any(
            True for _ in _find_full_dates(Context(folded, folded, datetime.min, load_grammar("en"), date_order="dmy"))
        )
    forms = load_grammar(language).time_forms_possible_in(folded)
    return any(form.pattern.search(folded) for form in forms) or DATE_IN_WORDS.search(folded) is not None


def _language_of_times(text: str) -> str:
    """Return the language whose dates are read in a text, English where nothing shows one."""
    return guess_language(text) or "en"


def _candidate_forms(language: str, folded: str) -> tuple[Form, ...]:
    """Return the forms that a folded text may have; none where it has none that is a time by itself."""
    forms = load_grammar(language).forms_possible_in(folded)
    return forms if any(form.is_a_time for form in forms) else ()


# ---- From a text to expressions


def locate_dates(
    language: str,
    text: str,
    folded: str,
    now: datetime,
    conventions: Conventions = Conventions(),
    spoken: Spoken = UNSPOKEN,
) -> Iterator[tuple[int, int, TimeInterval | None]]:
    """Yield the times that a text mentions, None for a vague one, with their ranges of characters, in text order.

    `language` is a code of LANGUAGES, or OTHER: then only full dates are read. `folded` is the text as `fold` returns
    it, `now` the naive wall-clock time of saying; dates without a year are of the one that the chat spoke of.
    """
    forms = () if language == OTHER else _candidate_forms(language, folded)
    if not forms and language != OTHER and not DATE_IN_WORDS.search(folded):
        return
    order = conventions.order_in(folded, language)
    words = load_grammar("en" if language == OTHER else language)
    ctx = Context(text, folded, now, words, conventions.weekday, order, spoken)
    if language == OTHER:
        yield from _find_full_dates(ctx)
        return
    expressions = [
        _move_to_spoken_year(each, ctx)
        for each in _longest_matches(forms, ctx)
        if not _is_part_of_counted_week(each, ctx)
    ]
    told = (each.day for each in expressions if each.meaning.yearly is None and each.meaning.kind == "date")
    whole = {(day.month, day.day): day for day in told if day}
    expressions = [
        _move_to_year_of_clause(each, expressions, whole, ctx) for each in _move_days_to_named_month(expressions, ctx)
    ]
    expressions = [*_move_weekdays_to_dates(join_expressions(expressions, ctx), ctx)]
    expressions = [*_resolve_spoken(expressions, spoken.time)]
    known = [each for each in expressions if _has_certain_date(each)]
    days = [each for each in expressions if each.meaning.kind != "clock" and not each.meaning.part]
    known = [on for each in known if (on := _move_clock_to_day(each, days, ctx)) is not None]
    known += _add_dates_of_other_languages(expressions, ctx)
    for each in keep_standalone_expressions(sorted(known, key=lambda each: each.start), ctx):
        if each.interval is not None:
            read = _extend_since_until_now(each, each.interval, ctx)
            yield from () if read is None else (read,)
        elif each.meaning.kind == "vague":
            yield each.start, each.end, None


def _has_certain_date(each: Expression) -> bool:
    meaning = each.meaning
    named = meaning.weekday is not None or meaning.side is not None or meaning.clock is not None
    return meaning.interval is not None or meaning.kind == "vague" or named


def _move_clock_to_day(clock: Expression, days: list[Expression], ctx: Context) -> Expression | None:
    """Return a time of day as it is where no day is spoken of near it, else on the one day of its sentence."""
    if clock.meaning.kind != "clock" and not clock.meaning.part:
        return clock
    near = [day for day in days if max(day.start - clock.end, clock.start - day.end) <= NEAR_CHARACTERS]
    if not near:
        return clock if clock.interval else None
    of_sentence = [day for day in near if ctx.are_in_one_sentence(*sorted((day.start, clock.start)))]
    time = clock.meaning.clock
    if time is None or not time.sure or len(near) > 1 or not of_sentence or near[0].day is None:
        return None
    return replace(clock, meaning=Meaning(time.on(near[0].day), "clock"))


def _resolve_spoken(expressions: list[Expression], spoken: TimeInterval | None) -> Iterator[Expression]:
    """Yield the expressions; the time that some count from is the one before them, else the one `spoken` of."""
    for each in expressions:
        meaning = each.meaning
        if meaning.then and spoken:
            interval = possible(meaning.then, spoken)
            each = replace(each, meaning=replace(meaning, interval=interval))  # noqa: PLW2901
        yield each
        spoken = each.interval or spoken


_MAX_MATCHES = 200  # matches of a form that are read in one text


def _longest_matches(forms: tuple[Form, ...], ctx: Context) -> list[Expression]:
    """Return, of the matches of the forms, the longest with a meaning; of equally long ones that of the first reader.

    Forms that are no time by themselves are tried beside one that is.
    """
    matches = list(_find_matches((form for form in forms if form.is_a_time), ctx))
    if matches:
        matches += _find_matches((form for form in forms if not form.is_a_time), ctx)
    taken, kept = bytearray(len(ctx.folded)), []
    for _, _, (start, end), match, form in sorted(matches, key=lambda found: found[:2]):
        if any(taken[start:end]):
            continue
        meaning = possible(READERS[form.reader], match, ctx)
        if meaning is not None:
            taken[start:end] = b"\1" * (end - start)
            kept.append(Expression(start, end, meaning if isinstance(meaning, Meaning) else Meaning(meaning)))
    return sorted(kept, key=lambda each: each.start)


def _is_part_of_counted_week(each: Expression, ctx: Context) -> bool:
    """Return whether an expression is a part of a week counted within a year: "segunda semana de 2021".

    Such a week is read whole or not at all: neither its ordinal, which may be a weekday's name, nor its year alone.
    """
    is_day, is_year = each.meaning.weekday is not None or each.is_a("day"), each.is_a("year")
    if not (is_day or is_year):
        return False
    counted_before, week_after, counted_after = _counted_week_patterns(ctx.words)
    if is_day:
        return ctx.words.has_spaces and week_after.match(ctx.folded, each.end) is not None
    before = ctx.folded[max(0, each.start - 32) : each.start]
    return counted_before.search(before) is not None or counted_after.match(ctx.folded, each.end) is not None


@lru_cache
def _counted_week_patterns(words: DateWords) -> tuple[re.Pattern[str], re.Pattern[str], re.Pattern[str]]:
    """Return the patterns of a counted week before a year, of a week after its ordinal, of one counted after a year."""
    week = any_of(word for word, name in words.units.values.items() if name == "week")
    counted = rf"(?:{words.ordinals.source}|\d{{1,2}}\.?[^\W\d]{{0,3}}|[{IDEOGRAPHS[1:-1]}]+)"
    glue, blank = r"[^\d.,;!?]{0,12}", r"\s?"
    return (
        re.compile(rf"(?:{counted}{blank}{week}|{week}{blank}{counted}){glue}\Z"),
        re.compile(rf"\s{week}\b"),
        re.compile(rf"{glue}(?:{counted}{blank}{week}|{week}{blank}{counted})"),
    )


_ORDER = {name: place for place, name in enumerate(READERS)}


def _find_matches(forms: Iterable[Form], ctx: Context) -> Iterator[tuple[int, int, tuple[int, int], Match, Form]]:
    """Yield the matches of forms, the longest of them and the readers that come first being the least."""
    for form in forms:
        for match in islice(form.pattern.finditer(ctx.folded), _MAX_MATCHES):
            start, end = span_of(match)
            yield start - end, _ORDER[form.reader], (start, end), match, form


# ---- The year or month that is spoken of


def _move_to_spoken_year(each: Expression, ctx: Context) -> Expression:
    """Move times without a year into the one that is spoken of, unless its clause looks ahead."""
    meaning = each.meaning
    if ctx.spoken.year is None or meaning.interval is None or ctx.direction(each.start, each.end) == AHEAD:
        return each
    if meaning.number:
        return replace(each, meaning=replace(meaning, interval=None))
    if meaning.yearly is None:
        return each
    return replace(each, meaning=replace(meaning, interval=possible(meaning.yearly, ctx.spoken.year), choices=()))


WholeDays = dict[tuple[int, int], datetime]  # the days of dates with their year, by month and day


def _move_to_year_of_clause(
    each: Expression, expressions: list[Expression], whole: WholeDays, ctx: Context
) -> Expression:
    """Move times without a year into the one that their clause names: "in 2009 we married in May".

    The day of a whole date of another year ("11.02.19, that's 11 Feb") may be the same one, or one that comes again.
    """
    meaning, (first, last) = each.meaning, ctx.clause_range(each.start, each.end)
    if meaning.yearly is None or meaning.interval is None:
        return each
    year = next((one.interval for one in expressions if one.is_a("year") and first <= one.start < last), None)
    if year is not None:
        return replace(each, meaning=replace(meaning, interval=possible(meaning.yearly, year.start.year)))
    again = each.day and whole.get((each.day.month, each.day.day), each.day) != each.day
    return replace(each, meaning=replace(meaning, interval=None)) if again else each


def _move_weekdays_to_dates(expressions: list[Expression], ctx: Context) -> Iterator[Expression]:
    """Move a weekday to the date before it in its clause that lies on one: "7 September falls on Saturday".

    Of another weekday nothing shows the week: "I leave on 7 September and am back Sunday".
    """
    day = None
    for each in expressions:
        meaning, (first, _) = each.meaning, ctx.clause_range(each.start, each.end)
        named = meaning.kind == "weekday" and meaning.weekday is not None and meaning.interval is not None
        if named and day and first < day.end and day.day:
            same = day.interval if day.day.weekday() == meaning.weekday else None
            yield replace(each, meaning=replace(meaning, interval=same))
        else:
            yield each
        day = each if meaning.yearly is not None and each.day else None


def _move_days_to_named_month(expressions: list[Expression], ctx: Context) -> Iterator[Expression]:
    """Move a bare day of the month into the month of a date beside it: "no era el 4, era el 5 de marzo"."""
    dated = [each for each in expressions if _names_month(each, ctx)]
    for each in expressions:
        month = _find_adjacent_month(each, dated, ctx) if each.meaning.number and each.interval else None
        day = possible(month.replace, day=each.meaning.number) if month else None
        if day and each.day and (day < ctx.today) != (each.day < ctx.today):
            day = each.day  # "back on the 5th", after a date of the end of this month
        yield each if day is None else replace(each, meaning=replace(each.meaning, interval=calendar.day(day)))


def _names_month(each: Expression, ctx: Context) -> bool:
    if each.meaning.number:
        return False
    figures = any(map(str.isdigit, ctx.folded[each.start : each.end]))
    return each.is_a("month") or (each.is_a("day") and figures and each.meaning.kind == "date")


def _find_adjacent_month(each: Expression, dated: list[Expression], ctx: Context) -> datetime | None:
    """Return the month of the date before a day, or of a later day after it in the same sentence."""
    before = [one for one in dated if 0 <= each.start - one.end <= NEAR_CHARACTERS]
    if before and before[-1].interval:
        return before[-1].interval.start
    after = next((one for one in dated if one.start > each.start), None)
    if after and after.interval and ctx.are_in_one_sentence(each.start, after.start):
        first = after.interval.start
        return first if after.is_a("month") or first.day >= each.meaning.number else None
    return None


# ---- "Since", and full dates of languages without tables

_ANY_FIGURES = re.compile(
    rf"(?<!\w){FIGURES}|(?<![\w.:/-])(?P<year>[12]\d{{3}})(?:[-/.]|\. |\ub144 ?)(?P<month>\d\d?)(?:[-/.]|\. |\uc6d4 ?)"
    "(?P<day>\\d\\d?)(?![\\d/-]|\\.\\d)\uc77c?"
)


def _extend_since_until_now(
    each: Expression, interval: TimeInterval, ctx: Context
) -> tuple[int, int, TimeInterval] | None:
    """Return an expression, from its beginning until now where the text says "since"; None where it may say "from"."""
    start, end = each.start, each.end
    if ctx.grammar.since_follows:
        since = ctx.grammar.since_pattern.match(ctx.folded, end)
        end = since.end() if since else end
    else:
        # Look for "since" in the 24 characters before a time.
        since = ctx.grammar.since_pattern.search(ctx.folded, max(0, start - 24), start)
        start = since.start() if since else start
    if since is None or each.meaning.kind == "range":
        return each.start, each.end, interval
    if interval.start > ctx.now:
        direction = ctx.clause_direction(start, end)
        perhaps_from = ctx.has_word_right_before("since_or_from", each.start) and direction >= PERHAPS_BACK
        if perhaps_from and (direction < 0 or (not direction and each.meaning.weekday is not None)):
            return None  # it may be the next one: "from Monday on a diet", in Russian
        if perhaps_from and (direction == AHEAD or each.meaning.weekday is None):
            return None if each.is_a("month") and direction != AHEAD else (each.start, each.end, interval)
        interval = _last_occurrence(each, interval, ctx)
    lasting = calendar.span(interval.start, ctx.now)
    return (each.start, each.end, interval) if lasting is None else (start, end, lasting)


def _last_occurrence(each: Expression, interval: TimeInterval, ctx: Context) -> TimeInterval:
    """Return the last one of a day or month that comes again: "seit Montag" is over, whatever its verb."""
    if each.meaning.weekday is not None:
        return possible(lambda: calendar.day(interval.start - WEEK)) or interval
    if each.meaning.yearly is not None:
        return possible(each.meaning.yearly, interval.start.year - 1) or interval
    over = [day for day in each.meaning.choices if day.start < ctx.now]
    return max(over, key=lambda day: day.start, default=interval)


# dateparser gets only the match of a form: a day, one word, a year: it is imported at the first such match.
DATE_IN_WORDS = re.compile(
    r"(?<![\w.,:/$#-])(?:[12]?\d|3[01])(?:\.|º|er)? (?:de |di )?(?P<month>[^\W\d_]{3,14})\.? (?:de |del |di )?"
    r"(?:1[5-9]|20)\d\d(?![\w/-])"
)
LANGUAGES = ["fr", "de", "es", "it", "pt", "nl", "pl", "sv", "ru", "tr", "da", "nb", "fi", "cs", "ro", "uk"]
MAX_DATE_CHARACTERS = 64  # characters of a match that dateparser gets
MAX_PARSES = 16  # matches per text that dateparser gets


def _read_date_in_words(match: Match, ctx: Context) -> TimeInterval | None:
    """Read a full date in one of LANGUAGES; a word between two numbers that is no month is no date."""
    words = ctx.words
    if any(table.get(match["month"]) is not None for table in (words.months, words.units, words.numbers)):
        return None
    import dateparser  # noqa: PLC0415  its import takes 0.2 s

    found = dateparser.parse(
        match.group()[:MAX_DATE_CHARACTERS],
        languages=LANGUAGES,
        settings={"RELATIVE_BASE": ctx.now, "STRICT_PARSING": True, "DATE_ORDER": "DMY", "PARSERS": ["absolute-time"]},
    )
    return None if found is None else calendar.day(datetime(found.year, found.month, found.day))


def _find_full_dates(ctx: Context) -> Iterator[tuple[int, int, TimeInterval]]:
    found = [(match, _read_date_in_words) for match in islice(DATE_IN_WORDS.finditer(ctx.folded), MAX_PARSES)]
    found += [(match, _read_date_in_figures) for match in islice(_ANY_FIGURES.finditer(ctx.folded), _MAX_MATCHES)]
    for match, read in sorted(found, key=lambda each: each[0].start()):
        date = possible(read, match, ctx)
        if date is not None:
            yield *match.span(), date


def _add_dates_of_other_languages(expressions: list[Expression], ctx: Context) -> Iterator[Expression]:
    """Yield the full dates in other languages that stand between expressions: "am 9. Juni 2023" in an English text."""
    for match in islice(DATE_IN_WORDS.finditer(ctx.folded), MAX_PARSES):
        start, end = match.span()
        day = possible(_read_date_in_words, match, ctx)
        if day is not None and not any(each.start < end and start < each.end for each in expressions):
            yield Expression(start, end, Meaning(day))


def _read_date_in_figures(match: Match, ctx: Context) -> TimeInterval | None:
    if match["year"]:
        return calendar.day(datetime(int(match["year"]), int(match["month"]), int(match["day"])))
    found = date_in_figures(match[0], ctx.date_order)
    return None if found is None else calendar.day(found)
