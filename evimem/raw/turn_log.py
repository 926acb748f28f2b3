"""The Raw layer: verbatim turns, append-only, each with a digest; everything else in a file is derived from them."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import datetime
from hashlib import blake2b
from typing import Any, TypeVar

from ..db.connection import Connection
from ..db.text_columns import bindable, unbound
from ..errors import StoreCorrupt, UnknownTurn
from ..types.stored import COUNTED, Listing, Roster
from ..types.values import Turn
from ..types.where import Where, canonical
from .clock import forget_clock
from .name_table import NameTable
from .validate import instant

_COLUMNS = (
    "turn.seq, turn.id, session.name, speaker.name, turn.text, turn.time, turn.caption, turn.role, "
    "turn.metadata, turn.digest FROM turn JOIN session ON session.ord = turn.session "
    "JOIN speaker ON speaker.ord = turn.speaker"
)
# An indexed id would be read from the index alone. The join reads the row too, which shows a damaged index.
_FIND = (
    "SELECT named.id, named.seq, turn.id FROM turn AS named LEFT JOIN turn ON turn.seq = named.seq WHERE named.id IN"
)
T = TypeVar("T")
_ORDERS = {"$gt": ">", "$gte": ">=", "$lt": "<", "$lte": "<="}
_PAGE = 2000  # turns read at once
_PARAMETERS = 500  # row numbers in one statement; SQLite has a limit


@dataclass(frozen=True, slots=True)
class TurnRows:
    """The row numbers of a stored turn, of its session and of its speaker."""

    seq: int
    session: int
    speaker: int


@dataclass(frozen=True, slots=True, order=True)
class DialoguePlace:
    """A place in the dialogue order: the instant of a turn in microseconds since 1970, and its sequence number."""

    instant: int
    seq: int

    @property
    def next(self) -> DialoguePlace:
        """The earliest place after this one."""
        return DialoguePlace(self.instant, self.seq + 1)


BEGINNING = DialoguePlace(-(2**63), 0)


class RawLog:
    """Turns in SQLite. A sequence number (`seq`) counts turns in order of arrival from 1; it is never used twice."""

    def __init__(self, db: Connection) -> None:
        self._db = db
        self.sessions: NameTable = NameTable(db, "session")
        self.speakers: NameTable = NameTable(db, "speaker")

    def append(self, turn: Turn) -> TurnRows:
        """Store a validated turn; return its row numbers."""
        session, speaker = self.sessions.number_or_add(turn.session), self.speakers.number_or_add(turn.speaker)
        seq = self._db.execute(
            "INSERT INTO turn (id, session, speaker, role, text, caption, time, instant, metadata, digest) "
            "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
            (
                turn.id,
                session,
                speaker,
                turn.role,
                bindable(turn.text),
                None if turn.caption is None else bindable(turn.caption),
                turn.time.isoformat(),
                instant(turn.time),
                canonical(turn.metadata),
                digest(turn),
            ),
        )
        return TurnRows(seq, session, speaker)

    def place(self, seq: int) -> TurnRows:
        """Return the row numbers of a stored turn."""
        return TurnRows(seq, *self._db.rows("SELECT session, speaker FROM turn WHERE seq = ?", (seq,))[0])

    def holds(self, turn: Turn) -> bool | None:
        """Return whether the id of a turn is stored with its content; None for an unknown id.

        The same moment with another offset is the same content: a memory may have got its timezone later.
        """
        for kept, time in self._db.rows("SELECT digest, time FROM turn WHERE id = ?", (bindable(turn.id),)):
            if kept == digest(turn):
                return True
            with suppress(ValueError):  # damaged, and so other than any turn
                stored = datetime.fromisoformat(time)
                return stored == turn.time and bool(kept == digest(replace(turn, time=stored)))
            return False
        return None

    def set_time(self, seq: int, turn: Turn) -> None:
        """Write the time of a stored turn with the offset of the turn as it is given; the moment is the same."""
        self._db.execute(
            "UPDATE turn SET time = ?, digest = ? WHERE seq = ?", (turn.time.isoformat(), digest(turn), seq)
        )

    def find(self, turn_id: str) -> int | None:
        """Return the sequence number of an id, or None for an unknown one."""
        return self.find_all([turn_id])[0]

    def find_all(self, turn_ids: Sequence[str]) -> list[int | None]:
        """Return the sequence number of each of these ids, None for an unknown one."""
        given: Sequence[object] = turn_ids
        named = [bindable(one) for one in given if isinstance(one, str)]  # no stored turn has another id
        found: dict[object, int] = {}
        for page in _chunks(named):
            for turn_id, seq, stored in self._db.rows(f"{_FIND} ({_marks(page)})", page):
                if stored != turn_id:
                    raise StoreCorrupt(f"the index of ids leads from {turn_id!r} to another turn; run `evimem doctor`")
                found[unbound(turn_id)] = int(seq)
        return [found.get(one) if isinstance(one, str) else None for one in given]

    def ids(self, seqs: Sequence[int]) -> dict[int, str]:
        """Return the ids of these sequence numbers."""
        return {
            seq: turn_id
            for page in _chunks(seqs)
            for seq, turn_id in self._db.rows(f"SELECT seq, id FROM turn WHERE seq IN ({_marks(page)})", page)
        }

    def seqs(self, turn_ids: Sequence[str]) -> list[int]:
        """Return the sequence numbers of these ids. Raise UnknownTurn."""
        found = []
        for turn_id, seq in zip(turn_ids, self.find_all(turn_ids), strict=True):
            if seq is None:
                raise UnknownTurn(turn_id)
            found.append(seq)
        return found

    def read(self, seqs: Sequence[int]) -> list[Turn]:
        """Return the turns of these sequence numbers, in the order asked."""
        turns: dict[int, Turn] = {}
        for page in _chunks(seqs):
            found = self._db.rows(f"SELECT {_COLUMNS} WHERE turn.seq IN ({_marks(page)})", page)
            turns |= {row[0]: _turn(row) for row in found}
        return [turns[seq] for seq in seqs]

    def around(self, seq: int, before: int, after: int) -> list[int]:
        """Return the sequence numbers around one in dialogue order (session; time, arrival), it included."""
        session, at = self._db.rows("SELECT session, instant FROM turn WHERE seq = ?", (seq,))[0]
        # Each half is one range of the index `turn_in_dialogue`, read from the turn outwards.
        earlier = self._db.rows(
            "SELECT seq FROM turn WHERE session = ? AND (instant, seq) < (?, ?) "
            "ORDER BY instant DESC, seq DESC LIMIT ?",
            (session, at, seq, before),
        )
        later = self._db.rows(
            "SELECT seq FROM turn WHERE session = ? AND (instant, seq) > (?, ?) ORDER BY instant, seq LIMIT ?",
            (session, at, seq, after),
        )
        return [row[0] for row in reversed(earlier)] + [seq] + [row[0] for row in later]

    def contexts(self, turn_ids: Sequence[str], before: int, after: int) -> list[tuple[Turn, ...]]:
        """Return the turns around each of these, in dialogue order, it included. Raise UnknownTurn."""
        around = [self.around(seq, before, after) for seq in self.seqs(turn_ids)]
        seqs = sorted({seq for some in around for seq in some})
        turns = dict(zip(seqs, self.read(seqs), strict=True))
        return [tuple(turns[seq] for seq in some) for some in around]

    def order(self, turn_ids: Sequence[str]) -> list[str]:
        """Return these ids in dialogue order, each once. Raise UnknownTurn."""
        named = dict(zip(self.seqs(turn_ids), turn_ids, strict=True))
        places = (
            DialoguePlace(at, seq)
            for page in _chunks(list(named))
            for at, seq in self._db.rows(f"SELECT instant, seq FROM turn WHERE seq IN ({_marks(page)})", page)
        )
        return [named[place.seq] for place in sorted(places)]

    def select(self, listing: Listing) -> list[int]:
        """Return the sequence numbers of the turns of a listing, whatever its limit; ascending."""
        where, args = _conditions(listing)
        where = where.replace("+turn.speaker", "turn.speaker")  # here its index serves
        return [row[0] for row in self._db.rows(f"SELECT turn.seq FROM turn WHERE {where} ORDER BY turn.seq", args)]

    def listed(self, listing: Listing, start: DialoguePlace, limit: int) -> list[tuple[DialoguePlace, Turn]]:
        """Return the first turns of a listing from a place on, in dialogue order: `limit` of them, a page at most."""
        if listing.after is not None:  # as the start of the range: of two lower bounds, SQLite might use the wider
            start, listing = max(start, DialoguePlace(instant(listing.after), 0)), replace(listing, after=None)
        where, args = _conditions(listing)
        rows = self._db.rows(
            f"SELECT turn.instant, {_COLUMNS} WHERE {where} AND (turn.instant, turn.seq) >= (?, ?) "
            "ORDER BY turn.instant, turn.seq LIMIT ?",
            (*args, start.instant, start.seq, min(limit, _PAGE)),
        )
        return [(DialoguePlace(at, row[0]), _turn(row)) for at, *row in rows]

    def place_of_last(self, listing: Listing) -> DialoguePlace:
        """Return where the last `limit` turns of a listing begin: the beginning where there are no more than these."""
        if not listing.limit:
            return BEGINNING
        where, args = _conditions(listing)
        found = self._db.rows(
            f"SELECT turn.instant, turn.seq FROM turn WHERE {where} "
            "ORDER BY turn.instant DESC, turn.seq DESC LIMIT 1 OFFSET ?",
            (*args, listing.limit - 1),
        )
        return DialoguePlace(*found[0]) if found else BEGINNING

    def pages(self, after: int = 0) -> Iterator[list[tuple[int, Turn]]]:
        """Yield all turns in order of arrival, a page at a time, without holding a transaction between pages."""
        sql = f"SELECT {_COLUMNS} WHERE turn.seq > ? ORDER BY turn.seq LIMIT ?"
        for page in self._db.pages(sql, (after,), _PAGE):
            yield [(row[0], _turn(row)) for row in page]

    def erase(self, seqs: Sequence[int]) -> None:
        """Delete turns, and the names of sessions and speakers that then have none."""
        self._db.executemany("DELETE FROM turn WHERE seq = ?", [(seq,) for seq in seqs])
        self.sessions.drop_unused()
        self.speakers.drop_unused()
        if self.count() == 0:
            forget_clock(self._db)

    def erase_all(self) -> None:
        """Delete every turn and name. Sequence numbers go on from where they were."""
        self._db.execute("DELETE FROM turn")  # first, for its foreign keys
        self.sessions.clear()
        self.speakers.clear()
        forget_clock(self._db)

    def count(self) -> int:
        """Return how many turns there are."""
        return int(self._db.value("SELECT count(*) FROM turn"))

    def high_water(self) -> int:
        """Return the highest sequence number ever given, erased ones included."""
        return int(self._db.value("SELECT seq FROM sqlite_sequence WHERE name = 'turn'") or 0)

    def roster(self) -> Roster:
        """Return the speakers in the order in which they first spoke, and the time of the first and last turn."""
        first = self._db.value("SELECT time FROM turn ORDER BY instant, seq LIMIT 1")
        last = self._db.value("SELECT time FROM turn ORDER BY instant DESC, seq DESC LIMIT 1")
        # Counting stops at COUNTED: only whether a memory is small matters here, and a full count scans the table.
        turns = self._db.value(f"SELECT count(*) FROM (SELECT 1 FROM turn LIMIT {COUNTED})")
        return Roster(
            self.speakers.names(), first and datetime.fromisoformat(first), last and datetime.fromisoformat(last), turns
        )


def _conditions(listing: Listing) -> tuple[str, list[Any]]:
    """Return the conditions of a listing as SQL over `turn`, with their arguments.

    The unary plus keeps SQLite from the index of speakers: it has no order, so that all turns of one would be sorted
    for each page. Turns are read in the order of `turn_in_dialogue` (with a session) or `turn_in_time`.
    """
    args: list[Any] = []
    clauses = ["1"]
    for clause, value in (
        ("turn.session = (SELECT ord FROM session WHERE name = ?)", listing.session and bindable(listing.session)),
        ("+turn.speaker = (SELECT ord FROM speaker WHERE name = ?)", listing.speaker and bindable(listing.speaker)),
        ("turn.role = ?", listing.role),
        ("turn.instant < ?", listing.before and instant(listing.before)),
        ("turn.instant >= ?", listing.after and instant(listing.after)),
    ):
        if value is not None:
            clauses.append(clause)
            args.append(value)
    for clause, values in () if listing.where is None else _of_metadata(listing.where):
        clauses.append(clause)
        args.extend(values)
    return " AND ".join(clauses), args


def _of_metadata(where: Where) -> Iterator[tuple[str, tuple[Any, ...]]]:
    """Yield the conditions on metadata as SQL with their arguments: quick tests of its text, then the whole of them.

    `meets` is a call of Python, for each turn that it is made for, so that it is left out where a turn is known to meet
    everything without it: whole numbers are compared by SQLite, and what is not in the text is not equal to it.
    """
    for parts in where.parts():
        yield f"({' OR '.join('instr(turn.metadata, ?)' for _ in parts) or '0'})", parts
    absent: list[str] = []
    for condition in where.conditions:
        if condition.orders_numbers:
            at = "".join(f'."{key}"' for key in condition.path)
            order = _ORDERS[condition.operator]
            yield (
                f"CASE json_type(turn.metadata, ?) WHEN 'integer' THEN json_extract(turn.metadata, ?) {order} ? "
                "WHEN 'real' THEN meets(turn.metadata, ?) ELSE 0 END",
                (f"${at}", f"${at}", condition.operand, where.text),
            )
        elif condition.operator == "$ne":
            absent.append(condition.whole)
        else:
            yield "meets(turn.metadata, ?)", (where.text,)
            return
    if absent:
        sure = " AND ".join("NOT instr(turn.metadata, ?)" for _ in absent)
        yield f"({sure} OR meets(turn.metadata, ?))", (*absent, where.text)


def _chunks(values: Sequence[T]) -> Iterator[Sequence[T]]:
    return (values[start : start + _PARAMETERS] for start in range(0, len(values), _PARAMETERS))


def _marks(page: Sequence[object]) -> str:
    return ", ".join("?" * len(page))


def digest(turn: Turn) -> bytes:
    """Return a digest of everything in a turn. It is stored with the turn, because SQLite does not checksum pages."""
    whole = blake2b(digest_size=16)
    parts = (
        turn.id,
        turn.session,
        turn.speaker,
        turn.role or "",
        turn.text,
        turn.time.isoformat(),
        canonical(turn.metadata),
    )
    for part in (*parts, "" if turn.caption is None else f"\x1e{turn.caption}"):
        encoded = part.encode("utf-8", "surrogatepass")
        # The length first: ("ab", "c") and ("a", "bc") are different turns.
        whole.update(len(encoded).to_bytes(4, "little") + encoded)
    return whole.digest()


def _turn(row: Sequence[Any]) -> Turn:
    _, turn_id, session, speaker, text, time, caption, role, metadata, kept = row
    try:
        turn = Turn(
            turn_id,
            session,
            speaker,
            unbound(text),
            datetime.fromisoformat(time),
            None if caption is None else unbound(caption),
            role,
            json.loads(metadata),
        )
        intact = digest(turn) == kept
    except (ValueError, TypeError, AttributeError) as error:
        raise StoreCorrupt(_altered(turn_id)) from error
    if not intact:
        raise StoreCorrupt(_altered(turn_id))
    return turn


def _altered(turn_id: object) -> str:
    return (
        f"turn {turn_id!r} is not what was stored (its digest differs), so it is not served; "
        "restore a backup, or forget this turn: `evimem doctor` lists every such turn"
    )
