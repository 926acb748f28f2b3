"""The context of an expression: the time of saying, and whether its sentence looks back or ahead."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property
from operator import attrgetter
from typing import Literal

from ..lang import ENGLISH
from .calendar import midnight
from .fragments import FOLLOWED, Pattern, one_of
from .unit_counts import UnitCount, unit_counts

Weekday = Literal["recent", "previous_week"]
REACH = 160  # characters of a sentence that are read for its tense, on each side: bounds the work on long sentences
GOVERNED = 12  # characters after "will" or "going to" in which a past form belongs to it ("will have left")

# In the order of the alternatives the first that matches wins: "planning to" before "planning", "is" before "is going".
_AHEAD = (
    rf"plan(?:s|ning|ned)? (?:to|on|for|a)|{one_of(ENGLISH.words('times.ahead'))}"
    rf"|{one_of(ENGLISH.words('times.progressive_subjects'))} (?:not )?[a-z]{{2,}}ing"
)
_BACK = rf"{one_of(ENGLISH.words('times.back'))}|(?!{one_of(ENGLISH.words('times.not_past'))})[a-z]{{2,}}ed"
_CUE = Pattern(rf"(?<![\w'])(?:(?P<ahead>{_AHEAD})|(?P<back>{_BACK}))(?!\w)|(?P<will>'ll\b)")
_RESCHEDULED = Pattern(
    rf"\b{one_of(ENGLISH.words('times.reschedule_verbs'))}\b(?: [\w'-]+){{0,6}}? (?:to|until|till|for) (?:the )?$"
)
_SENTENCE_END = re.compile(r"[.!?;\n](?=\s|$)")
_HABITUAL = Pattern(rf"\b{one_of(ENGLISH.words('times.habitual'))}\b")


@dataclass(frozen=True, slots=True)
class Cue:
    """A word or phrase that looks back or ahead, and its half-open range of characters."""

    start: int
    end: int
    back: bool


_start = attrgetter("start")


@dataclass(frozen=True)
class Context:
    """A text as written and folded, the naive wall-clock time it was said at, and the convention for "last Friday"."""

    text: str
    folded: str
    now: datetime
    weekday: Weekday

    @cached_property
    def today(self) -> datetime:
        return midnight(self.now)

    @cached_property
    def counts(self) -> tuple[UnitCount, ...]:
        """The numbers of units in the text, in order."""
        return tuple(unit_counts(self.folded))

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
                back = match["back"] is not None
                governed = back and cues and not cues[-1].back and match.start() - cues[-1].end <= GOVERNED
                if not governed:
                    cues.append(Cue(match.start(), match.end(), back))
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
        """Return whether the sentence is about what happens again and again."""
        return _HABITUAL.regex.search(self.folded, *self.sentence(start, end)) is not None

    def direction(self, start: int, end: int) -> int:
        """Return 1 when the sentence looks ahead at a range, -1 when it looks back, 0 without a cue of either.

        The nearest cue decides; one after the range counts as twice as far, since the verb mostly comes first in
        English.
        """
        first, last = self.sentence(start, end)
        direction, nearest = 0, 3 * REACH  # more than any distance in the sentence
        cues = self._cues(*self._whole_sentence(start, end))
        for cue in cues[bisect_left(cues, first, key=_start) : bisect_left(cues, last, key=_start)]:
            if cue.start < end and cue.end > start:
                continue
            distance = start - cue.end if cue.end <= start else 2 * (cue.start - end)
            if distance <= nearest:
                nearest, direction = distance, -1 if cue.back else 1
        if direction < 0 and _RESCHEDULED.regex.search(self.folded[first:start]):
            return 1
        return direction
