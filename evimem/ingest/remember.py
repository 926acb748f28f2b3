"""Messages of a chat API as turns: each is stored once, whether a call has the whole history or only new ones."""

from __future__ import annotations

import json
import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from hashlib import blake2b
from itertools import accumulate, pairwise
from uuid import uuid4

from ..errors import InvalidTurn
from ..flow import Flow
from ..lang import ENGLISH
from ..loaders.chat_messages import ChatMessage, message_words, read_message, read_raw_message
from ..store.keeper import Keeper
from ..text.memory_fence import OPEN
from ..text.terms import words
from ..types.results import AddReport, TurnOutcome, TurnStatus
from ..types.stored import Calls, Continuation, Entry, Listing, Place, SessionWindow, WindowRequest
from ..types.values import DISCARDED, Turn, is_discarded
from .add import BATCH_TURNS, Ingestion
from .continuation import (
    LIKENESS_OF_EDIT,
    Alignment,
    SessionAligner,
    Status,
    is_distinctive,
    is_truncation_of,
    word_overlap,
)

_NO_TIME = datetime(2000, 1, 1)  # of a message that has none, until it turns out to be known
_GAP = Place(-1, None)  # between the beginning and the end of a session that was not read whole
_NOTES: dict[Status, tuple[TurnOutcome, str]] = {
    "uncertain": (
        "uncertain",
        "it may be stored already: the list begins with what was said last, but the lists before it held only what "
        "was new",
    ),
    "edited": ("added", "the history was changed: what was stored before stays, and this is stored beside it"),
}
_OTHER_CONTENT: tuple[TurnOutcome, str] = ("added", "its id is that of another message with other content: both stay")
_BEFORE_REPLY = timedelta(microseconds=1)  # by which a message is earlier than its reply, which was stored before it
_CUT_OFF = "it is the beginning of the message that is stored in its place, which stays"
_CLOCK_WORD = re.compile(
    rf"\d|^(?:{ENGLISH.any_of_source('common.months')}|{ENGLISH.any_of_source('common.weekdays')}|am|pm|utc|gmt)$",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class _Stored:
    """Stored turns that messages may be: those near the end of the session, and all by id, time and content."""

    near: Sequence[Turn]
    by_id: Mapping[str, Turn]
    at: dict[tuple[datetime, str], list[Turn]] = field(default_factory=lambda: defaultdict(list))
    copies: dict[tuple[str | None, str], Turn] = field(default_factory=dict)


class Remembering:
    """One call of `remember`. The decisions for its first batch hold for the later ones."""

    def __init__(
        self,
        store: Keeper,
        messages: Sequence[ChatMessage],
        session: str,
        time: datetime | None,
        ingestion: Ingestion,
        *,
        again: bool = False,
        replace: bool = False,
    ) -> None:
        """`time` is that of new messages that have none of their own; `again` stores forgotten messages, too.

        With `replace`, a changed message takes the place of the stored one, which is erased.
        """
        self._store = store
        self._messages, self._session, self._time, self._ingestion = messages, session, time, ingestion
        self._again, self._replace = again, replace
        self._strict = ingestion.strict
        outcomes = [ingestion.admit_turn(turn) for turn in self._turns(messages)]
        self._refused = {number: one for number, one in enumerate(outcomes) if isinstance(one, TurnStatus)}
        self._given = {number: one for number, one in enumerate(outcomes) if isinstance(one, Turn)}
        self._new: dict[int, Turn] = {}  # turns to store, by the number of their message
        self._notes: dict[int, tuple[TurnOutcome, str]] = {}  # outcomes and reasons of these
        self._statuses: dict[int, TurnStatus] = {}  # of all other messages, and of stored ones
        self._entries: dict[int, Entry] = {}
        self._read: dict[str, ChatMessage] = {}  # the messages of stored turns, by id
        self._places: dict[str, int] = {}  # of forgotten turns that are stored again, by id
        self._replaced: set[str] = set()  # ids whose stored content the new turns replace
        self._marked: dict[str, Turn] = {}  # stored turns whose mark as discarded changes, by id
        self._mark_entries: dict[str, Entry] = {}
        self._changed: dict[int, Turn] = {}  # the stored turns of the ids of messages that have other content
        self._calls = Calls()
        self._state = ("", -1)

    def batches(self) -> Iterator[Flow[AddReport]]:
        """Yield a flow for each batch of messages, one transaction each."""
        for start in range(0, len(self._messages), BATCH_TURNS):
            yield self._keep(range(start, min(start + BATCH_TURNS, len(self._messages))))

    def _turns(self, messages: Sequence[ChatMessage]) -> Iterator[Turn]:
        """Yield the turn of each message, none earlier than the one before it by the clock of another device."""
        latest: datetime | None = None
        for message in messages:
            time = message.time or self._time or _NO_TIME
            if message.role != "system":
                known = latest is not None and (latest.tzinfo is None) == (time.tzinfo is None)
                # The clock of a device may be a day ahead of another; more is another time.
                if latest is not None and known and timedelta(0) < latest - time <= timedelta(days=1):
                    time = latest
                latest = time
            said, own = (message.speaker, message.text, time), {"message": message.raw}
            yield Turn(self._id(message), self._session, *said, role=message.role, metadata=own)

    def _id(self, message: ChatMessage) -> str:
        """Return the id of a message's turn: of a system prompt, which no session has alone, a digest of it."""
        if message.role == "system":
            return blake2b(f"system {message.said}".encode(), digest_size=15).hexdigest()
        if message.id is None:
            return uuid4().hex
        return f"{self._session}:{message.id}" if self._session else message.id

    def _keep(self, batch: range) -> Flow[AddReport]:
        """Store the new messages of a batch. Where another caller stored into the session meanwhile, align again."""
        facts = 0
        if not batch.start:
            self._decide()
        while (new := [number for number in batch if number in self._new]) or self._marked:
            yield from self._derive(new)
            calls = replace(self._calls, done=sum(number < batch.stop for number in self._given))
            entries = (*self._mark_entries.values(), *(self._entries[number] for number in new))
            replaced = self._replaced | self._marked.keys()
            kept = self._store.continue_session(
                Continuation(self._session, entries, calls, self._state, self._places, replaced, strict=self._strict)
            )
            if kept is not None:
                report, self._state = kept
                facts = report.facts
                own_statuses = report.statuses[len(self._mark_entries) :]
                self._marked = {}
                for number, status in zip(new, own_statuses, strict=True):
                    own = (status.outcome, status.reason or self._messages[number].note)
                    outcome, reason = self._notes.get(number, own)
                    refused = status.outcome in ("refused", "replaced")
                    self._statuses[number] = status if refused else replace(status, outcome=outcome, reason=reason)
                break
            if batch.start:
                self._look_again(batch.start)
            else:
                self._decide()
        return AddReport.of([self._statuses[number] for number in batch], facts)

    def _derive(self, numbers: Sequence[int]) -> Flow[None]:
        """Read and embed new turns, which no transaction waits for."""
        if self._time is None and any(self._messages[number].time is None for number in numbers):
            raise InvalidTurn(
                "a new message has no time of its own (time, created_at, timestamp or create_time); give time=, when "
                "it was said: the reference date of 'yesterday' in it"
            )
        kept = self._entries
        fresh = [one for one in numbers if one not in kept or kept[one].turn != self._new[one]]
        entries = yield from self._ingestion.make_entries([self._new[number] for number in fresh])
        kept |= zip(fresh, entries, strict=True)
        marked = list(self._marked.values())
        self._mark_entries = dict(zip(self._marked, (yield from self._ingestion.make_entries(marked)), strict=True))

    def _decide(self) -> None:
        """Align the list with its session, and take known messages out of the new ones."""
        self._new, self._statuses, self._notes, self._places = dict(self._given), dict(self._refused), {}, {}
        self._replaced, self._marked, self._changed = set(), {}, {}
        size = len(self._given)
        # Read 8 places beyond twice the length of the list, among which a late turn may stand.
        # A list of two messages is not looked for at the beginning of a longer session.
        found = self._past(beginning=size if size > 2 else 0, end=2 * size + 8)
        self._calls = found.calls
        known = self._known(found)
        dialogue = [number for number in self._given if self._messages[number].role != "system"]
        if any(number in self._new for number in dialogue):
            self._lay(dialogue, found, known)

    def _look_again(self, start: int) -> None:
        """Leave out messages that a repetition of this call has stored since the batch before."""
        found = self._past(beginning=0, end=0)
        self._known(found)
        repeated = (found.calls.at, found.calls.size) == (self._calls.at, self._calls.size) != ("", 0)
        for number in list(self._given)[start : found.calls.done] if repeated and self._calls.at else ():
            self._settle(number, "exists")

    def _past(self, beginning: int, end: int) -> SessionWindow:
        """Read the part of the session to align with, and the turns with ids or times of the messages."""
        named = [(self._messages[number], turn) for number, turn in self._given.items()]
        ids = tuple(turn.id for message, turn in named if message.id or message.role == "system")
        own = {(self._own_time(message), message.role) for message, _ in named}
        moments = {(turn.time, message.role) for message, turn in named if message.time}
        moments |= {(time, role) for time, role in own if time is not None}
        found = self._store.read_session_window(WindowRequest(self._session, beginning, end, ids, tuple(moments)))
        self._state = found.state
        # A time of the call that is not of the memory's kind is the caller's mistake, not that of one message.
        aware = None if self._time is None else self._time.tzinfo is not None
        self._strict = self._ingestion.strict or (aware is not None and found.aware not in (None, aware))
        return found

    def _known(self, found: SessionWindow) -> dict[int, Turn]:
        """Settle the messages that are known by an id or time of their own; return their turns."""
        near = [place.turn for place in (*found.beginning, *found.end) if place.turn]
        stored = _Stored(near, {turn.id: turn for turn in (*found.held, *near)})
        for turn in stored.by_id.values():
            message = self._message_of(turn)
            stored.at[self._own_time(message) or turn.time, message.said].append(turn)
            stored.copies[message.id, message.said] = turn
        known: dict[int, Turn] = {}
        claimed: dict[str, str] = {}  # contents under ids in this list: a later one under the same id stays as well
        for number, turn in list(self._new.items()):
            is_first = claimed.setdefault(turn.id, self._said(number)) == self._said(number)
            former = stored.by_id.get(turn.id)
            same = self._stored_as(number, former, stored, found)
            if same is not None:
                known[number] = same
                self._settle(number, "exists", same.id)
            elif former is not None:
                self._change(number, former, by_id=is_first)
                self._changed[number] = former
            elif not self._again and self._is_forgotten(number, found):
                self._settle(number, "forgotten")
            elif not is_first:
                self._new[number] = replace(turn, id=uuid4().hex)
                self._notes[number] = _OTHER_CONTENT
        return known

    def _stored_as(self, number: int, former: Turn | None, stored: _Stored, found: SessionWindow) -> Turn | None:
        """Return the turn that a message is known by, where `former` has its id; None where there is none."""
        message, said = self._messages[number], self._said(number)
        if former is not None and (message.role == "system" or self._message_of(former).said == said):
            return former
        if former is not None or message.role == "system":
            same = stored.copies.get((message.id, said))  # of an earlier version, under another id
            if same is None and former is None and not self._again and self._new[number].id not in found.forgotten:
                same = self._same_prompt(self._new[number], stored.near)
                if same is not None:
                    why = "it differs in its date or wording from a system prompt that is stored, which stays"
                    self._settle(number, "exists", same.id, why)
            return same
        own = self._own_time(message)
        return stored.at[own, said].pop(0) if message.id is None and own and stored.at[own, said] else None

    def _is_forgotten(self, number: int, found: SessionWindow) -> bool:
        """Return whether a turn of this id or, without one, of this time and role was forgotten."""
        message, turn = self._messages[number], self._given[number]
        moments = {(turn.time, message.role), (self._own_time(message) or turn.time, message.role)}
        by_time = message.id is None and message.time is not None and bool(moments & found.forgotten)
        return turn.id in found.forgotten or by_time

    def _lay(self, numbers: Sequence[int], found: SessionWindow, known: Mapping[int, Turn]) -> None:
        """Settle the messages that stand in the session, and note the outcomes of the rest."""
        read = found.end if found.complete else (*found.beginning, _GAP, *found.end)
        places = [place for place in read if place.turn is None or place.turn.role != "system"]
        there = {place.seq: self._message_of(place.turn) for place in places if place.turn is not None}
        messages = [(self._messages[number], self._said(number)) for number in numbers]
        # Messages with ids or times of their own, here and there, are compared by these, too.
        loose = {said for message, said in messages if not _own(message)}
        loose |= {message.said for message in there.values() if not _own(message)}
        current = _in_dialogue_order([one for one in places if one.turn is None or not is_discarded(one.turn)])
        beside = self._beside(numbers, found, known, current, there, loose)
        laid = beside.align_list()
        if any(
            message.id is not None
            for number, (message, _) in zip(numbers, messages, strict=True)
            if number in self._new
        ):
            bare = self._beside(numbers, found, known, current, there, {said for _, said in messages} | loose)
            laid = self._without_new_ids(numbers, laid, bare, known, current)
        self._calls = laid.calls
        if laid.said_again is not None:
            self._calls = replace(laid.calls, said_again=current[laid.said_again].seq)
        elif found.calls.said_again:
            self._resolve_doubt(found.calls, laid, current)
        self._settle_places(numbers, laid, current, places)
        stands = {number: at for number, at in zip(numbers, laid.statuses, strict=True) if isinstance(at, int)}
        for number in self._new.keys() - set(numbers):  # a system prompt stood before the same message
            at = stands.get(number + 1, 0)
            if at and at - 1 not in stands.values() and current[at - 1].turn is None:
                self._stand(number, current[at - 1])

    def _without_new_ids(
        self,
        numbers: Sequence[int],
        laid: Alignment,
        bare: SessionAligner,
        known: Mapping[int, Turn],
        current: Sequence[Place],
    ) -> Alignment:
        """Return where messages stand, those included whose ids were given anew.

        Before a message that is known by its id, a message that says the same as the one in its place is that one, and
        one that is paired with another place is a change of the message there.
        """
        if not known:
            return bare.align_by_content() or laid
        stands, changed = bare.align_by_versions()
        ids = {place.turn.id: at for at, place in enumerate(current) if place.turn is not None}
        anchors = [(index, ids.get(known[number].id)) for index, number in enumerate(numbers) if number in known]
        last, place = next(((index, at) for index, at in reversed(anchors) if at is not None), (0, 0))
        old = {index: at for index, at in stands.items() if index < last and at < place}
        later = [index for index in stands if index > last and numbers[index] not in known]
        # Those behind one that was doubted, and has an id since, stand where they stood.
        old |= {index: stands[index] for index in later if bare.is_told_again(later)}
        edited = {index: at for index, at in changed.items() if index < last and at < place}
        instead = {index: at for index, at in laid.instead.items() if index not in old and at not in old.values()}
        instead |= {index: at for index, at in edited.items() if at not in old.values()}
        statuses = tuple(
            old[index]
            if index in old and number not in known
            else "edited"
            if index in edited and status == "new"
            else status
            for index, (number, status) in enumerate(zip(numbers, laid.statuses, strict=True))
        )
        return replace(laid, statuses=statuses, instead=instead)

    def _settle_places(
        self, numbers: Sequence[int], laid: Alignment, current: Sequence[Place], places: Sequence[Place]
    ) -> None:
        """Settle messages by where they stand among the current places; `places` has the discarded ones, too."""
        taken = {current[at].seq for at in (*laid.statuses, *laid.instead.values()) if isinstance(at, int)}
        left = [place for place in places if place.seq not in taken]
        for index, (number, status) in enumerate(zip(numbers, laid.statuses, strict=True)):
            if number not in self._new or number in self._changed or status == "new":
                continue
            former = current[laid.instead[index]].turn if index in laid.instead else None
            if isinstance(status, int):
                self._stand(number, current[status])
            elif status == "edited" and (same := self._take_moved(number, left)) is not None:
                self._settle(number, "exists", same.id)
                self._mark(same, discarded=False)
                if former is not None and self._is_changed(index, laid.instead, numbers, current):
                    self._mark(former)
            elif status == "edited" and former is not None:
                self._change(number, former, marks=self._is_changed(index, laid.instead, numbers, current))
            else:
                self._notes.setdefault(number, _NOTES[status])
            stored = (self._message_of(place.turn) for place in places if place.turn is not None)
            if (
                status == "edited"
                and number in self._new
                and any(_is_cut(self._messages[number], one) for one in stored)
            ):
                self._notes[number] = "uncertain", "it may be the beginning of a reply that is stored: both stay"

    def _resolve_doubt(self, before: Calls, laid: Alignment, current: Sequence[Place]) -> None:
        """Settle whether the message that the call before had again was said again, or had another reply.

        It is stored again where this caller proves to give only new messages; the reply of a list that has its message
        and a later one, but not the reply, was discarded. Of the same message once more nothing is known.
        """
        at = next((index for index, place in enumerate(current) if place.seq == before.said_again), -2)
        said, reply = ([place.turn for place in current[max(at, 0) : at + 2]] + [None, None])[:2]
        if said is not None and before.at and laid.calls.new > before.new:
            self._marked[said.id] = replace(
                said, id=uuid4().hex, time=datetime.fromisoformat(before.at) - _BEFORE_REPLY
            )
            if self._new and self._said(min(self._new)) == self._message_of(said).said:
                self._notes |= dict.fromkeys(self._new, _NOTES["uncertain"])
        placed = [one for one in laid.statuses if isinstance(one, int)]
        goes_on = len(laid.statuses) > 2 and placed[-1:] > [at + 1]
        if goes_on and at in placed and at + 1 not in placed and reply is not None:
            self._mark(reply)
        if laid.calls != before:
            now, then = ((one.whole, one.window, one.new) for one in (laid.calls, before))
            self._calls = replace(laid.calls, said_again=0 if now != then or goes_on else before.said_again)

    def _beside(
        self,
        numbers: Sequence[int],
        found: SessionWindow,
        known: Mapping[int, Turn],
        places: Sequence[Place],
        there: Mapping[int, ChatMessage],
        loose: set[str],
    ) -> SessionAligner:
        """Return messages beside the places of the session; those of `loose` contents are compared by these alone."""
        messages = [(self._messages[number], self._said(number)) for number in numbers]
        ids = [known[number].id if number in known else self._given[number].id for number in numbers]
        for at, number in enumerate(numbers):  # one that was changed stands where the former one stood
            if number in self._changed:
                messages[at] = (self._messages[number], self._message_of(self._changed[number]).said)
                ids[at] = self._changed[number].id
        cut_off = list(self._cut_off(messages, places, there))
        for at, place in cut_off:
            messages[at] = (messages[at][0], there[place.seq].said)
            ids[at] = place.turn.id if place.turn else ids[at]
        texts = [(there[place.seq].text, there[place.seq].role) if place.turn else ("", "") for place in places]
        return SessionAligner(
            [said if said in loose else f"{said} {turn_id}" for (_, said), turn_id in zip(messages, ids, strict=True)],
            [message.text for message, _ in messages],
            [message.role for message, _ in messages],
            [_comparison_key(place, there, loose) for place in places],
            [text for text, _ in texts],
            [role for _, role in texts],
            found.complete,
            [
                self._messages[number].id is not None
                and number not in known
                and self._given[number].id not in found.forgotten
                for number in numbers
            ],
            [place.turn is not None and place.turn.time == self._time for place in places],
            found.calls,
            "" if self._time is None else self._time.isoformat(),
            is_cut=bool(cut_off),
        )

    def _cut_off(
        self,
        messages: Sequence[tuple[ChatMessage, str]],
        places: Sequence[Place],
        there: Mapping[int, ChatMessage],
    ) -> Iterator[tuple[int, Place]]:
        """Yield messages that are the beginnings of stored replies, with the places of these.

        Such a message stands after the message that the reply answered. Where that was deleted, it stands before the
        next one of the session or, as long as no reply is by chance, before any later one.
        """
        stored = [there.get(place.seq) for place in places]
        says = [None if one is None else one.said for one in stored]
        pairs, last = {*pairwise(says)}, {said: index for index, said in enumerate(says)}
        later = [*accumulate((last.get(said, -1) for _, said in reversed(messages)), max, initial=-1)][::-1]
        before = ""
        for at, (message, said) in enumerate(messages):
            replies = enumerate(stored) if (before, said) not in pairs else ()
            after = [said for _, said in messages[at + 1 : at + 2]]
            follows, precedes, is_early, index = max(
                (
                    (says[one - 1 : one] == [before], says[one + 1 : one + 2] == after != [], one < later[at + 1], one)
                    for one, reply in replies if _is_cut(message, reply)
                ),
                default=(False, False, False, 0),
            )  # fmt: skip
            before = said
            precedes = precedes and (said, *after) not in pairs
            if follows or precedes or (said not in last and is_early and is_distinctive(message.text)):
                before = str(says[index])
                yield at, places[index]

    def _take_moved(self, number: int, left: list[Place]) -> Turn | None:
        """Return the turn of a place that is left and has the content of a message, and take it; None without one."""
        for place in left:
            if place.turn is not None and self._message_of(place.turn).said == self._said(number):
                left.remove(place)
                return place.turn
        return None

    def _is_changed(
        self, index: int, instead: Mapping[int, int], numbers: Sequence[int], places: Sequence[Place]
    ) -> bool:
        """Return whether a message is another version of the one in its place, or another reply to the same message."""
        former = places[instead[index]].turn
        if former is None:
            return False
        if self._is_like(numbers[index], former):
            return True
        if former.role != "assistant" or not index:
            return False
        before = instead.get(index - 1)
        return before is None or self._is_changed(index - 1, instead, numbers, places)

    def _is_like(self, number: int, former: Turn) -> bool:
        message = self._messages[number]
        return message.role == former.role and word_overlap(former.text, message.text) >= LIKENESS_OF_EDIT

    def _change(self, number: int, former: Turn, *, by_id: bool = True, marks: bool | None = None) -> None:
        """Settle a message that changed a stored turn.

        A reply that was cut off gives way to the whole one. Of any other pair both stay, the former one marked as
        discarded where it is another version of the message (`marks`), unless it is to be replaced.
        """
        turn, text = self._new[number], self._messages[number].text
        reply = turn.role == former.role == "assistant"
        if _is_cut(self._messages[number], self._message_of(former)):
            self._settle(number, "exists", former.id, _CUT_OFF)
        elif by_id and (self._replace or (reply and is_truncation_of(former.text, text))):
            time = turn.time if self._messages[number].time else former.time
            self._new[number] = replace(turn, id=former.id, time=time)
            self._replaced.add(former.id)
        else:
            if turn.id == former.id:
                self._new[number] = replace(turn, id=uuid4().hex)
            self._notes[number] = _NOTES["edited"] if marks is not None else _OTHER_CONTENT
            if self._is_like(number, former) if marks is None else marks:
                self._mark(former)

    def _mark(self, turn: Turn, *, discarded: bool = True) -> None:
        """Have a stored turn marked as discarded, or no longer so."""
        if is_discarded(turn) != discarded and turn.id not in self._replaced:
            metadata = {name: value for name, value in turn.metadata.items() if name != DISCARDED}
            self._marked[turn.id] = replace(turn, metadata={**metadata, DISCARDED: True} if discarded else metadata)

    def _own_time(self, message: ChatMessage) -> datetime | None:
        """Return the time that a message has of its own, as a time of the memory's kind; None where it has none."""
        try:
            return None if message.time is None else self._ingestion.times.to_local(message.time)
        except OverflowError:
            return None

    def _same_prompt(self, turn: Turn, near: Sequence[Turn]) -> Turn | None:
        """Return the stored system prompt of which a message is another version; None where there is none.

        It differs from any in its date or time only, or is like the one of this session.
        """
        plain = _without_clock(turn.text)
        # Compare with the 16 newest system prompts.
        listed = self._store.turns(Listing(role="system", limit=16, newest=True))
        alike = (old for old in listed if _without_clock(old.text) == plain)
        own = (old for old in near if old.role == "system" and word_overlap(old.text, turn.text) >= LIKENESS_OF_EDIT)
        return next(alike, None) or next(own, None)

    def _message_of(self, turn: Turn) -> ChatMessage:
        if turn.id not in self._read:
            self._read[turn.id] = _message_of(turn)
        return self._read[turn.id]

    def _said(self, number: int) -> str:
        """Return the content of a message, without text that evimem wrote into it for a prompt."""
        message = self._messages[number]
        return _message_of(self._given[number]).said if OPEN in message.text else message.said

    def _stand(self, number: int, place: Place) -> None:
        """Settle a message that stands in a place."""
        if place.turn is not None:
            is_cut = self._said(number) != self._message_of(place.turn).said and _is_cut(
                self._messages[number], self._message_of(place.turn)
            )
            self._settle(number, "exists", place.turn.id, _CUT_OFF if is_cut else None)
        elif not self._again:
            self._settle(number, "forgotten")
        elif number in self._new:
            self._places[self._new[number].id] = place.seq

    def _settle(self, number: int, outcome: TurnOutcome, turn_id: str = "", reason: str | None = None) -> None:
        """Have a message not stored."""
        turn = self._new.pop(number, None)
        if turn is not None:
            self._statuses[number] = TurnStatus(turn_id or turn.id, outcome, reason)


def _in_dialogue_order(places: Sequence[Place]) -> list[Place]:
    """Return places in the order of the dialogue: a message that was stored after its reply stands before that."""
    found: list[Place] = []
    for place in places:
        turn, reply = place.turn, found[-1].turn if found else None
        late = turn is not None and reply is not None and turn.role == "user" and reply.role != "user"
        if late and turn is not None and reply is not None and turn.time + _BEFORE_REPLY == reply.time:
            found.insert(-1, place)
        else:
            found.append(place)
    return found


def _is_cut(message: ChatMessage, reply: ChatMessage | None) -> bool:
    """Return whether a message is a reply that was cut off, or any message without the media that it had."""
    if reply is None or reply.role != message.role or not is_truncation_of(message.text, reply.text):
        return False
    return (
        message.role == "assistant" or message_words(json.loads(reply.raw), message.role) == message.text != reply.text
    )


def _own(message: ChatMessage) -> bool:
    return message.id is not None or message.time is not None


def _comparison_key(place: Place, there: Mapping[int, ChatMessage], loose: set[str]) -> str | None:
    """Return the comparison key of a place; None for one that any message may have stood in."""
    if place is _GAP:
        return ""
    if place.turn is None or (place.other and "message" not in place.turn.metadata):
        return None
    said = there[place.seq].said
    return said if said in loose else f"{said} {place.turn.id}"


def _message_of(turn: Turn) -> ChatMessage:
    """Return the message of a turn as it was given; one that came another way is a message with its words."""
    raw = turn.metadata.get("message")
    if isinstance(raw, str) and raw.startswith("{") and OPEN not in raw:
        try:
            message = read_raw_message(raw)
            if message.text.strip() == turn.text.strip():
                return message
        except (ValueError, RecursionError):
            pass  # the application's own, or a message of another form
    named = {} if turn.speaker == turn.role else {"name": turn.speaker}
    return read_message({"role": turn.role, **named, "content": turn.text or turn.caption or ""})


def _without_clock(text: str) -> list[str]:
    """Return the words of a text without figures and the words of a date."""
    return [word for word in words(text) if not _CLOCK_WORD.search(word)]
