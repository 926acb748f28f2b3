"""What surrounds an expression: the day it is said on, and whether its sentence looks back or ahead."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from datetime import datetime
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
    |trying to|need to|have to|has to|(?:i'm|we're|she's|he's|they're|you're|it's|am|are|is) (?:not )?[a-z]{2,}ing
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
_STOP = re.compile(r"[.!?;\n](?=\s|$)")
_HABIT = compiled(r"\b(?:every|each|usually|always|often|typically|normally|daily|sometimes|generally|routine|any)\b")


@dataclass(frozen=True, slots=True)
class Context:
    """A text, folded and as written, and the moment it is said at (naive wall-clock time)."""

    text: str
    folded: str
    now: datetime
    weekday: Weekday
    today: datetime = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "today", midnight(self.now))

    def capital(self, at: int) -> bool:
        """Say whether the text has a capital letter at a place."""
        return self.text[at].isupper()

    def complete(self, at: int) -> bool:
        """Say whether an expression may end here: no noun follows that it would belong to."""
        return FOLLOWS.match(self.folded, at, at + 24) is not None

    def sentence(self, start: int, end: int) -> tuple[int, int]:
        """Return where the sentence around a range begins and ends, within reach."""
        first = max(0, start - REACH)
        last = min(len(self.folded), end + REACH)
        for stop in _STOP.finditer(self.folded, first, start):
            first = stop.end()
        stop_after = _STOP.search(self.folded, end, last)
        return first, stop_after.start() if stop_after else last

    def habitual(self, start: int, end: int) -> bool:
        """Say whether the sentence speaks of what happens again and again."""
        return _HABIT.search(self.folded, *self.sentence(start, end)) is not None

    def direction(self, start: int, end: int) -> int:
        """Return 1 when the sentence looks ahead at a range, -1 when it looks back, 0 when nothing tells.

        The nearest cue decides. One after the range counts as twice as far, since English puts the verb first; and a
        past form right after a cue that looks ahead belongs to it ("will get paid", "plan to have finished").
        """
        found, best, bound = 0, 3 * REACH, -1
        for cue in _CUE.finditer(self.folded, *self.sentence(start, end)):
            if cue.start() < end and cue.end() > start:
                continue
            back = cue["back"] is not None
            if back and cue.start() <= bound:
                continue
            bound = bound if back else cue.end() + GOVERNED
            distance = start - cue.end() if cue.end() <= start else 2 * (cue.start() - end)
            if distance <= best:
                best, found = distance, -1 if back else 1
        return found
