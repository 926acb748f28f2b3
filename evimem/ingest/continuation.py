"""The alignment of a list of messages with its stored session: which of them are new.

A caller gives the whole history each time, its last messages, or only the new ones. The list is laid beside the
session: messages beyond the longest part of it with which the session ends are new. Where that leaves the meaning
open, the earlier lists of the session decide, and messages still in doubt are rather stored twice than lost.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from difflib import SequenceMatcher
from itertools import takewhile
from typing import Literal

from ..loaders.chat_messages import EMPTY_TEXT
from ..text.terms import words
from ..types.stored import Calls

Status = Literal["new", "uncertain", "edited"]
"""Of a message that is stored: it is new; it may be stored already; or it stands amid known ones, which it changed."""

LIKENESS_OF_EDIT = 0.6  # share of the words that two versions of one message have in common

_MIN_TELLING_BYTES = 16  # bytes of a text that is not said twice by chance, as "ok" and "Thanks!" are
_SAID_ONCE = 40  # characters of a text that is hardly ever repeated word by word, as "Went running today, 5k" is
_MIN_VARIED_MESSAGES = 4  # different messages of a list that is not said again by chance, message by message


@dataclass(frozen=True, slots=True)
class Alignment:
    """The outcome of each message: the index of the place in the session where it stands, or why it is stored."""

    statuses: tuple[int | Status, ...]
    calls: Calls
    instead: Mapping[int, int] = field(default_factory=dict)  # of edited messages: the place whose message each changed
    said_again: int | None = None  # the place whose message, which is known, may have been said again


@dataclass(frozen=True)
class SessionAligner:
    """A list of messages beside a session.

    Attributes:
        given: The content of each message.
        texts: Their texts.
        roles: Their roles.
        kept: The content of each of the last places of the session, all of them where it is `complete`; None where
            it is unknown.
        there: The text that stands in each place, "" in open ones.
        kept_roles: The role of the message in each place, "" in open ones.
        complete: Whether there is nothing before `kept`.
        named: Whether each message has an id of its own that was not forgotten: it stood in no open place.
        repeated: Which places hold a turn of the time of this call.
        calls: How the session's lists came so far.
        at: The time of this call, "" for none.
        is_cut: Whether a reply in it was cut off: then it is no exchange that was said again.
    """

    given: Sequence[Hashable]
    texts: Sequence[str]
    roles: Sequence[str]
    kept: Sequence[Hashable | None]
    there: Sequence[str]
    kept_roles: Sequence[str]
    complete: bool
    named: Sequence[bool]
    repeated: Sequence[bool]
    calls: Calls
    at: str
    is_cut: bool = False

    def align_list(self) -> Alignment:
        """Return where each message stands."""
        calls, size, end = self.calls, len(self.given), len(self.kept)
        if not self.kept:
            return self._align_grown_list("", 0)
        if repeated := self._align_repeated():
            return repeated
        overlap = self._find_overlap()
        if overlap == size:
            return self._align_all_known()
        entire = self.complete and all(one is None for one in self.kept[: end - overlap])
        longer = entire and size > calls.size
        tells = self._are_distinctive(range(overlap)) or self._repeats_last_messages(overlap)
        sure = not self._callers_lists_are_new or longer or tells or self._has_same_call_time(overlap)
        known = overlap if sure else 0
        if not entire and not (known and size - known <= max(2, calls.step)):  # it may be a changed or an older list
            earlier = self._align_changed(known) or (None if overlap else self._align_inside_session())
            if earlier is not None:
                return earlier
        if not overlap and (stored := self._count_stored_inside()):
            return self._align_grown_list("", 0, uncertain=stored)
        # Forgotten messages tell nothing of the caller, nor do doubtful ones.
        nothing = "new" if not overlap and any(one is not None for one in self.kept) else ""
        kind = nothing if not known else "whole" if entire else "window"
        return self._align_grown_list(kind, known, uncertain=overlap - known)

    def align_by_content(self) -> Alignment | None:
        """Return where messages stand whose ids were all given anew; None where they may be said again."""
        laid = self.align_list()
        known = [message for message, at in enumerate(laid.statuses) if isinstance(at, int)]
        are_varied = len(known) > 2 and self._are_distinctive(known)
        return laid if are_varied or len({self.given[one] for one in known}) >= _MIN_VARIED_MESSAGES else None

    def is_told_again(self, indices: Sequence[int]) -> bool:
        """Return whether so many different messages, some of them at length, are not said again by chance."""
        return len({self.given[one] for one in indices}) >= _MIN_VARIED_MESSAGES and self._are_distinctive(indices)

    def _align_repeated(self) -> Alignment | None:
        """Return the places of the messages of a repeated call that was cut short; None for any other call."""
        calls = self.calls
        if not self.at or (calls.at, calls.size) != (self.at, len(self.given)):
            return None
        if calls.said_again and self.given == [self.kept[0], self.kept[-1]]:
            return Alignment((0, len(self.kept) - 1), calls)  # its message was not stored again
        return self._align_first_as_known(calls.done) if self._ends_session(calls.done) else None

    def _align_all_known(self) -> Alignment:
        """Where the end of the session is the list: it is sent again, or was said again."""
        size = len(self.given)
        if self.is_cut or self._has_same_call_time(size):
            return self._align_first_as_known(size)
        if self._is_exchange or (
            self._callers_lists_are_new
            and not self._are_distinctive(range(size))
            and not self._repeats_last_messages(size)
        ):
            is_resent = size == 1 and len(self.texts[0]) >= _SAID_ONCE  # as after a reply that failed
            return self._align_grown_list("new", 0, uncertain=int(is_resent))
        if period := self._find_repetition_period():
            return self._align_grown_list("window", size - period)
        return self._align_first_as_known(size)

    @property
    def _callers_lists_are_new(self) -> bool:
        """Whether most of the lists so far held only new messages."""
        return self.calls.new > self.calls.whole + self.calls.window

    @property
    def _is_exchange(self) -> bool:
        """Whether the list is one message, or one of the user's with its reply."""
        return len(self.given) == 1 or (self.roles[0] == "user" and "user" not in self.roles[1:])

    def _align_first_as_known(self, count: int) -> Alignment:
        """The first so many messages end the session; the rest are new, and nothing is learned of the caller."""
        first = len(self.kept) - count
        rest = len(self.given) - count
        statuses: list[int | Status] = list(range(first, len(self.kept)))
        statuses += ["new"] * rest
        return Alignment(tuple(statuses), replace(self.calls, done=count))

    def _align_grown_list(self, kind: str, known: int, *, uncertain: int = 0) -> Alignment:
        """The first so many messages end the session, and the rest go on; that is how this caller's lists come."""
        size, calls = len(self.given), self.calls
        first = len(self.kept) - known
        statuses: list[int | Status] = list(range(first, len(self.kept)))
        statuses += ["uncertain"] * uncertain
        statuses += ["new"] * (size - len(statuses))
        grown = Calls(
            calls.whole + (kind == "whole"),
            calls.window + (kind == "window"),
            calls.new + (kind == "new"),
            size,
            size - known,
            self.at,
            known,
        )
        return Alignment(tuple(statuses), grown)

    def _ends_session(self, count: int) -> bool:
        """Whether the first so many messages are the last of the session."""
        return count <= len(self.kept) and self._matches_places_from(len(self.kept) - count, count)

    def _matches_places_from(self, first: int, count: int) -> bool:
        """Whether so many messages stand in the places from one on; whatever stands in an open place matches."""
        there, given = self.kept[first : first + count], self.given[:count]
        if there == given:
            return True
        return None in there and all(
            one == other or (one is None and not named)
            for one, other, named in zip(there, given, self.named, strict=False)
        )

    def _find_overlap(self) -> int:
        """Return how many of the first messages end the session: the most that can be, or as many as usual."""
        size, end, calls = len(self.given), len(self.kept), self.calls
        usual = size - calls.step if calls.window and size == calls.size else 0
        longest = next(
            (
                count
                for count in range(min(size, end), 0, -1)
                if self._ends_session(count) and self._is_significant_match(count)
            ),
            0,
        )
        if (
            0 < usual < longest
            and self._ends_session(usual)
            and self._is_significant_match(usual)
            and not self._has_same_call_time(longest)
        ):
            return usual
        return longest

    def _is_significant_match(self, count: int) -> bool:
        """Whether it says anything that so many places match: open ones match everything.

        Where all of them are open, a list is the old one if it goes on from there as the lists did before: of a caller
        of whole histories it is longer, and of one who called once it is longer by one exchange; a window is as long
        as the last was. Any other is of a new chat.
        """
        size, end, calls = len(self.given), len(self.kept), self.calls
        if any(one is not None for one in self.kept[end - count :]) or self._has_same_call_time(count):
            return True
        if calls.window and size == calls.size and size - count == calls.step:
            return True
        if not self.complete or count < end or size <= 2 or self._callers_lists_are_new:
            return False
        if count == size:
            return size == calls.size or calls.whole > 0
        return calls.whole > 0 or list(self.roles[count:]).count("user") <= 1

    def _has_same_call_time(self, count: int) -> bool:
        """Whether so many messages came by a call of the same time, or by one without a time."""
        places = range(len(self.kept) - 1, len(self.kept) - 1 - count, -1)
        last = next((at for at in places if self.kept[at] is not None or self.repeated[at]), None)
        return not self.at or (last is not None and self.repeated[last])

    def _find_repetition_period(self) -> int:
        """Return after how many messages the list repeats itself, 0 where it does not."""
        size = len(self.given)
        period = next((step for step in range(1, size) if self.given[step:] == self.given[:-step]), 0)
        return period if 2 * period <= size or period <= max(2, self.calls.step) else 0

    def _are_distinctive(self, indices: Sequence[int], least: int = 2) -> bool:
        """Whether messages are not there by chance: so many of them say different things, at some length."""
        return len({self.given[one] for one in indices if is_distinctive(self.texts[one])}) >= least

    def _repeats_last_messages(self, count: int) -> bool:
        """Return whether the first `count` messages repeat the last list, or the session, not by chance."""
        entire = self.complete and count == len(self.kept)
        return (count == self.calls.size or entire) and len(set(self.given[:count])) >= _MIN_VARIED_MESSAGES

    def _align_inside_session(self) -> Alignment | None:
        """Return the places inside the session where the list stands: it is an older one that came late."""
        size = len(self.given)
        reads = self.calls.whole or self.calls.window
        for first in range(len(self.kept) - size, -1, -1):
            if any(one is not None for one in self.kept[first : first + size]) and self._matches_places_from(
                first, size
            ):
                places = range(first, first + size)
                late = all(self.repeated[place] or self.kept[place] is None for place in places)
                late = late and not self._has_same_call_time(len(self.kept))  # the session has gone on since
                if late or (
                    size > 2 and (reads or self._are_distinctive(range(size))) and not self._find_repetition_period()
                ):
                    return Alignment(tuple(places), self.calls)
        return None

    def _count_stored_inside(self) -> int:
        """Return how many of the first messages stand in a row inside the session; 0 where that is chance.

        They are the history with its end deleted or edited, or a chat that began alike.
        """
        if self._callers_lists_are_new:
            return 0
        longest = 0
        for first in (place for place, said in enumerate(self.kept) if said == self.given[0]):
            pairs = zip(self.kept[first:], self.given, strict=False)
            longest = max(longest, sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], pairs)))
        is_first = self.complete and list(self.given) == list(self.kept[:1])
        return longest if longest > 1 or (is_first and (self.calls.whole or self.calls.window)) else 0

    def _align_changed(self, known: int) -> Alignment | None:
        """Return where the messages of a changed history stand; None where the list looks like no changed history.

        Equal messages are aligned first. The messages between them, and after the last of them, are paired in order:
        such a message is an edit of the one in its place. `known` messages are explained by the end of the session.
        """
        size, end = len(self.given), len(self.kept)
        if size <= 2 < end or size == 1:
            return self._align_changed_reply()
        # At most four million pairs of a message and a place are compared to find an edit.
        if size * end > 4_000_000:
            return None
        found, instead = self.align_by_versions()
        exact = [one for one, at in found.items() if self.kept[at] is not None]
        if len(exact) <= known or not self._is_history(found, exact, instead):
            return None
        in_order = [one for one in exact if found[one] >= max(found[each] for each in exact if each <= one)]
        last, is_open = max((*in_order, *instead)), self._is_ambiguous(found, instead)
        changed: Status = "uncertain" if is_open else "edited"
        statuses = tuple(found.get(one, changed if one <= last else "new") for one in range(size))
        if is_open:  # the list is a changed exchange, or another that begins alike
            calls = replace(self.calls, size=size, step=1, at=self.at, done=size)
            return Alignment(statuses, calls, said_again=0)
        calls = replace(self.calls, size=size, at=self.at, done=sum(one != "new" for one in statuses))
        return Alignment(statuses, replace(calls, step=size - calls.done), instead)

    def _align_changed_reply(self) -> Alignment | None:
        """Return where the last exchange stands, given alone with another reply; None where it is a new one."""
        size, end = len(self.given), len(self.kept)
        last = end - size
        asked = max((at for at, said in enumerate(self.kept) if said == self.given[0]), default=end)
        opened = [at for at in range(asked + 1, end) if self.kept[at] is None]
        if size > 1 and opened and all(self.kept_roles[at] in ("", "assistant") for at in range(asked + 1, end)):
            return Alignment((asked, opened[0]), self.calls)  # the reply may be the one that was forgotten
        replies = self.roles[-1] == self.kept_roles[-1] == "assistant" and None not in self.kept[last:]
        in_doubt = replace(self._align_grown_list("new", 0), statuses=("uncertain", "uncertain"))
        if (
            size == 2
            and last >= 0
            and self.given[-1] == self.kept[-1]
            and opens_or_ends_other(self.there[last], self.texts[0])
        ):
            return in_doubt  # the same exchange, with and without the context of its question, or one said again
        if size == 2 and self._begins_history():
            return self._other_reply(0, in_doubt)
        if last < 0 or not replies or self.given[:-1] != self.kept[last:-1]:
            return None
        if size == 1:
            is_saved_in_part = is_truncation_of(self.there[-1], self.texts[0])
            return Alignment(("edited",), self.calls, {0: end - 1}) if is_saved_in_part else None
        return self._other_reply(last, in_doubt, sure=len(self.texts[0]) >= _SAID_ONCE)

    def _other_reply(self, asked: int, in_doubt: Alignment, *, sure: bool = False) -> Alignment:
        """Return the alignment of a stored message that comes with another reply than the one behind its place."""
        if not (sure or self._is_version_of_place(1, asked + 1)):
            return in_doubt
        calls = replace(self.calls, size=2, step=1, at=self.at, done=2)
        return Alignment((asked, "edited"), calls, {1: asked + 1})

    def _begins_history(self) -> bool:
        """Return whether the first message is that of the session, of a caller who never gave only new messages.

        Then its reply may have been changed, and what followed cut off.
        """
        is_other = self.complete and len(self.kept) > 2 and self.given[1] != self.kept[1]
        return is_other and self.given[0] == self.kept[0] and not self.calls.new and is_distinctive(self.texts[0])

    def align_by_versions(self) -> tuple[dict[int, int], dict[int, int]]:
        """Return the places of known messages, and those of changed messages, by message."""
        size, end, found, instead = len(self.given), len(self.kept), dict[int, int](), dict[int, int]()
        first = 0  # how many messages the list and the session begin with alike
        while self.complete and first < min(size, end) and self.given[first] == self.kept[first]:
            first += 1
        matcher = SequenceMatcher(None, self.kept[first:], self.given[first:], autojunk=False)
        blocks = [(first + block.a, first + block.b, block.size) for block in matcher.get_matching_blocks()]
        aligned = {one + offset: at + offset for at, one, length in blocks for offset in range(length)}
        aligned |= {one: one for one in range(first)}
        moved = self._find_moved(aligned)
        place = message = first
        for at, one, length in blocks:
            places = [each for each in range(place, at) if each not in moved.values()]
            messages = [each for each in range(message, one) if each not in moved]
            self._pair_gap(places, messages, found, instead, inside=bool(found) or bool(first))
            found |= {one + offset: at + offset for offset in range(length)}
            place, message = at + length, one + length
        return found | moved | aligned, instead

    def _find_moved(self, aligned: Mapping[int, int]) -> dict[int, int]:
        """Return the places of messages that stand elsewhere in the session, as a summary in front of the last ones."""
        taken = set(aligned.values())
        free = {said: place for place, said in enumerate(self.kept) if said is not None and place not in taken}
        return {one: free.pop(said) for one, said in enumerate(self.given) if one not in aligned and said in free}

    def _pair_gap(
        self,
        places: Sequence[int],
        messages: Sequence[int],
        found: dict[int, int],
        instead: dict[int, int],
        *,
        inside: bool,
    ) -> None:
        """Pair the places of a gap with its messages, in order; an open place takes any message without an id."""
        if len(places) == len(messages):
            for place, message in zip(places, messages, strict=True):
                if self.kept[place] is None and not self.named[message]:
                    found[message] = place
        if not inside and len(places) != len(messages):
            return  # before the first known message: a window begins anywhere
        taken, left = set(found.values()), list(places)
        for message in messages:
            # An edited message is looked for behind at most 8 deleted ones.
            rest = [one for one in left if one not in taken][:8]
            same_role = [one for one in rest if self.kept_roles[one] == self.roles[message]]
            paired = next((one for one in same_role if self._is_version_of_place(message, one)), None)
            paired = rest[0] if paired is None and same_role[:1] == rest[:1] != [] else paired
            if message not in found and paired is not None:
                instead[message] = paired
                left = [one for one in left if one > paired]

    def _is_version_of_place(self, message: int, place: int) -> bool:
        """Return whether a message is another version of the one in a place, by its words."""
        same_role = self.kept_roles[place] == self.roles[message]
        return same_role and word_overlap(self.there[place], self.texts[message]) >= LIKENESS_OF_EDIT

    def _is_history(self, found: Mapping[int, int], exact: Sequence[int], instead: Mapping[int, int]) -> bool:
        """Return whether so many known messages are no chance: the list is the history of this session."""
        size, end, calls = len(self.given), len(self.kept), self.calls
        if 2 * len(exact) < min(size, end):
            return False
        # Twice as many different ones need no length.
        long = self._are_distinctive(exact) or len({self.given[one] for one in exact}) >= 2 * _MIN_VARIED_MESSAGES
        if long or any(opens_or_ends_other(self.there[at], self.texts[one]) for one, at in instead.items()):
            return True
        # In a whole history that was changed, messages at their old places up to the end are no chance either.
        in_place = self.complete and size >= end and len(exact) > 1 and found.get(end - 1) == end - 1
        if in_place and (
            self._are_distinctive(exact, least=1) or len({self.given[one] for one in exact}) >= _MIN_VARIED_MESSAGES
        ):
            return True
        if self._callers_lists_are_new:
            return False
        begins = self.complete and found.get(0) == 0
        if calls.whole or calls.window:
            varied = len({self.given[one] for one in exact}) + self._are_distinctive(exact, least=1)
            return (begins and 2 * len(exact) >= end) or max(varied, len(exact)) >= _MIN_VARIED_MESSAGES
        return (begins and size >= end) or any(self._is_version_of_place(one, place) for one, place in instead.items())

    def _is_ambiguous(self, found: Mapping[int, int], instead: Mapping[int, int]) -> bool:
        """Return whether nothing tells a changed exchange from another one that begins alike."""
        calls = self.calls
        unknown = (
            not (calls.whole or calls.window) and len(self.given) == len(self.kept) == len(found) + len(instead) == 2
        )
        if not unknown or not instead:
            return False
        long = any(len(self.texts[one]) >= _SAID_ONCE for one in found)
        return not long and not any(map(self._is_version_of_place, instead, instead.values()))


def word_overlap(one: str, other: str) -> float:
    """Return which share of their words two texts have in common, from 0 to 1; 1 where one opens or ends the other."""
    if is_truncation_of(one, other) or is_truncation_of(other, one) or opens_or_ends_other(one, other):
        return 1.0
    # Likeness is measured over the first 4,000 characters of each text.
    first, second = (Counter(words(text[:4_000])) for text in (one, other))
    total = first.total() + second.total()
    return 2 * (first & second).total() / total if total else 0.0


def opens_or_ends_other(one: str, other: str) -> bool:
    """Return whether one of two texts opens or ends the other, as a question does that was sent with its context."""
    short, long = sorted((one.strip(), other.strip()), key=len)
    return len(short) >= _MIN_TELLING_BYTES and short != long and (long.startswith(short) or long.endswith(short))


def is_distinctive(text: str) -> bool:
    """Return whether a text is too long to be said twice by chance."""
    return len(text.encode("utf-8", "surrogatepass")) >= _MIN_TELLING_BYTES


def is_truncation_of(one: str, other: str) -> bool:
    """Return whether a text is another text, or one that was cut off in it, before its first word too."""
    start = one.rstrip().rstrip(".\u2026")
    return one == EMPTY_TEXT or (bool(start) and other.startswith(start))
