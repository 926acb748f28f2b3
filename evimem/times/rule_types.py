"""A rule of the grammar: cues that make it worth trying, a pattern, and a function that interprets a match."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Literal, ParamSpec, TypeVar

from .calendar import Clock, TimeInterval
from .context import Context
from .lexicon import CALENDAR_UNITS, Pattern, Quantity, UnitCount

Kind = Literal["date", "weekday", "part", "clock", "vague", "later"]


@dataclass(frozen=True, slots=True)
class Meaning:
    """What an expression means: an interval, or a function that gives one together with an adjacent expression.

    `yearly` gives the same expression in another year, where it names none itself ("August" next to "last year").
    `choices` are all days that the words may mean where they do not tell which ("the 15th", 6/7): the weekday next to
    them does. `clock` is a time of day without its day. `later` counts from the expression before it. A `weak` meaning
    ("Sunday" before a noun) is dropped unless an adjacent expression joins it ("Sunday last week").
    """

    interval: TimeInterval | None
    kind: Kind = "date"
    yearly: Callable[[int], TimeInterval | None] | None = None
    choices: tuple[TimeInterval, ...] = ()
    clock: Clock | None = None
    later: Callable[[TimeInterval], TimeInterval | None] | None = None
    weak: bool = False


P = ParamSpec("P")
R = TypeVar("R")
VAGUE = Meaning(None, "vague")
Reading = Meaning | TimeInterval | None
Ranges = Sequence[tuple[int, int]]
Read = Callable[[re.Match[str], Context], Reading]

BEFORE = 120  # characters before a number of units that a rule looks at
AFTER = 40  # characters after it


@dataclass(frozen=True, slots=True)
class Candidate:
    """The half-open range of characters of an expression, and how to read it; nothing is interpreted yet."""

    start: int
    end: int
    read: Callable[[Context], Reading]


@dataclass(frozen=True, slots=True)
class Cues:
    """What a text must have for a rule to be tried: a group of trigger words (see `cues`), and a word of each list."""

    group: str
    words: tuple[frozenset[str], ...]

    def may_match(self, words: frozenset[str]) -> bool:
        """Return whether a text that has the group and these words can match."""
        for some in self.words:  # noqa: SIM110  called for every rule and text, where a generator costs twice as much
            if some.isdisjoint(words):
                return False
        return True


@dataclass(frozen=True, slots=True)
class Rule:
    """A pattern, and how to read its matches; None from `read` means that the match is no time.

    A group `x` in the pattern marks the expression where the match includes words around it. `most` bounds how many
    matches are read in one text. `at_word` matches begin at the beginning of a word: a pattern with that condition in
    front of it would be several times slower.
    """

    cues: Cues
    pattern: Pattern
    read: Read
    most: int | None = None
    at_word: bool = False

    def candidates(self, ctx: Context, windows: Ranges) -> list[Candidate]:
        """Return the matches in some ranges of a text, in order."""
        regex, folded, found = self.pattern.regex, ctx.folded, []
        for start, end in windows:
            for match in regex.finditer(folded, start, end):
                at = match.start()
                if not (self.at_word and at and (folded[at - 1].isalnum() or folded[at - 1] == "_")):
                    found.append(Candidate(*match.span(self.pattern.expression), partial(self.read, match)))
        return found[: self.most]


@dataclass(frozen=True, slots=True)
class Counted:
    """A number of units with the words around it: the range of the expression, unit, number, and named words.

    `more` is a number of larger units before it: the 3 weeks of "3 weeks and 4 days".
    """

    start: int
    end: int
    unit: str
    number: Quantity
    words: dict[str, str | None] = field(default_factory=dict)
    more: UnitCount | None = None


ReadCount = Callable[[Counted, Context], Reading]


@dataclass(frozen=True, slots=True)
class CountRule:
    """Words before and after a number of units, and how to read them together.

    A group `x` in either pattern marks the words of it that belong to the expression. `units` are those that it takes.
    The numbers are found once for all rules, because their pattern is the most expensive one.
    """

    cues: Cues
    before: Pattern
    after: Pattern
    read: ReadCount
    units: frozenset[str]

    def candidates(self, ctx: Context, _: Ranges) -> Iterator[Candidate]:
        """Yield the numbers of units in a text that have the words around them."""
        for index, count in enumerate(ctx.counts):
            if count.unit not in self.units:
                continue
            more = ctx.counts[index - 1] if index else None
            if more is None or not (more.larger(count) and _AND.regex.fullmatch(ctx.folded, more.end, count.start)):
                more = None
            if more and index > 1 and _AND.regex.fullmatch(ctx.folded, ctx.counts[index - 2].end, more.start):
                continue  # "3 years, 2 months and 4 days ago"
            first = more.start if more else count.start
            after = self.after.regex.match(ctx.folded, count.end, count.end + AFTER)
            before = after and self.before.regex.search(ctx.folded, max(0, first - BEFORE), first)
            if after and before:
                start = before.start("x") if "x" in before.groupdict() else first
                end = after.end("x") if "x" in after.groupdict() else count.end
                words = before.groupdict() | after.groupdict()
                yield Candidate(
                    start, end, partial(self.read, Counted(start, end, count.unit, count.number, words, more))
                )


AnyRule = Rule | CountRule
_AND = Pattern(r",? and |,? ")


def possible(read: Callable[P, R], *args: P.args, **kwargs: P.kwargs) -> R | None:
    """Call a function; return None where the result is outside of the calendar: 31 June, or a day of year 99999."""
    try:
        return read(*args, **kwargs)
    except (ValueError, OverflowError):
        return None


def needs(group: str, *words: Iterable[str]) -> Cues:
    """Return the cues of a rule: the name of a group, and lists of words of each of which it needs one."""
    return Cues(group, tuple(frozenset(some) for some in words))


def count_rule(
    cues: Cues, before: str, after: str, read: ReadCount, units: Iterable[str] = CALENDAR_UNITS
) -> CountRule:
    """Return the rule of the words before and after a number of units; an empty pattern matches any words."""
    return CountRule(cues, Pattern(rf"{before}\Z"), Pattern(after), read, frozenset(units))


def rules(*table: tuple[Cues, str, Read]) -> tuple[Rule, ...]:
    """Return the rules of a table of cues, pattern sources and read functions."""
    return tuple(_rule(cues, source, read) for cues, source, read in table)


def _rule(cues: Cues, source: str, read: Read) -> Rule:
    """Return a rule; the boundary in front of its pattern is checked afterwards, unless what follows is optional."""
    if not source.startswith(r"\b") or source.startswith(_OPTIONAL):
        return Rule(cues, Pattern(source), read)
    return Rule(cues, Pattern(source[2:]), read, at_word=True)


_OPTIONAL = (r"\b(?:(?P<lead>", r"\b(?:the ", r"\b(?:a ", r"\b(?:(?:quite ")


@dataclass(frozen=True, slots=True)
class Expression:
    """The half-open range of characters of an expression, and what it means."""

    start: int
    end: int
    meaning: Meaning

    @property
    def interval(self) -> TimeInterval | None:
        return self.meaning.interval

    @property
    def is_unread(self) -> bool:
        """Whether the expression is a date that may be any of several days."""
        return self.meaning.kind == "date" and self.interval is None and self.meaning.later is None

    def is_a(self, *granularities: str) -> bool:
        """Return whether the expression has an interval of one of the granularities."""
        return self.interval is not None and self.interval.granularity in granularities
