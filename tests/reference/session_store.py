"""Sessions as lists of places in memory: the reference that `remember` on a file is tested against.

Only the verbs that `Memory.remember` and `Memory.turns` call are there, for sessions that have a name.
"""

import re
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import datetime

from evimem.errors import InvalidTurn, TurnConflict
from evimem.raw.turn_log import hash_turn
from evimem.raw.validate import AS_GIVEN
from evimem.types.results import AddReport, TurnStatus
from evimem.types.stored import Calls, Continuation, Listing, Place, SessionWindow, WindowRequest
from evimem.types.values import Turn, instant
from tests.reference.from_scratch import listed

ID_BY_CONTENT = re.compile(r"[0-9a-f]{30}(-\d+)?")  # evimem's own, which no message has


@dataclass
class Session:
    """The places of a session in order, each with the id of its turn, and how its lists came so far."""

    places: dict[int, str] = field(default_factory=dict)
    calls: Calls = field(default_factory=Calls)
    forgotten: set[tuple[datetime, str]] = field(default_factory=set)
    changes: int = 0


class SessionStore:
    """A store of named sessions. Nothing is durable, and nothing is searched."""

    name, times = "sessions in memory", AS_GIVEN

    def __init__(self) -> None:
        self._turns: dict[str, tuple[int, Turn]] = {}  # with the number of each, by id
        self._sessions: dict[str, Session] = defaultdict(Session)
        self._forgotten: set[str] = set()
        self._newest = 0

    def require_writable(self) -> None:
        """Accept every call that writes."""

    def turns(self, listing: Listing) -> Iterator[Turn]:
        """Yield the turns of a listing."""
        named = self._sessions[listing.session].places.values() if listing.session else self._turns
        return iter(listed([self._turns[one][1] for one in named], listing))

    def read_session_window(self, asked: WindowRequest) -> SessionWindow:
        """Return the places of a session at its beginning and end, and the turns of the ids and times asked for."""
        session = self._session(asked.session)
        places = [self._place(*one) for one in session.places.items()]
        end = places[max(0, len(places) - asked.end) :]
        kept = [turn for turn in (self._turns[one][1] for one in session.places.values())]
        said = {(instant(time), role) for time, role in asked.moments}
        instants = {time for time, _ in said}
        prompts = (self._turns[one][1] for one in asked.ids if one in self._turns)
        held = [one for one in kept if one.id in asked.ids or instant(one.time) in instants]
        held += [one for one in prompts if one.role == "system" and one.session != asked.session]
        standing = {(one.time, one.role) for one in held}
        gone = self._forgotten.intersection(asked.ids)
        moments = {one for one in asked.moments if one not in standing and one in session.forgotten}
        first = next(iter(self._turns.values()), None)
        aware = None if first is None else first[1].time.tzinfo is not None
        complete = len(places) <= asked.end
        beginning = tuple((end if complete else places)[: asked.beginning])
        state = ("", session.changes)
        return SessionWindow(beginning, tuple(end), complete, tuple(held), gone | moments, session.calls, aware, state)

    def continue_session(self, more: Continuation) -> tuple[AddReport, tuple[str, int]] | None:
        """Store the continuation of a session; None where it changed since it was read."""
        session = self._session(more.session)
        if more.state != ("", session.changes):
            return None
        stale, statuses = dict[str, int](), list[TurnStatus]()
        for entry in more.entries:
            old = self._turns.get(entry.turn.id)
            if old is not None and entry.turn.id in more.replaced and hash_turn(old[1]) != hash_turn(entry.turn):
                stale[entry.turn.id] = self._drop(session, old[1])
        for entry in more.entries:
            turn = entry.turn
            if turn.id in self._turns:
                same = hash_turn(self._turns[turn.id][1]) == hash_turn(turn)
                why = None if same else str(TurnConflict(turn.id))
                statuses.append(TurnStatus(turn.id, "exists" if same else "refused", why))
                continue
            self._newest += 1
            self._turns[turn.id] = self._newest, turn
            session.places[stale.get(turn.id, self._newest)] = turn.id
            outcome = "readded" if turn.id in self._forgotten else "added"
            statuses.append(TurnStatus(turn.id, "replaced" if turn.id in stale else outcome))
        session.places = dict(sorted(session.places.items()))
        session.calls, session.changes = more.calls, session.changes + 1
        return AddReport.of(statuses, 0), ("", session.changes)

    def _session(self, name: str) -> Session:
        if not name:
            raise InvalidTurn("a session in memory has a name; give session=")
        return self._sessions[name]

    def _place(self, place: int, turn_id: str) -> Place:
        number, turn = self._turns[turn_id]
        return Place(place, turn, other=number != place)

    def _drop(self, session: Session, turn: Turn) -> int:
        """Erase a turn that another of its id replaces; return its place."""
        del self._turns[turn.id]
        if not ID_BY_CONTENT.fullmatch(turn.id):
            self._forgotten.add(turn.id)
        session.forgotten.add((turn.time, turn.role or ""))
        place = next(one for one, other in session.places.items() if other == turn.id)
        del session.places[place]
        return place
