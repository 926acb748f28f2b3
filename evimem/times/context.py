"""What surrounds an expression: the day it is said on, and whether its sentence looks back or ahead."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property
from typing import Literal

from .calendar import midnight
from .lexicon import FOLLOWS, compiled

Weekday = Literal["recent", "previous_week"]
REACH = 160  # characters of a sentence that are read for its tense, on each side
GOVERNED = 12  # characters after "will" or "going to" in which a past form belongs to it

_AHEAD = r"""
    will|won't|shall|gonna|gotta|let's|hopes?|hoping|soon|upcoming|due|deadline|tomorrow|next|going to|going (?:on )?a
    |plan(?:s|ning|ned)? (?:to|on|for|a)|planning|can't wait|cannot wait|look(?:ing)? forward|about to|scheduled|booked
    |intends?|wants? to|would|should|excited (?:for|about|to)|are you free|see you|by then|starts|begins|opens|expires
    |leaves|arrives|coming up|in store for|ready for|preparing|prepping|get ready|counting down|set for|take place|ahead
    |trying to|need to|have to|has to|is|are|it's|that's|there's|can|might
    |(?:i'm|we're|she's|he's|they're|you're|it's|am|are|is) (?:not )?[a-z]{2,}ing
"""
_BACK = r"""
    was|wasn't|were|weren't|did|didn't|had|hadn't|went|got|came|saw|met|took|made|gave|found|bought|left|began|felt
    |thought|told|said|ran|won|lost|spent|broke|wrote|read|heard|kept|held|brought|caught|taught|sold|sent|fell|flew
    |drove|ate|drank|grew|knew|swam|sang|spoke|stood|threw|wore|woke|built|hit|quit|became|chose|led|paid|put|hung
    |hurt|cut|let|sat|slept|sought|fought|rode|rose|shot|shook|stole|tore|ago|last|been|done|gone|seen
    |(?!need|feed|speed|indeed|weed|seed|exceed|proceed|bleed|breed|succeed|excited|planned|scheduled|booked)[a-z]{2,}ed
"""


def _alternatives(table: str) -> str:
    return "".join(line.strip() for line in table.strip().splitlines())


_CUE = compiled(
    rf"(?<![\w'])(?:(?P<ahead>{_alternatives(_AHEAD)})|(?P<back>{_alternatives(_BACK)}))(?!\w)|(?P<will>'ll\b)"
)
# "moved the exam to May": what was put off lies ahead, whatever the tense
_PUT_OFF = compiled(
    r"\b(?:moved?|push(?:ed)?|postponed?|rescheduled?|delayed?|shifted|put|changed?|brought|booked)\b"
    r"(?: [\w'-]+){0,6}? (?:to|until|till|for) (?:the )?$"
)
_STOP = re.compile(r"[.!?;\n](?=\s|$)")
_HABIT = compiled(r"\b(?:every|each|usually|always|often|typically|normally|daily|sometimes|generally|routine|any)\b")


@dataclass(frozen=True, slots=True)
class Cue:
    """A verb or phrase that looks back or ahead, and where it stands."""

    start: int
    end: int
    back: bool


@dataclass(frozen=True)
class Context:
    """A text, folded and as written, and the moment it is said at (naive wall-clock time)."""

    text: str
    folded: str
    now: datetime
    weekday: Weekday

    @cached_property
    def today(self) -> datetime:
        return midnight(self.now)

    @cached_property
    def _stops(self) -> list[int]:
        return [stop.end() for stop in _STOP.finditer(self.folded)]

    @cached_property
    def _cues(self) -> list[Cue]:
        """The cues of the text; a past form right after "will" or "going to" belongs to it and is none of its own."""
        cues: list[Cue] = []
        for match in _CUE.finditer(self.folded):
            back = match["back"] is not None
            governed = back and cues and not cues[-1].back and match.start() - cues[-1].end <= GOVERNED
            if not governed:
                cues.append(Cue(match.start(), match.end(), back))
        return cues

    @cached_property
    def _starts(self) -> list[int]:
        return [cue.start for cue in self._cues]

    def capital(self, at: int) -> bool:
        """Say whether the text has a capital letter at a place."""
        return self.text[at].isupper()

    def complete(self, at: int) -> bool:
        """Say whether an expression may end here: no noun follows that it would belong to."""
        return FOLLOWS.match(self.folded, at, at + 24) is not None

    def sentence(self, start: int, end: int) -> tuple[int, int]:
        """Return where the sentence around a range begins and ends, within reach."""
        after = bisect_right(self._stops, start)
        first = self._stops[after - 1] if after else 0
        behind = bisect_right(self._stops, end)
        last = self._stops[behind] if behind < len(self._stops) else len(self.folded)
        return max(first, start - REACH), min(last, end + REACH)

    def habitual(self, start: int, end: int) -> bool:
        """Say whether the sentence speaks of what happens again and again."""
        return _HABIT.search(self.folded, *self.sentence(start, end)) is not None

    def direction(self, start: int, end: int) -> int:
        """Return 1 when the sentence looks ahead at a range, -1 when it looks back, 0 when nothing tells.

        The nearest cue decides; one after the range counts as twice as far, since English puts the verb first.
        """
        first, last = self.sentence(start, end)
        found, best = 0, 3 * REACH
        for cue in self._cues[bisect_left(self._starts, first) : bisect_left(self._starts, last)]:
            if cue.start < end and cue.end > start:
                continue
            distance = start - cue.end if cue.end <= start else 2 * (cue.start - end)
            if distance <= best:
                best, found = distance, -1 if cue.back else 1
        if found < 0 and _PUT_OFF.search(self.folded[first:start]):
            return 1
        return found
