"""Messages of a chat API as turns: each is stored once, whether the whole history comes each time or what is new."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from hashlib import blake2b
from uuid import uuid4

from ..errors import InvalidTurn
from ..flow import Flow
from ..loaders.chat_messages import ChatMessage, read_message
from ..store.keeper import Keeper
from ..text.memory_fence import OPEN
from ..types.results import AddReport, TurnOutcome, TurnStatus
from ..types.stored import Calls, Continuation, Entry, Past, PastWanted, Place
from ..types.values import Turn
from .add import BATCH, Ingestion
from .continuation import Beside, Standing

_NO_TIME = datetime(2000, 1, 1)  # of a message that has none, until it turns out to be known
_PAIR = 2  # messages: so short a list is not looked for at the beginning of a longer session
_NEARBY = 8  # places read beyond twice the length of the list: where one that comes late may stand
_GAP = Place(-1, None)  # between the beginning and the end of a session that was not read whole
_NOTES: dict[Standing, tuple[TurnOutcome, str]] = {
    "uncertain": (
        "uncertain",
        "it may be stored already: the list begins with what was said last, but the lists before it held only what "
        "was new",
    ),
    "edited": ("added", "the history was changed: what was stored before stays, and this is stored beside it"),
}
_OTHER_CONTENT: tuple[TurnOutcome, str] = ("added", "its id is that of another message with other content: both stay")


class Remembering:
    """One call of `remember`. What was decided for its first batch holds for the others."""

    def __init__(
        self,
        store: Keeper,
        messages: Sequence[ChatMessage],
        session: str,
        time: datetime | None,
        ingestion: Ingestion,
        *,
        again: bool = False,
    ) -> None:
        """`time` is that of new messages that have none of their own; `again` stores what was forgotten, too."""
        self._store = store
        self._messages, self._session, self._time, self._ingestion = messages, session, time, ingestion
        self._again = again
        self._strict = ingestion.strict
        outcomes = [ingestion.admitted(self._turn(message)) for message in messages]
        self._refused = {number: one for number, one in enumerate(outcomes) if isinstance(one, TurnStatus)}
        self._given = {number: one for number, one in enumerate(outcomes) if isinstance(one, Turn)}
        self._new: dict[int, Turn] = {}  # what is stored, by the number of its message
        self._notes: dict[int, tuple[TurnOutcome, str]] = {}  # what there is to say of it
        self._statuses: dict[int, TurnStatus] = {}  # of everything else, and of what was stored
        self._entries: dict[int, Entry] = {}
        self._read: dict[str, ChatMessage] = {}  # the messages of stored turns, by id
        self._places: dict[str, int] = {}  # of what was forgotten and is stored again, by its id
        self._calls = Calls()
        self._state = ("", -1)

    def batches(self) -> Iterator[Flow[AddReport]]:
        """Yield a flow for each batch of messages, one transaction each."""
        for start in range(0, len(self._messages), BATCH):
            yield self._keep(range(start, min(start + BATCH, len(self._messages))))

    def _turn(self, message: ChatMessage) -> Turn:
        time, metadata = message.time or self._time or _NO_TIME, {"message": message.raw}
        turn_id = self._id(message)
        return Turn(turn_id, self._session, message.speaker, message.text, time, role=message.role, metadata=metadata)

    def _id(self, message: ChatMessage) -> str:
        """Return the id of a message's turn: of a system prompt, which no session has alone, a digest of it."""
        if message.role == "system":
            return blake2b(f"system {message.said}".encode(), digest_size=15).hexdigest()
        if message.id is None:
            return uuid4().hex
        return f"{self._session}:{message.id}" if self._session else message.id

    def _keep(self, batch: range) -> Flow[AddReport]:
        """Store what is new in a batch. Where others stored something in the session meanwhile, look at it again."""
        facts = 0
        if not batch.start:
            self._decide()
        while new := [number for number in batch if number in self._new]:
            yield from self._derive(new)
            calls = replace(self._calls, done=sum(number < batch.stop for number in self._given))
            entries = tuple(self._entries[number] for number in new)
            kept = self._store.continue_session(
                Continuation(self._session, entries, calls, self._state, self._places, strict=self._strict)
            )
            if kept is not None:
                report, self._state = kept
                facts = report.facts
                for number, status in zip(new, report.statuses, strict=True):
                    own = (status.outcome, status.reason or self._messages[number].note)
                    outcome, reason = self._notes.get(number, own)
                    refused = status.outcome == "refused"
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
        entries = yield from self._ingestion.entries([self._new[number] for number in fresh])
        kept |= zip(fresh, entries, strict=True)

    def _decide(self) -> None:
        """Lay the list beside its session, and keep out of what is new what is known."""
        self._new, self._statuses, self._notes, self._places = dict(self._given), dict(self._refused), {}, {}
        size = len(self._given)
        found = self._past(beginning=size if size > _PAIR else 0, end=2 * size + _NEARBY)
        self._calls = found.calls
        known = self._known(found)
        dialogue = [number for number in self._given if self._messages[number].role != "system"]
        if any(number in self._new for number in dialogue):
            self._lay(dialogue, found, known)

    def _look_again(self, start: int) -> None:
        """Leave out what others have stored since the batch before: those who repeat this call."""
        found = self._past(beginning=0, end=0)
        self._known(found)
        repeated = (found.calls.at, found.calls.size) == (self._calls.at, self._calls.size) != ("", 0)
        for number in list(self._given)[start : found.calls.done] if repeated and self._calls.at else ():
            self._settle(number, "exists")

    def _past(self, beginning: int, end: int) -> Past:
        """Read what the list is laid beside, and the turns that have what its messages have of their own."""
        named = [(self._messages[number], turn) for number, turn in self._given.items()]
        ids = tuple(turn.id for message, turn in named if message.id or message.role == "system")
        moments = tuple({(turn.time, message.role) for message, turn in named if message.time})
        found = self._store.past(PastWanted(self._session, beginning, end, ids, moments))
        self._state = found.state
        # A time of the call that is not of the memory's kind is the caller's mistake, not that of one message.
        aware = None if self._time is None else self._ingestion.times.read(self._time).tzinfo is not None
        self._strict = self._ingestion.strict or (aware is not None and found.aware not in (None, aware))
        return found

    def _known(self, found: Past) -> dict[int, Turn]:
        """Settle the messages that are known by an id or time of their own; return their turns."""
        near = [place.turn for place in (*found.beginning, *found.end) if place.turn]
        stored = {turn.id: turn for turn in (*found.held, *near)}
        at: dict[tuple[datetime, str], list[Turn]] = defaultdict(list)
        copies: dict[tuple[str | None, str], Turn] = {}
        for turn in stored.values():
            message = self._message_of(turn)
            at[turn.time, message.said].append(turn)
            copies[message.id, message.said] = turn
        known: dict[int, Turn] = {}
        claimed: dict[str, str] = {}  # what is said under an id in this list: what comes later under it stays as well
        for number, turn in list(self._new.items()):
            message, said = self._messages[number], self._said(number)
            same = stored.get(turn.id)
            if same is None and claimed.setdefault(turn.id, said) != said:
                self._new[number] = replace(turn, id=uuid4().hex)
                self._notes[number] = _OTHER_CONTENT
            if same is not None and message.role != "system" and self._message_of(same).said != said:
                same = copies.get((message.id, said))
                if same is None:
                    self._new[number] = replace(turn, id=uuid4().hex)
                    self._notes[number] = _OTHER_CONTENT
            elif same is None and message.role == "system":
                same = copies.get((message.id, said))  # of an earlier version, under another id
            elif same is None and message.id is None and message.time is not None and at[turn.time, said]:
                same = at[turn.time, said].pop(0)
            if same is not None:
                known[number] = same
                self._settle(number, "exists", same.id)
            elif not self._again and (
                turn.id in found.forgotten
                or (message.id is None and message.time and (turn.time, message.role) in found.forgotten)
            ):
                self._settle(number, "forgotten")
        return known

    def _lay(self, numbers: Sequence[int], found: Past, known: Mapping[int, Turn]) -> None:
        """Settle the messages that stand in the session, and note of others what there is to say."""
        read = found.end if found.complete else (*found.beginning, _GAP, *found.end)
        places = [place for place in read if place.turn is None or place.turn.role != "system"]
        there = {place.seq: self._message_of(place.turn) for place in places if place.turn is not None}
        messages = [(self._messages[number], self._said(number)) for number in numbers]
        # What is said with an id or a time of its own, here and there, is compared by these, too.
        loose = {said for message, said in messages if not _own(message)}
        loose |= {message.said for message in there.values() if not _own(message)}
        ids = [known[number].id if number in known else self._given[number].id for number in numbers]
        beside = Beside(
            [said if said in loose else f"{said} {turn_id}" for (_, said), turn_id in zip(messages, ids, strict=True)],
            [message.text for message, _ in messages],
            [message.role == "user" for message, _ in messages],
            [_compared(place, there, loose) for place in places],
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
        )
        laid = beside.laid()
        self._calls = laid.calls
        stands = {number: at for number, at in zip(numbers, laid.standings, strict=True) if isinstance(at, int)}
        for number, standing in zip(numbers, laid.standings, strict=True):
            if isinstance(standing, int):
                self._stand(number, places[standing])
            elif standing != "new":
                self._notes.setdefault(number, _NOTES[standing])
        for number in self._new.keys() - set(numbers):  # a system prompt stood before what it stands before now
            at = stands.get(number + 1, 0)
            if at and at - 1 not in stands.values() and places[at - 1].turn is None:
                self._stand(number, places[at - 1])

    def _message_of(self, turn: Turn) -> ChatMessage:
        if turn.id not in self._read:
            self._read[turn.id] = _message_of(turn)
        return self._read[turn.id]

    def _said(self, number: int) -> str:
        """Return what a message says, without what evimem itself wrote into it for a prompt."""
        message = self._messages[number]
        return _message_of(self._given[number]).said if OPEN in message.text else message.said

    def _stand(self, number: int, place: Place) -> None:
        """Settle a message that stands in a place."""
        if place.turn is not None:
            self._settle(number, "exists", place.turn.id)
        elif not self._again:
            self._settle(number, "forgotten")
        elif number in self._new:
            self._places[self._new[number].id] = place.seq

    def _settle(self, number: int, outcome: TurnOutcome, turn_id: str = "") -> None:
        """Have a message not stored."""
        turn = self._new.pop(number, None)
        if turn is not None:
            self._statuses[number] = TurnStatus(turn_id or turn.id, outcome)


def _own(message: ChatMessage) -> bool:
    return message.id is not None or message.time is not None


def _compared(place: Place, there: Mapping[int, ChatMessage], loose: set[str]) -> str | None:
    """Return what a place is compared by; None for one that any message may have stood in."""
    if place is _GAP:
        return ""
    if place.turn is None or place.other:
        return None
    said = there[place.seq].said
    return said if said in loose else f"{said} {place.turn.id}"


def _message_of(turn: Turn) -> ChatMessage:
    """Return the message of a turn as it was given; one that came another way is a message with its words."""
    raw = turn.metadata.get("message")
    if isinstance(raw, str) and OPEN not in raw:
        try:
            message = read_message(json.loads(raw))
            if message.text.strip() == turn.text.strip():
                return message
        except (ValueError, RecursionError):
            pass  # the application's own, or a message of another form
    named = {} if turn.speaker == turn.role else {"name": turn.speaker}
    return read_message({"role": turn.role, **named, "content": turn.text or turn.caption or ""})
