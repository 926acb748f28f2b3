"""The text beside an expression: parts that make one time with it, and signs that deny it.

A weekday and a date, a day and a clock, the ends of a range are joined; a habit, a list, a correction, or words of it
that were not read make an expression none.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from functools import cache, cached_property
from itertools import pairwise

from . import calendar
from .calendar import DAY, TimeInterval, part_of_day, third_of
from .context import Context
from .forms import LETTER, MARKS, DateGrammar, whole_word_pattern
from .lexicon import IDEOGRAPHS, any_of
from .readers import Expression, Meaning

YEAR = re.compile(r"(?<![\d.,:/#$\u20ac-])(?:1[5-9]\d\d|20\d\d)(?![\d%:/-])")
# A day of the month after a weekday that was not read.
_NUMBER_AFTER = re.compile(r",? (?:(?:the|der|den|le|el|il|dia|de) )?\d{1,2}(?:st|nd|rd|th)?(?![\d:.h%]| ?[ap]\.?m)")
# Slots to fill in: {name}, [Date], DD-MM-YYYY.
_SLOT = (
    r"(?:lorem ipsum|\{[a-z_ ]{1,24}\}|\[(?:[a-z]{1,12} )?(?:name|nom|nombre|nome|naam|date|datum|fecha|data)\]"
    r"|(?<!\w)(?:dd|tt|jj|gg)[-/. ]?mm[-/. ]?(?:yyyy|jjjj|aaaa)(?!\w)|(?<!\w)yyyy[-/.]mm[-/.]dd(?!\w))"
)
_NEAR_CHARACTERS = 24  # characters before a time, and after it, that are looked at


def _signs(words: Iterable[str]) -> str:
    """Return a pattern of these words; a hyphen is one here, and no way to write a blank."""
    return any_of("=-" if word == "-" else word for word in sorted(words))


@dataclass(frozen=True)
class AdjacentPatterns:
    """The patterns of the text beside an expression, made from the lists of a language."""

    grammar: DateGrammar

    def _list_source(self, name: str) -> str:
        return any_of(self.grammar.words.words_in(name))

    def _whole_word_pattern(self, source: str) -> re.Pattern[str]:
        return whole_word_pattern(source, self.grammar.words)

    @cached_property
    def habit(self) -> re.Pattern[str]:
        """Words that make a time one of a habit: every, each, also with a word between: "every wet Sunday"."""
        every, before = self._list_source("habit"), f"(?<![{LETTER}])"
        if not self.grammar.words.has_spaces:
            return re.compile(rf"{every}\s?\Z")
        return re.compile(rf"{before}{every}(?:\s[^\W\d_]{{1,16}}\s|\s?)\Z")

    @cached_property
    def usually(self) -> re.Pattern[str]:
        return self._whole_word_pattern(self._list_source("usually"))

    @cached_property
    def birth(self) -> re.Pattern[str]:
        return self._whole_word_pattern(self._list_source("birth"))

    @cached_property
    def list_signs(self) -> frozenset[str]:
        return frozenset(self.grammar.words.words_in("listed"))

    @cached_property
    def sample(self) -> re.Pattern[str]:
        """Signs that make a line an example or a form to fill in: a word before a colon, or an empty slot."""
        start, end = (f"(?<![{LETTER}])", f"(?![{LETTER}])") if self.grammar.words.has_spaces else ("", "")
        word = f"{start}(?:{'|'.join(map(self.grammar.pattern_source, self.grammar.words.words_in('sample')))}){end}"
        opens = rf"(?:\A|[.!?\n\u3002]\s?)[^.!?:\n]{{0,24}}{word}[^.!?:\n\uff1a]{{0,40}}"
        return re.compile(rf"(?:{opens}|{word}\s?)(?:[:\uff1a]|\s-\s)|(?P<slot>{_SLOT})")

    @cached_property
    def correction(self) -> re.Pattern[str]:
        """Words that take back the time before them, up to the one that follows."""
        spaced = self.grammar.words.has_spaces
        last, reach = (f"(?![{LETTER}])", 16) if spaced else ("", 8)
        stop = rf"\s?[{MARKS}-]{{1,3}}\s?" if spaced else f"[{MARKS}]{{0,2}}"
        return re.compile(rf"{stop}{self._list_source('corrected')}{last}[^.!?\n\u3002]{{0,{reach}}}")

    @cached_property
    def _glue(self) -> str:
        return _signs(self.grammar.joining_words - {"", ","})

    @cached_property
    def _run(self) -> str:
        return _signs(self.grammar.range_words)

    @cached_property
    def unread_before(self) -> re.Pattern[str]:
        """Words right before a time that belong to it: a number, an ordinal, "last", and words between."""
        words = self.grammar.words
        lists = words.lists("relative")
        follows = any("{last_or_next}" in form for form in words.words_in("forms.relative"))
        # Where "semana pasada" is said, "pasado hoy" is two things.
        names = ("next", "next_but_one", "last_but_one", *(() if follows else ("last", "this")))
        which = any_of(word for name in names for word in lists.get(name, ()))
        some = f"{words.ordinals.source}|{which}|{self._list_source('not_before')}"
        if not words.has_spaces:
            counted = rf"(?:\d|{IDEOGRAPHS}|\u5143)(?:{words.units.source})?"  # also the first year of an era
            return re.compile(rf"(?:{some}|{counted})(?:{self._glue})?\Z")
        unit = rf"(?:\s(?:{words.units.source}|{words.weekdays.source}))"
        return re.compile(
            rf"(?:\w[-/]|(?<![{LETTER}])(?:(?:{some})(?:{unit}?\s{self._glue})?"
            rf"|{words.units.source}(?:\s(?:{self._glue}|{_signs(self.list_signs)}|{words.sides.source})|,)"
            rf"|{words.weekdays.source}(?:s\s{self._glue}|\s{words.sides.source})"
            rf"|(?:\d{{1,4}}[.ºª°]?|{words.months.source})\s?{self._run})\s?)\Z"
        )

    @cached_property
    def third_before(self) -> re.Pattern[str]:
        """A third of a month or longer before a shorter unit: "early", "Anfang"."""
        words = self.grammar.words
        return re.compile(
            rf"{any_of(words.words_in('early_or_late') or words.thirds.words)}[\s-]?(?:{self._glue}\s)?\Z"
        )

    @cached_property
    def number_before(self) -> re.Pattern[str]:
        """A number before a month, a unit or another number: "31 June", "hundred and ten days"."""
        return re.compile(rf"(?<![{LETTER}:.,/-])(?:\d+[ºª°]{{0,2}}|{self.grammar.words.numbers.source})\s?\Z")

    @cached_property
    def unit_before(self) -> re.Pattern[str]:
        """A unit that counts from the weekday after it: "a week Friday"."""
        return re.compile(rf"(?<![{LETTER}]){self.grammar.words.units.source}\s\Z")

    @cached_property
    def counted_nouns(self) -> re.Pattern[str]:
        """Words that a number before them belongs to."""
        words = self.grammar.words
        return re.compile(rf"\d|{words.numbers.source}|{words.units.source}|{words.months.source}")

    @cached_property
    def listed_before(self) -> re.Pattern[str]:
        """A number of a list before that of a time: "14h et 16h"."""
        return re.compile(rf"\d[.ºª°h]?\s?{_signs(self.list_signs)}\s?\Z")

    @cached_property
    def day_number_before_month(self) -> re.Pattern[str]:
        """A number that is a day of the month after it."""
        return re.compile(rf"\d(?:[.ºª°]{{0,2}}\s{self._glue}|[.])\s?\Z")

    @cached_property
    def side_of_next_date(self) -> re.Pattern[str]:
        """Words that make a weekday one before or after the day that follows: "Friday before 9 June"."""
        words = self.grammar.words
        return re.compile(rf" ?{words.sides.source} (?:\w{{1,3}} )?(?:\d|{words.months.source})")

    @cached_property
    def unread_after(self) -> re.Pattern[str]:
        """Words right after a time that belong to it: "of the month", "next", the figures of a year."""
        words, after = self.grammar.words, self._list_source("not_after")
        half = self._list_source("half")
        if not words.has_spaces:
            return re.compile(rf"(?:{after}|{half}|\d)")
        lists = words.lists("relative")
        which = any_of(word for name in ("last", "next") for word in lists.get(name, ()))
        months = any_of(name for name in words.names_by_place("months", 1) if len(name) > 2)
        return re.compile(
            rf"\s?(?:{after}|{half}|{which})(?![{LETTER}])|\s{months}(?![{LETTER}])"
            rf"|\s?{self._run}\s?\d(?![\d]*[:h])"
            rf"|(?:\s(?:{self._glue}\s)?)'?(?P<figures>)\d{{1,4}}"
            rf"(?![\d:h%°]|[.,]\d|\s?(?:{words.units.source}|h|€|km)(?![{LETTER}]))"
        )


@cache
def adjacent_patterns(grammar: DateGrammar) -> AdjacentPatterns:
    return AdjacentPatterns(grammar)


def keep_standalone_expressions(expressions: list[Expression], ctx: Context) -> list[Expression]:
    """Return the expressions that are read whole, without the days of a list or a habit and those taken back.

    None of two that stand beside each other and make no time together is read, nor days of a list, which are habits as
    often, nor a time that the next one corrects.
    """
    beside = adjacent_patterns(ctx.grammar)
    samples = _find_examples(beside, ctx) if expressions else {}
    denied = {
        at
        for at, each in enumerate(expressions)
        if _is_habit(each, beside, ctx) or each.start >= samples.get(_line_start(each.start, ctx), each.start + 1)
    }
    for at, (one, other) in enumerate(pairwise(expressions)):
        gap = ctx.folded[one.end : other.start]
        bare = gap.strip()
        together = bare != "," and bare in ctx.grammar.joining_words and "\n" not in gap
        if together or _is_list(one, other, bare, beside):
            denied |= {at, at + 1}
        if beside.correction.fullmatch(gap):
            denied.add(at)
    habits = [expressions[at].end for at in denied if expressions[at].meaning.weekday is not None]
    for at, each in enumerate(expressions):
        meaning = each.meaning
        recurs = (meaning.weekday is not None or meaning.number or meaning.kind == "clock") and (
            any(ctx.are_in_one_sentence(*sorted((habit, each.start))) for habit in habits)
            or beside.usually.search(ctx.folded, *ctx.sentence_range(each.start, each.end))
        )
        of_a_year = meaning.yearly is not None and beside.usually.search(
            ctx.folded, *ctx.clause_range(each.start, each.end)
        )
        if recurs or of_a_year or _is_unread_before(each, beside, ctx) or _is_unread_after(each, beside, ctx):
            denied.add(at)
    return [each for at, each in enumerate(expressions) if at not in denied]


def _is_list(one: Expression, other: Expression, gap: str, beside: AdjacentPatterns) -> bool:
    days = one.meaning.weekday is not None and other.meaning.weekday is not None
    numbers = bool(one.meaning.number) and bool(other.meaning.number)
    steps = {gap, gap.removeprefix(",").lstrip()}
    listed = gap in beside.list_signs
    return (days and (listed or gap == ",")) or (
        numbers and (listed or not steps.isdisjoint(beside.grammar.joining_words))
    )


def _find_examples(beside: AdjacentPatterns, ctx: Context) -> dict[int, int]:
    """Return where in a line an example begins, by the beginning of the line; a slot makes the whole line one."""
    found: dict[int, int] = {}
    for match in beside.sample.finditer(ctx.folded):
        line = _line_start(match.end() - 1, ctx)
        found[line] = min(found.get(line, match.end()), line if match["slot"] else match.end())
    return found


def _line_start(at: int, ctx: Context) -> int:
    return ctx.folded.rfind("\n", 0, at) + 1


def _is_habit(each: Expression, beside: AdjacentPatterns, ctx: Context) -> bool:
    if each.meaning.weekday is not None and ctx.has_word_right_before("habit_of_a_weekday", each.start):
        return True
    return beside.habit.search(ctx.folded, max(0, each.start - _NEAR_CHARACTERS), each.start) is not None


def _is_unread_before(each: Expression, beside: AdjacentPatterns, ctx: Context) -> bool:
    """Return whether words before an expression belong to it and were not read, or deny it."""
    start, end, meaning = each.start, each.end, each.meaning
    before = (ctx.folded, max(0, start - _NEAR_CHARACTERS), start)
    named = meaning.weekday is not None or ctx.words.days.get(ctx.folded[start:end]) is not None
    named = named or meaning.yearly is not None or bool(meaning.number)
    return bool(
        beside.unread_before.search(*before)
        or (meaning.kind == "weekday" and beside.unit_before.search(*before))
        or (not each.day and beside.third_before.search(*before))
        or (named and ctx.has_word_right_before("unreal", start))
        or (ctx.folded[start].isdigit() and beside.listed_before.search(*before))
        or (beside.counted_nouns.match(ctx.folded, start) and beside.number_before.search(*before))
        or (
            each.is_a("month")
            and ctx.grammar.month_pattern.match(ctx.folded, start)
            and beside.day_number_before_month.search(*before)
        )
        or (meaning.yearly is not None and beside.birth.search(ctx.folded, *ctx.clause_range(start, end)))
    )


def _is_unread_after(each: Expression, beside: AdjacentPatterns, ctx: Context) -> bool:
    """Return whether words after an expression belong to it and were not read, or it is a part of a title."""
    start, end = each.start, each.end
    if _is_title(start, end, ctx) or (
        each.meaning.kind == "part" and each.meaning.weekday is not None and not ctx.may_end_expression(end)
    ):
        return True
    if each.meaning.weekday is not None and (
        _NUMBER_AFTER.match(ctx.folded, end) or beside.side_of_next_date.match(ctx.folded, end)
    ):
        return True
    after = beside.unread_after.match(ctx.folded, end, end + _NEAR_CHARACTERS)
    if after is None or after.groupdict().get("figures") is None:
        return after is not None
    return ctx.grammar.month_pattern.search(ctx.folded, start, end) is not None and not YEAR.search(
        ctx.folded, start, end
    )


def _is_title(start: int, end: int, ctx: Context) -> bool:
    """Return whether a common word of an expression has a capital letter that only a title gives it: "Friday Night"."""
    words = ctx.text[start:end].split()
    common = ctx.words.words_in("small_words")
    return any(word.istitle() and word.lower() in common for word in words[1:])


# ---- Two expressions that make one time

Join = Callable[[Expression, Expression], "Meaning | None"]


def weekday_of(expression: Expression) -> int | None:
    """Return the weekday that an expression names."""
    meaning = expression.meaning
    if meaning.weekday is None and meaning.kind == "weekday" and meaning.interval is not None:
        return meaning.interval.start.weekday()
    return meaning.weekday


def weekday_and_date(named: Expression, date: Expression) -> Meaning | None:
    """Join "Friday" and "9 June", or "the 9th": of the days that the date may mean the nearest on that weekday."""
    weekday, meaning = weekday_of(named), date.meaning
    if weekday is None or weekday_of(date) is not None or meaning.kind != "date":
        return None
    found = [day for day in meaning.choices if day.start.weekday() == weekday]
    if meaning.number:
        return Meaning(found[0]) if found else None
    if not (date.is_a("day") or meaning.choices):
        return None
    base = date.interval or named.interval
    nearest = min(found, key=lambda day: abs(day.start - base.start), default=None) if base else None
    if nearest is None and date.interval and not meaning.choices and date.interval.start.weekday() != weekday:
        return None  # "Christmas this Thursday", where it is on a Friday
    return Meaning(nearest or date.interval, yearly=meaning.yearly)


def weekday_in_week(named: Expression, week: Expression) -> Meaning | None:
    """Join "Tuesday" and "next week". With a weekday "last week" is the ISO week, not the seven days before today."""
    weekday = weekday_of(named)
    if weekday is None or week.interval is None or not week.is_a("week", "weekend"):
        return None
    if week.meaning.amount and (week.meaning.amount.number.low < 0 or named.start < week.start):
        return None  # "six weeks ago on Sunday", "Montag in einer Woche"
    return Meaning(calendar.day(calendar.week(week.interval.start).start + weekday * DAY), weekday=weekday)


def day_in_month(day: Expression, month: Expression) -> Meaning | None:
    """Join "next month" and "the 5th"."""
    if not day.meaning.number or month.interval is None or not month.is_a("month"):
        return None
    found = month.interval.start + (day.meaning.number - 1) * DAY
    return Meaning(calendar.day(found) if found < month.interval.end else None)


def in_that_year(dated: Expression, year: Expression) -> Meaning | None:
    """Join "August" and "last year"."""
    if dated.meaning.yearly is None or year.interval is None or not year.is_a("year"):
        return None
    return Meaning(dated.meaning.yearly(year.interval.start.year))


def part_of_a_day(day: Expression, other: Expression) -> Meaning | None:
    """Join "hier" and "soir"."""
    if day.day is None or not other.meaning.part:
        return None
    return Meaning(part_of_day(day.day, other.meaning.part), "part", weekday=day.meaning.weekday)


def join_day_and_clock(day: Expression, time: Expression) -> Meaning | None:
    """Join "yesterday" or "this evening" and "4 pm"; "at 7" is a time only with a part of the day."""
    clock = time.meaning.clock
    if clock is None or day.interval is None or not (day.meaning.kind == "part" or day.is_a("day")):
        return None
    if day.meaning.kind == "part":
        return Meaning(clock.within(day.interval) or day.interval)
    return replace(day.meaning, interval=clock.on(day.interval.start)) if clock.sure else day.meaning


def join_third_and_unit(third: Expression, whole: Expression) -> Meaning | None:
    """Join "early" and "June", "Ende" and "2022"."""
    index, yearly = third.meaning.third, whole.meaning.yearly
    if index is None or whole.interval is None:
        return None

    def of_year(year: int) -> TimeInterval | None:
        found = yearly(year) if yearly else None
        return third_of(found, index) if found else None

    return Meaning(third_of(whole.interval, index), yearly=of_year if yearly else None)


def join_day_and_amount(day: Expression, counted: Expression) -> Meaning | None:
    """Join "heute" and "in einer Woche"."""
    amount = counted.meaning.amount
    if day.day is None or amount is None or counted.meaning.side is not None:
        return None
    if amount.unit not in ("week", "month", "year"):
        return None
    return Meaning(calendar.day(calendar.step(amount.unit, day.day, int(amount.number.low))))


def join_range(left: Expression, right: Expression) -> Meaning | None:
    """Join the ends of a range; an end without a year takes that of the other, and the last is after the first."""
    first, last = left.interval, right.interval
    if left.meaning.number and last is not None and right.is_a("day"):
        start = last.start.replace(day=1) + (left.meaning.number - 1) * DAY
        if start >= last.start and right.meaning.number:  # "from the 28th to the 2nd"
            start = calendar.shift_months(start, -1)
        return _make_range(calendar.day(start), last)
    if first is None and last is not None and left.meaning.yearly is not None:  # "June to August"
        first = left.meaning.yearly(last.start.year)
    if last is None and first is not None and right.meaning.yearly is not None:  # "between March and May"
        last = right.meaning.yearly(first.start.year)
    if first is None or last is None:
        return None
    if left.meaning.kind == "part" and right.meaning.kind == "date":  # "the night of the 19th to the 20th"
        return Meaning(first) if first.start < last.start <= first.start + 2 * DAY else None
    if right.meaning.yearly is not None and (left.meaning.yearly is None or last.start < first.start):
        found = (right.meaning.yearly(year) for year in (first.start.year, first.start.year + 1))
        last = next((each for each in found if each is not None and each.start > first.start), last)
    elif left.meaning.yearly is not None:
        found = (left.meaning.yearly(year) for year in (last.start.year, last.start.year - 1))
        first = next((each for each in found if each is not None and each.start < last.start), first)
    return _make_range(first, last)


def _make_range(first: TimeInterval, last: TimeInterval) -> Meaning | None:
    if first.start >= last.start:
        return None
    end = max(last.end, calendar.midnight(last.start) + DAY)
    return Meaning(calendar.span(calendar.midnight(first.start), end), "range")


def join_expressions(expressions: list[Expression], ctx: Context) -> list[Expression]:
    """Return the expressions, those that belong to each other as one: first the ends of times of day."""
    for join in (_join_clock_range, _join_both):
        found: list[Expression] = []
        for each in expressions:
            found.append(each)
            while len(found) > 1 and (both := join(found[-2], found[-1], ctx)) is not None:
                found[-2:] = [both]
        expressions = found
    return expressions


def _join_clock_range(first: Expression, last: Expression, ctx: Context) -> Expression | None:
    """Return the time of day that two are the ends of: "7 am till 10 pm"."""
    start, end, gap = first.meaning.clock, last.meaning.clock, ctx.folded[first.end : last.start].strip()
    led = gap in ctx.words.words_in("span_to") and ctx.has_word_right_before("span_from", first.start)
    if not start or not end or not (led or gap in ctx.grammar.range_words):
        return None
    clock = start.until(end) if start.length == end.length == 1 else None
    if clock is None:
        return None
    interval = clock.on(first.interval.start) if first.interval else None
    return Expression(first.start, last.end, replace(first.meaning, clock=clock, interval=interval))


# Words between a number of days and the date of the event that they count from.
_EVENT = re.compile(r"(?:,?[ \n]*[^\W\d_][\w']*){0,7}[ \n]*")
_JOINS: tuple[Join, ...] = (
    in_that_year, join_third_and_unit, weekday_in_week, weekday_and_date, day_in_month, part_of_a_day,
    join_day_and_clock,
)  # fmt: skip


def _join_both(first: Expression, second: Expression, ctx: Context) -> Expression | None:
    gap, start = ctx.folded[first.end : second.start].strip(), first.start
    try:
        meaning = _join_range(first, second, gap, ctx)
        if meaning and gap in ctx.words.words_in("span_to"):
            start = ctx.start_of_word_before("span_from", start)
        meaning = meaning or _join_pair(first, second, gap, ctx)
    except (ValueError, OverflowError):  # 29 February of a year that lacks it: no time, and neither is a part of it
        meaning = Meaning()
    return None if meaning is None else Expression(start, second.end, meaning)


def _join_range(first: Expression, second: Expression, gap: str, ctx: Context) -> Meaning | None:
    """Return the range whose ends two expressions are, but of weekdays, which may be those of a list or a habit."""
    if weekday_of(first) is not None or weekday_of(second) is not None:
        return None
    between = gap in ctx.words.words_in("span_to") and ctx.has_word_right_before("span_from", first.start)
    if not between and gap not in ctx.grammar.range_words:
        return None
    return join_range(first, second)


def _join_pair(first: Expression, second: Expression, gap: str, ctx: Context) -> Meaning | None:
    """Return the joint meaning of two expressions that a gap separates; None where they have none."""
    if first.meaning.side is not None:
        return _join_offset_and_day(first, second, ctx)
    if gap.removeprefix(",").lstrip() not in ctx.grammar.joining_words:
        return None
    both_ways = ((first, second), (second, first))  # but "faz 7 anos no dia 18" is an age
    joins: list[tuple[Join, tuple[Expression, Expression]]]
    joins = [(join_day_and_amount, pair) for pair in both_ways[: 2 - bool(gap)] if "," not in gap]
    joins += [(join, pair) for pair in both_ways for join in _JOINS]
    found = (join(*pair) for join, pair in joins)
    return next((meaning for meaning in found if meaning is not None and meaning.interval is not None), None)


def _join_offset_and_day(offset: Expression, day: Expression, ctx: Context) -> Meaning | None:
    """Join "drei Tage vor" and "20. Mai" in "drei Tage vor meinem Geburtstag am 20. Mai", "week of" and the day."""
    between, amount, side = ctx.folded[offset.end : day.start], offset.meaning.amount, offset.meaning.side or 0
    if amount is None or day.interval is None or not day.is_a("day", "month", "year"):
        return None
    fine = day.day or amount.unit in ("month", "year")  # but "the week after the conference in June"
    if not fine or not _EVENT.fullmatch(between) or ctx.grammar.clause_start_pattern.search(between):
        return None
    if not side:
        return Meaning(calendar.unit(amount.unit, day.interval.start))
    start = calendar.step(amount.unit, day.interval.start, side * int(amount.number.low))
    if offset.meaning.kind == "unit" and amount.unit in ("week", "weekend"):  # "the week before 9 June"
        week = calendar.days_of_week(start if side < 0 else day.interval.end)
        return Meaning(week if amount.unit == "week" else calendar.weekend_beside(day.interval.start, side))
    beside = between.strip() in ctx.grammar.joining_words
    if offset.meaning.kind == "from" and not (beside and day.day):
        return None  # "$200 a week from November"
    known = ctx.words.days.get(ctx.folded[day.start : day.end]) is not None  # "a month from today"
    exact = day.day and (amount.unit == "week" or known)
    return Meaning(calendar.day(start) if exact else calendar.unit(amount.unit, start))
