"""What stands beside an expression and denies it: a habit, a list, a correction, words of it that were not read."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache, cached_property
from itertools import pairwise

from .context import Context
from .forms import LETTER, MARKS, DateGrammar, standing_alone
from .lexicon import IDEOGRAPHS, any_of
from .readers import Expression

YEAR = re.compile(r"(?<![\d.,:/#$\u20ac-])(?:1[5-9]\d\d|20\d\d)(?![\d%:/-])")
# A day of the month after a weekday that was not read.
_NUMBER_AFTER = re.compile(r",? (?:(?:the|der|den|le|el|il|dia|de) )?\d{1,2}(?:st|nd|rd|th)?(?![\d:.h%]| ?[ap]\.?m)")
# What is to be filled in: {name}, [Date], DD-MM-YYYY.
_SLOT = (
    r"(?:lorem ipsum|\{[a-z_ ]{1,24}\}|\[(?:[a-z]{1,12} )?(?:name|nom|nombre|nome|naam|date|datum|fecha|data)\]"
    r"|(?<!\w)(?:dd|tt|jj|gg)[-/. ]?mm[-/. ]?(?:yyyy|jjjj|aaaa)(?!\w)|(?<!\w)yyyy[-/.]mm[-/.]dd(?!\w))"
)
_NEAR = 24  # characters before a time, and after it, that are looked at


def _signs(words: Iterable[str]) -> str:
    """Return a pattern of these words; a hyphen is one here, and no way to write a blank."""
    return any_of("=-" if word == "-" else word for word in sorted(words))


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
    def usually(self) -> re.Pattern[str]:
        return self._alone(self._listed("usually"))

    @cached_property
    def birth(self) -> re.Pattern[str]:
        return self._alone(self._listed("birth"))

    @cached_property
    def listed(self) -> frozenset[str]:
        return frozenset(self.grammar.words.listed("listed"))

    @cached_property
    def sample(self) -> re.Pattern[str]:
        """What makes its line an example or a form to fill in: a word before a colon, or an empty slot."""
        start, end = (f"(?<![{LETTER}])", f"(?![{LETTER}])") if self.grammar.words.spaced else ("", "")
        word = f"{start}(?:{'|'.join(map(self.grammar.source, self.grammar.words.listed('sample')))}){end}"
        opens = rf"(?:\A|[.!?\n\u3002]\s?)[^.!?:\n]{{0,24}}{word}[^.!?:\n\uff1a]{{0,40}}"
        return re.compile(rf"(?:{opens}|{word}\s?)(?:[:\uff1a]|\s-\s)|(?P<slot>{_SLOT})")

    @cached_property
    def correction(self) -> re.Pattern[str]:
        """What takes back the time before it, up to the one that follows."""
        spaced = self.grammar.words.spaced
        last, reach = (f"(?![{LETTER}])", 16) if spaced else ("", 8)
        stop = rf"\s?[{MARKS}-]{{1,3}}\s?" if spaced else f"[{MARKS}]{{0,2}}"
        return re.compile(rf"{stop}{self._listed('corrected')}{last}[^.!?\n\u3002]{{0,{reach}}}")

    @cached_property
    def _glue(self) -> str:
        return _signs(self.grammar.between - {"", ","})

    @cached_property
    def _run(self) -> str:
        return _signs(self.grammar.range)

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
        unit = rf"(?:\s(?:{words.units.source}|{words.weekdays.source}))"
        return re.compile(
            rf"(?:\w[-/]|(?<![{LETTER}])(?:(?:{some})(?:{unit}?\s{self._glue})?"
            rf"|{words.units.source}(?:\s(?:{self._glue}|{_signs(self.listed)}|{words.sides.source})|,)"
            rf"|{words.weekdays.source}(?:s\s{self._glue}|\s{words.sides.source})"
            rf"|(?:\d{{1,4}}[.ºª°]?|{words.months.source})\s?{self._run})\s?)\Z"
        )

    @cached_property
    def third_before(self) -> re.Pattern[str]:
        """A third of a month or longer before what is not one: "early", "Anfang"."""
        words = self.grammar.words
        return re.compile(rf"{any_of(words.listed('early_or_late') or words.thirds.words)}[\s-]?(?:{self._glue}\s)?\Z")

    @cached_property
    def number_before(self) -> re.Pattern[str]:
        """A number before a month, a unit or another number: "31 June", "hundred and ten days"."""
        return re.compile(rf"(?<![{LETTER}:.,/-])(?:\d+[ºª°]{{0,2}}|{self.grammar.words.numbers.source})\s?\Z")

    @cached_property
    def unit_before(self) -> re.Pattern[str]:
        """A unit that counts from the weekday after it: "a week Friday"."""
        return re.compile(rf"(?<![{LETTER}]){self.grammar.words.units.source}\s\Z")

    @cached_property
    def counted(self) -> re.Pattern[str]:
        """What a number before it belongs to."""
        words = self.grammar.words
        return re.compile(rf"\d|{words.numbers.source}|{words.units.source}|{words.months.source}")

    @cached_property
    def listed_before(self) -> re.Pattern[str]:
        """A number of a list before that of a time: "14h et 16h"."""
        return re.compile(rf"\d[.ºª°h]?\s?{_signs(self.listed)}\s?\Z")

    @cached_property
    def day_before(self) -> re.Pattern[str]:
        """A number that is a day of the month after it."""
        return re.compile(rf"\d(?:[.ºª°]{{0,2}}\s{self._glue}|[.])\s?\Z")

    @cached_property
    def side_after(self) -> re.Pattern[str]:
        """What makes a weekday one before or after the day that follows: "Friday before 9 June"."""
        words = self.grammar.words
        return re.compile(rf" ?{words.sides.source} (?:\w{{1,3}} )?(?:\d|{words.months.source})")

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
            rf"|\s?{self._run}\s?\d(?![\d]*[:h])"
            rf"|(?:\s(?:{self._glue}\s)?)'?(?P<figures>)\d{{1,4}}"
            rf"(?![\d:h%°]|[.,]\d|\s?(?:{words.units.source}|h|€|km)(?![{LETTER}]))"
        )


@cache
def beside_of(grammar: DateGrammar) -> Beside:
    return Beside(grammar)


def alone(expressions: list[Expression], ctx: Context) -> list[Expression]:
    """Return the expressions that are read whole, without the days of a list or a habit, and what is taken back.

    None of two that stand beside each other and make no time together is read, nor days of a list, which are habits as
    often, nor a time that the next one corrects.
    """
    beside = beside_of(ctx.grammar)
    samples = _samples(beside, ctx) if expressions else {}
    denied = {
        at
        for at, each in enumerate(expressions)
        if _is_habit(each, beside, ctx) or each.start >= samples.get(_line(each.start, ctx), each.start + 1)
    }
    for at, (one, other) in enumerate(pairwise(expressions)):
        gap = ctx.folded[one.end : other.start]
        bare = gap.strip()
        together = bare != "," and bare in ctx.grammar.between and "\n" not in gap
        if together or _is_list(one, other, bare, beside):
            denied |= {at, at + 1}
        if beside.correction.fullmatch(gap):
            denied.add(at)
    habits = [expressions[at].end for at in denied if expressions[at].meaning.weekday is not None]
    for at, each in enumerate(expressions):
        meaning = each.meaning
        recurs = (meaning.weekday is not None or meaning.number or meaning.kind == "clock") and (
            any(ctx.same_sentence(*sorted((habit, each.start))) for habit in habits)
            or beside.usually.search(ctx.folded, *ctx.sentence(each.start, each.end))
        )
        of_a_year = meaning.yearly is not None and beside.usually.search(ctx.folded, *ctx.clause(each.start, each.end))
        if recurs or of_a_year or _is_unread_before(each, beside, ctx) or _is_unread_after(each, beside, ctx):
            denied.add(at)
    return [each for at, each in enumerate(expressions) if at not in denied]


def _is_list(one: Expression, other: Expression, gap: str, beside: Beside) -> bool:
    days = one.meaning.weekday is not None and other.meaning.weekday is not None
    numbers = bool(one.meaning.number) and bool(other.meaning.number)
    steps = {gap, gap.removeprefix(",").lstrip()}
    listed = gap in beside.listed
    return (days and (listed or gap == ",")) or (numbers and (listed or not steps.isdisjoint(beside.grammar.between)))


def _samples(beside: Beside, ctx: Context) -> dict[int, int]:
    """Return where in a line an example begins, by the beginning of the line; a slot makes the whole line one."""
    found: dict[int, int] = {}
    for match in beside.sample.finditer(ctx.folded):
        line = _line(match.end() - 1, ctx)
        found[line] = min(found.get(line, match.end()), line if match["slot"] else match.end())
    return found


def _line(at: int, ctx: Context) -> int:
    return ctx.folded.rfind("\n", 0, at) + 1


def _is_habit(each: Expression, beside: Beside, ctx: Context) -> bool:
    if each.meaning.weekday is not None and ctx.right_before("habit_of_a_weekday", each.start):
        return True
    return beside.habit.search(ctx.folded, max(0, each.start - _NEAR), each.start) is not None


def _is_unread_before(each: Expression, beside: Beside, ctx: Context) -> bool:
    """Return whether words before an expression belong to it and were not read, or deny it."""
    start, end, meaning = each.start, each.end, each.meaning
    before = (ctx.folded, max(0, start - _NEAR), start)
    named = meaning.weekday is not None or ctx.words.days.get(ctx.folded[start:end]) is not None
    named = named or meaning.yearly is not None or bool(meaning.number)
    return bool(
        beside.unread_before.search(*before)
        or (meaning.kind == "weekday" and beside.unit_before.search(*before))
        or (not each.day and beside.third_before.search(*before))
        or (named and ctx.right_before("unreal", start))
        or (ctx.folded[start].isdigit() and beside.listed_before.search(*before))
        or (beside.counted.match(ctx.folded, start) and beside.number_before.search(*before))
        or (each.is_a("month") and ctx.grammar.month.match(ctx.folded, start) and beside.day_before.search(*before))
        or (meaning.yearly is not None and beside.birth.search(ctx.folded, *ctx.clause(start, end)))
    )


def _is_unread_after(each: Expression, beside: Beside, ctx: Context) -> bool:
    """Return whether words after an expression belong to it and were not read, or it is a part of a title."""
    start, end = each.start, each.end
    if _is_title(start, end, ctx) or (
        each.meaning.kind == "part" and each.meaning.weekday is not None and not ctx.complete(end)
    ):
        return True
    if each.meaning.weekday is not None and (
        _NUMBER_AFTER.match(ctx.folded, end) or beside.side_after.match(ctx.folded, end)
    ):
        return True
    after = beside.unread_after.match(ctx.folded, end, end + _NEAR)
    if after is None or after.groupdict().get("figures") is None:
        return after is not None
    return ctx.grammar.month.search(ctx.folded, start, end) is not None and not YEAR.search(ctx.folded, start, end)


def _is_title(start: int, end: int, ctx: Context) -> bool:
    """Return whether a common word of an expression has a capital letter that only a title gives it: "Friday Night"."""
    words = ctx.text[start:end].split()
    common = ctx.words.listed("small_words")
    return any(word.istitle() and word.lower() in common for word in words[1:])
