"""How a list of messages continues what is stored of its session: which of them are new.

A caller gives the whole history each time, its last messages, or only the new ones. The list is laid beside the
session: what goes beyond the longest part of it with which the session ends is new. Where that leaves open what was
meant, how the session's lists came so far decides, and what is then in doubt is rather stored twice than lost.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass, replace
from difflib import SequenceMatcher
from typing import Literal

from ..types.stored import Calls

Standing = Literal["new", "uncertain", "edited"]
"""Of a message that is stored: it is new; it may be stored already; or it stands amid known ones, which it changed."""

_TELLING = 16  # bytes of a text that is not said twice by chance, as "ok" and "Thanks!" are
_VARIED = 4  # different messages of a list that is not said again by chance, message by message
_COMPARED = 4_000_000  # pairs of a message and a place that are compared to find what was edited


@dataclass(frozen=True, slots=True)
class Laid:
    """What became of each message: the index of the place in the session where it stands, or why it is stored."""

    standings: tuple[int | Standing, ...]
    calls: Calls


@dataclass(frozen=True, slots=True)
class Beside:
    """A list of messages beside a session.

    Attributes:
        given: What each message says.
        texts: Their texts.
        users: Whether each is the user's.
        kept: What is said in each of the last places of the session, all of them where it is `complete`; None where
            nobody can say.
        complete: Whether there is nothing before `kept`.
        named: Whether each message has an id of its own that was not forgotten: it stood in no open place.
        repeated: Which places hold a turn of the time of this call.
        calls: How the session's lists came so far.
        at: The time of this call, "" for none.
    """

    given: Sequence[Hashable]
    texts: Sequence[str]
    users: Sequence[bool]
    kept: Sequence[Hashable | None]
    complete: bool
    named: Sequence[bool]
    repeated: Sequence[bool]
    calls: Calls
    at: str

    def laid(self) -> Laid:
        """Return where each message stands."""
        calls, size, end = self.calls, len(self.given), len(self.kept)
        if not self.kept:
            return self._grown("", 0)
        if self.at and (calls.at, calls.size) == (self.at, size) and self._fits(calls.done):
            return self._known(calls.done)  # the call is repeated, and goes on where it was cut short
        overlap = self._overlap()
        if overlap == size:
            return self._all_known()
        entire = self.complete and all(one is None for one in self.kept[: end - overlap])
        longer = entire and size > calls.size
        tells = self._tells(range(overlap)) or self._is_list(overlap)
        sure = not self._only_new or longer or tells or self._again(overlap)
        known = overlap if sure else 0
        found = None
        if 2 * known < size and not entire:  # little of it, so that it may be a changed history, or an older list
            found = self._edited() or (None if overlap else self._earlier())
        if found is not None:
            return Laid(found, calls)
        # What was forgotten tells nothing of the caller, nor does what is in doubt.
        nothing = "new" if not overlap and any(one is not None for one in self.kept) else ""
        kind = nothing if not known else "whole" if entire else "window"
        return self._grown(kind, known, uncertain=overlap - known)

    def _all_known(self) -> Laid:
        """Where the end of the session is the list: it is sent again, or was said again."""
        size = len(self.given)
        if self._again(size):
            return self._known(size)
        if self._is_exchange or (self._only_new and not self._tells(range(size)) and not self._is_list(size)):
            return self._grown("new", 0)
        if period := self._period():
            return self._grown("window", size - period)
        return self._known(size)

    @property
    def _only_new(self) -> bool:
        """Whether most of the lists so far held only what was new."""
        return self.calls.new > self.calls.whole + self.calls.window

    @property
    def _is_exchange(self) -> bool:
        """Whether the list is one message, or one of the user's with what followed it."""
        return len(self.given) == 1 or (self.users[0] and not any(self.users[1:]))

    def _known(self, count: int) -> Laid:
        """The first so many messages end the session; the others are new, and nothing is learned of the caller."""
        first = len(self.kept) - count
        rest = len(self.given) - count
        standings: list[int | Standing] = list(range(first, len(self.kept)))
        standings += ["new"] * rest
        return Laid(tuple(standings), replace(self.calls, done=count))

    def _grown(self, kind: str, known: int, *, uncertain: int = 0) -> Laid:
        """The first so many messages end the session, and the others go on; that is how this caller's lists come."""
        size, calls = len(self.given), self.calls
        first = len(self.kept) - known
        standings: list[int | Standing] = list(range(first, len(self.kept)))
        standings += ["uncertain"] * uncertain
        standings += ["new"] * (size - len(standings))
        grown = Calls(
            calls.whole + (kind == "whole"),
            calls.window + (kind == "window"),
            calls.new + (kind == "new"),
            size,
            size - known,
            self.at,
            known,
        )
        return Laid(tuple(standings), grown)

    def _fits(self, count: int) -> bool:
        """Whether the first so many messages are the last of the session."""
        return count <= len(self.kept) and self._stands(len(self.kept) - count, count)

    def _stands(self, first: int, count: int) -> bool:
        """Whether so many messages stand in the places from one on; whatever stands in an open place matches."""
        there, given = self.kept[first : first + count], self.given[:count]
        if there == given:
            return True
        return None in there and all(
            one == other or (one is None and not named)
            for one, other, named in zip(there, given, self.named, strict=False)
        )

    def _overlap(self) -> int:
        """Return how many of the first messages end the session: the most that can be, or as many as usual."""
        size, end, calls = len(self.given), len(self.kept), self.calls
        usual = size - calls.step if calls.window and size == calls.size else 0
        longest = next(
            (count for count in range(min(size, end), 0, -1) if self._fits(count) and self._counts(count)), 0
        )
        if 0 < usual < longest and self._fits(usual) and self._counts(usual) and not self._again(longest):
            return usual
        return longest

    def _counts(self, count: int) -> bool:
        """Whether it says anything that so many places match: open ones match everything.

        Where all of them are open, a list is the old one if it goes on from there as the lists did before: of a caller
        of whole histories it is longer, and of one who called once it is longer by one exchange; a window is as long
        as the last was. Any other is of a new chat.
        """
        size, end, calls = len(self.given), len(self.kept), self.calls
        if any(one is not None for one in self.kept[end - count :]) or self._again(count):
            return True
        if calls.window and size == calls.size and size - count == calls.step:
            return True
        if not self.complete or count < end or size <= 2 or self._only_new:
            return False
        if count == size:
            return size == calls.size or calls.whole > 0
        return calls.whole > 0 or sum(self.users[count:]) <= 1

    def _again(self, count: int) -> bool:
        """Whether so many messages came by a call of the same time, or by one without a time."""
        places = range(len(self.kept) - 1, len(self.kept) - 1 - count, -1)
        last = next((at for at in places if self.kept[at] is not None or self.repeated[at]), None)
        return not self.at or (last is not None and self.repeated[last])

    def _period(self) -> int:
        """Return after how many messages the list repeats itself, 0 where it does not."""
        size = len(self.given)
        period = next((step for step in range(1, size) if self.given[step:] == self.given[:-step]), 0)
        return period if 2 * period <= size or period <= max(2, self.calls.step) else 0

    def _tells(self, indices: Sequence[int], least: int = 2) -> bool:
        """Whether messages are not there by chance: so many of them say different things, at some length."""
        sizes = {one: len(self.texts[one].encode("utf-8", "surrogatepass")) for one in indices}
        return len({self.given[one] for one, size in sizes.items() if size >= _TELLING}) >= least

    def _is_list(self, count: int) -> bool:
        """Whether the first so many messages are the last list, or the session, and too varied to be so by chance."""
        entire = self.complete and count == len(self.kept)
        return (count == self.calls.size or entire) and len(set(self.given[:count])) >= _VARIED

    def _earlier(self) -> tuple[int, ...] | None:
        """Return the places inside the session where the list stands: it is an older one that came late."""
        size = len(self.given)
        reads = self.calls.whole or self.calls.window
        for first in range(len(self.kept) - size, -1, -1):
            if any(one is not None for one in self.kept[first : first + size]) and self._stands(first, size):
                places = range(first, first + size)
                late = all(self.repeated[place] or self.kept[place] is None for place in places)
                late = late and not self._again(len(self.kept))  # the session has gone on since
                if late or (size > 2 and (reads or self._tells(range(size))) and not self._period()):
                    return tuple(places)
        return None

    def _edited(self) -> tuple[int | Standing, ...] | None:
        """Return where the messages stand whose history was changed before its end; None where it looks like none."""
        size, end = len(self.given), len(self.kept)
        if size < 3 or size * end > _COMPARED:
            return None
        blocks = SequenceMatcher(None, self.kept, self.given, autojunk=False).get_matching_blocks()
        found: dict[int, int] = {}
        place = message = 0  # where the last block ended
        for block in blocks:
            if block.a - place == block.b - message:  # so many places as messages: an open one may hold any
                for offset in range(block.a - place):
                    if self.kept[place + offset] is None and not self.named[message + offset]:
                        found[message + offset] = place + offset
            found |= {block.b + offset: block.a + offset for offset in range(block.size)}
            place, message = block.a + block.size, block.b + block.size
        known = [one for one, at in found.items() if self.kept[at] is not None]
        # In a whole history that was changed, what stands at its old place up to the end is no chance either.
        in_place = self.complete and size >= end and len(known) > 1 and found.get(end - 1) == end - 1
        in_place = in_place and (self._tells(known, least=1) or len({self.given[one] for one in known}) >= _VARIED)
        if 2 * len(known) < min(size, end) or not (self._tells(known) or in_place):
            return None
        last = max(known)
        left = end - 1 - found[last]  # places after the last known one, which other messages stood in
        return tuple(found.get(one, "edited" if one <= last + left else "new") for one in range(size))
