"""The context of an expression: the time of saying, how its clause looks at it, and which year it means."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import cached_property
from operator import attrgetter

from ..types.values import DateOrder
from .calendar import TimeInterval, midnight, waking_day
from .date_order import Weekday
from .forms import DateGrammar
from .lexicon import DateWords

BACK, PERHAPS_BACK, PRESENT, AHEAD = -2, -1, 1, 2  # how a sentence looks at a time; 0 is unknown
CLAUSE_CHARACTERS = 64  # characters from a cue at which it may belong to another clause
SENTENCE_CHARACTERS = (
    160  # characters of a sentence that are read for its tense, on each side: bounds the work on long sentences
)
# How the cues look, and their rank: a surer one outweighs a word that only ends like a verb, and both a present.
LOOKS = {
    "ahead": (AHEAD, 0), "state": (PRESENT, 0), "back": (BACK, 0), "perhaps": (PERHAPS_BACK, 0), "now": (PRESENT, 0),
    "will": (AHEAD, 0), "like_will": (PRESENT, 1), "like_was": (PERHAPS_BACK, 1), "is": (PRESENT, 2),
}  # fmt: skip


_SENTENCE_END = re.compile("[.!?;:](?=\\s|$)|[\n|\u3002\uff01\uff1f\u0964\u061f]")


@dataclass(frozen=True, slots=True)
class Cue:
    """A word or phrase that looks back or ahead: its half-open range of characters, how it looks, and its rank."""

    start: int
    end: int
    direction: int
    rank: int


_start = attrgetter("start")


@dataclass(frozen=True, slots=True)
class Spoken:
    """The times that the chat mentioned before a text.

    `year` is another one than that of saying; `asked` is how the question looks that the text answers, `time` the last
    time that was told.
    """

    year: int | None = None
    asked: int = 0
    time: TimeInterval | None = None


UNSPOKEN = Spoken()


@dataclass(frozen=True)
class Utterance:
    """A text as written and folded, the naive time it was said at, the conventions for "last Friday" and "6/9"."""

    text: str
    folded: str
    now: datetime
    grammar: DateGrammar
    weekday: Weekday = "recent"
    date_order: DateOrder | None = None
    spoken: Spoken = UNSPOKEN

    @property
    def words(self) -> DateWords:
        """The meanings of the words of the language."""
        return self.grammar.words

    @cached_property
    def today(self) -> datetime:
        return midnight(self.now)

    @cached_property
    def waking_day(self) -> datetime:
        """The day that "today" and "tonight" mean: before 4 o'clock it has not ended for one who is awake."""
        return waking_day(self.now)

    # -- sentences and clauses

    @cached_property
    def _sentence_ends(self) -> list[int]:
        return [match.end() for match in _SENTENCE_END.finditer(self.folded)]

    def sentence_range(self, start: int, end: int) -> tuple[int, int]:
        """Return the range of the sentence around a range, at most REACH characters more on each side."""
        first, last = self._whole_sentence(start, end)
        return max(first, start - SENTENCE_CHARACTERS), min(last, end + SENTENCE_CHARACTERS)

    def _whole_sentence(self, start: int, end: int) -> tuple[int, int]:
        ends = self._sentence_ends
        before, after = bisect_right(ends, start), bisect_right(ends, end)
        return ends[before - 1] if before else 0, ends[after] if after < len(ends) else len(self.folded)

    def are_in_one_sentence(self, start: int, end: int) -> bool:
        """Return whether two places are in one sentence, the first before the second."""
        return self._whole_sentence(start, start) == self._whole_sentence(end, end)

    def clause_range(self, start: int, end: int) -> tuple[int, int]:
        """Return the range of the clause around a range: the sentence up to the nearest commas."""
        first, last = self.sentence_range(start, end)
        before = [match.end() for match in self.grammar.clause_end_pattern.finditer(self.folded, first, start)]
        after = self.grammar.clause_end_pattern.search(self.folded, end, last)
        return before[-1] if before else first, after.start() if after else last

    def is_capital_at(self, at: int) -> bool:
        """Return whether the text has a capital letter at an index."""
        return self.text[at].isupper()

    def opens_sentence(self, at: int) -> bool:
        """Return whether a word begins the text or a sentence of it, where any word has a capital letter."""
        first, _ = self._whole_sentence(at, at)
        return not self.folded[first:at].strip(" *_\"'\u201c\u00ab\u00a1\u00bf-")

    def may_end_expression(self, at: int) -> bool:
        """Return whether an expression may end at an index: no noun follows of which it would be a part."""
        followed = self.grammar.noun_that_follows
        return followed is None or followed.match(self.folded, at, at + 24) is not None

    def is_asked_or_timed(self, start: int, end: int) -> bool:
        """Return whether a day of a sentence without a verb is asked for, or has a time of day right after it."""
        asked = self.folded[: self._whole_sentence(start, end)[1]].rstrip().endswith("?")
        return self.words.latin and (asked or self.grammar.following_clock_pattern.match(self.folded, end) is not None)

    def has_word_right_before(self, name: str, start: int) -> bool:
        """Return whether a word or form of a list stands right before an index."""
        return self.start_of_word_before(name, start) < start

    def start_of_word_before(self, name: str, start: int) -> int:
        """Return where the word or form of a list that stands right before an index begins, else the index."""
        found = self.grammar.list_word_pattern(name).search(self.folded, max(0, start - CLAUSE_CHARACTERS), start)
        return found.start() if found else start


@dataclass(frozen=True)
class Context(Utterance):
    """An utterance, and how its sentences look at their times."""

    @cached_property
    def _found_cues(self) -> dict[tuple[int, int], list[Cue]]:
        return {}

    def _read_cues(self, first: int, last: int) -> list[Cue]:
        """Return the cues of a sentence in order, without past forms that belong to a "will" or "going to"."""
        if (first, last) not in self._found_cues:
            cues: list[Cue] = []
            for match in self.grammar.tense_pattern.finditer(self.folded, first, last):
                if match[0] == "sat" and self.is_capital_at(match.start()):
                    continue  # the weekday
                direction, rank = LOOKS[str(match.lastgroup)]
                # A past form within 12 characters of "will" or "going to" belongs to it: "will have left".
                governed = direction < 0 and cues and cues[-1].direction > 0 and match.start() - cues[-1].end <= 12
                before = match.string[cues[-1].start : cues[-1].end] if governed else ""
                governed = governed and (before.startswith(self.words.words_in("governing")) or before.endswith("ing"))
                if not governed:
                    cues.append(Cue(match.start(), match.end(), direction, rank))
            self._found_cues[first, last] = cues
        return self._found_cues[first, last]

    def _nearest_cue(self, cues: list[Cue], within: tuple[int, int], start: int, end: int) -> tuple[int, int]:
        """Return the direction of the cue nearest to a range, of those within another one, and how far it is.

        One after the range counts as twice as far, and one that is less sure only where there is none that is surer.
        """
        direction, nearest, before = (
            0,
            (9, 3 * SENTENCE_CHARACTERS),
            (0, 3 * SENTENCE_CHARACTERS),
        )  # more than any distance in the sentence
        for cue in cues[bisect_left(cues, within[0], key=_start) : bisect_left(cues, within[1], key=_start)]:
            if cue.start < end and cue.end > start:
                continue
            distance = start - cue.end
            if cue.start >= end:
                distance = 2 * (cue.start - end)
            else:
                before = cue.direction, distance
            if (cue.rank, distance) <= nearest:
                nearest, direction = (cue.rank, distance), cue.direction
        if before[0] == PERHAPS_BACK and direction == AHEAD and before[1] < nearest[1]:
            return 0, nearest[1]  # "è finita mercoledì e non ne posso più"
        return direction, nearest[1]

    def direction(self, start: int, end: int) -> int:
        """Return AHEAD or BACK when the sentence looks ahead or back at a range, PRESENT for a present, 0 without cue.

        A cue that is FAR away counts for less: it makes a PERHAPS_BACK or PRESENT.

        The nearest cue of the clause decides, else that of the sentence. An event moved to a day ("we moved the exam to
        the 5th") lies ahead.
        """
        if self.has_word_right_before("moved_to", start):
            return AHEAD
        first, last = self.sentence_range(start, end)
        cues = self._read_cues(*self._whole_sentence(start, end))
        direction, nearest = self._nearest_cue(cues, self._clause_around_time(start, end), start, end)
        if direction == 0:
            direction, nearest = self._nearest_cue(cues, (first, last), start, end)
        if nearest > CLAUSE_CHARACTERS and direction:
            return PERHAPS_BACK if direction < 0 else PRESENT
        return direction

    def direction_of_month(self, start: int, end: int) -> int:
        """Return `direction`, but 0 where only another clause looks back: "the lease ends in May, I've told them"."""
        direction, (first, last) = self.direction(start, end), self.clause_range(start, end)
        beside = len(self.folded[first:start].split()) + len(self.folded[end:last].split())
        # A clause of three words beside its time and preposition may have a verb.
        unsure = direction == PERHAPS_BACK or (direction == BACK and beside >= 3)
        return 0 if unsure and not self.clause_direction(start, end) else direction

    def continues_a_past(self, start: int) -> bool:
        """Return whether a sentence without a verb opens with a time, and the one before it looks back.

        "We broke up. Friday, at the station" tells when, and "I booked a table. Friday, at six" what for: which of
        both cannot be told.
        """
        first, _ = self._whole_sentence(start, start)
        opens = len(self.folded[first:start].strip()) <= 3  # characters of "On", "Am", "El"
        if not first or not opens:
            return False
        cues = self._read_cues(self._whole_sentence(first - 1, first - 1)[0], first)
        return bool(cues) and cues[-1].direction < 0

    def _clause_around_time(self, start: int, end: int) -> tuple[int, int]:
        """Return the range of the clause around a time, or of the sentence that it opens: "On Tuesday, I fell"."""
        (first, last), whole = self.clause_range(start, end), self.sentence_range(start, end)
        # A preposition that opens a sentence has at most 3 characters: "On", "Am", "El".
        opens = first == whole[0] and len(self.folded[first:start].strip()) <= 3 and self.words.latin
        return whole if opens and not self.folded[end:last].strip() else (first, last)

    def clause_direction(self, start: int, end: int) -> int:
        """Return how the clause around a range looks at it, as `direction` does without the rest of the sentence."""
        if self.has_word_right_before("moved_to", start):
            return AHEAD
        return self._nearest_cue(
            self._read_cues(*self._whole_sentence(start, end)), self._clause_around_time(start, end), start, end
        )[0]


Yearly = Callable[[int], TimeInterval | None]


def occurrences_around_year(yearly: Yearly, year: int) -> list[TimeInterval]:
    """Return the occurrences around a year; 29 February, which skips years, is searched further away."""
    for reach in (1, 8):  # 8 years: between two leap years around 1900 or 2100
        found = []
        for number in range(year - reach, year + reach + 1):
            try:
                interval = yearly(number)
            except ValueError:
                continue
            if interval is not None:
                found.append(interval)
        if len(found) > 1:
            return found
    return []


# How many times farther an occurrence on the other side counts. A past tense may govern a day to come ("I got a slot on
# 14 May"), a "will" hardly one that is over. Chosen on our own tables in tests/times.
DOUBT: dict[int, float] = {BACK: 40, PERHAPS_BACK: 5, 0: 1.5, PRESENT: 2.5, AHEAD: 100}
DOUBT_OF_DAYS: dict[int, float] = DOUBT | {BACK: 20, PERHAPS_BACK: 3}
# Of the same day in two years one is mostly far nearer, and that says more than the tense: "Got my exam on 5/21!" said
# in April is of the same year. Chosen on our own tables in tests/times, as all of these.
DOUBT_OF_YEARS: dict[int, float] = {BACK: 20, PERHAPS_BACK: 3, 0: 1.5, PRESENT: 2.5, AHEAD: 12}
SEASON = timedelta(days=92)  # how far "this summer" may be


def nearest_occurrence(yearly: Yearly, today: datetime, direction: int) -> TimeInterval | None:
    """Return the occurrence that contains today, else the nearer one of the last and the next.

    `direction` is how the sentence looks at it: an occurrence on the other side counts as so many times farther as
    DOUBT says. So "we met in August", said in June, is a past one, and "the bill of 30 September", said in October,
    is of this year whatever the tense of its sentence seems to be.
    """
    found = occurrences_around_year(yearly, today.year)
    past = [interval for interval in found if interval.start <= today]
    future = [interval for interval in found if interval.end > today]
    if not past or not future:
        return None
    # Two occurrences farther apart than this are of two years.
    if past[-1].granularity in ("day", "span") and future[0].start - past[-1].start > timedelta(days=200):
        doubt = DOUBT_OF_YEARS[direction]
    else:
        doubt = DOUBT_OF_DAYS[direction] if past[-1].granularity == "day" else DOUBT[direction]
    since, until = abs(today - _interval_middle(past[-1])), abs(_interval_middle(future[0]) - today)
    # One of two occurrences must be twice as near where the sentence does not look back or ahead.
    if direction == 0 and past[-1] != future[0] and max(since, until) < 2 * min(since, until):
        return None  # "14 September", said in February without a verb
    if direction < 0:
        until *= doubt
    else:
        since *= doubt
    return past[-1] if since < until or past[-1] == future[0] else future[0]


def _interval_middle(interval: TimeInterval) -> datetime:
    return interval.start + (interval.end - interval.start) / 2


def current_occurrence(yearly: Yearly, today: datetime, direction: int) -> TimeInterval | None:
    """Return the occurrence that contains today, else the nearest in a known direction, else that of this year."""
    for interval in occurrences_around_year(yearly, today.year):
        if interval.start <= today < interval.end:
            return interval
    return nearest_occurrence(yearly, today, direction) if direction else yearly(today.year)


def current_season(yearly: Yearly, today: datetime, direction: int) -> TimeInterval | None:
    """Return this season, unless it is the other half of the year: then it is one of the southern hemisphere."""
    found = current_occurrence(yearly, today, direction)
    if found is None:
        return None
    return found if found.start - SEASON <= today <= found.end + SEASON else None


def relative_occurrence(which: int, yearly: Yearly, today: datetime, direction: int) -> TimeInterval | None:
    """Return the last occurrence (-1), the one before it (-2), the next one (1), or this one (0)."""
    if not which:
        return current_occurrence(yearly, today, direction)
    found = occurrences_around_year(yearly, today.year)
    if which > 0:
        return next((interval for interval in found if interval.start > today), None)
    over = [interval for interval in found if interval.end <= today]
    return yearly(over[-1].start.year + which + 1) if over else None
