"""The context of an expression: the time of saying, and whether its sentence looks back or ahead."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property
from operator import attrgetter

from ..lang import ENGLISH
from ..types.values import DateOrder
from .calendar import midnight, waking_day
from .date_order import Weekday
from .fragments import FOLLOWED, Pattern, one_of
from .unit_counts import UnitCount, unit_counts

BACK, PERHAPS_BACK, PRESENT, AHEAD = -2, -1, 1, 2  # how a sentence looks at a time; 0 is unknown
FAR = 64  # characters from a cue at which it may belong to another clause
REACH = 160  # characters of a sentence that are read for its tense, on each side: bounds the work on long sentences
GOVERNED = 12  # characters after "will" or "going to" in which a past form belongs to it ("will have left")

_SUBJECT = "(?:i|you|we|they|he|she|it)"
# In the order of the alternatives the first that matches wins: "planning to" before "planning", "is" before "is going".
_AHEAD = (
    rf"got (?:an?|my|our|the) (?:\w{{2,12}} )?{one_of(ENGLISH.words('times.arranged'))}\b"
    r"|(?:is|are|'s) (?:still |back )?on(?=[,.!?]|$)"
    r"|(?:\A|(?<=[,.!?;] ))(?:not |just |still |also )?"
    rf"(?!{one_of(ENGLISH.words('times.not_progressive'))}\b)[a-z]{{2,}}ing\b"
    rf"|plan(?:s|ning|ned)? (?:to|on|for|a)|going (?:to(?! the\b| a\b| my\b)|on a|a)\b"
    rf"|{one_of(ENGLISH.words('times.ahead'))}"
    rf"|(?:\A|(?<=[,.!?] )){one_of(ENGLISH.words('times.invitations'))}"
    rf"|{one_of(ENGLISH.words('times.progressive_subjects'))}(?: {_SUBJECT})? (?:not |just |also |all |both )?"
    r"(?!going to (?:the|a|my)\b)[a-z]{2,}ing"
)
# "The shop's closed till May" tells of now.
_STATE = r"(?:is|are|am|it's|that's|we're|they're|you're|i'm|im|\w{1,16}'s) (?:not )?[a-z]{2,}ed"
_ED = rf"(?!{one_of(ENGLISH.words('times.not_past'))})[a-z]{{2,}}ed"
# "I got a slot on 5 May" tells of what one has, "I got married" of what is over.
_HAVING = r"got (?:an?|the|my|our|his|her|their)"
_BACK = (
    rf"got (?!{one_of(ENGLISH.words('times.moving_verbs'))}\b)[a-z]{{2,16}}ed"
    rf"|(?!{_HAVING}\b){one_of(ENGLISH.words('times.back'))}"
    rf"|{_SUBJECT} (?!{one_of(ENGLISH.words('times.ahead'))}\b){_ED}"
)
# "-ed" without a subject before it may be a participle, and what was said may lie ahead.
_PERHAPS_BACK = rf"{_HAVING}|{_ED}|{one_of(ENGLISH.words('times.perhaps_back'))}"
_PRESENT = one_of(ENGLISH.words("times.present"))
_CUE = Pattern(
    rf"(?<![\w'])(?:(?P<ahead>{_AHEAD})|(?P<state>{_STATE})|(?P<back>{_BACK})|(?P<perhaps>{_PERHAPS_BACK})"
    rf"|(?P<present>{_PRESENT}))(?!\w)"
    r"|(?P<will>'ll\b)"
)
LOOKS = {"ahead": AHEAD, "state": PRESENT, "back": BACK, "perhaps": PERHAPS_BACK, "present": PRESENT, "will": AHEAD}
_RESCHEDULED = Pattern(
    rf"\b{one_of(ENGLISH.words('times.reschedule_verbs'))}\b(?: (?!and\b|but\b)[\w'-]+){{0,6}}?"
    r" (?:to|until|till|for) (?:the )?$"
)
_TOLD_OF = Pattern(rf"\b{one_of(ENGLISH.words('times.told_of'))} (?:from|of|for) (?:the )?\Z")
_NEXT_CLAUSE = Pattern(rf",? (?:and|but|so) (?:now )?{_SUBJECT}\b")
_SENTENCE_END = re.compile(r"[.!?;:\n](?=\s|$)|\|")
_CLAUSE_END = re.compile(r"[,:;()]")
_HABITUAL = Pattern(rf"\b{one_of(ENGLISH.words('times.habitual'))}\b")


@dataclass(frozen=True, slots=True)
class Cue:
    """A word or phrase that looks back or ahead, its half-open range of characters, and how it looks.

    `direction` is BACK, PRESENT (now or what may come) or AHEAD.
    """

    start: int
    end: int
    direction: int


_start = attrgetter("start")


@dataclass(frozen=True)
class Context:
    """A text as written and folded, the naive time it was said at, what "last Friday" and "6/9" mean in it.

    `year` is another year than that of saying, where the chat is speaking of one.
    """

    text: str
    folded: str
    now: datetime
    weekday: Weekday
    date_order: DateOrder | None = None
    year: int | None = None

    @cached_property
    def today(self) -> datetime:
        return midnight(self.now)

    @cached_property
    def waking_day(self) -> datetime:
        """The day that "today" and "tonight" mean: before 4 o'clock it has not ended for one who is awake."""
        return waking_day(self.now)

    @cached_property
    def counts(self) -> tuple[UnitCount, ...]:
        """The numbers of units in the text, in order."""
        return tuple(unit_counts(self.folded))

    def counts_between(self, start: int, end: int) -> tuple[UnitCount, ...]:
        """Return the numbers of units that begin in a range, in order."""
        return self.counts[bisect_left(self.counts, start, key=_start) : bisect_left(self.counts, end, key=_start)]

    @cached_property
    def _sentence_ends(self) -> list[int]:
        return [match.end() for match in _SENTENCE_END.finditer(self.folded)]

    @cached_property
    def _found_cues(self) -> dict[tuple[int, int], list[Cue]]:
        return {}

    def _cues(self, first: int, last: int) -> list[Cue]:
        """Return the cues of a sentence in order, without past forms that belong to a "will" or "going to"."""
        if (first, last) not in self._found_cues:
            cues: list[Cue] = []
            for match in _CUE.regex.finditer(self.folded, first, last):
                if match[0] == "sat" and self.capital(match.start()):
                    continue  # the weekday
                direction = LOOKS[str(match.lastgroup)]
                governed = (
                    direction < 0 and cues and cues[-1].direction > 0 and match.start() - cues[-1].end <= GOVERNED
                )
                if not governed:
                    cues.append(Cue(match.start(), match.end(), direction))
            self._found_cues[first, last] = cues
        return self._found_cues[first, last]

    def capital(self, at: int) -> bool:
        """Return whether the text has a capital letter at an index."""
        return self.text[at].isupper()

    def complete(self, at: int) -> bool:
        """Return whether an expression may end at an index: no noun follows of which it would be a part."""
        return FOLLOWED.regex.match(self.folded, at, at + 24) is not None

    def sentence(self, start: int, end: int) -> tuple[int, int]:
        """Return the range of the sentence around a range, at most REACH characters more on each side."""
        first, last = self._whole_sentence(start, end)
        return max(first, start - REACH), min(last, end + REACH)

    def _whole_sentence(self, start: int, end: int) -> tuple[int, int]:
        ends = self._sentence_ends
        before, after = bisect_right(ends, start), bisect_right(ends, end)
        return ends[before - 1] if before else 0, ends[after] if after < len(ends) else len(self.folded)

    def habitual(self, start: int, end: int) -> bool:
        """Return whether the clause around a range is about what happens again and again."""
        return _HABITUAL.regex.search(self.folded, *self.clause(start, end)) is not None

    def recurs(self, start: int, end: int) -> bool:
        """Return whether the sentence around a range is about what happens again and again."""
        return _HABITUAL.regex.search(self.folded, *self.sentence(start, end)) is not None

    def clause(self, start: int, end: int) -> tuple[int, int]:
        """Return the range of the clause around a range: the sentence up to the nearest commas."""
        first, last = self.sentence(start, end)
        before = [match.end() for match in _CLAUSE_END.finditer(self.folded, first, start)]
        after = _CLAUSE_END.search(self.folded, end, last)
        return before[-1] if before else first, after.start() if after else last

    def rescheduled(self, start: int, end: int) -> bool:
        """Return whether something was moved to the time at a range: "we moved the exam to the 5th"."""
        return _RESCHEDULED.regex.search(self.folded[self.sentence(start, end)[0] : start]) is not None

    def _follows_past(self, first: int) -> bool:
        """Return whether the sentence before the one that begins at an index looks back: "It CRAWLED. Thursday"."""
        if first < 2 or self.folded[first - 1] == "\n":
            return False
        before = self._cues(*self._whole_sentence(first - 2, first - 2))
        return bool(before) and all(cue.direction < 0 for cue in before)

    def _is_told(self, start: int) -> bool:
        """Return whether something that is over is of the time at an index: "the score from Thursday"."""
        return _TOLD_OF.regex.search(self.folded, max(0, start - FAR), start) is not None

    def _nearest(self, cues: list[Cue], within: tuple[int, int], start: int, end: int) -> tuple[int, int]:
        """Return the direction of the cue nearest to a range, of those within another one, and how far it is."""
        direction, nearest = 0, 3 * REACH  # more than any distance in the sentence
        for cue in cues[bisect_left(cues, within[0], key=_start) : bisect_left(cues, within[1], key=_start)]:
            if cue.start < end and cue.end > start:
                continue
            distance = start - cue.end
            if cue.start >= end:
                distance = (cue.start - end) * (6 if _NEXT_CLAUSE.regex.match(self.folded, end) else 2)
            if distance <= nearest:
                nearest, direction = distance, cue.direction
        return direction, nearest

    def direction(self, start: int, end: int) -> int:
        """Return AHEAD or BACK when the sentence looks ahead or back at a range, PRESENT for a present, 0 without cue.

        A cue that is FAR away counts for less: it makes a PERHAPS_BACK or PRESENT.

        The nearest cue of the clause decides, else that of the sentence; one after the range counts as twice as far,
        since the verb mostly comes first in English, and behind "and I" as six times as far: it is of another clause.
        """
        if self._is_told(start):
            return BACK
        first, last = self.sentence(start, end)
        cues = self._cues(*self._whole_sentence(start, end))
        direction, nearest = self._nearest(cues, self.clause(start, end), start, end)
        if direction == 0:
            direction, nearest = self._nearest(cues, (first, last), start, end)
        if direction == 0 and self._follows_past(first):
            return PERHAPS_BACK
        if direction < 0 and self.rescheduled(start, end):
            return AHEAD
        if nearest > FAR and direction:
            return PERHAPS_BACK if direction < 0 else PRESENT
        return direction
