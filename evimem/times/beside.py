"""What stands beside an expression and denies it: a habit, a list, a correction, words of it that were not read."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache, cached_property
from itertools import pairwise

from .calendar import DAY
from .context import AHEAD, PRESENT, Context
from .forms import LETTER, MARKS, DateGrammar, standing_alone
from .joins import moved_from
from .lexicon import IDEOGRAPHS, any_of
from .readers import Expression

NEAR_A_YEAR = 80  # characters between a time and one that names its year, within which both are of one story
YEARS = 200 * DAY  # two occurrences farther apart than this are of two years
YEAR = re.compile(r"(?<![\d.,:/#$\u20ac-])(?:1[5-9]\d\d|20\d\d)(?![\d%:/-])")
_TELLS_YEAR = re.compile(r"(?<!\d)(?:1[5-9]|20)\d\d(?!\d)|[/.-]\d\d\Z")
BESIDE = 32  # characters on each side that are looked at


def alone(expressions: list[Expression], ctx: Context) -> Iterator[Expression]:
    """Yield the expressions that are read whole, without the days of a list or a habit, and what is taken back."""
    denied = _denied if ctx.grammar.has_patterns else _denied_by_lists
    left_out = denied(expressions, ctx)
    dated = [each for each in expressions if not each.is_yearless]
    for at, each in enumerate(expressions):
        if at not in left_out and not _is_of_another_year(each, dated, ctx):
            yield each


def _is_of_another_year(each: Expression, dated: list[Expression], ctx: Context) -> bool:
    """Return whether an expression that names no year stands near one of another year: "In 2009 ... by Christmas".

    `dated` are the expressions of the text that name theirs.
    """
    if not each.is_yearless or each.interval is None or ctx.year is not None:
        return False
    if ctx.at("named_relative", each.start) or YEAR.search(ctx.folded, each.start, each.end):
        return False
    year = each.interval.start.year
    for other in dated:
        if other.interval is None or max(other.start - each.end, each.start - other.end) > NEAR_A_YEAR:
            continue
        whole = other.is_a("year", "season")
        told = whole or _TELLS_YEAR.search(ctx.folded, other.start, other.end)
        far = whole or abs(other.interval.start - each.interval.start) > YEARS
        if told and far and not other.interval.start.year <= year <= (other.interval.end - DAY).year:
            return ctx.direction(each.start, each.end) != AHEAD
    return False


# ---- By the patterns of a language


def _denied(expressions: list[Expression], ctx: Context) -> set[int]:
    left_out = {at for at, each in enumerate(expressions) if _is_beside_unread(each, ctx) or _recurs(each, ctx)}
    for at, (one, other) in enumerate(pairwise(expressions)):
        if ctx.grammar.pattern("corrected").fullmatch(ctx.folded, one.end, other.start):
            left_out.add(at)
        if _is_list(one, other, ctx):
            left_out |= {at, at + 1}
    return left_out | {at for at, each in enumerate(expressions) if _is_unsure(each, ctx)}


def _is_unsure(each: Expression, ctx: Context) -> bool:
    """Return whether the sentence does not tell which of the days with its name an expression is."""
    start, end = each.start, each.end
    if each.meaning.kind == "weekday" and (
        moved_from(start, ctx) or ctx.grammar.pattern("promised").search(ctx.folded, ctx.clause(start, end)[0], start)
    ):
        return True
    whole = ctx.grammar.pattern("days_of_work").fullmatch(ctx.folded, start, end)
    return whole is not None and ctx.direction(start, end) in (0, PRESENT)


def _is_list(one: Expression, other: Expression, ctx: Context) -> bool:
    """Return whether two bare weekdays that do not follow each other are listed: "Tues and Thurs", "mon/wed/fri"."""
    if not ctx.grammar.pattern("listed").fullmatch(ctx.folded, one.end, other.start):
        return False
    if one.day is None or other.day is None or not (_is_bare(one, ctx) and _is_bare(other, ctx)):
        return False
    return "/" in ctx.folded[one.end : other.start] or (other.day - one.day).days % 7 != 1


def _is_bare(expression: Expression, ctx: Context) -> bool:
    words = ctx.folded[expression.start : expression.end].removeprefix("the ")
    return ctx.words.weekdays.get(words) is not None


def _recurs(expression: Expression, ctx: Context) -> bool:
    """Return whether a day of no certain week or month is one of a habit: "bin day is Wednesday, alternate weeks"."""
    start, end, bare = expression.start, expression.end, _is_bare(expression, ctx)
    if bare and (ctx.before("its_day_is", start, BESIDE) or ctx.at("is_the_day_of", end)):
        return True
    recurring = bare or expression.meaning.number or ctx.grammar.pattern("nth_of").match(ctx.folded, start, end)
    return bool(recurring) and ctx.recurs(start, end)


def _is_beside_unread(expression: Expression, ctx: Context) -> bool:
    """Return whether a number, unit or word beside an expression belongs to it and was not read."""
    start, end, folded = expression.start, expression.end, ctx.folded
    if _belongs_to_more(expression, ctx):
        return True
    if expression.meaning.kind == "clock":
        return ctx.before("unread_before_clock", start, BESIDE) is not None
    for inside, before in (("any_month", "unread_before_month"), ("starts_with_count", "unread_before_count")):
        if ctx.grammar.pattern(inside).match(folded, start, end) and ctx.before(before, start, BESIDE):
            return True
    if ctx.at("other_year", end):
        return True
    ends_in_month = ctx.grammar.pattern("ends_in_month").search(folded, max(start, end - BESIDE), end)
    return ends_in_month is not None and ctx.at("unread_figures", end) is not None


def _belongs_to_more(expression: Expression, ctx: Context) -> bool:
    """Return whether words beside an expression make it another time, or none: "the year to March", "(e.g. 31/12)"."""
    start, end, folded = expression.start, expression.end, ctx.folded
    if ctx.before("unread_before", start, BESIDE) or ctx.at("unread_after", end):
        return True
    if folded[start].isdigit() and ctx.before("template", start, BESIDE):
        return True
    if ctx.words.days.get(folded[start:end]) is not None and ctx.before("supposed", start, BESIDE):
        return True  # "I'd sell tomorrow"
    month = ctx.grammar.pattern("full_month").fullmatch(folded, start, end) is not None
    return month and (folded.endswith("the ", 0, start) or ctx.at("later_year", end) is not None)


# ---- By the lists of a language

_NEAR = 24  # characters before a time, and after it, that are looked at


@dataclass(frozen=True)
class Beside:
    """The patterns of what stands beside an expression, made from the lists of a language."""

    grammar: DateGrammar

    def _listed(self, name: str) -> str:
        return any_of(self.grammar.words.listed(name))

    def _alone(self, source: str) -> re.Pattern[str]:
        return standing_alone(source, self.grammar.words)

    @cached_property
    def habit(self) -> re.Pattern[str]:
        """What makes a time one of a habit: every, each, also with a word between: "every wet Sunday"."""
        every, before = self._listed("habit"), f"(?<![{LETTER}])"
        if not self.grammar.words.spaced:
            return re.compile(rf"{every}\s?\Z")
        return re.compile(rf"{before}{every}(?:\s[^\W\d_]{{1,16}}\s|\s?)\Z")

    @cached_property
    def habit_of_a_weekday(self) -> re.Pattern[str]:
        """What stands right before a weekday or a part of it that recurs: French "le"."""
        return self.grammar.right_before("habit_of_a_weekday")

    @cached_property
    def any_habit(self) -> re.Pattern[str]:
        """The same anywhere in a sentence, of words that are not an article too: "les lundis", "montags"."""
        words = self.grammar.words
        if not words.spaced:
            return self._alone(self._listed("habit"))
        every = any_of(word for word in words.listed("habit") if len(word) >= 4)
        return self._alone(f"{every}|{words.weekdays.source}(?:s|en)")

    @cached_property
    def usually(self) -> re.Pattern[str]:
        return self._alone(self._listed("usually"))

    @cached_property
    def birth(self) -> re.Pattern[str]:
        return self._alone(self._listed("birth"))

    @cached_property
    def listed(self) -> frozenset[str]:
        return frozenset(self.grammar.words.listed("listed"))

    @cached_property
    def correction(self) -> re.Pattern[str]:
        """What takes back the time before it, up to the one that follows."""
        spaced = self.grammar.words.spaced
        last, reach = (f"(?![{LETTER}])", 16) if spaced else ("", 8)
        stop = rf"\s?[{MARKS}-]{{1,3}}\s?" if spaced else f"[{MARKS}]{{0,2}}"
        return re.compile(rf"{stop}{self._listed('corrected')}{last}[^.!?\n\u3002]{{0,{reach}}}")

    @cached_property
    def _glue(self) -> str:
        return any_of(sorted(self.grammar.between - {"", ","}))

    @cached_property
    def unread_before(self) -> re.Pattern[str]:
        """What right before a time belongs to it: a number, an ordinal, "last", and words between them and the time."""
        words = self.grammar.words
        lists = words.lists("relative")
        follows = any("{last_or_next}" in form for form in words.listed("forms.relative"))
        # Where "semana pasada" is said, "pasado hoy" is two things.
        names = ("next", "next_but_one", "last_but_one", *(() if follows else ("last", "this")))
        which = any_of(word for name in names for word in lists.get(name, ()))
        some = f"{words.ordinals.source}|{which}|{self._listed('not_before')}"
        if not words.spaced:
            counted = rf"(?:\d|{IDEOGRAPHS}|\u5143)(?:{words.units.source})?"  # also the first year of an era
            return re.compile(rf"(?:{some}|{counted})(?:{self._glue})?\Z")
        run = any_of(sorted(self.grammar.range))
        unit = rf"(?:\s(?:{words.units.source}|{words.weekdays.source}))?"
        numbers = rf"\d+[.ºª°]{{0,2}}|{words.numbers.source}"
        return re.compile(
            rf"(?<![{LETTER}])(?:(?:{some}){unit}(?:\s{self._glue})?|{words.units.source}\s{self._glue}"
            rf"|(?<![:.,/\d-])(?:{numbers})|\d[.ºª°]?\s?{run})\s?\Z"
        )

    @cached_property
    def listed_before(self) -> re.Pattern[str]:
        """A number of a list before that of a time: "14h et 16h"."""
        return re.compile(rf"\d[.ºª°h]?\s?{any_of(sorted(self.listed))}\s?\Z")

    @cached_property
    def day_before(self) -> re.Pattern[str]:
        """A number that is a day of the month after it."""
        return re.compile(rf"\d[.ºª°]{{0,2}}\s{self._glue}\s?\Z")

    @cached_property
    def unread_after(self) -> re.Pattern[str]:
        """What right after a time belongs to it: "of the month", "next", the figures of a year."""
        words, after = self.grammar.words, self._listed("not_after")
        half = self._listed("half")
        if not words.spaced:
            return re.compile(rf"(?:{after}|{half}|\d)")
        lists = words.lists("relative")
        which = any_of(word for name in ("last", "next") for word in lists.get(name, ()))
        months = any_of(name for name in words.named("months", 1) if len(name) > 2)
        return re.compile(
            rf"\s?(?:{after}|{half}|{which})(?![{LETTER}])|\s{months}(?![{LETTER}])"
            rf"|\s?{any_of(sorted(self.grammar.range))}\s?\d(?![\d]*[:h])"
            rf"|(?:\s(?:{self._glue}\s)?)'?(?P<figures>)\d{{1,4}}"
            rf"(?![\d:.,h%°]|\s?(?:{words.units.source}|h|€|km)(?![{LETTER}]))"
        )


@cache
def beside_of(grammar: DateGrammar) -> Beside:
    return Beside(grammar)


def _denied_by_lists(expressions: list[Expression], ctx: Context) -> set[int]:
    """Return which expressions are none, by their places.

    None of two that stand beside each other and make no time together is read, nor days of a list, which are habits as
    often, nor a time that the next one corrects.
    """
    beside = beside_of(ctx.grammar)
    broken: set[int] = set()
    for at, (one, other) in enumerate(pairwise(expressions)):
        gap = ctx.folded[one.end : other.start]
        bare = gap.strip()
        apart = bare == "," or bare not in ctx.grammar.between or "\n" in gap
        if not apart or _is_list_by_words(one, other, bare, ctx):
            broken |= {at, at + 1}
        if beside.correction.fullmatch(gap):
            broken.add(at)
    broken |= {at for at, each in enumerate(expressions) if _is_habit(each, ctx)}
    habits = [each.end for at, each in enumerate(expressions) if at in broken and each.meaning.weekday is not None]
    for at, each in enumerate(expressions):
        start, end = each.start, each.end
        if (each.meaning.weekday is not None or each.meaning.number) and (
            any(ctx.same_sentence(*sorted((habit, start))) for habit in habits)
            or beside.any_habit.search(ctx.folded, *ctx.sentence(start, end))
            or beside.usually.search(ctx.folded, *ctx.clause(start, end))
        ):
            broken.add(at)
        if _is_unread_by_lists(each, ctx):
            broken.add(at)
    return broken


def _is_list_by_words(one: Expression, other: Expression, gap: str, ctx: Context) -> bool:
    days = one.meaning.weekday is not None and other.meaning.weekday is not None
    numbers = bool(one.meaning.number) and bool(other.meaning.number)
    steps = {gap, gap.removeprefix(",").lstrip()}
    return (days or numbers) and (
        gap in beside_of(ctx.grammar).listed or (numbers and not steps.isdisjoint(ctx.grammar.between))
    )


def _is_habit(each: Expression, ctx: Context) -> bool:
    beside, near = beside_of(ctx.grammar), (ctx.folded, max(0, each.start - _NEAR), each.start)
    if each.meaning.weekday is not None and beside.habit_of_a_weekday.search(*near):
        return True
    return beside.habit.search(*near) is not None


def _is_unread_by_lists(each: Expression, ctx: Context) -> bool:
    start, end, beside = each.start, each.end, beside_of(ctx.grammar)
    near = (ctx.folded, max(0, start - _NEAR), start)
    month = ctx.grammar.month.search(ctx.folded, start, end)
    if beside.unread_before.search(*near) or (ctx.folded[start].isdigit() and beside.listed_before.search(*near)):
        return True
    if month and month.start() == start and beside.day_before.search(*near):
        return True
    if each.meaning.yearly is not None and beside.birth.search(ctx.folded, *ctx.clause(start, end)):
        return True
    after = beside.unread_after.match(ctx.folded, end, end + _NEAR)
    if after is None:
        return False
    figures = "figures" in after.re.groupindex and after["figures"] is not None
    return not figures or (month is not None and month.end() == end)
